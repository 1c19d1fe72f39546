#include "accrue/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "core/random.hpp"

namespace accrue {
namespace {

using Column = std::vector<double>;

const Column& column(const GeneratedData& data, const std::string& name) {
    const auto found = std::find(data.names.begin(), data.names.end(), name);
    EXPECT_NE(found, data.names.end()) << name;
    return data.columns.at(static_cast<std::size_t>(found - data.names.begin()));
}

double mean(const Column& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sd(const Column& values) {
    const double centre = mean(values);
    double sum = 0.0;
    for (const double value : values) sum += (value - centre) * (value - centre);
    return std::sqrt(sum / static_cast<double>(values.size()));
}

// Largest distance between the empirical cdf of probabilities and the diagonal.
double kolmogorov_distance(Column p) {
    std::sort(p.begin(), p.end());
    const auto n = static_cast<double>(p.size());
    double distance = 0.0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const auto rank = static_cast<double>(i);
        distance = std::max({distance, p[i] - rank / n, (rank + 1.0) / n - p[i]});
    }
    return distance;
}

bool same_bytes(const Column& a, const Column& b, std::size_t count) {
    return a.size() >= count && b.size() >= count && std::memcmp(a.data(), b.data(), count * sizeof(double)) == 0;
}

Column standardised(const GeneratedData& data) {
    const Column& f = column(data, "f");
    const Column& sigma = column(data, "true_sigma");
    const Column& y = column(data, "y");
    Column z(y.size());
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = (y[i] - f[i]) / sigma[i];
    return z;
}

std::string message_of(const std::string& name, std::size_t rows) {
    try {
        generate(name, rows, 1);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no InputError";
}

// ---- every data set ----

class EveryGenerator : public testing::TestWithParam<std::string> {};

TEST_P(EveryGenerator, GivesAsManyFiniteRowsAsAskedFor) {
    for (const std::size_t rows : {1, 39, 40, 41, 123}) {  // lorenz writes 40 rows a start time
        const GeneratedData data = generate(GetParam(), rows, 5);
        ASSERT_EQ(data.names.size(), data.columns.size());
        for (const Column& values : data.columns) {
            ASSERT_EQ(values.size(), rows);
            for (const double value : values) ASSERT_TRUE(std::isfinite(value));
        }
    }
}

TEST_P(EveryGenerator, GivesTheSameBytesForTheSameSeed) {
    const GeneratedData first = generate(GetParam(), 500, 42);
    const GeneratedData second = generate(GetParam(), 500, 42);
    for (std::size_t c = 0; c < first.columns.size(); ++c)
        EXPECT_TRUE(same_bytes(first.columns[c], second.columns[c], 500)) << first.names[c];
}

TEST_P(EveryGenerator, StartsALongerSetWithTheRowsOfAShorterOne) {
    const GeneratedData shorter = generate(GetParam(), 77, 3);
    const GeneratedData longer = generate(GetParam(), 400, 3);
    for (std::size_t c = 0; c < shorter.columns.size(); ++c)
        EXPECT_TRUE(same_bytes(shorter.columns[c], longer.columns[c], 77)) << shorter.names[c];
}

TEST_P(EveryGenerator, GivesOtherRowsForAnotherSeed) {
    const GeneratedData first = generate(GetParam(), 100, 1);
    const GeneratedData second = generate(GetParam(), 100, 2);
    const Column& a = first.columns.back();  // y or the observation
    const Column& b = second.columns.back();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NE(a[i], b[i]) << "row " << i;
}

TEST_P(EveryGenerator, RefusesZeroRows) {
    EXPECT_NE(message_of(GetParam(), 0).find("at least 1"), std::string::npos) << message_of(GetParam(), 0);
}

TEST_P(EveryGenerator, SaysWhenSoManyRowsFitNoMemory) {
    EXPECT_THROW(generate(GetParam(), std::numeric_limits<std::size_t>::max(), 1), MachineError);
}

INSTANTIATE_TEST_SUITE_P(Names, EveryGenerator, testing::ValuesIn(generator_names()),
                         [](const auto& instance) { return "of_" + instance.param; });

TEST(Generate, RefusesAnUnknownNameAndListsTheKnownOnes) {
    const std::string message = message_of("lorentz", 10);
    EXPECT_NE(message.find("'lorentz'"), std::string::npos) << message;
    for (const std::string& name : generator_names()) EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_EQ(generator_names(), (std::vector<std::string>{"G", "Y", "W", "5D", "lorenz"}));
}

// ---- the paper's sets ----

class PaperSet : public testing::TestWithParam<std::string> {};

constexpr std::size_t kMany = 100'000;
const double kRootMany = std::sqrt(static_cast<double>(kMany));

TEST_P(PaperSet, HasStandardNormalErrorsInUnitsOfItsSigma) {
    const GeneratedData data = generate(GetParam(), kMany, 7);
    const Column z = standardised(data);
    // 4.42 standard errors: each of these fails by chance with probability 1e-5 over seeds (the seed is fixed).
    EXPECT_LT(std::abs(mean(z)), 4.42 / kRootMany);
    EXPECT_LT(std::abs(sd(z) * sd(z) - 1.0), 4.42 * std::sqrt(2.0) / kRootMany);
    Column pit(kMany);
    for (std::size_t i = 0; i < kMany; ++i) pit[i] = 0.5 * std::erfc(-z[i] / std::numbers::sqrt2);
    // Kolmogorov: P(sqrt(N) D > 2.47) = 2 exp(-2 2.47^2) = 1e-5.
    EXPECT_LT(kolmogorov_distance(pit), 2.47 / kRootMany);
}

TEST_P(PaperSet, HasInputsUniformOnTheirDomainAndIndependentOfTheErrors) {
    const GeneratedData data = generate(GetParam(), kMany, 8);
    const Column z = standardised(data);
    const double width = GetParam() == "W" ? std::numbers::pi : 1.0;
    for (std::size_t d = 0; d + 3 < data.columns.size(); ++d) {
        Column p = data.columns[d];
        for (double& value : p) value /= width;
        EXPECT_LT(kolmogorov_distance(p), 2.47 / kRootMany) << data.names[d];  // false alarm 1e-5, as above
        double covariance = 0.0;
        for (std::size_t i = 0; i < kMany; ++i) covariance += (p[i] - 0.5) * z[i];
        const double correlation = covariance / static_cast<double>(kMany) * std::sqrt(12.0);
        EXPECT_LT(std::abs(correlation), 4.42 / kRootMany) << data.names[d];  // false alarm 1e-5
    }
}

INSTANTIATE_TEST_SUITE_P(Names, PaperSet, testing::Values("G", "Y", "W", "5D"),
                         [](const auto& instance) { return "of_" + instance.param; });

// Formulas of method.md in another form than the generator's. 2e-14: a few roundings of values up to 4 and of angles up
// to 25, whose unit in the last place is 3.6e-15.
constexpr double kFormula = 2e-14;

TEST(PaperSets, GIsASineWithLinearSigma) {
    const GeneratedData data = generate("G", 1000, 11);
    EXPECT_EQ(data.names, (std::vector<std::string>{"x", "f", "true_sigma", "y"}));
    for (std::size_t i = 0; i < 1000; ++i) {
        const double x = column(data, "x")[i];
        const double angle = std::numbers::pi * x;
        EXPECT_NEAR(column(data, "f")[i], 4.0 * std::sin(angle) * std::cos(angle), kFormula);
        EXPECT_NEAR(column(data, "true_sigma")[i], (x + 1.0) / 2.0, kFormula);
    }
}

TEST(PaperSets, YIsABumpAndASineWithExponentialSigma) {
    const GeneratedData data = generate("Y", 1000, 12);
    EXPECT_EQ(data.names, (std::vector<std::string>{"x", "f", "true_sigma", "y"}));
    for (std::size_t i = 0; i < 1000; ++i) {
        const long double x = column(data, "x")[i];
        const long double pi = std::numbers::pi_v<long double>;
        const long double bump = std::exp(-30.0L * x * x + 15.0L * x - 1.875L);
        EXPECT_NEAR(column(data, "f")[i], static_cast<double>(2.0L * bump + 2.0L * std::sin(pi * x * x) - 2.0L),
                    kFormula);
        EXPECT_NEAR(column(data, "true_sigma")[i],
                    static_cast<double>(std::exp(2.0L * std::sin(pi * x) * std::cos(pi * x)) / 3.0L), kFormula);
    }
}

TEST(PaperSets, WIsAProductOfSinesWithSteepSigma) {
    const GeneratedData data = generate("W", 1000, 13);
    EXPECT_EQ(data.names, (std::vector<std::string>{"x", "f", "true_sigma", "y"}));
    for (std::size_t i = 0; i < 1000; ++i) {
        const double x = column(data, "x")[i];
        EXPECT_NEAR(column(data, "f")[i], (std::cos(x) - std::cos(4.0 * x)) / 2.0, kFormula);
        const double s = std::sin(2.5 * x);
        EXPECT_NEAR(column(data, "true_sigma")[i], 0.26 - 0.5 * s + 0.25 * s * s, kFormula);
    }
}

TEST(PaperSets, FiveDHasZeroMeanAndSigmaInTheSumOfInputs) {
    const GeneratedData data = generate("5D", 1000, 14);
    EXPECT_EQ(data.names, (std::vector<std::string>{"x1", "x2", "x3", "x4", "x5", "f", "true_sigma", "y"}));
    for (std::size_t i = 0; i < 1000; ++i) {
        double sum = 0.0;
        for (std::size_t d = 0; d < 5; ++d) sum += data.columns[d][i];
        EXPECT_EQ(column(data, "f")[i], 0.0);
        EXPECT_NEAR(column(data, "true_sigma")[i], 0.54 - 0.45 * std::cos(5.0 * sum), kFormula);
    }
}

TEST(PaperSets, WPeaksJustAboveOneWhereItsSineIsLeast) {
    // method.md lists it among the paper's slips: sigma is 1.01 at 2.5 x = 3 pi/2 and 0.01 at 2.5 x = pi/2.
    const GeneratedData data = generate("W", kMany, 15);
    const Column& sigma = column(data, "true_sigma");
    const auto peak = std::max_element(sigma.begin(), sigma.end());
    // With 1e5 rows, none within 0.001 of the peak has probability exp(-64); sigma falls by 3.2 dx^2 there.
    EXPECT_NEAR(column(data, "x")[static_cast<std::size_t>(peak - sigma.begin())], 0.6 * std::numbers::pi, 1e-3);
    EXPECT_NEAR(*peak, 1.01, 4e-6);
    EXPECT_NEAR(*std::min_element(sigma.begin(), sigma.end()), 0.01, 4e-6);
}

TEST(PaperSets, TakeARowsInputsAndThenItsErrorFromOneStream) {
    const GeneratedData data = generate("5D", 50, 16);
    core::Random random(16);
    for (std::size_t i = 0; i < 50; ++i) {
        for (std::size_t d = 0; d < 5; ++d) EXPECT_EQ(data.columns[d][i], random.uniform());
        EXPECT_NEAR(column(data, "y")[i], column(data, "true_sigma")[i] * random.normal(), 1e-15);  // fused or not
    }
}

// ---- lorenz ----

constexpr std::size_t kSites = 8;
const std::array kLeads = {0.05, 0.1, 0.2, 0.4, 0.8};
constexpr std::size_t kRowsPerStart = kSites * 5;

// 100 start times serve most of these tests.
const GeneratedData& archive() {
    static const GeneratedData data = generate("lorenz", 100 * kRowsPerStart, 21);
    return data;
}

Column errors_at(const GeneratedData& data, double lead) {
    Column errors;
    for (std::size_t i = 0; i < data.columns[0].size(); ++i)
        if (column(data, "lead_time")[i] == lead)
            errors.push_back(column(data, "observation")[i] - column(data, "prediction")[i]);
    return errors;
}

TEST(Lorenz, OrdersRowsByStartThenLeadThenSite) {
    EXPECT_EQ(archive().names,
              (std::vector<std::string>{"start_time", "lead_time", "site", "start_left2", "start_left1", "start",
                                        "start_right1", "start_right2", "prediction", "observation"}));
    for (std::size_t i = 0; i < archive().columns[0].size(); ++i) {
        ASSERT_EQ(column(archive(), "start_time")[i], static_cast<double>(i / kRowsPerStart));
        ASSERT_EQ(column(archive(), "lead_time")[i], kLeads.at(i % kRowsPerStart / kSites));
        ASSERT_EQ(column(archive(), "site")[i], static_cast<double>(i % kSites + 1));
    }
}

TEST(Lorenz, TakesTheNeighboursFromTheRingAtTheStart) {
    const Column& start = column(archive(), "start");
    for (std::size_t i = 0; i < start.size(); ++i) {
        const std::size_t first = i / kRowsPerStart * kRowsPerStart;
        const auto site = [&](std::size_t offset) { return start[first + (i + offset) % kSites]; };
        ASSERT_EQ(start[i], site(0));
        ASSERT_EQ(column(archive(), "start_left2")[i], site(6));
        ASSERT_EQ(column(archive(), "start_left1")[i], site(7));
        ASSERT_EQ(column(archive(), "start_right1")[i], site(1));
        ASSERT_EQ(column(archive(), "start_right2")[i], site(2));
    }
}

TEST(Lorenz, IsTheSameToTheLastBitInEveryBuild) {
    // The one place where printed floats are right: a chaotic run of 84 time units shows any last place that any
    // operation rounded otherwise, by another instruction set, optimisation level, compiler or machine.
    const GeneratedData data = generate("lorenz", 1000, 1);
    EXPECT_EQ(column(data, "start_time").back(), 24.0);
    EXPECT_EQ(column(data, "start").back(), 0x1.f03664db4b089p+2);
    EXPECT_EQ(column(data, "prediction").back(), -0x1.4f87402167a26p+0);
    EXPECT_EQ(column(data, "observation").back(), -0x1.8b41201b054f8p-1);
}

// The model of the archive, written again: one-scale Lorenz-96 with the forcing 20 + intercept and damping 1 - slope,
// by the midpoint rule with Richardson's extrapolation.
using Ring = std::array<double, kSites>;

Ring midpoint_run(Ring x, double lead, int steps, double intercept, double slope) {
    const double h = lead / steps;
    const auto rate = [&](const Ring& v) {
        Ring r{};
        for (std::size_t k = 0; k < kSites; ++k)
            r[k] = (v[(k + 1) % 8] - v[(k + 6) % 8]) * v[(k + 7) % 8] - (1.0 - slope) * v[k] + 20.0 + intercept;
        return r;
    };
    for (int s = 0; s < steps; ++s) {
        const Ring here = rate(x);
        Ring middle = x;
        for (std::size_t k = 0; k < kSites; ++k) middle[k] += h / 2.0 * here[k];
        const Ring there = rate(middle);
        for (std::size_t k = 0; k < kSites; ++k) x[k] += h * there[k];
    }
    return x;
}

Ring model_run(const Ring& x, double lead, double intercept, double slope) {
    const Ring coarse = midpoint_run(x, lead, 200, intercept, slope);
    Ring fine = midpoint_run(x, lead, 400, intercept, slope);
    for (std::size_t k = 0; k < kSites; ++k) fine[k] += (fine[k] - coarse[k]) / 3.0;
    return fine;
}

TEST(Lorenz, PredictsWithTheOneScaleModelAndOneLineAsClosure) {
    const Column& start = column(archive(), "start");
    const Column& prediction = column(archive(), "prediction");
    const auto start_of = [&](std::size_t row) {
        Ring x{};
        std::copy_n(start.begin() + static_cast<std::ptrdiff_t>(row), kSites, x.begin());
        return x;
    };
    // The line is not in the file: find its two numbers from the shortest lead of 20 starts, by Gauss-Newton.
    double intercept = 0.0;
    double slope = 0.0;
    for (int iteration = 0; iteration < 6; ++iteration) {
        double aa = 0.0, ab = 0.0, bb = 0.0, ar = 0.0, br = 0.0;
        for (std::size_t row = 0; row < 20 * kRowsPerStart; row += kRowsPerStart) {
            const Ring x = start_of(row);
            const Ring now = model_run(x, 0.05, intercept, slope);
            const Ring da = model_run(x, 0.05, intercept + 1e-4, slope);
            const Ring db = model_run(x, 0.05, intercept, slope + 1e-4);
            for (std::size_t k = 0; k < kSites; ++k) {
                const double a = (da[k] - now[k]) / 1e-4;
                const double b = (db[k] - now[k]) / 1e-4;
                const double r = prediction[row + k] - now[k];
                aa += a * a, ab += a * b, bb += b * b, ar += a * r, br += b * r;
            }
        }
        const double determinant = aa * bb - ab * ab;
        intercept += (bb * ar - ab * br) / determinant;
        slope += (aa * br - ab * ar) / determinant;
    }
    // The fast variables brake the slow ones: a negative slope of order one.
    EXPECT_GT(slope, -1.2);
    EXPECT_LT(slope, -0.4);
    // The archive's RK4 is 4e-6 (root mean square) off at the longest lead, less at shorter ones; a wrong term or site
    // would be off by 0.1 or more. The bounds leave room for the start states where chaos amplifies most.
    for (std::size_t row = 0; row < prediction.size(); row += kSites) {
        const double lead = column(archive(), "lead_time")[row];
        const Ring expected = model_run(start_of(row), lead, intercept, slope);
        for (std::size_t k = 0; k < kSites; ++k)
            ASSERT_NEAR(prediction[row + k], expected[k], lead < 0.3 ? 1e-4 : 1e-3) << "row " << row + k;
    }
}

TEST(Lorenz, StartsFromTheTruthAndErrsMoreWithEachLead) {
    // The shortest lead is 1/20 unit; the closure's misfit is of order 2, so errors are of order 0.1.
    const Column first = errors_at(archive(), kLeads[0]);
    EXPECT_LT(sd(first), 0.2);
    EXPECT_GT(sd(first), 0.05);
    for (const double error : first) EXPECT_LT(std::abs(error), 1.0);
    // Observed ratios are 1.8 to 3; 800 rows of 100 starts give each sd to about 5%.
    for (std::size_t l = 1; l < kLeads.size(); ++l)
        EXPECT_GT(sd(errors_at(archive(), kLeads.at(l))), 1.4 * sd(errors_at(archive(), kLeads.at(l - 1))));
    // The longest lead still has skill: less than half of X's own sd.
    EXPECT_LT(sd(errors_at(archive(), kLeads.back())), 0.5 * sd(column(archive(), "start")));
}

TEST(Lorenz, HasLittleBiasAtEveryLead) {
    // Over long archives the bias is 0.03 to 0.16 sd; 100 starts add an sd of about 0.05.
    for (const double lead : kLeads) {
        const Column errors = errors_at(archive(), lead);
        EXPECT_LT(std::abs(mean(errors)), 0.35 * sd(errors)) << lead;
    }
}

TEST(Lorenz, KeepsToTheClimateOfTheTwoScaleSystem) {
    // Over 12 seeds with 50 starts the mean was 3.5 to 4.0 and the sd 5.0 to 5.2. The one-scale system
    // without a closure has mean 3.3 and sd 7.4, so the bounds tell the two apart.
    for (const std::uint64_t seed : {31, 32, 33}) {
        const GeneratedData data = generate("lorenz", 50 * kRowsPerStart, seed);
        EXPECT_NEAR(mean(column(data, "start")), 3.75, 0.6) << seed;
        EXPECT_NEAR(sd(column(data, "start")), 5.08, 0.4) << seed;
    }
}

TEST(Lorenz, HasErrorsWhoseSizeDependsOnTheStateAndNotOnlyOnTheLead) {
    // Split one lead's rows by start_left2, whose low values precede large errors at
    // lead 0.4 (sd 0.84 in the lowest fifth, 0.52 in the fourth). 400 starts give each sd to about 5%; 1.25 is four
    // such errors from 1 and as far below the ratio of 1.6.
    const GeneratedData data = generate("lorenz", 400 * kRowsPerStart, 22);
    std::vector<std::pair<double, double>> rows;  // start_left2, error
    for (std::size_t i = 0; i < data.columns[0].size(); ++i)
        if (column(data, "lead_time")[i] == 0.4)
            rows.emplace_back(column(data, "start_left2")[i],
                              column(data, "observation")[i] - column(data, "prediction")[i]);
    std::sort(rows.begin(), rows.end());
    const std::size_t fifth = rows.size() / 5;
    const auto sd_of_fifth = [&](std::size_t which) {
        Column errors;
        for (std::size_t i = which * fifth; i < (which + 1) * fifth; ++i) errors.push_back(rows[i].second);
        return sd(errors);
    };
    EXPECT_GT(sd_of_fifth(0), 1.25 * sd_of_fifth(3));
}

}  // namespace
}  // namespace accrue
