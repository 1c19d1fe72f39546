// One check of gradients for every score and, later, every model: analytic derivatives against central differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace accrue::support {

// The step of a variable x is relative*max(|x|, least). `least` is for variables that may be near zero, in their unit.
struct DifferenceStep {
    double relative = 1e-4;
    double least = 0;

    double of(double x) const { return relative * std::max(std::fabs(x), least); }
};

using ScalarFunction = std::function<double(std::span<const double>)>;

// The gradient of `value` at `at` by central differences of fourth order. With the step of 1e-4 the terms left
// out are about 1e-16 of the value and rounding is about 3e-12 of it.
inline std::vector<double> central_differences(const ScalarFunction& value, std::span<const double> at,
                                               DifferenceStep step = {}) {
    std::vector<double> x(at.begin(), at.end());
    std::vector<double> gradient(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double h = step.of(at[i]);
        const auto moved = [&](double by) {
            x[i] = at[i] + by;
            const double result = value(x);
            x[i] = at[i];
            return result;
        };
        gradient[i] = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
    }
    return gradient;
}

// Fails for every component that differs by more than `tolerance` of itself; a component that passes
// zero is measured against a hundredth of the largest one, because the differences cannot see it any better. Returns
// the worst error in that measure.
inline double expect_gradient(const ScalarFunction& value, std::span<const double> gradient, std::span<const double> at,
                              double tolerance = 1e-7, DifferenceStep step = {}) {
    const std::vector<double> expected = central_differences(value, at, step);
    EXPECT_EQ(gradient.size(), expected.size());
    double largest = 0;
    for (const double g : expected) largest = std::max(largest, std::fabs(g));
    EXPECT_GT(largest, 0) << "a gradient that vanishes everywhere proves nothing";
    double worst = 0;
    for (std::size_t i = 0; i < std::min(gradient.size(), expected.size()); ++i) {
        const double scale = std::max(std::fabs(expected[i]), largest / 100);
        const double error = std::fabs(gradient[i] - expected[i]) / scale;
        EXPECT_LE(error, tolerance) << "component " << i << ": analytic " << gradient[i] << ", differences "
                                    << expected[i];
        worst = std::isnan(error) ? error : std::max(worst, error);
    }
    return worst;
}

}  // namespace accrue::support
