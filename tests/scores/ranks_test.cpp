#include "scores/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "accrue/scores.hpp"
#include "awkward_samples.hpp"
#include "scores/gauss.hpp"
#include "support/samples.hpp"
#include "support/threads.hpp"

namespace accrue::scores {
namespace {

// (2 * weight before + own weight) of every row, tied rows taken together; by a plain stable sort.
std::vector<long double> brute_mid_ranks(const std::vector<double>& t, const std::vector<double>& weights) {
    std::vector<std::size_t> order(t.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return t[a] < t[b]; });
    std::vector<long double> mid_ranks(t.size());
    long double before = 0;
    for (std::size_t first = 0; first < t.size();) {
        std::size_t last = first;
        long double own = 0;
        for (; last < t.size() && t[order[last]] == t[order[first]]; ++last)
            own += weights.empty() ? 1.0L : weights[order[last]];
        for (; first < last; ++first) mid_ranks[order[first]] = 2 * before + own;
        before += own;
    }
    return mid_ranks;
}

TEST(Ranks, EveryRankIsExactWhateverTheDistribution) {
    RankBuffers buffers;  // one for all: what a larger call left behind must not matter
    for (const std::size_t n : awkward_sizes())
        for (const AwkwardSample& sample : awkward_samples(n)) {
            SCOPED_TRACE(testing::Message() << n << " rows, " << sample.name);
            std::vector<double> result(n, -1.0);
            mid_ranks(sample.t, {}, static_cast<double>(n), result, buffers);
            const std::vector<long double> expected = brute_mid_ranks(sample.t, {});
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < n; ++i) {
                // Whole numbers divided by N, in two roundings at most: the rank itself must be right.
                const long double number = static_cast<long double>(result[i]) * n;
                wrong += std::fabs(number - expected[i]) <= 3e-16L * expected[i] ? 0 : 1;
            }
            EXPECT_EQ(wrong, 0U);
        }
}

TEST(Ranks, WeightedPlacesAreThoseOfAPlainSort) {
    RankBuffers buffers;
    for (const std::size_t n : awkward_sizes()) {
        std::vector<double> weights = support::random_weights(n, n);
        if (n > 3) weights[n / 2] = 0;
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (const AwkwardSample& sample : awkward_samples(n)) {
            SCOPED_TRACE(testing::Message() << n << " rows, " << sample.name);
            std::vector<double> result(n, -1.0);
            mid_ranks(sample.t, weights, total, result, buffers);
            const std::vector<long double> expected = brute_mid_ranks(sample.t, weights);
            double worst = 0;
            for (std::size_t i = 0; i < n; ++i)
                worst = std::max(worst, static_cast<double>(std::fabs(result[i] - expected[i] / total)));
            // n plain additions at most, each rounding by 1e-16 of the whole; they partly cancel.
            EXPECT_LE(worst, 2e-16 * static_cast<double>(n) + 1e-15);
        }
    }
}

TEST(Ranks, PlacesHaveTheSameBytesForAnyNumberOfThreads) {
    for (const std::size_t n : {10000U, 100003U}) {
        const std::vector<double> weights = support::random_weights(n, 3);
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        for (const AwkwardSample& sample : awkward_samples(n)) {
            SCOPED_TRACE(sample.name);
            support::expect_same_for_any_threads([&] {
                RankBuffers buffers;
                std::vector<double> result(n);
                mid_ranks(sample.t, weights, total, result, buffers);
                return result;
            });
        }
    }
}

TEST(Ranks, AnEmptySpanOfWeightsThatHasAnAddressMeansNoWeights) {
    std::vector<double> emptied = {5.0, 6.0, 7.0};
    emptied.clear();
    ASSERT_NE(emptied.data(), nullptr);
    const std::vector<double> t = {0.3, -0.2, 0.1};
    RankBuffers buffers;
    std::vector<double> result(3);
    mid_ranks(t, emptied, 3, result, buffers);
    EXPECT_EQ(result, (std::vector<double>{5.0 / 3, 1.0 / 3, 3.0 / 3}));
}

// [AR] in long double with ranks by a plain sort, for the same t as the library's.
AccuracyReliability brute_accuracy_reliability(const std::vector<double>& errors, const std::vector<double>& sigmas,
                                               double beta, std::vector<long double>& gradient) {
    const std::size_t n = errors.size();
    std::vector<double> t(n);
    for (std::size_t i = 0; i < n; ++i) t[i] = errors[i] / sigmas[i] * kRootHalf;
    const std::vector<long double> mid_rank = brute_mid_ranks(t, {});
    const long double root_pi = std::sqrt(std::numbers::pi_v<long double>);
    long double crps = 0;
    long double rs = 0;
    gradient.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const long double x = t[i];
        const long double erf = std::erf(x);
        const long double gauss = std::exp(-x * x);
        const long double slope = std::sqrt(2 / std::numbers::pi_v<long double>) * gauss - 1 / root_pi;
        const long double distance = x * (erf + 1 - mid_rank[i] / n);
        crps += errors[i] * erf + sigmas[i] * slope;
        rs += distance + gauss / root_pi;
        gradient[i] = (beta * slope - (1 - beta) * distance / sigmas[i]) / n;
    }
    crps /= n;
    rs = rs / n - std::sqrt(2 / std::numbers::pi_v<long double>) / 2;
    return {static_cast<double>(beta * crps + (1 - beta) * rs), static_cast<double>(crps), static_cast<double>(rs)};
}

TEST(Ranks, AccuracyReliabilityOfAwkwardSamplesAgreesWithPlainSorts) {
    const double beta = 0.3;
    ScoreWorkspace workspace;
    for (const std::size_t n : awkward_sizes())
        for (const AwkwardSample& sample : awkward_samples(n)) {
            if (!sample.finite) continue;
            SCOPED_TRACE(testing::Message() << n << " rows, " << sample.name);
            // t = e/sqrt(2): with one sigma the distribution of t stays as awkward as it is.
            const std::vector<double>& errors = sample.t;
            const std::vector<double> sigmas(n, 1.0);
            std::vector<double> gradient(n);
            const AccuracyReliability ar = accuracy_reliability(errors, sigmas, beta, {}, gradient, &workspace);

            std::vector<long double> exact;
            const AccuracyReliability brute = brute_accuracy_reliability(errors, sigmas, beta, exact);
            // Sums of terms of the size of t, 1,024 of them in a row: when all are equal every addition rounds the same
            // way, by 1e-16 of half the sum.
            long double size = 1;
            for (const double t : sample.t) size += std::fabs(t) / static_cast<long double>(n);
            const auto near = [&](double a, double b) { return std::fabs(a - b) <= 1e-13L * size; };
            EXPECT_TRUE(near(ar.crps, brute.crps)) << ar.crps << " " << brute.crps;
            EXPECT_TRUE(near(ar.rs, brute.rs)) << ar.rs << " " << brute.rs;
            EXPECT_TRUE(near(ar.value, brute.value)) << ar.value << " " << brute.value;
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < n; ++i)
                wrong += std::fabs(gradient[i] - exact[i]) <= 2e-15L * (1 + std::fabs(errors[i])) / n ? 0 : 1;
            EXPECT_EQ(wrong, 0U);

            const AccuracyReliability plain = reference::accuracy_reliability(errors, sigmas, beta);
            // Its sums are plain loops: N roundings.
            const auto close = [&](double a, double b) {
                return std::fabs(a - b) <= 1e-16L * (10 + static_cast<double>(n)) * size;
            };
            EXPECT_TRUE(close(ar.crps, plain.crps)) << ar.crps << " " << plain.crps;
            EXPECT_TRUE(close(ar.rs, plain.rs)) << ar.rs << " " << plain.rs;
        }
}

}  // namespace
}  // namespace accrue::scores
