// Recalibration in a fit: rows set apart, the choice of a map, what is refused and what is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "accrue/options.hpp"
#include "accrue/recalibrated.hpp"
#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::refusal;
using support::Rows;
using support::some_rows;

// Of errors alone, so that it is normal around the prediction, by whatever choice.
FitOptions constant(const std::string& recalibrate, double share = 0) {
    FitOptions options;
    options.form = "constant";
    options.recalibrate = recalibrate;
    options.calibration_share = share;
    return options;
}

// Errors with a tail on one side.
Rows skewed_rows(std::size_t rows, std::uint64_t seed) {
    Rows r = some_rows(rows, seed);
    core::Random random(seed + 1);
    for (double& e : r.errors) e = std::exp(random.normal()) - 1;
    return r;
}

std::string refused(const Rows& rows, const FitOptions& options) {
    return refusal([&] { fit(rows.archive(), options); });
}

std::vector<std::size_t> set_apart(const FitResult& result) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < result.errors.size(); ++i)
        if (std::isnan(result.errors[i])) rows.push_back(i);
    return rows;
}

bool says(const FitResult& result, const std::string& text) {
    const auto& remarks = result.verdict.remarks;
    return std::any_of(remarks.begin(), remarks.end(),
                       [&](const Message& remark) { return remark.text().find(text) != std::string::npos; });
}

TEST(Recalibration, RowsSetApartEnterNothingButTheMap) {
    FitOptions options;  // with the choice of family and location, and early stopping
    options.recalibrate = "conformal";
    options.calibration_share = 0.3;
    options.starts = 1;
    options.max_iterations = 20;
    Rows rows = some_rows(900, 1);
    rows.prediction = rows.inputs[0];
    const FitResult first = fit(rows.archive(), options);
    const std::vector<std::size_t> apart = set_apart(first);
    ASSERT_EQ(apart.size(), 270U);
    EXPECT_EQ(first.recalibration.rows, 270U);
    for (const std::size_t i : apart) {
        rows.errors[i] = 3 * rows.errors[i] + 1;
        rows.inputs[0][i] *= 1.1;
        rows.prediction[i] -= 0.4;
    }
    const FitResult second = fit(rows.archive(), options);
    EXPECT_EQ(set_apart(second), apart);
    const auto before = first.model.json();
    const auto after = second.model.json();
    for (const char* entry : {"inputs", "prediction", "error_scale", "bias", "sigma", "test_vectors"})
        EXPECT_EQ(before[entry], after[entry]) << entry;
    ASSERT_TRUE(before["fit"].contains("candidates"));
    EXPECT_EQ(before["fit"]["candidates"], after["fit"]["candidates"]);
    EXPECT_NE(before["recalibration"], after["recalibration"]);
}

TEST(Recalibration, AMapOfRowsSetApartHasTheirRanks) {
    const Rows rows = skewed_rows(200, 2);
    const FitResult result = fit(rows.archive(), constant("conformal", 0.25));
    std::vector<double> own;
    for (const std::size_t i : set_apart(result)) own.push_back(rows.errors[i]);
    ASSERT_EQ(own.size(), 50U);
    std::sort(own.begin(), own.end());
    const std::vector<double> x = {0}, mu = {5};
    const Distribution row = result.model.forecast(std::vector<std::span<const double>>{x}, mu).row(0);
    // Of 51 parts 0.05 leaves 2 out at each end. Errors are scaled and shifted and back again.
    const auto interval = row.interval(0.9);
    EXPECT_NEAR(interval.low - 5, own[1], 1e-7);
    EXPECT_NEAR(interval.high - 5, own[48], 1e-7);
    for (std::size_t k = 1; k <= 50; ++k) EXPECT_NEAR(row.cdf(5 + own[k - 1]), static_cast<double>(k) / 51, 1e-9);
}

TEST(Recalibration, SurvivesItsFile) {
    const FitResult result = fit(skewed_rows(150, 3).archive(), constant("conformal", 0.3));
    const Model read = Model::parse(result.model.text());
    EXPECT_EQ(read.text(), result.model.text());
    EXPECT_EQ(read.json()["format_version"], 6);
    EXPECT_EQ(read.json()["recalibration"]["kind"], "conformal");
    const std::vector<double> x = {0}, mu = {0};
    const std::vector<std::span<const double>> inputs = {x};
    const auto own = result.model.forecast(inputs, mu).row(0).interval(0.8);
    const auto again = read.forecast(inputs, mu).row(0).interval(0.8);
    EXPECT_EQ(own.low, again.low);
    EXPECT_EQ(own.high, again.high);
    // An isotonic one is as it always was.
    const auto isotonic = fit(skewed_rows(150, 3).archive(), constant("isotonic")).model.json();
    EXPECT_EQ(isotonic["format_version"], 2);
    EXPECT_FALSE(isotonic["recalibration"].contains("kind"));
}

TEST(Recalibration, SetsWholeGroupsApart) {
    Rows rows = skewed_rows(300, 4);
    support::add_groups(rows, 30, true);
    const FitResult result = fit(rows.archive(), constant("conformal", 0.25));
    std::vector<std::size_t> taken(30, 0);
    for (const std::size_t i : set_apart(result)) ++taken[rows.codes[i]];
    std::size_t groups = 0;
    for (const std::size_t count : taken) {
        EXPECT_TRUE(count == 0 || count == 10) << count;
        groups += count > 0 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(groups), 7.5, 0.6);
    EXPECT_FALSE(result.recalibration.guaranteed);
    EXPECT_TRUE(says(result, "No finite-sample guarantee: rows of one group err together"));
}

TEST(Recalibration, SetsTheLatestBlockOfTimeApart) {
    Rows rows = skewed_rows(200, 5);
    for (std::size_t i = 0; i < 200; ++i) rows.times.push_back(static_cast<double>((i * 77) % 200 / 3));
    const FitResult result = fit(rows.archive(), constant("conformal", 0.2));
    const std::vector<std::size_t> apart = set_apart(result);
    // Three rows have one time, which is not split.
    EXPECT_NEAR(static_cast<double>(apart.size()), 40, 2);
    double first = 1e9, last = -1;
    for (std::size_t i = 0; i < 200; ++i) {
        const bool is_apart = std::find(apart.begin(), apart.end(), i) != apart.end();
        if (is_apart) first = std::min(first, rows.times[i]);
        if (!is_apart) last = std::max(last, rows.times[i]);
    }
    EXPECT_GT(first, last);
    EXPECT_TRUE(says(result, "No finite-sample guarantee: the rows set apart are the latest"));
}

TEST(Recalibration, SaysWhatItPromises) {
    const Rows rows = skewed_rows(200, 6);
    const FitResult split = fit(rows.archive(), constant("conformal", 0.25));
    EXPECT_TRUE(split.recalibration.guaranteed);
    // 50 rows: 47 of 51 parts, and 49 of 51 at most.
    EXPECT_TRUE(says(split,
                     "Guarantee: where new rows and those are exchangeable, the central 90% interval covers "
                     "92.2% of new rows or more, on average over archives; the same holds at every level up to "
                     "96.1%."));
    EXPECT_EQ(split.model.json()["fit"]["recalibration"]["finite_sample_guarantee"], true);
    const FitResult folds = fit(rows.archive(), constant("conformal"));
    EXPECT_FALSE(folds.recalibration.guaranteed);
    EXPECT_TRUE(says(folds, "no finite-sample guarantee. --calibration-share 0.25 sets rows apart"));
    EXPECT_TRUE(set_apart(folds).empty());
    EXPECT_FALSE(says(fit(rows.archive(), constant("isotonic", 0.25)), "uarantee"));
}

TEST(Recalibration, AutoTakesNoMapOfErrorsThatNeedNone) {
    Rows rows = some_rows(800, 7);
    core::Random random(8);
    for (double& e : rows.errors) e = random.normal();
    const FitResult result = fit(rows.archive(), constant("auto"));
    EXPECT_EQ(result.recalibration.kind, "none");
    EXPECT_EQ(result.model.family()->recalibrated(), false);
    EXPECT_EQ(result.model.json()["configuration"]["recalibrate"], "none");
    const auto json = result.model.json()["fit"]["recalibration"];
    EXPECT_EQ(json["asked"], "auto");
    EXPECT_EQ(json["reason"].get<std::string>().find("No recalibration was taken"), 0U);
    EXPECT_EQ(result.recalibration.trials.size(), 2U);
    // The same model as without the question, and no word of it in the verdict.
    const FitResult plain = fit(rows.archive(), constant("none"));
    EXPECT_EQ(result.model.json()["sigma"], plain.model.json()["sigma"]);
    EXPECT_EQ(result.model.json()["verification"], plain.model.json()["verification"]);
    const FitResult split = fit(rows.archive(), constant("auto", 0.25));
    EXPECT_EQ(split.recalibration.kind, "none");
    EXPECT_TRUE(says(split, "No recalibration was taken"));
    EXPECT_TRUE(says(split, "The 200 rows of --calibration-share were not used"));
}

TEST(Recalibration, AutoTakesAMapOfSkewedErrors) {
    const Rows rows = skewed_rows(1500, 9);
    const FitResult folds = fit(rows.archive(), constant("auto"));
    EXPECT_EQ(folds.recalibration.kind, "isotonic");
    EXPECT_TRUE(says(folds, "The isotonic recalibration was taken: on rows that it was not made from the calibration"));
    EXPECT_FALSE(says(folds, "Each fold was judged")) << "one sentence is enough";
    EXPECT_LT(folds.recalibration.trials[1].high, 0);
    // Map and figures are those of the one that is asked for by its name.
    const FitResult by_name = fit(rows.archive(), constant("isotonic"));
    EXPECT_EQ(folds.model.json()["recalibration"], by_name.model.json()["recalibration"]);
    EXPECT_EQ(folds.verification.crps, by_name.verification.crps);
    EXPECT_EQ(folds.verification.calibration_error, by_name.verification.calibration_error);
    // With rows set apart the one with a promise comes first.
    const FitResult split = fit(rows.archive(), constant("auto", 0.25));
    EXPECT_EQ(split.recalibration.kind, "conformal");
    EXPECT_TRUE(split.recalibration.guaranteed);
}

TEST(Recalibration, AutoRepairsACalibrationThatHardlyCosts) {
    // A narrow core and wide shoulders: a Gaussian of the right CRPS is refuted by its PITs.
    Rows rows = some_rows(3000, 10);
    core::Random random(11);
    for (double& e : rows.errors) e = random.normal() * (random.uniform() < 0.15 ? 2.5 : 1);
    const FitResult result = fit(rows.archive(), constant("auto"));
    ASSERT_FALSE(result.recalibration.trials.empty());
    EXPECT_NE(result.recalibration.kind, "none");
}

TEST(Recalibration, AutoWithWeightsTriesWhatTakesThem) {
    Rows rows = skewed_rows(1500, 12);
    rows.weights.assign(1500, 1.0);
    for (std::size_t i = 0; i < 1500; i += 3) rows.weights[i] = 2;
    const FitResult result = fit(rows.archive(), constant("auto"));
    ASSERT_EQ(result.recalibration.trials.size(), 2U);
    EXPECT_EQ(result.recalibration.trials[1].kind, "isotonic");
    EXPECT_EQ(result.recalibration.kind, "isotonic");
}

TEST(Recalibration, AutoIsTheDefaultAndNoneWhereAFitCannotHaveAMap) {
    EXPECT_EQ(FitOptions().recalibrate, "auto");
    const Rows rows = skewed_rows(800, 20);
    EXPECT_TRUE(fit(rows.archive(), constant(FitOptions().recalibrate)).model.family()->recalibrated());
    const auto expect_as_without = [&](FitOptions options, const Archive& archive) {
        options.recalibrate = "auto";
        const FitResult result = fit(archive, options);
        EXPECT_TRUE(result.recalibration.trials.empty());
        options.recalibrate = "none";
        EXPECT_EQ(result.model.text(), fit(archive, options).model.text());
    };
    FitOptions paper = constant("auto");
    paper.recipe = "paper";
    expect_as_without(paper, rows.archive());
    // Normal around the prediction, by hand: the paper's form of a forecast. One of the two alone is not.
    FitOptions by_hand = constant("auto");
    by_hand.family = "normal";
    EXPECT_FALSE(fit(rows.archive(), by_hand).recalibration.trials.empty());
    by_hand.bias = "none";
    expect_as_without(by_hand, rows.archive());
    // Who gives `auto` by its name too has asked for the choice.
    FitOptions asked = by_hand;
    fit_option("recalibrate").set(asked, "auto");
    EXPECT_EQ(fit(rows.archive(), asked).recalibration.trials.size(), 2U);
    asked.recipe = "paper";
    EXPECT_TRUE(fit(rows.archive(), asked).recalibration.trials.empty());
    by_hand.family = "auto";
    EXPECT_FALSE(fit(rows.archive(), by_hand).recalibration.trials.empty());
    Archive noisy = rows.archive();
    const std::vector<double> noise(800, 0.1);
    noisy.observation_error = noise;
    expect_as_without(constant("auto"), noisy);
    // Nor does it take a share, which then has no map to serve.
    by_hand.family = "normal";
    by_hand.calibration_share = 0.25;
    EXPECT_NE(refused(rows, by_hand).find("sets rows apart for a recalibration, but there is none"), std::string::npos);
}

TEST(Recalibration, AutoAsksRowsThatAreWorthFiveHundred) {
    const auto trials = [](const Rows& rows, double share = 0) {
        return fit(rows.archive(), constant("auto", share)).recalibration.trials.size();
    };
    EXPECT_EQ(trials(skewed_rows(499, 21)), 0U);
    EXPECT_EQ(trials(skewed_rows(500, 21)), 2U);
    EXPECT_EQ(trials(skewed_rows(667, 21), 0.25), 3U);
    // Of those that are not set apart.
    EXPECT_EQ(trials(skewed_rows(600, 21), 0.25), 0U);
    Rows weighted = skewed_rows(1000, 21);
    weighted.weights.assign(1000, 1.0);
    EXPECT_EQ(trials(weighted), 2U);
    // 100 of weight 4 and 900 of weight 1/4: 625^2/1656 = 236 rows.
    for (std::size_t i = 0; i < 1000; ++i) weighted.weights[i] = i % 10 == 0 ? 4 : 0.25;
    EXPECT_EQ(trials(weighted), 0U);
    // A model of few rows is that of no map, and says nothing of one.
    for (const std::size_t rows : {10, 100, 499}) {
        const Rows few = skewed_rows(rows, 22);
        EXPECT_EQ(fit(few.archive(), constant("auto")).model.text(), fit(few.archive(), constant("none")).model.text());
    }
}

// Normal errors of which 50 neighbours share a part: the whole of the archive is calibrated, but as few groups tell it.
Rows shared_errors(double share, std::uint64_t seed) {
    constexpr std::size_t kGroups = 60;
    constexpr std::size_t kRows = 50;
    Rows rows = some_rows(kGroups * kRows, seed);
    core::Random random(seed + 1);
    double shared = 0;
    for (std::size_t i = 0; i < rows.errors.size(); ++i) {
        if (i % kRows == 0) shared = random.normal();
        rows.errors[i] = std::sqrt(share) * shared + std::sqrt(1 - share) * random.normal();
    }
    return rows;
}

// How many of 50 archives a map is taken of.
template <typename Made>
int maps_taken(const Made& made) {
    int taken = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
        taken += fit(made(seed), constant("auto")).recalibration.kind != "none" ? 1 : 0;
    return taken;
}
// Were a map taken of one archive in 1,000, as a test at 0.001 does, this would be exceeded once in 48,000 times.
constexpr int kByChance = 2;

TEST(Recalibration, AutoTakesNoMapOfRowsThatErrTogether) {
    Rows rows;
    // A half that named groups share: 3,000 rows are worth little more than 120.
    const auto in_groups = [&](std::uint64_t seed) {
        rows = shared_errors(0.5, 100 * seed);
        support::add_groups(rows, 60, true);
        return rows.archive();
    };
    const auto in_folds = [&](std::uint64_t seed) {
        Archive archive = in_groups(seed);
        std::swap(archive.fold_groups, archive.groups);
        std::swap(archive.roles.fold_group, archive.roles.group);
        return archive;
    };
    // Which nobody names.
    const auto neighbours = [&](std::uint64_t seed) {
        rows = shared_errors(0.5, 100 * seed);
        return rows.archive();
    };
    // In the order of time, and in no order in the file.
    const auto in_time = [&](std::uint64_t seed) {
        const Rows ordered = shared_errors(0.5, 100 * seed);
        rows = ordered;
        for (std::size_t i = 0; i < rows.errors.size(); ++i) {
            const std::size_t from = (i * 1777) % rows.errors.size();
            rows.errors[i] = ordered.errors[from];
            rows.times.push_back(static_cast<double>(from));
        }
        return rows.archive();
    };
    EXPECT_LE(maps_taken(in_groups), kByChance);
    EXPECT_LE(maps_taken(in_folds), kByChance);
    EXPECT_LE(maps_taken(neighbours), kByChance);
    EXPECT_LE(maps_taken(in_time), kByChance);
}

TEST(Recalibration, AutoTakesAMapOfSkewAndHeavyTailsAndNoneOfNormalErrors) {
    Rows rows;
    const auto of = [&](const std::function<double(core::Random&)>& error) {
        return maps_taken([&](std::uint64_t seed) {
            rows = some_rows(1000, 7000 + seed);
            core::Random random(8000 + seed);
            for (double& e : rows.errors) e = error(random);
            return rows.archive();
        });
    };
    EXPECT_LE(of([](core::Random& random) { return random.normal(); }), kByChance);
    EXPECT_EQ(of([](core::Random& random) { return -std::log(1 - random.uniform()) - 1; }), 50);
    // Student's t of 2 degrees of freedom.
    EXPECT_EQ(of([](core::Random& random) { return random.normal() / std::sqrt(-std::log(1 - random.uniform())); }),
              50);
}

TEST(Recalibration, TheShareServesAnIsotonicMapAndALearnedMeanToo) {
    Rows rows = skewed_rows(300, 13);
    rows.weights.assign(300, 1.0);
    rows.weights[5] = 0;
    const FitResult isotonic = fit(rows.archive(), constant("isotonic", 0.25));
    EXPECT_EQ(set_apart(isotonic).size(), 75U);
    EXPECT_TRUE(says(isotonic, "The recalibration comes from 75 rows that entered nothing else"));
    Archive observations = rows.archive();
    observations.weights = {};
    observations.observation = rows.errors;
    observations.errors = {};
    observations.roles = {};
    observations.roles.observation = "y";
    FitOptions options = constant("conformal", 0.25);
    options.mean = "gp";
    const FitResult mean = fit(observations, options);
    EXPECT_EQ(mean.recalibration.rows, 75U);
    EXPECT_TRUE(mean.model.has_mean());
    const auto coverage = mean.verification.coverage[1];
    // 225 rows out of fold, by a map of 75: 0.9 and three standard errors of both, 0.03 and 0.02.
    EXPECT_NEAR(coverage.observed, 0.9, 0.11);
}

TEST(Recalibration, IsTheSameForAnyNumberOfThreads) {
    const Rows rows = skewed_rows(1200, 14);
    support::expect_same_for_any_threads([&] { return fit(rows.archive(), constant("auto", 0.25)).model.text(); });
}

TEST(Recalibration, RefusesWhatDoesNotGoTogether) {
    Rows rows = skewed_rows(100, 15);
    EXPECT_EQ(refused(rows, constant("none", 0.25)),
              "--calibration-share sets rows apart for a recalibration, but there is none: give --recalibrate "
              "conformal, or no share");
    EXPECT_EQ(refused(rows, constant("conformal", 0.95)), "--calibration-share is 0.95, but must be between 0 and 0.9");
    EXPECT_EQ(refused(rows, constant("conformal", -0.1)), "--calibration-share is -0.1, but must be between 0 and 0.9");
    EXPECT_EQ(refused(rows, constant("conformal", 0.1)),
              "--calibration-share 0.1 of 100 rows sets 10 apart, but a central 90% interval needs at least 19: give "
              "a larger share, or none to calibrate by rows out of fold");
    FitOptions paper = constant("conformal");
    paper.recipe = "paper";
    EXPECT_EQ(refused(rows, paper), "--recalibrate conformal goes with --recipe default only");
    paper = constant("isotonic", 0.25);
    paper.recipe = "paper";
    EXPECT_EQ(refused(rows, paper), "--calibration-share goes with --recipe default only");
    rows.weights.assign(100, 1.0);
    EXPECT_EQ(refused(rows, constant("conformal")),
              "--recalibrate conformal counts rows, each as one, and does not go with --weight; --recalibrate isotonic "
              "takes weights");
    rows.weights.clear();
    support::add_groups(rows, 6, false);
    EXPECT_EQ(refused(rows, constant("conformal", 0.4)),
              "column 'site' has 6 groups, of which --calibration-share takes 2: the others cannot make 5 folds of "
              "whole groups");
}

}  // namespace
}  // namespace accrue
