#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "support/threads.hpp"

namespace accrue::core {
namespace {

// Numbers of very different size and sign, so that another order of summation gives another sum.
std::vector<double> awkward_numbers(std::size_t n) {
    Random random(7);
    std::vector<double> x(n);
    for (double& value : x) value = random.normal() * std::exp(10 * random.normal());
    return x;
}

double plain_sum(const std::vector<double>& x, std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += x[i];
    return sum;
}

TEST(Parallel, BlocksCoverEveryItemExactlyOnce) {
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 3);
    for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 16U, 1000U, 4097U}) {
        std::vector<std::atomic<int>> visits(n);
        std::vector<std::atomic<int>> blocks(block_count(n, 8));
        with_threads(3, [&] {
            for_blocks(n, 8, [&](std::size_t b, std::size_t begin, std::size_t end) {
                EXPECT_EQ(begin, 8 * b);
                EXPECT_LT(begin, end);
                EXPECT_LE(end - begin, 8U);
                ++blocks[b];
                for (std::size_t i = begin; i < end; ++i) ++visits[i];
            });
        });
        for (const auto& count : visits) EXPECT_EQ(count, 1) << n;
        for (const auto& count : blocks) EXPECT_EQ(count, 1) << n;
    }
}

TEST(Parallel, BlockCountRoundsUp) {
    EXPECT_EQ(block_count(0, 8), 0U);
    EXPECT_EQ(block_count(1, 8), 1U);
    EXPECT_EQ(block_count(8, 8), 1U);
    EXPECT_EQ(block_count(9, 8), 2U);
}

TEST(Parallel, OrderedSumOfWholeNumbersIsExact) {
    for (const std::size_t n : {0U, 1U, 8U, 9U, 17U, 1000U, 12345U}) {
        std::vector<double> x(n);
        std::iota(x.begin(), x.end(), 1.0);
        const auto count = static_cast<double>(n);
        EXPECT_EQ(ordered_sum(x), count * (count + 1) / 2);
    }
}

TEST(Parallel, OrderedSumRoundsFarLessThanAPlainLoop) {
    // 0.1 a million times: every addition of the plain loop rounds, by pairs only about 20 in a row do.
    const std::vector<double> tenths(1000000, 0.1);
    const double exact = 1000000 * 0.1L;
    EXPECT_LE(std::fabs(ordered_sum(tenths) - exact), 20 * 1.2e-16 * exact);
    EXPECT_GT(std::fabs(plain_sum(tenths, 0, tenths.size()) - exact), 20 * 1.2e-16 * exact);
}

TEST(Parallel, SumsHaveTheSameBytesForAnyNumberOfThreads) {
    const std::vector<double> x = awkward_numbers(100003);
    // The check means something: another order does give other bytes.
    EXPECT_NE(plain_sum(x, 0, x.size()),
              sum_blocks<double>(x.size(), 64, [&](auto begin, auto end) { return plain_sum(x, begin, end); }));
    support::expect_same_for_any_threads([&] {
        return std::vector{sum_blocks<double>(
            x.size(), 64, [&](std::size_t begin, std::size_t end) { return plain_sum(x, begin, end); })};
    });
}

TEST(Parallel, SumsOverOneBlockAndOverNothingWork) {
    const auto ones = [](std::size_t begin, std::size_t end) { return static_cast<double>(end - begin); };
    EXPECT_EQ(sum_blocks<double>(0, 8, ones), 0);
    EXPECT_EQ(sum_blocks<double>(5, 8, ones), 5);
    EXPECT_EQ(sum_blocks<double>(8, 8, ones), 8);
    EXPECT_EQ(sum_blocks<double>(1001, 8, ones), 1001);
}

TEST(Parallel, RoomForPartsIsReusedAndItsOldContentIsIgnored) {
    std::vector<double> parts(500, 1e9);
    const auto ones = [](std::size_t begin, std::size_t end) { return static_cast<double>(end - begin); };
    EXPECT_EQ(sum_blocks<double>(1001, 8, ones, parts), 1001);
    EXPECT_EQ(parts.size(), 500U);
    EXPECT_EQ(sum_blocks<double>(8001, 8, ones, parts), 8001);
    EXPECT_EQ(parts.size(), 1001U);
}

TEST(Parallel, WithThreadsLimitsTheThreadsInside) {
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 3);
    int inside = 0;
    with_threads(1, [&] { inside = thread_count(); });
    EXPECT_EQ(inside, 1);
    with_threads(3, [&] { inside = thread_count(); });
    EXPECT_EQ(inside, 3);
    with_threads(0, [&] { inside = thread_count(); });
    EXPECT_GE(inside, 1);
}

}  // namespace
}  // namespace accrue::core
