// Location, skew and tails that are learned with the scale, and the choice between candidates.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::refusal;
using support::Rows;
using support::some_rows;

double bias_at(double x) {
    return 2 * std::sin(3 * x);
}

// Errors about a bias that no line follows.
Rows biased_rows(std::size_t rows, std::uint64_t seed) {
    core::Random random(seed);
    Rows r;
    r.inputs.resize(1);
    for (std::size_t i = 0; i < rows; ++i) {
        const double x = random.uniform(-1.5, 1.5);
        r.inputs[0].push_back(x);
        r.errors.push_back(bias_at(x) + 0.5 * random.normal());
        r.prediction.push_back(10 + x);
    }
    return r;
}

// Errors of a skewed, heavy-tailed distribution, the same for all inputs.
Rows skewed_rows(std::size_t rows, std::uint64_t seed) {
    Rows r = some_rows(rows, seed);
    core::Random random(seed, 2);
    const std::vector<double> further = {0.6, -0.4};
    for (double& e : r.errors) e = family("sinh-arcsinh")->of_normal_score(random.normal(), further);
    return r;
}

FitOptions options_of(const std::string& family, const std::string& bias) {
    FitOptions options;
    options.family = family;
    options.bias = bias;
    return options;
}

TEST(LearnedLocation, FollowsABiasThatNoLineFollows) {
    const Rows rows = biased_rows(2000, 901);
    const FitResult linear = fit(rows.archive(), options_of("normal", "linear"));
    const FitResult network = fit(rows.archive(), options_of("normal", "network"));
    for (const StartOutcome& start : network.starts) EXPECT_EQ(start.method, "adam");
    // The noise alone has a CRPS of 0.564*0.5 = 0.28; the best line leaves half of the bias.
    EXPECT_LT(network.verification.crps, 0.3);
    EXPECT_GT(linear.verification.crps, 0.4);
    const std::vector<double> x = {-1.2, -0.5, 0, 0.5, 1.2};
    const std::vector<double> mu(x.size(), 7.0);
    const std::vector<std::span<const double>> inputs = {x};
    const Forecast forecast = network.model.forecast(inputs, mu);
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(forecast.mean[i], 7 + bias_at(x[i]), 0.25) << x[i];  // half a standard deviation of one error
    EXPECT_TRUE(network.model.learns_location());
    EXPECT_NEAR(network.verification.sd_z, 1, 0.06);
}

TEST(LearnedLocation, IsWrittenAndReadAgain) {
    const Rows rows = biased_rows(600, 902);
    for (const char* family_name : {"normal", "sinh-arcsinh"})
        for (const char* recalibrate : {"none", "isotonic"}) {
            SCOPED_TRACE(testing::Message() << family_name << ", " << recalibrate);
            FitOptions options = options_of(family_name, "network");
            options.recalibrate = recalibrate;
            options.starts = 1;
            const FitResult result = fit(rows.archive(), options);
            const Model read = Model::parse(result.model.text());
            EXPECT_EQ(read.text(), result.model.text());
            EXPECT_TRUE(read.learns_location());
            const std::vector<double> x = {-1.0, 0.3};
            const std::vector<double> mu = {9.0, 11.0};
            const std::vector<std::span<const double>> inputs = {x};
            for (std::size_t i = 0; i < x.size(); ++i) {
                const Distribution row = read.forecast(inputs, mu).row(i);
                EXPECT_EQ(row.mean, result.model.forecast(inputs, mu).row(i).mean);
                EXPECT_NEAR(row.cdf(row.quantile(0.8)), 0.8, 1e-9);
                EXPECT_NEAR(row.exceeding(row.quantile(0.8)), 0.2, 1e-9);
                // Mean and standard deviation are those of its own draws, within five of their standard errors.
                constexpr std::size_t kDraws = 20'000;
                const std::vector<double> draws = row.sample(kDraws, 5);
                double sum = 0;
                double squares = 0;
                for (const double y : draws) {
                    sum += (y - row.mean) / kDraws;
                    squares += (y - row.mean) * (y - row.mean) / kDraws;
                }
                EXPECT_NEAR(sum, 0, 5 * row.sigma / std::sqrt(kDraws));
                EXPECT_NEAR(std::sqrt(squares) / row.sigma, 1, 0.1);  // heavy tails: four of its standard errors
            }
        }
}

TEST(LearnedLocation, GivesTheSameBytesForAnyThreads) {
    const Rows rows = biased_rows(800, 903);
    std::string first;
    for (const int threads : {1, 2, 3}) {
        std::string text;
        with_threads(threads, [&] { text = fit(rows.archive(), options_of("auto", "auto")).model.text(); });
        if (first.empty()) first = text;
        EXPECT_EQ(text, first) << threads << " threads";
    }
}

TEST(LearnedLocation, NeedsAFormThatGivesIt) {
    FitOptions options = options_of("normal", "network");
    options.form = "polynomial";
    EXPECT_EQ(refusal([&] { fit(biased_rows(100, 904).archive(), options); }),
              "--form polynomial gives a scale alone; --bias network needs --form network");
    options = options_of("sinh-arcsinh", "none");
    options.form = "clusters";
    EXPECT_EQ(refusal([&] { fit(biased_rows(100, 904).archive(), options); }),
              "--form clusters gives a scale alone; --family sinh-arcsinh needs --form network");
}

TEST(LearnedTails, AreCalibratedWhereANormalIsNot) {
    const Rows rows = skewed_rows(2000, 905);
    const FitResult normal = fit(rows.archive(), options_of("normal", "none"));
    const FitResult own = fit(rows.archive(), options_of("sinh-arcsinh", "none"));
    EXPECT_LT(own.verification.crps, 0.98 * normal.verification.crps);
    EXPECT_GT(normal.verification.calibration_error, 0.08);
    EXPECT_LT(own.verification.calibration_error, 0.04);  // the floor of 2,000 rows is 0.018
    EXPECT_GE(own.verification.crps, 0);
}

// Errors about a prediction that is known: only then there is a choice.
Rows predicted(Rows rows) {
    core::Random random(912);
    rows.prediction.clear();
    for (std::size_t i = 0; i < rows.errors.size(); ++i) rows.prediction.push_back(random.normal());
    return rows;
}

TEST(Candidates, TheSimplestIsTakenWhereItIsRightAndItsStartsAreThoseOfAFixedFit) {
    const Rows rows = predicted(some_rows(800, 906));
    const FitResult chosen = fit(rows.archive(), options_of("auto", "auto"));
    ASSERT_EQ(chosen.candidates.size(), 3U);
    EXPECT_TRUE(chosen.candidates[0].taken);
    EXPECT_NE(chosen.choice.find("the simplest was taken"), std::string::npos);
    const FitResult fixed = fit(rows.archive(), options_of("normal", "none"));
    EXPECT_EQ(chosen.model.json()["sigma"], fixed.model.json()["sigma"]);
    EXPECT_EQ(chosen.verification.crps, fixed.verification.crps);
    EXPECT_EQ(chosen.model.json()["configuration"]["family"], "normal") << "what was taken, not what was asked for";
}

TEST(Candidates, WhatHeldOutRowsShowIsTaken) {
    const Rows biased = predicted(biased_rows(1500, 907));
    const FitResult location = fit(biased.archive(), options_of("auto", "auto"));
    EXPECT_EQ(location.model.json()["configuration"]["bias"], "network");
    const Rows skewed = predicted(skewed_rows(1500, 908));
    const FitResult tails = fit(skewed.archive(), options_of("auto", "none"));
    EXPECT_EQ(tails.model.json()["configuration"]["family"], "sinh-arcsinh");
    ASSERT_EQ(tails.candidates.size(), 2U);
    EXPECT_LT(tails.candidates[1].high, 0);
    EXPECT_EQ(tails.model.json()["fit"]["candidates"].size(), 2U);
    // Rows that were held out are what is verified: the parts of the choice add up with the table.
    EXPECT_NEAR(tails.candidates[1].crps - tails.candidates[0].crps, tails.candidates[1].difference, 1e-12);
}

TEST(Candidates, ArchivesThatAreTooSmallLearnNoLocation) {
    const Rows few_rows = predicted(biased_rows(120, 909));
    const FitResult few = fit(few_rows.archive(), options_of("auto", "auto"));
    EXPECT_FALSE(few.model.learns_location());
    FitOptions paper = options_of("auto", "auto");
    paper.recipe = "paper";
    const Rows enough = predicted(biased_rows(900, 910));
    const FitResult own = fit(enough.archive(), paper);
    EXPECT_FALSE(own.model.learns_location());
    EXPECT_EQ(own.model.json()["configuration"]["family"], "normal");
    // Around a prediction that nobody knows.
    Rows unknown = biased_rows(900, 910);
    unknown.prediction.clear();
    const FitResult errors_alone = fit(unknown.archive(), options_of("auto", "auto"));
    EXPECT_FALSE(errors_alone.model.learns_location());
    EXPECT_EQ(errors_alone.candidates.size(), 0U);
}

TEST(Candidates, LargeArchivesAreTriedOnASample) {
    const Rows rows = predicted(some_rows(60'000, 911));
    FitOptions options = options_of("normal", "auto");
    options.starts = 1;
    options.max_iterations = 5;
    const FitResult result = fit(rows.archive(), options);
    EXPECT_EQ(result.verification.rows, 60'000U);
    EXPECT_EQ(result.candidates.size(), 2U);
}

}  // namespace
}  // namespace accrue
