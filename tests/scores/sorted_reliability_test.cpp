// [RS] from sorted rows is that from ranked rows.
#include "scores/sorted_reliability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "accrue/scores.hpp"
#include "scores/awkward_samples.hpp"
#include "support/samples.hpp"
#include "support/threads.hpp"

namespace accrue::scores {
namespace {

using Numbers = std::vector<double>;

TEST(SortedReliability, IsTheReliabilityScore) {
    SortBuffers buffers;
    for (const std::size_t n : awkward_sizes())
        for (const AwkwardSample& sample : awkward_samples(n)) {
            if (!sample.finite) continue;
            SCOPED_TRACE(testing::Message() << n << " rows, " << sample.name);
            Numbers errors(n);
            double size = 1;  // of the largest terms
            for (std::size_t i = 0; i < n; ++i) {
                errors[i] = sample.t[i] * std::numbers::sqrt2;
                size = std::max(size, std::fabs(sample.t[i]));
            }
            const Numbers sigmas(n, 1.0);
            const Numbers weights = support::random_weights(n, n);
            const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
            // Terms up to `size` are summed over blocks of 1,024, in 2 lanes at least: where all are equal, each of 512
            // additions may round the same way, by half an ulp of the sum. Running sums of weights round likewise.
            const double tolerance = 512 * 1.2e-16 * size;
            EXPECT_NEAR(sorted_reliability(errors, sigmas, {}, static_cast<double>(n), buffers),
                        reliability_score(errors, sigmas), tolerance);
            EXPECT_NEAR(sorted_reliability(errors, sigmas, weights, total, buffers),
                        reliability_score(errors, sigmas, weights), 2 * tolerance);
        }
}

TEST(SortedReliability, HasTheSameBytesForAnyNumberOfThreads) {
    const support::Sample sample = support::random_sample(100003, 5);
    const Numbers weights = support::random_weights(100003, 6);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    support::expect_same_for_any_threads([&] {
        SortBuffers buffers;
        return Numbers{sorted_reliability(sample.errors, sample.sigmas, {}, 100003, buffers),
                       sorted_reliability(sample.errors, sample.sigmas, weights, total, buffers)};
    });
}

TEST(SortedReliability, OfANumberThatIsNoneIsNone) {
    SortBuffers buffers;
    for (const std::size_t n : {3U, 100U, 10000U}) {
        Numbers errors(n, 0.5);
        errors[n / 2] = std::nan("");
        EXPECT_TRUE(std::isnan(sorted_reliability(errors, Numbers(n, 1.0), {}, static_cast<double>(n), buffers)));
    }
}

}  // namespace
}  // namespace accrue::scores
