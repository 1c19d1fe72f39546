// Seeded random streams, the same numbers on every platform.
#pragma once

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace accrue::core {

// SplitMix64: spreads neighbouring numbers over all 64 bits, every number to one of its own.
std::uint64_t scramble(std::uint64_t x);

// One stream of random numbers. Streams with another seed or another `stream` are independent, so tasks that run
// in parallel take one each (stream = task number) and the result does not depend on who runs first.
// The engine is std::mt19937_64, whose output the C++ standard fixes; the distributions are Boost's, whose
// algorithms, unlike those of the standard library, do not change with the compiler.
class Random {
public:
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

    double uniform() { return uniform_(engine_); }  // in [0, 1)
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    double normal() { return normal_(engine_); }  // N(0, 1)
    std::size_t below(std::size_t n);             // in 0..n-1

    // Puts the items into random order (Fisher-Yates).
    template <typename T>
    void shuffle(std::span<T> items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }

private:
    std::mt19937_64 engine_;
    boost::random::uniform_01<double> uniform_;
    boost::random::normal_distribution<double> normal_;
};

}  // namespace accrue::core
