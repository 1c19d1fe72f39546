// Recalibrations of groups: each has the shape of its own errors, others have that of all rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "accrue/group_maps.hpp"
#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::refusal;
using support::Rows;

FitOptions constant(const std::string& recalibrate, double share = 0) {
    FitOptions options;
    options.form = "constant";
    options.family = "normal";
    options.bias = "none";
    options.recalibrate = recalibrate;
    options.calibration_share = share;
    return options;
}

// Errors of unit variance and mean 0 in groups of three shapes: skewed to the right, to the left, and normal.
double draw(std::uint32_t group, core::Random& random) {
    const double exponential = -std::log(1 - random.uniform());
    return group == 0 ? exponential - 1 : group == 1 ? 1 - exponential : random.normal();
}
// The probability of at most y.
double probability(std::uint32_t group, double y) {
    if (group == 0) return y > -1 ? 1 - std::exp(-(y + 1)) : 0;
    if (group == 1) return y < 1 ? std::exp(y - 1) : 1;
    return std::erfc(-y / std::sqrt(2.0)) / 2;
}

// Rows with a group each; the label "" is for those without one.
struct GroupRows {
    Rows rows;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels = {"right", "left", "normal"};

    Archive archive() const {
        Archive all = rows.archive();
        all.recalibrate_groups = {codes, labels};
        all.roles.recalibrate_group = "station";
        return all;
    }
    void add(std::uint32_t group, double error, double x) {
        if (rows.inputs.empty()) rows.inputs.resize(1);
        rows.inputs[0].push_back(x);
        rows.errors.push_back(error);
        rows.prediction.push_back(0);
        codes.push_back(group);
    }
};

GroupRows of_shapes(std::size_t rows, std::uint64_t seed) {
    core::Random random(seed);
    GroupRows all;
    for (std::size_t i = 0; i < rows; ++i) {
        const auto group = static_cast<std::uint32_t>(i % 3);
        all.add(group, draw(group, random), random.uniform());
    }
    return all;
}

Distribution forecast_of(const Model& model, double map) {
    const std::vector<double> x = {0.5}, mu = {0}, maps = {map};
    std::vector<std::span<const double>> inputs = {x};
    if (model.inputs().size() > 1) inputs.emplace_back(maps);
    return model.forecast(inputs, mu).row(0);
}

bool says(const FitResult& result, const std::string& text) {
    const auto& remarks = result.verdict.remarks;
    return std::any_of(remarks.begin(), remarks.end(),
                       [&](const Message& remark) { return remark.text().find(text) != std::string::npos; });
}

TEST(GroupRecalibration, GivesEachGroupItsOwnCoverage) {
    constexpr std::size_t kRows = 6000;
    const GroupRows rows = of_shapes(kRows, 1);
    Archive without = rows.archive();
    without.recalibrate_groups = {};
    without.roles.recalibrate_group.clear();
    for (const char* kind : {"isotonic", "conformal"}) {
        const FitResult own = fit(rows.archive(), constant(kind));
        const FitResult common = fit(without, constant(kind));
        ASSERT_EQ(own.recalibration.groups.size(), 3U);
        double worst = 0;
        for (std::uint32_t group = 0; group < 3; ++group)
            for (const double p : {0.05, 0.5, 0.95}) {
                const double with = probability(group, forecast_of(own.model, group).quantile(p));
                // The quantile of 2,000 rows has the probability p within sqrt(p(1 - p)/2000): four standard errors,
                // missed by one of 18 figures once in 900 sets of seeds.
                EXPECT_NEAR(with, p, 4 * std::sqrt(p * (1 - p) / 2000)) << kind << " " << group;
                worst = std::max(worst, std::fabs(probability(group, forecast_of(common.model, 0).quantile(p)) - p));
            }
        EXPECT_GT(worst, 0.03) << "one map for all groups does as well";
        EXPECT_LT(own.verification.crps, common.verification.crps);
        EXPECT_TRUE(common.conditional.columns.empty() || common.recalibration.groups.empty());
    }
}

TEST(GroupRecalibration, OthersHaveTheMapOfAllRows) {
    GroupRows rows = of_shapes(600, 2);
    core::Random random(3);
    rows.labels = {"right", "left", "normal", "small", ""};
    for (int i = 0; i < 49; ++i) rows.add(3, random.normal(), random.uniform());
    for (int i = 0; i < 80; ++i) rows.add(4, random.normal(), random.uniform());
    const FitResult result = fit(rows.archive(), constant("isotonic"));
    ASSERT_EQ(result.recalibration.groups.size(), 3U);
    EXPECT_EQ(result.recalibration.common_rows, 129U);
    const Model& model = result.model;
    EXPECT_EQ(model.inputs(), (std::vector<std::string>{"x1", "station"}));
    EXPECT_EQ(model.input_columns()[1], (Input{"station", InputKind::category}));
    EXPECT_TRUE(model.takes_missing(1));
    EXPECT_EQ(model.category_code(1, "left"), 1);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Distribution common = forecast_of(model, nan);
    for (const char* label : {"small", "", "never seen"})
        EXPECT_EQ(forecast_of(model, model.category_code(1, label)).quantile(0.9), common.quantile(0.9)) << label;
    EXPECT_NE(forecast_of(model, 0).quantile(0.9), common.quantile(0.9));
    // That of all rows, small groups or not.
    Archive one = rows.archive();
    one.recalibrate_groups = {};
    EXPECT_EQ(forecast_of(fit(one, constant("isotonic")).model, 0).quantile(0.9), common.quantile(0.9));
    EXPECT_TRUE(says(result,
                     "3 values of 'station' have a recalibration of their own, from 200 rows each; other values (129 "
                     "rows) have that of all rows."));
}

TEST(GroupRecalibration, IsInTheModelFile) {
    GroupRows rows = of_shapes(600, 4);
    rows.labels = {"a\"b", "\xc3\xa9", "c"};
    for (const char* kind : {"isotonic", "conformal"})
        for (const char* family : {"normal", "logistic"}) {
            FitOptions options = constant(kind);
            options.family = family;
            const FitResult result = fit(rows.archive(), options);
            const std::string text = result.model.text();
            const Model read = Model::parse(text);
            EXPECT_EQ(read.text(), text);
            EXPECT_EQ(read.json()["format_version"], 7);
            for (const double map : {0.0, 1.0, 2.0, -1.0}) {
                const Distribution a = forecast_of(result.model, map);
                const Distribution b = forecast_of(read, map);
                EXPECT_EQ(a.mean, b.mean);
                EXPECT_EQ(a.sigma, b.sigma);
                EXPECT_EQ(a.interval(0.9).low, b.interval(0.9).low);
                EXPECT_EQ(a.quantile(0.8), b.quantile(0.8));
            }
            const auto groups = read.json()["recalibration"]["groups"];
            EXPECT_EQ(groups["column"], "station");
            EXPECT_EQ(groups["maps"][1]["label"], "\xc3\xa9");
            EXPECT_EQ(read.json()["columns"]["recalibrate_group"], "station");
            EXPECT_EQ(read.json()["fit"]["recalibration"]["by_group"]["groups"], 3);
        }
}

TEST(GroupRecalibration, WorksAroundBoundsAndWithALearnedMean) {
    GroupRows rows = of_shapes(600, 5);
    Archive bounded = rows.archive();
    bounded.observation = rows.rows.errors;
    bounded.roles.observation = "y";
    FitOptions options = constant("isotonic");
    options.lower = -20;
    const FitResult result = fit(bounded, options);
    EXPECT_NE(forecast_of(result.model, 0).quantile(0.9), forecast_of(result.model, 1).quantile(0.9));
    EXPECT_GE(forecast_of(result.model, 0).quantile(1e-9), -20);
    EXPECT_EQ(Model::parse(result.model.text()).text(), result.model.text());
    Archive observations = rows.archive();
    observations.observation = rows.rows.errors;
    observations.errors = {};
    observations.prediction = {};
    observations.roles.error.clear();
    observations.roles.prediction.clear();
    observations.roles.observation = "y";
    options = constant("conformal", 0.4);
    options.mean = "gp";
    const FitResult mean = fit(observations, options);
    EXPECT_EQ(mean.recalibration.groups.size(), 3U);
    const std::vector<double> x = {0.5}, map = {0};
    EXPECT_EQ(mean.model.forecast(std::vector<std::span<const double>>{x, map}).row(0).family->recalibrated(), true);
}

TEST(GroupRecalibration, JudgesEveryFoldByMapsOfTheOthers) {
    // Groups that mean nothing: maps of 60 rows each learn noise. In sample they would look better than one map.
    core::Random random(6);
    GroupRows rows;
    rows.labels.clear();
    for (int g = 0; g < 20; ++g) rows.labels.push_back(fmt::format("g{}", g));
    for (std::uint32_t i = 0; i < 1200; ++i) rows.add(i % 20, random.normal(), random.uniform());
    const FitResult own = fit(rows.archive(), constant("isotonic"));
    Archive one = rows.archive();
    one.recalibrate_groups = {};
    EXPECT_EQ(own.recalibration.groups.size(), 20U);
    EXPECT_EQ(own.recalibration.strays, 0U);
    EXPECT_GT(own.verification.crps, fit(one, constant("isotonic")).verification.crps);
    // And so the fit takes none of them where it may choose.
    const FitResult chosen = fit(rows.archive(), constant("auto"));
    ASSERT_EQ(chosen.recalibration.trials.size(), 3U);  // none, one map, maps of groups
    EXPECT_TRUE(chosen.recalibration.trials.back().by_group);
    EXPECT_FALSE(chosen.recalibration.trials.back().taken);
    EXPECT_TRUE(chosen.recalibration.groups.empty());
    EXPECT_EQ(chosen.model.inputs(), std::vector<std::string>{"x1"});
    EXPECT_EQ(chosen.model.json()["fit"]["recalibration"]["by_group"]["groups"], 0);
}

TEST(GroupRecalibration, IsTakenByAutoWhereGroupsHaveShapesOfTheirOwn) {
    const GroupRows rows = of_shapes(3000, 7);
    const FitResult folds = fit(rows.archive(), constant("auto"));
    ASSERT_EQ(folds.recalibration.trials.size(), 3U);
    EXPECT_TRUE(folds.recalibration.trials.back().taken);
    EXPECT_EQ(folds.recalibration.kind, "isotonic");
    EXPECT_EQ(folds.recalibration.groups.size(), 3U);
    EXPECT_TRUE(says(folds, "The isotonic per value of 'station' recalibration was taken"));
    EXPECT_EQ(folds.verification.crps, fit(rows.archive(), constant("isotonic")).verification.crps);
    const FitResult split = fit(rows.archive(), constant("auto", 0.25));
    EXPECT_EQ(split.recalibration.kind, "conformal");
    EXPECT_EQ(split.recalibration.groups.size(), 3U);
    EXPECT_TRUE(split.recalibration.guaranteed);
    EXPECT_EQ(split.model.text(), Model::parse(split.model.text()).text());
}

TEST(GroupRecalibration, SaysWhatItPromisesInEachGroup) {
    GroupRows rows = of_shapes(300, 8);
    const FitResult split = fit(rows.archive(), constant("conformal", 0.4));
    ASSERT_EQ(split.recalibration.groups.size(), 3U);
    std::size_t all = 0;
    for (const auto& group : split.recalibration.groups) all += group.rows;
    EXPECT_EQ(all, 120U);
    EXPECT_TRUE(split.recalibration.guaranteed);
    EXPECT_TRUE(says(split,
                     "Guarantee: where new rows of a value and its rows set apart are exchangeable, within each "
                     "value of 'station' with a map of its own the central 90% interval covers"));
    EXPECT_TRUE(says(split, fmt::format("right: n = {}, ", split.recalibration.groups[0].rows)));
    const auto json = split.model.json()["fit"]["recalibration"];
    EXPECT_FALSE(json.contains("max_level"));
    EXPECT_EQ(json["by_group"]["values"][0]["name"], "right");
    EXPECT_EQ(json["by_group"]["values"][0]["max_level"],
              1 - 2 / (1 + static_cast<double>(split.recalibration.groups[0].rows)));
    EXPECT_TRUE(says(fit(rows.archive(), constant("conformal")), "no finite-sample guarantee"));
}

TEST(GroupRecalibration, TakesWeights) {
    GroupRows rows = of_shapes(900, 9);
    rows.rows.weights.assign(900, 1.0);
    // 300 rows of one group, of which 40 count.
    for (std::size_t i = 120; i < 900; i += 3) rows.rows.weights[i] = 0;
    const FitResult result = fit(rows.archive(), constant("isotonic"));
    ASSERT_EQ(result.recalibration.groups.size(), 2U);
    EXPECT_EQ(result.recalibration.groups[0].label, "left");
    // Twice the weight is twice the row.
    GroupRows weighted = of_shapes(600, 10);
    GroupRows doubled = weighted;
    weighted.rows.weights.assign(600, 1.0);
    for (std::size_t i = 0; i < 600; i += 2) {
        weighted.rows.weights[i] = 2;
        doubled.add(weighted.codes[i], weighted.rows.errors[i], weighted.rows.inputs[0][i]);
    }
    const double a = forecast_of(fit(weighted.archive(), constant("isotonic")).model, 1).quantile(0.8);
    const double b = forecast_of(fit(doubled.archive(), constant("isotonic")).model, 1).quantile(0.8);
    // Folds differ, and the scale with them by some percent; the group's own quantile stays.
    EXPECT_NEAR(a, b, 0.1);
}

TEST(GroupRecalibration, TellsWhereFoldsHoldWholeGroups) {
    GroupRows rows = of_shapes(600, 11);
    rows.labels = {"a", "b", "c", "d", "e", "f"};
    for (std::size_t i = 0; i < 600; ++i) rows.codes[i] = static_cast<std::uint32_t>(i % 6);
    Archive archive = rows.archive();
    archive.groups = archive.recalibrate_groups;
    archive.roles.group = "station";
    FitOptions options = constant("isotonic");
    options.folds = 3;
    const FitResult result = fit(archive, options);
    EXPECT_EQ(result.recalibration.strays, 600U);
    EXPECT_TRUE(says(result, "600 rows of groups with a map of their own were judged by the map of all rows"));
}

TEST(GroupRecalibration, IsLookedAtBesideMonthsAndHours) {
    GroupRows rows = of_shapes(900, 20);
    for (std::size_t i = 0; i < 900; ++i) rows.rows.times.push_back(1.7e9 + 21'600.0 * static_cast<double>(i));
    Archive archive = rows.archive();
    archive.times_are_dates = true;
    const FitResult result = fit(archive, constant("isotonic"));
    const auto places = [&](const std::string& name) {
        for (const ConditionalColumn& column : result.conditional.columns)
            if (column.name == name) return column.places.size();
        return std::size_t{0};
    };
    EXPECT_EQ(places("station"), 3U);
    EXPECT_GE(places("month"), 6U);
    EXPECT_EQ(places("hour"), 4U);
}

TEST(GroupRecalibration, IsTheSameForAnyNumberOfThreads) {
    const GroupRows rows = of_shapes(1200, 12);
    support::expect_same_for_any_threads([&] { return fit(rows.archive(), constant("auto", 0.25)).model.text(); });
}

TEST(GroupRecalibration, IsFittedAgainAndJudgedLater) {
    const GroupRows rows = of_shapes(900, 13);
    FitResult result = fit(rows.archive(), constant("isotonic"));
    EXPECT_EQ(refit(result.model, rows.archive()).recalibration.groups.size(), 3U);
    GroupRows later = of_shapes(300, 14);
    later.labels = {"right", "left", "elsewhere"};  // codes of its own
    const double before = forecast_of(result.model, 1).sigma;
    judge_later(result, later.archive());
    ASSERT_TRUE(result.later.has_value());
    EXPECT_NEAR(forecast_of(result.model, 1).sigma / before, result.later->rescaled ? result.later->factor : 1, 1e-9);
    Archive without = later.archive();
    without.recalibrate_groups = {};
    EXPECT_EQ(refusal([&] { judge_later(result, without); }),
              "the model has recalibrations of its own for values of 'station': give that column");
}

TEST(GroupRecalibration, IsRecommendedWhereValuesDiffer) {
    const GroupRows rows = of_shapes(3000, 15);
    Archive archive = rows.archive();
    archive.by = {{"station", archive.recalibrate_groups}};
    archive.recalibrate_groups = {};
    archive.roles.recalibrate_group.clear();
    // Groups of different spread, which one sigma cannot follow.
    std::vector<double> errors = rows.rows.errors;
    for (std::size_t i = 0; i < errors.size(); i += 3) errors[i] *= 2;
    archive.errors = errors;
    const std::string advice = "--recalibrate auto --recalibrate-group station may give its values recalibrations";
    EXPECT_TRUE(says(fit(archive, constant("none")), advice));
    archive.recalibrate_groups = archive.by.front().rows;
    archive.roles.recalibrate_group = "station";
    const FitResult own = fit(archive, constant("isotonic"));
    EXPECT_FALSE(says(own, advice));
    EXPECT_TRUE(own.conditional.passes) << own.conditional.worst;
}

// Mean and spread are right in each group, and one of them has errors of two sizes: no input helps, a map does.
TEST(GroupRecalibration, IsWhatHelpsAShape) {
    const GroupRows rows = of_shapes(3000, 15);
    Archive archive = rows.archive();
    archive.by = {{"station", archive.recalibrate_groups}};
    archive.recalibrate_groups = {};
    archive.roles.recalibrate_group.clear();
    core::Random random(17);
    std::vector<double> errors = rows.rows.errors;
    for (std::size_t i = 0; i < errors.size(); ++i)
        errors[i] = i % 3 == 0 ? (random.uniform() < 0.5 ? -1 : 1) : random.normal();
    archive.errors = errors;
    const FitResult result = fit(archive, constant("none"));
    EXPECT_EQ(result.conditional.worst_fault, ConditionalPlace::Fault::shape) << result.conditional.worst;
    EXPECT_TRUE(says(result, "the calibration error is 3"));
    EXPECT_TRUE(says(result, "--recalibrate auto --recalibrate-group station may give its values recalibrations"));
    EXPECT_FALSE(says(result, "--inputs"));
    EXPECT_FALSE(says(result, "may help there"));
}

TEST(GroupRecalibration, RefusesWhatCannotBe) {
    GroupRows rows = of_shapes(120, 16);
    const auto refused = [&](const FitOptions& options) { return refusal([&] { fit(rows.archive(), options); }); };
    EXPECT_EQ(refused(constant("none")),
              "--recalibrate-group is for a recalibration, but there is none: give --recalibrate auto");
    EXPECT_EQ(refused(constant("isotonic")),
              "--recalibrate-group station: no value has the 50 rows that a map of its own needs; the most frequent "
              "of 3 values has 40");
    EXPECT_EQ(refused(constant("auto")), refused(constant("isotonic")));
    EXPECT_NE(refused(constant("conformal", 0.3)).find("no value has the 19 rows set apart that a map"),
              std::string::npos);
    FitOptions paper = constant("isotonic");
    paper.recipe = "paper";
    EXPECT_EQ(refused(paper), "--recalibrate-group goes with --recipe default only");
    rows = of_shapes(300, 17);
    rows.labels[1] = "\xff";
    EXPECT_EQ(refused(constant("isotonic")).substr(0, 41), "--recalibrate-group station: the value '\\");
    rows.labels[1] = "left";
    rows.codes[7] = 9;
    EXPECT_EQ(refused(constant("isotonic")),
              "row 8 is of recalibration group 9, but there are 3 recalibration group labels");
    rows.codes.pop_back();
    EXPECT_EQ(refused(constant("isotonic")), "there are recalibration groups for 299 rows, but 300 errors");
    rows = of_shapes(300, 18);
    Archive unnamed = rows.archive();
    unnamed.roles.recalibrate_group.clear();
    EXPECT_EQ(refusal([&] { fit(unnamed, constant("isotonic")); }),
              "--recalibrate-group needs the name of its column, from which forecasts read the groups of new rows");
    const Model model = fit(rows.archive(), constant("isotonic")).model;
    const std::vector<double> x = {0.5}, mu = {0};
    EXPECT_EQ(refusal([&] { model.forecast(std::vector<std::span<const double>>{x}, mu); }),
              "the model has 2 inputs, but 1 were given; the last is the column 'station', for whose values it has "
              "recalibrations of their own");
}

TEST(GroupRecalibration, HasAsManyMapsAsAModelMay) {
    core::Random random(19);
    GroupRows rows;
    rows.labels.clear();
    for (int g = 0; g < 1001; ++g) rows.labels.push_back(fmt::format("g{}", g));
    for (std::uint32_t i = 0; i < 50 * 1001; ++i) rows.add(i % 1001, random.normal(), random.uniform());
    EXPECT_EQ(refusal([&] { fit(rows.archive(), constant("isotonic")); }),
              "--recalibrate-group station: 1001 values have enough rows for a map of their own, but a model has at "
              "most 1000: name a coarser column");
}

}  // namespace
}  // namespace accrue
