// Places by counting against exact ones, and what they change in the scores.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "scores/ranks.hpp"

namespace accrue {
namespace {

constexpr std::size_t kRows = 200'000;

struct Case {
    std::vector<double> errors, sigmas, weights;
};

// Errors of a sigma that is wrong by `factor`, with the tails of a Student distribution where asked.
Case make_case(double factor, bool heavy, bool weighted) {
    core::Random random(7);
    Case c;
    for (std::size_t i = 0; i < kRows; ++i) {
        const double sigma = random.uniform(0.2, 2);
        double z = random.normal();
        if (heavy) z /= std::sqrt(std::pow(random.normal(), 2) + 1e-3);
        c.errors.push_back(sigma * z);
        c.sigmas.push_back(factor * sigma);
        if (weighted) c.weights.push_back(random.uniform());
    }
    return c;
}

struct Result {
    AccuracyReliability score;
    std::vector<double> slopes;
};

Result score(const Case& c, Ranks ranks) {
    Result result;
    result.slopes.resize(c.errors.size());
    result.score =
        accuracy_reliability(c.errors, c.sigmas, 0.4, c.weights, result.slopes, nullptr, Variable::log_sigma, ranks);
    return result;
}

TEST(CountedRanks, GiveTheScoreToAMillionth) {
    for (const double factor : {0.3, 1.0, 3.0})
        for (const bool heavy : {false, true})
            for (const bool weighted : {false, true}) {
                const Case c = make_case(factor, heavy, weighted);
                const Result exact = score(c, Ranks::exact);
                const Result counted = score(c, Ranks::counted);
                EXPECT_NE(counted.score.rs, exact.score.rs) << "nothing was counted";
                // Places are wrong by chance, and count with their t: tails like Cauchy's under a sigma that is far too
                // small are the worst case.
                const double bound = heavy && factor < 1 ? 1e-5 : 1e-6;
                EXPECT_NEAR(counted.score.value, exact.score.value, bound * exact.score.value) << factor << heavy;
                // What a change of every log sigma would change, and each row's slope, whose rank has its bound.
                double sum = 0;
                double size = 0;
                double total = 0;
                for (const double w : c.weights) total += w;
                for (std::size_t i = 0; i < kRows; ++i) {
                    const double difference = counted.slopes[i] - exact.slopes[i];
                    sum += difference;
                    size += std::fabs(exact.slopes[i]);
                    const double share = weighted ? c.weights[i] / total : 1.0 / kRows;
                    const double t = std::fabs(c.errors[i] / c.sigmas[i]) * std::sqrt(0.5);
                    ASSERT_LE(std::fabs(difference), 0.6 * share * t * 2 * scores::kFullestCell + 1e-18) << i;
                }
                EXPECT_LT(std::fabs(sum), 1e-5 * size) << factor << heavy << weighted;
            }
}

TEST(CountedRanks, AreWrongByLessThanTwiceTheFullestCell) {
    const Case c = make_case(1, true, false);
    std::vector<double> t(kRows);
    for (std::size_t i = 0; i < kRows; ++i) t[i] = c.errors[i] / c.sigmas[i] * std::sqrt(0.5);
    std::vector<double> exact(kRows);
    std::vector<double> counted(kRows);
    scores::RankBuffers ranks;
    scores::CountBuffers counts;
    scores::mid_ranks(t, {}, kRows, exact, ranks);
    ASSERT_TRUE(scores::counted_mid_ranks(t, {}, kRows, counted, counts));
    for (std::size_t i = 0; i < kRows; ++i) ASSERT_LE(std::fabs(exact[i] - counted[i]), 2 * scores::kFullestCell);
}

TEST(CountedRanks, SortWhereManyErrorsAreEqual) {
    Case c = make_case(1, false, false);
    for (std::size_t i = 0; i < kRows; i += 3) c.errors[i] = 0;
    const Result exact = score(c, Ranks::exact);
    const Result counted = score(c, Ranks::counted);
    EXPECT_EQ(counted.score.value, exact.score.value);
    EXPECT_EQ(counted.slopes, exact.slopes);
}

TEST(CountedRanks, TakeOneAndTwoRowsAndExtremes) {
    for (const std::vector<double>& errors : {std::vector<double>{0.5}, {-1.0, 2.0}, {1e-300, -1e300, 0.0}}) {
        const Case c{errors, std::vector<double>(errors.size(), 1.0), {}};
        EXPECT_EQ(score(c, Ranks::counted).score.value, score(c, Ranks::exact).score.value);
    }
}

TEST(CountedRanks, BytesDoNotDependOnThreads) {
    for (const bool weighted : {false, true}) {
        const Case c = make_case(1, false, weighted);
        std::vector<Result> results;
        for (const int threads : {1, 2, 3}) with_threads(threads, [&] { results.push_back(score(c, Ranks::counted)); });
        for (const Result& r : results) {
            EXPECT_EQ(r.score.value, results[0].score.value);
            EXPECT_EQ(r.slopes, results[0].slopes);
        }
    }
}

}  // namespace
}  // namespace accrue
