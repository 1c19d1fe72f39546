#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

#include "accrue/model.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

namespace accrue {

double Gaussian::pdf(double y) const {
    const double z = (y - mean) / sigma;
    return std::exp(-z * z / 2) / (sigma * std::sqrt(2 * std::numbers::pi));
}

double Gaussian::cdf(double y) const {
    return std::erfc((mean - y) / (std::numbers::sqrt2 * sigma)) / 2;
}

double Gaussian::quantile(double probability) const {
    core::require(probability > 0 && probability < 1, "a probability must be between 0 and 1; it is {}", probability);
    // The factor first, as `accrue predict` has it, so that both round alike.
    return mean - std::numbers::sqrt2 * boost::math::erfc_inv(2 * probability) * sigma;
}

double Gaussian::crps(double y) const {
    return accrue::crps(y - mean, sigma).value;
}

Gaussian::Interval Gaussian::interval(double level) const {
    core::require(level > 0 && level < 1, "a level must be between 0 and 1; it is {}", level);
    const double half = std::numbers::sqrt2 * boost::math::erf_inv(level) * sigma;
    return {mean - half, mean + half};
}

std::vector<double> Gaussian::sample(std::size_t count, std::uint64_t seed) const {
    core::Random random(seed);
    std::vector<double> draws(count);
    for (double& draw : draws) draw = mean + sigma * random.normal();
    return draws;
}

}  // namespace accrue
