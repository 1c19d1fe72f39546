// [RSmin], [BETA], floors and the best constant sigma.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "accrue/scores.hpp"
#include "support/reference.hpp"
#include "support/samples.hpp"

namespace accrue {
namespace {

double rounded(long double x) {
    return static_cast<double>(x);
}

TEST(Balance, TheSmallestReliabilityScoreAgreesWithTheTable) {
    for (const support::RsMinRow& row : support::read_rs_min()) {
        SCOPED_TRACE(row.n);
        // A sum of terms around 0.4 less 0.4: absolute 1e-15, though the difference itself is about 0.24/n^2. The
        // sum of thousands of them rounds a little more.
        EXPECT_NEAR(reliability_minimum(static_cast<double>(row.n)), rounded(row.with_constant), 2e-15);
        EXPECT_NEAR(reliability_minimum(static_cast<double>(row.n)) + kReliabilityConstant,
                    rounded(row.without_constant), 2e-15);
    }
}

TEST(Balance, TheSmallestReliabilityScoreIsThatOfEvenlySpacedPits) {
    for (const std::size_t n : {1U, 2U, 3U, 100U, 5000U}) {
        const std::vector<double> errors = support::normal_scores(n);
        const std::vector<double> sigmas(n, 1.0);
        EXPECT_NEAR(reliability_score(errors, sigmas), reliability_minimum(static_cast<double>(n)), 1e-14);
        // It is a minimum: any other sigma is worse.
        for (const double s : {0.99, 1.01}) {
            if (n == 1) continue;  // z = 0 whatever sigma is
            EXPECT_GT(reliability_score(errors, std::vector<double>(n, s)),
                      reliability_minimum(static_cast<double>(n)));
        }
    }
}

TEST(Balance, BetaAgreesWithTheTable) {
    for (const support::BetaCase& c : support::read_beta_cases()) {
        SCOPED_TRACE(c.name);
        // Sums of at most 100 terms.
        EXPECT_NEAR(crps_minimum(c.errors), rounded(c.crps_min), 1e-15 * rounded(c.crps_min));
        EXPECT_NEAR(balanced_beta(c.errors), rounded(c.beta), 1e-14 * rounded(c.beta));
    }
}

TEST(Balance, CrpsMinimumIsReachedWhenEveryRowHasItsOwnBestSigma) {
    const std::vector<double> errors = {-3, 0.2, 1e-7, 40};
    std::vector<double> sigmas;
    for (const double e : errors) sigmas.push_back(std::fabs(e) / std::sqrt(std::numbers::ln2));
    std::vector<double> gradient(errors.size());
    EXPECT_NEAR(mean_crps(errors, sigmas, {}, gradient), crps_minimum(errors), 1e-14);
    for (const double g : gradient) EXPECT_NEAR(g, 0, 1e-15);
}

TEST(Balance, BetaOfErrorsThatAreAllZeroIsOne) {
    EXPECT_EQ(balanced_beta(std::vector<double>{0, 0, 0}), 1);
    EXPECT_EQ(crps_minimum(std::vector<double>{0, 0, 0}), 0);
}

TEST(Balance, WithBetaTheCostDoesNotDependOnTheUnit) {
    // ar/(beta*CRPSmin) = crps/CRPSmin + rs/RSmin.
    const support::Sample sample = support::random_sample(300, 61, 1.4);
    const auto balanced_cost = [&](double unit) {
        support::Sample scaled = sample;
        for (double& e : scaled.errors) e *= unit;
        for (double& s : scaled.sigmas) s *= unit;
        const double beta = balanced_beta(scaled.errors);
        return accuracy_reliability(scaled.errors, scaled.sigmas, beta).value / (beta * crps_minimum(scaled.errors));
    };
    const double expected = balanced_cost(1);
    // For a huge unit 1 - beta is near 1, for a tiny one near 0 and then keeps fewer digits.
    for (const double unit : {1e-3, 0.1, 10.0, 1000.0, 1e6})
        EXPECT_NEAR(balanced_cost(unit), expected, 1e-12 * expected);
}

TEST(Balance, BestConstantSigmaAgreesWithTheTable) {
    for (const support::ConstantSigmaCase& c : support::read_constant_sigma_cases()) {
        SCOPED_TRACE(c.name);
        const double sigma = best_constant_sigma(c.errors, c.weights);
        // The root of a slope that is known to about 1e-16 of its terms; where the slope is shallow (few rows that are
        // not zero) some digits are lost.
        EXPECT_NEAR(sigma, rounded(c.sigma), 1e-13 * rounded(c.sigma));
        if (sigma == 0) continue;
        const std::vector<double> sigmas(c.errors.size(), sigma);
        EXPECT_NEAR(mean_crps(c.errors, sigmas, c.weights), rounded(c.mean_crps), 1e-14 * rounded(c.mean_crps));
    }
}

TEST(Balance, BestConstantSigmaIsAMinimum) {
    const support::Sample sample = support::random_sample(10000, 62);
    const double best = best_constant_sigma(sample.errors);
    const auto at = [&](double s) { return mean_crps(sample.errors, std::vector<double>(10000, s)); };
    EXPECT_LT(at(best), at(1.001 * best));
    EXPECT_LT(at(best), at(0.999 * best));
}

TEST(Balance, BestConstantSigmaScalesWithTheUnit) {
    const support::Sample sample = support::random_sample(200, 63);
    const double best = best_constant_sigma(sample.errors);
    for (const double unit : {1e-150, 1e-3, 1e150}) {
        std::vector<double> scaled = sample.errors;
        for (double& e : scaled) e *= unit;
        EXPECT_NEAR(best_constant_sigma(scaled) / unit, best, 1e-14 * best);
    }
}

TEST(Balance, BestConstantSigmaVanishesWhenMostErrorsDo) {
    // From a share of 1/sqrt(2) of zeros on: 707 of 1,000 are too few, 708 are enough.
    std::vector<double> errors(1000, 0.0);
    for (std::size_t i = 0; i < 293; ++i) errors[i] = 1 + static_cast<double>(i);
    EXPECT_GT(best_constant_sigma(errors), 0);
    errors[0] = 0;
    EXPECT_EQ(best_constant_sigma(errors), 0);
    EXPECT_EQ(best_constant_sigma(std::vector<double>{0.0}), 0);
}

TEST(Balance, EffectiveRowsCountWhatWeightsLeave) {
    EXPECT_EQ(effective_rows(17), 17);
    EXPECT_DOUBLE_EQ(effective_rows(4, std::vector<double>{3, 3, 3, 3}), 4);
    EXPECT_DOUBLE_EQ(effective_rows(4, std::vector<double>{5, 0, 0, 0}), 1);
    EXPECT_DOUBLE_EQ(effective_rows(2, std::vector<double>{3, 1}), 16.0 / 10);
    // Never below one row, whatever rounding does.
    for (int i = 0; i < 200; ++i)
        EXPECT_GE(effective_rows(3, std::vector<double>{1, std::pow(2.0, -i), std::pow(3.0, -i)}), 1);
}

TEST(Balance, TheFloorIsTheConstantOverTheRows) {
    EXPECT_EQ(reliability_floor(1), kReliabilityConstant);
    EXPECT_EQ(reliability_floor(250), kReliabilityConstant / 250);
}

}  // namespace
}  // namespace accrue
