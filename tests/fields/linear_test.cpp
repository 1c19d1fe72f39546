#include "fields/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "accrue/error.hpp"
#include "core/random.hpp"

namespace accrue::fields {
namespace {

struct Data {
    std::vector<std::vector<double>> columns;
    std::vector<double> errors;

    // The columns one after the other.
    Columns regressors() const {
        memory.clear();
        for (const auto& column : columns) memory.insert(memory.end(), column.begin(), column.end());
        return {memory.data(), errors.size(), columns.size()};
    }
    double correction(const Fitted& bias, std::size_t row) const {
        double value = 0;
        bias.values(regressors(), row, row + 1, &value);
        return value;
    }
    mutable std::vector<double> memory = {};
    std::vector<bool> all() const { return std::vector<bool>(errors.size(), true); }
};

Fitted fit_named(std::string_view name, const Columns& x, std::span<const double> errors,
                 std::span<const double> weights, const std::vector<bool>& used) {
    return fit_correction(correction_field(name, std::vector<Range>(x.inputs, Range{-3, 3})), x, errors, weights, used);
}

// errors = 0.7 + 2 x0 - 0.5 x1, exactly.
Data linear_data(std::size_t rows) {
    core::Random random(100);
    Data data{std::vector<std::vector<double>>(2), {}};
    for (std::size_t i = 0; i < rows; ++i) {
        for (auto& column : data.columns) column.push_back(random.normal());
        data.errors.push_back(0.7 + 2 * data.columns[0][i] - 0.5 * data.columns[1][i]);
    }
    return data;
}

TEST(Correction, LinearFindsTheCoefficients) {
    const Data data = linear_data(50);
    const Fitted bias = fit_named("linear", data.regressors(), data.errors, {}, data.all());
    ASSERT_EQ(bias.parameters.size(), 3U);
    // Normal equations of standardised columns: their condition is about 1.
    EXPECT_NEAR(bias.parameters[0], 0.7, 1e-13);
    EXPECT_NEAR(bias.parameters[1], 2, 1e-13);
    EXPECT_NEAR(bias.parameters[2], -0.5, 1e-13);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(data.correction(bias, i), data.errors[i], 1e-12);
}

TEST(Correction, ConstantIsTheWeightedMean) {
    const Data data{{}, {1, 2, 6}};
    EXPECT_DOUBLE_EQ(fit_named("constant", {}, data.errors, {}, data.all()).parameters.at(0), 3);
    const std::vector<double> weights = {1, 2, 1};
    const Fitted bias = fit_named("constant", {}, data.errors, weights, data.all());
    EXPECT_DOUBLE_EQ(bias.parameters.at(0), 2.75);
    EXPECT_DOUBLE_EQ(data.correction(bias, 2), 2.75);
}

TEST(Correction, NoneCorrectsNothing) {
    const Data data = linear_data(5);
    const Fitted bias = fit_named("none", data.regressors(), data.errors, {}, data.all());
    EXPECT_FALSE(bias.field);
    std::vector<double> errors = data.errors;
    correct(bias, data.regressors(), 0, 5, errors.data());
    EXPECT_EQ(errors, data.errors);
}

TEST(Correction, TakesItselfFromTheErrors) {
    const Data data = linear_data(50);
    const Fitted bias = fit_named("linear", data.regressors(), data.errors, {}, data.all());
    std::vector<double> errors(data.errors.begin() + 10, data.errors.begin() + 20);
    correct(bias, data.regressors(), 10, 20, errors.data());
    for (const double e : errors) EXPECT_NEAR(e, 0, 1e-12);
}

TEST(Correction, RowsThatAreNotUsedDoNotCount) {
    Data data = linear_data(40);
    std::vector<bool> used = data.all();
    for (std::size_t i = 10; i < 20; ++i) {
        data.errors[i] = 1e6;
        used[i] = false;
    }
    const Fitted bias = fit_named("linear", data.regressors(), data.errors, {}, used);
    EXPECT_NEAR(bias.parameters.at(0), 0.7, 1e-13);
    EXPECT_NEAR(bias.parameters.at(1), 2, 1e-13);
}

TEST(Correction, AWholeWeightIsARepeatedRow) {
    core::Random random(101);
    Data once{std::vector<std::vector<double>>(2), {}};
    Data repeated = once;
    std::vector<double> weights;
    for (std::size_t i = 0; i < 30; ++i) {
        const double a = random.normal();
        const double b = random.normal();
        const double e = random.normal();
        const std::size_t times = random.below(4);  // zero too: such a row is not there
        weights.push_back(static_cast<double>(times));
        once.columns[0].push_back(a);
        once.columns[1].push_back(b);
        once.errors.push_back(e);
        for (std::size_t t = 0; t < times; ++t) {
            repeated.columns[0].push_back(a);
            repeated.columns[1].push_back(b);
            repeated.errors.push_back(e);
        }
    }
    for (const char* kind : {"constant", "linear"}) {
        const Fitted weighted = fit_named(kind, once.regressors(), once.errors, weights, once.all());
        const Fitted plain = fit_named(kind, repeated.regressors(), repeated.errors, {}, repeated.all());
        ASSERT_EQ(weighted.parameters.size(), plain.parameters.size());
        for (std::size_t k = 0; k < plain.parameters.size(); ++k)
            EXPECT_NEAR(weighted.parameters[k], plain.parameters[k], 1e-13);
    }
}

TEST(Correction, RepeatedAndConstantRegressorsDoNoHarm) {
    Data data = linear_data(60);
    data.columns.push_back(data.columns[0]);  // repeated
    data.columns.emplace_back(60, 0.0);       // a constant column, standardised
    data.columns.emplace_back(60, 1.0);       // one that repeats the intercept
    data.columns.push_back(data.columns[0]);  // a sum of others
    for (std::size_t i = 0; i < 60; ++i) data.columns.back()[i] += data.columns[1][i];
    const Fitted bias = fit_named("linear", data.regressors(), data.errors, {}, data.all());
    for (const double c : bias.parameters)
        EXPECT_LT(std::fabs(c), 10) << "a direction that no row determines has a slope";
    for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(data.correction(bias, i), data.errors[i], 1e-9);
}

TEST(Correction, FewerRowsThanCoefficientsAreFitted) {
    const Data data = linear_data(2);
    const Fitted bias = fit_named("linear", data.regressors(), data.errors, {}, data.all());
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(data.correction(bias, i), data.errors[i], 1e-9);
}

TEST(Correction, NoRowAtAllGivesNoCorrection) {
    const Data data = linear_data(4);
    for (const char* kind : {"constant", "linear"})
        for (const double c :
             fit_named(kind, data.regressors(), data.errors, {}, std::vector<bool>(4, false)).parameters)
            EXPECT_EQ(c, 0);
}

TEST(Correction, ScalesWithTheErrors) {
    const Data data = linear_data(50);
    for (const double scale : {1e-300, 1e-6, 1e6, 1e290}) {
        std::vector<double> errors = data.errors;
        for (double& e : errors) e *= scale;
        const Fitted bias = fit_named("linear", data.regressors(), errors, {}, data.all());
        EXPECT_NEAR(bias.parameters.at(1) / scale, 2, 1e-12) << scale;
    }
}

TEST(Correction, FieldsHaveTheirNames) {
    for (const std::string& name : correction_names()) {
        const auto field = correction_field(name, std::vector<Range>(3, Range{-3, 3}));
        EXPECT_EQ(field ? field->name() : "none", name);
    }
    try {
        correction_field("cubic", {});
        FAIL() << "no refusal";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "there is no bias correction 'cubic'; known are none, constant, linear");
    }
}

TEST(Correction, WithMoreColumnsThanRowsIsTheSmallestThatFits) {
    core::Random random(101);
    constexpr std::size_t kRows = 12;
    constexpr std::size_t kColumns = 200;
    Data data{std::vector<std::vector<double>>(kColumns), {}};
    for (auto& column : data.columns)
        for (std::size_t i = 0; i < kRows; ++i) column.push_back(random.normal());
    for (std::size_t i = 0; i < kRows; ++i) data.errors.push_back(random.normal());
    const std::vector<double> weights = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 0};
    const Fitted bias = fit_named("linear", data.regressors(), data.errors, weights, data.all());
    ASSERT_EQ(bias.parameters.size(), kColumns + 1);
    // A system of 11 rows whose condition is about 1.
    for (std::size_t i = 0; i + 1 < kRows; ++i) EXPECT_NEAR(data.correction(bias, i), data.errors[i], 1e-12);
    // It has no part across the rows: whatever changes no row's correction is at right angles to it.
    double across = 0;
    Data shifted = data;
    const Fitted other = fit_named("linear", data.regressors(), std::vector<double>(kRows, 1.0), weights, data.all());
    std::vector<double> change = other.parameters;
    change[0] -= 1;  // both correct every row by 1
    for (std::size_t k = 0; k <= kColumns; ++k) across += change[k] * bias.parameters[k];
    EXPECT_NEAR(across, 0, 1e-12);
}

}  // namespace
}  // namespace accrue::fields
