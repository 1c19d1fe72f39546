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

}  // namespace
}  // namespace accrue
