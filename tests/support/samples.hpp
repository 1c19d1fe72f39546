// Forecasts to try things on: always the same for the same seed.
#pragma once

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/random.hpp"

namespace accrue::support {

struct Sample {
    std::vector<double> errors;
    std::vector<double> sigmas;
};

// Independent errors from N(0, sigma^2), times `excess`, with sigma spread over a factor of about ten.
inline Sample random_sample(std::size_t rows, std::uint64_t seed, double excess = 1) {
    core::Random random(seed);
    Sample sample{std::vector<double>(rows), std::vector<double>(rows)};
    for (std::size_t i = 0; i < rows; ++i) {
        sample.sigmas[i] = std::exp(0.6 * random.normal());
        sample.errors[i] = excess * sample.sigmas[i] * random.normal();
    }
    return sample;
}

// Positive weights over about two decades.
inline std::vector<double> random_weights(std::size_t rows, std::uint64_t seed) {
    core::Random random(seed);
    std::vector<double> weights(rows);
    for (double& w : weights) w = std::exp(random.normal());
    return weights;
}

// The z whose PITs are (i - 1/2)/N, in ascending order: as calibrated as N rows can be.
inline std::vector<double> normal_scores(std::size_t rows) {
    std::vector<double> z(rows);
    for (std::size_t i = 0; i < rows; ++i)
        z[i] = -std::numbers::sqrt2 *
               boost::math::erfc_inv(2 * (static_cast<double>(i) + 0.5) / static_cast<double>(rows));
    return z;
}

}  // namespace accrue::support
