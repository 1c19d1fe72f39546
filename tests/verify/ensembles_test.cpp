// Ensembles, against sums over all members and pairs of members.
#include "verify/ensembles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "accrue/error.hpp"
#include "core/random.hpp"

namespace accrue::verification {
namespace {

using Values = std::vector<double>;

struct Ensemble {
    std::vector<Values> columns;
    Values y;
    std::vector<std::span<const double>> spans() const { return {columns.begin(), columns.end()}; }
    Values row(std::size_t i) const {
        Values members;
        for (const Values& column : columns) members.push_back(column[i]);
        return members;
    }
};

Ensemble drawn(std::size_t rows, std::size_t members, bool ties, double spread = 1, std::uint64_t seed = 1) {
    core::Random random(seed);
    Ensemble result{std::vector<Values>(members, Values(rows)), Values(rows)};
    for (std::size_t i = 0; i < rows; ++i) {
        const double mean = 3 * random.normal();
        const auto draw = [&](double sd) {
            const double value = mean + sd * random.normal();
            return ties ? std::round(value) : value;
        };
        result.y[i] = draw(1);
        for (Values& column : result.columns) column[i] = draw(spread);
    }
    return result;
}

VerifiedEnsemble verified(const Ensemble& ensemble, const Values& weights = {},
                          const std::vector<double>& levels = {0.5, 0.9}) {
    VerifyOptions options;
    options.levels = levels;
    return verify_ensemble(ensemble.spans(), ensemble.y, weights, {}, options, {});
}

TEST(EnsembleCrps, EqualsTheSumsOverAllMembersAndPairs) {
    core::Random random(2);
    for (int trial = 0; trial < 300; ++trial) {
        const std::size_t count = 1 + random.below(12);
        const bool ties = random.below(2) == 1;
        Values members;
        for (std::size_t k = 0; k < count; ++k)
            members.push_back(ties ? std::round(random.normal()) : 1000 + random.normal());
        const double y = ties ? std::round(2 * random.normal()) : 1000 + 2 * random.normal();
        std::sort(members.begin(), members.end());
        double distance = 0;
        double pairs = 0;
        for (const double a : members) {
            distance += std::fabs(a - y);
            for (const double b : members) pairs += std::fabs(a - b);
        }
        const auto m = static_cast<double>(count);
        const EnsembleCrps crps = ensemble_crps(members, y);
        // The sums lose digits of numbers around 1000.
        EXPECT_NEAR(crps.plain, distance / m - pairs / (2 * m * m), 1e-12);
        if (count == 1)
            EXPECT_TRUE(std::isnan(crps.fair));
        else
            EXPECT_NEAR(crps.fair, distance / m - pairs / (2 * m * (m - 1)), 1e-12);
    }
}

TEST(EnsembleQuantile, LiesAtUniformRanks) {
    const Values members = {1, 2, 4};
    EXPECT_EQ(ensemble_quantile(members, 0.25), 1);
    EXPECT_EQ(ensemble_quantile(members, 0.5), 2);
    EXPECT_EQ(ensemble_quantile(members, 0.625), 3);
    EXPECT_EQ(ensemble_quantile(members, 0.01), 1);
    EXPECT_EQ(ensemble_quantile(members, 0.99), 4);
    EXPECT_EQ(ensemble_quantile(Values{5}, 0.3), 5);
}

TEST(VerifyEnsemble, HasMeansOfTheScoresOfRows) {
    const Ensemble ensemble = drawn(200, 7, false);
    Values weights;
    for (std::size_t i = 0; i < 200; ++i) weights.push_back(static_cast<double>(i % 4));
    const VerifiedEnsemble result = verified(ensemble, weights);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double plain = 0, fair = 0, squares = 0, spread = 0;
    for (std::size_t i = 0; i < 200; ++i) {
        Values members = ensemble.row(i);
        std::sort(members.begin(), members.end());
        const EnsembleCrps crps = ensemble_crps(members, ensemble.y[i]);
        plain += weights[i] * crps.plain / total;
        fair += weights[i] * crps.fair / total;
        const double mean = std::accumulate(members.begin(), members.end(), 0.0) / 7;
        squares += weights[i] * (ensemble.y[i] - mean) * (ensemble.y[i] - mean) / total;
        for (const double member : members) spread += weights[i] * (member - mean) * (member - mean) / 6 / total;
    }
    EXPECT_NEAR(result.verification.crps, plain, 1e-12);
    EXPECT_NEAR(result.figures.fair_crps, fair, 1e-12);
    EXPECT_NEAR(result.verification.rmse, std::sqrt(squares), 1e-12);
    EXPECT_NEAR(result.verification.sharpness, std::sqrt(spread), 1e-12);
    EXPECT_TRUE(std::isnan(result.verification.nlpd));
    EXPECT_TRUE(result.verification.ensemble);
}

TEST(VerifyEnsemble, CountsRanks) {
    const Ensemble ensemble = drawn(500, 4, false);
    Values shares(5);
    for (std::size_t i = 0; i < 500; ++i) {
        std::size_t below = 0;
        for (const double member : ensemble.row(i)) below += member < ensemble.y[i] ? 1 : 0;
        shares[below] += 1.0 / 500;
    }
    const VerifiedEnsemble result = verified(ensemble);
    ASSERT_EQ(result.figures.rank_share.size(), 5U);
    for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(result.figures.rank_share[k], shares[k], 1e-12);
    EXPECT_LT(result.figures.low, 0.2);
    EXPECT_GT(result.figures.high, 0.2);
}

TEST(VerifyEnsemble, SpreadsRanksEvenlyAmongEqualMembers) {
    // Half of all values are ties. A calibrated ensemble: each of 5 shares of 20,000 rows has a standard error of
    // 0.0028; beyond 4.5 of them in one of 30,000 runs.
    const VerifiedEnsemble result = verified(drawn(20'000, 4, true));
    for (const double share : result.figures.rank_share) EXPECT_NEAR(share, 0.2, 0.0127);
    EXPECT_EQ(verdict(result.verification).summary.substr(0, 11), "Calibrated:");
    // Where all are equal to the observation, every rank is as likely.
    Ensemble equal{std::vector<Values>(3, Values(20'000, 1.0)), Values(20'000, 1.0)};
    const VerifiedEnsemble same = verified(equal);
    for (const double share : same.figures.rank_share) EXPECT_NEAR(share, 0.25, 0.0138);
    EXPECT_EQ(same.verification.crps, 0);
    EXPECT_EQ(same.figures.fair_crps, 0);
    EXPECT_EQ(same.verification.sharpness, 0);
    EXPECT_EQ(verified(equal).figures.rank_share, same.figures.rank_share);
}

TEST(VerifyEnsemble, HasTheIntervalsThatItsMembersAllow) {
    const VerifiedEnsemble few = verified(drawn(100, 18, false));
    EXPECT_FALSE(std::isnan(few.verification.coverage[0].observed));
    EXPECT_TRUE(std::isnan(few.verification.coverage[1].observed));
    // The extremes of 19 members are a 90% interval.
    const Ensemble ensemble = drawn(5000, 19, false);
    const VerifiedEnsemble result = verified(ensemble);
    double inside = 0;
    double width = 0;
    for (std::size_t i = 0; i < 5000; ++i) {
        const Values members = ensemble.row(i);
        const auto ends = std::minmax_element(members.begin(), members.end());
        inside += ensemble.y[i] >= *ends.first && ensemble.y[i] <= *ends.second ? 1.0 / 5000 : 0;
        width += (*ends.second - *ends.first) / 5000;
    }
    EXPECT_NEAR(result.verification.coverage[1].observed, inside, 1e-12);
    EXPECT_NEAR(result.verification.coverage[1].mean_width, width, 1e-12);
    EXPECT_NEAR(inside, 0.9, 0.02);  // 4.7 standard errors
}

TEST(VerifyEnsemble, SaysWhatIsWrong) {
    const std::string summary = verdict(verified(drawn(5000, 20, false, 0.5)).verification).summary;
    EXPECT_NE(summary.find("verconfident"), std::string::npos) << summary;
    EXPECT_NE(summary.find("the ensemble says"), std::string::npos) << summary;
}

TEST(VerifyEnsemble, TakesOneRowAndOneMember) {
    for (const std::size_t rows : {1U, 2U})
        for (const std::size_t members : {1U, 2U}) {
            const VerifiedEnsemble result = verified(drawn(rows, members, false));
            EXPECT_EQ(result.figures.rank_share.size(), members + 1);
            EXPECT_EQ(std::isnan(result.figures.fair_crps), members == 1);
        }
    EXPECT_THROW(verified({{}, {1}}), InputError);
    EXPECT_THROW(verified({{{1, NAN}}, {1, 2}}), InputError);
    EXPECT_THROW(verified({{{1}}, {1, 2}}), InputError);
}

TEST(VerifyEnsemble, HasFiguresOfTheValuesOfAColumn) {
    const Ensemble all = drawn(300, 9, false);
    std::vector<std::uint32_t> codes;
    Ensemble odd{std::vector<Values>(9), {}};
    for (std::size_t i = 0; i < 300; ++i) {
        codes.push_back(i % 2);
        if (i % 2 == 0) continue;
        odd.y.push_back(all.y[i]);
        for (std::size_t k = 0; k < 9; ++k) odd.columns[k].push_back(all.columns[k][i]);
    }
    const std::vector<std::string> labels = {"even", "odd"};
    const std::vector<ColumnGrouping> by = {{"parity", {codes, labels}}};
    VerifyOptions options;
    options.levels = {0.5, 0.9};
    const Verification of = verify_ensemble(all.spans(), all.y, {}, {}, options, by).verification.by[0].values[1];
    const Verification alone = verified(odd).verification;
    EXPECT_NEAR(of.crps, alone.crps, 1e-12);
    EXPECT_NEAR(of.coverage[0].observed, alone.coverage[0].observed, 1e-12);
    EXPECT_NEAR(of.coverage[0].mean_width, alone.coverage[0].mean_width, 1e-12);
}

}  // namespace
}  // namespace accrue::verification
