// tanh for loops over rows: branch free, for a double or for a vector of them.
#pragma once

#include <bit>
#include <cstdint>

namespace accrue::core {

// tanh(x), relative error at most kTanhError for every x (tests/core reads this bound); NaN stays NaN.
//
// x = k log(2)/2 + z with |z| <= log(2)/4, and tanh(z) = n/d by its continued fraction to 11, which leaves out less
// than 1e-18. Then exp(2x) = 2^k (d + n)/(d - n), so that one division is enough, and nothing cancels near zero.
inline constexpr double kTanhError = 1e-15;

template <typename T>
T vector_tanh(T x) noexcept {
    using Bits [[gnu::vector_size(sizeof(T))]] = std::uint64_t;
    constexpr double kHalfLog2High =
        3.46573590184561908245e-01;  // log(2)/2 in two parts, the first with trailing zeros
    constexpr double kHalfLog2Low = 9.54107464635293850010e-11;
    constexpr double kRound = 0x1.8p52;  // adding it rounds to a whole number, kept in the low bits
    const T end = T{} + 20.0;            // tanh is 1 from here on
    x = x > end ? end : x;
    x = x < -end ? -end : x;
    const T shifted = x * 2.8853900817779268147 + kRound;
    const T k = shifted - kRound;
    const T z = (x - k * kHalfLog2High) - k * kHalfLog2Low;
    const T q = z * z;
    const T n = z * ((q * 21.0 + 1260.0) * q + 10395.0);
    const T d = ((q + 210.0) * q + 4725.0) * q + 10395.0;
    const T power = std::bit_cast<T>((std::bit_cast<Bits>(shifted) + 1023) << 52);
    const T above = power + 1.0;
    const T below = power - 1.0;
    return (below * d + above * n) / (above * d + below * n);
}

}  // namespace accrue::core
