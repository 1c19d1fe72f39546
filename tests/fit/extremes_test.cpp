// Archives at the edge: every fit ends, with a sigma that is positive and finite and a model file that loads.
#include <gtest/gtest.h>

#include <cmath>

#include "support/archives.hpp"

namespace accrue {
namespace {

using support::Rows;
using support::some_rows;

void expect_sound(const Rows& rows, FitOptions options = {}) {
    for (const std::string& form : support::forms_of(rows.inputs.size()))
        for (const char* recipe : {"default", "paper"}) {
            if (std::string(recipe) == "paper" && !rows.codes.empty()) continue;
            SCOPED_TRACE(testing::Message() << form << ", " << recipe);
            options.form = form;
            options.recipe = recipe;
            const FitResult result = fit(rows.archive(), options);
            std::size_t held_out = 0;
            for (const double sigma : result.sigmas) {
                if (std::isnan(sigma)) continue;
                ++held_out;
                ASSERT_TRUE(std::isfinite(sigma) && sigma > 0) << sigma;
            }
            if (std::string(recipe) == "default") {
                EXPECT_EQ(held_out, rows.errors.size());
            }
            EXPECT_GT(held_out, 0U);
            EXPECT_FALSE(result.verdict.summary.empty());
            const std::string text = result.model.text();
            const Model again = Model::parse(text);
            EXPECT_EQ(again.text(), text);
            const std::vector<std::span<const double>> inputs(rows.inputs.begin(), rows.inputs.end());
            for (const double sigma : again.forecast(inputs, rows.errors).sigma) ASSERT_TRUE(sigma > 0) << sigma;
        }
}

TEST(FitExtremes, ThreeRows) {
    FitOptions options;
    options.folds = 3;
    expect_sound(some_rows(3, 180), options);
    options.folds = 2;
    expect_sound(some_rows(3, 181, 4), options);
}

TEST(FitExtremes, ConstantInputs) {
    Rows rows = some_rows(60, 182, 2);
    rows.inputs[1].assign(60, 273.15);
    expect_sound(rows);
    rows.inputs.erase(rows.inputs.begin());
    expect_sound(rows);
    rows.inputs[0].assign(60, 0.0);
    expect_sound(rows);
    // Constant but for the last bit of one row.
    rows.inputs[0].assign(60, 1.0);
    rows.inputs[0][7] = std::nextafter(1.0, 2.0);
    expect_sound(rows);
}

TEST(FitExtremes, DuplicatedRows) {
    Rows rows = some_rows(20, 183);
    for (int twice = 0; twice < 2; ++twice) {
        rows.inputs[0].insert(rows.inputs[0].end(), rows.inputs[0].begin(), rows.inputs[0].begin() + 20);
        rows.errors.insert(rows.errors.end(), rows.errors.begin(), rows.errors.begin() + 20);
    }
    expect_sound(rows);
}

TEST(FitExtremes, InputsOfHugeAndTinyMagnitude) {
    for (const double scale : {1e300, 1e-300, 1e-310}) {
        SCOPED_TRACE(scale);
        Rows rows = some_rows(60, 184);
        for (double& x : rows.inputs[0]) x *= scale;
        expect_sound(rows);
    }
    Rows rows = some_rows(60, 185);
    rows.inputs[0][5] = 1e300;  // one of all
    expect_sound(rows);
    rows.inputs[0].assign(60, 0.0);
    rows.inputs[0][5] = 5e-324;  // the smallest number there is: its standard deviation rounds to zero
    expect_sound(rows);
}

TEST(FitExtremes, InputsFromOneEndOfTheDoublesToTheOther) {
    Rows rows = some_rows(60, 186);
    for (double& x : rows.inputs[0]) x = 2 * x * 1.7e308;
    expect_sound(rows);
}

TEST(FitExtremes, OneEnormousOutlier) {
    Rows rows = some_rows(80, 187);
    rows.errors[11] = 1e300;
    expect_sound(rows);
    rows.errors[11] = -1e12;
    expect_sound(rows);
}

TEST(FitExtremes, ErrorsOfHugeAndTinyMagnitude) {
    for (const double scale : {1e290, 1e-290}) {
        SCOPED_TRACE(scale);
        Rows rows = some_rows(60, 188);
        for (double& e : rows.errors) e *= scale;
        expect_sound(rows);
    }
}

TEST(FitExtremes, WeightsOfZero) {
    Rows rows = some_rows(60, 189);
    for (std::size_t i = 0; i < 60; ++i) rows.weights.push_back(i % 3 == 0 ? 0 : 1);
    expect_sound(rows);
}

TEST(FitExtremes, AFoldWithoutWeight) {
    // A whole group without weight may make up a fold: nothing to validate on.
    Rows rows = some_rows(60, 190);
    support::add_groups(rows, 5, false);
    for (std::size_t i = 0; i < 60; ++i) rows.weights.push_back(i % 5 == 0 ? 0 : 1);
    const std::string words = support::refusal([&] { fit(rows.archive()); });
    if (words != "no refusal") {
        EXPECT_NE(words.find("fold"), std::string::npos) << words;
    }
}

TEST(FitExtremes, ErrorsThatAreAllEqual) {
    Rows rows = some_rows(60, 191);
    rows.errors.assign(60, 0.25);
    expect_sound(rows);
    FitOptions options;
    options.bias = "constant";  // leaves nothing but rounding
    const std::string words = support::refusal([&] { fit(rows.archive(), options); });
    EXPECT_TRUE(words == "no refusal" || words.find("zero") != std::string::npos) << words;
}

TEST(FitExtremes, MostErrorsZero) {
    Rows rows = some_rows(60, 192);
    for (std::size_t i = 0; i < 60; ++i)
        if (i % 10 != 0) rows.errors[i] = 0;
    expect_sound(rows);
}

}  // namespace
}  // namespace accrue
