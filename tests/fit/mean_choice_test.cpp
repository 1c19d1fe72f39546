// A location that is learned with the scale, or before it: --mean constant, and --mean auto.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "accrue/threads.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

// y bends with x, and its spread is larger where x is; u says nothing.
struct Curve {
    std::vector<double> x, u, y;
    Archive archive() const {
        Archive own;
        own.input_names = {"x", "u"};
        own.inputs = {x, u};
        own.observation = y;
        own.roles.observation = "y";
        return own;
    }
};

Curve curve(std::size_t rows, std::uint64_t seed) {
    Curve own;
    core::Random random(seed);
    for (std::size_t i = 0; i < rows; ++i) {
        own.x.push_back(random.uniform(0, 6));
        own.u.push_back(random.normal());
        own.y.push_back(100 + 5 * std::sin(own.x[i]) + (0.2 + 0.2 * own.x[i]) * random.normal());
    }
    return own;
}

FitOptions options_with(const std::string& mean) {
    FitOptions options;
    options.mean = mean;
    options.family = "normal";
    options.starts = 1;
    return options;
}

TEST(MeanChoice, AConstantIsTheAverageOfTheObservations) {
    const Curve rows = curve(200, 1);
    FitOptions options = options_with("constant");
    options.bias = "none";
    options.form = "constant";
    const FitResult result = fit(rows.archive(), options);
    double average = 0;
    for (const double y : rows.y) average += y / 200;
    const std::vector<double> x = {0.5, 5};
    const Forecast forecast = result.model.forecast(std::vector<std::span<const double>>{x, x});
    // Five folds of 40 rows: the average of the averages without one each is that of all rows.
    EXPECT_NEAR(forecast.mean[0], average, 1e-9);
    EXPECT_EQ(forecast.mean[0], forecast.mean[1]);
    const Model read = Model::parse(result.model.text());
    EXPECT_EQ(read.text(), result.model.text());
}

TEST(MeanChoice, FromAConstantTheLocationIsLearnedWithTheScale) {
    const Curve rows = curve(1000, 2);
    FitOptions options = options_with("constant");
    options.bias = "network";
    const FitResult result = fit(rows.archive(), options);
    const std::vector<double> x = {0.5, 1.5, 3, 4.5, 5.5};
    const std::vector<double> u(x.size(), 0.0);
    const Forecast forecast = result.model.forecast(std::vector<std::span<const double>>{x, u});
    // The spread is 0.3 to 1.3, so that about a tenth of it is noise; a constant would be off by up to 5.
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(forecast.mean[i], 100 + 5 * std::sin(x[i]), 0.6) << x[i];
    EXPECT_GT(forecast.sigma.back(), 2 * forecast.sigma.front());
    EXPECT_EQ(Model::parse(result.model.text()).text(), result.model.text());
}

TEST(MeanChoice, AutoTakesTheFirstThatNoneAfterItBeatsClearly) {
    const Curve rows = curve(600, 3);
    const FitResult result = fit(rows.archive(), options_with("auto"));
    const auto json = result.model.json();
    const auto& means = json.at("fit").at("means");
    ASSERT_EQ(means.size(), 2U);
    EXPECT_EQ(means[0].at("mean"), "constant");
    std::size_t ahead = 0;
    for (std::size_t k = 1; k < means.size(); ++k) {
        EXPECT_EQ(means[k].at("compared_with"), ahead);
        // Rounded to four and six digits.
        EXPECT_NEAR(means[k].at("crps").get<double>() - means[ahead].at("crps").get<double>(),
                    means[k].at("difference").get<double>(), 1e-4);
        if (means[k].at("high").get<double>() < 0) ahead = k;
    }
    for (std::size_t k = 0; k < means.size(); ++k) EXPECT_EQ(means[k].at("taken"), k == ahead);
    EXPECT_EQ(json.at("configuration").at("mean"), means[ahead].at("mean"));
    EXPECT_NEAR(result.verification.crps, means[ahead].at("crps").get<double>(), 1e-4);
    EXPECT_EQ(json.at("verification").at("verdict").at("remarks")[0].get<std::string>().substr(0, 25),
              "Of 2 means this was taken");

    std::string of_one_thread;
    with_threads(1, [&] { of_one_thread = fit(rows.archive(), options_with("auto")).model.text(); });
    EXPECT_EQ(of_one_thread, result.model.text());
}

TEST(MeanChoice, FewRowsHaveTheirMeanFirst) {
    const Curve rows = curve(100, 4);
    const FitResult result = fit(rows.archive(), options_with("auto"));
    const auto json = result.model.json();
    const auto& means = json.at("fit").at("means");
    ASSERT_EQ(means.size(), 2U);
    EXPECT_EQ(means[0].at("mean"), "gp");
    EXPECT_EQ(means[1].at("mean"), "network");
}

TEST(MeanChoice, CategoriesGoWithAConstantAlone) {
    Curve rows = curve(600, 5);
    const std::vector<std::string> labels = {"a", "b"};
    for (std::size_t i = 0; i < 600; ++i) {
        rows.u[i] = static_cast<double>(i % 2);
        rows.y[i] += 4 * rows.u[i];
    }
    Archive archive = rows.archive();
    archive.input_types.resize(2);
    archive.input_types[1].kind = InputKind::category;
    archive.input_types[1].labels = labels;
    const FitResult result = fit(archive, options_with("auto"));
    EXPECT_EQ(result.model.json().at("configuration").at("mean"), "constant");
    EXPECT_FALSE(result.model.json().at("fit").contains("means"));  // there was no choice
    EXPECT_EQ(support::refusal([&] { fit(archive, options_with("network")); }),
              "--mean network takes numbers only, but 'u' is a category");
}

TEST(MeanChoice, PredictionsAreRefused) {
    const Curve rows = curve(100, 6);
    Archive archive = rows.archive();
    archive.prediction = rows.x;
    EXPECT_EQ(support::refusal([&] { fit(archive, options_with("auto")); }),
              "--mean auto learns the mean from the observations: it takes no predictions and no errors");
}

}  // namespace
}  // namespace accrue
