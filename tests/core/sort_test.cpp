#include "core/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"

namespace accrue::core {
namespace {

TEST(Sort, DoublesAgreeWithTheStandardLibrary) {
    Random random(3);
    // On both sides of the size from which the vectorised sort takes over.
    for (const std::size_t n : {0U, 1U, 2U, 63U, 64U, 65U, 1000U, 100000U}) {
        std::vector<double> x(n);
        for (double& value : x) value = random.normal() * std::exp(20 * random.normal());
        if (n > 4) {
            x[0] = std::numeric_limits<double>::infinity();
            x[n / 2] = -std::numeric_limits<double>::infinity();
            x[n / 3] = x[n - 1];
        }
        std::vector<double> expected = x;
        std::sort(expected.begin(), expected.end());
        sort_ascending(std::span(x));
        EXPECT_EQ(x, expected) << n;
    }
}

TEST(Sort, UnsignedIntegersUseAllTheirBits) {
    Random random(4);
    for (const std::size_t n : {2U, 64U, 65U, 5000U}) {
        std::vector<std::uint64_t> x(n);
        for (auto& value : x) value = random.below(std::numeric_limits<std::size_t>::max());
        x[0] = std::numeric_limits<std::uint64_t>::max();
        x[1] = 0;
        std::vector<std::uint64_t> expected = x;
        std::sort(expected.begin(), expected.end());
        sort_ascending(std::span(x));
        EXPECT_EQ(x, expected) << n;
    }
}

}  // namespace
}  // namespace accrue::core
