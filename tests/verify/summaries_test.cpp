// Rows summarised for drawing, against plain loops over the rows.
#include "verify/summaries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "support/samples.hpp"

namespace accrue::verification {
namespace {

double sum(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<double> uniform_values(std::size_t n, std::uint64_t seed) {
    core::Random random(seed);
    std::vector<double> values(n);
    for (double& value : values) value = random.uniform(-3, 5);
    return values;
}

TEST(Binning, PutsAboutAsManyRowsIntoEveryBin) {
    const std::vector<double> values = uniform_values(10'000, 1);
    const Bins bins = spread_along(values, values, std::vector<double>(values.size(), 1.0), {}, 20);
    ASSERT_EQ(bins.rows.size(), 20U);
    for (const std::size_t rows : bins.rows) EXPECT_EQ(rows, 500U);
}

TEST(Binning, CountsEveryRowOfLargeTables) {
    // More rows than the sample that the edges come from.
    const std::vector<double> values = uniform_values(3 * Binning::kSample + 7, 2);
    const Bins bins = spread_along(values, values, std::vector<double>(values.size(), 1.0), {}, 20);
    ASSERT_EQ(bins.rows.size(), 20U);
    EXPECT_EQ(std::accumulate(bins.rows.begin(), bins.rows.end(), std::size_t{0}), values.size());
    const double expected = static_cast<double>(values.size()) / 20;
    // Edges from 65,536 rows: the share below each has a standard error of at most 0.2%, 4% of a bin; six of them.
    for (const std::size_t rows : bins.rows) EXPECT_NEAR(static_cast<double>(rows), expected, 0.24 * expected);
}

TEST(Binning, GivesEachOfAFewValuesItsOwnBin) {
    std::vector<double> values;
    for (std::size_t i = 0; i < 1000; ++i) values.push_back(static_cast<double>(i % 7));
    const Bins bins = spread_along(values, values, std::vector<double>(values.size(), 1.0), {}, 20);
    EXPECT_EQ(bins.x, (std::vector<double>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(bins.low, bins.high);
}

TEST(Binning, MakesOneBinOfAConstantAndOfOneRow) {
    for (const std::size_t rows : {1U, 2U, 50U}) {
        const std::vector<double> same(rows, 4.0);
        const Bins bins = spread_along(same, same, same, {}, 20);
        ASSERT_EQ(bins.rows.size(), 1U);
        EXPECT_EQ(bins.rows[0], rows);
        EXPECT_EQ(bins.x[0], 4.0);
    }
}

TEST(SpreadAlong, AgreesWithPlainLoopsOverTheRows) {
    for (const bool weighted : {false, true}) {
        SCOPED_TRACE(weighted ? "weighted" : "not weighted");
        const std::size_t n = 50'000;
        const support::Sample sample = support::random_sample(n, 3);
        const std::vector<double> x = uniform_values(n, 4);
        const std::vector<double> weights = weighted ? support::random_weights(n, 5) : std::vector<double>();
        const Bins bins = spread_along(x, sample.errors, sample.sigmas, weights, 10);
        ASSERT_EQ(bins.x.size(), 10U);
        for (std::size_t b = 0; b < bins.x.size(); ++b) {
            double weight = 0, squares = 0, fourths = 0, sigma = 0, mean = 0, error = 0, weight_squares = 0;
            for (std::size_t i = 0; i < n; ++i) {
                if (x[i] < bins.low[b] || x[i] > bins.high[b]) continue;
                const double w = weighted ? weights[i] : 1;
                const double e = sample.errors[i];
                weight += w;
                weight_squares += w * w;
                squares += w * e * e;
                fourths += w * e * e * e * e;
                sigma += w * sample.sigmas[i] * sample.sigmas[i];
                mean += w * x[i];
                error += w * e;
            }
            const double square = squares / weight;
            // Rounding of sums of 5,000 terms.
            const double tolerance = 1e-11;
            EXPECT_NEAR(bins.rmse[b], std::sqrt(square), tolerance * std::sqrt(square));
            EXPECT_NEAR(bins.sigma[b], std::sqrt(sigma / weight), tolerance * bins.sigma[b]);
            EXPECT_NEAR(bins.x[b], mean / weight, tolerance * 5);
            EXPECT_NEAR(bins.mean_error[b], error / weight, tolerance);
            // Variance of a weighted mean of squares, by the delta method to the log of its root.
            const double variance = (fourths / weight - square * square) * weight_squares / (weight * weight);
            const double half = 1.6448536269514722 * std::sqrt(variance) / (2 * square);
            EXPECT_NEAR(std::log(bins.rmse_high[b] / bins.rmse[b]), half, 1e-9);
            EXPECT_NEAR(std::log(bins.rmse[b] / bins.rmse_low[b]), half, 1e-9);
        }
    }
}

TEST(SpreadAlong, KeepsHugeAndTinyErrorsInRange) {
    const std::size_t n = 1000;
    const support::Sample sample = support::random_sample(n, 6);
    const std::vector<double> x = uniform_values(n, 7);
    const Bins plain = spread_along(x, sample.errors, sample.sigmas, {}, 5);
    for (const double unit : {0x1p900, 0x1p-900}) {
        support::Sample scaled = sample;
        for (double& e : scaled.errors) e *= unit;
        for (double& s : scaled.sigmas) s *= unit;
        const Bins bins = spread_along(x, scaled.errors, scaled.sigmas, {}, 5);
        for (std::size_t b = 0; b < bins.x.size(); ++b) {
            EXPECT_DOUBLE_EQ(bins.rmse[b] / unit, plain.rmse[b]);
            EXPECT_DOUBLE_EQ(bins.sigma[b] / unit, plain.sigma[b]);
            EXPECT_DOUBLE_EQ(bins.rmse_high[b] / unit, plain.rmse_high[b]);
        }
    }
}

TEST(SpreadAlong, CoversTheTrueSpreadAsOftenAsItClaims) {
    // 200 tables of 20 bins with true rmse 1: 4,000 intervals of 90%. Not independent of each other only through their
    // edges; the standard error of the share is 0.5%. The log of a root mean square of 100 rows is nearly normal, so
    // 2.5% allow for the rest: false alarm below 1e-5.
    std::size_t held = 0, all = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        core::Random random(seed);
        std::vector<double> x(2000), e(2000);
        for (double& value : x) value = random.uniform();
        for (double& value : e) value = random.normal();
        const Bins bins = spread_along(x, e, std::vector<double>(2000, 1.0), {}, 20);
        for (std::size_t b = 0; b < bins.x.size(); ++b) {
            held += bins.rmse_low[b] <= 1 && 1 <= bins.rmse_high[b] ? 1 : 0;
            ++all;
        }
    }
    EXPECT_NEAR(static_cast<double>(held) / static_cast<double>(all), 0.9, 0.025);
}

TEST(FanAlong, HasTheQuantilesOfTheForecastsAndOfWhatWasObserved) {
    const std::size_t n = 40'000;
    const support::Sample sample = support::random_sample(n, 8);
    const std::vector<double> means = uniform_values(n, 9);
    const Fan fan = fan_along(means, means, sample.errors, sample.sigmas, {}, {}, 8);
    ASSERT_EQ(fan.x.size(), 8U);
    for (std::size_t b = 0; b < fan.x.size(); ++b) {
        std::vector<double> observed;
        double mean = 0, sigma = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (means[i] < fan.low[b] || means[i] > fan.high[b]) continue;
            observed.push_back(sample.errors[i]);
            mean += means[i];
            sigma += sample.sigmas[i];
        }
        ASSERT_EQ(observed.size(), fan.rows[b]);
        std::sort(observed.begin(), observed.end());
        const auto count = static_cast<double>(observed.size());
        const auto quantile = [&](double p) { return observed[static_cast<std::size_t>(std::ceil(p * count)) - 1]; };
        EXPECT_NEAR(fan.observed_q05[b], mean / count + quantile(0.05), 1e-11);
        EXPECT_NEAR(fan.observed_q50[b], mean / count + quantile(0.5), 1e-11);
        EXPECT_NEAR(fan.observed_q95[b], mean / count + quantile(0.95), 1e-11);
        EXPECT_NEAR(fan.mean[b], mean / count, 1e-11);
        EXPECT_NEAR(fan.q95[b], mean / count + 1.6448536269514722 * sigma / count, 1e-11);
        EXPECT_NEAR(fan.q25[b], mean / count - 0.67448975019608171 * sigma / count, 1e-11);
    }
}

TEST(FanAlong, CountsAWeightOfTwoLikeTwoRows) {
    const std::vector<double> mean = {0, 0, 0, 0};
    const std::vector<double> errors = {4, 1, 3, 2};
    const std::vector<double> sigmas = {1, 2, 3, 4};
    const Fan weighted = fan_along(mean, mean, errors, sigmas, {}, std::vector<double>{2, 1, 0, 3}, 1);
    const std::vector<double> mean_6(6, 0.0);
    const Fan repeated = fan_along(mean_6, mean_6, std::vector<double>{4, 4, 1, 2, 2, 2},
                                   std::vector<double>{1, 1, 2, 4, 4, 4}, {}, {}, 1);
    EXPECT_EQ(weighted.observed_q05, repeated.observed_q05);
    EXPECT_EQ(weighted.observed_q25, repeated.observed_q25);
    EXPECT_EQ(weighted.observed_q50, repeated.observed_q50);
    EXPECT_EQ(weighted.observed_q75, repeated.observed_q75);
    EXPECT_EQ(weighted.observed_q95, repeated.observed_q95);
    EXPECT_DOUBLE_EQ(weighted.q95[0], repeated.q95[0]);
}

TEST(Summaries, DoNotDependOnTheThreads) {
    const std::size_t n = 200'001;
    const support::Sample sample = support::random_sample(n, 10);
    const std::vector<double> x = uniform_values(n, 11);
    const auto compute = [&](int threads) {
        std::vector<double> all;
        with_threads(threads, [&] {
            const Bins bins = spread_along(x, sample.errors, sample.sigmas, {}, 20);
            const Fan fan = fan_along(x, x, sample.errors, sample.sigmas, {}, {}, 40);
            for (const auto* list :
                 {&bins.x, &bins.rmse, &bins.rmse_low, &bins.sigma, &fan.mean, &fan.q05, &fan.observed_q25})
                all.insert(all.end(), list->begin(), list->end());
            all.push_back(paired_difference(sample.errors, {}, {}).low);
        });
        return all;
    };
    EXPECT_EQ(compute(1), compute(2));
    EXPECT_EQ(compute(1), compute(3));
}

TEST(PitHistogram, CountsEveryPitInItsBar) {
    const std::size_t n = 5000;
    const support::Sample sample = support::random_sample(n, 12, 1.3);
    const Verification v = verify(sample.errors, sample.sigmas);
    const PitHistogram histogram = pit_histogram(v, 20);
    std::vector<double> expected(20, 0.0);
    for (const double p : pit(sample.errors, sample.sigmas))
        expected[static_cast<std::size_t>(std::max(0.0, std::ceil(p * 20) - 1))] += 1.0 / static_cast<double>(n);
    for (std::size_t b = 0; b < 20; ++b) EXPECT_NEAR(histogram.share[b], expected[b], 1e-12);
    EXPECT_NEAR(sum(histogram.share), 1, 1e-12);
    EXPECT_LT(histogram.low, 0.05);
    EXPECT_GT(histogram.high, 0.05);
}

TEST(PitHistogram, HoldsAPitOfZeroAndOfOne) {
    const std::vector<double> errors = {-1000, 1000};
    const std::vector<double> sigmas = {1, 1};
    const PitHistogram histogram = pit_histogram(verify(errors, sigmas), 20);
    EXPECT_EQ(histogram.share.front(), 0.5);
    EXPECT_EQ(histogram.share.back(), 0.5);
}

TEST(PairedDifference, IsStudentsTestForRows) {
    // Mean 2, standard deviation 2, four rows: t = 2 with three degrees of freedom; Student's 95% quantile is 2.353363.
    const std::vector<double> differences = {0, 2, 2, 4};
    const PairedDifference d = paired_difference(differences, {}, {});
    const double error = std::sqrt(8.0 / 3) / 2;
    EXPECT_DOUBLE_EQ(d.difference, 2);
    EXPECT_NEAR(d.high - d.difference, 2.3533634348018264 * error, 1e-12);
    EXPECT_NEAR(d.difference - d.low, 2.3533634348018264 * error, 1e-12);
    // p of t = sqrt(6) with 3 degrees: 1 - (2/pi)(atan(a) + a/(1 + a^2)), a = t/sqrt(3).
    const double a = std::sqrt(2.0);
    EXPECT_NEAR(d.p_value, 1 - 2 / std::acos(-1.0) * (std::atan(a) + a / (1 + a * a)), 1e-12);
}

TEST(PairedDifference, IsWiderWhereRowsOfAGroupGoTogether) {
    std::vector<double> differences;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
    core::Random random(13);
    for (std::uint32_t g = 0; g < 50; ++g) {
        labels.push_back(std::to_string(g));
        const double common = random.normal();
        for (int i = 0; i < 20; ++i) {
            differences.push_back(common + 0.1 * random.normal());
            codes.push_back(g);
        }
    }
    const PairedDifference rows = paired_difference(differences, {}, {});
    const PairedDifference groups = paired_difference(differences, {}, {codes, labels});
    EXPECT_DOUBLE_EQ(rows.difference, groups.difference);
    // Twenty rows that go together count as one: the interval is sqrt(20) = 4.5 times as wide.
    EXPECT_NEAR((groups.high - groups.low) / (rows.high - rows.low), std::sqrt(20.0), 0.3);
}

TEST(PairedDifference, IsUndefinedForOneRowAndOneGroup) {
    const std::vector<double> one = {3};
    EXPECT_EQ(paired_difference(one, {}, {}).difference, 3);
    EXPECT_TRUE(std::isnan(paired_difference(one, {}, {}).low));
    const std::vector<double> two = {3, 4};
    const std::vector<std::uint32_t> codes = {0, 0};
    const std::vector<std::string> labels = {"only"};
    EXPECT_TRUE(std::isnan(paired_difference(two, {}, {codes, labels}).p_value));
}

}  // namespace
}  // namespace accrue::verification
