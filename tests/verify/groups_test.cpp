// Figures per value of a column, and bands that resample groups.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "accrue/verify.hpp"
#include "support/samples.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

struct Groups {
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;

    Groups(std::size_t rows, std::size_t count) : codes(rows) {
        for (std::size_t i = 0; i < rows; ++i) codes[i] = static_cast<std::uint32_t>(i % count);
        for (std::size_t g = 0; g < count; ++g) labels.push_back(fmt::format("g{}", g));
    }
    operator Grouping() const { return {codes, labels}; }
    // The same as a column for whose values there are figures.
    std::vector<ColumnGrouping> by(const std::string& name = "site") const { return {{name, {codes, labels}}}; }
};

double mean_width(const Band& band) {
    double sum = 0;
    for (std::size_t k = 0; k < band.low.size(); ++k) sum += band.high[k] - band.low[k];
    return sum / static_cast<double>(band.low.size());
}

TEST(FiguresByColumn, OfEveryValueAreThoseOfItsRowsAlone) {
    const std::size_t n = 1003;
    const support::Sample sample = support::random_sample(n, 121);
    const Numbers weights = support::random_weights(n, 122);
    const Groups groups(n, 7);
    for (const bool weighted : {false, true}) {
        const Verification v =
            verify(sample.errors, sample.sigmas, weighted ? weights : Numbers{}, {}, {}, groups.by("station"));
        ASSERT_EQ(v.by.size(), 1U);
        EXPECT_EQ(v.by[0].column, "station");
        const std::vector<Verification>& values = v.by[0].values;
        ASSERT_EQ(values.size(), 7U);
        std::size_t rows = 0;
        for (std::size_t g = 0; g < 7; ++g) {
            Numbers e, s, w;
            for (std::size_t i = g; i < n; i += 7) {
                e.push_back(sample.errors[i]);
                s.push_back(sample.sigmas[i]);
                if (weighted) w.push_back(weights[i]);
            }
            Verification alone = verify(e, s, w);
            alone.name = groups.labels[g];
            alone.diagram = {};
            // The same rows in the same order: the same bytes.
            EXPECT_EQ(to_json(values[g]).dump(), to_json(alone).dump());
            rows += values[g].rows;
        }
        EXPECT_EQ(rows, n);
    }
}

TEST(FiguresByColumn, DoNotDependOnOtherColumns) {
    const support::Sample sample = support::random_sample(600, 131);
    const Groups stations(600, 4);
    const Groups seasons(600, 3);
    const Groups storms(600, 50);
    const Verification alone = verify(sample.errors, sample.sigmas, {}, storms, {}, seasons.by("season"));
    std::vector<ColumnGrouping> both = stations.by("station");
    both.push_back(seasons.by("season")[0]);
    const Verification v = verify(sample.errors, sample.sigmas, {}, storms, {}, both);
    ASSERT_EQ(v.by.size(), 2U);
    EXPECT_EQ(v.by[0].column, "station");
    EXPECT_EQ(v.by[1].column, "season");
    ASSERT_EQ(v.by[1].values.size(), 3U);
    for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(to_json(v.by[1].values[k]).dump(), to_json(alone.by[0].values[k]).dump());
    const Verification without = verify(sample.errors, sample.sigmas, {}, {}, {}, seasons.by("season"));
    EXPECT_TRUE(without.diagram.group_pointwise.low.empty()) << "only groups are resampled";
}

TEST(Groups, ChangeNoFigureOfTheWholeButWhatRowsAreWorth) {
    const support::Sample sample = support::random_sample(500, 123);
    Verification with = verify(sample.errors, sample.sigmas, {}, Groups(500, 5));
    EXPECT_FALSE(with.diagram.group_pointwise.low.empty());
    EXPECT_TRUE(with.by.empty()) << "figures per value are another thing";
    with.diagram.group_pointwise = {};
    with.diagram.group_simultaneous = {};
    const auto shared = [](const Verification& v) {
        auto json = to_json(v);
        for (const char* key : {"effective_rows", "effective_rows_of_mean", "effective_rows_of_spread", "rs_floor",
                                "calibration_floor_percent", "calibration_p_value", "verdict"})
            json.erase(key);
        for (const char* key : {"band_90_pointwise", "band_90_simultaneous"}) json["reliability_diagram"].erase(key);
        return json.dump();
    };
    EXPECT_EQ(shared(with), shared(verify(sample.errors, sample.sigmas)));
}

TEST(FiguresByColumn, LeaveOutValuesWithoutRowsOrWeight) {
    const support::Sample sample = support::random_sample(30, 124);
    Groups groups(30, 3);
    groups.labels.push_back("empty");
    Numbers weights(30, 1.0);
    for (std::size_t i = 1; i < 30; i += 3) weights[i] = 0;
    const Verification v = verify(sample.errors, sample.sigmas, weights, {}, {}, groups.by());
    ASSERT_EQ(v.by[0].values.size(), 2U);
    EXPECT_EQ(v.by[0].values[0].name, "g0");
    EXPECT_EQ(v.by[0].values[1].name, "g2");
}

TEST(Groups, EmptyOnesDoNotChangeTheBands) {
    const support::Sample sample = support::random_sample(400, 125);
    const Groups groups(400, 20);
    Groups more(400, 20);
    for (int i = 0; i < 500; ++i) more.labels.push_back(fmt::format("empty {}", i));
    const ReliabilityDiagram a = verify(sample.errors, sample.sigmas, {}, groups).diagram;
    const ReliabilityDiagram b = verify(sample.errors, sample.sigmas, {}, more).diagram;
    EXPECT_EQ(a.group_pointwise.low, b.group_pointwise.low);
    EXPECT_EQ(a.group_simultaneous.high, b.group_simultaneous.high);
}

TEST(Groups, BandsContainTheCurve) {
    const support::Sample sample = support::random_sample(1000, 126, 1.5);
    for (const std::size_t count : {2U, 10U, 50U, 1000U}) {
        SCOPED_TRACE(count);
        const ReliabilityDiagram d = verify(sample.errors, sample.sigmas, {}, Groups(1000, count)).diagram;
        ASSERT_EQ(d.group_pointwise.low.size(), d.probability.size());
        ASSERT_EQ(d.group_simultaneous.low.size(), d.probability.size());
        for (std::size_t k = 0; k < d.probability.size(); ++k) {
            EXPECT_LE(d.group_pointwise.low[k], d.observed[k]) << k;
            EXPECT_GE(d.group_pointwise.high[k], d.observed[k]) << k;
            EXPECT_LE(d.group_simultaneous.low[k], d.observed[k]) << k;
            EXPECT_GE(d.group_simultaneous.high[k], d.observed[k]) << k;
        }
        EXPECT_EQ(d.group_pointwise.high.back(), 1);
        EXPECT_GE(mean_width(d.group_simultaneous), mean_width(d.group_pointwise));
    }
}

TEST(Groups, BandsWidenWhenTheRowsOfAGroupAreCopies) {
    constexpr std::size_t kGroups = 60;
    constexpr std::size_t kCopies = 25;
    const support::Sample independent = support::random_sample(kGroups * kCopies, 127);
    support::Sample copies = independent;
    for (std::size_t i = kGroups; i < copies.errors.size(); ++i) {
        copies.errors[i] = copies.errors[i % kGroups];
        copies.sigmas[i] = copies.sigmas[i % kGroups];
    }
    const Groups groups(kGroups * kCopies, kGroups);
    const ReliabilityDiagram a = verify(independent.errors, independent.sigmas, {}, groups).diagram;
    const ReliabilityDiagram b = verify(copies.errors, copies.sigmas, {}, groups).diagram;
    // 25 copies are one row: the band is wider by sqrt(25) = 5. A width estimated from 60 groups is good to about 10%.
    EXPECT_NEAR(mean_width(b.group_pointwise) / mean_width(a.group_pointwise), 5, 1.5);
    EXPECT_NEAR(mean_width(b.group_simultaneous) / mean_width(a.group_simultaneous), 5, 1.5);
    // The bands around the diagonal count what rows are worth.
    EXPECT_NEAR(mean_width(b.pointwise) / mean_width(a.pointwise), 5, 1.5);
}

TEST(Groups, OfOneRowEachGiveTheBandsOfIndependentRows) {
    // 1,500 groups are pooled into 1,000; the pools have the same spread. Widths of 1,000 replicates are good to
    // about 3%, and the two kinds of band differ a little more where the curve is not the diagonal.
    const support::Sample sample = support::random_sample(1500, 128);
    const ReliabilityDiagram d = verify(sample.errors, sample.sigmas, {}, Groups(1500, 1500)).diagram;
    EXPECT_NEAR(mean_width(d.group_pointwise) / mean_width(d.pointwise), 1, 0.1);
    EXPECT_NEAR(mean_width(d.group_simultaneous) / mean_width(d.simultaneous), 1, 0.1);
}

TEST(Groups, AnotherSeedGivesOtherBandsOfTheSameWidth) {
    const support::Sample sample = support::random_sample(600, 129);
    VerifyOptions options;
    const ReliabilityDiagram a = verify(sample.errors, sample.sigmas, {}, Groups(600, 60), options).diagram;
    options.seed = 2;
    const ReliabilityDiagram b = verify(sample.errors, sample.sigmas, {}, Groups(600, 60), options).diagram;
    EXPECT_NE(a.group_pointwise.low, b.group_pointwise.low);
    EXPECT_NEAR(mean_width(b.group_pointwise) / mean_width(a.group_pointwise), 1, 0.1);
}

TEST(Groups, ASingleGroupHasNoBands) {
    const support::Sample sample = support::random_sample(50, 130);
    const Verification v = verify(sample.errors, sample.sigmas, {}, Groups(50, 1));
    EXPECT_TRUE(v.diagram.group_pointwise.low.empty());
    EXPECT_EQ(verdict(v).remarks, verdict(verify(sample.errors, sample.sigmas)).remarks) << "nothing is resampled";
}

}  // namespace
}  // namespace accrue
