#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "accrue/error.hpp"
#include "accrue/model.hpp"
#include "accrue/scores.hpp"
#include "accrue/verify.hpp"

namespace accrue {
namespace {

const Distribution kStandard{0, 1};
const Distribution kOther{-3, 2.5};

TEST(Distribution, HasTheKnownValues) {
    // Tables of the standard normal distribution, to the last digit of a double or two.
    EXPECT_NEAR(kStandard.pdf(0), 0.39894228040143267794, 1e-16);
    EXPECT_NEAR(kStandard.pdf(2), 0.053990966513188051949, 3e-17);
    EXPECT_EQ(kStandard.cdf(0), 0.5);
    EXPECT_NEAR(kStandard.cdf(1.959963984540054236), 0.975, 1e-15);
    EXPECT_NEAR(kStandard.cdf(-6), 9.8658764503769814e-10, 1e-23);
    EXPECT_NEAR(kStandard.quantile(0.975), 1.959963984540054236, 1e-14);
    EXPECT_NEAR(kStandard.quantile(1e-10), -6.3613409024040562, 1e-13);
    EXPECT_NEAR(kStandard.crps(0), 0.23369497725510905, 1e-15);
}

TEST(Distribution, QuantileUndoesTheCdf) {
    for (const Distribution& g : {kStandard, kOther})
        for (const double p : {1e-300, 1e-12, 0.001, 0.05, 0.5, 0.7, 0.95, 0.999999}) {
            // d p = pdf d y: relative errors grow with |z| dz, and |z| is at most 37.
            EXPECT_NEAR(g.cdf(g.quantile(p)), p, 3e-13 * p) << p;
        }
}

TEST(Distribution, ScalesAndShifts) {
    for (const double z : {-4.0, -0.5, 0.0, 1.0, 3.0}) {
        const double y = kOther.mean + kOther.sigma * z;
        EXPECT_DOUBLE_EQ(kOther.cdf(y), kStandard.cdf(z));
        EXPECT_DOUBLE_EQ(kOther.pdf(y), kStandard.pdf(z) / kOther.sigma);
        EXPECT_NEAR(kOther.crps(y), kOther.sigma * kStandard.crps(z), 1e-14);
        EXPECT_EQ(kOther.crps(y), crps(y - kOther.mean, kOther.sigma).value);
    }
}

TEST(Distribution, PdfIsTheSlopeOfTheCdf) {
    for (const double y : {-7.0, -3.0, 0.0, 1.5}) {
        const double h = 1e-4;
        // The terms left out are h^2/6 of the second derivative of the density, some 1e-10.
        EXPECT_NEAR((kOther.cdf(y + h) - kOther.cdf(y - h)) / (2 * h), kOther.pdf(y), 1e-9);
    }
}

TEST(Distribution, CrpsIsTheIntegralOfTheSquaredDistance) {
    const double y = -1.2;
    double sum = 0;
    constexpr double kStep = 1e-3;
    for (double x = -30; x < 30; x += kStep) {
        const double at = x + kStep / 2;
        const double distance = kOther.cdf(at) - (at >= y ? 1 : 0);
        sum += kStep * distance * distance;
    }
    EXPECT_NEAR(kOther.crps(y), sum, 1e-3);  // the step lies somewhere inside one interval
}

TEST(Distribution, IntervalsAreCentralAndHoldTheirLevel) {
    for (const double level : {0.01, 0.5, 0.9, 0.95, 0.999}) {
        const auto [low, high] = kOther.interval(level);
        EXPECT_NEAR(kOther.cdf(high) - kOther.cdf(low), level, 1e-14);
        EXPECT_DOUBLE_EQ(high - kOther.mean, kOther.mean - low);
        EXPECT_NEAR(low, kOther.quantile((1 - level) / 2), 1e-13);
    }
}

TEST(Distribution, ImpossibleProbabilitiesAreRefused) {
    for (const double p : {0.0, 1.0, -0.1, 1.1, static_cast<double>(NAN)}) {
        EXPECT_THROW(kStandard.quantile(p), InputError) << p;
        EXPECT_THROW(kStandard.interval(p), InputError) << p;
    }
}

TEST(Distribution, SamplesAreOfTheDistributionAndRepeat) {
    const std::vector<double> draws = kOther.sample(20000, 7);
    EXPECT_EQ(draws, kOther.sample(20000, 7));
    EXPECT_NE(draws, kOther.sample(20000, 8));
    const std::vector<double> head = kOther.sample(100, 7);
    EXPECT_TRUE(std::equal(head.begin(), head.end(), draws.begin()));
    EXPECT_TRUE(kOther.sample(0, 7).empty());
    std::vector<double> errors;
    for (const double d : draws) errors.push_back(d - kOther.mean);
    // Kolmogorov's test at 1e-6.
    const Verification v = verify(errors, std::vector<double>(draws.size(), kOther.sigma));
    EXPECT_GT(v.calibration_p_value, 1e-6);
}

}  // namespace
}  // namespace accrue
