// [RS] and [AR]: tables, limits, weights, size, threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "accrue/scores.hpp"
#include "support/reference.hpp"
#include "support/samples.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::random_sample;
using support::Sample;

double close_to(long double exact) {
    return static_cast<double>(exact);
}

TEST(Reliability, AgreesWithNumericalIntegration) {
    double worst = 0;
    for (const support::ReliabilityCase& c : support::read_reliability_cases()) {
        SCOPED_TRACE(c.name);
        // The promise of the project: 1e-12.
        const double rs = reliability_score(c.errors, c.sigmas, c.weights);
        EXPECT_NEAR(rs, close_to(c.rs), 1e-12);
        worst = std::max(worst, static_cast<double>(std::fabs(rs - c.rs)));
        EXPECT_NEAR(rs + kReliabilityConstant, close_to(c.rs_without_constant), 1e-12);
        EXPECT_NEAR(reference::accuracy_reliability(c.errors, c.sigmas, 0, c.weights).rs, close_to(c.rs), 1e-12);

        const double n_eff = effective_rows(c.errors.size(), c.weights);
        EXPECT_NEAR(n_eff, close_to(c.n_eff), 1e-14 * close_to(c.n_eff));
        EXPECT_NEAR(reliability_floor(n_eff), close_to(c.rs_floor), 1e-14 * close_to(c.rs_floor));
        // Means of at most 50 rows that are each right to 1e-14.
        EXPECT_NEAR(mean_crps(c.errors, c.sigmas, c.weights), close_to(c.mean_crps), 1e-14 * close_to(c.mean_crps));
        EXPECT_NEAR(mean_nlpd(c.errors, c.sigmas, c.weights), close_to(c.mean_nlpd),
                    1e-14 * (1 + std::fabs(close_to(c.mean_nlpd))));
    }
    RecordProperty("worst_error", std::to_string(worst * 1e15) + "e-15");
}

TEST(Reliability, TheConstantIsTheRoundedOne) {
    EXPECT_EQ(kReliabilityConstant, close_to(std::sqrt(2 / std::numbers::pi_v<long double>) / 2));
}

// [RS] and the mean crps as they stand, in long double.
struct LongScores {
    long double crps = 0;
    long double rs = 0;
};
LongScores long_scores(const Sample& sample) {
    const std::size_t n = sample.errors.size();
    const long double root_pi = std::sqrt(std::numbers::pi_v<long double>);
    std::vector<long double> t(n);
    LongScores scores;
    for (std::size_t i = 0; i < n; ++i) {
        t[i] = sample.errors[i] / (std::numbers::sqrt2_v<long double> * sample.sigmas[i]);
        scores.crps += sample.errors[i] * std::erf(t[i]) +
                       sample.sigmas[i] * (std::numbers::sqrt2_v<long double> * std::exp(-t[i] * t[i]) - 1) / root_pi;
    }
    std::sort(t.begin(), t.end());
    for (std::size_t i = 0; i < n; ++i)
        scores.rs +=
            t[i] * (std::erf(t[i]) + 1 - static_cast<long double>(2 * i + 1) / n) + std::exp(-t[i] * t[i]) / root_pi;
    scores.crps /= n;
    scores.rs = scores.rs / n - std::sqrt(2 / std::numbers::pi_v<long double>) / 2;
    return scores;
}

TEST(Reliability, AMillionRowsAgreeWithLongDouble) {
    const Sample sample = random_sample(1000000, 31, 1.1);
    const LongScores exact = long_scores(sample);
    const AccuracyReliability ar = accuracy_reliability(sample.errors, sample.sigmas, 0.4);
    // The promise of the project: 1e-13 absolute.
    EXPECT_NEAR(ar.rs, close_to(exact.rs), 1e-13);
    EXPECT_NEAR(ar.crps, close_to(exact.crps), 1e-13);
    RecordProperty("rs_error", std::to_string(static_cast<double>(std::fabs(ar.rs - exact.rs)) * 1e16) + "e-16");
    EXPECT_NEAR(ar.value, 0.4 * ar.crps + 0.6 * ar.rs, 1e-15);
}

TEST(Reliability, AccuracyReliabilityIsTheMixtureOfItsParts) {
    const Sample sample = random_sample(777, 32);
    for (const double beta : {0.0, 0.25, 1.0}) {
        const AccuracyReliability ar = accuracy_reliability(sample.errors, sample.sigmas, beta);
        EXPECT_DOUBLE_EQ(ar.value, beta * ar.crps + (1 - beta) * ar.rs);
        // The same sums, by another loop.
        EXPECT_NEAR(ar.crps, mean_crps(sample.errors, sample.sigmas), 1e-15);
        EXPECT_EQ(ar.rs, reliability_score(sample.errors, sample.sigmas));
    }
}

TEST(Reliability, EqualWeightsAreNoWeights) {
    for (const std::size_t n : {1U, 3U, 100U, 5000U, 20000U}) {
        const Sample sample = random_sample(n, 33);
        std::vector<double> plain_gradient(n);
        std::vector<double> gradient(n);
        const double plain = reliability_score(sample.errors, sample.sigmas, {}, plain_gradient);
        for (const double w : {1.0, 0.1, 7.0, 1e-200, 1e200}) {
            const std::vector<double> weights(n, w);
            // A sum of n equal weights rounds n times; 1e-13 is what n = 20,000 needs.
            EXPECT_NEAR(reliability_score(sample.errors, sample.sigmas, weights, gradient), plain, 1e-13);
            // The derivative in log sigma, times n: of the size of t^2.
            for (std::size_t i = 0; i < n; ++i)
                EXPECT_NEAR(gradient[i] * sample.sigmas[i] * static_cast<double>(n),
                            plain_gradient[i] * sample.sigmas[i] * static_cast<double>(n), 1e-12);
        }
    }
}

TEST(Reliability, IntegerWeightsAreRepeatedRows) {
    for (const std::size_t n : {1U, 2U, 3U, 50U, 3000U}) {
        const Sample sample = random_sample(n, 34);
        core::Random random(35);
        std::vector<double> weights(n);
        Sample repeated;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t times = i == 0 ? 2 : random.below(4);
            weights[i] = static_cast<double>(times);
            repeated.errors.insert(repeated.errors.end(), times, sample.errors[i]);
            repeated.sigmas.insert(repeated.sigmas.end(), times, sample.sigmas[i]);
        }
        std::vector<double> gradient(n);
        std::vector<double> repeated_gradient(repeated.errors.size());
        const AccuracyReliability weighted = accuracy_reliability(sample.errors, sample.sigmas, 0.3, weights, gradient);
        const AccuracyReliability plain =
            accuracy_reliability(repeated.errors, repeated.sigmas, 0.3, {}, repeated_gradient);
        // Sums of a few thousand terms in another order.
        EXPECT_NEAR(weighted.rs, plain.rs, 1e-14);
        EXPECT_NEAR(weighted.crps, plain.crps, 1e-14);
        EXPECT_NEAR(weighted.value, plain.value, 1e-14);
        // A row's share of the gradient is that of all its copies.
        std::size_t next = 0;
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0;
            for (std::size_t k = 0; k < static_cast<std::size_t>(weights[i]); ++k) sum += repeated_gradient[next++];
            EXPECT_NEAR(gradient[i], sum, 1e-14) << i;
        }
        EXPECT_NEAR(mean_crps(sample.errors, sample.sigmas, weights), mean_crps(repeated.errors, repeated.sigmas),
                    1e-14);
        EXPECT_NEAR(mean_nlpd(sample.errors, sample.sigmas, weights), mean_nlpd(repeated.errors, repeated.sigmas),
                    1e-14);
    }
}

TEST(Reliability, OnlyTheRatiosOfWeightsMatter) {
    const std::size_t n = 6000;  // several buckets
    const Sample sample = random_sample(n, 36);
    const std::vector<double> weights = support::random_weights(n, 37);
    std::vector<double> gradient(n);
    const AccuracyReliability expected = accuracy_reliability(sample.errors, sample.sigmas, 0.5, weights, gradient);
    for (const double scale : {1e-200, 1e200}) {
        std::vector<double> scaled = weights;
        for (double& w : scaled) w *= scale;
        std::vector<double> scaled_gradient(n);
        const AccuracyReliability ar = accuracy_reliability(sample.errors, sample.sigmas, 0.5, scaled, scaled_gradient);
        // Every scaled weight is rounded once, so nothing can differ by more than a few roundings.
        EXPECT_NEAR(ar.rs, expected.rs, 1e-15);
        EXPECT_NEAR(ar.crps, expected.crps, 1e-15);
        for (std::size_t i = 0; i < n; ++i)
            EXPECT_NEAR(scaled_gradient[i] * sample.sigmas[i] * static_cast<double>(n),
                        gradient[i] * sample.sigmas[i] * static_cast<double>(n), 1e-13);
        EXPECT_NEAR(mean_nlpd(sample.errors, sample.sigmas, scaled), mean_nlpd(sample.errors, sample.sigmas, weights),
                    2e-15);
        EXPECT_NEAR(effective_rows(n, scaled), effective_rows(n, weights), 1e-14 * static_cast<double>(n));
        EXPECT_NEAR(crps_minimum(sample.errors, scaled), crps_minimum(sample.errors, weights), 1e-15);
        EXPECT_NEAR(balanced_beta(sample.errors, scaled), balanced_beta(sample.errors, weights), 1e-15);
        EXPECT_NEAR(best_constant_sigma(sample.errors, scaled), best_constant_sigma(sample.errors, weights), 1e-14);
    }
}

TEST(Reliability, ARowWithoutWeightDoesNotCount) {
    const Sample sample = random_sample(100, 38);
    Sample more = sample;
    std::vector<double> weights(100, 1.0);
    more.errors.push_back(50);
    more.sigmas.push_back(0.1);
    weights.push_back(0);
    std::vector<double> gradient(101);
    const AccuracyReliability with = accuracy_reliability(more.errors, more.sigmas, 0.5, weights, gradient);
    EXPECT_NEAR(with.value, accuracy_reliability(sample.errors, sample.sigmas, 0.5).value, 1e-15);
    EXPECT_EQ(gradient[100], 0);
}

TEST(Reliability, TheGradientDoesNotDependOnTheOrderOfTiedRows) {
    const std::vector<double> errors = {1, 2, 0.5, 1, -1};
    const std::vector<double> sigmas = {1, 2, 0.5, 1, 1};  // four rows with t = sqrt(1/2)
    std::vector<double> gradient(5);
    reliability_score(errors, sigmas, {}, gradient);
    // sigma times the derivative is one function of t, equal for equal t.
    EXPECT_DOUBLE_EQ(gradient[0], 2 * gradient[1]);
    EXPECT_DOUBLE_EQ(gradient[0], 0.5 * gradient[2]);
    EXPECT_DOUBLE_EQ(gradient[0], gradient[3]);
}

TEST(Reliability, TheFloorIsTheMeanScoreOfCalibratedForecasts) {
    // Triangulates [RS] by sampling. rs of a calibrated forecast of N rows has mean 0.3989/N and, for N = 50, a
    // standard deviation of about 0.7 of that; the mean of 4,000 is known to about 1.1%. Five of those: false alarm
    // 6e-7.
    constexpr std::size_t kRows = 50;
    constexpr std::size_t kRuns = 4000;
    core::Random random(39);
    std::vector<double> errors(kRows);
    const std::vector<double> sigmas(kRows, 1.0);
    ScoreWorkspace workspace;
    double sum = 0;
    double squares = 0;
    for (std::size_t run = 0; run < kRuns; ++run) {
        for (double& e : errors) e = random.normal();
        const double rs = reliability_score(errors, sigmas, {}, {}, &workspace);
        EXPECT_GT(rs, 0);
        sum += rs;
        squares += rs * rs;
    }
    const double mean = sum / kRuns;
    const double error_of_mean = std::sqrt((squares / kRuns - mean * mean) / kRuns);
    EXPECT_LT(error_of_mean, 0.02 * mean);
    EXPECT_NEAR(mean, reliability_floor(kRows), 5 * error_of_mean);
}

TEST(Reliability, ANanReachesTheResult) {
    Sample sample = random_sample(5000, 40);
    sample.errors[1234] = std::nan("");
    EXPECT_TRUE(std::isnan(reliability_score(sample.errors, sample.sigmas)));
    EXPECT_TRUE(std::isnan(mean_crps(sample.errors, sample.sigmas)));
    EXPECT_TRUE(std::isnan(mean_nlpd(sample.errors, sample.sigmas)));
}

TEST(Reliability, AnInfiniteErrorGivesAnInfiniteScore) {
    Sample sample = random_sample(100, 41);
    sample.errors[17] = -std::numeric_limits<double>::infinity();
    EXPECT_EQ(reliability_score(sample.errors, sample.sigmas), std::numeric_limits<double>::infinity());
    EXPECT_EQ(mean_crps(sample.errors, sample.sigmas), std::numeric_limits<double>::infinity());
}

TEST(Reliability, EverythingHasTheSameBytesForAnyNumberOfThreads) {
    const std::size_t n = 50001;
    const Sample sample = random_sample(n, 42);
    const std::vector<double> weights = support::random_weights(n, 43);
    for (const bool weighted : {false, true})
        for (const Variable variable : {Variable::sigma, Variable::log_sigma}) {
            const std::span<const double> w = weighted ? std::span<const double>(weights) : std::span<const double>();
            support::expect_same_for_any_threads([&] {
                std::vector<double> result(n);
                const AccuracyReliability ar =
                    accuracy_reliability(sample.errors, sample.sigmas, 0.4, w, result, nullptr, variable);
                result.insert(result.end(), {ar.value, ar.crps, ar.rs});
                std::vector<double> gradient(n);
                result.push_back(mean_crps(sample.errors, sample.sigmas, w, gradient));
                result.insert(result.end(), gradient.begin(), gradient.end());
                result.push_back(mean_nlpd(sample.errors, sample.sigmas, w, gradient));
                result.insert(result.end(), gradient.begin(), gradient.end());
                result.push_back(effective_rows(n, w));
                result.push_back(crps_minimum(sample.errors, w));
                result.push_back(balanced_beta(sample.errors, w));
                result.push_back(best_constant_sigma(sample.errors, w));
                return result;
            });
        }
}

}  // namespace
}  // namespace accrue
