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
    constexpr int kSeeds = 100;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        const auto data = support::paper_rows("G", 100, static_cast<std::uint64_t>(seed));
        FitOptions options;
        options.seed = static_cast<std::uint64_t>(seed);
        options.form = "network";
        const double error = rmse(fit(data.rows.archive(), options).model.forecast(grid).sigma, truth);
        mean += error / kSeeds;
        square += error * error / kSeeds;
    }
    RecordProperty("rmse", std::to_string(mean));
    RecordProperty("sd", std::to_string(std::sqrt(square - mean * mean)));

    // The limit is there to notice a recipe that became worse. The archives are fixed by their seeds, so that a neutral
    // change draws other starts and nothing else: ten such draws gave 0.0994 on average (to 0.0005) and an sd of 0.0016
    // for this mean. Above 0.1065 is then 4.3 of them, by chance once in 100,000 times, and once in 30,000 with the
    // average at the upper end. A recipe that is worse by 10% is noticed with a probability of 96%, by 15% always.
    // (Other archives would exceed it once in 1,000 times: 0.0942 and 0.0039 over 400 of them.)
    EXPECT_LT(mean, 0.1065);
}

TEST(FitStatistics, NetworkLearnsFiveDimensions) {
    const auto data = support::paper_rows("5D", 10000, 1);
    FitOptions options;
    options.recalibrate = "none";  // sigma is that of a Gaussian
    const FitResult result = fit(data.rows.archive(), options);
    const auto fresh = support::paper_rows("5D", 40000, 1001);
    const std::vector<std::span<const double>> inputs(fresh.rows.inputs.begin(), fresh.rows.inputs.end());
    const std::vector<double> sigma = result.model.forecast(inputs).sigma;
    const double error = rmse(sigma, fresh.true_sigma);
    const Verification v = verify(fresh.rows.errors, sigma);
    RecordProperty("rmse", std::to_string(error));
    RecordProperty("calibration_error", std::to_string(v.calibration_error));
    // Archive and fresh rows are fixed by their seeds: a neutral change draws other starts. Three draws gave 0.086 to
    // 0.092, and five other archives 0.086 to 0.095, an sd of 0.004: the limit is 5 of them away, by chance once in
    // 10^6 times.
    EXPECT_LT(error, 0.11);
    // The draws gave 1.0% to 1.1%. A perfect forecast of as many rows would exceed the limit with
    // probability 2 exp(-2 40000 0.0175^2) = 10^-10, so that an error beyond it is the recipe's and not chance.
    EXPECT_LT(v.calibration_error, 0.0175);
    // 1.05 to 1.06; the standard error of 40,000 rows is 0.0035.
    EXPECT_GT(v.sd_z, 0.98);
    EXPECT_LT(v.sd_z, 1.12);
    // The figures that the fit itself gives, out of fold, are honest: near those of fresh rows. The crps of a row
    // varies by about its mean, so that the means of 10,000 and of 40,000 rows differ by 1.1%: five of these.
    EXPECT_NEAR(result.verification.crps, v.crps, 0.055 * v.crps);
}

// One start in thirty finds nothing here. Of these archives one fold's first start is such: a candidate must not be
// taken because another had bad luck. Of 48 archives the normal around the prediction was taken in all; before folds
// without skill got another start, in 42.
TEST(FitStatistics, NoCandidateIsJudgedByABadStart) {
    for (const std::uint64_t seed : {110U, 128U}) {
        auto data = support::paper_rows("5D", 10000, seed);
        data.rows.prediction.assign(data.rows.errors.size(), 0.0);
        FitOptions options;
        options.seed = seed;
        options.recalibrate = "none";
        const FitResult result = fit(data.rows.archive(), options);
        ASSERT_EQ(result.candidates.size(), 3U);
        EXPECT_TRUE(result.candidates[0].taken) << seed;
    }
}

}  // namespace
}  // namespace accrue
