// Conformal maps: the coverage that ranks promise, by simulation and rank by rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "accrue/error.hpp"
#include "accrue/recalibrated.hpp"
#include "core/random.hpp"
#include "support/families.hpp"

namespace accrue {
namespace {

constexpr auto kConformal = Recalibrated::Kind::conformal;

std::shared_ptr<const Recalibrated> conformal(const std::vector<double>& scores,
                                              const SharedFamily& inner = normal_family()) {
    return Recalibrated::fitted(scores, {}, inner, kConformal);
}

double normal_cdf(double z) {
    return std::erfc(-z / std::numbers::sqrt2) / 2;
}

// The rank at which the central interval of a level begins, from the lowest row; it ends at as high a one.
std::size_t rank_of(std::size_t rows, double level) {
    return static_cast<std::size_t>(std::floor((1 - level) / 2 * static_cast<double>(rows + 1) + 1e-9));
}
double stated(std::size_t rows, double level) {
    return 1 - 2 * static_cast<double>(rank_of(rows, level)) / static_cast<double>(rows + 1);
}

// What a forecast may be wrong by: its scores have this distribution in place of a standard normal one.
struct Scores {
    std::string name;
    std::function<double(core::Random&)> draw;
    std::function<double(double)> cdf;
};
std::vector<Scores> kinds_of_scores() {
    return {{"skewed", [](core::Random& random) { return -std::log(1 - random.uniform()); },
             [](double w) { return w > 0 ? 1 - std::exp(-w) : 0.0; }},
            {"lognormal", [](core::Random& random) { return std::exp(2 * random.normal()); },
             [](double w) { return w > 0 ? normal_cdf(std::log(w) / 2) : 0.0; }},
            {"heavy-tailed", [](core::Random& random) { return std::tan(std::numbers::pi * (random.uniform() - 0.5)); },
             [](double w) { return 0.5 + std::atan(w) / std::numbers::pi; }}};
}

TEST(ConformalCoverage, IsTheStatedOneOverTenThousandArchivesOfFiftyRows) {
    constexpr std::size_t kArchives = 10'000;
    constexpr std::size_t kRows = 50;
    const std::vector<double> levels = {0.5, 0.8, 0.9, 0.95};
    std::uint64_t seed = 1;
    for (const Scores& kind : kinds_of_scores()) {
        SCOPED_TRACE(kind.name);
        core::Random random(seed++);
        std::vector<double> covered(levels.size(), 0.0), held(levels.size(), 0.0);
        for (std::size_t archive = 0; archive < kArchives; ++archive) {
            std::vector<double> scores(kRows);
            for (double& score : scores) score = kind.draw(random);
            const double next = kind.draw(random);
            const auto map = conformal(scores);
            for (std::size_t k = 0; k < levels.size(); ++k) {
                const auto [low, high] = map->interval(levels[k], {});
                covered[k] += kind.cdf(high) - kind.cdf(low);
                held[k] += next >= low && next <= high ? 1 : 0;
            }
        }
        for (std::size_t k = 0; k < levels.size(); ++k) {
            const double level = stated(kRows, levels[k]);
            EXPECT_GE(level, levels[k]);
            // The probability between two rows has a beta distribution, of this variance. Three standard errors: one of
            // 12 such figures is outside by chance once in 30 times, and these seeds are fixed.
            const double variance = level * (1 - level);
            EXPECT_NEAR(covered[k] / kArchives, level, 3 * std::sqrt(variance / (kRows + 2) / kArchives)) << levels[k];
            EXPECT_NEAR(held[k] / kArchives, level, 3 * std::sqrt(variance / kArchives)) << levels[k];
        }
    }
}

TEST(ConformalCoverage, IsNotLessWhereRowsAreEqual) {
    // Rounded to whole numbers: of 50 rows a fifth share a value. Coverage of one more row, three standard errors.
    constexpr std::size_t kArchives = 4'000;
    constexpr std::size_t kRows = 50;
    for (const double unit : {1.0, 0.1}) {
        core::Random random(11);
        std::vector<double> held(2, 0.0);
        const std::vector<double> levels = {0.5, 0.9};
        for (std::size_t archive = 0; archive < kArchives; ++archive) {
            std::vector<double> scores(kRows + 1);
            for (double& score : scores) score = unit * std::floor(-2 * std::log(1 - random.uniform()) / unit);
            const double next = scores.back();
            scores.pop_back();
            const auto map = conformal(scores);
            for (std::size_t k = 0; k < levels.size(); ++k) {
                const auto [low, high] = map->interval(levels[k], {});
                held[k] += next >= low && next <= high ? 1 : 0;
            }
        }
        for (std::size_t k = 0; k < levels.size(); ++k) {
            const double level = stated(kRows, levels[k]);
            EXPECT_GE(held[k] / kArchives, level - 3 * std::sqrt(level * (1 - level) / kArchives)) << unit;
        }
    }
}

// The rows of an interval, by rank: the end lies at a row but for what rounding may take.
void expect_ends(const std::vector<double>& sorted, double level, std::size_t rank) {
    const auto [low, high] = conformal(sorted)->interval(level, {});
    const double first = sorted[rank - 1];
    const double last = sorted[sorted.size() - rank];
    EXPECT_LE(low, first) << level;
    EXPECT_GE(high, last) << level;
    EXPECT_NEAR(low, first, 1e-8 * (1 + std::fabs(first))) << level;
    EXPECT_NEAR(high, last, 1e-8 * (1 + std::fabs(last))) << level;
}

TEST(Conformal, IntervalsEndAtTheRanksThatTheirLevelAsksFor) {
    // 19 rows are just enough for 90%, 199 for 90% at rank 10; others round outwards. From 200 rows on knots are fewer
    // than rows, and whole percents keep their ranks.
    for (const std::size_t rows : {19U, 50U, 199U, 200U, 201U, 1000U, 12345U}) {
        core::Random random(rows);
        std::vector<double> sorted(rows);
        for (double& score : sorted) score = std::exp(random.normal());
        std::sort(sorted.begin(), sorted.end());
        for (const double level : {0.02, 0.5, 0.68, 0.8, 0.9, 0.95, 0.98, 0.99}) {
            SCOPED_TRACE(testing::Message() << rows << " rows");
            if (rank_of(rows, level) > 0) expect_ends(sorted, level, rank_of(rows, level));
        }
    }
}

TEST(Conformal, OtherLevelsRoundOutwards) {
    core::Random random(5);
    std::vector<double> sorted(5000);
    for (double& score : sorted) score = random.normal();
    std::sort(sorted.begin(), sorted.end());
    const auto map = conformal(sorted);
    for (const double level : {0.6827, 0.8999, 0.9001, 0.997, 0.9985}) {
        const std::size_t rank = rank_of(5000, level);
        const auto [low, high] = map->interval(level, {});
        EXPECT_LE(low, sorted[rank - 1]) << level;
        EXPECT_GE(high, sorted[5000 - rank]) << level;
        // By half a percent at most at each end, and by about a quarter of what lies beyond.
        const auto most = static_cast<std::size_t>(std::min(25.0 + 1, 0.4 * static_cast<double>(rank) + 1));
        EXPECT_GE(low, sorted[rank - 1 - std::min(most, rank - 1)]) << level;
    }
}

TEST(Conformal, LevelsBeyondTheOutermostRowsEndInTheTails) {
    const std::vector<double> sorted = {-2, -1, 0, 1, 3};
    const auto map = conformal(sorted);
    // Between the outermost of 5 rows lie 4 of 6 parts.
    const auto [low, high] = map->interval(4.0 / 6, {});
    EXPECT_NEAR(low, -2, 1e-8);
    EXPECT_NEAR(high, 3, 1e-8);
    double last_low = low;
    double last_high = high;
    for (const double level : {0.7, 0.9, 0.99}) {
        const auto [beyond_low, beyond_high] = map->interval(level, {});
        EXPECT_LT(beyond_low, last_low);
        EXPECT_GT(beyond_high, last_high);
        EXPECT_TRUE(std::isfinite(beyond_low) && std::isfinite(beyond_high));
        std::tie(last_low, last_high) = std::pair(beyond_low, beyond_high);
    }
}

TEST(Conformal, TheKthOfNRowsIsTheQuantileOfItsRankOverNPlusOne) {
    core::Random random(3);
    std::vector<double> sorted(50);
    for (double& score : sorted) score = -std::log(1 - random.uniform());
    std::sort(sorted.begin(), sorted.end());
    for (const SharedFamily& inner : {normal_family(), family("logistic")}) {
        const auto map = conformal(sorted, inner);
        for (std::size_t k = 1; k <= 50; ++k) {
            const double u = inner->of_normal_score(sorted[k - 1], {});
            const double rank = static_cast<double>(k) / 51;
            EXPECT_NEAR(map->cdf(u, {}), rank, 1e-12) << inner->name();
            EXPECT_NEAR(map->quantile(rank, {}), u, 1e-9 * (1 + std::fabs(u))) << inner->name();
        }
    }
}

TEST(Conformal, EqualRowsLieInsideWhicheverOfThemEndsTheInterval) {
    std::vector<double> scores(10, 0.0);
    scores.resize(15, 0.3);
    scores.resize(20, 7.0);
    const auto map = conformal(scores);
    for (const double level : {0.1, 0.5, 0.8, 0.9}) {
        const auto [low, high] = map->interval(level, {});
        // Of 20 rows the middle is at 0 and 0.3; 0.5 reaches to the 16th.
        EXPECT_LE(low, 0) << level;
        EXPECT_GE(low, -0.1) << level;
        EXPECT_GE(high, level < 0.5 ? 0.3 : 7.0) << level;
    }
}

TEST(Conformal, GoesAroundFamiliesWhoseRowsDiffer) {
    const std::vector<double> further = {0.5, -0.3};
    const SharedFamily inner = family("sinh-arcsinh");
    core::Random random(4);
    std::vector<double> scores(60);
    for (double& score : scores) score = 2 * random.normal();
    const auto map = conformal(scores, inner);
    std::sort(scores.begin(), scores.end());
    const auto [low, high] = map->interval(0.9, further);
    EXPECT_NEAR(low, inner->of_normal_score(scores[2], further), 1e-6);
    EXPECT_NEAR(high, inner->of_normal_score(scores[57], further), 1e-6);
}

TEST(Conformal, TakesNoWeightsAndNoProbabilities) {
    const std::vector<double> scores = {1, 2};
    EXPECT_THROW(Recalibrated::fitted(scores, scores, normal_family(), kConformal), InputError);
    EXPECT_THROW(Recalibrated(Recalibrated::Knots::probabilities, {0.5}, {0.4}, normal_family(), kConformal),
                 InputError);
}

}  // namespace
}  // namespace accrue
