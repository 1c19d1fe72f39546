// Censored and truncated families against their definitions, published closed forms, differences and samples.
#include "accrue/bounded.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "accrue/error.hpp"
#include "core/random.hpp"

namespace accrue {
namespace {

using Kind = Bounded::Kind;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double normal_density(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}
double normal_below(double z) {
    return std::erfc(-z / std::numbers::sqrt2) / 2;
}

struct Setting {
    SharedFamily inner;
    Kind kind;
    double low, high;             // infinite where there is none
    std::vector<double> further;  // of the inner family

    Bounded family() const { return {kind, {low, high}, inner}; }
    // Further parameters, then bounds and a number of the row's own.
    std::vector<double> values(double uniform = 0.3) const {
        std::vector<double> values = further;
        if (low > -kInfinity) values.push_back(low);
        if (high < kInfinity) values.push_back(high);
        if (kind == Kind::censored) values.push_back(uniform);
        return values;
    }
};

std::vector<Setting> settings() {
    std::vector<Setting> all;
    const std::vector<std::pair<std::string, std::vector<double>>> inner = {
        {"normal", {}}, {"logistic", {}}, {"sinh-arcsinh", {0.4, 0.2}}, {"two-piece-normal", {-0.6}}};
    for (const auto& [name, further] : inner)
        for (const Kind kind : {Kind::censored, Kind::truncated})
            for (const auto& [low, high] : {std::pair{-0.7, kInfinity}, std::pair{-kInfinity, 1.2},
                                            std::pair{-1.5, 0.6}, std::pair{0.4, 2.0}, std::pair{2.5, kInfinity}})
                all.push_back({family(name), kind, low, high, further});
    // Its tails are too heavy for the plain integrals here.
    for (const Kind kind : {Kind::censored, Kind::truncated})
        all.push_back({family("student-t"), kind, -1.5, 0.6, {family("student-t")->further()[0].start}});
    return all;
}

std::string title(const Setting& s) {
    return testing::PrintToString(s.inner->name()) + (s.kind == Kind::censored ? " censored " : " truncated ") +
           std::to_string(s.low) + " " + std::to_string(s.high);
}

// Places between the bounds, and one beyond each.
std::vector<double> places(const Setting& s) {
    const double from = std::max(s.low, -3.0);
    const double to = std::min(s.high, std::max(3.0, s.low + 3));
    std::vector<double> u = {from - 0.5, to + 0.5};
    for (const double share : {0.07, 0.3, 0.62, 0.9}) u.push_back(from + share * (to - from));
    return u;
}

template <typename Value>
double integral(double from, double to, Value value) {
    if (from < 0 && to > 0) return integral(from, 0, value) + integral(0, to, value);  // a two-piece normal's kink
    double sum = 0;
    constexpr int kPieces = 300;
    for (int k = 0; k < kPieces; ++k)
        sum += boost::math::quadrature::gauss_kronrod<double, 15>::integrate(value, from + (to - from) * k / kPieces,
                                                                             from + (to - from) * (k + 1) / kPieces, 0);
    return sum;
}

TEST(Bounded, CrpsAndMomentsAreThoseOfTheCdf) {
    for (const Setting& s : settings()) {
        SCOPED_TRACE(title(s));
        const Bounded family = s.family();
        const std::vector<double> given = s.values();
        const double from = std::max(s.low, -60.0);
        const double to = std::min(s.high, 60.0);
        const auto below = [&](double x) { return family.cdf(x, given); };
        const auto above = [&](double x) { return family.survival(x, given); };
        for (const double u : places(s)) {
            const double own = std::clamp(u, from, to);
            const double expected = integral(from, own, [&](double x) { return below(x) * below(x); }) +
                                    integral(own, to, [&](double x) { return above(x) * above(x); }) +
                                    std::fabs(u - own);
            EXPECT_NEAR(family.crps(u, given), expected, 1e-11) << u;
        }
        const double mean = from + integral(from, to, above);
        EXPECT_NEAR(family.mean(given), mean, 1e-11);
        const double square = integral(from, to, [&](double x) { return 2 * (x - mean) * above(x); });
        EXPECT_NEAR(family.sd(given), std::sqrt(square + (mean - from) * (mean - from)), 1e-9);
        EXPECT_EQ(s.low > -kInfinity ? below(s.low - 1e-9) : 0, 0);
        EXPECT_EQ(s.high < kInfinity ? above(s.high) : 0, 0);
    }
}

TEST(Bounded, CensoredNormalHasTheClosedFormOfTheDesign) {
    // With z = max(u, l): z(2 Phi(z) - 1) + 2 phi(z) - (1 - Phi(sqrt(2) l))/sqrt(pi) - 2 phi(l) Phi(l) - l Phi(l)^2.
    const Bounded family(Kind::censored, {0});
    for (const double l : {-6.0, -1.0, 0.0, 0.8, 3.0})
        for (const double u : {l, l + 0.2, l + 2}) {
            const double expected = u * (2 * normal_below(u) - 1) + 2 * normal_density(u) -
                                    (1 - normal_below(std::numbers::sqrt2 * l)) / std::sqrt(std::numbers::pi) -
                                    2 * normal_density(l) * normal_below(l) - l * normal_below(l) * normal_below(l);
            EXPECT_NEAR(family.crps(u, std::vector{l, 0.5}), expected, 1e-12) << l << " " << u;
        }
}

TEST(Bounded, DerivativesAgreeWithDifferences) {
    constexpr double kStep = 5e-4;
    for (const Setting& s : settings()) {
        SCOPED_TRACE(title(s));
        const Bounded family = s.family();
        const std::vector<double> given = s.values();
        std::vector<double> score(given.size()), crps(given.size()), log_pdf(given.size());
        for (const double u : places(s)) {
            SCOPED_TRACE(u);
            const bool inside = u > s.low && u < s.high;
            const auto difference = [&](auto function, std::size_t k) {  // by u where k is past the end
                const auto at = [&](double by) {
                    std::vector<double> moved = given;
                    if (k < moved.size()) moved[k] += by;
                    return (family.*function)(k < moved.size() ? u : u + by, moved);
                };
                return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
            };
            const auto expect = [](double value, double expected) {
                EXPECT_NEAR(value, expected, 1e-7 * (1 + std::fabs(expected)));
            };
            expect(family.cdf(u, given) - family.survival(u, given), difference(&Family::crps, given.size()));
            family.further_slopes(u, given, {score, crps, log_pdf});
            const std::size_t bounds = given.size() - (s.kind == Kind::censored ? 1 : 0);
            for (std::size_t k = 0; k < bounds; ++k) expect(crps[k], difference(&Family::crps, k));
            if (!inside && s.kind == Kind::truncated) continue;  // no probability there
            for (std::size_t k = 0; k < bounds; ++k) {
                expect(score[k], difference(&Family::normal_score, k));
                expect(log_pdf[k], difference(&Family::log_pdf, k));
            }
            expect(family.normal_score_slope(u, given), difference(&Family::normal_score, given.size()));
            expect(family.log_pdf_slope(u, given), difference(&Family::log_pdf, given.size()));
            if (inside) expect(family.pdf(u, given), difference(&Family::cdf, given.size()));
        }
    }
}

TEST(Bounded, RowsHaveTheSlopesOfDifferences) {
    // Bounds are in the unit of y: they move against location and scale as the observation does, on an atom too.
    constexpr double kStep = 5e-4;
    for (const Setting& s : settings()) {
        SCOPED_TRACE(title(s));
        const Bounded family = s.family();
        const double scale = 0.8;
        const std::vector<double> units = s.values();
        for (double u : places(s)) {
            u = std::clamp(u, s.low, s.high);
            if (s.kind == Kind::truncated && (u == s.low || u == s.high)) continue;
            SCOPED_TRACE(u);
            for (const bool normal_scores : {false, true}) {
                double slopes[2];
                std::vector<double> by_further(s.further.size() + 1);
                const auto value = [&](double location, double log_scale, bool with_slopes, double first = 0) {
                    const double own = scale * std::exp(log_scale);
                    const double error = scale * u - location;
                    std::vector<double> given(units.begin() + static_cast<std::ptrdiff_t>(s.further.size()),
                                              units.end());
                    for (std::size_t k = 0; k < given.size(); ++k)
                        if (family.given()[k] == Family::Given::bound) given[k] = scale * given[k] - location;
                    std::vector<double> further = s.further;
                    if (!further.empty()) further[0] += first;
                    const Family::Rows rows{1, &error, &own, further.data(), 1, given.data()};
                    const Family::RowSlopes out{&slopes[0], &slopes[1], by_further.data(), 1};
                    double result = 0;
                    if (normal_scores)
                        family.normal_score_rows(rows, &result, with_slopes ? &out : nullptr);
                    else
                        family.crps_rows(rows, &result, with_slopes ? &out : nullptr, Family::Precision::exact);
                    return result;
                };
                const double own = value(0, 0, true);
                if (!normal_scores) {
                    EXPECT_NEAR(own, scale * family.crps(u, units), 1e-6);
                }
                // Where there is no closed form, training has integrals to 1e-6.
                const double error = s.kind == Kind::censored && s.further.empty() ? 1e-7 : 1e-6;
                const auto difference = [&](auto at) {
                    return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
                };
                const double by_location = difference([&](double by) { return value(by, 0, false); });
                const double by_log_scale = difference([&](double by) { return value(0, by, false); });
                EXPECT_NEAR(slopes[0], by_location, error * (1 + std::fabs(by_location)));
                EXPECT_NEAR(slopes[1], by_log_scale, error * (1 + std::fabs(by_log_scale)));
                if (s.further.empty()) continue;
                const double by_first = difference([&](double by) { return value(0, 0, false, by); });
                EXPECT_NEAR(by_further[0], by_first, error * (1 + std::fabs(by_first)));
            }
        }
    }
}

TEST(Bounded, PitsOfItsOwnDrawsAreUniformAtomsIncluded) {
    constexpr std::size_t kDraws = 20'000;
    for (const Setting& s : settings()) {
        SCOPED_TRACE(title(s));
        const Bounded family = s.family();
        core::Random random(41);
        double mean = 0;
        double square = 0;
        for (std::size_t i = 0; i < kDraws; ++i) {
            const std::vector<double> given = s.values(Bounded::uniform_of_row(i));
            const double u = family.quantile(random.uniform(1e-12, 1), given);
            const double z = family.normal_score(u, given);
            mean += z / kDraws;
            square += z * z / kDraws;
        }
        // Five standard errors of a mean, and of a mean square, of that many normal numbers.
        EXPECT_NEAR(mean, 0, 5 / std::sqrt(kDraws));
        EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / kDraws));
    }
}

TEST(Bounded, NumbersOfRowsAreTheirOwn) {
    std::set<double> all;
    for (std::uint64_t row = 0; row < 1000; ++row) {
        const double own = Bounded::uniform_of_row(row);
        EXPECT_EQ(own, Bounded::uniform_of_row(row));
        EXPECT_NE(own, Bounded::uniform_of_row(row, 1));
        EXPECT_TRUE(own > 0 && own < 1);
        all.insert(own);
    }
    EXPECT_EQ(all.size(), 1000U);
}

TEST(Bounded, BearsBoundsThatAreFarAway) {
    for (const Kind kind : {Kind::censored, Kind::truncated})
        for (const double low : {-1e6, -30.0, 12.0, 30.0, 1000.0}) {
            const Setting s{normal_family(), kind, low, kInfinity, {}};
            SCOPED_TRACE(title(s));
            const Bounded family = s.family();
            const std::vector<double> given = s.values();
            for (const double u : {low, low + 1e-3, low + 1, low + 1e4}) {
                EXPECT_TRUE(std::isfinite(family.crps(u, given)) && family.crps(u, given) >= 0) << u;
                EXPECT_TRUE(std::isfinite(family.normal_score(u, given))) << u;
                EXPECT_GE(family.cdf(u, given), 0) << u;
            }
            if (low <= -30) {
                EXPECT_NEAR(family.crps(0.4, given), normal_family()->crps(0.4, {}), 1e-12);
                EXPECT_NEAR(family.mean(given), 0, 1e-11);
                EXPECT_NEAR(family.sd(given), 1, 1e-11);
            } else if (kind == Kind::truncated) {
                // A tail is nearly an exponential distribution of the scale 1/low.
                EXPECT_NEAR((family.mean(given) - low) * low, 1, 3 / low / low);
                EXPECT_NEAR(family.sd(given) * low, 1, 5 / low / low);
                EXPECT_NEAR(family.cdf(family.quantile(0.3, given), given), 0.3, 1e-7);
            }
        }
}

TEST(Bounded, RefusesWhatHasNoBoundsOrTwoPairsOfThem) {
    EXPECT_THROW(Bounded(Kind::censored, {}), InputError);
    EXPECT_THROW(Bounded(Kind::censored, {1, 1}), InputError);
    EXPECT_THROW(Bounded(Kind::censored, {0}, std::make_shared<Bounded>(Kind::censored, Limits{0})), InputError);
    EXPECT_THROW(Standardised(std::make_shared<Bounded>(Kind::truncated, Limits{0})), InputError);
    const Standardised row(std::make_shared<Bounded>(Kind::truncated, Limits{0}), {0});
    EXPECT_NEAR(row.u_mean(), std::sqrt(2 / std::numbers::pi), 1e-12);
    EXPECT_EQ(Bounded(Kind::censored, {0, 1}).given().size(), 3U);
}

}  // namespace
}  // namespace accrue
