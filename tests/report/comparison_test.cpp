// Forecasts of the same rows, compared.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/recalibrated.hpp"
#include "accrue/report.hpp"
#include "accrue/scores.hpp"
#include "core/random.hpp"
#include "support/samples.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

ReportForecast forecast_of(const std::string& name, const Numbers& errors, const Numbers& sigmas,
                           SharedFamily family = normal_family()) {
    ReportForecast forecast;
    forecast.verification = verify(errors, sigmas, Families{{family}});
    forecast.verification.name = name;
    forecast.errors = errors;
    forecast.sigmas = sigmas;
    forecast.own_family = std::move(family);
    return forecast;
}

struct Rows {
    Numbers errors, right, half, almost;
    explicit Rows(std::size_t n, std::uint64_t seed = 1) {
        const support::Sample sample = support::random_sample(n, seed);
        errors = sample.errors;
        right = sample.sigmas;
        core::Random random(seed + 1);
        for (const double sigma : right) {
            half.push_back(sigma / 2);
            almost.push_back(sigma * std::exp(0.1 * random.normal()));
        }
    }
};

TEST(Comparison, IsThatOfTheScoresRowByRow) {
    const Rows rows(3000);
    const Comparison c = compare(forecast_of("a", rows.errors, rows.half), forecast_of("b", rows.errors, rows.right));
    EXPECT_EQ(c.first, "a");
    EXPECT_EQ(c.second, "b");
    EXPECT_EQ(c.independent, "rows");
    // Rounding of sums of 3,000 terms.
    EXPECT_NEAR(c.crps.difference, mean_crps(rows.errors, rows.right) - mean_crps(rows.errors, rows.half), 1e-12);
    EXPECT_NEAR(c.nlpd.difference, mean_nlpd(rows.errors, rows.right) - mean_nlpd(rows.errors, rows.half), 1e-12);
    EXPECT_TRUE(c.crps.clear());
    EXPECT_LT(c.crps.high, 0);
}

TEST(Comparison, OfFoldsWithMapsOfTheirOwnIsRefused) {
    const Rows rows(50);
    const ReportForecast one = forecast_of("one", rows.errors, rows.right);
    ReportForecast folds = one;
    folds.row_families = {{normal_family(), normal_family()}};
    EXPECT_THROW(compare(one, folds), InputError);
    EXPECT_THROW(compare(folds, one), InputError);
}

TEST(Comparison, OfAScoreThatOneHasNotIsUndefined) {
    const Rows rows(500);
    Numbers u;
    for (std::size_t i = 0; i < rows.errors.size(); ++i) u.push_back(rows.errors[i] / rows.half[i]);
    const SharedFamily family = Recalibrated::fitted(u);
    const ReportForecast gaussian = forecast_of("gaussian", rows.errors, rows.half);
    const ReportForecast recalibrated = forecast_of("recalibrated", rows.errors, rows.half, family);
    for (const auto& [a, b] : {std::pair(gaussian, recalibrated), std::pair(recalibrated, gaussian)}) {
        const Comparison c = compare(a, b);
        EXPECT_TRUE(std::isnan(c.nlpd.difference));
        EXPECT_TRUE(std::isnan(c.nlpd.low));
        EXPECT_TRUE(std::isnan(c.nlpd.p_value));
        EXPECT_TRUE(std::isfinite(c.crps.p_value));
    }
    const std::vector<ReportForecast> both = {gaussian, recalibrated};
    const nlohmann::ordered_json nlpd = scores_json(both, {}, {}, 0).at("comparison")[0].at("nlpd");
    for (const char* key : {"difference", "low", "high", "p_value"}) EXPECT_TRUE(nlpd.at(key).is_null()) << key;
    EXPECT_EQ(nlpd.at("clear"), false);
}

TEST(Comparison, OfTheLowestCrpsSaysWhatIsClear) {
    const Rows rows(4000);
    const std::vector<ReportForecast> forecasts = {forecast_of("half", rows.errors, rows.half),
                                                   forecast_of("right", rows.errors, rows.right),
                                                   forecast_of("twin", rows.errors, rows.right)};
    const LowestCrps lowest = lowest_crps(forecasts);
    EXPECT_EQ(lowest.index, 1U) << "the first of the best";
    ASSERT_EQ(lowest.comparisons.size(), 2U);
    EXPECT_TRUE(lowest.comparisons[0].crps.clear());
    EXPECT_FALSE(lowest.comparisons[1].crps.clear());
    EXPECT_EQ(lowest.sentence.rfind("Lowest CRPS: right. Clearly lower than that of half (by 0.", 0), 0U)
        << lowest.sentence;
    EXPECT_NE(lowest.sentence.find(" It cannot be told from that of twin (by 0, 90% interval 0 to 0)."),
              std::string::npos)
        << lowest.sentence;
    EXPECT_NE(lowest.sentence.find("count rows as independent"), std::string::npos);
}

TEST(Comparison, ADifferenceThatOnlyRepeatedRowsMakeClearIsNotClearByGroups) {
    // 20 rows, 100 times each: as if independent they tell the forecasts apart.
    const Rows once(20, 3);
    Numbers errors, right, almost;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
    for (std::uint32_t g = 0; g < 20; ++g) {
        labels.push_back(std::to_string(g));
        for (int k = 0; k < 100; ++k) {
            errors.push_back(once.errors[g]);
            right.push_back(once.right[g]);
            almost.push_back(once.almost[g]);
            codes.push_back(g);
        }
    }
    const std::vector<ReportForecast> both = {forecast_of("right", errors, right),
                                              forecast_of("almost", errors, almost)};
    const LowestCrps by_rows = lowest_crps(both);
    const LowestCrps by_groups = lowest_crps(both, {}, {codes, labels});
    ASSERT_TRUE(by_rows.comparisons[0].crps.clear());
    EXPECT_FALSE(by_groups.comparisons[0].crps.clear());
    EXPECT_NE(by_groups.sentence.find("It cannot be told from"), std::string::npos) << by_groups.sentence;
    EXPECT_NE(by_groups.sentence.find("count groups as independent"), std::string::npos) << by_groups.sentence;
    const nlohmann::ordered_json json = scores_json(both, {}, {codes, labels}, 0);
    EXPECT_EQ(json.at("lowest_crps").at("others")[0].at("clear"), false);
    EXPECT_EQ(json.at("comparison")[0].at("independent"), "groups");
}

TEST(Comparison, NeighboursThatErrTogetherCountInBlocks) {
    // 100 rows, 20 times each, one after the other: neighbours are alike, in the order of the rows or of their times.
    const Rows once(100, 3);
    Numbers errors, right, almost, times;
    for (std::size_t g = 0; g < 100; ++g)
        for (int k = 0; k < 20; ++k) {
            errors.push_back(once.errors[g]);
            right.push_back(once.right[g]);
            almost.push_back(once.almost[g]);
            times.push_back(static_cast<double>(times.size()));
        }
    std::vector<ReportForecast> both = {forecast_of("right", errors, right), forecast_of("almost", errors, almost)};
    const PairedDifference by_rows = compare(both[0], both[1]).crps;
    both[1].verification.dependence = Dependence::neighbours;
    const Comparison by_blocks = compare(both[0], both[1]);
    EXPECT_EQ(by_blocks.independent, "blocks of neighbours");
    EXPECT_EQ(by_blocks.crps.difference, by_rows.difference);
    // As 100 groups of 20 equal rows: the interval is wider by the root of 20, or nearly.
    EXPECT_NEAR((by_blocks.crps.high - by_blocks.crps.low) / (by_rows.high - by_rows.low), std::sqrt(20), 0.1);
    EXPECT_EQ(lowest_crps(both, {}, {}, times).comparisons[0].crps.low, lowest_crps(both).comparisons[0].crps.low);
    EXPECT_EQ(scores_json(both, {}, {}, 0, 0, times).at("comparison")[0].at("independent"), "blocks of neighbours");
    // In another order of times the blocks are others, and rows of a block are not alike.
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<double>(i % 20 * 100 + i / 20);
    EXPECT_LT(compare(both[0], both[1], {}, {}, times).crps.high, by_blocks.crps.high);
    const std::vector<std::uint32_t> codes(errors.size());
    const std::vector<std::string> labels = {"all"};
    EXPECT_EQ(compare(both[0], both[1], {}, {codes, labels}).independent, "groups") << "groups are what is told";
}

TEST(Comparison, OfOneRowIsNeverClear) {
    const Numbers one = {1};
    const Numbers two = {2};
    const std::vector<ReportForecast> both = {forecast_of("a", one, one), forecast_of("b", one, two)};
    const LowestCrps lowest = lowest_crps(both);
    EXPECT_EQ(lowest.sentence.find("nan"), std::string::npos) << lowest.sentence;
    EXPECT_NE(lowest.sentence.find("It cannot be told from that of"), std::string::npos) << lowest.sentence;
}

}  // namespace
}  // namespace accrue
