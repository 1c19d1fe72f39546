// The promise of --recalibrate conformal --calibration-share, from archive to forecast.
#include <gtest/gtest.h>

#include <cmath>

#include "support/archives.hpp"

namespace accrue {
namespace {

TEST(ConformalFit, CoversWhatItStatesOverManyArchives) {
    constexpr std::size_t kArchives = 300;
    constexpr std::size_t kRows = 80;
    double covered = 0;
    for (std::size_t archive = 0; archive < kArchives; ++archive) {
        core::Random random(1000 + archive);
        support::Rows rows;
        rows.inputs.resize(1);
        for (std::size_t i = 0; i < kRows; ++i) {
            rows.inputs[0].push_back(random.uniform());
            rows.errors.push_back(-std::log(1 - random.uniform()));
            rows.prediction.push_back(0);
        }
        FitOptions options;
        options.form = "constant";
        options.family = "normal";
        options.bias = "constant";
        options.recalibrate = "conformal";
        options.calibration_share = 0.25;
        options.seed = archive;
        const FitResult result = fit(rows.archive(), options);
        ASSERT_EQ(result.recalibration.rows, 20U);
        const std::vector<double> x = {0.5}, mu = {0};
        const auto interval = result.model.forecast(std::vector<std::span<const double>>{x}, mu).row(0).interval(0.9);
        const auto above = [](double y) { return std::exp(-std::max(y, 0.0)); };
        covered += above(interval.low) - above(interval.high);
    }
    // Of 21 parts 19 lie between the outermost of 20 rows. The probability between two rows is beta-distributed, with a
    // standard deviation of sqrt(19*2/21^2/22) = 0.0626: three standard errors, missed once in 370 sets of seeds.
    EXPECT_NEAR(covered / kArchives, 19.0 / 21, 3 * 0.0626 / std::sqrt(static_cast<double>(kArchives)));
}

TEST(ConformalFit, CoversWhatItStatesInEveryGroup) {
    // Two groups whose errors have nothing in common, and one too small for a map of its own.
    constexpr std::size_t kArchives = 300;
    constexpr std::size_t kRows = 160;
    std::vector<double> missed(2, 0.0);
    std::vector<double> variance(2, 0.0);
    std::vector<double> by_common(2, 0.0);
    const std::vector<std::string> labels = {"narrow", "skewed", "rare"};
    for (std::size_t archive = 0; archive < kArchives; ++archive) {
        core::Random random(5000 + archive);
        support::Rows rows;
        rows.inputs.resize(1);
        std::vector<std::uint32_t> codes;
        for (std::size_t i = 0; i < kRows; ++i) {
            codes.push_back(i % 16 == 0 ? 2 : static_cast<std::uint32_t>(i % 2));
            rows.inputs[0].push_back(random.uniform());
            rows.errors.push_back(codes.back() == 1 ? -4 * std::log(1 - random.uniform()) : random.normal());
            rows.prediction.push_back(0);
        }
        Archive all = rows.archive();
        all.recalibrate_groups = {codes, labels};
        all.roles.recalibrate_group = "station";
        FitOptions options;
        options.form = "constant";
        options.family = "normal";
        options.bias = "constant";
        options.recalibrate = "conformal";
        options.calibration_share = 0.5;
        options.seed = archive;
        const FitResult result = fit(all, options);
        const std::vector<double> x = {0.5}, mu = {0};
        for (const auto& group : result.recalibration.groups) {
            const std::size_t g = group.label == "skewed" ? 1 : 0;
            const auto covered_by = [&](double code) {
                const std::vector<double> codes_of_row = {code};
                const std::vector<std::span<const double>> inputs = {x, codes_of_row};
                const auto interval = result.model.forecast(inputs, mu).row(0).interval(0.9);
                const auto below = [&](double y) {
                    return g == 1 ? 1 - std::exp(-std::max(y, 0.0) / 4) : std::erfc(-y / std::sqrt(2.0)) / 2;
                };
                return below(interval.high) - below(interval.low);
            };
            const auto n = static_cast<double>(group.rows);
            const double stated = 1 - 2 * std::floor(0.05 * (n + 1) + 1e-9) / (n + 1);
            missed[g] += covered_by(result.model.category_code(1, group.label)) - stated;
            by_common[g] += covered_by(-1) - stated;
            variance[g] += stated * (1 - stated) / (n + 2);
        }
    }
    // The probability between two rows is beta-distributed: three standard errors of each of two groups, missed once in
    // 185 sets of seeds. The map of all rows is more than five away from it.
    for (std::size_t g = 0; g < 2; ++g) {
        ASSERT_GT(variance[g], 0.0);
        EXPECT_LT(std::fabs(missed[g]), 3 * std::sqrt(variance[g])) << labels[g];
        EXPECT_GT(std::fabs(by_common[g]), 5 * std::sqrt(variance[g])) << labels[g];
    }
}

}  // namespace
}  // namespace accrue
