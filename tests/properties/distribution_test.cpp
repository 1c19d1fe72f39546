// What holds for the distribution of every row, Gaussian or recalibrated. That the CRPS of random maps is one is in
// tests/families/recalibrated_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <vector>

#include "accrue/model.hpp"
#include "support/cases.hpp"
#include "support/families.hpp"

namespace accrue {
namespace {

using support::kEpsilon;

constexpr std::uint64_t kDistributions = 600;

// Rising numbers, some a hair apart.
std::vector<double> rising(core::Random& random, std::size_t n, double closest) {
    std::vector<double> values;
    double at = 3 * random.normal();
    for (std::size_t k = 0; k < n; ++k) {
        at += (random.uniform() < 0.2 ? closest : std::exp(2 * random.normal() - 1)) * random.uniform(0.1, 1);
        values.push_back(at);
    }
    return values;
}

std::vector<double> rising_probabilities(core::Random& random, std::size_t n) {
    std::vector<double> values;
    while (values.size() < n) {
        const double tail = std::pow(10.0, -12 * std::pow(random.uniform(), 3)) / 2;
        values.push_back(random.uniform() < 0.5 ? tail : 1 - tail);
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
    }
    return values;
}

// A third Gaussian, a third of each kind of map; of any unit, and of means up to a million sigmas.
Distribution random_distribution(std::uint64_t number, core::Random& random) {
    constexpr std::array<double, 5> kUnits = {1, 1e-300, 1e150, 0.1, 1};
    const double unit = kUnits[random.below(kUnits.size())];
    Distribution d{0, unit * std::exp(random.normal())};
    if (random.uniform() < 0.7) d.mean = d.sigma * std::pow(10.0, random.uniform(-6, 6)) * random.normal();
    const std::size_t n = 1 + random.below(8);
    if (number % 3 == 1)
        d.family = std::make_shared<Recalibrated>(Recalibrated::Knots::scores, rising(random, n, 1e-12),
                                                  rising(random, n, 1e-6));
    if (number % 3 == 2) {
        std::vector<double> predicted = rising_probabilities(random, n);
        d.family = std::make_shared<Recalibrated>(Recalibrated::Knots::probabilities, predicted,
                                                  rising_probabilities(random, n));
    }
    return d;
}

void for_distributions(const auto& work) {
    for (std::uint64_t number = 0; number < kDistributions; ++number) {
        core::Random random(number, 19);
        const Distribution d = random_distribution(number, random);
        const Recalibrated* map = support::map_of(d.family);
        SCOPED_TRACE(
            testing::Message() << "distribution " << number << ": mean " << d.mean << ", sigma " << d.sigma
                               << ", knots "
                               << testing::PrintToString(map != nullptr ? map->predicted() : std::vector<double>{})
                               << " to "
                               << testing::PrintToString(map != nullptr ? map->actual() : std::vector<double>{}));
        work(d, random);
        if (testing::Test::HasFailure()) return;
    }
}

std::vector<double> some_probabilities(core::Random& random) {
    // From 1e-290 on: a map of probabilities divides by as little as 1e-12, and of denormal numbers the scores are
    // rough.
    std::vector<double> p = {1e-290, 1e-12, 0.5, 1 - 1e-12, 1 - kEpsilon / 2};
    for (int k = 0; k < 20; ++k) p.push_back(std::max(1e-9, random.uniform()));
    p.push_back(std::nextafter(p.back(), 1));
    std::sort(p.begin(), p.end());
    return p;
}

// By how much an observation or a quantile is wrong: mean + sigma*z and its way back round as large as either part is,
// and a map's u = m + d*z does; the quantile of a Gaussian is good to some roundings of itself.
double of_place(const Distribution& d, double y) {
    const double z = std::fabs((y - d.mean) / d.sigma);
    double size = std::fabs(d.mean) / d.sigma + z + 1;
    const Standardised own(d.family);
    if (const Recalibrated* map = support::map_of(d.family)) {
        // The score of a probability that rounds is wrong by 1.3 roundings at most, however near to 0 it is.
        size += (2 + std::fabs(own.u_mean())) / own.u_sd();
        // Knots may lie far from the origin of u.
        if (map->knots() == Recalibrated::Knots::scores)
            size += std::max(std::fabs(map->predicted().front()), std::fabs(map->predicted().back())) / own.u_sd();
    }
    return 16 * kEpsilon * size * d.sigma;
}

TEST(Distributions, QuantilesRiseWithTheProbability) {
    for_distributions([](const Distribution& d, core::Random& random) {
        double last = -std::numeric_limits<double>::infinity();
        for (const double p : some_probabilities(random)) {
            const double y = d.quantile(p);
            EXPECT_GE(y, last - of_place(d, y)) << p;
            last = y;
        }
    });
}

TEST(Distributions, TheCdfUndoesTheQuantile) {
    for_distributions([](const Distribution& d, core::Random& random) {
        for (const double p : some_probabilities(random)) {
            const double y = d.quantile(p);
            const double wrong = of_place(d, y);
            // The cdf may be as steep as knots lie close together, so the probability is compared with those around.
            // Its own rounding: that of a score v changes Phi(v) by about v^2 of itself.
            const Standardised family(d.family);
            const Recalibrated* map = support::map_of(d.family);
            const double v = family.normal_score((y - d.mean) / d.sigma);
            double own = 16 * kEpsilon * (1 + v * v) * p;
            // A map of probabilities goes by the smaller side of u, and where u is above 0 and v below, that is 1 - p.
            if (map != nullptr && map->knots() == Recalibrated::Knots::probabilities && v < 0 &&
                family.u_mean() + family.u_sd() * (y - d.mean) / d.sigma > 0)
                own += 4 * kEpsilon;
            EXPECT_GE(p, d.cdf(y - wrong) - own) << p;
            EXPECT_LE(p, d.cdf(y + wrong) + own) << p;
        }
    });
}

TEST(Distributions, ProbabilitiesAndScoresKeepTheirBounds) {
    for_distributions([](const Distribution& d, core::Random& random) {
        double last = 0;
        std::vector<double> ys;
        for (int k = 0; k < 20; ++k) ys.push_back(d.mean + d.sigma * 5 * random.normal());
        for (const double far : {-1e6, 1e6, -100.0, 100.0, 0.0}) ys.push_back(d.mean + d.sigma * far);
        std::sort(ys.begin(), ys.end());
        for (const double y : ys) {
            const double p = d.cdf(y);
            EXPECT_GE(p, last * (1 - 16 * kEpsilon)) << y;
            EXPECT_LE(p, 1);
            last = p;
            EXPECT_GE(d.pdf(y), 0);
            const double crps = d.crps(y);
            EXPECT_GE(crps, 0);
            // At most E|Y - y|, and that at most |y - mean| + sigma.
            EXPECT_LE(crps, (std::fabs(y - d.mean) + d.sigma) * (1 + 1e-9) + of_place(d, y));
        }
    });
}

TEST(Distributions, IntervalsHoldTheMedianAndEachOther) {
    for_distributions([](const Distribution& d, core::Random&) {
        const double median = d.quantile(0.5);
        double low = median;
        double high = median;
        for (const double level : {0.001, 0.5, 0.9, 0.95, 0.999}) {
            const auto [from, to] = d.interval(level);
            EXPECT_LE(from, low + of_place(d, from));
            EXPECT_GE(to, high - of_place(d, to));
            low = from;
            high = to;
        }
    });
}

TEST(Distributions, AUnitThatIsAPowerOfTwoChangesNoBit) {
    for_distributions([](const Distribution& d, core::Random& random) {
        const double unit = d.sigma > 1e100 ? 0x1p-600 : 0x1p300;
        const Distribution other{d.mean * unit, d.sigma * unit, d.family};
        // Near 0 products and sums of what is 1e-300 wide are rounded to the smallest double.
        constexpr double kMin = std::numeric_limits<double>::denorm_min();
        for (const double p : {1e-12, 0.3, 0.5, 0.99})
            EXPECT_NEAR(other.quantile(p), d.quantile(p) * unit, 2 * kMin * unit);
        const double y = d.mean + d.sigma * random.normal();
        EXPECT_EQ(other.cdf(y * unit), d.cdf(y));
        EXPECT_EQ(other.crps(y * unit), d.crps(y) * unit);
        EXPECT_NEAR(other.pdf(y * unit), d.pdf(y) / unit, kMin / unit);
    });
}

}  // namespace
}  // namespace accrue
