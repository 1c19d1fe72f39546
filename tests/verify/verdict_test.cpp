// What the words say for forecasts whose fault is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "accrue/scores.hpp"
#include "accrue/verify.hpp"
#include "support/samples.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

Verdict verdict_of(const Numbers& z, double sigma = 1, const Grouping& groups = {}) {
    return verdict(verify(z, Numbers(z.size(), sigma), {}, groups));
}

testing::AssertionResult starts_with(const std::string& text, const std::string& start) {
    if (text.rfind(start, 0) == 0) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << text << "' does not start with '" << start << "'";
}

testing::AssertionResult has_remark(const Verdict& v, const std::string& part) {
    for (const std::string& remark : v.remarks)
        if (remark.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no remark holds '" << part << "'";
}

// As calibrated as 1,000 rows can be, shifted.
Numbers even_rows(std::size_t n, double shift = 0) {
    Numbers z = support::normal_scores(n);
    for (double& x : z) x += shift;
    return z;
}

TEST(VerdictWords, ACalibratedForecastIsCalledCalibrated) {
    const Verdict v = verdict_of(even_rows(1000));
    EXPECT_EQ(v.summary, "Calibrated: calibration error 0.1%, floor 2.6% for 1000 rows.");
    EXPECT_TRUE(v.remarks.empty()) << v.remarks[0];
}

TEST(VerdictWords, TooSmallSigmasAreOverconfident) {
    const Verdict v = verdict_of(even_rows(1000), 1 / 1.5);
    EXPECT_TRUE(starts_with(
        v.summary, "Overconfident by about 50%: errors are 1.50 times as large as sigma says; calibration error "));
    EXPECT_EQ(v.summary.find("iased"), std::string::npos);
    EXPECT_NE(v.summary.find("floor 2.6% for 1000 rows"), std::string::npos);
    EXPECT_TRUE(has_remark(v, "One constant sigma"));
}

TEST(VerdictWords, TooLargeSigmasAreUnderconfident) {
    EXPECT_TRUE(starts_with(verdict_of(even_rows(1000), 2).summary,
                            "Underconfident by about 100%: errors are only 0.50 times as large as sigma says"));
}

TEST(VerdictWords, AShiftIsABias) {
    EXPECT_TRUE(starts_with(verdict_of(even_rows(1000, 0.5)).summary,
                            "Biased: observations lie on average 0.50 sigma above the predictions"));
    EXPECT_TRUE(starts_with(verdict_of(even_rows(1000, -0.5)).summary,
                            "Biased: observations lie on average 0.50 sigma below the predictions"));
}

TEST(VerdictWords, TwoFaultsAreBothNamed) {
    const std::string summary = verdict_of(even_rows(1000, 0.5), 0.5).summary;
    EXPECT_TRUE(starts_with(summary, "Overconfident by about 100% and biased: "));
    EXPECT_NE(summary.find(", and observations lie on average 1.00 sigma above"), std::string::npos) << summary;
}

TEST(VerdictWords, ASmallFaultOfManyRowsIsNearlyCalibrated) {
    // Sigma 4% too small: a calibration error of 1% against a floor of 0.26%, but nobody would act on it.
    EXPECT_TRUE(starts_with(verdict_of(even_rows(100000), 1 / 1.04).summary,
                            "Nearly calibrated: calibration error 0.9%, floor 0.3%"));
}

TEST(VerdictWords, SkewedErrorsAreAMatterOfShapeAndTheSignBoundSaysSo) {
    // Exponential errors less their mean: mean 0, sd 1, and 63% of them negative.
    Numbers errors;
    for (std::size_t i = 0; i < 1000; ++i) errors.push_back(-std::log(1 - (static_cast<double>(i) + 0.5) / 1000) - 1);
    const Verdict v = verdict_of(errors);
    EXPECT_TRUE(starts_with(v.summary, "Not calibrated, though spread and mean are right"));
    EXPECT_TRUE(has_remark(v, "The sign of the errors alone sets the calibration error to at least 13%"));
    EXPECT_FALSE(has_remark(verdict_of(even_rows(1000), 0.5), "The sign of the errors"));
}

TEST(VerdictWords, FewRowsAreMentioned) {
    EXPECT_TRUE(has_remark(verdict_of(even_rows(30)), "Only 30 rows"));
    EXPECT_FALSE(has_remark(verdict_of(even_rows(100)), "Only"));
}

TEST(VerdictWords, OneRowIsNeverCalledBiasedOrTooNarrow) {
    for (const double z : {-2.0, -0.3, 0.0, 0.3, 2.0}) {
        const Verdict v = verdict_of({z});
        EXPECT_TRUE(starts_with(v.summary, "Too few rows to tell: ")) << z;
        EXPECT_TRUE(has_remark(v, "Only 1 row:")) << z;
    }
}

TEST(VerdictWords, CalibratedForecastsOfAnySizeAreSeldomBlamed) {
    // Each of the three tests errs about once in 370 (3 standard errors), a little more for few rows, and the
    // calibration error exceeds twice its floor about once in 130: together about 1.5%. Of 2,000 runs 30 are expected;
    // 80 is 9 sd away.
    for (const std::size_t n : {2U, 3U, 5U, 10U, 30U, 200U}) {
        core::Random random(n);
        int blamed = 0;
        for (int run = 0; run < 2000; ++run) {
            Numbers z(n);
            for (double& x : z) x = random.normal();
            Verification v;
            // The figures that the verdict reads, without the rest of verify().
            v.rows = n;
            v.effective_rows = static_cast<double>(n);
            for (const double x : z) v.mean_z += x / static_cast<double>(n);
            for (const double x : z) v.sd_z += (x - v.mean_z) * (x - v.mean_z) / static_cast<double>(n);
            v.sd_z = std::sqrt(v.sd_z);
            const std::string summary = verdict(v).summary;
            blamed += summary.rfind("Calibrated", 0) == 0 || summary.rfind("Too few rows", 0) == 0 ? 0 : 1;
        }
        EXPECT_LT(blamed, 80) << n;
    }
}

TEST(VerdictWords, AnErrorOfInfinitelyManySigmasIsNamedWithoutANumber) {
    const Verdict v = verdict(verify(Numbers{1e200, 1, -1}, Numbers{1e-200, 1, 1}));
    EXPECT_TRUE(starts_with(v.summary, "Overconfident beyond measure: an error is too many sigmas large for a number"));
    EXPECT_EQ(v.summary.find("inf"), std::string::npos);
    EXPECT_EQ(v.summary.find("nan"), std::string::npos);
}

TEST(VerdictWords, GroupsAreRemindedOfDependence) {
    std::vector<std::uint32_t> codes(1000);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint32_t>(i % 4);
    const std::vector<std::string> labels = {"a", "b", "c", "d"};
    EXPECT_TRUE(has_remark(verdict_of(even_rows(1000), 1, {codes, labels}), "independent rows"));
    EXPECT_FALSE(has_remark(verdict_of(even_rows(1000)), "independent rows"));
}

TEST(VerdictWords, AWorseForecastThanAConstantIsToldSo) {
    support::Sample sample = support::random_sample(2000, 141);
    std::reverse(sample.sigmas.begin(), sample.sigmas.end());  // right on average, wrong for every row
    const Verification v = verify(sample.errors, sample.sigmas);
    ASSERT_LT(v.crps_skill, 0);
    EXPECT_TRUE(has_remark(verdict(v), "would do better: its CRPS is"));
}

}  // namespace
}  // namespace accrue
