// What a fit reports: starts, words, bias, interruption.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "fit/tasks.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

using support::Rows;
using support::some_rows;

bool says(const Verdict& verdict, const std::string& words) {
    return std::any_of(verdict.remarks.begin(), verdict.remarks.end(),
                       [&](const Message& remark) { return remark.text().find(words) != std::string::npos; });
}

// The error of a row moves with the input and the prediction, by `constant` and `slope` standard deviations.
Rows biased_rows(std::size_t n, double constant, double slope, std::uint64_t seed) {
    Rows rows = some_rows(n, seed);
    core::Random random(seed, 1);
    for (std::size_t i = 0; i < n; ++i) {
        rows.prediction.push_back(20 + 5 * random.normal());
        rows.errors[i] += constant + slope * (rows.prediction[i] - 20) / 5;
    }
    return rows;
}

TEST(FitBias, CorrectionLeavesNoBiasOutOfFold) {
    const Rows rows = biased_rows(1000, 0.8, 0.5, 200);
    for (const char* bias : {"constant", "linear"}) {
        FitOptions options;
        options.bias = bias;
        options.form = "polynomial";
        const FitResult result = fit(rows.archive(), options);
        // The mean of 1,000 z has a standard error of 0.03 and folds are cross-fitted: 5 of them, a false alarm in 2e6.
        EXPECT_NEAR(result.verification.mean_z, 0, 5 / std::sqrt(1000.0)) << bias;
        EXPECT_TRUE(result.model.corrects_bias());
        EXPECT_FALSE(says(result.verdict, "predictions are biased"));
        // Of a correction that was fitted without the row, not with it.
        const std::vector<std::span<const double>> inputs = {rows.inputs[0]};
        const Forecast forecast = result.model.forecast(inputs, rows.prediction);
        double largest = 0;
        for (std::size_t i = 0; i < 1000; ++i) {
            const double own = rows.errors[i] - (forecast.mean[i] - rows.prediction[i]);
            largest = std::max(largest, std::fabs(own - result.errors[i]));
        }
        EXPECT_GT(largest, 1e-6);
        EXPECT_LT(largest, 0.2);
    }
    FitOptions linear;
    linear.form = "constant";
    linear.bias = "linear";
    FitOptions constant = linear;
    constant.bias = "constant";
    const FitResult by_constant = fit(rows.archive(), constant);
    EXPECT_LT(fit(rows.archive(), linear).verification.crps, by_constant.verification.crps);
    EXPECT_TRUE(says(by_constant.verdict, "--bias linear would lower the CRPS by another"));
}

TEST(FitBias, IsRecommendedWhenItHelpsAndOnlyThen) {
    FitOptions options;
    options.bias = "none";
    options.form = "constant";
    options.recalibrate = "none";  // a map mends a bias, too
    EXPECT_TRUE(says(fit(biased_rows(500, 0.6, 0, 201).archive(), options).verdict, "--bias constant would lower"));
    EXPECT_TRUE(says(fit(biased_rows(500, 0, 0.6, 202).archive(), options).verdict, "--bias linear would lower"));
    EXPECT_FALSE(says(fit(biased_rows(500, 0, 0, 203).archive(), options).verdict, "--bias"));
}

TEST(FitBias, IsNotRecommendedWhereARecalibrationHasMovedTheMean) {
    FitOptions options;
    options.form = "constant";
    options.recalibrate = "isotonic";
    const Rows rows = biased_rows(500, 0.6, 0, 201);
    const FitResult result = fit(rows.archive(), options);
    EXPECT_FALSE(says(result.verdict, "--bias"));
    // It would be no help: of a constant sigma's errors the map moves all alike.
    options.bias = "constant";
    EXPECT_NEAR(fit(rows.archive(), options).verification.crps / result.verification.crps, 1, 0.01);
    options.bias = "constant";
    EXPECT_FALSE(says(fit(biased_rows(500, 0, 0.6, 202).archive(), options).verdict, "--bias"));
}

TEST(FitVerdict, SaysWhenSigmaIsNoBetterThanAConstant) {
    Rows rows = some_rows(400, 204);
    core::Random random(205);
    for (double& e : rows.errors) e = random.normal();  // the input says nothing
    EXPECT_TRUE(says(fit(rows.archive()).verdict, "no better than a constant"));
    FitOptions constant;
    constant.form = "constant";
    EXPECT_FALSE(says(fit(rows.archive(), constant).verdict, "no better than a constant")) << "it is one";
    // sigma from 0.1 to 7.4: plain to see.
    for (std::size_t i = 0; i < 400; ++i) rows.errors[i] *= std::exp(4 * rows.inputs[0][i]);
    EXPECT_FALSE(says(fit(rows.archive()).verdict, "no better than a constant"));
}

TEST(FitVerdict, SaysWhenThereAreFewRows) {
    EXPECT_TRUE(says(fit(some_rows(40, 206).archive()).verdict, "With 40 rows a network learns little"));
    EXPECT_FALSE(says(fit(some_rows(200, 206).archive()).verdict, "a network learns little"));
}

TEST(FitOutcome, StartsAreCountedAndHaveReasons) {
    const Rows rows = some_rows(100, 207);
    FitOptions options;
    options.form = "network";
    options.folds = 4;
    options.starts = 2;
    const FitResult result = fit(rows.archive(), options);
    ASSERT_EQ(result.starts.size(), 8U);
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (const StartOutcome& start : result.starts) {
        seen.insert({start.fold, start.start});
        EXPECT_LT(start.fold, 4U);
        EXPECT_LT(start.start, 2U);
        EXPECT_TRUE(start.kept) << "in small folds all starts are kept";
        EXPECT_FALSE(start.reason.empty());
        EXPECT_EQ(start.method, "lbfgs");
        EXPECT_EQ(start.validation_curve.size(), static_cast<std::size_t>(start.iterations) + 1);
        EXPECT_EQ(start.training_curve.size(), start.validation_curve.size());
        EXPECT_EQ(start.validation_cost,
                  *std::min_element(start.validation_curve.begin(), start.validation_curve.end()));
    }
    EXPECT_EQ(seen.size(), 8U);
    EXPECT_EQ(result.model.json().at("sigma").at("members").size(), 8U);
}

TEST(FitOutcome, DroppedStartsSayWhy) {
    // Folds of 500 rows and more are judged. After two iterations starts differ a lot.
    const Rows rows = support::paper_rows("5D", 1500, 1).rows;
    FitOptions options;
    options.folds = 2;
    options.starts = 6;
    options.max_iterations = 12;
    const FitResult result = fit(rows.archive(), options);
    std::size_t kept = 0;
    for (const StartOutcome& start : result.starts) {
        EXPECT_EQ(start.dropped_because.empty(), start.kept);
        kept += start.kept ? 1 : 0;
        if (!start.kept) {
            EXPECT_NE(start.dropped_because.find("below half of its fold's best"), std::string::npos);
        }
    }
    EXPECT_LT(kept, result.starts.size());
    // A fold without a start falls back to a constant: never fewer members than folds.
    EXPECT_GE(result.model.json().at("sigma").at("members").size(), std::max<std::size_t>(kept, 2));
    // The paper's recipe keeps the one that validates best.
    options.recipe = "paper";
    const FitResult paper = fit(rows.archive(), options);
    EXPECT_EQ(std::count_if(paper.starts.begin(), paper.starts.end(), [](const auto& s) { return s.kept; }), 1);
    for (const StartOutcome& start : paper.starts)
        EXPECT_EQ(start.dropped_because, start.kept ? "" : "another start has a lower validation cost");
}

TEST(FitOutcome, StartsAreComparedWithinTheirFold) {
    // Held-out costs of three starts in an easy fold and in a hard one, where a constant is nearly as good.
    const std::vector<std::vector<double>> costs = {{0.50, 0.55, 0.90}, {0.97, 0.98, 0.995}};
    std::vector<fitting::Trained> trained;
    std::vector<fitting::Trained> constants(2);
    for (std::size_t fold = 0; fold < 2; ++fold) {
        constants[fold].outcome.validation_cost = 1;
        for (const double cost : costs[fold]) {
            trained.emplace_back();
            trained.back().outcome.fold = fold;
            trained.back().outcome.validation_cost = cost;
        }
    }
    fitting::judge(trained, constants, {}, 500);
    std::vector<bool> kept;
    for (const fitting::Trained& t : trained) kept.push_back(t.outcome.kept);
    EXPECT_EQ(kept, (std::vector<bool>{true, true, false, true, true, false}));
}

TEST(FitOutcome, SkillIsAtMostOneAndPositiveWhereTheCostIsLower) {
    using fitting::Score;
    for (const double constant : {-1.9, -0.1, 0.0, 0.1, 2.5})
        for (const double gain : {-3.0, -0.5, 0.0, 0.5, 3.0, 40.0}) {
            const double skill = fitting::skill({Score::Kind::nlpd, 0.5}, constant - gain, constant);
            EXPECT_LE(skill, 1) << constant << ' ' << gain;
            // The difference is rounded before it is compared.
            EXPECT_EQ(skill > 1e-12, gain > 0) << constant << ' ' << gain;
            EXPECT_EQ(skill < -1e-12, gain < 0) << constant << ' ' << gain;
        }
    EXPECT_EQ(fitting::skill({Score::Kind::ar, 0.5}, 0.25, 1), 0.75);
}

TEST(FitOutcome, AConstantThatStartsAtItsMinimumHasACost) {
    // The start of a constant is the minimum of nlpd; its cost on the held-out rows is what skill is measured by.
    FitOptions options;
    options.form = "constant";
    options.score = "nlpd";
    for (const StartOutcome& start : fit(some_rows(100, 215).archive(), options).starts) {
        EXPECT_TRUE(start.kept);
        EXPECT_TRUE(std::isfinite(start.validation_cost));
        EXPECT_EQ(start.skill, 0);
    }
}

TEST(FitOutcome, OrdersOfAPolynomialCountAsStarts) {
    FitOptions options;
    options.form = "polynomial";
    const FitResult result = fit(some_rows(150, 208).archive(), options);
    EXPECT_EQ(result.starts.size(), 5U * 11U);
    EXPECT_TRUE(std::any_of(result.starts.begin(), result.starts.end(), [](const auto& s) { return s.kept; }));
    for (const StartOutcome& start : result.starts) EXPECT_EQ(start.dropped_because.empty(), start.kept);
}

TEST(FitOutcome, SigmasAreThoseOfTheRowsHeldOut) {
    const Rows rows = some_rows(100, 209);
    const FitResult by_folds = fit(rows.archive());
    EXPECT_EQ(by_folds.verification.rows, 100U);
    EXPECT_EQ(by_folds.errors, rows.errors);
    FitOptions options;
    options.recipe = "paper";
    const FitResult by_split = fit(rows.archive(), options);
    std::size_t tested = 0;
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(std::isnan(by_split.sigmas[i]), std::isnan(by_split.errors[i]));
        if (std::isnan(by_split.sigmas[i])) continue;
        ++tested;
        EXPECT_EQ(by_split.errors[i], rows.errors[i]);
    }
    EXPECT_EQ(tested, 34U);
    EXPECT_EQ(by_split.verification.rows, 34U);
}

TEST(FitWatching, FalseInterruptsAtOnce) {
    const Rows rows = some_rows(300, 210);
    for (const std::string& form : form_names())
        for (const char* recipe : {"default", "paper"}) {
            FitOptions options;
            options.form = form;
            options.recipe = recipe;
            int calls = 0;
            const auto stop_at_two = [&](const FitProgress&) { return ++calls < 2; };
            EXPECT_THROW(fit(rows.archive(), options, stop_at_two), Interrupted) << form << ", " << recipe;
            EXPECT_EQ(calls, 2) << "nobody is asked again";
        }
}

TEST(FitWatching, ProgressCountsUpToAllTasks) {
    std::atomic<int> inside{0};
    std::set<std::size_t> tasks;
    std::size_t most_finished = 0;
    const Rows rows = some_rows(100, 211);
    FitOptions options;
    options.form = "network";
    fit(rows.archive(), options, [&](const FitProgress& p) {
        EXPECT_EQ(++inside, 1) << "calls must come one at a time";
        tasks.insert(p.task);
        EXPECT_EQ(p.tasks, 15U);
        EXPECT_EQ(p.task, p.fold * 3 + p.start);
        EXPECT_LT(p.finished, 15U);
        EXPECT_TRUE(std::isfinite(p.cost));
        most_finished = std::max(most_finished, p.finished);
        --inside;
        return true;
    });
    EXPECT_EQ(tasks.size(), 15U);
    EXPECT_GE(most_finished, 10U);
}

TEST(FitWatching, CountsOnWhereASecondFormIsTrained) {
    const Rows rows = some_rows(100, 211);
    std::size_t finished = 0;
    fit(rows.archive(), {}, [&](const FitProgress& p) {
        EXPECT_GE(p.finished, finished);
        EXPECT_LT(p.finished, p.tasks);
        finished = p.finished;
        return true;
    });
    // 15 starts of networks, then a polynomial in each of 5 folds; two threads at least leave one unfinished.
    EXPECT_GE(finished, 16U);
}

TEST(FitWatching, ItsExceptionsComeThrough) {
    const Rows rows = some_rows(100, 212);
    const auto thrower = [](const FitProgress&) -> bool { throw std::runtime_error("from the watcher"); };
    EXPECT_THROW(fit(rows.archive(), {}, thrower), std::runtime_error);
}

TEST(FitWatching, ChangesNothing) {
    const Rows rows = some_rows(100, 213);
    const std::string alone = fit(rows.archive()).model.text();
    EXPECT_EQ(fit(rows.archive(), {}, [](const FitProgress&) { return true; }).model.text(), alone);
}

// Every x has a row of weight 1 and one of weight 3, whose error is twice as large; or three such rows. Groups of equal
// size make the same folds of both, and inputs the same mean and spread, so that the two archives are one problem.
struct WeightedOrRepeated {
    explicit WeightedOrRepeated(std::uint64_t seed) {
        constexpr std::size_t kGroups = 10;
        constexpr std::size_t kPoints = 20;
        core::Random random(seed);
        weighted.inputs.resize(1);
        repeated.inputs.resize(1);
        for (std::size_t g = 0; g < kGroups; ++g) {
            weighted.labels.push_back(fmt::format("g{}", g));
            for (std::size_t p = 0; p < kPoints; ++p) {
                const double x = random.uniform(-0.5, 0.5);
                for (const double weight : {1.0, 3.0}) {
                    const double error = (weight == 1 ? 1 : 2) * std::exp(x) * random.normal();
                    add(weighted, x, error, g);
                    weighted.weights.push_back(weight);
                    for (int copy = 0; copy < weight; ++copy) add(repeated, x, error, g);
                }
            }
        }
        repeated.labels = weighted.labels;
        unweighted = weighted;
        unweighted.weights.clear();
    }
    static void add(Rows& rows, double x, double error, std::size_t group) {
        rows.inputs[0].push_back(x);
        rows.errors.push_back(error);
        rows.codes.push_back(static_cast<std::uint32_t>(group));
    }
    Rows weighted, repeated, unweighted;
};

TEST(FitWeights, AWholeWeightActsLikeRepeatedRows) {
    const WeightedOrRepeated rows(216);
    const std::vector<double> x = {-0.4, -0.2, 0.0, 0.2, 0.4};
    const std::vector<std::span<const double>> inputs = {x};
    for (const std::string& form : form_names()) {
        SCOPED_TRACE(form);
        FitOptions options;
        options.form = form;
        options.score = "crps";  // the balance of ar knows how many rows there are
        const FitResult weighted = fit(rows.weighted.archive(), options);
        const FitResult repeated = fit(rows.repeated.archive(), options);
        const FitResult unweighted = fit(rows.unweighted.archive(), options);
        const std::vector<double> a = weighted.model.forecast(inputs).sigma;
        const std::vector<double> b = repeated.model.forecast(inputs).sigma;
        const std::vector<double> c = unweighted.model.forecast(inputs).sigma;
        // Sums in another order, whose rounding a descent of some hundred steps lets grow to 1e-12.
        for (std::size_t i = 0; i < x.size(); ++i) {
            EXPECT_NEAR(a[i], b[i], 1e-9 * b[i]);
            EXPECT_GT(std::fabs(a[i] - c[i]), 0.05 * c[i]) << "the weights were not used";
        }
        EXPECT_NEAR(weighted.verification.crps, repeated.verification.crps, 1e-9);
    }
}

TEST(FitWeights, RowsOfWeightZeroAreNotThere) {
    // Not the same folds, but a constant sigma of nearly the same size.
    Rows weighted = some_rows(300, 214);
    Rows without = weighted;
    for (std::size_t i = 0; i < 300; ++i) weighted.weights.push_back(i < 150 ? 1 : 0);
    without.inputs[0].resize(150);
    without.errors.resize(150);
    FitOptions options;
    options.form = "constant";
    const std::vector<double> x = {0.0};
    const std::vector<std::span<const double>> inputs = {x};
    const double a = fit(weighted.archive(), options).model.forecast(inputs).sigma[0];
    const double b = fit(without.archive(), options).model.forecast(inputs).sigma[0];
    // Both are averages over five folds that hold 120 of the same 150 rows.
    EXPECT_NEAR(a, b, 0.02 * b);
}

}  // namespace
}  // namespace accrue
