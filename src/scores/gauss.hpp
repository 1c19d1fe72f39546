// erf(t) and exp(-t^2) together, branch free, so that loops over rows become vector code at every
// instruction-set level.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace accrue::scores {

// Grid c_k = k/64 up to 6.5, beyond which both functions are constant to 1e-18 in absolute terms.
inline constexpr double kGridPerUnit = 64;
inline constexpr double kGridEnd = 6.5;
inline constexpr std::size_t kGridSize = static_cast<std::size_t>(kGridEnd * kGridPerUnit) + 1;

struct GaussTable {
    alignas(64) std::array<double, kGridSize> erf;    // erf(c_k)
    alignas(64) std::array<double, kGridSize> gauss;  // exp(-c_k^2)
};
extern const GaussTable kGaussTable;

struct ErfGauss {
    double erf;
    double gauss;  // exp(-t^2)
};

// Both by their Taylor series around the nearest grid point c, d = |t| - c. With r_n = d^n/n! times the n-th derivative
// of exp(-x^2) at c, over exp(-c^2), the Hermite recurrence is r_{n+1} = (-2cd r_n - 2d^2 r_{n-1})/(n+1); then
//   exp(-t^2) = exp(-c^2) * sum r_n,    erf(|t|) = erf(c) + 2/sqrt(pi) * exp(-c^2) * d * sum r_n/(n+1).
// |d| <= 1/128, so the first terms left out are below 3e-17. Absolute error at most kErfGaussError in
// both (tests/scores reads this bound); erf also keeps its relative accuracy at 0. Infinite and NaN t give +-1 and 0:
// a NaN has to reach the result by another factor of the caller's formula.
inline constexpr double kErfGaussError = 2.5e-16;

inline ErfGauss erf_gauss(double t) noexcept {
    const double magnitude = std::fabs(t);
    const double x = magnitude < kGridEnd ? magnitude : kGridEnd;
    const int k = static_cast<int>(x * kGridPerUnit + 0.5);
    const double c = k * (1 / kGridPerUnit);
    const double d = x - c;  // exact
    const double p = -2 * c * d;
    const double q = -2 * d * d;
    const double r2 = (p * p + q) * (1.0 / 2);
    const double r3 = (p * r2 + q * p) * (1.0 / 3);
    const double r4 = (p * r3 + q * r2) * (1.0 / 4);
    const double r5 = (p * r4 + q * r3) * (1.0 / 5);
    const double r6 = (p * r5 + q * r4) * (1.0 / 6);
    const double r7 = (p * r6 + q * r5) * (1.0 / 7);
    const double sum = 1 + (p + (r2 + (r3 + (r4 + (r5 + (r6 + r7))))));
    const double integral =
        1 +
        (p * (1.0 / 2) + (r2 * (1.0 / 3) + (r3 * (1.0 / 4) + (r4 * (1.0 / 5) + (r5 * (1.0 / 6) + r6 * (1.0 / 7))))));
    const double at_c = kGaussTable.gauss[static_cast<std::size_t>(k)];
    constexpr double kTwoOverRootPi = 1.1283791670955125739;
    const double value = kGaussTable.erf[static_cast<std::size_t>(k)] + kTwoOverRootPi * at_c * d * integral;
    return {std::copysign(value, t), at_c * sum};
}

// The same for a block of rows: the one loop that all scores spend their time in.
void erf_gauss_block(std::size_t rows, const double* __restrict t, double* __restrict erf, double* __restrict gauss);

// Phi(z) to an absolute error of kErfGaussError, and the scores of normal forecasts, of a block of rows.
void normal_cdf_block(std::size_t rows, double* __restrict values);  // of z, which are overwritten
void crps_block(std::size_t rows, const double* __restrict errors, const double* __restrict sigmas,
                double* __restrict values);
// With slopes by the mean and by log sigma, unless these are null.
void crps_rows(std::size_t rows, const double* __restrict errors, const double* __restrict sigmas,
               double* __restrict values, double* __restrict by_mean, double* __restrict by_log_sigma);
void nlpd_block(std::size_t rows, const double* __restrict errors, const double* __restrict sigmas,
                double* __restrict values);

inline constexpr double kRootTwoOverPi = 0.79788456080286535588;  // sqrt(2/pi)
inline constexpr double kOneOverRootPi = 0.56418958354775628695;  // 1/sqrt(pi)
inline constexpr double kRootHalf = 0.70710678118654752440;       // 1/sqrt(2)

// [CRPS] from its parts. Written with e*erf(t), not sigma*z*erf(t), so that it stays right when z overflows; with their
// sizes, because an infinite e over an infinite sigma gives t a sign that means nothing, and the score is NaN.
inline double crps_value(double error, double sigma, ErfGauss g) noexcept {
    return std::fabs(error) * std::fabs(g.erf) + sigma * (kRootTwoOverPi * g.gauss - kOneOverRootPi);
}
inline double crps_slope(ErfGauss g) noexcept {
    return kRootTwoOverPi * g.gauss - kOneOverRootPi;
}

}  // namespace accrue::scores
