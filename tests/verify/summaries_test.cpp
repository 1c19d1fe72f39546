// Rows summarised for drawing, against plain loops over the rows.
#include "verify/summaries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "support/families.hpp"
#include "support/samples.hpp"

namespace accrue::verification {
namespace {

const Families kNormal = {{normal_family()}};

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
    const ErrorBins bins = errors_along(values, values, std::vector<double>(values.size(), 1.0), kNormal, {}, 20);
    ASSERT_EQ(bins.rows.size(), 20U);
    for (const std::size_t rows : bins.rows) EXPECT_EQ(rows, 500U);
}

TEST(Binning, CountsEveryRowOfLargeTables) {
    // More rows than the sample that the edges come from.
    const std::vector<double> values = uniform_values(3 * Binning::kSample + 7, 2);
    const ErrorBins bins = errors_along(values, values, std::vector<double>(values.size(), 1.0), kNormal, {}, 20);
    ASSERT_EQ(bins.rows.size(), 20U);
    EXPECT_EQ(std::accumulate(bins.rows.begin(), bins.rows.end(), std::size_t{0}), values.size());
    const double expected = static_cast<double>(values.size()) / 20;
    // Edges from 65,536 rows: the share below each has a standard error of at most 0.2%, 4% of a bin; six of them.
    for (const std::size_t rows : bins.rows) EXPECT_NEAR(static_cast<double>(rows), expected, 0.24 * expected);
}

TEST(Binning, GivesEachOfAFewValuesItsOwnBin) {
    std::vector<double> values;
    for (std::size_t i = 0; i < 1000; ++i) values.push_back(static_cast<double>(i % 7));
    const ErrorBins bins = errors_along(values, values, std::vector<double>(values.size(), 1.0), kNormal, {}, 20);
    EXPECT_EQ(bins.x, (std::vector<double>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(bins.low, bins.high);
}

TEST(Binning, MakesOneBinOfAConstantAndOfOneRow) {
    for (const std::size_t rows : {1U, 2U, 50U}) {
        const std::vector<double> same(rows, 4.0);
        const ErrorBins bins = errors_along(same, same, same, kNormal, {}, 20);
        ASSERT_EQ(bins.rows.size(), 1U);
        EXPECT_EQ(bins.rows[0], rows);
        EXPECT_EQ(bins.x[0], 4.0);
    }
}

// The cdf of errors that are each drawn from their N(0, sigma^2), for the rows of a bin.
double mixture_cdf(double error, std::span<const double> sigmas, std::span<const double> weights) {
    double below = 0;
    double all = 0;
    for (std::size_t i = 0; i < sigmas.size(); ++i) {
        const double w = weights.empty() ? 1 : weights[i];
        below += w * std::erfc(-error / sigmas[i] / std::sqrt(2.0)) / 2;
        all += w;
    }
    return below / all;
}

// The first value up to which at least this share of the weight lies.
double plain_quantile(std::vector<std::pair<double, double>> rows, double share) {
    std::sort(rows.begin(), rows.end());
    double all = 0;
    for (const auto& [value, weight] : rows) all += weight;
    double sum = 0;
    for (const auto& [value, weight] : rows)
        if ((sum += weight) >= share * all * (1 - 1e-12)) return value;
    return rows.back().first;
}

TEST(ErrorsAlong, AgreesWithPlainLoopsOverTheRows) {
    for (const std::size_t n : {5'000U, 50'000U})
        for (const bool weighted : {false, true}) {
            SCOPED_TRACE(weighted ? "weighted" : "not weighted");
            SCOPED_TRACE(n);
            const support::Sample sample = support::random_sample(n, 3);
            const std::vector<double> x = uniform_values(n, 4);
            const std::vector<double> weights = weighted ? support::random_weights(n, 5) : std::vector<double>();
            const ErrorBins bins = errors_along(x, sample.errors, sample.sigmas, kNormal, weights, 10);
            ASSERT_EQ(bins.x.size(), 10U);
            for (std::size_t b = 0; b < bins.x.size(); ++b) {
                std::vector<std::pair<double, double>> errors;
                std::vector<double> sigmas, own_weights;
                double weight = 0, sigma = 0, mean = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    if (x[i] < bins.low[b] || x[i] > bins.high[b]) continue;
                    const double w = weighted ? weights[i] : 1;
                    errors.emplace_back(sample.errors[i], w);
                    sigmas.push_back(sample.sigmas[i]);
                    own_weights.push_back(w);
                    weight += w;
                    sigma += w * sample.sigmas[i] * sample.sigmas[i];
                    mean += w * x[i];
                }
                ASSERT_EQ(errors.size(), bins.rows[b]);
                EXPECT_EQ(bins.observed_q05[b], plain_quantile(errors, 0.05));
                EXPECT_EQ(bins.observed_q50[b], plain_quantile(errors, 0.5));
                EXPECT_EQ(bins.observed_q95[b], plain_quantile(errors, 0.95));
                // Rounding of sums of 5,000 terms.
                EXPECT_NEAR(bins.sigma[b], std::sqrt(sigma / weight), 1e-11 * bins.sigma[b]);
                EXPECT_NEAR(bins.x[b], mean / weight, 5e-11);
                // All rows of small bins; of larger ones a parabola through three points, the outer ones 0.3 apart in
                // the normal score and the third near the solution: what is left is below 1e-4.
                const double tolerance = n == 5'000U ? 1e-6 : 1e-4;
                EXPECT_NEAR(mixture_cdf(bins.q05[b], sigmas, own_weights), 0.05, tolerance);
                EXPECT_NEAR(mixture_cdf(bins.q50[b], sigmas, own_weights), 0.5, tolerance);
                EXPECT_NEAR(mixture_cdf(bins.q95[b], sigmas, own_weights), 0.95, tolerance);
                EXPECT_EQ(bins.width[b], bins.q95[b] - bins.q05[b]);
                EXPECT_EQ(bins.observed_width[b], bins.observed_q95[b] - bins.observed_q05[b]);
            }
        }
}

TEST(ErrorsAlong, HasTheQuantilesOfARecalibratedForecast) {
    // Exponential errors less their mean, and the map that makes their PITs uniform.
    std::vector<double> errors;
    core::Random random(6);
    for (int i = 0; i < 2000; ++i) errors.push_back(-std::log(1 - random.uniform()) - 1);
    const Standardised shape = support::fitted(errors);
    const std::vector<double> sigmas(errors.size(), shape.u_sd());
    for (double& e : errors) e -= shape.u_mean();
    const ErrorBins bins = errors_along(sigmas, errors, sigmas, support::families({shape}), {}, 20);
    ASSERT_EQ(bins.x.size(), 1U);
    EXPECT_NEAR(bins.q05[0], sigmas[0] * shape.quantile(0.05), 1e-12);
    EXPECT_NEAR(bins.q50[0], sigmas[0] * shape.quantile(0.5), 1e-12);
    EXPECT_NEAR(bins.q95[0], sigmas[0] * shape.quantile(0.95), 1e-12);
    // The map was made of these rows, at quantiles half a percent apart: it is theirs to as much probability.
    EXPECT_NEAR(bins.q05[0], bins.observed_q05[0], 0.01);
    EXPECT_NEAR(bins.q95[0], bins.observed_q95[0], 0.15);
}

TEST(ErrorsAlong, MixesTheFamiliesOfItsRows) {
    // Half of the rows narrow and far below their mean, half wide and above it: bins of few rows and of many.
    const Standardised narrow = support::recalibrated(Recalibrated::Knots::scores, {-3, -2.9}, {-1, 1});
    const Standardised wide = support::recalibrated(Recalibrated::Knots::scores, {1, 9}, {-1, 1});
    for (const std::size_t n : {200U, 6000U}) {
        std::vector<double> values(n, 1.0);
        std::vector<std::uint32_t> codes(n);
        std::vector<double> quarter(n, 0.25);
        for (std::size_t i = 0; i < n; ++i) codes[i] = i % 2;
        const Families families = support::families({narrow, wide}, codes);
        const ErrorBins bins = errors_along(values, values, values, families, {}, 20);
        ASSERT_EQ(bins.x.size(), 1U);
        const auto mixed = [&](double y) { return (narrow.cdf(y) + wide.cdf(y)) / 2; };
        // As above; the few rows that find the neighbourhood have both families in other shares.
        const double tolerance = n == 200 ? 1e-6 : 1e-3;
        EXPECT_NEAR(mixed(bins.q05[0]), 0.05, tolerance);
        EXPECT_NEAR(mixed(bins.q95[0]), 0.95, tolerance);
        const Fan fan = observations_along_mean(quarter, values, values, families, {}, 20);
        EXPECT_NEAR(mixed(fan.q05[0] - 0.25), 0.05, tolerance);
        EXPECT_NEAR(mixed(fan.q95[0] - 0.25), 0.95, tolerance);
    }
}

TEST(ErrorsAlong, KeepsHugeAndTinyErrorsInRange) {
    const std::size_t n = 1000;
    const support::Sample sample = support::random_sample(n, 6);
    const std::vector<double> x = uniform_values(n, 7);
    const ErrorBins plain = errors_along(x, sample.errors, sample.sigmas, kNormal, {}, 5);
    for (const double unit : {0x1p900, 0x1p-900}) {
        support::Sample scaled = sample;
        for (double& e : scaled.errors) e *= unit;
        for (double& s : scaled.sigmas) s *= unit;
        const ErrorBins bins = errors_along(x, scaled.errors, scaled.sigmas, kNormal, {}, 5);
        for (std::size_t b = 0; b < bins.x.size(); ++b) {
            EXPECT_DOUBLE_EQ(bins.sigma[b] / unit, plain.sigma[b]);
            EXPECT_EQ(bins.observed_q95[b] / unit, plain.observed_q95[b]);
            // To the tolerance of the solver, 1e-6 of the range of the sigmas' own quantiles.
            EXPECT_NEAR(bins.q95[b] / unit, plain.q95[b], 2e-5);
        }
    }
}

TEST(ErrorsAlong, CoversTheTrueQuantilesAsOftenAsItClaims) {
    // 200 tables of 20 bins of 100 rows: 4,000 intervals for each quantile. Counts are whole: for 5% (and 95%) of 100
    // rows between 2 and 9 fall below with probability 93.5%, for 50% between 42 and 58 with 91.1%. The standard error
    // of a share is 0.45%; five of them: false alarm 1e-6 for each of the three.
    std::array<double, 3> held{};
    std::array<double, 3> truth = {-1.6448536269514722, 0, 1.6448536269514722};
    double widths_held = 0;
    double all = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        core::Random random(seed);
        std::vector<double> x(2000), e(2000);
        for (double& value : x) value = random.uniform();
        for (double& value : e) value = random.normal();
        const ErrorBins bins = errors_along(x, e, std::vector<double>(2000, 1.0), kNormal, {}, 20);
        for (std::size_t b = 0; b < bins.x.size(); ++b) {
            const auto inside = [](double value, double low, double high) { return low <= value && value <= high; };
            held[0] += inside(truth[0], bins.observed_q05_low[b], bins.observed_q05_high[b]) ? 1 : 0;
            held[1] += inside(truth[1], bins.observed_q50_low[b], bins.observed_q50_high[b]) ? 1 : 0;
            held[2] += inside(truth[2], bins.observed_q95_low[b], bins.observed_q95_high[b]) ? 1 : 0;
            widths_held += inside(2 * truth[2], bins.observed_width_low[b], bins.observed_width_high[b]) ? 1 : 0;
            ++all;
        }
    }
    EXPECT_NEAR(held[0] / all, 0.935, 0.023);
    EXPECT_NEAR(held[1] / all, 0.911, 0.023);
    EXPECT_NEAR(held[2] / all, 0.935, 0.023);
    // The widths' intervals are put together from those of two quantiles, so they are as generous as these.
    EXPECT_GT(widths_held / all, 0.89);
}

TEST(ErrorsAlong, HeavyTailedErrorsWithTheRightCoverageAgreeWithTheForecast) {
    // One error in 100 is 50 times as large as the others: the 90% interval has its 90%, and the root mean square error
    // is five times sigma. Sigma is such that 5% of the errors lie below -1.6449 of it.
    core::Random random(9);
    const std::size_t n = 20'000;
    std::vector<double> x(n), errors(n);
    const std::vector<double> sigmas(n, 1.0308);  // the 95% quantile of the mixture is 1.6955
    for (std::size_t i = 0; i < n; ++i) {
        x[i] = random.uniform();
        errors[i] = random.normal() * (random.uniform() < 0.01 ? 50 : 1);
    }
    const Verification v = verify(errors, sigmas);
    // Standard error of the coverage 0.2%; four of them.
    ASSERT_NEAR(v.coverage[1].observed, 0.9, 0.0085);
    ASSERT_GT(v.sd_z, 4);
    const ErrorBins bins = errors_along(x, errors, sigmas, kNormal, {}, 20);
    int agree = 0;
    for (std::size_t b = 0; b < bins.x.size(); ++b)
        agree += bins.observed_width_low[b] <= bins.width[b] && bins.width[b] <= bins.observed_width_high[b] ? 1 : 0;
    // 20 intervals of 90%: fewer than 14 hold with a probability of 0.2%.
    EXPECT_GE(agree, 14);
}

TEST(ObservationsAlongMean, HasTheQuantilesOfTheForecastsAndOfWhatWasObserved) {
    const std::size_t n = 40'000;
    const support::Sample sample = support::random_sample(n, 8);
    const std::vector<double> means = uniform_values(n, 9);
    const Fan fan = observations_along_mean(means, sample.errors, sample.sigmas, kNormal, {}, 8);
    ASSERT_EQ(fan.x.size(), 8U);
    for (std::size_t b = 0; b < fan.x.size(); ++b) {
        std::vector<std::pair<double, double>> observed;
        const auto cdf = [&](double y) {
            double below = 0;
            double rows = 0;
            for (std::size_t i = 0; i < n; ++i) {
                if (means[i] < fan.low[b] || means[i] > fan.high[b]) continue;
                below += std::erfc((means[i] - y) / sample.sigmas[i] / std::sqrt(2.0)) / 2;
                ++rows;
            }
            return below / rows;
        };
        for (std::size_t i = 0; i < n; ++i)
            if (means[i] >= fan.low[b] && means[i] <= fan.high[b])
                observed.emplace_back(means[i] + sample.errors[i], 1);
        ASSERT_EQ(observed.size(), fan.rows[b]);
        EXPECT_EQ(fan.observed_q05[b], plain_quantile(observed, 0.05));
        EXPECT_EQ(fan.observed_q50[b], plain_quantile(observed, 0.5));
        EXPECT_EQ(fan.observed_q95[b], plain_quantile(observed, 0.95));
        // As above.
        EXPECT_NEAR(cdf(fan.q05[b]), 0.05, 1e-4);
        EXPECT_NEAR(cdf(fan.q25[b]), 0.25, 1e-4);
        EXPECT_NEAR(cdf(fan.q95[b]), 0.95, 1e-4);
    }
}

TEST(ErrorsAlong, OfAnEnsembleHasTheQuantilesOfAllItsMembersTogether) {
    constexpr std::size_t kRows = 3000;
    constexpr std::size_t kMembers = 7;
    core::Random random(12);
    std::vector<double> x(kRows), y(kRows), weights(kRows), means(kRows, 0.0), errors(kRows), sigmas(kRows, 0.0);
    std::vector<std::vector<double>> members(kMembers, std::vector<double>(kRows));
    for (std::size_t i = 0; i < kRows; ++i) {
        x[i] = random.uniform();
        y[i] = random.normal();
        weights[i] = static_cast<double>(1 + random.below(3));
        for (auto& member : members) means[i] += (member[i] = x[i] + random.normal()) / kMembers;
        for (auto& member : members) sigmas[i] += std::pow(member[i] - means[i], 2) / (kMembers - 1);
        sigmas[i] = std::sqrt(sigmas[i]);
        errors[i] = y[i] - means[i];
    }
    const std::vector<std::span<const double>> columns(members.begin(), members.end());
    for (const bool weighted : {false, true}) {
        const std::vector<double> own = weighted ? weights : std::vector<double>{};
        const auto weight = [&](std::size_t i) { return weighted ? weights[i] : 1.0; };
        const ErrorBins bins = errors_along(x, errors, sigmas, means, columns, own, 4);
        const Fan fan = observations_along_mean(means, errors, sigmas, columns, own, 4);
        ASSERT_EQ(bins.x.size(), 4U);
        for (std::size_t b = 0; b < bins.x.size(); ++b) {
            std::vector<std::pair<double, double>> forecast, observed, forecast_y, observed_y;
            for (std::size_t i = 0; i < kRows; ++i) {
                if (x[i] >= bins.low[b] && x[i] <= bins.high[b]) {
                    observed.emplace_back(errors[i], weight(i));
                    for (const auto& member : members) forecast.emplace_back(member[i] - means[i], weight(i));
                }
                if (means[i] >= fan.low[b] && means[i] <= fan.high[b]) {
                    observed_y.emplace_back(means[i] + errors[i], weight(i));
                    for (const auto& member : members) forecast_y.emplace_back(member[i], weight(i));
                }
            }
            EXPECT_EQ(bins.q05[b], plain_quantile(forecast, 0.05));
            EXPECT_EQ(bins.q95[b], plain_quantile(forecast, 0.95));
            EXPECT_EQ(bins.observed_q50[b], plain_quantile(observed, 0.5));
            EXPECT_EQ(fan.q25[b], plain_quantile(forecast_y, 0.25));
            EXPECT_EQ(fan.q95[b], plain_quantile(forecast_y, 0.95));
            EXPECT_EQ(fan.observed_q75[b], plain_quantile(observed_y, 0.75));
        }
    }
}

TEST(ObservationsAlongMean, NeverShowsWhatWasNotObserved) {
    // Rain: never negative, often zero.
    core::Random random(10);
    std::vector<double> means, errors;
    for (int i = 0; i < 5000; ++i) {
        means.push_back(random.uniform(0, 4));
        const double rain = std::max(0.0, means.back() + 2 * random.normal());
        errors.push_back(rain - means.back());
    }
    const Fan fan = observations_along_mean(means, errors, std::vector<double>(5000, 2.0), kNormal, {}, 40);
    for (std::size_t b = 0; b < fan.x.size(); ++b) {
        EXPECT_GE(fan.observed_q05[b], 0) << "at " << fan.x[b];
        EXPECT_GE(fan.observed_q25[b], 0) << "at " << fan.x[b];
    }
}

TEST(ObservationsAlongMean, CountsAWeightOfTwoLikeTwoRows) {
    const std::vector<double> mean = {0, 0, 0, 0};
    const std::vector<double> errors = {4, 1, 3, 2};
    const std::vector<double> sigmas = {1, 2, 3, 4};
    const Fan weighted = observations_along_mean(mean, errors, sigmas, kNormal, std::vector<double>{2, 1, 0, 3}, 1);
    const std::vector<double> mean_6(6, 0.0);
    const Fan repeated = observations_along_mean(mean_6, std::vector<double>{4, 4, 1, 2, 2, 2},
                                                 std::vector<double>{1, 1, 2, 4, 4, 4}, kNormal, {}, 1);
    EXPECT_EQ(weighted.observed_q05, repeated.observed_q05);
    EXPECT_EQ(weighted.observed_q25, repeated.observed_q25);
    EXPECT_EQ(weighted.observed_q50, repeated.observed_q50);
    EXPECT_EQ(weighted.observed_q75, repeated.observed_q75);
    EXPECT_EQ(weighted.observed_q95, repeated.observed_q95);
    // The solver's tolerance.
    EXPECT_NEAR(weighted.q95[0], repeated.q95[0], 1e-5);
}

TEST(Summaries, DoNotDependOnTheThreads) {
    const std::size_t n = 200'001;
    const support::Sample sample = support::random_sample(n, 10);
    const std::vector<double> x = uniform_values(n, 11);
    const auto compute = [&](int threads) {
        std::vector<double> all;
        with_threads(threads, [&] {
            const ErrorBins bins = errors_along(x, sample.errors, sample.sigmas, kNormal, {}, 20);
            const Fan fan = observations_along_mean(x, sample.errors, sample.sigmas, kNormal, {}, 40);
            for (const auto* list : {&bins.x, &bins.sigma, &bins.q05, &bins.observed_q95, &bins.observed_q95_low,
                                     &fan.q50, &fan.observed_q25})
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

TEST(PairedDifference, OfAnUndefinedScoreIsUndefinedInAllItsParts) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double odd : {kNaN, kInfinity})
        for (const std::size_t rows : {1U, 3U}) {
            std::vector<double> differences(rows, 1.0);
            differences[0] = odd;
            const PairedDifference d = paired_difference(differences, {}, {});
            EXPECT_TRUE(std::isnan(d.difference));
            EXPECT_TRUE(std::isnan(d.low));
            EXPECT_TRUE(std::isnan(d.high));
            EXPECT_TRUE(std::isnan(d.p_value));
            EXPECT_FALSE(d.clear());
        }
}

}  // namespace
}  // namespace accrue::verification
