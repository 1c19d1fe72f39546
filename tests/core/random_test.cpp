#include "core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <vector>

namespace accrue::core {
namespace {

// Every statistical test here fails by chance with this probability, for a seed drawn at random; the seeds are fixed.
constexpr double kFalseAlarm = 1e-6;

// Fails unless `probabilities` look uniform in [0, 1): chi-square over `bins` equal bins.
void expect_uniform(std::size_t draws, std::size_t bins, const std::function<double()>& probability) {
    std::vector<double> counts(bins, 0.0);
    for (std::size_t i = 0; i < draws; ++i) {
        const double p = probability();
        ASSERT_GE(p, 0);
        ASSERT_LT(p, 1);
        ++counts[static_cast<std::size_t>(p * static_cast<double>(bins))];
    }
    const double expected = static_cast<double>(draws) / static_cast<double>(bins);
    double statistic = 0;
    for (const double count : counts) statistic += (count - expected) * (count - expected) / expected;
    const boost::math::chi_squared distribution(static_cast<double>(bins - 1));
    // Too even is as suspicious as too uneven.
    EXPECT_LT(statistic, quantile(complement(distribution, kFalseAlarm / 2)));
    EXPECT_GT(statistic, quantile(distribution, kFalseAlarm / 2));
}

TEST(Random, GivesTheSameNumbersOnEveryPlatform) {
    Random a(1);
    EXPECT_EQ(a.uniform(), 0x1.c41664bccfccbp-2);
    EXPECT_EQ(a.uniform(), 0x1.5048b06e200cbp-2);
    EXPECT_EQ(a.uniform(), 0x1.7d2769b9059f3p-1);
    Random b(1, 5);
    EXPECT_EQ(b.uniform(), 0x1.13faa23a07852p-2);
    EXPECT_EQ(b.uniform(), 0x1.398902c74d76ap-4);
    EXPECT_EQ(b.uniform(), 0x1.713fed20d9302p-3);
    Random c(123456789, 2);
    // Normal numbers pass through exp and log, whose last bit may differ.
    EXPECT_DOUBLE_EQ(c.normal(), -0.34691085647019837);
    EXPECT_DOUBLE_EQ(c.normal(), -0.085818218129063359);
    EXPECT_DOUBLE_EQ(c.normal(), 0.71209794114039004);
    EXPECT_DOUBLE_EQ(c.normal(), -0.99483035019589416);
    Random d(42);
    EXPECT_EQ(d.below(1000), 721U);
    EXPECT_EQ(d.below(1000), 660U);
    EXPECT_EQ(d.below(1000), 776U);
    EXPECT_EQ(d.below(1000), 548U);
}

TEST(Random, SeedsAndStreamsDiffer) {
    const auto first = [](std::uint64_t seed, std::uint64_t stream) { return Random(seed, stream).uniform(); };
    std::vector<double> firsts;
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        for (std::uint64_t stream = 0; stream < 50; ++stream) firsts.push_back(first(seed, stream));
    std::sort(firsts.begin(), firsts.end());
    // Two of 2,500 numbers of 53 bits are equal by chance with probability 3e-10.
    EXPECT_EQ(std::adjacent_find(firsts.begin(), firsts.end()), firsts.end());
    EXPECT_EQ(first(3, 4), first(3, 4));
}

TEST(Random, UniformNumbersAreUniform) {
    Random random(11);
    expect_uniform(200000, 256, [&] { return random.uniform(); });
}

TEST(Random, UniformNumbersStayInTheirInterval) {
    Random random(12);
    double least = 1e9;
    double most = -1e9;
    for (int i = 0; i < 100000; ++i) {
        const double x = random.uniform(-2, 3);
        least = std::min(least, x);
        most = std::max(most, x);
    }
    EXPECT_GE(least, -2);
    EXPECT_LT(most, 3);
    // Nothing within 0.001 of an end of the interval: probability 2*exp(-20) = 4e-9.
    EXPECT_LT(least, -1.999);
    EXPECT_GT(most, 2.999);
}

TEST(Random, NormalNumbersAreNormal) {
    Random random(13);
    expect_uniform(200000, 256, [&] { return std::erfc(-random.normal() / std::numbers::sqrt2) / 2; });
}

TEST(Random, NormalNumbersHaveTheRightTails) {
    // The share beyond 3.5 standard deviations is 4.65e-4; of 10^6 draws 465 are expected, sd 21.6. 4.9 sd: 1e-6.
    Random random(14);
    int beyond = 0;
    for (int i = 0; i < 1000000; ++i) beyond += std::fabs(random.normal()) > 3.5 ? 1 : 0;
    EXPECT_NEAR(beyond, 465.3, 4.9 * 21.6);
}

TEST(Random, ParallelStreamsAreIndependent) {
    // Pairs of numbers from two streams of one seed fall evenly into a 16 by 16 grid; so do neighbours of one stream.
    Random a(15, 0);
    Random b(15, 1);
    expect_uniform(200000, 256,
                   [&] { return (std::floor(16 * a.uniform()) + std::floor(16 * b.uniform()) / 16) / 16; });
    expect_uniform(200000, 256,
                   [&] { return (std::floor(16 * a.uniform()) + std::floor(16 * a.uniform()) / 16) / 16; });
}

TEST(Random, BelowGivesEveryNumberEquallyOften) {
    Random random(16);
    expect_uniform(200000, 7, [&] { return (static_cast<double>(random.below(7)) + 0.5) / 7; });
    for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, ShuffleGivesEveryOrderEquallyOften) {
    Random random(17);
    expect_uniform(120000, 24, [&] {
        std::array<int, 4> items = {0, 1, 2, 3};
        random.shuffle(std::span<int>(items));
        // The number of the order: how many later items are smaller, in the factorial number system.
        double number = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            double smaller = 0;
            for (std::size_t j = i + 1; j < 4; ++j) smaller += items[j] < items[i] ? 1 : 0;
            number = number * static_cast<double>(4 - i) + smaller;
        }
        return (number + 0.5) / 24;
    });
}

TEST(Random, ShuffleKeepsAllItems) {
    std::vector<int> items(1000);
    std::iota(items.begin(), items.end(), 0);
    std::vector<int> shuffled = items;
    Random(18).shuffle(std::span<int>(shuffled));
    EXPECT_NE(shuffled, items);
    std::sort(shuffled.begin(), shuffled.end());
    EXPECT_EQ(shuffled, items);
}

}  // namespace
}  // namespace accrue::core
