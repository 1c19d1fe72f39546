// From inputs to forecasts.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::refusal;
using support::Rows;

Rows rows_with_prediction(std::size_t n) {
    Rows rows = support::some_rows(n, 220, 2);
    core::Random random(221);
    for (std::size_t i = 0; i < n; ++i) {
        rows.prediction.push_back(10 + random.normal());
        rows.errors[i] += 0.5;
    }
    return rows;
}

Model fitted(const std::string& bias = "none") {
    FitOptions options;
    options.bias = bias;
    options.max_iterations = 15;
    return fit(rows_with_prediction(100).archive(), options).model;
}

using Inputs = std::vector<std::span<const double>>;

TEST(Forecast, RowsWithAMissingInputKeepTheirPlace) {
    const Model model = fitted("constant");
    const std::vector<double> a = {0.1, NAN, 0.2, 0.3, INFINITY, 0.1};
    const std::vector<double> b = {0.1, 0.1, NAN, 0.1, 0.1, 0.1};
    const std::vector<double> mu = {10, 10, 10, NAN, 10, 10};
    const Forecast forecast = model.forecast(Inputs{a, b}, mu);
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool missing = i >= 1 && i <= 4;
        EXPECT_EQ(std::isnan(forecast.sigma[i]), missing) << i;
        EXPECT_EQ(std::isnan(forecast.mean[i]), missing) << i;
        if (missing) {
            EXPECT_EQ(forecast.off_support[i], 0) << i;
        }
    }
    // The company of missing rows changes nothing.
    const Forecast alone = model.forecast(Inputs{std::span(a).first(1), std::span(b).first(1)}, std::span(mu).first(1));
    EXPECT_EQ(alone.sigma[0], forecast.sigma[0]);
    EXPECT_EQ(alone.sigma[0], forecast.sigma[5]);
}

TEST(Forecast, SaysWhatLiesOutsideTheArchive) {
    const Rows rows = rows_with_prediction(100);
    const Model model = fitted();
    const auto [low, high] = std::minmax_element(rows.inputs[0].begin(), rows.inputs[0].end());
    const std::vector<double> a = {*low, *high, std::nextafter(*low, -9), std::nextafter(*high, 9), 0, 1e300, -1e300};
    const std::vector<double> b(a.size(), 0.0);
    const Forecast forecast = model.forecast(Inputs{a, b});
    EXPECT_EQ(forecast.off_support, (std::vector<std::uint8_t>{0, 0, 1, 1, 0, 1, 1}));
    for (const double sigma : forecast.sigma) EXPECT_TRUE(std::isfinite(sigma) && sigma > 0);
    EXPECT_TRUE(forecast.mean.empty());
    EXPECT_EQ(refusal([&] { forecast.row(0); }), "the forecast has no mean: no prediction was given");
}

TEST(Forecast, CorrectsTheBiasThatItLearnt) {
    const Rows rows = rows_with_prediction(100);
    double mean_error = 0;
    for (const double e : rows.errors) mean_error += e / 100;
    const Model constant = fitted("constant");
    const Forecast forecast = constant.forecast(Inputs(rows.inputs.begin(), rows.inputs.end()), rows.prediction);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(forecast.mean[i] - rows.prediction[i], mean_error, 1e-12);
    EXPECT_EQ(forecast.row(3).mean, forecast.mean[3]);
    EXPECT_EQ(forecast.row(3).sigma, forecast.sigma[3]);
    EXPECT_TRUE(constant.corrects_bias());
    EXPECT_TRUE(fitted("linear").corrects_bias());
    const Model none = fitted();
    EXPECT_FALSE(none.corrects_bias());
    EXPECT_EQ(none.forecast(Inputs(rows.inputs.begin(), rows.inputs.end()), rows.prediction).mean, rows.prediction);
    EXPECT_EQ(none.prediction(), "mu");
    EXPECT_EQ(none.inputs(), (std::vector<std::string>{"x1", "x2"}));
}

TEST(Forecast, IsThatOfTheSavedModel) {
    for (const char* bias : {"none", "constant", "linear"}) {
        const Rows rows = rows_with_prediction(3000);
        const Model model = fitted(bias);
        const Model again = Model::parse(model.text());
        const Inputs inputs(rows.inputs.begin(), rows.inputs.end());
        const Forecast one = model.forecast(inputs, rows.prediction);
        const Forecast two = again.forecast(inputs, rows.prediction);
        EXPECT_TRUE(support::same_bytes(one.sigma, two.sigma));
        EXPECT_TRUE(support::same_bytes(one.mean, two.mean));
    }
}

TEST(Forecast, DoesNotDependOnThreadsOrCompany) {
    const Model model = fitted("linear");
    const Rows rows = rows_with_prediction(5000);
    const Inputs inputs(rows.inputs.begin(), rows.inputs.end());
    support::expect_same_for_any_threads([&] { return model.forecast(inputs, rows.prediction).sigma; });
    const Forecast all = model.forecast(inputs, rows.prediction);
    for (const std::size_t i : {0, 1, 1023, 1024, 4999}) {
        const Forecast one = model.forecast(Inputs{inputs[0].subspan(i, 1), inputs[1].subspan(i, 1)},
                                            std::span(rows.prediction).subspan(i, 1));
        EXPECT_EQ(one.sigma[0], all.sigma[i]);
        EXPECT_EQ(one.mean[0], all.mean[i]);
    }
}

TEST(Forecast, OfNoRowsIsEmpty) {
    const std::vector<double> none;
    const Forecast forecast = fitted().forecast(Inputs{none, none}, none);
    EXPECT_TRUE(forecast.sigma.empty());
    EXPECT_TRUE(forecast.mean.empty());
}

TEST(Forecast, InputsThatDoNotFitAreRefused) {
    const Model model = fitted();
    const std::vector<double> two = {0.0, 0.0};
    const std::vector<double> three = {0.0, 0.0, 0.0};
    EXPECT_EQ(refusal([&] { model.forecast(Inputs{two}); }), "the model has 2 inputs, but 1 were given");
    EXPECT_EQ(refusal([&] { model.forecast(Inputs{two, three}); }), "input 'x2' has 3 rows, but there are 2");
    EXPECT_EQ(refusal([&] { model.forecast(Inputs{two, two}, three); }), "there are 3 predictions, but 2 rows");
}

}  // namespace
}  // namespace accrue
