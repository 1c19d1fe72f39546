// Results must not depend on the number of threads, to the last bit.
#pragma once

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstring>
#include <string>
#include <vector>

#include "accrue/threads.hpp"

namespace accrue::support {

inline bool same_bytes(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return false;
    return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;  // no null for memcmp
}
inline bool same_bytes(const std::string& a, const std::string& b) {
    return a == b;
}

// Fails unless make() returns the same bytes with 1, 2 and 3 threads, also on a machine with fewer cores.
template <typename Make>
void expect_same_for_any_threads(Make make) {
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 3);
    decltype(make()) one;
    with_threads(1, [&] { one = make(); });
    ASSERT_FALSE(one.empty());
    for (const int threads : {2, 3}) {
        decltype(make()) several;
        // A race shows itself only now and then: look more than once.
        for (int repeat = 0; repeat < 3; ++repeat) {
            with_threads(threads, [&] { several = make(); });
            EXPECT_TRUE(same_bytes(one, several)) << threads << " threads";
        }
    }
}

}  // namespace accrue::support
