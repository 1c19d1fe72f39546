// Recalibrated Gaussians against numerical integration, their own definitions and what holds for every CRPS.
#include "accrue/recalibrated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "accrue/bounded.hpp"
#include "accrue/error.hpp"
#include "accrue/scores.hpp"
#include "core/random.hpp"
#include "families/split_integrals.hpp"
#include "support/families.hpp"

namespace accrue {
namespace {

using support::fitted;
using support::map_of;
using support::normal;
using support::recalibrated;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kScores = Recalibrated::Knots::scores;
constexpr auto kProbabilities = Recalibrated::Knots::probabilities;

double normal_cdf(double z) {
    return std::erfc(-z / std::numbers::sqrt2) / 2;
}
double normal_quantile(double p) {
    return normal().quantile(p);
}

// A skewed map with one very flat and one very steep piece, in either way of writing it.
Standardised skewed(Recalibrated::Knots knots) {
    std::vector<double> predicted = {0.01, 0.2, 0.5, 0.51, 0.9};
    std::vector<double> actual = {0.05, 0.4, 0.6, 0.9, 0.95};
    if (knots == kScores)
        for (auto* list : {&predicted, &actual})
            for (double& p : *list) p = normal_quantile(p);
    return recalibrated(knots, predicted, actual);
}

// Rows of which a few are far out on one side, which a map of probabilities could not hold.
std::vector<double> heavy_tailed(std::size_t n, std::uint64_t seed) {
    core::Random random(seed);
    std::vector<double> u(n);
    for (double& value : u) value = random.uniform() < 0.03 ? -12 * std::log(1 - random.uniform()) : random.normal();
    return u;
}

// Where the pieces of the map meet, as z.
std::vector<double> knots_of(const Standardised& family) {
    std::vector<double> z;
    for (const double predicted : map_of(family).predicted()) {
        const double u = map_of(family).knots() == kScores ? predicted
                         : predicted < 0.5                 ? normal_quantile(predicted)
                                                           : -normal_quantile(1 - predicted);
        z.push_back((u - family.u_mean()) / family.u_sd());
    }
    return z;
}

// Integral of below(x) up to z and of above(x) from there on, split at the knots.
template <typename Below, typename Above>
double integrate(const Standardised& family, double z, Below below, Above above) {
    // Beyond a score of 13 squared probabilities are below 1e-76, and probabilities below 1e-38.
    std::vector<double> edges = {family.of_normal_score(-13), z, family.of_normal_score(13)};
    for (const double knot : knots_of(family)) edges.push_back(knot);
    std::sort(edges.begin(), edges.end());
    double sum = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        // In parts: the integrand may fall by many powers of ten over one piece, and each part is right to 1e-12.
        constexpr int kParts = 6;
        const double step = (edges[i + 1] - edges[i]) / kParts;
        if (!(step > 0)) continue;
        for (int k = 0; k < kParts; ++k) {
            const double from = edges[i] + k * step;
            const auto value = [&](double x) { return from + step / 2 < z ? below(x) : above(x); };
            sum += boost::math::quadrature::gauss<double, 30>::integrate(value, from, from + step);
        }
    }
    return sum;
}

// What holds for the CRPS of every distribution, at points z that rise.
void expect_properties(const Standardised& family, std::vector<double> z) {
    std::sort(z.begin(), z.end());
    const double median = family.quantile(0.5);
    const double least = family.crps(median);
    // Rounding of u = mean + sd*z moves z by this at most, and what is 1-Lipschitz by no more.
    const double of_z =
        1e-15 * (std::fabs(family.u_mean()) / family.u_sd() + std::fabs(z.front()) + std::fabs(z.back()));
    // Sums of a few hundred positive terms.
    const auto rounding = [&](double size) { return 1e-13 * size + of_z; };
    for (std::size_t i = 0; i < z.size(); ++i) {
        const double value = family.crps(z[i]);
        const double far = integrate(
            family, z[i], [&](double x) { return family.cdf(x); }, [&](double x) { return family.survival(x); });
        ASSERT_GE(value, 0) << z[i];
        ASSERT_LE(value, far * (1 + 1e-9) + of_z) << z[i];
        ASSERT_GE(value, least - rounding(least)) << z[i];
        const double exact = integrate(
            family, z[i], [&](double x) { return std::pow(family.cdf(x), 2); },
            [&](double x) { return std::pow(family.survival(x), 2); });
        ASSERT_NEAR(value, exact, 1e-9 * exact + of_z) << z[i];
        if (i == 0) continue;
        // Convex with slope 2F - 1: between two points it rises at least by the slope at the one, at most at the other.
        const double rise = value - family.crps(z[i - 1]);
        const double apart = z[i] - z[i - 1];
        ASSERT_GE(rise, (2 * family.cdf(z[i - 1]) - 1) * apart - 2 * rounding(value)) << z[i - 1] << " to " << z[i];
        ASSERT_LE(rise, (1 - 2 * family.survival(z[i])) * apart + 2 * rounding(value)) << z[i - 1] << " to " << z[i];
    }
}

// Rising numbers, some a hair apart and some far from one another.
std::vector<double> rising(core::Random& random, std::size_t n, double closest) {
    std::vector<double> values;
    double at = 3 * random.normal();
    for (std::size_t k = 0; k < n; ++k) {
        const double gap = random.uniform() < 0.2 ? closest : std::exp(2 * random.normal() - 1);
        const double next = at + gap * random.uniform();
        at = next > at ? next : std::nextafter(at, kInfinity);
        values.push_back(at);
    }
    return values;
}

std::vector<double> points(const Standardised& family, core::Random& random) {
    std::vector<double> z;
    for (int k = 0; k < 2; ++k) z.push_back(family.of_normal_score(3 * random.normal()));
    const std::vector<double> knots = knots_of(family);
    z.push_back(knots[random.below(knots.size())]);  // an observation on an atom
    z.push_back(knots.back() + 20 * random.uniform());
    return z;
}

TEST(Recalibrated, WithoutKnotsIsGaussian) {
    const Standardised family = recalibrated(kScores, {}, {});
    EXPECT_EQ(family.u_mean(), 0);
    EXPECT_EQ(family.u_sd(), 1);
    for (const double z : {-9.0, -3.0, -0.5, 0.0, 1e-9, 0.7, 2.0, 8.0}) {
        EXPECT_DOUBLE_EQ(family.cdf(z), normal_cdf(z));
        EXPECT_NEAR(family.crps(z), crps(z, 1).value, 4e-15 * std::max(1.0, std::fabs(z)));
        EXPECT_EQ(family.normal_score(z), z);
    }
}

TEST(Recalibrated, CdfRisesAndQuantileUndoesIt) {
    for (const auto knots : {kScores, kProbabilities}) {
        const Standardised family = skewed(knots);
        double last = 0;
        for (double z = -8; z <= 5; z += 0.01) {
            const double p = family.cdf(z);
            EXPECT_GT(p, last) << z;
            last = p;
            EXPECT_NEAR(p + family.survival(z), 1, 1e-15);
            // Near 1 a double has few digits left of what lies beyond; the density there divides the rounding.
            EXPECT_NEAR(family.quantile(p), z, 1e-15 / family.pdf(z) + 1e-13) << z;
            EXPECT_NEAR(family.of_normal_score(family.normal_score(z)), z, 1e-11) << z;
        }
        const std::vector<double> at = knots_of(family);
        for (std::size_t k = 0; k < at.size(); ++k) {
            const double actual = map_of(family).actual()[k];
            EXPECT_NEAR(family.cdf(at[k]), knots == kScores ? normal_cdf(actual) : actual, 1e-14);
        }
    }
}

TEST(Recalibrated, HasMeanZeroAndStandardDeviationOne) {
    core::Random random(11);
    std::vector<Standardised> maps = {skewed(kScores), skewed(kProbabilities), fitted(heavy_tailed(5000, 3))};
    for (int k = 0; k < 20; ++k)
        maps.push_back(recalibrated(kScores, rising(random, 5, 1e-9), rising(random, 5, 1e-3)));
    for (const Standardised& family : maps) {
        // E z and E z^2 from the cdf: integrals of 1 - F and F, and of 2|z| times them.
        const auto tail = [&](double power) {
            return std::pair{integrate(
                                 family, 0, [&](double x) { return std::pow(-x, power) * family.cdf(x); },
                                 [](double) { return 0.0; }),
                             integrate(
                                 family, 0, [](double) { return 0.0; },
                                 [&](double x) { return std::pow(x, power) * family.survival(x); })};
        };
        const auto [below, above] = tail(0);
        EXPECT_NEAR(above - below, 0, 1e-9);
        const auto [squared_below, squared_above] = tail(1);
        EXPECT_NEAR(2 * (squared_above + squared_below), 1, 1e-8);
    }
}

TEST(Recalibrated, NormalScoreGoesOnWherePhiUnderflows) {
    for (const auto knots : {kScores, kProbabilities}) {
        const Standardised family = skewed(knots);
        for (const double sign : {-1.0, 1.0}) {
            // Across the change of formula, and on to where the probability is far below the smallest double.
            const auto of_u = [&](double u) { return family.normal_score((u - family.u_mean()) / family.u_sd()); };
            EXPECT_NEAR(of_u(sign * 37.001) - of_u(sign * 36.999), sign * 0.002, 1e-3);
            EXPECT_EQ(of_u(sign * kInfinity), sign * kInfinity);
            if (knots == kProbabilities) {
                EXPECT_NEAR(of_u(sign * 1e3), sign * 1e3, 0.01);
            }
        }
    }
    EXPECT_DOUBLE_EQ(normal().normal_score(50), 50);
}

TEST(Recalibrated, PdfIsTheSlopeOfTheCdf) {
    for (const auto knots : {kScores, kProbabilities}) {
        const Standardised family = skewed(knots);
        for (const double z : {-3.0, -1.5, -0.3, 0.01, 0.5, 2.5}) {
            const double h = 1e-5;
            EXPECT_NEAR(family.pdf(z), (family.cdf(z + h) - family.cdf(z - h)) / (2 * h), 1e-7);
        }
    }
}

TEST(Recalibrated, CrpsOfRandomMapsHasThePropertiesOfACrps) {
    core::Random random(21);
    for (int map = 0; map < 2000; ++map) {
        SCOPED_TRACE(map);
        const std::size_t n = 1 + random.below(8);
        // Atoms down to a millionth of a millionth wide; probabilities from 1e-12 on.
        const Standardised family = recalibrated(kScores, rising(random, n, 1e-12), rising(random, n, 1e-6));
        expect_properties(family, points(family, random));
        if (HasFatalFailure()) return;
    }
}

TEST(Recalibrated, CrpsOfMapsOfProbabilitiesHasThemToo) {
    // As version 0.1 wrote them, with knots as near to 0 and 1 as doubles allow.
    core::Random random(22);
    for (int map = 0; map < 1000; ++map) {
        SCOPED_TRACE(map);
        const std::size_t n = 1 + random.below(8);
        const auto probabilities = [&](double farthest) {
            std::vector<double> list;
            while (list.size() < n) {
                const double tail = std::pow(10.0, -farthest * std::pow(random.uniform(), 3)) / 2;
                const double p = random.uniform() < 0.5 ? tail : 1 - tail;
                if (p > 0 && p < 1 && std::find(list.begin(), list.end(), p) == list.end()) list.push_back(p);
            }
            std::sort(list.begin(), list.end());
            return list;
        };
        const std::vector<double> predicted = probabilities(15.5);
        const Standardised family = recalibrated(kProbabilities, predicted, probabilities(5));
        expect_properties(family, points(family, random));
        if (HasFatalFailure()) return;
    }
}

TEST(Recalibrated, CrpsOfHeavyTailedRowsHasThemToo) {
    for (const std::size_t n : {3U, 50U, 5000U}) {
        const Standardised family = fitted(heavy_tailed(n, 5));
        expect_properties(family, {-3, -0.5, 0, 0.1, 1, 4, 10, 15, 40, 400});
        // Far out the score grows as the distance does.
        EXPECT_NEAR(family.crps(400) - family.crps(399), 1, 1e-3);
    }
    // A third of the rows at one value, and values twice.
    std::vector<double> ties = heavy_tailed(600, 6);
    std::fill_n(ties.begin(), 200, -0.25);
    for (std::size_t i = 200; i < 600; i += 2) ties[i] = ties[i + 1];
    const Standardised family = fitted(ties);
    expect_properties(family, {-2, (-0.25 - family.u_mean()) / family.u_sd(), 0, 1, 5});
}

TEST(Recalibrated, OfNormalRowsIsNearlyTheIdentity) {
    std::vector<double> u;
    for (int i = 0; i < 1000; ++i) u.push_back(normal_quantile((i + 0.5) / 1000));
    const Standardised family = fitted(u);
    EXPECT_LE(map_of(family).predicted().size(), 250U);
    for (std::size_t k = 0; k < map_of(family).predicted().size(); ++k)
        EXPECT_NEAR(map_of(family).predicted()[k], map_of(family).actual()[k], 1e-9);
    EXPECT_NEAR(family.u_mean(), 0, 1e-9);
    EXPECT_NEAR(family.u_sd(), 1, 1e-6);
}

TEST(Recalibrated, OneGrossOutlierLeavesTheOtherRowsTheirDigits) {
    std::vector<double> u;
    for (int i = 0; i < 1199; ++i) u.push_back(normal_quantile((i + 0.5) / 1199));
    const Standardised without = fitted(u);
    u.push_back(1e20);
    const Standardised with = fitted(u);
    for (const double p : {0.05, 0.25, 0.5, 0.75, 0.95}) {
        const auto at = [p](const Standardised& family) {
            return family.u_mean() + family.u_sd() * family.quantile(p);
        };
        // One row in 1,200 more above; the sums lose no more than kFarthestRow roundings.
        EXPECT_NEAR(at(with), at(without), 0.01) << p;
    }
}

TEST(Recalibrated, FittedToRowsMakesThemUniform) {
    for (const std::size_t n : {50U, 200U, 5000U}) {
        std::vector<double> u = heavy_tailed(n, 7);
        const Standardised family = fitted(u);
        std::sort(u.begin(), u.end());
        double farthest = 0;
        double farthest_in_tail = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double z = (u[i] - family.u_mean()) / family.u_sd();
            const double rest = (static_cast<double>(n - i) - 0.5) / static_cast<double>(n);
            farthest = std::max(farthest, std::fabs(family.survival(z) - rest));
            if (rest < 0.02) farthest_in_tail = std::max(farthest_in_tail, std::fabs(family.survival(z) / rest - 1));
        }
        // Up to 200 rows every row is a knot; beyond, a knot stands for half a percent, in the tails for a quarter of
        // what lies beyond it.
        EXPECT_LE(farthest, n <= 200 ? 1e-9 : 0.006) << n;
        EXPECT_LE(farthest_in_tail, n <= 200 ? 1e-9 : 0.5) << n;
    }
}

TEST(Recalibrated, TailsAreNeverLighterThanTheGaussians) {
    // Rows a tenth as wide as the forecast says, and ten times as wide.
    for (const double scale : {0.1, 10.0}) {
        core::Random random(8);
        std::vector<double> u(1000);
        for (double& value : u) value = scale * random.normal();
        const Standardised family = fitted(u);
        const double last = map_of(family).predicted().back();
        const auto score = [&](double at) { return family.normal_score((at - family.u_mean()) / family.u_sd()); };
        const double slope = (score(last + 5) - score(last + 1)) / 4;
        EXPECT_LE(slope, 1 + 1e-9);
        // And not much heavier than what the rows showed: extremes of a thousand rows tell their scale to a factor.
        EXPECT_GE(slope, std::min(1.0, 1 / scale) / 3);
    }
}

TEST(Recalibrated, FittedBearsTiesExtremesAndWeights) {
    const Standardised one = fitted(std::vector<double>{0.3});
    EXPECT_EQ(map_of(one).actual(), std::vector<double>{0});
    EXPECT_NEAR(one.u_mean(), 0.3, 1e-12);
    EXPECT_NEAR(one.u_sd(), 1, 1e-12);
    const Standardised ties = fitted(std::vector<double>{0.3, 0.3, 0.3, 0.6, 0.9});
    ASSERT_EQ(map_of(ties).predicted().size(), 5U);
    const auto cdf_at = [](const Standardised& family, double u) {
        return family.cdf((u - family.u_mean()) / family.u_sd());
    };
    // Rounding of u moves it by 1e-16, of the 3e-7 over which the cdf rises by a fifth.
    EXPECT_NEAR(cdf_at(ties, 0.3), 0.3, 1e-9);
    EXPECT_NEAR(cdf_at(ties, map_of(ties).predicted()[0]), 0.1, 1e-9);
    EXPECT_NEAR(cdf_at(ties, map_of(ties).predicted()[2]), 0.5, 1e-9);
    EXPECT_NEAR(cdf_at(ties, 0.6), 0.7, 1e-12);
    // A weight is as good as repeated rows.
    const Standardised weighted = fitted(std::vector<double>{0.6, 0.3, 0.9, 0.5}, std::vector<double>{1, 3, 1, 0});
    ASSERT_EQ(map_of(weighted).predicted().size(), map_of(ties).predicted().size());
    for (std::size_t k = 0; k < map_of(ties).predicted().size(); ++k) {
        EXPECT_NEAR(map_of(weighted).actual()[k], map_of(ties).actual()[k], 1e-15);
        EXPECT_NEAR(map_of(weighted).predicted()[k], map_of(ties).predicted()[k], 1e-15);
    }
    const Standardised far = fitted(std::vector<double>{-kInfinity, -1, 0, 1, kInfinity});
    for (const double z : {-1.0, 0.0, 1.0}) EXPECT_TRUE(std::isfinite(far.crps(z)) && far.crps(z) >= 0);
    EXPECT_THROW(fitted(std::vector<double>{0, std::nan("")}), InputError);
}

// The value of u that has this probability below it.
double quantile_of_u(const Standardised& family, double p) {
    return family.u_mean() + family.u_sd() * family.quantile(p);
}

TEST(Recalibrated, AtomsAtTheEndsHaveNoTailsBeyondThem) {
    for (const std::size_t n : {100U, 1000U, 20000U}) {
        for (const auto& [lowest, highest] : {std::pair{-0.5, 99.0}, {-99.0, 0.5}, {-0.5, 0.5}, {-0.1, 0.1}}) {
            core::Random random(9);
            std::vector<double> u(n);
            for (double& value : u) value = std::clamp(random.normal(), lowest, highest);
            const Standardised family = fitted(u);
            double mean = 0;
            for (const double value : u) mean += value / static_cast<double>(n);
            double squares = 0;
            for (const double value : u) squares += std::pow(value - mean, 2) / static_cast<double>(n);
            // Half a row lies beyond either end, within about a sigma, and half of an atom (at most a quarter of the
            // rows) on the way there, which is as long as sigma is uncertain.
            const double hair = 0.5 / std::sqrt(static_cast<double>(n));
            const double beyond = 1 / static_cast<double>(n) + hair / 4;
            EXPECT_NEAR(family.u_mean(), mean, beyond);
            EXPECT_NEAR(std::pow(family.u_sd(), 2), squares, 2 * beyond);
            if (lowest > -99) {
                EXPECT_NEAR(quantile_of_u(family, 0.01), lowest, hair);
            }
            if (highest < 99) {
                EXPECT_NEAR(quantile_of_u(family, 0.99), highest, hair);
            }
            expect_properties(family, {-3, (lowest - family.u_mean()) / family.u_sd(), 0, 0.3, 3});
        }
    }
}

TEST(Recalibrated, AnAtomDoesNotReachToFarRows) {
    // Dry days, and a few of rain; the same with one row on the other side.
    for (const double other : {0.0, -40.0}) {
        std::vector<double> u(970, 0.0);
        for (int i = 0; i < 30; ++i) u.push_back(10 + i);
        u[0] = other;
        const Standardised family = fitted(u);
        EXPECT_NEAR(quantile_of_u(family, 0.01), 0, 1e-6);
        EXPECT_NEAR(quantile_of_u(family, 0.9), 0, 1e-6);
        // The step to the next row is worth a row, half of it on the way of up to 40.
        EXPECT_NEAR(family.u_mean(), (30 * 24.5 + other) / 1000, 0.04);
        expect_properties(family, {-20, -1, (0 - family.u_mean()) / family.u_sd(), 0.2, 3});
    }
}

TEST(Recalibrated, FarAndMissingObservationsHaveFarAndMissingScores) {
    for (const Standardised& family : {normal(), skewed(kScores), skewed(kProbabilities)}) {
        EXPECT_EQ(family.crps(kInfinity), kInfinity);
        EXPECT_EQ(family.crps(-kInfinity), kInfinity);
        for (const double figure : {family.crps(std::nan("")), family.cdf(std::nan("")), family.pdf(std::nan(""))})
            EXPECT_TRUE(std::isnan(figure));
        // As far as doubles go the score is the distance, less what the forecast's own spread takes off.
        EXPECT_NEAR(family.crps(1e300) / 1e300, 1, 1e-12);
        EXPECT_NEAR(family.crps(-1e300) / 1e300, 1, 1e-12);
    }
}

// Stretched normal scores of tails that fall as a power would have no moments.
TEST(Recalibrated, AroundPowerTailsLeadsBackToThem) {
    const SharedFamily inner = family("student-t");
    const std::vector<double> own = {std::log(2.5)};
    core::Random random(17);
    std::vector<double> scores;  // wider than the family says, with far rows
    for (int i = 0; i < 600; ++i) scores.push_back(1.4 * random.normal());
    for (const auto kind : {Recalibrated::Kind::isotonic, Recalibrated::Kind::conformal}) {
        const auto map = Recalibrated::fitted(scores, {}, inner, kind);
        EXPECT_LT(map->sd(own), 10 * inner->sd(own));  // with stretched tails there is none
        EXPECT_LT(std::fabs(map->mean(own)), 1);
        const double far = inner->of_normal_score(7, own);
        EXPECT_NEAR(map->survival(far, own), inner->survival(far, own), 1e-9 * inner->survival(far, own));
        EXPECT_NEAR(map->cdf(-far, own), inner->cdf(-far, own), 1e-9 * inner->cdf(-far, own));
        double before = map->quantile(1e-5, own);
        for (double p = 0.0001; p < 1; p += 0.0007) {
            const double u = map->quantile(p, own);
            EXPECT_NEAR(map->cdf(u, own), p, 1e-9);
            EXPECT_GE(u, before);
            before = u;
        }
        // Beyond the rows an interval ends at the quantile, not at the knot that leads back.
        const double level = 0.999;
        EXPECT_NEAR(map->interval(level, own).second, map->quantile((1 + level) / 2, own),
                    1e-6 * map->interval(level, own).second);
    }
}

TEST(Recalibrated, RefusesWhatIsNoMap) {
    for (const auto knots : {kScores, kProbabilities}) {
        EXPECT_THROW(recalibrated(knots, {0.5}, {}), InputError);
        EXPECT_THROW(recalibrated(knots, {0.5, 0.5}, {0.2, 0.3}), InputError);
        EXPECT_THROW(recalibrated(knots, {0.4, 0.5}, {0.3, 0.3}), InputError);
        EXPECT_THROW(recalibrated(knots, {std::nan("")}, {0.5}), InputError);
    }
    EXPECT_THROW(recalibrated(kProbabilities, {0.0}, {0.5}), InputError);
    EXPECT_THROW(recalibrated(kProbabilities, {0.5}, {1.0}), InputError);
    EXPECT_THROW(recalibrated(kScores, {kInfinity}, {0.5}), InputError);
    EXPECT_THROW(normal().quantile(0), InputError);
}

// Rows of every family: with each parameter far out and in the middle, and between bounds.
struct Row {
    SharedFamily inner;
    std::vector<double> values;
};
std::vector<Row> rows_of_families() {
    std::vector<Row> rows;
    for (const std::string& name : family_names()) {
        const auto further = family(name)->further();
        std::vector<double> start;
        for (const Family::Parameter& p : further) start.push_back(p.start);
        for (const double share : {0.0, 0.4, 1.0}) {
            std::vector<double> own;
            for (const Family::Parameter& p : further) own.push_back(p.low + share * (p.high - p.low));
            rows.push_back({family(name), own});
            if (further.empty()) break;
        }
        // By a lower bound, and by both.
        for (const auto kind : {Bounded::Kind::censored, Bounded::Kind::truncated})
            for (const bool both : {false, true}) {
                std::vector<double> own = start;
                own.push_back(-0.3);
                if (both) own.push_back(1.5);
                if (kind == Bounded::Kind::censored) own.push_back(0.5);
                const Limits limits = both ? Limits{0, 1} : Limits{.lower = 0};
                rows.push_back({std::make_shared<Bounded>(kind, limits, family(name)), own});
            }
    }
    return rows;
}

// Maps of rows: as they come, with a gap between two kinds of days, with an atom and a few far ones, and few wide
// knots; and one of rows far out, which tails that fall as a power have no numbers for. A family that leaves normal
// scores to the contract's own functions has none below -37.5, where probabilities underflow, and wide maps ask for
// more.
std::vector<std::vector<double>> maps_of(const Row& row) {
    const bool is_deep = row.inner->of_normal_score(50, row.values) > row.inner->of_normal_score(40, row.values) ||
                         row.inner->limits().upper < kInfinity;
    core::Random random(78);
    std::vector<std::vector<double>> all(2);
    for (int i = 0; i < 300; ++i) {
        all[0].push_back(1.2 * random.normal());
        all[1].push_back((i % 2 == 0 ? -3.5 : 4) + 0.3 * random.normal());
    }
    if (!is_deep) return all;
    all.emplace_back(290, -0.2);
    for (int i = 1; i <= 10; ++i) all[2].push_back(0.5 * i);
    all.push_back({-2, -1.9, 2.5});
    if (!row.inner->power_tails()) all.push_back(heavy_tailed(300, 77));
    return all;
}

// All that the library can make of a family and a map, against integrals that are split at the knots.
TEST(RecalibratedRows, CrpsHasThePropertiesOfACrpsAroundEveryFamily) {
    constexpr double kRight = 1e-9;
    for (const Row& row : rows_of_families()) {
        for (const std::vector<double>& scores : maps_of(row)) {
            SCOPED_TRACE(testing::Message() << row.inner->name() << testing::PrintToString(row.values)
                                            << (row.inner->limits().any() ? " bounded" : "") << " " << scores[0]);
            const auto map = Recalibrated::fitted(scores, {}, row.inner);
            std::vector<double> knots = map->predicted();
            for (const double v : map->jumps(row.values))
                knots.push_back(row.inner->normal_score(map->of_normal_score(v, row.values), row.values));
            std::vector<double> us;
            for (const double z : {-5.0, -1.5, -0.3, 0.0, 0.2, 0.9, 2.0, 5.0})
                us.push_back(map->of_normal_score(z, row.values));
            us.push_back(us.front() - 2);
            us.push_back(us[7] + 2);
            std::sort(us.begin(), us.end());
            const test::SplitIntegrals exact =
                test::split_integrals(*map, row.values, *row.inner, row.values, knots, us);
            const double least = map->crps(map->quantile(0.5, row.values), row.values);
            for (std::size_t i = 0; i < us.size(); ++i) {
                const double value = map->crps(us[i], row.values);
                EXPECT_NEAR(value, exact.crps[i], kRight * exact.crps[i]) << us[i];
                EXPECT_GE(value, 0);
                EXPECT_LE(value, exact.distance[i] * (1 + kRight)) << us[i];
                EXPECT_GE(value, least * (1 - kRight)) << us[i];
                if (i == 0) continue;
                const double rise = value - map->crps(us[i - 1], row.values);
                const double apart = us[i] - us[i - 1];
                const double wrong = 2 * kRight * value;
                EXPECT_GE(rise, (2 * map->cdf(us[i - 1], row.values) - 1) * apart - wrong) << us[i];
                EXPECT_LE(rise, (1 - 2 * map->survival(us[i] - 1e-9 * apart, row.values)) * apart + wrong) << us[i];
            }
        }
    }
}

TEST(RecalibratedRows, MeanAndSpreadAreThoseOfTheirQuantiles) {
    for (const Row& row : rows_of_families()) {
        for (const std::vector<double>& scores : maps_of(row)) {
            SCOPED_TRACE(testing::Message() << row.inner->name() << testing::PrintToString(row.values)
                                            << (row.inner->limits().any() ? " bounded" : "") << " " << scores[0]);
            const auto map = Recalibrated::fitted(scores, {}, row.inner);
            const test::SplitMoments exact = test::split_moments(*map, row.values, *row.inner, row.values);
            // Scores of the logistic family come from a table that is right to 1e-10.
            EXPECT_NEAR(map->mean(row.values), exact.mean, 4e-9 * exact.sd);
            EXPECT_NEAR(map->sd(row.values), exact.sd, 4e-9 * exact.sd);
        }
    }
}

TEST(RecalibratedRows, AreTheInnerFamilyWhereNothingIsMapped) {
    for (const Row& row : rows_of_families()) {
        SCOPED_TRACE(testing::Message() << row.inner->name() << testing::PrintToString(row.values));
        const Recalibrated same(kScores, {}, {}, row.inner);
        const double sd = row.inner->sd(row.values);
        EXPECT_NEAR(same.mean(row.values), row.inner->mean(row.values), 1e-8 * sd);
        EXPECT_NEAR(same.sd(row.values), sd, 1e-8 * sd);
        for (const double p : {0.001, 0.3, 0.6, 0.999}) {
            const double u = row.inner->quantile(p, row.values);
            EXPECT_NEAR(same.crps(u, row.values), row.inner->crps(u, row.values), 1e-8 * sd) << p;
            EXPECT_NEAR(same.quantile(p, row.values), u, 1e-12 * (sd + std::fabs(u))) << p;
        }
    }
}

}  // namespace
}  // namespace accrue
