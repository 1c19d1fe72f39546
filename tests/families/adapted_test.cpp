// Adapted families against their definition, the inner family and numerical integration.
#include "accrue/adapted.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "accrue/bounded.hpp"
#include "accrue/recalibrated.hpp"
#include "core/random.hpp"
#include "families/normal.hpp"
#include "families/split_integrals.hpp"

namespace accrue {
namespace {

struct Case {
    const char* name;
    SharedFamily inner;
    std::vector<double> values;  // of a row of the inner family
    bool shaped = false;
};

// What a shape adds at its knots: more weight on the left, and little in the middle.
const std::vector<double> kRises = {-0.4, -0.3, -0.25, -0.2, -0.3,  -0.28, -0.25, 0.1,
                                    0.12, 0.1,  0.05,  0.02, -0.05, -0.04, -0.06};

std::vector<Case> unshaped_cases() {
    core::Random random(7);
    std::vector<double> scores(150);
    for (double& score : scores) score = 0.3 + 1.2 * random.normal();
    return {{"normal", normal_family(), {}},
            {"logistic", family("logistic"), {}},
            {"sinh-arcsinh", family("sinh-arcsinh"), {0.3, 0.8}},
            {"two-piece-normal", family("two-piece-normal"), {0.4}},
            {"recalibrated", Recalibrated::fitted(scores), {}},
            {"censored", std::make_shared<Bounded>(Bounded::Kind::censored, Limits{.lower = 0}), {-0.7, 0.25}}};
}

// All of them, with a shape and without.
std::vector<Case> cases() {
    std::vector<Case> all = unshaped_cases();
    for (Case& one : unshaped_cases()) {
        one.shaped = true;
        all.push_back(one);
    }
    return all;
}

std::vector<double> moved(const Case& one, double shift, double scale) {
    std::vector<double> values = one.values;
    values.insert(values.end(), {shift, scale});
    if (one.shaped) values.insert(values.end(), kRises.begin(), kRises.end());
    return values;
}

TEST(Adapted, ShiftZeroAndScaleOneChangeNothing) {
    for (const Case& one : unshaped_cases()) {
        const Adapted family(one.inner, one.shaped);
        const std::vector<double> values = moved(one, 0, 1);
        // Both quadratures are right to about 1e-9 of the standard deviation.
        EXPECT_NEAR(family.mean(values), one.inner->mean(one.values), 2e-8) << one.name;
        EXPECT_NEAR(family.sd(values), one.inner->sd(one.values), 2e-8) << one.name;
        for (const double u : {-0.5, 0.1, 1.7}) {
            EXPECT_NEAR(family.crps(u, values), one.inner->crps(u, one.values), 2e-8) << one.name << " " << u;
            EXPECT_NEAR(family.cdf(u, values), one.inner->cdf(u, one.values), 1e-14) << one.name << " " << u;
            EXPECT_NEAR(family.log_pdf(u, values), one.inner->log_pdf(u, one.values), 1e-12) << one.name << " " << u;
        }
    }
}

TEST(Adapted, QuantilesAreThoseOfTheInnerFamilyAtMovedScores) {
    for (const Case& one : unshaped_cases()) {
        const Adapted family(one.inner, one.shaped);
        const std::vector<double> values = moved(one, 0.4, 1.3);
        for (const double p : {0.001, 0.1, 0.5, 0.9, 0.999}) {
            const double score = 0.4 + 1.3 * families::normal_quantile(p);
            const double inner = families::normal_cdf(score);
            // A quantile and a cdf, a few roundings each, of which quantiles in the tails keep 1e-12.
            EXPECT_NEAR(family.quantile(p, values), one.inner->quantile(inner, one.values), 1e-9) << one.name;
        }
        for (const double u : {0.2, 1.5}) {
            EXPECT_NEAR(family.of_normal_score(family.normal_score(u, values), values), u, 1e-9) << one.name;
            EXPECT_NEAR(family.cdf(u, values) + family.survival(u, values), 1, 1e-14) << one.name;
        }
    }
}

TEST(Adapted, AShapeWithoutRisesChangesNothing) {
    for (const Case& one : unshaped_cases()) {
        const Adapted plain(one.inner);
        const Adapted shaped(one.inner, true);
        const std::vector<double> without = moved(one, 0.4, 1.3);
        std::vector<double> values = without;
        values.resize(values.size() + Adapted::kShapeValues);
        EXPECT_EQ(parameters_per_row(shaped), 2 + values.size());
        // Quadratures of both, right to about 1e-9 of the standard deviation.
        EXPECT_NEAR(shaped.mean(values), plain.mean(without), 2e-8) << one.name;
        EXPECT_NEAR(shaped.sd(values), plain.sd(without), 2e-8) << one.name;
        for (const double u : {-0.5, 0.1, 1.7}) {
            EXPECT_NEAR(shaped.crps(u, values), plain.crps(u, without), 2e-8) << one.name << " " << u;
            EXPECT_NEAR(shaped.cdf(u, values), plain.cdf(u, without), 1e-14) << one.name << " " << u;
            EXPECT_NEAR(shaped.log_pdf(u, values), plain.log_pdf(u, without), 1e-12) << one.name << " " << u;
            EXPECT_NEAR(shaped.quantile(0.3, values), plain.quantile(0.3, without), 1e-9) << one.name;
        }
    }
}

// At the knots, probabilities of k/16 by the moved forecast, it adds what it says; beyond them tails are the
// forecast's.
TEST(Adapted, AShapeAddsItsRisesAtTheKnots) {
    const Adapted plain(family("logistic"));
    const Adapted shaped(family("logistic"), true);
    const std::vector<double> without = {0.4, 1.3};
    std::vector<double> values = without;
    values.insert(values.end(), kRises.begin(), kRises.end());
    const auto rise = [&](double score) {
        return shaped.normal_score(plain.of_normal_score(score, without), values) - score;
    };
    for (std::size_t k = 0; k < kRises.size(); ++k)
        EXPECT_NEAR(rise(families::normal_quantile(static_cast<double>(k + 1) / 16)), kRises[k], 1e-9) << k;
    EXPECT_NEAR(rise(-5), kRises.front(), 1e-9);
    EXPECT_NEAR(rise(4), kRises.back(), 1e-9);
}

// The crps is 2 x the integral of the pinball loss of all quantiles: by mid-points of 20,000, which leaves about 1e-4.
TEST(Adapted, CrpsIsThatOfItsQuantiles) {
    for (const Case& one : cases()) {
        const Adapted family(one.inner, one.shaped);
        const std::vector<double> values = moved(one, -0.3, 0.8);
        for (const double u : {-0.6, 0.9}) {
            constexpr int kLevels = 20'000;
            double sum = 0;
            double mean = 0;
            for (int k = 0; k < kLevels; ++k) {
                const double p = (k + 0.5) / kLevels;
                const double quantile = family.quantile(p, values);
                sum += 2 * std::max(p * (u - quantile), (p - 1) * (u - quantile)) / kLevels;
                mean += quantile / kLevels;
            }
            EXPECT_NEAR(family.crps(u, values), sum, 2e-4) << one.name;
            EXPECT_NEAR(family.mean(values), mean, 1e-3) << one.name;
        }
    }
}

// Around maps that are long in the scores of their family and short in their own, and around others, against integrals
// that are split wherever the forecast may bend.
TEST(Adapted, CrpsIsThatOfSplitIntegrals) {
    core::Random random(9);
    std::vector<double> gap(300), dry(300, -0.2);
    for (std::size_t i = 0; i < gap.size(); ++i) gap[i] = (i % 2 == 0 ? -3.5 : 4) + 0.3 * random.normal();
    for (std::size_t i = 0; i < 10; ++i) dry[i] = 0.5 * static_cast<double>(i);
    std::vector<Case> all = cases();
    all.push_back({"student-t", family("student-t"), {std::log(2.5)}});
    for (const Case& one : all) {
        if (one.inner->recalibrated()) continue;
        for (const std::vector<double>& scores : {std::vector<double>{}, gap, dry}) {
            const auto map = scores.empty() ? nullptr : Recalibrated::fitted(scores, {}, one.inner);
            const Adapted family(map != nullptr ? SharedFamily(map) : one.inner, one.shaped);
            for (const double scale : {0.6, 1.0, 1.7}) {
                if (one.inner->power_tails() && scale > 1) continue;  // moments may not exist
                SCOPED_TRACE(testing::Message() << one.name << " " << scores.size() << " " << scale << one.shaped);
                const std::vector<double> values = moved(one, 0.2, scale);
                std::vector<double> knots;
                if (map != nullptr)
                    for (const double v : map->jumps(one.values))
                        knots.push_back(one.inner->normal_score(map->of_normal_score(v, one.values), one.values));
                std::vector<double> us;
                for (const double z : {-3.0, -0.5, 0.0, 0.3, 1.0, 4.0}) us.push_back(family.of_normal_score(z, values));
                const test::SplitIntegrals exact =
                    test::split_integrals(family, values, *one.inner, one.values, knots, us);
                for (std::size_t i = 0; i < us.size(); ++i)
                    EXPECT_NEAR(family.crps(us[i], values), exact.crps[i], 3e-9 * exact.crps[i]) << us[i];
            }
        }
    }
}

// Against sums over 20,000 normal scores, which are right to the square of their distance, 6e-7, times some second
// derivative: larger for a scale that is.
TEST(Adapted, QuadraturesAreThoseOfManyNodes) {
    for (const Case& one : cases()) {
        const Adapted family(one.inner, one.shaped);
        for (const double scale : {0.6, 1.0, 1.7, 3.0}) {
            const std::vector<double> values = moved(one, 0.2, scale);
            const auto sums = [&](double from, double to, auto use) {
                constexpr int kNodes = 10'000;
                const double step = (to - from) / kNodes;
                double before = family.of_normal_score(from, values);
                for (int k = 0; k < kNodes; ++k) {
                    const double after = family.of_normal_score(from + (k + 1) * step, values);
                    use(from + (k + 0.5) * step, step, (before + after) / 2, after - before);
                    before = after;
                }
            };
            const double y = family.of_normal_score(0.45, values);
            const double at = family.upper_normal_score(y, values);
            double mean = 0;
            double square = 0;
            double crps = 0;
            for (const bool above : {false, true})
                sums(above ? at : -8, above ? 8 : at, [&](double z, double step, double u, double rise) {
                    mean += families::normal_pdf(z) * step * u;
                    square += families::normal_pdf(z) * step * u * u;
                    const double p = families::normal_cdf(above ? -z : z);
                    crps += p * p * rise;
                });
            const double sd = std::sqrt(square - mean * mean);
            EXPECT_NEAR(family.mean(values), mean, 3e-6 * sd) << one.name << " " << scale;
            EXPECT_NEAR(family.sd(values), sd, 3e-6 * sd) << one.name << " " << scale;
            EXPECT_NEAR(family.crps(y, values), crps, 3e-6 * sd) << one.name << " " << scale;
        }
    }
}

// An observation beyond the outermost score, which rounding may put beyond kFarthest itself: as far from the mean as it
// is, less what the forecast is wide.
TEST(Adapted, CrpsOfAnObservationBeyondAllScoresIsFinite) {
    core::Random random(8);
    for (const Case& one : cases()) {
        const Adapted family(one.inner, one.shaped);
        for (int k = 0; k < 200; ++k) {
            const std::vector<double> values = moved(one, random.normal(), 0.5 + random.uniform());
            for (const double side : {-1, 1}) {
                const double last = family.of_normal_score(side * Adapted::kFarthest, values);
                const double at_last = family.crps(last, values);
                ASSERT_TRUE(std::isfinite(at_last)) << one.name << " " << k;
                // From there on it grows as the distance does, but for what lies beyond the outermost score.
                EXPECT_NEAR(family.crps(last + 3 * side, values), at_last + 3, 1e-8) << one.name << " " << k;
            }
        }
    }
}

// Tails so heavy that the scale leaves them no variance: that between the outermost scores, as ever.
TEST(Adapted, MomentsThatDoNotExistEndAtTheOutermostScores) {
    const Adapted family(accrue::family("student-t"));
    std::vector<double> values;
    for (const auto& parameter : accrue::family("student-t")->further()) values.push_back(parameter.low);
    values.insert(values.end(), {0.0, 1.5});
    const double last = family.of_normal_score(Adapted::kFarthest, values);
    EXPECT_GT(family.sd(values), 1);
    EXPECT_LT(family.sd(values), last);
    EXPECT_TRUE(std::isfinite(family.crps(2, values)));
}

TEST(Adapted, AMovedGaussianIsAGaussian) {
    const Adapted family(normal_family());
    const std::vector<double> values = {0.5, 2};
    EXPECT_EQ(family.mean(values), 0.5);
    EXPECT_EQ(family.sd(values), 2);
    EXPECT_DOUBLE_EQ(family.crps(1.5, values), 2 * normal_family()->crps(0.5, {}));
    EXPECT_EQ(parameters_per_row(family), 4U);
}

// Many scores at once, in rising order and not, are each by itself.
TEST(Adapted, ManyScoresAreThoseOfEach) {
    const std::vector<double> z = {-9, -3, -0.4, 0, 0.01, 0.7, 2.5, 9, -1, 3, 0.3};
    for (const Case& one : cases()) {
        const Adapted family(one.inner, one.shaped);
        const std::vector<double> values = moved(one, 0.3, 1.2);
        std::vector<double> u(z.size()), slopes(z.size());
        family.of_normal_scores(z, values, u.data(), slopes.data());
        constexpr double kStep = 1e-6;
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double at = family.of_normal_score(z[i], values);
            // The cubics of the logistic family are right to 1e-10.
            EXPECT_NEAR(u[i], at, 1e-9 * (1 + std::fabs(at))) << one.name << " " << z[i];
            if (std::fabs(z[i]) > 4) continue;  // where some families have lost the digits for a difference
            // The slope lies between the differences on both sides, but for their rounding and the curvature.
            const double left = (at - family.of_normal_score(z[i] - kStep, values)) / kStep;
            const double right = (family.of_normal_score(z[i] + kStep, values) - at) / kStep;
            EXPECT_GE(slopes[i], std::min(left, right) - 1e-4 * (1 + std::fabs(at))) << one.name << " " << z[i];
            EXPECT_LE(slopes[i], std::max(left, right) + 1e-4 * (1 + std::fabs(at))) << one.name << " " << z[i];
        }
    }
}

// Sums over the knots of a map in place of quadratures: against those of the map itself, which add positive parts only,
// where the forecast has not moved; an observation far out and one between knots.
TEST(Adapted, SumsOverKnotsAreThoseOfTheMap) {
    core::Random random(11);
    for (const std::size_t rows : {std::size_t{1}, std::size_t{2}, std::size_t{30}, std::size_t{5000}}) {
        std::vector<double> scores(rows);
        for (double& score : scores) score = std::expm1(random.normal());
        const auto map = Recalibrated::fitted(scores);
        const Adapted family(map);
        const std::vector<double> values = {0, 1};
        // 600 terms of numbers up to ten, each right to 3e-16.
        EXPECT_NEAR(family.mean(values), map->mean({}), 1e-11 * map->sd({})) << rows;
        EXPECT_NEAR(family.sd(values), map->sd({}), 1e-11 * map->sd({})) << rows;
        for (const double u : {-400.0, -2.0, 0.013, 0.4, 5.0, 1e6})
            EXPECT_NEAR(family.crps(u, values), map->crps(u, {}), 1e-11 * (map->sd({}) + std::fabs(u)))
                << rows << " " << u;
    }
}

// Central differences with a step of 1e-5: their error is about 1e-10 and rounding 1e-10.
TEST(Adapted, SlopesAreDerivatives) {
    constexpr double kStep = 1e-5;
    for (const Case& one : cases()) {
        const Adapted family(one.inner, one.shaped);
        const std::vector<double> values = moved(one, 0.4, 1.3);
        const double u = 0.37;
        const auto difference = [&](auto value) { return (value(u + kStep) - value(u - kStep)) / (2 * kStep); };
        EXPECT_NEAR(difference([&](double at) { return family.normal_score(at, values); }),
                    family.normal_score_slope(u, values), 1e-7)
            << one.name;
        EXPECT_NEAR(difference([&](double at) { return family.cdf(at, values); }), family.pdf(u, values), 1e-7)
            << one.name;
        if (!one.inner->has_density()) continue;
        EXPECT_NEAR(difference([&](double at) { return family.log_pdf(at, values); }), family.log_pdf_slope(u, values),
                    1e-7)
            << one.name;
    }
}

}  // namespace
}  // namespace accrue
