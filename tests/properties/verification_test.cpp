// What holds for the figures of every forecast: order, units and weights of the rows, bounds, parts of wholes.
//
// Tolerances. A sum of n terms in another order differs by at most n roundings of the sum of the terms' sizes, and a
// term itself by some sixteen (two quotients, erf and exp to 2.5e-16, products). So each figure gets R = 4*(n + 16)
// roundings of the size of its terms, the 4 for figures of several sums; how a figure depends on its sums is said where
// it is compared.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "accrue/scores.hpp"
#include "accrue/verify.hpp"
#include "support/cases.hpp"
#include "support/families.hpp"

namespace accrue {
namespace {

using support::Case;
using support::in_unit;
using support::kEpsilon;
using support::picked;
using support::random_case;
using support::shuffled;
using support::Units;
using support::Weights;

constexpr std::uint64_t kCases = 120;

VerifyOptions quick() {
    VerifyOptions options;
    options.diagram_points = 21;
    options.replicates = 20;
    return options;
}

// Recalibrated forecasts: a skewed map with a flat and a steep piece, and a fitted one.
const std::vector<Standardised>& maps() {
    static const std::vector<Standardised> list = [] {
        core::Random random(5);
        std::vector<double> u;
        for (int i = 0; i < 60; ++i) u.push_back(std::exp(random.normal()) - 1);
        return std::vector<Standardised>{
            support::recalibrated(Recalibrated::Knots::scores, {-2.0, -0.5, 0.0, 0.01, 1.5},
                                  {-1.5, -0.2, 0.3, 1.2, 1.7}),
            support::fitted(u)};
    }();
    return list;
}
// The map of a row goes with its code, so that it stays with the row.
std::vector<std::uint32_t> map_codes(const Case& c) {
    std::vector<std::uint32_t> codes;
    for (const std::uint32_t code : c.codes) codes.push_back(code % 2);
    return codes;
}

enum class Kind { gaussian, recalibrated };

Verification figures(const Case& c, Kind kind = Kind::gaussian, bool with_groups = false) {
    const std::vector<ColumnGrouping> by = {{"column", c.grouping()}};
    const Grouping groups = with_groups ? c.grouping() : Grouping{};
    if (kind == Kind::gaussian) return verify(c.errors, c.sigmas, c.weights, groups, quick(), by);
    const std::vector<std::uint32_t> codes = map_codes(c);
    return verify(c.errors, c.sigmas, support::families(maps(), codes), c.weights, groups, quick(), by);
}

// The rows as verify() sees them: z (of a recalibrated forecast the normal score of its PIT) and the errors that a
// constant sigma is fitted to (those before recalibration).
struct Seen {
    std::vector<double> z, errors;
};
// With the same roundings: they decide about the order of rows whose z are nearly equal.
Seen seen(const Case& c, Kind kind) {
    Seen rows;
    for (std::size_t i = 0; i < c.rows(); ++i) {
        const double z = c.errors[i] / c.sigmas[i];
        const Standardised& map = maps()[c.codes[i] % 2];
        const double score = std::clamp(map.normal_score(z), -38.0, 38.0);
        rows.z.push_back(kind == Kind::gaussian ? z : score);
        rows.errors.push_back(kind == Kind::gaussian ? c.errors[i] : c.errors[i] + map.mean_shift(c.sigmas[i]));
    }
    return rows;
}

// Weighted means of the sizes of terms.
struct Sizes {
    double z = 0;      // |z|
    double max_z = 0;  // of all rows
    double squared_z = 0;
    double row = 0;  // |e| + sigma
    double log_sigma = 0;
    // By how much log(constant sigma) moves for a change of the mean slope that it is the root of.
    double constant_sigma = 0;
};
Sizes sizes(const Case& c, const Seen& rows, double constant_sigma) {
    Sizes mean;
    double total = 0;
    double slope = 0;
    for (std::size_t i = 0; i < c.rows(); ++i) total += c.weight(i);
    for (std::size_t i = 0; i < c.rows(); ++i) {
        const double share = c.weight(i) / total;
        const double z = std::fabs(rows.z[i]);
        mean.z += share * z;
        mean.max_z = std::max(mean.max_z, z);
        mean.squared_z += share * z * z;
        mean.row += share * (std::fabs(c.errors[i]) + std::fabs(rows.errors[i]) + c.sigmas[i]);
        mean.log_sigma += share * std::fabs(std::log(c.sigmas[i]));
        if (constant_sigma > 0) {
            const double square = std::pow(rows.errors[i] / constant_sigma, 2) / 2;
            slope += share * std::sqrt(2 / std::numbers::pi) * 2 * square * std::exp(-square);
        }
    }
    mean.constant_sigma = slope > 0 ? 1 / slope : 0;
    return mean;
}

// The quantiles of z by a plain sort, as docs/evaluate.md has them: linear between the middles of the rows' weights.
double plain_quantile(const Case& c, const Seen& rows, double share) {
    std::vector<std::pair<double, double>> sorted;
    double total = 0;
    for (std::size_t i = 0; i < c.rows(); ++i)
        if (c.weight(i) > 0) {
            sorted.emplace_back(rows.z[i] * std::sqrt(0.5), c.weight(i));  // t, which is what is sorted
            total += c.weight(i);
        }
    std::sort(sorted.begin(), sorted.end());
    for (auto& [t, weight] : sorted) t *= std::numbers::sqrt2;
    double before = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto [z, weight] = sorted[i];
        const double middle = (before + weight / 2) / total;
        if (middle >= share) {
            if (i == 0) return z;
            const double last = (before - sorted[i - 1].second / 2) / total;
            return sorted[i - 1].first + (share - last) / (middle - last) * (z - sorted[i - 1].first);
        }
        before += weight;
    }
    return sorted.back().first;
}

struct Comparison {
    double unit = 1;       // of the found figures over the expected ones'
    bool exact = false;    // to the last bit
    double rows = 0;       // in the sums, where it is not as many as there are in the case
    bool counts = true;    // what follows from the number of rows: floors, p-value, balance
    bool on_edges = true;  // rows on the edge of an interval may not change sides
    Kind kind = Kind::gaussian;
};

void expect_near(double found, double expected, double tolerance, const char* what) {
    if (std::isnan(expected) && std::isnan(found)) return;
    if (found == expected) return;
    EXPECT_LE(std::fabs(found - expected), tolerance) << what << " is " << found << ", not " << expected;
}

// Figures of the rows of `c`, some of them put differently, against those of `c` itself.
void expect_same(const Verification& found, const Verification& expected, const Case& c, const Comparison& how) {
    const double n = how.rows > 0 ? how.rows : static_cast<double>(c.rows());
    const double r = how.exact ? 0 : 4 * (n + 16) * kEpsilon;
    const Seen rows = seen(c, how.kind);
    const Sizes size = sizes(c, rows, expected.constant_sigma);
    const double unit = how.unit;

    expect_near(found.crps, expected.crps * unit, r * size.row * unit, "crps");
    // 1 - crps/constant, either with its own rounding; constant is at least 0.23 of its sigma and 0.59 of mean |e|. A
    // recalibrated forecast's has the Gaussian's 1 - skill as a factor, in which rounding of 1 stays.
    double relative_crps = r * size.row / expected.crps + 8 * r;
    double of_one = how.exact ? 0 : 8 * kEpsilon;
    if (how.kind == Kind::recalibrated && !how.exact) {
        const double gaussian = mean_crps(rows.errors, c.sigmas, c.weights);
        relative_crps += r * size.row / gaussian;
        of_one *= 1 + expected.crps / gaussian;
    }
    expect_near(found.crps_skill, expected.crps_skill, std::fabs(1 - expected.crps_skill) * relative_crps + of_one,
                "skill");
    expect_near(found.constant_sigma, expected.constant_sigma * unit,
                r * (1 + size.constant_sigma) * expected.constant_sigma * unit, "constant sigma");
    if (unit == 1) {
        expect_near(found.nlpd, expected.nlpd, r * (size.log_sigma + size.squared_z / 2 + 1), "nlpd");
    }
    // t*(erf t + 1 - place): a place is a sum of weights, up to 2.
    const double of_rs = r * (2 * size.z + 1);
    expect_near(found.rs, expected.rs, of_rs, "rs");
    // Distances of shares and PITs, all at most 1.
    expect_near(found.calibration_error, expected.calibration_error, r, "calibration error");
    expect_near(found.sign_bound, expected.sign_bound, r, "sign bound");
    expect_near(found.mean_z, expected.mean_z, r * size.z, "mean z");
    // About a mean that is wrong by d it is sqrt(sd^2 + d^2), at most sd + d.
    expect_near(found.sd_z, expected.sd_z, r * std::sqrt(size.squared_z), "sd z");
    // Where their squares leave the doubles, rows are summed in another order.
    const double of_squares = (how.exact && unit == 1 ? 0 : 4 * (n + 16) * kEpsilon) * unit;
    expect_near(found.sharpness, expected.sharpness * unit, of_squares * expected.sharpness, "sharpness");
    expect_near(found.rmse, expected.rmse * unit, of_squares * expected.rmse, "rmse");
    ASSERT_EQ(found.coverage.size(), expected.coverage.size());
    for (std::size_t l = 0; l < found.coverage.size(); ++l) {
        const Coverage& a = found.coverage[l];
        const Coverage& b = expected.coverage[l];
        double edge = 0;
        double total = 0;
        for (std::size_t i = 0; i < c.rows(); ++i) {
            const double quantile = b.mean_width > 0 ? support::normal().quantile((1 + b.level) / 2) : 0;
            total += c.weight(i);
            if (std::fabs(std::fabs(rows.z[i]) - quantile) <= 16 * kEpsilon * quantile) edge += c.weight(i);
        }
        expect_near(a.observed, b.observed, r + (how.on_edges ? 0 : edge / total), "coverage");
        expect_near(a.mean_width, b.mean_width * unit, r * b.mean_width * unit, "width");
        // Distances beyond the interval are differences of e and an end.
        expect_near(a.interval_score, b.interval_score * unit,
                    r * unit * (b.mean_width + 2 / (1 - b.level) * (size.row + b.mean_width)), "interval score");
    }
    ASSERT_EQ(found.diagram.observed.size(), expected.diagram.observed.size());
    if (how.on_edges)
        for (std::size_t k = 0; k < found.diagram.observed.size(); ++k)
            expect_near(found.diagram.observed[k], expected.diagram.observed[k], r, "diagram");

    if (!how.counts) return;
    EXPECT_EQ(found.rows, expected.rows);
    expect_near(found.effective_rows, expected.effective_rows, r * expected.effective_rows, "effective rows");
    expect_near(found.rs_floor, expected.rs_floor, r * expected.rs_floor, "floor of rs");
    // Each has its own error, the density of the distance is below 2*sqrt(n) + 2, and by a row it changes by less
    // than 1. The floor is searched to 1e-12.
    const double of_rows = how.exact ? 0 : r * expected.effective_rows;
    const double of_p = how.exact ? 0 : 2 * kKolmogorovError + (2 * std::sqrt(n) + 2) * r + of_rows;
    expect_near(found.calibration_p_value, expected.calibration_p_value, of_p, "p-value");
    expect_near(found.calibration_floor, expected.calibration_floor, how.exact ? 0 : 2e-12 + of_rows, "floor");
    // The balance takes a whole number of rows, and rounding decides about a half.
    const double part = expected.effective_rows - std::floor(expected.effective_rows);
    if (unit == 1 && std::fabs(part - 0.5) > 1e-9) {
        expect_near(found.beta, expected.beta, r * expected.beta, "beta");
        expect_near(found.ar, expected.ar, 2 * r * expected.beta * size.row + of_rs, "ar");
    }
    // Rounding of a unit may exchange rows that are nearly equal, and the middles of their weights.
    for (std::size_t k = 0; k < kZShares.size() && how.on_edges; ++k) {
        if (how.exact) {
            EXPECT_EQ(found.z_quantiles[k], expected.z_quantiles[k]);
            continue;
        }
        // Monotone in the share, which a sum of weights decides.
        const double around = 16 * kEpsilon * size.max_z;
        EXPECT_GE(found.z_quantiles[k], plain_quantile(c, rows, kZShares[k] - r) - around);
        EXPECT_LE(found.z_quantiles[k], plain_quantile(c, rows, kZShares[k] + r) + around);
    }
    ASSERT_EQ(found.by.size(), expected.by.size());
    for (std::size_t b = 0; b < found.by.size(); ++b) {
        ASSERT_EQ(found.by[b].values.size(), expected.by[b].values.size());
        for (std::size_t v = 0; v < found.by[b].values.size(); ++v) {
            SCOPED_TRACE("value " + expected.by[b].values[v].name);
            EXPECT_EQ(found.by[b].values[v].name, expected.by[b].values[v].name);
            std::vector<std::size_t> own;
            for (std::size_t i = 0; i < c.rows(); ++i)
                if (c.labels[c.codes[i]] == expected.by[b].values[v].name) own.push_back(i);
            expect_same(found.by[b].values[v], expected.by[b].values[v], picked(c, own), how);
        }
    }
}

void for_cases(Weights weights, const auto& work, Units units = Units::any) {
    for (std::uint64_t number = 0; number < kCases; ++number)
        for (const Kind kind : {Kind::gaussian, Kind::recalibrated}) {
            const Case c =
                random_case(number, number % 3 == 0 && weights == Weights::any ? Weights::none : weights, units);
            SCOPED_TRACE(c.name + (kind == Kind::gaussian ? ", Gaussian" : ", recalibrated"));
            core::Random random(number, 18);
            work(c, kind, random);
            if (testing::Test::HasFailure()) return;
        }
}

TEST(Properties, TheOrderOfRowsChangesNoFigure) {
    for_cases(Weights::any, [](const Case& c, Kind kind, core::Random& random) {
        const Verification expected = figures(c, kind, true);
        const Verification found = figures(shuffled(c, random), kind, true);
        Comparison how;
        how.kind = kind;
        expect_same(found, expected, c, how);
        if (!c.weights.empty()) return;
        // Counts of rows are exact, and so is what is drawn from them.
        EXPECT_EQ(found.diagram.pointwise.low, expected.diagram.pointwise.low);
        EXPECT_EQ(found.diagram.simultaneous.high, expected.diagram.simultaneous.high);
        EXPECT_EQ(found.diagram.group_pointwise.low, expected.diagram.group_pointwise.low);
        EXPECT_EQ(found.diagram.group_simultaneous.high, expected.diagram.group_simultaneous.high);
        EXPECT_EQ(found.calibration_p_value, expected.calibration_p_value);
    });
}

TEST(Properties, TheOrderOfRowsChangesNoScore) {
    for_cases(Weights::any, [](const Case& c, Kind kind, core::Random& random) {
        if (kind != Kind::gaussian) return;
        const Case other = shuffled(c, random);
        const Sizes size = sizes(c, seen(c, kind), 0);
        const double r = 4 * (static_cast<double>(c.rows()) + 16) * kEpsilon;
        const AccuracyReliability a = accuracy_reliability(c.errors, c.sigmas, 0.3, c.weights);
        const AccuracyReliability b = accuracy_reliability(other.errors, other.sigmas, 0.3, other.weights);
        expect_near(b.crps, a.crps, r * size.row, "crps");
        expect_near(b.rs, a.rs, r * (2 * size.z + 1), "rs");
        expect_near(b.value, a.value, r * (size.row + 2 * size.z + 1), "ar");
        expect_near(mean_crps(other.errors, other.sigmas, other.weights), mean_crps(c.errors, c.sigmas, c.weights),
                    r * size.row, "mean crps");
        expect_near(mean_nlpd(other.errors, other.sigmas, other.weights), mean_nlpd(c.errors, c.sigmas, c.weights),
                    r * (size.log_sigma + size.squared_z / 2 + 1), "mean nlpd");
        expect_near(crps_minimum(other.errors, other.weights), crps_minimum(c.errors, c.weights), r * size.row,
                    "least crps");
    });
}

TEST(Properties, AMapFittedToRowsDoesNotDependOnTheirOrder) {
    for_cases(Weights::none, [](const Case& c, Kind kind, core::Random& random) {
        if (kind != Kind::gaussian) return;
        const auto expected = Recalibrated::fitted(seen(c, kind).z);
        const auto found = Recalibrated::fitted(seen(shuffled(c, random), kind).z);
        EXPECT_EQ(found->predicted(), expected->predicted());
        EXPECT_EQ(found->actual(), expected->actual());
    });
}

TEST(Properties, AUnitThatIsAPowerOfTwoChangesNoBit) {
    for_cases(
        Weights::any,
        [](const Case& c, Kind kind, core::Random&) {
            const Verification expected = figures(c, kind, true);
            // To 1e-280 and 1e150; errors go down to 1e-8 of the unit, and the smallest normal double is 2e-308.
            for (const double unit : {0x1p-930, 0x1p498}) {
                Comparison how;
                how.kind = kind;
                how.unit = unit;
                how.exact = true;
                const Verification found = figures(in_unit(c, unit), kind, true);
                expect_same(found, expected, c, how);
                EXPECT_EQ(found.diagram.group_pointwise.low, expected.diagram.group_pointwise.low);
            }
        },
        Units::common);
}

TEST(Properties, AnyUnitChangesFiguresByItsFactorOnly) {
    for_cases(
        Weights::any,
        [](const Case& c, Kind kind, core::Random& random) {
            // A recalibrated forecast's steep pieces enlarge the rounding of z; the test above tries those.
            if (kind != Kind::gaussian) return;
            const Verification expected = figures(c);
            for (const double unit : {random.uniform() < 0.5 ? 1e-280 : 1e150, std::exp(3 * random.normal())}) {
                Comparison how;
                how.unit = unit;
                how.on_edges = false;
                const Verification found = figures(in_unit(c, unit));
                expect_same(found, expected, c, how);
                const Sizes size = sizes(c, seen(c, kind), 0);
                const double r = 4 * (static_cast<double>(c.rows()) + 16) * kEpsilon;
                expect_near(found.nlpd, expected.nlpd + std::log(unit),
                            r * (size.log_sigma + std::fabs(std::log(unit)) + size.squared_z / 2 + 1), "nlpd");
            }
        },
        Units::common);
}

TEST(Properties, TheUnitOfWeightsChangesNoBit) {
    for_cases(
        Weights::any,
        [](const Case& c, Kind kind, core::Random& random) {
            if (c.weights.empty()) return;
            const Verification expected = figures(c, kind);
            const double factor = random.uniform() < 0.5 ? 0x1p-600 : 0x1p600;
            Case other = c;
            for (double& w : other.weights) w *= factor;
            Comparison how;
            how.kind = kind;
            how.exact = true;
            expect_same(figures(other, kind), expected, c, how);
        },
        Units::common);
}

// Weights count rows for all but what follows from the number of independent rows: effective rows and so floors,
// p-value, balance and bands. Quantiles of z lie between the middles of rows, and repeated rows have other middles.
TEST(Properties, AWholeWeightIsThatManyRows) {
    for_cases(Weights::whole, [](const Case& c, Kind kind, core::Random&) {
        std::vector<std::size_t> repeated;
        for (std::size_t i = 0; i < c.rows(); ++i)
            repeated.insert(repeated.end(), static_cast<std::size_t>(c.weights[i]), i);
        Case other = picked(c, repeated);
        other.weights.clear();
        Comparison how;
        how.kind = kind;
        how.counts = false;
        how.rows = static_cast<double>(repeated.size());
        const Verification expected = figures(c, kind);
        const Verification found = figures(other, kind);
        expect_same(found, expected, c, how);
        EXPECT_LE(expected.effective_rows, found.effective_rows * (1 + 8 * kEpsilon));
        EXPECT_GE(expected.rs_floor, found.rs_floor * (1 - 8 * kEpsilon));
    });
}

TEST(Properties, AWholeWeightIsThatManyRowsForAMapToo) {
    for_cases(Weights::whole, [](const Case& c, Kind kind, core::Random&) {
        std::vector<double> z = seen(c, kind).z;
        std::vector<double> repeated;
        for (std::size_t i = 0; i < c.rows(); ++i)
            repeated.insert(repeated.end(), static_cast<std::size_t>(c.weights[i]), z[i]);
        if (kind != Kind::gaussian || repeated.size() > Recalibrated::kAllKnots || z.size() > Recalibrated::kAllKnots)
            return;
        const auto expected = Recalibrated::fitted(z, c.weights);
        const auto found = Recalibrated::fitted(repeated);
        EXPECT_EQ(found->predicted(), expected->predicted());
        ASSERT_EQ(found->actual().size(), expected->actual().size());
        // A share of n roundings, which the density at the score divides: with 200 rows it is at least 0.005.
        for (std::size_t k = 0; k < found->actual().size(); ++k)
            EXPECT_NEAR(found->actual()[k], expected->actual()[k],
                        2 * static_cast<double>(repeated.size()) * kEpsilon / 0.005);
    });
}

void expect_within_bounds(const Verification& v, const Case& c, Kind kind) {
    const Seen rows = seen(c, kind);
    const Sizes size = sizes(c, rows, 0);
    const double r = 4 * (static_cast<double>(c.rows()) + 16) * kEpsilon;
    EXPECT_GE(v.crps, 0);
    EXPECT_FALSE(v.crps_skill > 1) << v.crps_skill;
    EXPECT_GE(v.constant_sigma, 0);
    EXPECT_GE(v.rs, -r * (2 * size.z + 1));
    EXPECT_GE(v.calibration_error, 0);
    EXPECT_LE(v.calibration_error, 1);
    EXPECT_GE(v.calibration_error, v.sign_bound - r);
    EXPECT_GE(v.calibration_p_value, 0);
    EXPECT_LE(v.calibration_p_value, 1);
    EXPECT_GT(v.calibration_floor, 0);
    EXPECT_LT(v.calibration_floor, 1);
    EXPECT_GE(v.sign_bound, 0);
    EXPECT_LE(v.sign_bound, 0.5 + r);  // half less a sum of two shares
    EXPECT_GE(v.effective_rows, 1);
    EXPECT_LE(v.effective_rows, static_cast<double>(c.rows()) * (1 + r));
    EXPECT_GT(v.beta, 0);
    EXPECT_LE(v.beta, 1);
    EXPECT_GE(v.sd_z, 0);
    EXPECT_GE(v.rmse, 0);
    EXPECT_GT(v.sharpness, 0);
    for (std::size_t l = 0; l < v.coverage.size(); ++l) {
        const Coverage& own = v.coverage[l];
        EXPECT_GE(own.observed, 0);
        EXPECT_LE(own.observed, 1);
        EXPECT_GT(own.mean_width, 0);
        EXPECT_GE(own.interval_score, own.mean_width);
        if (l == 0) continue;
        EXPECT_GE(own.observed, v.coverage[l - 1].observed - r) << "a wider interval covers as much";
        EXPECT_GE(own.mean_width, v.coverage[l - 1].mean_width);
    }
    for (std::size_t k = 1; k < v.z_quantiles.size(); ++k) EXPECT_GE(v.z_quantiles[k], v.z_quantiles[k - 1]);
    for (std::size_t k = 0; k < v.diagram.observed.size(); ++k) {
        EXPECT_GE(v.diagram.observed[k], k == 0 ? 0 : v.diagram.observed[k - 1]);
        EXPECT_LE(v.diagram.observed[k], 1);
        EXPECT_LE(std::fabs(v.diagram.observed[k] - v.diagram.probability[k]), v.calibration_error + r);
        EXPECT_LE(v.diagram.pointwise.low[k], v.diagram.pointwise.high[k]);
    }
}

TEST(Properties, FiguresKeepTheirBounds) {
    for_cases(Weights::any, [](const Case& c, Kind kind, core::Random&) {
        const Verification v = figures(c, kind);
        expect_within_bounds(v, c, kind);
        EXPECT_EQ(v.diagram.observed.back(), 1);
        for (const Verification& value : v.by[0].values) {
            SCOPED_TRACE("value " + value.name);
            std::vector<std::size_t> own;
            for (std::size_t i = 0; i < c.rows(); ++i)
                if (c.labels[c.codes[i]] == value.name) own.push_back(i);
            expect_within_bounds(value, picked(c, own), kind);
        }
        for (const double p : pit(c.errors, c.sigmas)) {
            EXPECT_GE(p, 0);
            EXPECT_LE(p, 1);
        }
        if (kind != Kind::gaussian) return;
        const Sizes size = sizes(c, seen(c, kind), 0);
        const double r = 4 * (static_cast<double>(c.rows()) + 16) * kEpsilon;
        EXPECT_GE(v.crps, crps_minimum(c.errors, c.weights) - r * size.row);
        if (!c.weights.empty()) return;
        EXPECT_GE(v.rs, reliability_minimum(v.effective_rows) - r * (2 * size.z + 1));
        EXPECT_GE(v.calibration_error, 0.5 / v.effective_rows - r);
    });
}

TEST(Properties, PartsOfACostAndValuesOfAColumnAddUp) {
    for_cases(Weights::any, [](const Case& c, Kind kind, core::Random&) {
        const Verification v = figures(c, kind);
        // Two products and a sum, which may be fused.
        const auto expect_mixture = [](const Verification& own) {
            expect_near(own.ar, own.beta * own.crps + (1 - own.beta) * own.rs,
                        2 * kEpsilon * (own.beta * own.crps + std::fabs(own.rs)), "ar");
        };
        expect_mixture(v);
        for (const Verification& value : v.by[0].values) expect_mixture(value);

        const Sizes size = sizes(c, seen(c, kind), 0);
        const double r = 4 * (static_cast<double>(c.rows()) + 16) * kEpsilon;
        std::vector<double> shares;
        double total = 0;
        for (std::size_t i = 0; i < c.rows(); ++i) total += c.weight(i);
        std::size_t rows = 0;
        std::size_t dropped = c.rows();
        for (const Verification& value : v.by[0].values) {
            double own = 0;
            for (std::size_t i = 0; i < c.rows(); ++i)
                if (c.labels[c.codes[i]] == value.name) {
                    own += c.weight(i);
                    --dropped;
                }
            shares.push_back(own / total);
            rows += value.rows;
        }
        EXPECT_EQ(rows + dropped, c.rows()) << "all rows but those of values without weight";
        const auto mean = [&](auto figure) {
            double sum = 0;
            for (std::size_t k = 0; k < shares.size(); ++k) sum += shares[k] * figure(v.by[0].values[k]);
            return sum;
        };
        using V = Verification;
        expect_near(mean([](const V& o) { return o.crps; }), v.crps, r * size.row, "crps");
        expect_near(mean([](const V& o) { return o.nlpd; }), v.nlpd, r * (size.log_sigma + size.squared_z / 2 + 1),
                    "nlpd");
        expect_near(mean([](const V& o) { return o.mean_z; }), v.mean_z, r * size.z, "mean z");
        // Of squares in units of the whole, which may lie at the ends of the doubles.
        const auto square = [](double x) { return x * x; };
        expect_near(std::sqrt(mean([&](const V& o) { return square(o.sharpness / v.sharpness); })), 1, r, "sharpness");
        if (v.rmse > 0) {
            expect_near(std::sqrt(mean([&](const V& o) { return square(o.rmse / v.rmse); })), 1, r, "rmse");
        }
        // Variance within the values and between them.
        expect_near(mean([&](const V& o) { return square(o.sd_z) + square(o.mean_z - v.mean_z); }), square(v.sd_z),
                    r * size.squared_z, "variance of z");
        for (std::size_t l = 0; l < v.coverage.size(); ++l) {
            const Coverage& whole = v.coverage[l];
            expect_near(mean([&](const V& o) { return o.coverage[l].observed; }), whole.observed, r, "coverage");
            expect_near(mean([&](const V& o) { return o.coverage[l].mean_width; }), whole.mean_width,
                        r * whole.mean_width, "width");
            expect_near(mean([&](const V& o) { return o.coverage[l].interval_score; }), whole.interval_score,
                        r * (whole.mean_width + 2 / (1 - whole.level) * (size.row + whole.mean_width)),
                        "interval score");
        }
        // The cdf of all PITs is the mixture of the values' cdfs, so it cannot be farther from the diagonal than they
        // are on average; nor can its squared distance.
        EXPECT_LE(v.calibration_error, mean([](const V& o) { return o.calibration_error; }) + r);
        EXPECT_LE(v.rs, mean([](const V& o) { return o.rs; }) + r * (2 * size.z + 1));
    });
}

}  // namespace
}  // namespace accrue
