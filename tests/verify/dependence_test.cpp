// What rows that err together are worth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "accrue/verify.hpp"
#include "core/random.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

// Groups of rows one after the other; the rows of each share a shift of its own.
struct Grouped {
    Numbers errors, sigmas;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;

    Grouped(std::size_t groups, std::size_t rows, double shared, std::uint64_t seed) {
        core::Random random(seed);
        for (std::size_t g = 0; g < groups; ++g) {
            const double shift = std::sqrt(shared) * random.normal();
            for (std::size_t i = 0; i < rows; ++i) {
                errors.push_back(shift + std::sqrt(1 - shared) * random.normal());
                codes.push_back(static_cast<std::uint32_t>(g));
            }
            labels.push_back("g" + std::to_string(g));
        }
        sigmas.assign(errors.size(), 1.0);
    }
    Verification verified(bool with_groups = true) const {
        return verify(errors, sigmas, {}, with_groups ? Grouping{codes, labels} : Grouping{});
    }
};

bool is_biased(const Verification& v) {
    return verdict(v).summary.find("iased") != std::string::npos;
}
bool has_remark(const Verdict& verdict, const std::string& words) {
    return std::any_of(verdict.remarks.begin(), verdict.remarks.end(),
                       [&](const Message& remark) { return remark.text().find(words) != std::string::npos; });
}

TEST(RowsOfAGroup, CopiesAreWorthOneRow) {
    constexpr std::size_t kGroups = 50;
    constexpr std::size_t kCopies = 20;
    const Grouped copies(kGroups, kCopies, 1, 1);
    const Verification v = copies.verified();
    // The sums of a group are those of a row, 20 times; only the degrees of freedom differ, by 1 in 50. Design effects
    // come in steps of 2^-30.
    const double expected = kGroups * (1 - 1.0 / kGroups) / (1 - 1.0 / (kGroups * kCopies));
    EXPECT_NEAR(v.effective_rows, expected, 1e-7);
    EXPECT_NEAR(v.effective_rows_of_mean, expected, 1e-7);
    EXPECT_NEAR(v.effective_rows_of_spread, expected, 1e-7);
    EXPECT_EQ(v.dependence, Dependence::groups);
    EXPECT_NEAR(v.calibration_floor, kolmogorov_quantile(expected, 0.5), 1e-7);
    EXPECT_NEAR(v.calibration_p_value, kolmogorov_survival(expected, v.calibration_error), 1e-7);
    EXPECT_TRUE(has_remark(verdict(v), "Rows of one group err together"));
    EXPECT_NE(verdict(v).summary.find("for 1000 rows worth 49"), std::string::npos) << verdict(v).summary;
    const Verification independent = copies.verified(false);
    EXPECT_EQ(independent.effective_rows, 1000);
    EXPECT_EQ(independent.dependence, Dependence::none);
}

TEST(RowsOfAGroup, AreWorthTheirNumberWhereTheyShareNothing) {
    const Verification v = Grouped(200, 20, 0, 2).verified();
    // Each design effect strays by sqrt(2/200) = 0.1: five of that, a false alarm in a million.
    for (const double rows : {v.effective_rows, v.effective_rows_of_mean, v.effective_rows_of_spread}) {
        EXPECT_GE(rows, 4000 / 1.5);
        EXPECT_LE(rows, 4000);
    }
    EXPECT_FALSE(has_remark(verdict(v), "err together"));
}

TEST(RowsOfAGroup, AShiftTheyShareCostsAsManyRowsAsTheFormulaSays) {
    const Verification v = Grouped(400, 10, 0.5, 3).verified();
    // 1 + 9*0.5 = 5.5, known to sqrt(2/400) = 7%; three of that.
    EXPECT_NEAR(4000 / v.effective_rows_of_mean, 5.5, 3 * 0.07 * 5.5);
    // Squares of normal numbers share the square of their correlation: 1 + 9*0.25.
    EXPECT_NEAR(4000 / v.effective_rows_of_spread, 3.25, 4 * 0.1 * 3.25);
    EXPECT_LT(v.effective_rows_of_mean, v.effective_rows_of_spread);
}

TEST(RowsOfAGroup, ABiasWithinTheirChanceIsNone) {
    std::size_t by_rows = 0, by_groups = 0, found = 0;
    constexpr std::size_t kArchives = 200;
    for (std::uint64_t seed = 0; seed < kArchives; ++seed) {
        Grouped rows(100, 20, 0.3, 1000 + seed);
        by_rows += is_biased(rows.verified(false)) ? 1 : 0;
        by_groups += is_biased(rows.verified()) ? 1 : 0;
        for (double& e : rows.errors) e += 0.4;  // 0.4 sigma is 7 standard errors of 100 groups
        found += is_biased(rows.verified()) ? 1 : 0;
    }
    // Three standard errors, by an estimate of them from 100 groups: about 1 in 250 by chance.
    EXPECT_LE(by_groups, 5U);
    EXPECT_GE(by_rows, kArchives / 5) << "the figures that take rows for independent ones";
    EXPECT_GE(found, kArchives * 9 / 10) << "a real one is still found";
}

// Each row has a share of the one before.
Numbers chain(std::size_t rows, double share, std::uint64_t seed) {
    core::Random random(seed);
    Numbers values;
    double last = random.normal();
    for (std::size_t i = 0; i < rows; ++i) {
        last = share * last + std::sqrt(1 - share * share) * random.normal();
        values.push_back(last);
    }
    return values;
}

TEST(Neighbours, CountWhereRowsHaveAnOrder) {
    const Numbers errors = chain(5000, 0.6, 4);
    const Numbers sigmas(errors.size(), 1.0);
    VerifyOptions ordered;
    ordered.ordered = true;
    const Verification v = verify(errors, sigmas, {}, {}, ordered);
    EXPECT_EQ(v.dependence, Dependence::neighbours);
    EXPECT_NEAR(v.neighbours, 0.6, 0.06);  // five standard errors, sqrt((1 - r^2)/n)
    // (1 + r)/(1 - r) = 4, or a little more where 100 blocks happen to stray: 14% each.
    EXPECT_NEAR(5000 / v.effective_rows_of_mean, 4, 2.5);
    EXPECT_TRUE(has_remark(verdict(v), "Neighbouring rows err together (correlation 0.6"));
    const Verification unordered = verify(errors, sigmas);
    EXPECT_EQ(unordered.effective_rows_of_mean, 5000);
    EXPECT_TRUE(std::isnan(unordered.neighbours));

    // The same rows in another order, with their times.
    std::vector<std::size_t> order(errors.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    core::Random(5).shuffle(std::span(order));
    Numbers shuffled, times;
    for (const std::size_t i : order) {
        shuffled.push_back(errors[i]);
        times.push_back(static_cast<double>(i));
    }
    EXPECT_EQ(verify(shuffled, sigmas, {}, {}, ordered).dependence, Dependence::none);
    ordered.times = times;
    const Verification timed = verify(shuffled, sigmas, {}, {}, ordered);
    EXPECT_NEAR(timed.effective_rows_of_mean, v.effective_rows_of_mean, 1e-6) << "sums in another order";
}

TEST(Neighbours, OfIndependentRowsAndOfSortedOnesSayNothing) {
    VerifyOptions ordered;
    ordered.ordered = true;
    Numbers errors = chain(5000, 0, 6);
    const Numbers sigmas(errors.size(), 1.0);
    // |r| > 0.1 would be seven standard errors.
    EXPECT_EQ(verify(errors, sigmas, {}, {}, ordered).effective_rows, 5000);
    std::sort(errors.begin(), errors.end());
    EXPECT_EQ(verify(errors, sigmas, {}, {}, ordered).effective_rows, 5000) << "sorted by the errors themselves";
}

TEST(Neighbours, WithTheSameSpreadCostRowsOfTheSpread) {
    core::Random random(7);
    Numbers errors;
    // 50 stretches of 100 rows, calm and wild in turn: no row tells the sign of the next.
    for (std::size_t i = 0; i < 5000; ++i) errors.push_back((i / 100 % 2 == 0 ? 0.5 : 1.3) * random.normal());
    const Numbers sigmas(errors.size(), 1.0);
    VerifyOptions ordered;
    ordered.ordered = true;
    const Verification v = verify(errors, sigmas, {}, {}, ordered);
    EXPECT_EQ(v.dependence, Dependence::neighbours);
    EXPECT_LT(v.effective_rows_of_spread, 1000);
    EXPECT_GT(v.effective_rows_of_mean, 2500);
}

TEST(EffectiveRows, AreInTheJson) {
    const auto json = to_json(Grouped(50, 20, 0.5, 8).verified());
    EXPECT_LT(json.at("effective_rows").get<double>(), 1000);
    EXPECT_LT(json.at("effective_rows_of_mean").get<double>(), json.at("effective_rows_of_spread").get<double>());
    EXPECT_FALSE(json.contains("neighbour_correlation")) << "nobody looked";
}

}  // namespace
}  // namespace accrue
