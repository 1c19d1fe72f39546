// What every family must keep, all in one loop; a recalibration around each of them too.
#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>

#include "accrue/error.hpp"
#include "accrue/recalibrated.hpp"
#include "core/random.hpp"
#include "support/families.hpp"

namespace accrue {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<double> kPlaces = {-30, -4, -1.5, -0.4, -1e-9, 0, 1e-9, 0.3, 1.1, 2.5, 7, 30};

std::vector<SharedFamily> all_families() {
    std::vector<SharedFamily> all;
    for (const std::string& name : family_names()) {
        all.push_back(family(name));
        all.push_back(std::make_shared<Recalibrated>(Recalibrated::Knots::scores,
                                                     std::vector<double>{-2, -0.5, 0.1, 1.5},
                                                     std::vector<double>{-1.4, -0.2, 0.4, 1.9}, family(name)));
    }
    return all;
}

std::string title(const Family& family) {
    return std::string(family.name()) + (family.recalibrated() ? ", recalibrated" : "");
}

// Values of the further parameters: where training begins, both bounds of each, and in between; one empty list where
// there are none.
std::vector<std::vector<double>> settings(const Family& family, bool with_bounds = true) {
    std::vector<double> start;
    for (const Family::Parameter& p : family.further()) start.push_back(p.start);
    std::vector<std::vector<double>> all = {start};
    for (std::size_t k = 0; k < start.size(); ++k) {
        const Family::Parameter p = family.further()[k];
        for (const double share : {0.0, 0.3, 0.6, 1.0}) {
            if (!with_bounds && (share == 0 || share == 1)) continue;
            // Turning through the other parameters too, so that not all of them stay where they begin.
            std::vector<double> own = all.back();
            own[k] = p.low + share * (p.high - p.low);
            all.push_back(own);
        }
    }
    return all;
}

std::string title(const Family& family, const std::vector<double>& further) {
    std::string text = title(family);
    for (const double value : further) text += " " + std::to_string(value);
    return text;
}

std::vector<std::pair<SharedFamily, std::vector<double>>> all_settings(bool with_bounds = true) {
    std::vector<std::pair<SharedFamily, std::vector<double>>> all;
    for (const SharedFamily& family : all_families())
        for (const std::vector<double>& further : settings(*family, with_bounds)) all.emplace_back(family, further);
    return all;
}

TEST(Families, HaveNamesAndHelp) {
    EXPECT_GE(family_names().size(), 2U) << "the toy of the tests is one of them";
    for (const std::string& name : family_names()) {
        EXPECT_EQ(family(name)->name(), name);
        EXPECT_FALSE(family(name)->help().empty());
        for (const Family::Parameter& p : family(name)->further()) {
            EXPECT_FALSE(p.name.empty());
            EXPECT_LT(p.low, p.start);
            EXPECT_LT(p.start, p.high);
        }
    }
    EXPECT_THROW(family("cauchy-ish"), InputError);
    EXPECT_THROW(register_family(normal_family()), InputError);
}

TEST(Families, RefuseAnotherNumberOfFurtherParameters) {
    for (const std::string& name : family_names()) {
        const std::size_t own = family(name)->further().size();
        EXPECT_THROW(Standardised(family(name), std::vector<double>(own + 1)), InputError);
        if (own == 0) continue;
        EXPECT_THROW(Standardised{family(name)}, InputError);
        // Files of version 0.1, which have probabilities, know no such families.
        EXPECT_THROW(Recalibrated(Recalibrated::Knots::probabilities, {0.5}, {0.4}, family(name)), InputError);
    }
}

TEST(Families, CdfQuantileAndNormalScoreUndoOneAnother) {
    for (const auto& [family, further] : all_settings()) {
        SCOPED_TRACE(title(*family, further));
        for (const double p : {1e-12, 1e-3, 0.2, 0.5, 0.8, 0.999, 1 - 1e-9}) {
            const double u = family->quantile(p, further);
            EXPECT_NEAR(family->cdf(u, further), p, 1e-12 * p + 1e-15);
            EXPECT_NEAR(family->cdf(u, further) + family->survival(u, further), 1, 1e-14);
        }
        for (const double z : {-7.0, -2.0, -0.1, 0.0, 0.7, 3.0, 6.0})
            EXPECT_NEAR(family->normal_score(family->of_normal_score(z, further), further), z, 1e-7);
        double last = -kInfinity;
        for (const double u : kPlaces) {
            const double z = family->normal_score(u, further);
            EXPECT_GE(z, last);
            last = z;
        }
    }
}

// Of five points: it leaves out the step to the fourth times a fifth derivative, and rounding is 1e-16/kStep.
constexpr double kStep = 1e-3;
template <typename Function>
double difference(double x, Function function) {
    return (8 * (function(x + kStep) - function(x - kStep)) - (function(x + 2 * kStep) - function(x - 2 * kStep))) /
           (12 * kStep);
}

void expect_right(double value, double expected) {
    EXPECT_NEAR(value, expected, 1e-7 * (1 + std::fabs(expected)));
}

TEST(Families, DerivativesAgreeWithDifferences) {
    for (const auto& setting : all_settings()) {
        const Family& family = *setting.first;
        const std::vector<double>& further = setting.second;
        SCOPED_TRACE(title(family, further));
        for (const double u : {-4.1, -1.3, -0.41, 0.23, 0.9, 2.7}) {
            const auto slope = [&](auto function) {
                return difference(u, [&](double x) { return (family.*function)(x, further); });
            };
            // Around some rows a map leaves nothing here that a double can hold; training has no maps.
            if (family.recalibrated() && family.pdf(u, further) < 1e-290) continue;
            expect_right(family.pdf(u, further), slope(&Family::cdf));
            expect_right(family.log_pdf_slope(u, further), slope(&Family::log_pdf));
            expect_right(family.normal_score_slope(u, further), slope(&Family::normal_score));
            expect_right(family.cdf(u, further) - family.survival(u, further), slope(&Family::crps));
            expect_right(family.pdf(u, further), std::exp(family.log_pdf(u, further)));
        }
    }
}

TEST(Families, DerivativesByFurtherParametersAgreeWithDifferences) {
    for (const auto& setting : all_settings()) {
        const Family& family = *setting.first;
        const std::vector<double>& further = setting.second;
        SCOPED_TRACE(title(family, further));
        if (family.recalibrated()) continue;  // training knows no maps
        std::vector<double> score(further.size()), crps(further.size()), log_pdf(further.size());
        for (const double u : {-40.0, -4.1, -1.3, -0.41, 0.0, 0.23, 0.9, 2.7, 15.0}) {
            family.further_slopes(u, further, {score, crps, log_pdf});
            for (std::size_t k = 0; k < further.size(); ++k) {
                const auto slope = [&](auto function) {
                    return difference(further[k], [&](double x) {
                        std::vector<double> moved = further;
                        moved[k] = x;
                        return (family.*function)(u, moved);
                    });
                };
                expect_right(score[k], slope(&Family::normal_score));
                expect_right(crps[k], slope(&Family::crps));
                expect_right(log_pdf[k], slope(&Family::log_pdf));
            }
        }
    }
}

TEST(Families, SamplesHaveTheirMomentsAndScores) {
    constexpr std::size_t kDraws = 200'000;
    for (const auto& [family, further] : all_settings(false)) {
        SCOPED_TRACE(title(*family, further));
        core::Random random(15);
        std::vector<double> draws(kDraws);
        for (double& x : draws) x = family->of_normal_score(random.normal(), further);
        // Means of draws, and of distances to a place less half of those between draws: within five standard errors,
        // which happens in all but one of a million runs.
        const auto expect_mean = [&](double expected, auto value) {
            double sum = 0;
            double squares = 0;
            for (std::size_t i = 0; i < kDraws; ++i) {
                const double v = value(i);
                sum += v;
                squares += v * v;
            }
            const double mean = sum / kDraws;
            EXPECT_NEAR(mean, expected, 5 * std::sqrt((squares / kDraws - mean * mean) / kDraws));
        };
        const double mean = family->mean(further);
        const double sd = family->sd(further);
        expect_mean(mean, [&](std::size_t i) { return draws[i]; });
        expect_mean(sd * sd, [&](std::size_t i) { return (draws[i] - mean) * (draws[i] - mean); });
        for (const double u : {-1.5, 0.0, 2.0})
            expect_mean(family->crps(u, further), [&](std::size_t i) {
                return std::fabs(draws[i] - u) - std::fabs(draws[i] - draws[(i + 1) % kDraws]) / 2;
            });
    }
}

TEST(Families, CrpsMeanAndSpreadAreThoseOfTheCdf) {
    using boost::math::quadrature::gauss_kronrod;
    for (const auto& [family, further] : all_settings(false)) {
        SCOPED_TRACE(title(*family, further));
        const double sd = family->sd(further);
        // Split where pieces of a map may meet; far enough for any tail of a density that has a variance.
        const double reach = 60 * sd;
        const auto integral = [&](double from, double to, auto value) {
            double sum = 0;
            constexpr int kPieces = 1200;
            for (int k = 0; k < kPieces; ++k)
                sum += gauss_kronrod<double, 15>::integrate(value, from + (to - from) * k / kPieces,
                                                            from + (to - from) * (k + 1) / kPieces, 0);
            return sum;
        };
        const auto below = [&](double x) { return family->cdf(x, further); };
        const auto above = [&](double x) { return family->survival(x, further); };
        for (const double u : {-2.3, 0.0, 0.8, 5.0}) {
            const double expected = integral(-reach, u, [&](double x) { return below(x) * below(x); }) +
                                    integral(u, reach, [&](double x) { return above(x) * above(x); });
            EXPECT_NEAR(family->crps(u, further), expected, 1e-5 * (1 + expected));
        }
        const double mean = integral(0, reach, above) - integral(-reach, 0, below);
        EXPECT_NEAR(family->mean(further), mean, 1e-5);
        const double square = 2 * (integral(0, reach, [&](double x) { return x * above(x); }) +
                                   integral(-reach, 0, [&](double x) { return -x * below(x); }));
        EXPECT_NEAR(sd, std::sqrt(square - mean * mean), 1e-4);
    }
}

TEST(Families, CrpsOfAMapAroundThemIsThatOfItsCdf) {
    using boost::math::quadrature::gauss_kronrod;
    std::vector<double> tied = {-3, -1.2, -0.4, 0.2, 0.2, 1.7, 2.2, 6};
    tied.resize(40, -3);
    for (const std::string& name : family_names()) {
        if (!family(name)->further().empty()) continue;
        for (const auto& map :
             {Recalibrated::fitted(tied, {}, family(name)),
              std::make_shared<const Recalibrated>(Recalibrated::Knots::scores, std::vector<double>{-2, -0.5, 0.1, 1.5},
                                                   std::vector<double>{-1.4, -0.2, 0.4, 1.9}, family(name))}) {
            SCOPED_TRACE(title(*map));
            const auto integral = [&](double u, auto below, auto above) {
                // Split where the pieces of the map meet, at the median, and where the cdf has moved a little.
                std::vector<double> edges = {u, map->inner()->of_normal_score(0, {})};
                for (const double w : map->predicted()) edges.push_back(map->inner()->of_normal_score(w, {}));
                for (double v = -13; v <= 13; v += 0.25) edges.push_back(map->of_normal_score(v, {}));
                std::sort(edges.begin(), edges.end());
                double sum = 0;
                for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
                    if (!(edges[k] < edges[k + 1])) continue;
                    const auto value = [&](double x) { return edges[k] < u ? below(x) : above(x); };
                    sum += gauss_kronrod<double, 31>::integrate(value, edges[k], edges[k + 1], 0);
                }
                return sum;
            };
            for (const double u : {-12.0, -3.0, -2.3, 0.0, 0.8, 5.0}) {
                const double exact = integral(
                    u, [&](double x) { return std::pow(map->cdf(x, {}), 2); },
                    [&](double x) { return std::pow(map->survival(x, {}), 2); });
                // Both are sums of a few hundred smooth parts, right to a few digits less than a double has.
                EXPECT_NEAR(map->crps(u, {}), exact, 1e-11 * exact) << u;
                const double distance = integral(
                    u, [&](double x) { return map->cdf(x, {}); }, [&](double x) { return map->survival(x, {}); });
                EXPECT_LE(map->crps(u, {}), distance) << u;
            }
        }
    }
}

TEST(Families, CrpsIsThatOfAScore) {
    core::Random random(5);
    for (const auto& [family, further] : all_settings()) {
        SCOPED_TRACE(title(*family, further));
        for (int k = 0; k < 200; ++k) {
            const double a = 6 * random.normal();
            const double b = 6 * random.normal();
            const double at_a = family->crps(a, further);
            const double at_b = family->crps(b, further);
            EXPECT_GE(at_a, 0);
            EXPECT_LE(std::fabs(at_a - at_b), std::fabs(a - b) * (1 + 1e-9) + 1e-9);
            EXPECT_LE(family->crps((a + b) / 2, further), (at_a + at_b) / 2 + 1e-9);
            EXPECT_GE(at_a, family->crps(family->quantile(0.5, further), further) - 1e-9);
        }
    }
}

TEST(Families, ExtremesAreFiniteOrFar) {
    for (const auto& [family, further] : all_settings()) {
        SCOPED_TRACE(title(*family, further));
        for (const double u : {0.0, 1e-300, 1e3, 1e100, -1e100}) {
            EXPECT_TRUE(std::isfinite(family->crps(u, further))) << u;
            EXPECT_GE(family->pdf(u, further), 0) << u;
            EXPECT_GE(family->cdf(u, further), 0) << u;
            EXPECT_LE(family->cdf(u, further), 1) << u;
        }
        // A map may make the tail heavier than that of the family itself, which is 0 there.
        EXPECT_LE(family->cdf(-1e100, further), 1e-200);
        EXPECT_LE(family->survival(1e100, further), 1e-200);
    }
}

TEST(Families, BlocksAreTheRowsOneByOne) {
    core::Random random(6);
    constexpr std::size_t kRows = 700;
    std::vector<double> errors(kRows), sigmas(kRows), crps(kRows), nlpd(kRows), cdf(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
        sigmas[i] = std::exp(random.normal());
        errors[i] = 2 * sigmas[i] * random.normal();
        cdf[i] = errors[i] / sigmas[i];
    }
    for (const SharedFamily& family : all_families()) {
        SCOPED_TRACE(title(*family));
        if (!family->further().empty()) continue;
        const Standardised standardised(family);
        standardised.crps_block(kRows, errors.data(), sigmas.data(), crps.data());
        standardised.nlpd_block(kRows, errors.data(), sigmas.data(), nlpd.data());
        std::vector<double> values = cdf;
        standardised.cdf_block(kRows, values.data());
        for (std::size_t i = 0; i < kRows; ++i) {
            const double z = errors[i] / sigmas[i];
            EXPECT_NEAR(crps[i], sigmas[i] * standardised.crps(z), 1e-12 * (1 + crps[i]));
            EXPECT_NEAR(nlpd[i], std::log(sigmas[i]) - std::log(standardised.pdf(z)), 1e-10 * (1 + std::fabs(nlpd[i])));
            EXPECT_NEAR(values[i], standardised.cdf(z), 1e-14);
        }
    }
}

}  // namespace
}  // namespace accrue
