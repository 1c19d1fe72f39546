// The reliability diagram and its consistency bands.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <vector>

#include "accrue/verify.hpp"
#include "core/random.hpp"
#include "support/samples.hpp"
#include "verify/reliability_diagram.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

ReliabilityDiagram diagram_of(const Numbers& pits, const Numbers& weights = {}, std::size_t points = 101) {
    VerifyOptions options;
    options.diagram_points = points;
    const verification::PitCdf cdf(pits, weights, points - 1);
    return verification::reliability_diagram(cdf, static_cast<double>(pits.size()), {}, weights, {}, options);
}

TEST(Diagram, TheCurveIsTheShareOfPitsUpToEachProbability) {
    const ReliabilityDiagram d = diagram_of({0.1, 0.25, 0.25, 0.6, 1.0}, {}, 5);
    EXPECT_EQ(d.probability, (Numbers{0, 0.25, 0.5, 0.75, 1}));
    // A PIT that lies on a grid point counts there.
    EXPECT_EQ(d.observed, (Numbers{0, 0.6, 0.6, 0.8, 1}));
    const ReliabilityDiagram w = diagram_of({0.1, 0.25, 0.6, 1.0}, {1, 2, 4, 1}, 5);
    EXPECT_EQ(w.observed, (Numbers{0, 0.375, 0.375, 0.875, 1}));
}

// The largest distance to the diagonal by a plain sort.
double plain_distance(const Numbers& pits, const Numbers& weights) {
    std::vector<std::pair<double, double>> rows;
    long double total = 0;
    for (std::size_t i = 0; i < pits.size(); ++i) {
        rows.emplace_back(pits[i], weights.empty() ? 1 : weights[i]);
        total += rows.back().second;
    }
    std::sort(rows.begin(), rows.end());
    long double sum = 0;
    long double largest = 0;
    for (const auto& [p, w] : rows) {
        largest = std::max(largest, p - sum / total);
        sum += w;
        largest = std::max(largest, sum / total - p);
    }
    return static_cast<double>(largest);
}

TEST(Diagram, TheLargestDistanceIsThatOfAPlainSort) {
    // Sizes with one cell, a few, and the most, in one chunk of rows and in several.
    for (const std::size_t n : {1U, 2U, 15U, 16U, 33U, 1000U, 32768U, 32769U, 100003U}) {
        core::Random random(n);
        const auto sample = [&](auto draw) {
            Numbers pits(n);
            for (double& p : pits) p = draw();
            return pits;
        };
        const std::vector<std::pair<const char*, Numbers>> samples = {
            {"uniform", sample([&] { return random.uniform(); })},
            {"skewed", sample([&] { return std::pow(random.uniform(), 1.3); })},
            {"all equal", Numbers(n, 0.3)},
            {"only the ends", sample([&] { return random.uniform() < 0.4 ? 0.0 : 1.0; })},
            {"on the points of a grid", sample([&] { return static_cast<double>(random.below(17)) / 16; })},
            {"in a narrow heap", sample([&] { return 0.7 + 1e-9 * random.uniform(); })},
        };
        Numbers weights = support::random_weights(n, n + 1);
        if (n > 2) weights[n / 2] = 0;
        for (const auto& [name, pits] : samples)
            for (const std::size_t intervals : {1U, 7U, 100U}) {
                SCOPED_TRACE(testing::Message() << n << " rows, " << name << ", " << intervals);
                // Counts are exact; sums of weights round n times at most and mostly cancel.
                EXPECT_NEAR(verification::PitCdf(pits, {}, intervals).distance_to_diagonal(), plain_distance(pits, {}),
                            1e-15);
                EXPECT_NEAR(verification::PitCdf(pits, weights, intervals).distance_to_diagonal(),
                            plain_distance(pits, weights), 1e-13);
            }
    }
}

TEST(Diagram, VerifyFillsItFromTheRows) {
    const support::Sample sample = support::random_sample(300, 111);
    const Verification v = verify(sample.errors, sample.sigmas);
    const Numbers p = pit(sample.errors, sample.sigmas);
    ASSERT_EQ(v.diagram.probability.size(), 101U);
    for (std::size_t k = 0; k <= 100; ++k) {
        const double at = v.diagram.probability[k];
        EXPECT_DOUBLE_EQ(at, static_cast<double>(k) / 100);
        const auto below = std::count_if(p.begin(), p.end(), [&](double x) { return x <= at; });
        EXPECT_EQ(v.diagram.observed[k], static_cast<double>(below) / 300);
        // Grid points cannot show more than the largest distance.
        EXPECT_LE(std::fabs(v.diagram.observed[k] - at), v.calibration_error + 1e-15);
    }
    EXPECT_TRUE(v.diagram.group_pointwise.low.empty());
    EXPECT_TRUE(v.diagram.group_simultaneous.low.empty());
}

TEST(Diagram, BandsLieAroundTheDiagonalOneInsideTheOther) {
    for (const std::size_t n : {1U, 2U, 3U, 50U, 2000U}) {
        SCOPED_TRACE(n);
        const ReliabilityDiagram d = diagram_of(Numbers(n, 0.5));
        for (std::size_t k = 0; k < d.probability.size(); ++k) {
            const double p = d.probability[k];
            // Counts are whole: with three rows the most probable share at p = 0.01 is 0.
            EXPECT_LE(d.pointwise.low[k], p + 1 / static_cast<double>(n));
            EXPECT_GE(d.pointwise.high[k], p - 1 / static_cast<double>(n));
            EXPECT_NEAR(d.pointwise.low[k], 1 - d.pointwise.high[d.probability.size() - 1 - k], 1e-15);
            EXPECT_LE(d.simultaneous.low[k], p);
            EXPECT_GE(d.simultaneous.high[k], p);
            EXPECT_GE(d.simultaneous.low[k], 0);
            EXPECT_LE(d.simultaneous.high[k], 1);
            if (n < 50) continue;
            // The binomial distribution moves in steps of 1/n.
            EXPECT_LE(d.pointwise.high[k] - d.pointwise.low[k],
                      2 * kolmogorov_quantile(static_cast<double>(n), 0.9) + 1 / static_cast<double>(n));
        }
    }
}

TEST(Diagram, ThePointwiseBandIsTheNarrowestOfWholeCountsWithFivePercentOnEitherSide) {
    for (const std::size_t n : {10U, 137U, 1000U}) {
        const ReliabilityDiagram d = diagram_of(Numbers(n, 0.5));
        const auto rows = static_cast<double>(n);
        for (std::size_t k = 1; k < 100; ++k) {
            const boost::math::binomial count(rows, d.probability[k]);
            const double low = std::round(d.pointwise.low[k] * rows);
            const double high = std::round(d.pointwise.high[k] * rows);
            // At most 5% below the band and above it, and a step inwards would exceed that. 1e-9: the cdf's own
            // rounding.
            const double below = low > 0 ? cdf(count, low - 1) : 0;
            const double above = high < rows ? cdf(complement(count, high)) : 0;
            EXPECT_LE(below, 0.05 + 1e-9) << n << " " << k;
            EXPECT_LE(above, 0.05 + 1e-9) << n << " " << k;
            EXPECT_GT(cdf(count, low), 0.05 - 1e-9) << n << " " << k;
            EXPECT_GT(high > 0 ? cdf(complement(count, high - 1)) : 1, 0.05 - 1e-9) << n << " " << k;
        }
    }
}

TEST(Diagram, CalibratedForecastsStayWithinTheBandsAsOftenAsTheySay) {
    // 1,000 calibrated forecasts of 300 rows. A share of 90% of 1,000 has a standard deviation of 0.0095; five of
    // them at one figure are a false alarm with probability 6e-7, at all of 99 points with 3e-5.
    constexpr std::size_t kRuns = 1000;
    constexpr std::size_t kRows = 300;
    constexpr double kSd = 0.0095;
    core::Random random(112);
    const ReliabilityDiagram bands = diagram_of(Numbers(kRows, 0.5));
    const double distance = kolmogorov_quantile(kRows, 0.9);
    const std::size_t points = bands.probability.size();
    Numbers within(points, 0.0);
    double everywhere_on_grid = 0;
    double everywhere = 0;
    Numbers pits(kRows);
    for (std::size_t run = 0; run < kRuns; ++run) {
        for (double& p : pits) p = random.uniform();
        const verification::PitCdf curve(pits, {}, points - 1);
        bool all = true;
        for (std::size_t k = 0; k < points; ++k) {
            const double observed = curve.at(k);
            all = all && observed >= bands.simultaneous.low[k] && observed <= bands.simultaneous.high[k];
            // Counts in whole rows; 1e-12 for the division by their number.
            within[k] +=
                observed >= bands.pointwise.low[k] - 1e-12 && observed <= bands.pointwise.high[k] + 1e-12 ? 1 : 0;
        }
        everywhere_on_grid += all ? 1 : 0;
        everywhere += curve.distance_to_diagonal() <= distance ? 1 : 0;
    }
    EXPECT_NEAR(everywhere / kRuns, 0.9, 5 * kSd);
    // The grid sees a little less than the whole curve, so that a few more curves stay inside.
    EXPECT_GE(everywhere_on_grid / kRuns, 0.9 - 5 * kSd);
    EXPECT_LE(everywhere_on_grid / kRuns, 0.9 + 5 * kSd + 0.03);
    double mean = 0;
    for (std::size_t k = 1; k + 1 < points; ++k) {
        EXPECT_GE(within[k] / kRuns, 0.9 - 5 * kSd) << bands.probability[k];
        mean += within[k] / kRuns / static_cast<double>(points - 2);
    }
    // Whole counts make the band a little too wide, by a step of at most 1/300 against a width of about 0.08.
    EXPECT_LE(mean, 0.95);
}

}  // namespace
}  // namespace accrue
