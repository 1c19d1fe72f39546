// Faults that averages hide are found and named; clean archives are left alone.
#include "accrue/conditional.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/random.hpp"

namespace accrue {
namespace {

constexpr std::size_t kRows = 5000;

// Normal scores of rows with two inputs, 20 groups and a day of the year, where nothing is wrong.
struct Rows {
    std::vector<double> scores, x, u;
    std::vector<std::uint32_t> group, month;
    std::vector<std::string> groups, months;
    std::vector<Condition> conditions;

    explicit Rows(std::uint64_t seed) {
        core::Random random(seed, 5);
        for (std::size_t i = 0; i < kRows; ++i) {
            scores.push_back(random.normal());
            x.push_back(random.uniform());
            u.push_back(random.normal());
            group.push_back(static_cast<std::uint32_t>(random.below(20)));
            month.push_back(static_cast<std::uint32_t>(12 * i / kRows));
        }
        for (int k = 0; k < 20; ++k) groups.push_back("g" + std::to_string(k));
        for (int k = 0; k < 12; ++k) months.push_back("m" + std::to_string(k + 1));
        conditions = {{"x", x},
                      {"u", u},
                      {"station", {}, {group, groups}, Condition::Role::group},
                      {"month", {}, {month, months}, Condition::Role::time}};
    }
    Rows(const Rows&) = delete;
    Rows& operator=(const Rows&) = delete;
    ConditionalCalibration judged() const { return conditional_calibration(scores, conditions); }
};

TEST(Conditional, FindsAndNamesPlantedFaults) {
    constexpr std::uint64_t kArchives = 40;
    std::size_t season = 0, group = 0, spread = 0, together = 0;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        Rows seasonal(seed);
        for (std::size_t i = 0; i < kRows; ++i)
            seasonal.scores[i] += 0.3 * std::cos(2 * 3.14159265 * static_cast<double>(i) / kRows);
        season += seasonal.judged().worst.starts_with("in m") ? 1 : 0;
        Rows grouped(seed);
        for (std::size_t i = 0; i < kRows; ++i)
            if (grouped.group[i] == 7) grouped.scores[i] *= 1.5;
        group += grouped.judged().worst.starts_with("where station is 'g7' the 90% interval covers") ? 1 : 0;
        Rows along(seed);
        for (std::size_t i = 0; i < kRows; ++i) along.scores[i] *= std::pow(1.3, 2 * along.x[i] - 1);
        spread += along.judged().worst.starts_with("where x is ") ? 1 : 0;
        Rows daily(seed);
        core::Random random(seed, 6);
        double day = 0;
        for (std::size_t i = 0; i < kRows; ++i) {
            if (i % 10 == 0) day = random.normal();
            daily.scores[i] = std::sqrt(0.5) * (daily.scores[i] + day);
        }
        together += daily.judged().neighbours_err_together ? 1 : 0;
    }
    EXPECT_GE(season, kArchives * 9 / 10);
    EXPECT_GE(group, kArchives * 9 / 10);
    EXPECT_GE(spread, kArchives * 9 / 10);
    EXPECT_GE(together, kArchives * 9 / 10);
}

TEST(Conditional, LeavesCleanArchivesAlone) {
    constexpr std::uint64_t kArchives = 400;
    std::size_t alarms = 0;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        const ConditionalCalibration judged = Rows(1000 + seed).judged();
        alarms += judged.passes && !judged.neighbours_err_together ? 0 : 1;
    }
    EXPECT_LE(alarms, kArchives / 20);
}

TEST(Conditional, RowsThatErrTogetherAreNoEvidenceOfMore) {
    // 200 groups of 25 rows with a shift of their own: along nothing else is anything wrong.
    std::size_t alarms = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Rows rows(2000 + seed);
        core::Random random(seed, 7);
        std::vector<std::uint32_t> codes;
        std::vector<std::string> labels(200, "day");
        double shift = 0;
        double at = 0;
        for (std::size_t i = 0; i < kRows; ++i) {
            if (i % 25 == 0) {
                shift = random.normal();
                at = random.uniform();
            }
            codes.push_back(static_cast<std::uint32_t>(i / 25));
            rows.scores[i] = std::sqrt(0.5) * (rows.scores[i] + shift);
            rows.x[i] = at;
        }
        // The groups themselves differ as groups do: none of them is at fault.
        rows.conditions.resize(2);
        rows.conditions.push_back({"day", {}, {codes, labels}, Condition::Role::group});
        alarms += conditional_calibration(rows.scores, rows.conditions, {codes, labels}).passes ? 0 : 1;
    }
    EXPECT_LE(alarms, 8U);
}

TEST(Conditional, AGroupUnlikeTheOthersIsNamed) {
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Rows rows(3000 + seed);
        for (std::size_t i = 0; i < kRows; ++i)
            if (rows.group[i] == 7) rows.scores[i] *= 1.5;
        const auto judged = conditional_calibration(rows.scores, rows.conditions, {rows.group, rows.groups});
        found += judged.worst.starts_with("where station is 'g7'") ? 1 : 0;
    }
    EXPECT_GE(found, 36U);
}

// Twenty groups of 1,000 rows, each with mean 0 and standard deviation 1: what is wrong in two of them is the shape.
struct ShapedGroups {
    std::vector<double> scores;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
    std::vector<Condition> conditions;

    ShapedGroups() {
        core::Random random(17);
        std::vector<std::vector<double>> groups(20);
        for (std::size_t k = 0; k < 20; ++k) {
            labels.push_back("s" + std::to_string(k));
            for (int i = 0; i < 1000; ++i)
                groups[k].push_back(k == 8   ? (i % 2 == 0 ? 1 : -1)
                                    : k == 7 ? -std::log(1 - random.uniform()) - 1
                                             : random.normal());
            double mean = 0;
            double square = 0;
            for (const double z : groups[k]) mean += z / 1000;
            for (const double z : groups[k]) square += (z - mean) * (z - mean) / 1000;
            for (double& z : groups[k]) z = (z - mean) / std::sqrt(square);
        }
        for (std::size_t i = 0; i < 20'000; ++i) {
            codes.push_back(static_cast<std::uint32_t>(i % 20));
            scores.push_back(groups[i % 20][i / 20]);
        }
    }
    ShapedGroups(const ShapedGroups&) = delete;
    ShapedGroups& operator=(const ShapedGroups&) = delete;
    ConditionalCalibration judged(std::initializer_list<std::uint32_t> without = {}) {
        for (std::size_t i = 0; i < scores.size(); ++i)
            if (std::find(without.begin(), without.end(), codes[i]) != without.end()) scores[i] = std::nan("");
        conditions = {{"k", {}, {codes, labels}, Condition::Role::group}};
        return conditional_calibration(scores, conditions);
    }
};

TEST(Conditional, AShapeThatMeanAndSpreadDoNotShowIsNamed) {
    ShapedGroups rows;
    const ConditionalCalibration both = rows.judged();
    EXPECT_EQ(both.worst, "where k is 's8' the calibration error is 34% (floor 2.6%)");
    EXPECT_EQ(both.worst_fault, ConditionalPlace::Fault::shape);
    EXPECT_EQ(both.tests, 80U);
    const ConditionalCalibration one = rows.judged({8});
    EXPECT_TRUE(std::regex_match(one.worst, std::regex("where k is 's7' the calibration error is 1[5-8]% .floor "
                                                       "2\\.6%.")))
        << one.worst;
    EXPECT_TRUE(rows.judged({7}).passes) << rows.judged({7}).worst;
}

// A curve shows a wrong mean as well, and may be the further off by chance: it is the mean that is named.
TEST(Conditional, ABiasIsNotCalledAShape) {
    std::size_t curves_are_further = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Rows rows(6000 + seed);
        for (std::size_t i = 0; i < kRows; ++i)
            if (rows.group[i] == 7) rows.scores[i] += 0.4;
        const ConditionalCalibration judged = rows.judged();
        const ConditionalPlace& place = judged.columns[2].places[7];
        curves_are_further += place.calibration_t > place.bias_t ? 1 : 0;
        if (place.bias_t > judged.critical) {
            EXPECT_TRUE(judged.worst.starts_with("where station is 'g7' observations lie 0.")) << judged.worst;
        }
    }
    EXPECT_GT(curves_are_further, 0U);
}

// Errors that end at 1.57 standard deviations, which mean and spread do not show, and the curve hardly.
TEST(Conditional, ACoverageThatMeanAndSpreadDoNotShowIsNamed) {
    Rows rows(18);
    double mean = 0, square = 0, count = 0;
    for (std::size_t i = 0; i < kRows; ++i)
        if (rows.group[i] == 7) {
            rows.scores[i] = std::clamp(rows.scores[i], -1.3, 1.3);
            mean += rows.scores[i];
            square += rows.scores[i] * rows.scores[i];
            count += 1;
        }
    mean /= count;
    const double sd = std::sqrt(square / count - mean * mean);
    for (std::size_t i = 0; i < kRows; ++i)
        if (rows.group[i] == 7) rows.scores[i] = (rows.scores[i] - mean) / sd;
    const ConditionalCalibration judged = rows.judged();
    EXPECT_EQ(judged.worst, "where station is 'g7' the 90% interval covers 100.0%");
    EXPECT_EQ(judged.worst_fault, ConditionalPlace::Fault::coverage);
}

// The tests of coverage and shape hold their level whatever number of rows a place has: 120 groups of 20 to 30 rows.
TEST(Conditional, SmallPlacesAreNotBlamedByChance) {
    constexpr std::uint64_t kArchives = 300;
    std::size_t alarms = 0;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        core::Random random(seed, 19);
        std::vector<double> scores;
        std::vector<std::uint32_t> codes;
        const std::vector<std::string> labels(120, "station");
        for (std::uint32_t k = 0; k < 120; ++k)
            for (std::size_t i = 20 + random.below(11); i > 0; --i) {
                scores.push_back(random.normal());
                codes.push_back(k);
            }
        const std::vector<Condition> conditions = {{"station", {}, {codes, labels}, Condition::Role::group}};
        const ConditionalCalibration judged = conditional_calibration(scores, conditions);
        EXPECT_EQ(judged.tests, 480U);
        alarms += judged.passes ? 0 : 1;
    }
    // 6 expected at most; more than 15 once in 3,000 if the level is 2%.
    EXPECT_LE(alarms, 15U);
}

// Exponential errors everywhere, of 0.7 standard deviations: that is for the figures of all rows to say.
TEST(Conditional, NoPlaceIsBlamedForWhatIsWrongEverywhere) {
    constexpr std::uint64_t kArchives = 100;
    std::size_t alarms = 0;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        Rows rows(5000 + seed);
        core::Random random(seed, 20);
        for (double& z : rows.scores) z = 0.7 * (-std::log(1 - random.uniform()) - 1);
        const ConditionalCalibration judged = rows.judged();
        EXPECT_GT(judged.columns[2].places[0].calibration_error, 0.1);
        alarms += judged.worst_fault == ConditionalPlace::Fault::shape ||
                          judged.worst_fault == ConditionalPlace::Fault::coverage
                      ? 1
                      : 0;
    }
    EXPECT_LE(alarms, 5U);
}

// All groups lie half a sigma too high but one, which is right.
TEST(Conditional, TheOnlyPlaceThatIsRightIsNotBlamed) {
    Rows rows(4);
    for (std::size_t i = 0; i < kRows; ++i) rows.scores[i] += rows.group[i] == 7 ? 0 : 0.5;
    EXPECT_TRUE(std::regex_match(rows.judged().worst,
                                 std::regex("where station is 'g7' observations lie 0\\.0. sigma (above|below) the "
                                            "forecast, elsewhere 0\\.(4|5). sigma above it")))
        << rows.judged().worst;
    Rows wide(4);
    for (std::size_t i = 0; i < kRows; ++i) wide.scores[i] *= wide.group[i] == 7 ? 1 : 2;
    EXPECT_TRUE(std::regex_match(wide.judged().worst, std::regex("where station is 'g7' the 90% interval covers "
                                                                 "[89].\\..%, elsewhere (58|59|60)\\..%")))
        << wide.judged().worst;
}

// A few large errors: the interval covers as much as elsewhere, and its coverage would be no fault.
TEST(Conditional, AFaultThatCoverageDoesNotShowIsNamedByItsSpread) {
    Rows rows(4);
    std::size_t seen = 0;
    for (std::size_t i = 0; i < kRows; ++i)
        if (rows.group[i] == 7 && std::fabs(rows.scores[i]) > 1.6448536 && seen++ % 2 == 0) rows.scores[i] *= 3;
    EXPECT_TRUE(
        std::regex_match(rows.judged().worst, std::regex("where station is 'g7' errors vary 1\\.[3-7]. times as much "
                                                         "as the forecast says, elsewhere (0\\.9|1\\.0). times")))
        << rows.judged().worst;
}

TEST(Conditional, NeighbouringMonthsAreNamedTogether) {
    Rows rows(4);
    rows.months = {"January", "February", "March",     "April",   "May",      "June",
                   "July",    "August",   "September", "October", "November", "December"};
    core::Random random(9);
    for (std::size_t i = 0; i < kRows; ++i) rows.month[i] = static_cast<std::uint32_t>(random.below(12));
    const std::vector<double> clean = rows.scores;
    const auto worst = [&](std::initializer_list<std::uint32_t> faulty) {
        for (std::size_t i = 0; i < kRows; ++i)
            rows.scores[i] =
                clean[i] - (std::find(faulty.begin(), faulty.end(), rows.month[i]) != faulty.end() ? 0.5 : 0);
        return rows.judged().worst;
    };
    EXPECT_TRUE(worst({5, 6, 7}).starts_with("from June to August observations lie 0.")) << worst({5, 6, 7});
    EXPECT_TRUE(worst({11, 0}).starts_with("in December and January observations lie 0.")) << worst({11, 0});
    EXPECT_TRUE(worst({3}).starts_with("in April observations lie 0.")) << worst({3});
    // Away from the year's other months, which are another sentence.
    EXPECT_TRUE(worst({1, 5}).starts_with("in ")) << worst({1, 5});
}

TEST(Conditional, WhereNothingCanBeLookedAtNothingIsPassed) {
    const Rows rows(4);
    const auto judged = [&](std::size_t count) {
        const std::span<const double> x(rows.x.data(), count);
        return conditional_calibration(std::span(rows.scores).first(count), std::vector<Condition>{{"x", x}});
    };
    EXPECT_EQ(judged(150).tests, 0U);
    EXPECT_EQ(to_json(judged(150)).at("tests"), 0);
    EXPECT_EQ(judged(2000).tests, 40U);
    EXPECT_EQ(to_json(judged(2000)).at("passes"), true);
    const auto said = [&](std::size_t count) {
        Verdict words{"Calibrated: fine.", {}};
        add_conditional(words, judged(count));
        return words.summary;
    };
    EXPECT_EQ(said(150), "Calibrated on average: fine.");
    EXPECT_EQ(said(2000), "Calibrated: fine.");
}

TEST(Conditional, RowsWithoutWeightAreNotThere) {
    Rows rows(4);
    std::vector<double> weights(kRows, 1), scores;
    for (std::size_t i = 0; i < kRows; i += 2) weights[i] = 0;
    for (std::size_t i = 0; i < kRows; i += 2) rows.scores[i] += 1;
    for (std::size_t i = 0; i < kRows; ++i) scores.push_back(weights[i] > 0 ? rows.scores[i] : std::nan(""));
    const auto with = conditional_calibration(rows.scores, rows.conditions, {}, {}, weights);
    EXPECT_EQ(to_json(with), to_json(conditional_calibration(scores, rows.conditions)));
    EXPECT_TRUE(with.passes) << with.worst;
}

TEST(Conditional, TheFloorOfAPlaceCountsWhatItsRowsAreWorth) {
    // 250 groups of 20 rows that share half of their variance, in ten bins of x by group: 25 groups a place. A place of
    // independent rows has a floor of 0.828/sqrt(500), which calibrated archives of such groups exceed nearly always.
    std::vector<double> errors;
    double floors = 0;
    constexpr std::size_t kArchives = 60;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        core::Random random(seed, 8);
        std::vector<double> scores, x;
        std::vector<std::uint32_t> codes;
        const std::vector<std::string> labels(250, "day");
        for (std::uint32_t g = 0; g < 250; ++g) {
            const double shift = random.normal();
            const double at = random.uniform();
            for (int i = 0; i < 20; ++i) {
                scores.push_back(std::sqrt(0.5) * (shift + random.normal()));
                x.push_back(at);
                codes.push_back(g);
            }
        }
        const auto judged = conditional_calibration(scores, std::vector<Condition>{{"x", x}}, {codes, labels});
        for (const ConditionalPlace& place : judged.columns[0].places) {
            errors.push_back(place.calibration_error);
            floors += place.calibration_floor / (10 * kArchives);
        }
    }
    std::nth_element(errors.begin(), errors.begin() + errors.size() / 2, errors.end());
    const double median = errors[errors.size() / 2];
    // Kolmogorov's law is that of independent rows: of as many as have the variance of these it is above the median
    // here, because what the rows of a group share moves all of the curve at once. 600 medians have a standard error of
    // 2%.
    EXPECT_GT(floors, median);
    EXPECT_LT(floors, 1.6 * median);
    EXPECT_GT(floors, 2 * 0.82757 / std::sqrt(500.0));
}

TEST(Conditional, BandsOfAPlaceStandInItsFigures) {
    const ConditionalCalibration judged = Rows(3).judged();
    const auto json = to_json(judged);
    const auto& own = json.at("columns")[2].at("places")[4];
    const ConditionalPlace& place = judged.columns[2].places[4];
    const auto& band = own.at("band_90_pointwise");
    // As many independent rows; four digits.
    const auto n = static_cast<double>(place.rows);
    const double half = 1.6448536 * judged.sd_z * std::sqrt((1 - n / kRows) / n);
    EXPECT_NEAR(band.at("mean_z")[0], judged.mean_z - half, 1e-4);
    EXPECT_NEAR(band.at("mean_z")[1], judged.mean_z + half, 1e-4);
    EXPECT_LT(band.at("sd_z")[0], 1);
    EXPECT_GT(band.at("sd_z")[1], 1);
    // Counts in the band have at least 90% of the binomial distribution, and not much more.
    const double worth = n / (1 - n / kRows);
    const boost::math::binomial_distribution<double> counts(std::round(worth), judged.coverage);
    const double low = band.at("coverage_90_percent")[0].get<double>() / 100 * worth;
    const double high = band.at("coverage_90_percent")[1].get<double>() / 100 * worth;
    const double inside = cdf(counts, std::floor(high)) - cdf(counts, std::ceil(low) - 1);
    EXPECT_GE(inside, 0.9);
    EXPECT_LE(inside, 0.95);
}

TEST(Conditional, FiguresArePossibleAndThoseOfTheRows) {
    const Rows rows(3);
    const ConditionalCalibration judged = rows.judged();
    ASSERT_EQ(judged.columns.size(), 4U);
    EXPECT_EQ(judged.columns[0].places.size(), 10U);
    EXPECT_EQ(judged.columns[2].places.size(), 20U);
    for (const ConditionalColumn& column : judged.columns) {
        std::size_t count = 0;
        double sum = 0;
        for (const ConditionalPlace& place : column.places) {
            count += place.rows;
            sum += static_cast<double>(place.rows) * place.mean_z;
            EXPECT_TRUE(place.coverage >= 0 && place.coverage <= 1);
            EXPECT_TRUE(place.calibration_error > 0 && place.calibration_error < 1);
            EXPECT_GT(place.sd_z, 0);
        }
        double mean = 0;
        for (const double z : rows.scores) mean += z;
        EXPECT_EQ(count, kRows) << "every row has its place";
        EXPECT_NEAR(sum, mean, 1e-9);
    }
}

TEST(Conditional, WhatChanceMayDoAgreesWithTheTest) {
    Rows rows(3);
    for (std::size_t i = 0; i < kRows; ++i) rows.scores[i] = 0.2 + 1.1 * rows.scores[i];
    const ConditionalCalibration found = rows.judged();
    std::size_t inside = 0, places = 0;
    for (const ConditionalColumn& column : found.columns)
        for (const ConditionalPlace& place : column.places) {
            // At as many standard errors as a figure is off, an end of the range is that figure. Rounding alone.
            const double bias = by_chance(found, place, place.bias_t).mean_z.high;
            EXPECT_NEAR(bias, place.mean_z, 1e-12);
            EXPECT_NEAR(by_chance(found, place, place.spread_t).sd_z.high, place.sd_z, 1e-12);
            if (place.coverage_t != 0) {
                const ChanceRange range = by_chance(found, place, std::fabs(place.coverage_t)).coverage;
                EXPECT_NEAR(place.coverage_t > 0 ? range.high : range.low, place.coverage, 1e-12);
            }
            const PlaceByChance anywhere = by_chance(found, place, found.critical);
            EXPECT_LE(anywhere.mean_z.low, place.mean_z);
            EXPECT_GE(anywhere.mean_z.high, place.mean_z);
            const ChanceRange pointwise = by_chance(found, place, 1.6448536).coverage;
            inside += place.coverage >= pointwise.low && place.coverage <= pointwise.high ? 1 : 0;
            ++places;
            if (column.name == "x" || column.name == "u") {
                EXPECT_LE(place.low, place.x);
                EXPECT_GE(place.high, place.x);
            } else {
                EXPECT_TRUE(std::isnan(place.x));
            }
        }
    EXPECT_EQ(places, 52U);
    // 90% each: fewer than 40 of 52 have a probability below 1% if places are independent.
    EXPECT_GE(inside, 40U);
    EXPECT_NEAR(found.mean_z, 0.2, 0.05);  // three standard errors of 5,000 rows
    EXPECT_NEAR(found.sd_z, 1.1, 0.04);
}

TEST(Conditional, BearsFewRowsTiesAndGaps) {
    for (const std::size_t rows : {0, 1, 2, 25}) {
        std::vector<double> scores(rows, 0.5);
        const std::vector<double> constant(rows, 273.15);
        std::vector<double> gaps(rows, std::nan(""));
        const std::vector<Condition> conditions = {{"constant", constant}, {"gaps", gaps}};
        EXPECT_TRUE(conditional_calibration(scores, conditions).passes);
    }
    std::vector<double> scores(1000, std::nan(""));
    std::vector<double> tied(1000);
    for (std::size_t i = 0; i < 1000; ++i) tied[i] = static_cast<double>(i % 2);
    EXPECT_TRUE(conditional_calibration(scores, std::vector<Condition>{{"tied", tied}}).passes);
    for (std::size_t i = 0; i < 1000; ++i) scores[i] = std::sin(static_cast<double>(i * i));
    const auto judged = conditional_calibration(scores, std::vector<Condition>{{"tied", tied}});
    ASSERT_EQ(judged.columns.size(), 1U);
    EXPECT_EQ(judged.columns[0].places.size(), 2U);
}

}  // namespace
}  // namespace accrue
