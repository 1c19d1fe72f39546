// Row weights for loops over blocks.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace accrue::scores {

inline constexpr std::size_t kLongestBlock = 4096;

// The weights from row `begin` on, for at most kLongestBlock rows. Without weights they are ones: one loop serves both
// cases, and a condition inside it would keep the compiler from making vector code.
inline const double* weights_from(std::span<const double> weights, std::size_t begin) {
    static constexpr std::array<double, kLongestBlock> kOnes = [] {
        std::array<double, kLongestBlock> ones{};
        ones.fill(1);
        return ones;
    }();
    return weights.empty() ? kOnes.data() : weights.data() + begin;
}

}  // namespace accrue::scores
