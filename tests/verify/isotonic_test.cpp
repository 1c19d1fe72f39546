// Baselines, against definitions that look at every threshold and every pair.
#include "verify/isotonic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "core/random.hpp"

namespace accrue::verification {
namespace {

using Values = std::vector<double>;

Values distinct(Values values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

// For every threshold the nonincreasing fit by its definition as a minimum of maxima: at a place, the least over all
// starts at or before it of the greatest mean from there to an end at or behind it.
Values every_threshold(const Values& x, const Values& y, const Values& w) {
    const Values places = distinct(x);
    const Values thresholds = distinct(y);
    Values crps(y.size());
    for (std::size_t k = 0; k + 1 < thresholds.size(); ++k) {
        Values weight(places.size() + 1), below(places.size() + 1);
        for (std::size_t i = 0; i < y.size(); ++i) {
            const auto at = std::lower_bound(places.begin(), places.end(), x[i]) - places.begin() + 1;
            weight[static_cast<std::size_t>(at)] += w[i];
            if (y[i] <= thresholds[k]) below[static_cast<std::size_t>(at)] += w[i];
        }
        std::partial_sum(weight.begin(), weight.end(), weight.begin());
        std::partial_sum(below.begin(), below.end(), below.begin());
        Values fit(places.size(), 2.0);
        for (std::size_t at = 0; at < places.size(); ++at)
            for (std::size_t from = 0; from <= at; ++from) {
                double most = 0;
                for (std::size_t to = at + 1; to <= places.size(); ++to)
                    most = std::max(most, (below[to] - below[from]) / (weight[to] - weight[from]));
                fit[at] = std::min(fit[at], most);
            }
        for (std::size_t i = 0; i < y.size(); ++i) {
            const auto at = std::lower_bound(places.begin(), places.end(), x[i]) - places.begin();
            const double apart = fit[static_cast<std::size_t>(at)] - (y[i] <= thresholds[k] ? 1 : 0);
            crps[i] += apart * apart * (thresholds[k + 1] - thresholds[k]);
        }
    }
    return crps;
}

TEST(IsotonicCrps, EqualsAFitForEveryThreshold) {
    core::Random random(1);
    for (int trial = 0; trial < 600; ++trial) {
        const std::size_t n = 1 + random.below(24);
        const bool x_ties = random.below(2) == 1, y_ties = random.below(2) == 1, weighted = random.below(2) == 1;
        const double slope = 2 * static_cast<double>(random.below(3)) - 2;
        Values x, y, w;
        for (std::size_t i = 0; i < n; ++i) {
            const double at = 2 * random.normal();
            const double observed = slope * at + random.normal();
            x.push_back(x_ties ? std::round(at) : at);
            y.push_back(y_ties ? std::round(observed) : observed);
            w.push_back(weighted ? std::exp(random.normal()) : 1.0);
        }
        const Values wanted = every_threshold(x, y, w);
        const Values crps = isotonic_crps(x, y, weighted ? w : Values{});
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(crps[i], wanted[i], 1e-12) << "trial " << trial << " row " << i;
    }
}

TEST(IsotonicCrps, KnowsEveryRowWhereObservationsFollowTheirOrder) {
    const Values x = {1, 2, 3, 4, 5}, y = {-3, -1, 0, 2, 9};
    for (const double crps : isotonic_crps(x, y, {})) EXPECT_NEAR(crps, 0, 1e-14);
    EXPECT_EQ(isotonic_crps(Values{1}, Values{2}, {}), Values{0});
}

TEST(IsotonicCrps, IsClimatologyWhereXSaysNothing) {
    core::Random random(2);
    Values y, w;
    for (int i = 0; i < 100; ++i) {
        y.push_back(std::round(5 * random.normal()));
        w.push_back(static_cast<double>(random.below(4)));
    }
    const Values x(y.size(), 7.0);
    const Values climatology = climatology_crps(y, w);
    const Values isotonic = isotonic_crps(x, y, w);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(isotonic[i], w[i] > 0 ? climatology[i] : 0, 1e-12);
}

TEST(IsotonicCrps, IsNeverAboveClimatologyOnAverage) {
    core::Random random(3);
    for (int trial = 0; trial < 20; ++trial) {
        Values x, y;
        for (int i = 0; i < 500; ++i) {
            x.push_back(random.normal());
            y.push_back(0.3 * x.back() + random.normal());
        }
        const Values climatology = climatology_crps(y, {});
        const Values isotonic = isotonic_crps(x, y, {});
        EXPECT_LT(std::accumulate(isotonic.begin(), isotonic.end(), 0.0),
                  std::accumulate(climatology.begin(), climatology.end(), 0.0));
    }
}

TEST(IsotonicCrps, TakesSecondsForAHundredThousandRows) {
    // 0.3 s here, whatever x says of y; a fit for every threshold would take hours.
    for (const double slope : {0.0, 1.0}) {
        core::Random random(4);
        Values x, y;
        for (int i = 0; i < 100'000; ++i) {
            x.push_back(random.normal());
            y.push_back(slope * x.back() + random.normal());
        }
        const auto start = std::chrono::steady_clock::now();
        isotonic_crps(x, y, {});
        EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 5);
    }
}

TEST(ClimatologyCrps, EqualsTheSumsOverAllPairs) {
    core::Random random(5);
    for (const std::size_t n : {1U, 2U, 3U, 40U}) {
        Values y, w;
        for (std::size_t i = 0; i < n; ++i) {
            y.push_back(std::round(3 * random.normal()));
            w.push_back(1 + static_cast<double>(random.below(3)));
        }
        const double total = std::accumulate(w.begin(), w.end(), 0.0);
        double pairs = 0;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) pairs += w[i] * w[j] * std::fabs(y[i] - y[j]) / total / total;
        const Values crps = climatology_crps(y, w);
        for (std::size_t i = 0; i < n; ++i) {
            double distance = 0;
            for (std::size_t j = 0; j < n; ++j) distance += w[j] * std::fabs(y[i] - y[j]) / total;
            EXPECT_NEAR(crps[i], distance - pairs / 2, 1e-12);
        }
    }
}

}  // namespace
}  // namespace accrue::verification
