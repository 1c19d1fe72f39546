// Verification of forecasts of a shape against plain sums over the rows.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "accrue/verify.hpp"
#include "core/random.hpp"
#include "support/samples.hpp"

namespace accrue {
namespace {

TEST(Shaped, WithoutKnotsAgreesWithTheGaussian) {
    const support::Sample sample = support::random_sample(2000, 1, 1.2);
    const std::vector<double> weights = support::random_weights(2000, 2);
    const Verification gaussian = verify(sample.errors, sample.sigmas, weights);
    const std::vector<Shape> shapes(1);
    const Verification shaped = verify(sample.errors, sample.sigmas, {shapes}, weights);
    EXPECT_NEAR(shaped.crps, gaussian.crps, 1e-12);
    EXPECT_NEAR(shaped.crps_skill, gaussian.crps_skill, 1e-12);
    EXPECT_NEAR(shaped.rs, gaussian.rs, 1e-9);
    EXPECT_NEAR(shaped.calibration_error, gaussian.calibration_error, 1e-12);
    EXPECT_NEAR(shaped.sd_z, gaussian.sd_z, 1e-9);
    EXPECT_TRUE(std::isnan(shaped.nlpd));
    for (std::size_t l = 0; l < gaussian.coverage.size(); ++l) {
        EXPECT_EQ(shaped.coverage[l].observed, gaussian.coverage[l].observed);
        EXPECT_NEAR(shaped.coverage[l].mean_width, gaussian.coverage[l].mean_width, 1e-12);
        EXPECT_NEAR(shaped.coverage[l].interval_score, gaussian.coverage[l].interval_score, 1e-10);
    }
}

// Skewed errors: z + 1 is exponential with mean 1.
struct Skewed {
    std::vector<double> errors, sigmas;
    explicit Skewed(std::size_t n, std::uint64_t seed) {
        core::Random random(seed);
        for (std::size_t i = 0; i < n; ++i) {
            sigmas.push_back(std::exp(0.5 * random.normal()));
            errors.push_back(sigmas.back() * (-std::log(1 - random.uniform()) - 1));
        }
    }
};

TEST(Shaped, RecalibrationMendsSkewedErrors) {
    const Skewed past(20'000, 3);
    const Skewed future(20'000, 4);
    const std::vector<Shape> shapes = {Shape::of_pits(pit(past.errors, past.sigmas))};
    const Verification before = verify(future.errors, future.sigmas);
    const Verification after = verify(future.errors, future.sigmas, {shapes});
    EXPECT_GT(before.calibration_error, 0.1);
    // Its floor is 0.6%; the map itself adds an error as large.
    EXPECT_LT(after.calibration_error, 0.02);
    EXPECT_LT(after.crps, before.crps);
    EXPECT_EQ(after.rmse, before.rmse);
    for (const Coverage& c : after.coverage) EXPECT_NEAR(c.observed, c.level, 0.015);
    // The interval score of the truth's own quantiles is the least there is.
    EXPECT_LT(after.coverage[1].interval_score, before.coverage[1].interval_score);
}

TEST(Shaped, GroupsAndCodesPickTheirRows) {
    const Skewed rows(3000, 5);
    const std::vector<Shape> shapes = {Shape({0.3}, {0.5}), Shape({0.6}, {0.5})};
    std::vector<std::uint32_t> shape_codes, group_codes;
    const std::vector<std::string> labels = {"a", "empty", "c"};
    for (std::size_t i = 0; i < 3000; ++i) {
        shape_codes.push_back(i % 2);
        group_codes.push_back(i % 3 == 0 ? 0 : 2);
    }
    const Verification v = verify(rows.errors, rows.sigmas, {shapes, shape_codes}, {}, {group_codes, labels});
    ASSERT_EQ(v.groups.size(), 2U);
    for (const Verification& group : v.groups) {
        const std::uint32_t code = group.name == "a" ? 0 : 2;
        double crps = 0, width = 0, inside = 0, count = 0;
        for (std::size_t i = 0; i < 3000; ++i) {
            if (group_codes[i] != code) continue;
            const Shape& shape = shapes[shape_codes[i]];
            const double z = rows.errors[i] / rows.sigmas[i];
            crps += rows.sigmas[i] * shape.crps(z);
            width += rows.sigmas[i] * (shape.quantile(0.95) - shape.quantile(0.05));
            inside += shape.cdf(z) >= 0.05 && shape.cdf(z) <= 0.95 ? 1 : 0;
            ++count;
        }
        EXPECT_NEAR(group.crps, crps / count, 1e-12);
        EXPECT_NEAR(group.coverage[1].mean_width, width / count, 1e-12);
        EXPECT_NEAR(group.coverage[1].observed, inside / count, 1e-12);
    }
}

}  // namespace
}  // namespace accrue
