#include "mean/bias.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "accrue/error.hpp"
#include "core/random.hpp"

namespace accrue::mean {
namespace {

struct Data {
    std::vector<std::vector<double>> columns;
    std::vector<double> errors;

    std::vector<std::span<const double>> regressors() const { return {columns.begin(), columns.end()}; }
    std::vector<bool> all() const { return std::vector<bool>(errors.size(), true); }
};

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

TEST(Bias, LinearFindsTheCoefficients) {
    const Data data = linear_data(50);
    const Bias bias = fit_bias(BiasKind::linear, data.regressors(), data.errors, {}, data.all());
    ASSERT_EQ(bias.coefficients.size(), 3U);
    // Normal equations of standardised columns: their condition is about 1.
    EXPECT_NEAR(bias.coefficients[0], 0.7, 1e-13);
    EXPECT_NEAR(bias.coefficients[1], 2, 1e-13);
    EXPECT_NEAR(bias.coefficients[2], -0.5, 1e-13);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(correction(bias, data.regressors(), i), data.errors[i], 1e-12);
}

TEST(Bias, ConstantIsTheWeightedMean) {
    const Data data{{}, {1, 2, 6}};
    EXPECT_DOUBLE_EQ(fit_bias(BiasKind::constant, {}, data.errors, {}, data.all()).coefficients.at(0), 3);
    const std::vector<double> weights = {1, 2, 1};
    const Bias bias = fit_bias(BiasKind::constant, {}, data.errors, weights, data.all());
    EXPECT_DOUBLE_EQ(bias.coefficients.at(0), 2.75);
    EXPECT_DOUBLE_EQ(correction(bias, {}, 2), 2.75);
}

TEST(Bias, NoneCorrectsNothing) {
    const Data data = linear_data(5);
    const Bias bias = fit_bias(BiasKind::none, data.regressors(), data.errors, {}, data.all());
    EXPECT_TRUE(bias.coefficients.empty());
    EXPECT_EQ(correction(bias, data.regressors(), 3), 0);
}

TEST(Bias, RowsThatAreNotUsedDoNotCount) {
    Data data = linear_data(40);
    std::vector<bool> used = data.all();
    for (std::size_t i = 10; i < 20; ++i) {
        data.errors[i] = 1e6;
        used[i] = false;
    }
    const Bias bias = fit_bias(BiasKind::linear, data.regressors(), data.errors, {}, used);
    EXPECT_NEAR(bias.coefficients.at(0), 0.7, 1e-13);
    EXPECT_NEAR(bias.coefficients.at(1), 2, 1e-13);
}

TEST(Bias, AWholeWeightIsARepeatedRow) {
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
    for (const BiasKind kind : {BiasKind::constant, BiasKind::linear}) {
        const Bias weighted = fit_bias(kind, once.regressors(), once.errors, weights, once.all());
        const Bias plain = fit_bias(kind, repeated.regressors(), repeated.errors, {}, repeated.all());
        ASSERT_EQ(weighted.coefficients.size(), plain.coefficients.size());
        for (std::size_t k = 0; k < plain.coefficients.size(); ++k)
            EXPECT_NEAR(weighted.coefficients[k], plain.coefficients[k], 1e-13);
    }
}

TEST(Bias, RepeatedAndConstantRegressorsDoNoHarm) {
    Data data = linear_data(60);
    data.columns.push_back(data.columns[0]);  // repeated
    data.columns.emplace_back(60, 0.0);       // a constant column, standardised
    data.columns.emplace_back(60, 1.0);       // one that repeats the intercept
    data.columns.push_back(data.columns[0]);  // a sum of others
    for (std::size_t i = 0; i < 60; ++i) data.columns.back()[i] += data.columns[1][i];
    const Bias bias = fit_bias(BiasKind::linear, data.regressors(), data.errors, {}, data.all());
    for (const double c : bias.coefficients)
        EXPECT_LT(std::fabs(c), 10) << "a direction that no row determines has a slope";
    for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(correction(bias, data.regressors(), i), data.errors[i], 1e-9);
}

TEST(Bias, FewerRowsThanCoefficientsAreFitted) {
    const Data data = linear_data(2);
    const Bias bias = fit_bias(BiasKind::linear, data.regressors(), data.errors, {}, data.all());
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(correction(bias, data.regressors(), i), data.errors[i], 1e-9);
}

TEST(Bias, NoRowAtAllGivesNoCorrection) {
    const Data data = linear_data(4);
    for (const BiasKind kind : {BiasKind::constant, BiasKind::linear})
        for (const double c :
             fit_bias(kind, data.regressors(), data.errors, {}, std::vector<bool>(4, false)).coefficients)
            EXPECT_EQ(c, 0);
}

TEST(Bias, ScalesWithTheErrors) {
    const Data data = linear_data(50);
    for (const double scale : {1e-300, 1e-6, 1e6, 1e290}) {
        std::vector<double> errors = data.errors;
        for (double& e : errors) e *= scale;
        const Bias bias = fit_bias(BiasKind::linear, data.regressors(), errors, {}, data.all());
        EXPECT_NEAR(bias.coefficients.at(1) / scale, 2, 1e-12) << scale;
    }
}

TEST(Bias, KindsHaveNames) {
    for (const BiasKind kind : {BiasKind::none, BiasKind::constant, BiasKind::linear})
        EXPECT_EQ(bias_kind(to_string(kind)), kind);
    try {
        bias_kind("cubic");
        FAIL() << "no refusal";
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "there is no bias correction 'cubic'; known are none, constant, linear");
    }
}

}  // namespace
}  // namespace accrue::mean
