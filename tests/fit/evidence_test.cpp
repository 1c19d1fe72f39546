// What a fit says of its evidence: inputs that matter, neighbours, later rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::Rows;
using support::some_rows;

bool says(const Verdict& verdict, const std::string& words) {
    return std::any_of(verdict.remarks.begin(), verdict.remarks.end(),
                       [&](const Message& remark) { return remark.text().find(words) != std::string::npos; });
}

FitOptions quick(const std::string& form = "network") {
    FitOptions options;
    options.form = form;
    options.family = "normal";
    options.bias = "none";
    options.starts = 1;
    options.max_iterations = 60;
    return options;
}

TEST(Importance, NamesWhatDrivesScaleAndLocation) {
    // The scale follows x1 and the location x2; x3 does nothing.
    Rows rows = some_rows(2000, 300, 3);
    for (std::size_t i = 0; i < rows.errors.size(); ++i) rows.errors[i] = 0.5 * rows.errors[i] + 2 * rows.inputs[1][i];
    FitOptions options = quick();
    options.bias = "linear";
    const FitResult result = fit(rows.archive(), options);
    ASSERT_EQ(result.importance.size(), 3U);
    const auto& [first, second, third] = std::tie(result.importance[0], result.importance[1], result.importance[2]);
    EXPECT_EQ(first.input, "x1");
    // Two uniform numbers are 1/3 apart on average, and so is log sigma = x1 where it is learned.
    EXPECT_NEAR(first.scale, 1.0 / 3, 0.1);
    EXPECT_GT(first.scale, 3 * third.scale);
    // A slope of 2 over a scale near 0.5: 4/3 sigmas.
    EXPECT_NEAR(second.location, 4.0 / 3, 0.3);
    EXPECT_GT(second.location, 10 * third.location);
    EXPECT_EQ(first.shape, 0) << "a normal distribution has none";
    const auto json = result.model.json()["fit"]["importance"];
    ASSERT_EQ(json.size(), 3U);
    EXPECT_EQ(json[1]["input"], "x2");
    EXPECT_NEAR(json[1]["location"].get<double>(), second.location, 1e-3);
}

TEST(Importance, OfAnInputThatIsNotUsedIsZeroAndOfTheSameSeedTheSame) {
    const Rows rows = some_rows(300, 301, 2);
    const FitResult result = fit(rows.archive(), quick("constant"));
    for (const InputImportance& own : result.importance) {
        EXPECT_EQ(own.scale, 0);
        EXPECT_EQ(own.location, 0);
    }
    const FitResult again = fit(rows.archive(), quick());
    const FitResult once = fit(rows.archive(), quick());
    EXPECT_EQ(again.model.text(), once.model.text());
}

// Errors that follow each other, and an input that tells neighbours from others.
Rows chained(std::size_t count, std::uint64_t seed) {
    Rows rows;
    rows.inputs.resize(1);
    core::Random random(seed);
    double error = 0;
    for (std::size_t i = 0; i < count; ++i) {
        error = 0.9 * error + 0.44 * random.normal();
        rows.errors.push_back(error);
        rows.inputs[0].push_back(static_cast<double>(i) + random.uniform());
    }
    return rows;
}

TEST(NeighbouringRows, MakeAFitCompareFolds) {
    const FitResult result = fit(chained(1000, 302).archive(), quick("constant"));
    EXPECT_TRUE(says(result.verdict, "Neighbouring rows err together"));
    EXPECT_TRUE(says(result.verdict, "Folds by row are too kind"));
    EXPECT_LT(result.verification.effective_rows_of_mean, 200);
    ASSERT_TRUE(result.folds.has_value());
    EXPECT_GT(result.folds->crps_by_block, 1.1 * result.folds->crps_by_row);
    EXPECT_TRUE(says(result.verdict, "% higher where whole blocks of rows are held out"));
    EXPECT_TRUE(result.model.json()["fit"].contains("fold_comparison"));
    EXPECT_TRUE(result.model.json()["verification"]["neighbour_correlation"].get<double>() > 0.5);
}

TEST(NeighbouringRows, ThatAreIndependentAreNotMentioned) {
    const FitResult result = fit(some_rows(1000, 303).archive(), quick("constant"));
    EXPECT_FALSE(says(result.verdict, "err together"));
    EXPECT_FALSE(result.folds.has_value());
    EXPECT_EQ(result.verification.effective_rows, 1000);
}

TEST(LaterRows, RescaleSigmaWhereErrorsAreLargerThanInTheArchive) {
    for (const char* bias : {"none", "constant", "network"}) {
        const Rows rows = some_rows(600, 304);
        Rows after = some_rows(600, 305);
        for (double& e : after.errors) e *= 2;
        FitOptions options = quick();
        options.bias = bias;
        FitResult result = fit(rows.archive(), options);
        const std::vector<std::span<const double>> inputs = {rows.inputs[0]};
        const std::vector<double> mu(600, 0.0);
        const Forecast before = result.model.forecast(inputs, mu);
        judge_later(result, after.archive());
        ASSERT_TRUE(result.later.has_value());
        EXPECT_TRUE(result.later->rescaled);
        // The spread of 600 rows is known to 1/sqrt(1200) = 3%, that of the fit as well, and it may be off by some
        // itself: six of these together.
        EXPECT_NEAR(result.later->factor, 2, 0.5) << bias;
        const Forecast now = result.model.forecast(inputs, mu);
        for (std::size_t i = 0; i < 600; i += 50) {
            EXPECT_NEAR(now.sigma[i] / before.sigma[i], result.later->factor, 1e-6) << bias;
            EXPECT_NEAR(now.mean[i], before.mean[i], 1e-9) << bias << ": no location moves";
        }
        EXPECT_GT(result.later->as_fitted.sd_z, 1.6);
        EXPECT_NEAR(result.later->verification.sd_z, 1, 0.15) << "five standard errors, each half by the other";
        EXPECT_TRUE(says(result.verdict, "600 later rows: the best sigma is ")) << bias;
        const Model loaded = Model::parse(result.model.text());
        EXPECT_EQ(loaded.json()["fit"]["later"]["rescaled"], true);
        EXPECT_EQ(loaded.forecast(inputs, mu).sigma[0], now.sigma[0]);
    }
}

TEST(LaterRows, LeaveSigmaAsItIsWhereNothingHasChanged) {
    std::size_t rescaled = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        FitResult result = fit(some_rows(2000, 400 + seed).archive(), quick("constant"));
        const double before = result.model.json()["error_scale"].get<double>();
        const Rows after = some_rows(200, 500 + seed);
        judge_later(result, after.archive());
        rescaled += result.later->rescaled ? 1 : 0;
        if (result.later->rescaled) continue;
        EXPECT_EQ(result.model.json()["error_scale"].get<double>(), before);
        EXPECT_TRUE(says(result.verdict, "sigma stays as it was"));
    }
    // Two standard errors, about 1 in 20 (a mixture of normals has a little more): 6 of 20 happen once in a thousand.
    EXPECT_LE(rescaled, 6U);
}

TEST(LaterRows, AreLookedAtInEveryPlace) {
    FitResult result = fit(some_rows(1000, 304).archive(), quick());
    Rows after = some_rows(2000, 305);
    for (std::size_t i = 0; i < 2000; ++i) after.errors[i] += (after.inputs[0][i] > 0.3 ? 2 : -0.5) * 0.5;
    judge_later(result, after.archive());
    EXPECT_GT(result.later->conditional.tests, 0U);
    EXPECT_FALSE(result.later->conditional.passes);
    EXPECT_FALSE(
        result.model.json()["fit"]["later"]["verification"]["conditional"]["worst"].get<std::string>().empty());
    EXPECT_TRUE(says(result.later->verdict, "Not calibrated everywhere: where x"));
    FitResult few = fit(some_rows(1000, 304).archive(), quick());
    judge_later(few, some_rows(100, 306).archive());
    EXPECT_EQ(few.later->conditional.tests, 0U);
    for (const char* unqualified : {"Calibrated:", "Nearly calibrated:"})
        EXPECT_FALSE(few.later->verdict.summary.starts_with(unqualified)) << few.later->verdict.summary;
}

TEST(Advice, ForASpreadThatIsWrongAlongAnInputIsAForm) {
    Rows rows = some_rows(3000, 307);
    core::Random random(308);
    for (std::size_t i = 0; i < 3000; ++i)
        rows.errors[i] = (1 + 2 * rows.inputs[0][i] * rows.inputs[0][i]) * random.normal();
    const FitResult result = fit(rows.archive(), quick("constant"));
    ASSERT_FALSE(result.conditional.passes);
    EXPECT_EQ(result.conditional.worst_fault, ConditionalPlace::Fault::spread);
    EXPECT_TRUE(says(result.verdict, "--form network may help there."));
}

TEST(LaterRows, AreRefusedWhereTheyAreFewOrOfOtherInputs) {
    FitResult result = fit(some_rows(100, 306).archive(), quick("constant"));
    EXPECT_EQ(support::refusal([&] { judge_later(result, some_rows(19, 307).archive()); }),
              "--later has 19 rows, but at least 20 are needed to rescale by");
    EXPECT_EQ(support::refusal([&] { judge_later(result, some_rows(100, 308, 2).archive()); }),
              "later rows have other inputs than the model");
}

}  // namespace
}  // namespace accrue
