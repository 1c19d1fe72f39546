// The same archive gives the same bytes, and other units the same model.
#include <gtest/gtest.h>

#include <cmath>

#include "accrue/scores.hpp"
#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::Rows;
using support::some_rows;

TEST(FitIdentity, ModelFileDoesNotDependOnThreadsOrOnEarlierFits) {
    for (const std::string& form : form_names())
        for (const char* recipe : {"default", "paper"}) {
            SCOPED_TRACE(testing::Message() << form << ", " << recipe);
            const Rows rows = some_rows(120, 150);
            FitOptions options;
            options.form = form;
            options.recipe = recipe;
            options.max_iterations = 40;
            support::expect_same_for_any_threads([&] { return fit(rows.archive(), options).model.text(); });
        }
}

TEST(FitIdentity, HoldsForManyRowsWeightsAndBias) {
    // 13,000 rows: several chunks of 4096 inside a start and several blocks in every loop of the scores.
    Rows rows = some_rows(13000, 151, 2);
    core::Random random(152);
    for (std::size_t i = 0; i < 13000; ++i) {
        rows.weights.push_back(random.uniform(0.5, 2));
        rows.prediction.push_back(random.normal());
    }
    for (const std::string& form : support::forms_of(2))
        for (const char* recipe : {"default", "paper"}) {
            SCOPED_TRACE(testing::Message() << form << ", " << recipe);
            FitOptions options;
            options.form = form;
            options.recipe = recipe;
            options.family = "normal";
            options.bias = "linear";
            options.folds = 2;
            options.starts = 2;
            options.max_iterations = 4;
            support::expect_same_for_any_threads([&] { return fit(rows.archive(), options).model.text(); });
        }
}

TEST(FitIdentity, HoldsForEveryFamilyWithALearnedLocation) {
    // Several blocks of rows to step through in every fold.
    Rows rows = some_rows(1100, 156, 2);
    core::Random random(157);
    for (std::size_t i = 0; i < 1100; ++i) rows.prediction.push_back(random.normal());
    for (const std::string& family : family_names()) {
        SCOPED_TRACE(family);
        FitOptions options;
        options.family = family;
        options.bias = "network";
        options.folds = 2;
        options.starts = 2;
        options.max_iterations = 2;
        options.recalibrate = "none";  // maps around families have tests of their own
        support::expect_same_for_any_threads([&] { return fit(rows.archive(), options).model.text(); });
    }
}

TEST(FitIdentity, OutOfFoldSigmasDoNotDependOnThreads) {
    Rows rows = some_rows(300, 153);
    support::add_groups(rows, 20, false);
    FitOptions options;
    options.max_iterations = 20;
    support::expect_same_for_any_threads([&] { return fit(rows.archive(), options).sigmas; });
}

TEST(FitIdentity, SeedsGiveOtherModels) {
    const Rows rows = some_rows(60, 154);
    FitOptions one;
    FitOptions two;
    two.seed = 2;
    EXPECT_NE(fit(rows.archive(), one).sigmas, fit(rows.archive(), two).sigmas);
}

std::vector<double> grid_sigma(const Model& model) {
    std::vector<double> x;
    for (int i = 0; i <= 100; ++i) x.push_back(-0.6 + 0.012 * i);
    const std::vector<std::span<const double>> columns = {x};
    return model.forecast(columns).sigma;
}

TEST(FitUnits, PowersOfTwoChangeNothingButTheUnit) {
    const Rows rows = some_rows(150, 155);
    for (const std::string& form : form_names())
        for (const char* bias : {"none", "linear"}) {
            FitOptions options;
            options.form = form;
            options.bias = bias;
            const std::vector<double> expected = grid_sigma(fit(rows.archive(), options).model);
            for (const double unit : {0x1p20, 0x1p-20}) {
                Rows scaled = rows;
                for (double& e : scaled.errors) e *= unit;
                const std::vector<double> sigma = grid_sigma(fit(scaled.archive(), options).model);
                for (std::size_t i = 0; i < sigma.size(); ++i)
                    ASSERT_NEAR(sigma[i] / unit, expected[i], 1e-12 * expected[i])
                        << form << ", bias " << bias << ", unit " << unit;
            }
        }
}

// The out-of-fold cost relative to its minima, as fit sees it: crps/CRPSmin + rs/RSmin.
double relative_cost(const FitResult& result) {
    return result.verification.ar / result.verification.beta / crps_minimum(result.errors);
}

TEST(FitUnits, OtherUnitsCostTheSame) {
    // Rounding sends the descents other ways, and stops may come an iteration earlier or later: 1% of the cost.
    const Rows rows = some_rows(400, 156, 2);
    for (const std::string& form : form_names()) {
        Rows own = rows;
        if (form == "polynomial") own.inputs.pop_back();  // it is of one input
        FitOptions options;
        options.form = form;
        const double expected = relative_cost(fit(own.archive(), options));
        for (const double unit : {1e6, 1e-6}) {
            Rows scaled = own;
            for (double& e : scaled.errors) e *= unit;
            EXPECT_NEAR(relative_cost(fit(scaled.archive(), options)), expected, 0.01 * expected)
                << form << ", errors times " << unit;
        }
        for (const double scale : {1e7, 1e-7, 3.0}) {
            Rows moved = own;
            for (auto& column : moved.inputs)
                for (double& x : column) x = scale * (x + 50);
            EXPECT_NEAR(relative_cost(fit(moved.archive(), options)), expected, 0.01 * expected)
                << form << ", inputs times " << scale;
        }
    }
}

}  // namespace
}  // namespace accrue
