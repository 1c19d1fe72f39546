// The figures of verify() on cases that can be worked out by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/scores.hpp"
#include "accrue/verify.hpp"
#include "support/samples.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

// The error, in sigmas, whose PIT is p.
double z_of(double p) {
    return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p);
}

Numbers errors_of(const Numbers& pits) {
    Numbers errors;
    for (const double p : pits) errors.push_back(z_of(p));
    return errors;
}

Verification verify_pits(const Numbers& pits, const Numbers& weights = {}) {
    return verify(errors_of(pits), Numbers(pits.size(), 1.0), weights);
}

// erf and its inverse round a few times.
constexpr double kPitError = 1e-15;

TEST(Figures, PitIsTheNormalCdfOfZ) {
    const Numbers errors = {0, 1, -1, 3, -1e300, 1e300, 2};
    const Numbers sigmas = {2, 1, 1, 2, 1, 1, 4};
    const Numbers p = pit(errors, sigmas);
    for (std::size_t i = 0; i < p.size(); ++i)
        EXPECT_NEAR(p[i], std::erfc(-errors[i] / sigmas[i] / std::numbers::sqrt2) / 2, kPitError);
    EXPECT_EQ(p[0], 0.5);
    EXPECT_EQ(p[4], 0);
    EXPECT_EQ(p[5], 1);
}

TEST(Figures, CalibrationErrorIsTheLargestDistanceOnEitherSideOfAJump) {
    EXPECT_NEAR(verify_pits({0.5}).calibration_error, 0.5, kPitError);
    EXPECT_NEAR(verify_pits({0.9}).calibration_error, 0.9, kPitError);
    EXPECT_NEAR(verify_pits({0.25, 0.75}).calibration_error, 0.25, kPitError);
    // cdf: 1/4 at 0.1, 2/4 at 0.2, 3/4 at 0.3, 1 at 0.9: largest just below 0.9? 0.9 - 0.75 = 0.15; at 0.3: 0.45.
    EXPECT_NEAR(verify_pits({0.3, 0.1, 0.9, 0.2}).calibration_error, 0.45, kPitError);
    // Below the diagonal: just before 0.8 the cdf is still 0.
    EXPECT_NEAR(verify_pits({0.95, 0.8, 0.9}).calibration_error, 0.8, kPitError);
}

TEST(Figures, TiedPitsMakeOneJump) {
    // cdf jumps from 0 to 3/4 at 0.4: 0.4 below, 0.35 above.
    EXPECT_NEAR(verify_pits({0.4, 0.4, 0.4, 0.9}).calibration_error, 0.4, kPitError);
    EXPECT_NEAR(verify_pits({0.2, 0.2, 0.2, 0.9}).calibration_error, 0.55, kPitError);
}

TEST(Figures, WeightsMakeTheJumps) {
    // Weights 6, 3, 1: the cdf is 0.3 at 0.3, 0.9 at 0.5, 1 at 0.7.
    EXPECT_NEAR(verify_pits({0.5, 0.3, 0.7}, {6, 3, 1}).calibration_error, 0.4, kPitError);
    // A row without weight changes nothing.
    EXPECT_NEAR(verify_pits({0.5, 0.3, 0.7, 0.99}, {6, 3, 1, 0}).calibration_error, 0.4, kPitError);
    // Tied and weighted.
    EXPECT_NEAR(verify_pits({0.2, 0.2, 0.7}, {1, 6, 3}).calibration_error, 0.5, kPitError);
}

TEST(Figures, CalibrationFloorAndPValueComeFromTheKolmogorovDistribution) {
    const Verification v = verify_pits({0.1, 0.4, 0.45, 0.8, 0.95});
    EXPECT_DOUBLE_EQ(v.calibration_floor, kolmogorov_quantile(5, 0.5));
    EXPECT_DOUBLE_EQ(v.calibration_p_value, kolmogorov_survival(5, v.calibration_error));
}

TEST(Figures, CoverageAndIntervalScoreAreTheirFormulas) {
    const support::Sample sample = support::random_sample(2500, 91, 1.2);
    const Numbers weights = support::random_weights(2500, 92);
    for (const bool weighted : {false, true}) {
        VerifyOptions options;
        options.levels = {0.05, 0.5, 0.9, 0.999};
        const Verification v = verify(sample.errors, sample.sigmas, weighted ? weights : Numbers{}, {}, options);
        ASSERT_EQ(v.coverage.size(), options.levels.size());
        for (std::size_t k = 0; k < options.levels.size(); ++k) {
            const double level = options.levels[k];
            const double alpha = 1 - level;
            long double total = 0, inside = 0, width = 0, score = 0;
            for (std::size_t i = 0; i < sample.errors.size(); ++i) {
                const double w = weighted ? weights[i] : 1;
                // The interval, and the observation with the prediction at 0.
                const double low = z_of(alpha / 2) * sample.sigmas[i];
                const double high = z_of(1 - alpha / 2) * sample.sigmas[i];
                const double y = sample.errors[i];
                total += w;
                inside += low <= y && y <= high ? w : 0;
                width += w * (high - low);
                score +=
                    w * (high - low + (y < low ? 2 / alpha * (low - y) : 0) + (y > high ? 2 / alpha * (y - high) : 0));
            }
            SCOPED_TRACE(level);
            EXPECT_EQ(v.coverage[k].level, level);
            // 2,500 rows: sums that round about a thousand times, and 2/alpha is up to 2,000.
            EXPECT_NEAR(v.coverage[k].observed, static_cast<double>(inside / total), 1e-13);
            EXPECT_NEAR(v.coverage[k].mean_width, static_cast<double>(width / total), 1e-12);
            EXPECT_NEAR(v.coverage[k].interval_score, static_cast<double>(score / total), 1e-12);
        }
    }
}

TEST(Figures, AnObservationOnTheEdgeOfAnIntervalIsInside) {
    VerifyOptions options;
    options.levels = {0.5};
    const double edge = std::numbers::sqrt2 * boost::math::erf_inv(0.5);
    const Numbers one = {1.0};
    EXPECT_EQ(verify(Numbers{edge}, one, {}, {}, options).coverage[0].observed, 1);
    EXPECT_EQ(verify(Numbers{-edge}, one, {}, {}, options).coverage[0].observed, 1);
    EXPECT_EQ(verify(Numbers{std::nextafter(edge, 2.0)}, one, {}, {}, options).coverage[0].observed, 0);
}

TEST(Figures, BiasDispersionSharpnessAndRmseAreTheirFormulas) {
    const Numbers errors = {1, -2, 6};
    const Numbers sigmas = {1, 2, 3};  // z = 1, -1, 2
    const Verification v = verify(errors, sigmas);
    EXPECT_DOUBLE_EQ(v.mean_z, 2.0 / 3);
    EXPECT_DOUBLE_EQ(v.sd_z, std::sqrt((1.0 / 9 + 25.0 / 9 + 16.0 / 9) / 3));
    EXPECT_DOUBLE_EQ(v.sharpness, std::sqrt(14.0 / 3));
    EXPECT_DOUBLE_EQ(v.rmse, std::sqrt(41.0 / 3));
    const Verification w = verify(errors, sigmas, Numbers{2, 1, 1});
    EXPECT_DOUBLE_EQ(w.mean_z, 3.0 / 4);
    EXPECT_DOUBLE_EQ(w.sd_z, std::sqrt((2 * 1.0 / 16 + 49.0 / 16 + 25.0 / 16) / 4));
    EXPECT_DOUBLE_EQ(w.sharpness, std::sqrt(15.0 / 4));
    EXPECT_DOUBLE_EQ(w.rmse, std::sqrt(42.0 / 4));
    EXPECT_DOUBLE_EQ(w.effective_rows, 16.0 / 6);
}

TEST(Figures, ScoresAreThoseOfTheScoresRoom) {
    const support::Sample sample = support::random_sample(3000, 93);
    const Numbers weights = support::random_weights(3000, 94);
    const Verification v = verify(sample.errors, sample.sigmas, weights);
    EXPECT_EQ(v.beta, balanced_beta(sample.errors, weights));
    const AccuracyReliability ar = accuracy_reliability(sample.errors, sample.sigmas, v.beta, weights);
    // The same terms of order 1, summed in another order: over blocks of rows, and over sorted rows.
    constexpr double kRounding = 1e-15;
    EXPECT_NEAR(v.ar, ar.value, kRounding);
    EXPECT_NEAR(v.crps, ar.crps, kRounding);
    EXPECT_NEAR(v.rs, ar.rs, kRounding);
    EXPECT_NEAR(v.nlpd, mean_nlpd(sample.errors, sample.sigmas, weights), kRounding);
    EXPECT_EQ(v.rs_floor, reliability_floor(effective_rows(3000, weights)));
    EXPECT_EQ(v.constant_sigma, best_constant_sigma(sample.errors, weights));
    const double constant = mean_crps(sample.errors, Numbers(3000, v.constant_sigma), weights);
    EXPECT_NEAR(v.crps_skill, 1 - v.crps / constant, 1e-14);
    EXPECT_GT(v.crps_skill, 0.02) << "the sample's sigma is the right one, a constant is not";
}

TEST(Figures, TheBestConstantSigmaHasNoSkillAndEveryOtherConstantLess) {
    const support::Sample sample = support::random_sample(500, 95);
    const double best = best_constant_sigma(sample.errors);
    EXPECT_NEAR(verify(sample.errors, Numbers(500, best)).crps_skill, 0, 1e-14);
    EXPECT_LT(verify(sample.errors, Numbers(500, 1.2 * best)).crps_skill, 0);
    EXPECT_LT(verify(sample.errors, Numbers(500, 0.8 * best)).crps_skill, 0);
}

TEST(Figures, SkillIsUndefinedWhenAConstantIsPerfect) {
    const Verification v = verify(Numbers{0, 0, 0}, Numbers{1, 1, 1});
    EXPECT_EQ(v.constant_sigma, 0);
    EXPECT_TRUE(std::isnan(v.crps_skill));
}

TEST(Figures, TheSignBoundIsHalfLessTheShareOfNegativeErrors) {
    const Numbers ones(4, 1.0);
    EXPECT_DOUBLE_EQ(verify(Numbers{1, 2, 3, 4}, ones).sign_bound, 0.5);
    EXPECT_DOUBLE_EQ(verify(Numbers{-1, 2, 3, 4}, ones).sign_bound, 0.25);
    EXPECT_DOUBLE_EQ(verify(Numbers{-1, -2, 3, 4}, ones).sign_bound, 0);
    EXPECT_DOUBLE_EQ(verify(Numbers{-1, -2, 3, 4}, ones, Numbers{1, 1, 1, 5}).sign_bound, 0.25);
    // Errors of exactly zero have PIT 1/2 whatever sigma is: the cdf jumps there from 1/4 to 1.
    EXPECT_DOUBLE_EQ(verify(Numbers{-1, 0, 0, 0}, ones).sign_bound, 0.5);
}

TEST(Figures, NoSigmaBeatsTheSignBound) {
    core::Random random(96);
    for (int run = 0; run < 200; ++run) {
        Numbers errors, sigmas;
        for (int i = 0; i < 30; ++i) {
            errors.push_back(random.normal() + 0.7);
            sigmas.push_back(std::exp(random.normal()));
        }
        const Verification v = verify(errors, sigmas);
        EXPECT_GE(v.calibration_error, v.sign_bound - kPitError);
    }
}

TEST(Figures, OneTwoAndThreeRowsWork) {
    for (const std::size_t n : {1U, 2U, 3U})
        for (const bool weighted : {false, true}) {
            const support::Sample sample = support::random_sample(n, 97);
            const Numbers weights = support::random_weights(n, 98);
            const Verification v = verify(sample.errors, sample.sigmas, weighted ? weights : Numbers{});
            EXPECT_EQ(v.rows, n);
            for (const double x : {v.crps, v.nlpd, v.rs, v.ar, v.beta, v.calibration_error, v.calibration_floor,
                                   v.calibration_p_value, v.mean_z, v.sd_z, v.sharpness, v.rmse})
                EXPECT_TRUE(std::isfinite(x));
            EXPECT_GT(v.calibration_p_value, 0);
            EXPECT_LE(v.calibration_p_value, 1);
            EXPECT_GT(v.calibration_floor, 0);
            EXPECT_LT(v.calibration_floor, 1);
            EXPECT_FALSE(verdict(v).summary.empty());
        }
}

TEST(Figures, IntegerWeightsAreRepeatedRowsButForTheFloors) {
    const support::Sample sample = support::random_sample(200, 99);
    Numbers weights, errors, sigmas;
    for (std::size_t i = 0; i < 200; ++i) {
        weights.push_back(static_cast<double>(i % 4));
        errors.insert(errors.end(), i % 4, sample.errors[i]);
        sigmas.insert(sigmas.end(), i % 4, sample.sigmas[i]);
    }
    const Verification v = verify(sample.errors, sample.sigmas, weights);
    const Verification r = verify(errors, sigmas);
    // Sums of hundreds of terms in another order.
    const double tolerance = 1e-13;
    EXPECT_NEAR(v.crps, r.crps, tolerance);
    EXPECT_NEAR(v.crps_skill, r.crps_skill, tolerance);
    EXPECT_NEAR(v.nlpd, r.nlpd, tolerance);
    EXPECT_NEAR(v.rs, r.rs, tolerance);
    EXPECT_NEAR(v.calibration_error, r.calibration_error, tolerance);
    EXPECT_NEAR(v.sign_bound, r.sign_bound, tolerance);
    EXPECT_NEAR(v.mean_z, r.mean_z, tolerance);
    EXPECT_NEAR(v.sd_z, r.sd_z, tolerance);
    EXPECT_NEAR(v.sharpness, r.sharpness, tolerance);
    EXPECT_NEAR(v.coverage[1].interval_score, r.coverage[1].interval_score, 1e-12);
    EXPECT_LT(v.effective_rows, static_cast<double>(r.rows));
    EXPECT_GT(v.calibration_floor, r.calibration_floor);
}

TEST(Figures, OnlyTheRatiosOfWeightsMatter) {
    const support::Sample sample = support::random_sample(400, 100);
    Numbers weights = support::random_weights(400, 101);
    std::vector<std::uint32_t> codes(400);
    for (std::size_t i = 0; i < 400; ++i) codes[i] = static_cast<std::uint32_t>(i % 5);
    const std::vector<std::string> labels = {"a", "b", "c", "d", "e"};
    const auto numbers = [&](double scale) {
        Numbers scaled = weights;
        for (double& w : scaled) w *= scale;
        const std::vector<ColumnGrouping> by = {{"site", {codes, labels}}};
        const auto json = to_json(verify(sample.errors, sample.sigmas, scaled, {codes, labels}, {}, by));
        return nlohmann::json::parse(json.dump()).flatten();
    };
    const auto expected = numbers(1);
    for (const double scale : {1e-200, 1e200}) {
        const auto found = numbers(scale);
        ASSERT_EQ(found.size(), expected.size());
        for (const auto& [key, value] : expected.items()) {
            if (!value.is_number()) {
                EXPECT_EQ(found.at(key), value) << key;
                continue;
            }
            // Every weight was rounded once more; quantiles are searched to 1e-12.
            EXPECT_NEAR(found.at(key).get<double>(), value.get<double>(), 1e-10 * (1 + std::fabs(value.get<double>())))
                << key;
        }
    }
}

TEST(Figures, WeightsThatAreAllEqualAreNoWeights) {
    // Also for the floor and the p-value, although the effective number of rows is then no longer whole.
    const support::Sample sample = support::random_sample(97, 102);
    const Verification plain = verify(sample.errors, sample.sigmas);
    for (const double w : {0.1, 1 / 3.0, 7.7}) {
        const Verification v = verify(sample.errors, sample.sigmas, Numbers(97, w));
        EXPECT_NEAR(v.effective_rows, 97, 1e-11);
        EXPECT_NEAR(v.calibration_floor, plain.calibration_floor, 1e-12);
        EXPECT_NEAR(v.calibration_p_value, plain.calibration_p_value, 1e-11);
        EXPECT_NEAR(v.calibration_error, plain.calibration_error, 1e-14);
        EXPECT_NEAR(v.rs_floor, plain.rs_floor, 1e-15);
    }
}

TEST(Figures, BadInputIsRefusedWithTheRow) {
    const Numbers three = {1, 2, 3};
    const auto refusal = [](auto work) -> std::string {
        try {
            work();
        } catch (const InputError& error) {
            return error.what();
        }
        ADD_FAILURE() << "nothing was refused";
        return "";
    };
    EXPECT_EQ(refusal([&] { verify(three, Numbers{1, 0, 1}); }), "sigma of row 2 is 0, but must be positive");
    EXPECT_EQ(refusal([&] { verify(three, Numbers{1, 1, -1}); }), "sigma of row 3 is -1, but must be positive");
    EXPECT_EQ(refusal([&] {
                  verify(three, Numbers{std::nan(""), 1, 1});
              }),
              "sigma of row 1 is nan, but must be positive");
    EXPECT_EQ(refusal([&] { verify(three, Numbers{1, 1}); }), "there are 3 errors, but 2 sigmas");
    EXPECT_EQ(refusal([&] { verify(three, three, Numbers{1, 1}); }), "there are 2 weights, but 3 errors");
    EXPECT_EQ(refusal([&] {
                  verify(three, three, Numbers{1, -1, 1});
              }),
              "weight of row 2 is -1, but must not be negative");
    EXPECT_EQ(refusal([&] { verify(Numbers{}, Numbers{}); }), "there are no rows to verify");
    for (const double level : {0.0, 1.0, -0.5, std::nan("")}) {
        VerifyOptions options;
        options.levels = {level};
        EXPECT_NE(refusal([&] { verify(three, three, {}, {}, options); }).find("a level must be between 0 and 1"),
                  std::string::npos);
    }
    VerifyOptions options;
    options.diagram_points = 1;
    EXPECT_NE(refusal([&] { verify(three, three, {}, {}, options); }), "");
    const std::vector<std::uint32_t> codes = {0, 1, 2};
    const std::vector<std::string> labels = {"a", "b"};
    EXPECT_EQ(refusal([&] {
                  verify(three, three, {}, {codes, labels});
              }),
              "row 3 has group code 2, but there are 2 labels");
    EXPECT_NE(refusal([&] { verify(three, three, {}, {std::span(codes).first(2), labels}); }), "");
    EXPECT_NE(refusal([&] { verify(three, three, {}, {{}, labels}); }), "");
    EXPECT_NE(refusal([&] { verify(three, three, {}, {codes, {}}); }), "");
    const std::vector<ColumnGrouping> by = {{"site", {codes, labels}}};
    EXPECT_EQ(refusal([&] { verify(three, three, {}, {}, {}, by); }),
              "row 3 has 'site' code 2, but there are 2 labels");
    const std::vector<ColumnGrouping> none = {{"site", {}}};
    EXPECT_EQ(refusal([&] { verify(three, three, {}, {}, {}, none); }), "column 'site' has no values");
}

TEST(Figures, TheJsonHasTheSameBytesForAnyNumberOfThreads) {
    const std::size_t n = 20001;
    const support::Sample sample = support::random_sample(n, 103);
    const Numbers weights = support::random_weights(n, 104);
    std::vector<std::uint32_t> codes(n);
    std::vector<std::string> labels;
    for (int g = 0; g < 20; ++g) labels.push_back(fmt::format("site {}", g));
    for (std::size_t i = 0; i < n; ++i) codes[i] = static_cast<std::uint32_t>((i * i) % 20);
    for (const bool weighted : {false, true})
        support::expect_same_for_any_threads([&] {
            const std::vector<ColumnGrouping> by = {{"site", {codes, labels}}};
            return to_json(
                       verify(sample.errors, sample.sigmas, weighted ? weights : Numbers{}, {codes, labels}, {}, by))
                .dump();
        });
}

TEST(Figures, PitOfWhatIsNoNumberIsNone) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    const Numbers p = pit(Numbers{nan, 0, nan, inf, 0, inf, -inf}, Numbers{1, nan, nan, inf, 1, 1, 1});
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(p[i])) << i << ": " << p[i];
    EXPECT_EQ(p[4], 0.5);
    EXPECT_EQ(p[5], 1);
    EXPECT_EQ(p[6], 0);
}

}  // namespace
}  // namespace accrue
