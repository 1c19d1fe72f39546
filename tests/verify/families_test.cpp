// Verification of forecasts of several families against plain sums over the rows.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "accrue/adapted.hpp"
#include "accrue/recalibrated.hpp"
#include "accrue/verify.hpp"
#include "core/random.hpp"
#include "support/families.hpp"
#include "support/samples.hpp"
#include "verify/scored_rows.hpp"

namespace accrue {
namespace {

TEST(VerifyFamilies, WithoutKnotsAgreesWithTheGaussian) {
    const support::Sample sample = support::random_sample(2000, 1, 1.2);
    const std::vector<double> weights = support::random_weights(2000, 2);
    const Verification gaussian = verify(sample.errors, sample.sigmas, weights);
    const std::vector<Standardised> maps = {support::recalibrated(Recalibrated::Knots::scores, {}, {})};
    const Verification other = verify(sample.errors, sample.sigmas, support::families(maps), weights);
    EXPECT_NEAR(other.crps, gaussian.crps, 1e-12);
    EXPECT_NEAR(other.crps_skill, gaussian.crps_skill, 1e-12);
    EXPECT_NEAR(other.rs, gaussian.rs, 1e-9);
    EXPECT_NEAR(other.calibration_error, gaussian.calibration_error, 1e-12);
    EXPECT_NEAR(other.sd_z, gaussian.sd_z, 1e-9);
    EXPECT_TRUE(std::isnan(other.nlpd));
    for (std::size_t l = 0; l < gaussian.coverage.size(); ++l) {
        EXPECT_EQ(other.coverage[l].observed, gaussian.coverage[l].observed);
        EXPECT_NEAR(other.coverage[l].mean_width, gaussian.coverage[l].mean_width, 1e-12);
        EXPECT_NEAR(other.coverage[l].interval_score, gaussian.coverage[l].interval_score, 1e-10);
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

TEST(VerifyFamilies, RecalibrationMendsSkewedErrors) {
    const Skewed past(20'000, 3);
    const Skewed future(20'000, 4);
    std::vector<double> scores;
    for (std::size_t i = 0; i < past.errors.size(); ++i) scores.push_back(past.errors[i] / past.sigmas[i]);
    const std::vector<Standardised> maps = {support::fitted(scores)};
    const Verification before = verify(future.errors, future.sigmas);
    // Errors about the recalibrated forecast's own mean, and its own sigma.
    std::vector<double> errors = future.errors;
    std::vector<double> sigmas = future.sigmas;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        errors[i] -= maps[0].u_mean() * sigmas[i];
        sigmas[i] *= maps[0].u_sd();
    }
    const Verification after = verify(errors, sigmas, support::families(maps));
    EXPECT_GT(before.calibration_error, 0.1);
    // Its floor is 0.6%; the map itself adds an error as large.
    EXPECT_LT(after.calibration_error, 0.02);
    EXPECT_LT(after.crps, before.crps);
    // The spread that the forecast claims is the one that errors about its mean have: of an exponential distribution's
    // standard deviation 20,000 rows tell 1%, on either side.
    EXPECT_NEAR(after.sharpness / after.rmse, 1, 0.05);
    for (const Coverage& c : after.coverage) EXPECT_NEAR(c.observed, c.level, 0.015);
    // The interval score of the truth's own quantiles is the least there is.
    EXPECT_LT(after.coverage[1].interval_score, before.coverage[1].interval_score);
}

TEST(VerifyFamilies, SkillAndBalanceAreOverTheConstantOfTheGaussian) {
    // A constant sigma around what was predicted, not around the recalibrated mean: that would make it worse the more
    // skewed the errors are, and the skill better.
    const Skewed rows(2000, 6);
    const Standardised family = support::recalibrated(Recalibrated::Knots::scores, {-2, 0.5, 9}, {-2, 0, 2});
    std::vector<double> errors, sigmas;
    for (std::size_t i = 0; i < rows.errors.size(); ++i) {
        errors.push_back(rows.errors[i] - family.u_mean() * rows.sigmas[i]);
        sigmas.push_back(family.u_sd() * rows.sigmas[i]);
    }
    const Verification gaussian = verify(rows.errors, rows.sigmas);
    const Verification other = verify(errors, sigmas, support::families({family}));
    EXPECT_GT(std::fabs(family.u_mean()), 0.5);
    EXPECT_NEAR(other.constant_sigma, gaussian.constant_sigma, 1e-9);
    EXPECT_NEAR(other.beta, gaussian.beta, 1e-9);
    EXPECT_NEAR((1 - other.crps_skill) / other.crps, (1 - gaussian.crps_skill) / gaussian.crps, 1e-9);
}

TEST(VerifyFamilies, ValuesAndCodesPickTheirRows) {
    const Skewed rows(3000, 5);
    const std::vector<Standardised> maps = {support::recalibrated(Recalibrated::Knots::scores, {-0.5}, {0}),
                                            support::recalibrated(Recalibrated::Knots::probabilities, {0.6}, {0.5})};
    std::vector<std::uint32_t> family_codes, group_codes;
    const std::vector<std::string> labels = {"a", "empty", "c"};
    for (std::size_t i = 0; i < 3000; ++i) {
        family_codes.push_back(i % 2);
        group_codes.push_back(i % 3 == 0 ? 0 : 2);
    }
    const std::vector<ColumnGrouping> by = {{"site", {group_codes, labels}}};
    const Verification v = verify(rows.errors, rows.sigmas, support::families(maps, family_codes), {}, {}, {}, by);
    ASSERT_EQ(v.by.size(), 1U);
    EXPECT_EQ(v.by[0].column, "site");
    ASSERT_EQ(v.by[0].values.size(), 2U);
    for (const Verification& group : v.by[0].values) {
        const std::uint32_t code = group.name == "a" ? 0 : 2;
        double crps = 0, width = 0, inside = 0, count = 0;
        for (std::size_t i = 0; i < 3000; ++i) {
            if (group_codes[i] != code) continue;
            const Standardised& family = maps[family_codes[i]];
            const double z = rows.errors[i] / rows.sigmas[i];
            crps += rows.sigmas[i] * family.crps(z);
            width += rows.sigmas[i] * (family.quantile(0.95) - family.quantile(0.05));
            inside += family.cdf(z) >= 0.05 && family.cdf(z) <= 0.95 ? 1 : 0;
            ++count;
        }
        EXPECT_NEAR(group.crps, crps / count, 1e-12);
        EXPECT_NEAR(group.coverage[1].mean_width, width / count, 1e-12);
        EXPECT_NEAR(group.coverage[1].observed, inside / count, 1e-12);
    }
}

// Rows that are looked at once and kept have the figures of rows that are looked at for each figure, digit by digit.
TEST(VerifyFamilies, ScoresThatAreKeptGiveTheSameFigures) {
    const Skewed rows(3000, 7);
    core::Random random(8);
    std::vector<double> parameters, moved;
    std::vector<std::uint32_t> codes;
    const SharedFamily inner = family("sinh-arcsinh");
    const Adapted adapted(family("logistic"));
    for (std::size_t i = 0; i < 3000; ++i) {
        const std::vector<double> values = {random.uniform(-0.5, 0.5), random.uniform(-0.3, 0.3)};
        parameters.insert(parameters.end(), {inner->mean(values), inner->sd(values), values[0], values[1]});
        const std::vector<double> move = {random.uniform(-0.5, 0.5), random.uniform(0.7, 1.4)};
        const Adapted::Moments moments = adapted.moments(move);
        moved.insert(moved.end(), {moments.mean, moments.sd, move[0], move[1]});
        codes.push_back(i % 2);
    }
    const std::vector<std::string> labels = {"a", "b"};
    const ColumnGrouping by{"half", {codes, labels}};
    VerifyOptions options;
    options.levels = {0.5, 0.9};
    for (const Families& families :
         {Families{{inner}, {}, parameters}, Families{{std::make_shared<Adapted>(adapted)}, {}, moved}}) {
        const Verification plain = verify(rows.errors, rows.sigmas, families, {}, {}, options, std::span(&by, 1));
        const RowFamilies own(families, 3000);
        const verification::FamilyScores scores(rows.errors, rows.sigmas, own, options.levels);
        const Verification kept = verification::verify_scored(scores.rows(), {}, {}, options, std::span(&by, 1));
        EXPECT_EQ(to_json(kept).dump(), to_json(plain).dump());
        ASSERT_EQ(kept.by[0].values.size(), 2U);
        EXPECT_EQ(kept.by[0].values[1].nlpd, plain.by[0].values[1].nlpd);
        EXPECT_EQ(kept.by[0].values[1].crps, plain.by[0].values[1].crps);
    }
}

}  // namespace
}  // namespace accrue
