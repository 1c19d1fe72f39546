#include <cmath>

#include "accrue/model.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

namespace accrue {

Standardised Distribution::standardised() const {
    return parameters.empty() ? Standardised(family) : Standardised(*family, parameters);
}

double Distribution::location() const {
    return mean - standardised().mean_shift(sigma);
}

double Distribution::scale() const {
    return sigma / standardised().u_sd();
}

double Distribution::pdf(double y) const {
    return standardised().pdf((y - mean) / sigma) / sigma;
}

double Distribution::cdf(double y) const {
    return standardised().cdf((y - mean) / sigma);
}

double Distribution::exceeding(double y) const {
    return standardised().survival((y - mean) / sigma);
}

double Distribution::quantile(double probability) const {
    // The factor first, as `accrue predict` has it, so that both round alike.
    return family->limits().hold(mean + standardised().quantile(probability) * sigma, sigma);
}

double Distribution::crps(double y) const {
    const double error = y - mean;
    double value = 0;
    standardised().crps_block(1, &error, &sigma, &value);
    return value;
}

Distribution::Interval Distribution::interval(double level) const {
    const auto [low, high] = standardised().interval(level);
    const Limits limits = family->limits();
    return {limits.hold(mean + low * sigma, sigma), limits.hold(mean + high * sigma, sigma)};
}

std::vector<double> Distribution::sample(std::size_t count, std::uint64_t seed) const {
    core::Random random(seed);
    const Standardised own = standardised();
    std::vector<double> draws(count);
    const Limits limits = family->limits();
    for (double& draw : draws) draw = limits.hold(mean + sigma * own.of_normal_score(random.normal()), sigma);
    return draws;
}

}  // namespace accrue
