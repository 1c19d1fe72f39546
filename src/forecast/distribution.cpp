#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "accrue/model.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

namespace accrue {

double Distribution::pdf(double y) const {
    if (shape) return shape->pdf((y - mean) / sigma) / sigma;
    const double z = (y - mean) / sigma;
    return std::exp(-z * z / 2) / (sigma * std::sqrt(2 * std::numbers::pi));
}

double Distribution::cdf(double y) const {
    if (shape) return shape->cdf((y - mean) / sigma);
    return std::erfc((mean - y) / (std::numbers::sqrt2 * sigma)) / 2;
}

double Distribution::quantile(double probability) const {
    core::require(probability > 0 && probability < 1, "a probability must be between 0 and 1; it is {}", probability);
    if (shape) return mean + shape->quantile(probability) * sigma;
    // The factor first, as `accrue predict` has it, so that both round alike.
    return mean - std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability) * sigma;
}

double Distribution::crps(double y) const {
    if (shape) return sigma * shape->crps((y - mean) / sigma);
    return accrue::crps(y - mean, sigma).value;
}

Distribution::Interval Distribution::interval(double level) const {
    core::require(level > 0 && level < 1, "a level must be between 0 and 1; it is {}", level);
    if (shape) return {quantile((1 - level) / 2), quantile((1 + level) / 2)};
    const double half = std::numbers::sqrt2 * boost::math::erf_inv(level) * sigma;
    return {mean - half, mean + half};
}

std::vector<double> Distribution::sample(std::size_t count, std::uint64_t seed) const {
    core::Random random(seed);
    std::vector<double> draws(count);
    for (double& draw : draws) {
        double z = random.normal();
        // The shape's quantile at the probability of z, which is uniform.
        if (shape) z = shape->quantile(Distribution{0, 1}.cdf(z));
        draw = mean + sigma * z;
    }
    return draws;
}

}  // namespace accrue
