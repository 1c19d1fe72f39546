// Faults that averages hide are found and named; clean archives are left alone.
#include "accrue/conditional.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
