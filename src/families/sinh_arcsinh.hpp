// What the scalar functions and the vector code of the sinh-arcsinh normal distribution share.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace accrue::families {

// [SHASH] Beyond |w| = kFarthestW, where n = sinh(w) is 8.7, nothing is left of the integrals over a normal density.
inline constexpr double kFarthestW = 2.86;
// And beyond this sinh would overflow: a score that far out has no meaning, but it is a number.
inline constexpr double kFarthestScore = 700;
// Nodes of Gauss and Legendre for the integral between: less than 1e-12 of the standard deviation is left, for descents
// on many rows less than 1e-4. Nothing is singular nearer than pi/4 beside the real axis.
inline constexpr unsigned kNodes = 30;
inline constexpr unsigned kRoughNodes = 10;

// R(q) = 4 * integral over n > 0 of sinh(q*asinh n) phi(n) Phi(-n), an odd function of q: its Taylor series, whose
// coefficients are positive. Right to the last digits for q up to 3.4.
inline constexpr std::size_t kSeriesTerms = 20;
using Series = std::array<double, kSeriesTerms>;
const Series& shash_series();

struct SeriesValue {
    double value, slope;
};
inline SeriesValue shash_constant(const Series& terms, double q) noexcept {
    const double square = q * q;
    double sum = 0;
    double slopes = 0;
    for (std::size_t k = kSeriesTerms; k-- > 0;) {
        sum = sum * square + terms[k];
        slopes = slopes * square + static_cast<double>(2 * k + 1) * terms[k];
    }
    return {sum * q, slopes};
}

// Of many rows, with derivatives where they are asked for; location may be null.
struct ShashRows {
    std::size_t count;
    const double *errors, *scales, *skews, *log_tails;
};
struct ShashSlopes {
    double *location, *log_scale, *skew, *log_tail;
};
void shash_crps(const ShashRows& rows, bool rough, double* values, const ShashSlopes* slopes);
// Of one row: u of normal scores z, and du/dz.
void shash_values(std::span<const double> z, double skew, double q, double* u, double* slopes);
void shash_scores(const ShashRows& rows, double* values, const ShashSlopes* slopes);

}  // namespace accrue::families
