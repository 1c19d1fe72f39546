// exp for loops over rows: branch free, so that the compiler makes vector code of it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace accrue::core {

// exp(x) for |x| <= 700, relative error at most kExpError (tests/core reads this bound). x = k log 2 + r, |r| <=
// log(2)/2; the Taylor series of exp(r) to r^13 leaves out less than 1e-17.
inline constexpr double kExpError = 4e-16;

inline double vector_exp(double x) noexcept {
    constexpr double kLog2High = 6.93147180369123816490e-01;  // log 2 in two parts, the first with trailing zeros
    constexpr double kLog2Low = 1.90821492927058770002e-10;
    constexpr double kRound = 0x1.8p52;  // adding it rounds to a whole number, kept in the low bits
    const double shifted = x * 1.4426950408889634074 + kRound;
    const double k = shifted - kRound;
    const double r = (x - k * kLog2High) - k * kLog2Low;
    double sum = 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * (r * r) + r + 1;
    const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52U;
    return sum * std::bit_cast<double>(exponent);
}

}  // namespace accrue::core
