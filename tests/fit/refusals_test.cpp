// Archives and options that break a rule: the message says which.
#include <gtest/gtest.h>

#include <cmath>

#include "support/archives.hpp"

namespace accrue {
namespace {

using support::refusal;
using support::Rows;
using support::some_rows;

std::string refused(const Rows& rows, const FitOptions& options = {}) {
    return refusal([&] { fit(rows.archive(), options); });
}

TEST(FitRefuses, ErrorsThatAreAllZero) {
    Rows rows = some_rows(20, 160);
    rows.errors.assign(20, 0.0);
    EXPECT_EQ(refused(rows),
              "all errors are zero: the predictions equal the observations, and there is no spread to learn");
    rows.errors[3] = 1;
    rows.weights.assign(20, 1.0);
    rows.weights[3] = 0;
    EXPECT_EQ(refused(rows), "all errors that have weight are zero: there is no spread to learn");
}

TEST(FitRefuses, FewerRowsThanFolds) {
    EXPECT_EQ(refused(some_rows(4, 161)), "4 rows cannot make 5 folds; use more rows or fewer --folds");
    EXPECT_EQ(refused(Rows{}), "there are no rows to fit");
    FitOptions paper;
    paper.recipe = "paper";
    EXPECT_EQ(refused(some_rows(1, 161), paper),
              "1 rows cannot be divided into 0 for training, 0 for validation and a test set");
}

TEST(FitRefuses, ASingleGroup) {
    Rows rows = some_rows(20, 162);
    support::add_groups(rows, 1, false);
    EXPECT_EQ(refused(rows), "column 'site' has a single group, which cannot be held out; use another column");
}

TEST(FitRefuses, GroupsWithoutALabel) {
    Rows rows = some_rows(20, 163);
    support::add_groups(rows, 6, false);
    rows.codes[7] = 6;
    EXPECT_EQ(refused(rows), "row 8 is of group 6, but there are 6 group labels");
    rows.labels.clear();
    EXPECT_EQ(refused(rows), "row 1 is of group 0, but there are 0 group labels");
}

TEST(FitRefuses, ValuesThatAreNotFinite) {
    for (const double bad : {NAN, INFINITY, -INFINITY}) {
        Rows rows = some_rows(20, 164);
        rows.inputs[0][4] = bad;
        EXPECT_NE(refused(rows).find("'x1' of row 5 is "), std::string::npos) << refused(rows);
        EXPECT_NE(refused(rows).find("but must be finite"), std::string::npos);
        rows = some_rows(20, 164);
        rows.errors[0] = bad;
        EXPECT_NE(refused(rows).find("'e' of row 1 is "), std::string::npos);
        rows = some_rows(20, 164);
        rows.weights.assign(20, 1.0);
        rows.weights[19] = bad;
        EXPECT_NE(refused(rows).find("'w' of row 20 is "), std::string::npos);
        rows = some_rows(20, 164);
        rows.times.assign(20, 1.0);
        rows.times[2] = bad;
        EXPECT_NE(refused(rows).find("'t' of row 3 is "), std::string::npos);
        rows = some_rows(20, 164);
        rows.prediction.assign(20, 1.0);
        rows.prediction[2] = bad;
        EXPECT_NE(refused(rows).find("'mu' of row 3 is "), std::string::npos);
    }
}

TEST(FitRefuses, InputsTooFarApartForADouble) {
    Rows rows = some_rows(60, 169);
    for (std::size_t i = 0; i < 60; ++i) rows.inputs[0][i] = i % 3 == 0 ? 1.7e308 : -1.7e308;
    for (const std::string& form : form_names())
        for (const char* bias : {"none", "linear"}) {
            FitOptions options;
            options.form = form;
            options.bias = bias;
            EXPECT_EQ(refused(rows, options),
                      "column '" + rows.archive().input_names[0] +
                          "' has values from -1.7e+308 to 1.7e+308, too far apart for a double");
        }
}

TEST(FitRefuses, LengthsThatDiffer) {
    Rows rows = some_rows(20, 165);
    rows.inputs[0].pop_back();
    EXPECT_EQ(refused(rows), "'x1' has 19 values, but there are 20 errors");
    rows = some_rows(20, 165);
    rows.weights.assign(21, 1.0);
    EXPECT_EQ(refused(rows), "'w' has 21 values, but there are 20 errors");
    rows = some_rows(20, 165);
    support::add_groups(rows, 6, false);
    rows.codes.pop_back();
    EXPECT_EQ(refused(rows), "there are groups for 19 rows, but 20 errors");
}

TEST(FitRefuses, NegativeWeights) {
    Rows rows = some_rows(20, 166);
    rows.weights.assign(20, 1.0);
    rows.weights[6] = -1;
    EXPECT_EQ(refused(rows), "'w' of row 7 is -1, but must not be negative");
    rows.weights.assign(20, 0.0);
    EXPECT_EQ(refused(rows), "every weight 'w' is 0; at least one must be positive");
}

TEST(FitRefuses, UnknownNames) {
    const Rows rows = some_rows(20, 167);
    for (const char* recipe : {"default", "paper"}) {
        FitOptions options;
        options.recipe = recipe;
        options.form = "spline";
        EXPECT_EQ(refused(rows, options),
                  "--form is 'spline', but must be one of auto, clusters, constant, network, polynomial");
        options = {};
        options.recipe = recipe;
        options.score = "mse";
        EXPECT_EQ(refused(rows, options), "--score is 'mse', but must be one of ar, crps, nlpd");
        options = {};
        options.recipe = recipe;
        options.bias = "cubic";
        EXPECT_EQ(refused(rows, options),
                  "--bias is 'cubic', but must be one of auto, none, constant, linear, network");
    }
    FitOptions options;
    options.recipe = "mine";
    EXPECT_EQ(refused(rows, options), "--recipe is 'mine', but must be one of default, paper");
}

TEST(FitRefuses, OptionsOutOfRange) {
    const Rows rows = some_rows(20, 168);
    for (const double balance : {-0.1, 1.1, static_cast<double>(NAN)}) {
        FitOptions options;
        options.balance = balance;
        EXPECT_NE(refused(rows, options).find("--balance"), std::string::npos) << balance;
    }
    FitOptions options;
    options.max_iterations = 0;
    EXPECT_NE(refused(rows, options), "no refusal");
    // Negative shares once wrapped around to a division that looked possible.
    for (const auto& [training, validation] :
         {std::pair{-0.33, 0.33}, {0.33, -0.33}, {0.6, 0.5}, {static_cast<double>(NAN), 0.3}, {1e300, 0.3}}) {
        options = {};
        options.recipe = "paper";
        options.training_share = training;
        options.validation_share = validation;
        EXPECT_NE(refused(rows, options), "no refusal") << training << ", " << validation;
    }
}

TEST(FitRefuses, FormsThatTheInputsDoNotAllow) {
    FitOptions polynomial;
    polynomial.form = "polynomial";
    EXPECT_EQ(refused(some_rows(20, 169, 2), polynomial), "a polynomial takes one input; there are 2");
    Rows none = some_rows(20, 169);
    none.inputs.clear();
    EXPECT_EQ(refused(none), "a network needs at least one input");
    FitOptions constant;
    constant.form = "constant";
    EXPECT_EQ(refused(none, constant), "no refusal");
}

TEST(FitRefuses, GroupsAndTimesWithThePapersRecipe) {
    FitOptions paper;
    paper.recipe = "paper";
    Rows rows = some_rows(20, 170);
    support::add_groups(rows, 6, false);
    EXPECT_EQ(refused(rows, paper),
              "the paper's recipe divides rows at random; --group, --fold-group and --time go with --recipe default");
}

}  // namespace
}  // namespace accrue
