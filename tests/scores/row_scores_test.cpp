// crps and nlpd of single rows against the table of 50-digit values.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "accrue/scores.hpp"
#include "support/reference.hpp"

namespace accrue {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What the project promises: 1e-14 of the value, or 1e-15 of the row's scale where the value passes zero.
constexpr long double kRelative = 1e-14L;
constexpr long double kOfScale = 1e-15L;

// The scale of a row: the size of the terms that cancel where the value passes zero. crps itself never does.
struct Scales {
    long double crps_slope = 1 / std::sqrt(std::numbers::pi_v<long double>);
    long double nlpd;
    long double nlpd_slope;

    explicit Scales(const support::ScoreRow& row) {
        const long double z = static_cast<long double>(row.error) / row.sigma;
        nlpd = std::fabs(std::log(static_cast<long double>(row.sigma))) + z * z / 2 +
               std::log(2 * std::numbers::pi_v<long double>) / 2;
        nlpd_slope = (1 + z * z) / row.sigma;
    }
};

// Collects the errors of one figure; `worst` is in units of what is allowed.
struct Accuracy {
    std::string name;
    long double worst = 0;
    std::size_t compared = 0;

    void see(double value, long double exact, long double scale, const support::ScoreRow& row) {
        // Beyond the largest double the result must be infinite too.
        if (std::fabs(exact) > std::numeric_limits<double>::max()) {
            EXPECT_EQ(value, exact > 0 ? kInfinity : -kInfinity) << name << " at e " << row.error << ", " << row.sigma;
            return;
        }
        const long double allowed = std::max(kRelative * std::fabs(exact), kOfScale * scale);
        const long double ratio = std::fabs(value - exact) / allowed;
        EXPECT_LE(ratio, 1) << name << " at e " << row.error << ", sigma " << row.sigma << " is " << value
                            << ", but must be " << static_cast<double>(exact);
        worst = std::max(worst, ratio);
        ++compared;
    }
};

// Compares value and slope of both scores, got from crps_of(i, row) and nlpd_of(i, row), with the table.
template <typename Crps, typename Nlpd>
void expect_table(Crps crps_of, Nlpd nlpd_of) {
    const std::vector<support::ScoreRow> table = support::read_scores();
    ASSERT_GE(table.size(), 2000U);
    Accuracy crps_value{"crps"};
    Accuracy crps_slope{"crps slope"};
    Accuracy nlpd_value{"nlpd"};
    Accuracy nlpd_slope{"nlpd slope"};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const support::ScoreRow& row = table[i];
        const Scales scale(row);
        const ValueAndSlope c = crps_of(i, row);
        const ValueAndSlope n = nlpd_of(i, row);
        crps_value.see(c.value, row.crps, 0, row);
        crps_slope.see(c.slope, row.crps_slope, scale.crps_slope, row);
        nlpd_value.see(n.value, row.nlpd, scale.nlpd, row);
        nlpd_slope.see(n.slope, row.nlpd_slope, scale.nlpd_slope, row);
    }
    for (const Accuracy& a : {crps_value, crps_slope, nlpd_value, nlpd_slope}) {
        EXPECT_GE(a.compared, 2000U) << a.name;
        testing::Test::RecordProperty(a.name + ", share of the allowed error", std::to_string(a.worst));
    }
}

TEST(RowScores, SingleRowsAgreeWithTheTable) {
    expect_table([](std::size_t, const support::ScoreRow& row) { return crps(row.error, row.sigma); },
                 [](std::size_t, const support::ScoreRow& row) { return nlpd(row.error, row.sigma); });
}

TEST(RowScores, VectorsOfRowsAgreeWithTheTable) {
    std::vector<double> e;
    std::vector<double> s;
    for (const support::ScoreRow& row : support::read_scores()) {
        e.push_back(row.error);
        s.push_back(row.sigma);
    }
    const std::size_t n = e.size();
    std::vector<double> crps_values(n), crps_slopes(n), nlpd_values(n), nlpd_slopes(n);
    crps_rows(e, s, crps_values, crps_slopes);
    nlpd_rows(e, s, nlpd_values, nlpd_slopes);
    expect_table(
        [&](std::size_t i, const support::ScoreRow&) {
            return ValueAndSlope{crps_values[i], crps_slopes[i]};
        },
        [&](std::size_t i, const support::ScoreRow&) {
            return ValueAndSlope{nlpd_values[i], nlpd_slopes[i]};
        });
}

TEST(RowScores, ThePlainReferenceAgreesWithTheTable) {
    expect_table([](std::size_t, const support::ScoreRow& row) { return reference::crps(row.error, row.sigma); },
                 [](std::size_t, const support::ScoreRow& row) { return reference::nlpd(row.error, row.sigma); });
}

TEST(RowScores, TheValuesPrintedInTheHeaderAreRight) {
    EXPECT_DOUBLE_EQ(crps(0, 1).value, 0.23369497725510905);
    EXPECT_DOUBLE_EQ(nlpd(0, 1).value, 0.91893853320467274);
}

TEST(RowScores, CrpsTendsToTheAbsoluteErrorWhenSigmaVanishes) {
    const double slope = -1 / std::sqrt(std::numbers::pi);
    for (const double e : {-1e150, -3.0, 1e-200, 7.5}) {
        // At |e|/sigma = 1e20 the difference, sigma/sqrt(pi), is far below rounding.
        EXPECT_EQ(crps(e, std::fabs(e) * 1e-20).value, std::fabs(e));
        EXPECT_EQ(crps(e, 0).value, std::fabs(e));
        EXPECT_DOUBLE_EQ(crps(e, 0).slope, slope);
    }
    EXPECT_EQ(crps(0, 0).value, 0);
    EXPECT_DOUBLE_EQ(crps(0, 0).slope, std::sqrt(2 / std::numbers::pi) - 1 / std::sqrt(std::numbers::pi));
}

TEST(RowScores, CrpsSurvivesAQuotientThatOverflows) {
    const double e = 1e200;
    const double s = 1e-200;
    ASSERT_EQ(e / s, kInfinity);
    EXPECT_EQ(crps(e, s).value, e);
    EXPECT_EQ(crps(-e, s).value, e);
}

TEST(RowScores, WithoutAnErrorCrpsIsProportionalToSigma) {
    const double factor = (std::numbers::sqrt2 - 1) / std::sqrt(std::numbers::pi);
    for (const double s : {1e-150, 0.3, 1.0, 1e150}) {
        // Four roundings.
        EXPECT_NEAR(crps(0, s).value, s * factor, s * factor * 5e-16);
        EXPECT_NEAR(nlpd(0, s).value, std::log(s) + std::log(2 * std::numbers::pi) / 2,
                    3e-16 * (1 + std::fabs(std::log(s))));
        EXPECT_DOUBLE_EQ(nlpd(0, s).slope, 1 / s);
    }
}

TEST(RowScores, TheSlopeOfNlpdStaysFiniteWhereOnlyZSquaredOverflows) {
    // z = 1e160, so z^2 is infinite; the slope is -z^2/sigma = -1e220.
    EXPECT_NEAR(nlpd(1e260, 1e100).slope, -1e220, 1e220 * 1e-14);
}

TEST(RowScores, ScoresAreEvenInTheError) {
    for (const double e : {1e-30, 0.2, 1.7, 40.0})
        for (const double s : {0.5, 3.0}) {
            EXPECT_EQ(crps(e, s).value, crps(-e, s).value);
            EXPECT_EQ(crps(e, s).slope, crps(-e, s).slope);
            EXPECT_EQ(nlpd(e, s).value, nlpd(-e, s).value);
        }
}

TEST(RowScores, EitherOutputMayBeLeftOut) {
    // More rows than a block, so that every block finds its place.
    std::vector<double> e(3000), s(3000), values(3000), slopes(3000), only(3000);
    for (std::size_t i = 0; i < e.size(); ++i) {
        e[i] = std::sin(static_cast<double>(i));
        s[i] = 1 + 0.5 * std::cos(static_cast<double>(i));
    }
    crps_rows(e, s, values, slopes);
    crps_rows(e, s, only);
    EXPECT_EQ(only, values);
    crps_rows(e, s, {}, only);
    EXPECT_EQ(only, slopes);
    for (std::size_t i = 0; i < e.size(); ++i) {
        // Two compilations of one formula: they may contract it differently.
        EXPECT_NEAR(values[i], crps(e[i], s[i]).value, 1e-15);
        EXPECT_NEAR(slopes[i], crps(e[i], s[i]).slope, 1e-15);
    }
}

TEST(RowScores, MeansAreMeansOfTheRows) {
    const std::size_t n = 5000;
    std::vector<double> e(n), s(n), w(n), c(n), l(n);
    for (std::size_t i = 0; i < n; ++i) {
        e[i] = 2 * std::sin(static_cast<double>(7 * i));
        s[i] = 1 + 0.5 * std::cos(static_cast<double>(i));
        w[i] = static_cast<double>(i % 5);
    }
    crps_rows(e, s, c);
    nlpd_rows(e, s, l);
    long double crps_sum = 0, nlpd_sum = 0, weighted_crps = 0, weighted_nlpd = 0, total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        crps_sum += c[i];
        nlpd_sum += l[i];
        weighted_crps += static_cast<long double>(w[i]) * c[i];
        weighted_nlpd += static_cast<long double>(w[i]) * l[i];
        total += w[i];
    }
    // Sums by pairs of 1,024 plain additions: far below 1e-14.
    EXPECT_NEAR(mean_crps(e, s), static_cast<double>(crps_sum / n), 1e-14);
    EXPECT_NEAR(mean_nlpd(e, s), static_cast<double>(nlpd_sum / n), 1e-14);
    EXPECT_NEAR(mean_crps(e, s, w), static_cast<double>(weighted_crps / total), 1e-14);
    EXPECT_NEAR(mean_nlpd(e, s, w), static_cast<double>(weighted_nlpd / total), 1e-14);
}

}  // namespace
}  // namespace accrue
