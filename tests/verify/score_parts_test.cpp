// Scores at thresholds and levels, and the parts of scores, against plain definitions.
#include "verify/score_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <numeric>

#include "accrue/bounded.hpp"
#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "support/families.hpp"
#include "verify/isotonic.hpp"
#include "verify/pooling.hpp"

namespace accrue::verification {
namespace {

using Values = std::vector<double>;

struct Rows {
    Values mean, sigma, y, weight;
};

Rows drawn(std::size_t n, bool weighted, std::uint64_t seed, bool ties = false) {
    core::Random random(seed);
    Rows rows;
    for (std::size_t i = 0; i < n; ++i) {
        rows.mean.push_back(ties ? std::round(2 * random.normal()) : 2 * random.normal());
        rows.sigma.push_back(ties ? 1 : std::exp(0.3 * random.normal()));
        const double y = rows.mean.back() + 1.5 * rows.sigma.back() * random.normal();
        rows.y.push_back(ties ? std::round(y) : y);
        if (weighted) rows.weight.push_back(static_cast<double>(random.below(4)) + (i == 0 ? 1 : 0));
    }
    return rows;
}

double weight_of(const Rows& rows, std::size_t i) {
    return rows.weight.empty() ? 1 : rows.weight[i];
}

double total(const Rows& rows) {
    return rows.weight.empty() ? static_cast<double>(rows.y.size())
                               : std::accumulate(rows.weight.begin(), rows.weight.end(), 0.0);
}

FamilyRows normal_rows(const Rows& rows) {
    return {rows.mean, rows.sigma, Families{{normal_family()}}};
}

double normal_cdf(double z) {
    return std::erfc(-z / std::sqrt(2.0)) / 2;
}

// The nondecreasing fit of what happened at its definition: the greatest of least means.
struct Brier {
    double score, miscalibration, discrimination, uncertainty;
};
Brier brier_by_definition(const Values& p, const std::vector<bool>& happened, const Rows& rows) {
    const std::size_t n = p.size();
    Values places = p;
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    Values weight(places.size() + 1), hits(places.size() + 1);
    double all = 0, share = 0, score = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = weight_of(rows, i);
        const auto at = static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), p[i]) - places.begin());
        weight[at + 1] += w;
        hits[at + 1] += happened[i] ? w : 0;
        all += w;
        share += happened[i] ? w : 0;
        score += w * (p[i] - (happened[i] ? 1 : 0)) * (p[i] - (happened[i] ? 1 : 0));
    }
    std::partial_sum(weight.begin(), weight.end(), weight.begin());
    std::partial_sum(hits.begin(), hits.end(), hits.begin());
    double best = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(std::lower_bound(places.begin(), places.end(), p[i]) - places.begin());
        double fit = -1;
        for (std::size_t from = 0; from <= at; ++from) {
            double least = 2;
            for (std::size_t to = at + 1; to <= places.size(); ++to)
                if (weight[to] > weight[from])
                    least = std::min(least, (hits[to] - hits[from]) / (weight[to] - weight[from]));
            if (least < 2) fit = std::max(fit, least);
        }
        best += weight_of(rows, i) * (fit - (happened[i] ? 1 : 0)) * (fit - (happened[i] ? 1 : 0));
    }
    const double uncertainty = share / all * (1 - share / all);
    return {score / all, (score - best) / all, uncertainty - best / all, uncertainty};
}

Values crps_of(const RowDistributions& forecast, const Rows& rows) {
    Values crps;
    for (std::size_t i = 0; i < rows.y.size(); ++i) crps.push_back(forecast.crps(rows.y[i], i));
    return crps;
}

TEST(CrpsParts, EqualADecompositionAtEveryNode) {
    for (const bool weighted : {false, true})
        for (const bool ties : {false, true})
            for (const std::size_t n : {1U, 2U, 3U, 30U}) {
                const Rows rows = drawn(n, weighted, 7 + n, ties);
                const FamilyRows forecast = normal_rows(rows);
                ScoreParts wanted;
                double best = 0;
                for (const ThresholdNode& node : threshold_nodes(rows.y, forecast.breakpoints())) {
                    Values p;
                    std::vector<bool> happened;
                    for (std::size_t i = 0; i < n; ++i) {
                        p.push_back(normal_cdf((node.y - rows.mean[i]) / rows.sigma[i]));
                        happened.push_back(rows.y[i] <= node.y);
                    }
                    const Brier own = brier_by_definition(p, happened, rows);
                    best += node.weight * (own.uncertainty - own.discrimination);
                }
                // The score that the best map leaves, and exact sums: of all pairs of observations, of the CRPS.
                for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t k = 0; k < n; ++k)
                        wanted.uncertainty += weight_of(rows, i) * weight_of(rows, k) *
                                              std::fabs(rows.y[i] - rows.y[k]) / (2 * total(rows) * total(rows));
                wanted.discrimination = wanted.uncertainty - best;
                const Values crps = crps_of(forecast, rows);
                for (std::size_t i = 0; i < n; ++i) wanted.score += weight_of(rows, i) * crps[i] / total(rows);
                double beyond = 0;
                // Beyond the observations: the squares of the cdf below, and of what is left above, by quadrature.
                using Quadrature = boost::math::quadrature::gauss_kronrod<double, 61>;
                const double low = *std::min_element(rows.y.begin(), rows.y.end());
                const double high = *std::max_element(rows.y.begin(), rows.y.end());
                for (std::size_t i = 0; i < n; ++i) {
                    const double below = Quadrature::integrate(
                        [&](double x) { return std::pow(normal_cdf((x - rows.mean[i]) / rows.sigma[i]), 2); },
                        std::min(low, rows.mean[i]) - 40 * rows.sigma[i], low, 15, 1e-14);
                    const double above = Quadrature::integrate(
                        [&](double x) { return std::pow(normal_cdf((rows.mean[i] - x) / rows.sigma[i]), 2); }, high,
                        std::max(high, rows.mean[i]) + 40 * rows.sigma[i], 15, 1e-14);
                    beyond += weight_of(rows, i) / total(rows) * (below + above);
                }
                EXPECT_LE(best, wanted.score - beyond + 1e-12) << n;
                wanted.miscalibration = wanted.score - best;
                const ScoreParts parts = crps_parts(forecast, rows.y, rows.weight);
                EXPECT_NEAR(parts.miscalibration, wanted.miscalibration, 1e-12) << n;
                EXPECT_NEAR(parts.discrimination, wanted.discrimination, 1e-12) << n;
                EXPECT_NEAR(parts.uncertainty, wanted.uncertainty, 1e-12) << n;
                EXPECT_NEAR(parts.score, wanted.score, 1e-12) << n;
                EXPECT_EQ(parts.score, parts.miscalibration - parts.discrimination + parts.uncertainty);
            }
}

// Forecasts that are narrow beside the way between observations rise between nodes that are of observations alone.
TEST(CrpsParts, OfSharpForecastsAreThoseOfManyThresholds) {
    for (const std::size_t n : {3U, 30U, 300U, 1000U})
        for (const double sigma : {0.01, 0.1, 1.0}) {
            core::Random random(100 + n);
            Rows rows;
            for (std::size_t i = 0; i < n; ++i) {
                rows.mean.push_back(1000 * random.uniform());
                rows.sigma.push_back(sigma);
                rows.y.push_back(rows.mean.back() + 1.5 * sigma * random.normal());
            }
            const FamilyRows forecast = normal_rows(rows);
            const ScoreParts parts = crps_parts(forecast, rows.y, {});
            const Values crps = crps_of(forecast, rows);
            const double mean = std::accumulate(crps.begin(), crps.end(), 0.0) / static_cast<double>(n);
            EXPECT_NEAR(parts.score, mean, 1e-9 * parts.uncertainty) << n;
            EXPECT_GE(parts.miscalibration, 0) << n;
            EXPECT_LE(parts.miscalibration, mean + 1e-9 * parts.uncertainty) << n;
            // Twenty times as many thresholds about every row, of which none is far from a forecast that rises.
            Values fine;
            for (std::size_t i = 0; i < n; ++i)
                for (int k = -30; k <= 30; ++k) fine.push_back(rows.mean[i] + 0.2 * k * sigma);
            if (n > 30) continue;  // as many by as many
            double best = 0;
            for (const ThresholdNode& node : threshold_nodes(rows.y, fine)) {
                Values p;
                std::vector<bool> happened;
                for (std::size_t i = 0; i < n; ++i) {
                    p.push_back(normal_cdf((node.y - rows.mean[i]) / sigma));
                    happened.push_back(rows.y[i] <= node.y);
                }
                const Brier own = brier_by_definition(p, happened, rows);
                best += node.weight * (own.uncertainty - own.discrimination);
            }
            EXPECT_NEAR(parts.uncertainty - parts.discrimination, best, 0.02 * mean) << n << ' ' << sigma;
        }
}

TEST(CrpsParts, AddUpToTheCrps) {
    const Rows rows = drawn(3000, false, 3);
    const FamilyRows forecast = normal_rows(rows);
    Values crps(3000), errors;
    for (std::size_t i = 0; i < 3000; ++i) errors.push_back(rows.y[i] - rows.mean[i]);
    Standardised(normal_family()).crps_block(3000, errors.data(), rows.sigma.data(), crps.data());
    const ScoreParts parts = crps_parts(forecast, rows.y, {});
    const double mean = std::accumulate(crps.begin(), crps.end(), 0.0) / 3000;
    const Values climatology = climatology_crps(rows.y, {});
    EXPECT_NEAR(parts.score, mean, 1e-12);
    EXPECT_NEAR(parts.uncertainty, std::accumulate(climatology.begin(), climatology.end(), 0.0) / 3000, 1e-12);
    EXPECT_GT(parts.miscalibration, 0);
    EXPECT_GT(parts.discrimination, 0);
    // Its sigmas are too small by a third: that is more than chance, and less than all of it.
    const double floor = miscalibration_floor(forecast, {}, 1, 1);
    EXPECT_GT(parts.miscalibration, 1.5 * floor);
    EXPECT_GT(floor, 0);
    ScoreParts one;
    with_threads(1, [&] { one = crps_parts(forecast, rows.y, {}); });
    EXPECT_EQ(one.miscalibration, parts.miscalibration);
}

// The probabilities of an ensemble change at its members alone, and what happens at observations alone: between two of
// all these points a Brier score and each of its parts is constant, and the integral over thresholds is a sum.
TEST(CrpsParts, AreExactForSmallEnsembles) {
    core::Random random(4);
    bool some_discrimination = false;
    for (int trial = 0; trial < 60; ++trial) {
        const std::size_t n = 1 + random.below(20);
        std::vector<Values> columns(1 + random.below(5), Values(n));
        Rows rows;
        rows.y.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            rows.y[i] = std::round(3 * random.normal());
            for (Values& column : columns) column[i] = rows.y[i] + std::round(3 * random.normal());
            if (trial % 2 == 1) rows.weight.push_back(static_cast<double>(1 + random.below(3)));
        }
        Values points = rows.y;
        for (const Values& column : columns) points.insert(points.end(), column.begin(), column.end());
        std::sort(points.begin(), points.end());
        Brier wanted{};
        for (std::size_t k = 1; k < points.size(); ++k) {
            const double length = points[k] - points[k - 1];
            if (length == 0) continue;
            Values p(n, 0.0);
            std::vector<bool> happened(n);
            for (std::size_t i = 0; i < n; ++i) {
                double below = 0;
                for (const Values& column : columns) below += column[i] <= points[k - 1] ? 1 : 0;
                p[i] = below / static_cast<double>(columns.size());
                happened[i] = rows.y[i] <= points[k - 1];
            }
            const Brier own = brier_by_definition(p, happened, rows);
            wanted.score += length * own.score;
            wanted.miscalibration += length * own.miscalibration;
            wanted.discrimination += length * own.discrimination;
            wanted.uncertainty += length * own.uncertainty;
        }
        const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
        const MemberRows forecast(spans);
        const ScoreParts parts = crps_parts(forecast, rows.y, rows.weight);
        EXPECT_NEAR(parts.score, wanted.score, 1e-12) << trial;
        EXPECT_NEAR(parts.miscalibration, wanted.miscalibration, 1e-12) << trial;
        EXPECT_NEAR(parts.discrimination, wanted.discrimination, 1e-12) << trial;
        EXPECT_NEAR(parts.uncertainty, wanted.uncertainty, 1e-12) << trial;
        // That sum is the mean CRPS of the ensembles, which has a formula of its own.
        double crps = 0;
        for (std::size_t i = 0; i < n; ++i) {
            Values members;
            sorted_members(spans, i, members);
            crps += weight_of(rows, i) * ensemble_crps(members, rows.y[i]).plain / total(rows);
        }
        EXPECT_NEAR(parts.score, crps, 1e-12) << trial;
        some_discrimination = some_discrimination || (wanted.discrimination > 0.1 && wanted.miscalibration > 0.1);
    }
    EXPECT_TRUE(some_discrimination);
}

TEST(CrpsParts, OfOneForecastForAllAreAllMiscalibrationAndUncertainty) {
    Rows rows = drawn(200, false, 5);
    std::fill(rows.mean.begin(), rows.mean.end(), 1.0);
    std::fill(rows.sigma.begin(), rows.sigma.end(), 2.0);
    const FamilyRows forecast = normal_rows(rows);
    EXPECT_NEAR(crps_parts(forecast, rows.y, {}).discrimination, 0, 1e-12);
}

TEST(CrpsParts, OfWholeWeightsAreThoseOfRepeatedRowsInAnyOrder) {
    const Rows rows = drawn(40, true, 11);
    Rows repeated;
    for (std::size_t k = 40; k-- > 0;)
        for (double copy = 0; copy < rows.weight[k]; ++copy) {
            repeated.mean.push_back(rows.mean[k]);
            repeated.sigma.push_back(rows.sigma[k]);
            repeated.y.push_back(rows.y[k]);
        }
    // Rows of weight 0 would move the ends of the sum, and so its nodes.
    Rows counted;
    for (std::size_t k = 0; k < 40; ++k)
        if (rows.weight[k] > 0) {
            counted.mean.push_back(rows.mean[k]);
            counted.sigma.push_back(rows.sigma[k]);
            counted.y.push_back(rows.y[k]);
            counted.weight.push_back(rows.weight[k]);
        }
    const ScoreParts a = crps_parts(normal_rows(counted), counted.y, counted.weight);
    const ScoreParts b = crps_parts(normal_rows(repeated), repeated.y, {});
    EXPECT_NEAR(a.miscalibration, b.miscalibration, 1e-12);
    EXPECT_NEAR(a.discrimination, b.discrimination, 1e-12);
    EXPECT_NEAR(a.uncertainty, b.uncertainty, 1e-12);
    const Values isotonic = isotonic_crps(counted.mean, counted.y, counted.weight);
    const Values of_repeated = isotonic_crps(repeated.mean, repeated.y, {});
    EXPECT_NEAR(weighted_mean(isotonic, counted.weight), weighted_mean(of_repeated, {}), 1e-12);
}

TEST(Exceedance, HasTheBrierScoreAndItsParts) {
    for (const bool weighted : {false, true}) {
        const Rows rows = drawn(60, weighted, 6);
        for (const double threshold : {-1.0, 0.5, 100.0}) {
            const ExceedanceFigures figures = exceedance(normal_rows(rows), threshold, rows.y, rows.weight, 1, 1);
            Values p;
            std::vector<bool> happened;
            double mean = 0, share = 0;
            for (std::size_t i = 0; i < 60; ++i) {
                p.push_back(1 - normal_cdf((threshold - rows.mean[i]) / rows.sigma[i]));
                happened.push_back(rows.y[i] > threshold);
                mean += weight_of(rows, i) * p[i] / total(rows);
                share += happened[i] ? weight_of(rows, i) / total(rows) : 0;
            }
            const Brier wanted = brier_by_definition(p, happened, rows);
            EXPECT_NEAR(figures.brier.score, wanted.score, 1e-12);
            EXPECT_NEAR(figures.brier.miscalibration, wanted.miscalibration, 1e-12);
            EXPECT_NEAR(figures.brier.discrimination, wanted.discrimination, 1e-12);
            EXPECT_NEAR(figures.brier.uncertainty, wanted.uncertainty, 1e-12);
            EXPECT_NEAR(figures.forecast, mean, 1e-12);
            EXPECT_NEAR(figures.observed, share, 1e-12);
        }
    }
}

TEST(Exceedance, HasAFitThatIncreasesWithinItsBandWhereCalibrated) {
    core::Random random(8);
    Rows rows;
    for (int i = 0; i < 2000; ++i) {
        rows.mean.push_back(random.normal());
        rows.sigma.push_back(1);
        rows.y.push_back(rows.mean.back() + random.normal());
    }
    const ExceedanceFigures right = exceedance(normal_rows(rows), 0, rows.y, {}, 1, 1);
    ASSERT_EQ(right.probability.size(), 21U);
    EXPECT_TRUE(std::is_sorted(right.happened.begin(), right.happened.end()));
    const auto outside = [](const ExceedanceFigures& f) {
        std::size_t count = 0;
        for (std::size_t k = 0; k < f.happened.size(); ++k)
            count += f.happened[k] < f.band.low[k] || f.happened[k] > f.band.high[k] ? 1 : 0;
        return count;
    };
    // Each of 21 points is outside one time in ten, neighbours together.
    EXPECT_LE(outside(right), 7U);
    for (double& mean : rows.mean) mean += 0.5;
    EXPECT_GE(outside(exceedance(normal_rows(rows), 0, rows.y, {}, 1, 1)), 14U);
}

// 100 groups of 20 equal rows each are worth 100: their fits vary as those of 100 rows, and so do bands and floor.
TEST(Exceedance, AndTheFloorCountWhatRowsAreWorth) {
    constexpr std::size_t kArchives = 30;
    constexpr double kWorth = 1.0 / 20;
    double miscalibration = 0, floor = 0, floor_of_all = 0;
    std::size_t outside = 0, outside_of_all = 0, points = 0;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        core::Random random(seed, 21);
        Rows rows;
        for (int group = 0; group < 100; ++group) {
            const double mean = random.normal();
            const double y = mean + random.normal();
            for (int i = 0; i < 20; ++i) {
                rows.mean.push_back(mean + 1e-6 * i);
                rows.sigma.push_back(1);
                rows.y.push_back(y);
            }
        }
        const FamilyRows forecast = normal_rows(rows);
        const ExceedanceFigures worth = exceedance(forecast, 0, rows.y, {}, kWorth, seed);
        const ExceedanceFigures all = exceedance(forecast, 0, rows.y, {}, 1, seed);
        for (std::size_t k = 0; k < worth.happened.size(); ++k) {
            outside += worth.happened[k] < worth.band.low[k] || worth.happened[k] > worth.band.high[k] ? 1 : 0;
            outside_of_all += all.happened[k] < all.band.low[k] || all.happened[k] > all.band.high[k] ? 1 : 0;
            ++points;
        }
        if (seed >= 5) continue;  // they take longer
        miscalibration += crps_parts(forecast, rows.y, {}).miscalibration;
        floor += miscalibration_floor(forecast, {}, kWorth, seed);
        floor_of_all += miscalibration_floor(forecast, {}, 1, seed);
    }
    // One point in ten by right, neighbours and their archive together: an archive's share has a standard deviation of
    // about 0.2, a mean of 30 one of 0.04.
    EXPECT_LE(static_cast<double>(outside), 0.2 * static_cast<double>(points));
    EXPECT_GE(static_cast<double>(outside_of_all), 0.4 * static_cast<double>(points));
    EXPECT_GT(floor, 0.7 * miscalibration);
    EXPECT_LT(floor, 1.4 * miscalibration);
    EXPECT_LT(floor_of_all, 0.5 * miscalibration);
}

TEST(Exceedance, TakesOneRow) {
    const Rows rows{{0}, {1}, {2}, {}};
    const ExceedanceFigures figures = exceedance(normal_rows(rows), 0, rows.y, {}, 1, 1);
    EXPECT_EQ(figures.probability.size(), 1U);
    EXPECT_NEAR(figures.brier.score, 0.25, 1e-12);
    EXPECT_EQ(figures.observed, 1);
}

// Families with closed forms and without, with atoms and with maps.
TEST(CrpsAbove, IsTheIntegralAboveTheThreshold) {
    Values knots, actual;
    for (int k = 0; k <= 10; ++k) {
        knots.push_back(-2.5 + 0.5 * k);
        actual.push_back(knots.back() + 0.2 * std::sin(knots.back()));
    }
    struct Case {
        SharedFamily family;
        Values further;
    };
    // Bounds in units of u, which rows are given, count here; those in units of y are for quantiles.
    const std::vector<Case> cases = {
        {normal_family(), {}},
        {family("logistic"), {}},
        {family("student-t"), {5.0}},
        {family("two-piece-normal"), {0.4}},
        {family("sinh-arcsinh"), {0.3, 0.8}},
        {support::recalibrated(Recalibrated::Knots::scores, knots, actual).shared(), {}},
        {std::make_shared<Recalibrated>(Recalibrated::Knots::scores, knots, actual, family("two-piece-normal")), {0.4}},
        {std::make_shared<Bounded>(Bounded::Kind::censored, Limits{-1, 2}), {-0.6, 1.4, 0.5}},
        {std::make_shared<Bounded>(Bounded::Kind::truncated, Limits{.lower = -1}), {-0.6}}};
    const Values mean = {0.3}, sigma = {1.7};
    for (const auto& [family, further] : cases) {
        const Standardised own(family, further);
        Values parameters = further;
        if (!further.empty()) parameters.insert(parameters.begin(), {own.u_mean(), own.u_sd()});
        const FamilyRows rows(mean, sigma, Families{{family}, {}, parameters});
        const auto in_unit_of_y = [&](double u) { return mean[0] + sigma[0] * (u - own.u_mean()) / own.u_sd(); };
        for (const double threshold : {-1.5, 0.0, 0.7, 3.0})
            for (const double y : {-2.0, 0.1, 0.7, 4.0}) {
                const auto square = [&](double x) {
                    const double apart = own.cdf((x - mean[0]) / sigma[0]) - (x >= y ? 1 : 0);
                    return apart * apart;
                };
                // In short pieces that end where the cdf jumps or bends.
                using Quadrature = boost::math::quadrature::gauss_kronrod<double, 31>;
                Values edges = {threshold, std::max(y, threshold)};
                for (double x = threshold; x < 400; x += x < 20 ? 0.05 : 5) edges.push_back(x);
                for (const double u : {-0.6, 1.4}) edges.push_back(std::max(threshold, in_unit_of_y(u)));
                if (const Recalibrated* map = support::map_of(family))
                    for (const double knot : knots) {
                        const double u = map->inner()->of_normal_score(knot, further);
                        edges.push_back(std::max(threshold, in_unit_of_y(u)));
                    }
                std::sort(edges.begin(), edges.end());
                double wanted = 0;
                for (std::size_t k = 1; k < edges.size(); ++k)
                    if (edges[k] > edges[k - 1]) wanted += Quadrature::integrate(square, edges[k - 1], edges[k], 0);
                // Tails of Student's t beyond 400 hold 1e-14. Bounds are right to 1e-11 of a scale, and maps around
                // families with parameters to 1e-9 (accrue/bounded.hpp, accrue/recalibrated.hpp).
                EXPECT_NEAR(rows.crps_above(threshold, y, 0), wanted, family->recalibrated() ? 2e-9 : 2e-11)
                    << family->name() << " " << threshold << " " << y;
            }
    }
}

TEST(CrpsAbove, OfMembersIsThatOfTheClampedEnsemble) {
    const Values a = {1}, b = {5}, c = {3};
    const std::vector<std::span<const double>> members = {a, b, c};
    const MemberRows rows(members);
    // F is 1/3 from 1, 2/3 from 3, 1 from 5; the observation is 4.
    EXPECT_NEAR(rows.crps_above(2, 4, 0), 1 / 9.0 + 4 / 9.0 + 1 / 9.0, 1e-15);
    EXPECT_NEAR(rows.crps_above(-10, 4, 0), 2 / 9.0 + 4 / 9.0 + 1 / 9.0, 1e-15);
    EXPECT_EQ(rows.crps_above(6, 4, 0), 0);
    EXPECT_NEAR(rows.crps_above(6, 8, 0), 2, 1e-15);
}

TEST(QuantileFigures, AreTheMeansOfTheirDefinitions) {
    const Rows rows = drawn(200, true, 9);
    for (const double level : {0.05, 0.5, 0.9}) {
        const QuantileFigures figures =
            quantile_figures(level, rows.y, rows.weight, effective_rows(rows.y.size(), rows.weight),
                             [&](std::size_t i) { return std::round(rows.mean[i]); });
        double score = 0, below = 0, upto = 0;
        for (std::size_t i = 0; i < 200; ++i) {
            const double q = std::round(rows.mean[i]);
            const double w = rows.weight[i] / total(rows);
            score += w * (rows.y[i] >= q ? level * (rows.y[i] - q) : (1 - level) * (q - rows.y[i]));
            below += rows.y[i] < q ? w : 0;
            upto += rows.y[i] <= q ? w : 0;
        }
        EXPECT_NEAR(figures.score, score, 1e-12);
        EXPECT_NEAR(figures.below, below, 1e-12);
        EXPECT_NEAR(figures.at_or_below, upto, 1e-12);
        EXPECT_LT(figures.low, level);
        EXPECT_GT(figures.high, level);
    }
}

TEST(QuantileFigures, TwiceTheirMeanOverManyLevelsIsTheCrps) {
    const Rows rows = drawn(20, false, 10);
    const FamilyRows forecast = normal_rows(rows);
    double sum = 0;
    constexpr int kLevels = 4000;
    for (int k = 0; k < kLevels; ++k) {
        const double level = (k + 0.5) / kLevels;
        sum += quantile_figures(level, rows.y, {}, static_cast<double>(rows.y.size()), [&](std::size_t i) {
                   return forecast.quantile(level, i);
               }).score;
    }
    const Values crps = crps_of(forecast, rows);
    // The formula of midpoints over 4,000 levels.
    EXPECT_NEAR(2 * sum / kLevels, std::accumulate(crps.begin(), crps.end(), 0.0) / 20, 1e-5);
}

TEST(IntervalFigures, AreTheMeansOfTheirDefinitions) {
    const Values y = {0, 1, 5, 2}, low = {0, 2, 1, 1}, high = {1, 3, 3, 3}, weights = {1, 1, 2, 0};
    const Coverage figures = interval_figures(0.8, y, weights, low, high);
    EXPECT_NEAR(figures.observed, 0.25, 1e-15);
    EXPECT_NEAR(figures.mean_width, 1.5, 1e-15);
    EXPECT_NEAR(figures.interval_score, 1.5 + 10 * (0.25 + 1), 1e-12);
}

TEST(Pooling, FitsAreMeansOfPooledRowsAndLinesBetweenThem) {
    Pooling pooling;
    for (const auto& [p, happened] : {std::pair{0.1, 1.0}, {0.2, 0.0}, {0.6, 0.0}, {0.6, 1.0}, {0.9, 1.0}})
        pooling.add(p, 1, happened);
    const auto& blocks = pooling.blocks();
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].last, 0.6);
    EXPECT_EQ(blocks[0].fit(), 0.5);
    EXPECT_EQ(fit_at(blocks, 0.0), 0.5);
    EXPECT_EQ(fit_at(blocks, 0.3), 0.5);
    EXPECT_NEAR(fit_at(blocks, 0.75), 0.75, 1e-15);
    EXPECT_EQ(fit_at(blocks, 1.0), 1);
}

}  // namespace
}  // namespace accrue::verification
