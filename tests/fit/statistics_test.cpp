// Does the default recipe learn sigma? Seeds are fixed; the limits are stated with the spread that other seeds show.
#include <gtest/gtest.h>

#include <cmath>

#include "accrue/verify.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

double rmse(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum / static_cast<double>(a.size()));
}

TEST(FitStatistics, NetworkLearnsGFromAHundredRows) {
    std::vector<double> x;
    std::vector<double> truth;
    for (int i = 0; i <= 200; ++i) {
        x.push_back(i / 200.0);
        truth.push_back(x.back() / 2 + 0.5);
    }
    const std::vector<std::span<const double>> grid = {x};
    double mean = 0;
    double square = 0;
    constexpr int kSeeds = 20;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        const auto data = support::paper_rows("G", 100, static_cast<std::uint64_t>(seed));
        FitOptions options;
        options.seed = static_cast<std::uint64_t>(seed);
        const double error = rmse(fit(data.rows.archive(), options).model.forecast(grid).sigma, truth);
        mean += error / kSeeds;
        square += error * error / kSeeds;
    }
    RecordProperty("rmse", std::to_string(mean));
    RecordProperty("sd", std::to_string(std::sqrt(square - mean * mean)));

    // These seeds give 0.097 with an sd of 0.041 a seed, 0.009 for the mean of twenty: other seeds exceed 0.11 about
    // once in fourteen times. The seeds are fixed; the limit is there to notice a recipe that became worse.
    EXPECT_LT(mean, 0.11);
}

TEST(FitStatistics, NetworkLearnsFiveDimensions) {
    const auto data = support::paper_rows("5D", 10000, 1);
    const FitResult result = fit(data.rows.archive());
    const auto fresh = support::paper_rows("5D", 2500, 1001);
    const std::vector<std::span<const double>> inputs(fresh.rows.inputs.begin(), fresh.rows.inputs.end());
    const std::vector<double> sigma = result.model.forecast(inputs).sigma;
    const double error = rmse(sigma, fresh.true_sigma);
    const Verification v = verify(fresh.rows.errors, sigma);
    RecordProperty("rmse", std::to_string(error));
    RecordProperty("floors", std::to_string(v.calibration_error / v.calibration_floor));
    EXPECT_LT(error, 0.11);
    // The issue asks for the median of ten seeds on 10,000 rows (bench_toy_sigma prints it: about 1.5). One seed may
    // lie near 2.5 there; on 2,500 rows, where the floor is twice as high, it is far below. A perfect forecast
    // exceeds 2.5 floors (Kolmogorov's 2.07) with probability 4e-4.
    EXPECT_LT(v.calibration_error, 2.5 * v.calibration_floor);
    EXPECT_GT(v.sd_z, 0.95);
    EXPECT_LT(v.sd_z, 1.12);
    // The figures that the fit itself gives, out of fold, are honest: near those of fresh rows. The crps of a row
    // varies by about its mean, so that the mean of 2,500 rows is right to about 2%.
    EXPECT_NEAR(result.verification.crps, v.crps, 0.1 * v.crps);
}

}  // namespace
}  // namespace accrue
