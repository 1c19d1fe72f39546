// log for loops over rows: branch free, so that the compiler makes vector code of it.
#pragma once

#include <bit>
#include <cstdint>

namespace accrue::core {

// log(x) of a positive normal number, to kLogError of 1 + |log x| (tests/core reads this bound). x = m*2^k, m between
// sqrt(1/2) and sqrt(2), s = (m - 1)/(m + 1): the series 2(s + s^3/3 + ...) to s^21 leaves out less than 1e-17.
inline constexpr double kLogError = 3e-16;

inline double vector_log(double x) noexcept {
    constexpr double kLog2High = 6.93147180369123816490e-01;
    constexpr double kLog2Low = 1.90821492927058770002e-10;
    constexpr auto kRootHalf = std::uint64_t{0x3fe6a09e667f3bcd};
    constexpr auto kBias = std::uint64_t{1024};
    constexpr double kWhole = 0x1p52;  // with a whole number in its low bits it is that much larger
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t k = (bits - kRootHalf + (kBias << 52U)) >> 52U;
    const double exponent =
        std::bit_cast<double>(k | std::bit_cast<std::uint64_t>(kWhole)) - (kWhole + static_cast<double>(kBias));
    const auto m = std::bit_cast<double>(bits - ((k - kBias) << 52U));
    const double s = (m - 1) / (m + 1);
    const double square = s * s;
    double sum = 1.0 / 21;
    sum = sum * square + 1.0 / 19;
    sum = sum * square + 1.0 / 17;
    sum = sum * square + 1.0 / 15;
    sum = sum * square + 1.0 / 13;
    sum = sum * square + 1.0 / 11;
    sum = sum * square + 1.0 / 9;
    sum = sum * square + 1.0 / 7;
    sum = sum * square + 1.0 / 5;
    sum = sum * square + 1.0 / 3;
    return exponent * kLog2High + (2 * s + (2 * s * square * sum + exponent * kLog2Low));
}

}  // namespace accrue::core
