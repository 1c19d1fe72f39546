// Sums over the knots of a polygon, as vector code.
#include "families/lines.hpp"

#include <algorithm>
#include <cmath>

#include "scores/gauss.hpp"

namespace accrue::families {

namespace {

constexpr double kDensity = scores::kRootHalf * scores::kOneOverRootPi;  // 1/sqrt(2 pi)

std::size_t piece_of(const Lines& lines, double score) {
    return static_cast<std::size_t>(std::upper_bound(lines.v.begin(), lines.v.end(), score) - lines.v.begin());
}

double in_piece(const Lines& lines, std::size_t piece, double score) {
    const std::size_t knot = piece == 0 ? 0 : piece - 1;
    return lines.u[knot] + lines.slopes[piece] * (score - lines.v[knot]);
}

// With h(t) = phi(t) - t Phi(-t), the integral of Phi(-t) from t on, and H(t), that of h: both for t >= 0.
struct Sums {
    double first = 0;   // of rise * h
    double second = 0;  // of (u - centre) * rise * h
    double third = 0;   // of the rise of squared slopes, outwards, times H
};
Sums moment_sums(std::size_t knots, const double* __restrict v, const double* __restrict u,
                 const double* __restrict rises, const double* __restrict squares, double shift, double scale,
                 double centre) {
    double first = 0;
    double second = 0;
    double third = 0;
#pragma omp simd reduction(+ : first, second, third)
    for (std::size_t k = 0; k < knots; ++k) {
        const double t = (v[k] - shift) / scale;
        const double away = std::fabs(t);
        const scores::ErfGauss g = scores::erf_gauss(away * scores::kRootHalf);
        const double beyond = (1 - g.erf) / 2;
        const double density = kDensity * g.gauss;
        const double once = rises[k] * (density - away * beyond);
        first += once;
        second += (u[k] - centre) * once;
        const double twice = squares[k] * ((1 + away * away) * beyond - away * density);
        third += t > 0 ? twice : -twice;
    }
    return {first, second, third / 2};
}

// Q(t), the integral of Phi(-t)^2 from t on.
double squares_beyond(double t, double erf, double gauss, double erf_of_twice) {
    const double beyond = (1 - erf) / 2;
    return beyond * (2 * kDensity * gauss - t * beyond) - scores::kOneOverRootPi * ((1 - erf_of_twice) / 2);
}
double squares_beyond(double t) {
    const scores::ErfGauss g = scores::erf_gauss(t * scores::kRootHalf);
    return squares_beyond(t, g.erf, g.gauss, scores::erf_gauss(t).erf);
}

// Of rise * Q(t) at the knots above the observation, less that of rise * Q(-t) below.
double crps_sum(std::size_t knots, const double* __restrict v, const double* __restrict rises, double shift,
                double scale, double at) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t k = 0; k < knots; ++k) {
        const double side = v[k] > at ? 1 : -1;
        const double t = side * ((v[k] - shift) / scale);
        const scores::ErfGauss g = scores::erf_gauss(t * scores::kRootHalf);
        sum += side * rises[k] * squares_beyond(t, g.erf, g.gauss, scores::erf_gauss(t).erf);
    }
    return sum;
}

}  // namespace

Lines::Lines(std::vector<double> scores, std::vector<double> values, double first_slope, double last_slope)
    : v(std::move(scores)), u(std::move(values)), slopes(v.size() + 1, first_slope) {
    slopes.back() = last_slope;
    for (std::size_t k = 1; k < v.size(); ++k) slopes[k] = (u[k] - u[k - 1]) / (v[k] - v[k - 1]);
    for (std::size_t k = 0; k < v.size(); ++k) {
        rises.push_back(slopes[k + 1] - slopes[k]);
        rises_of_squares.push_back(rises.back() * (slopes[k + 1] + slopes[k]));
    }
}

// By parts: with D = u - centre, which is 0 at the shift, E[D] is scale times the sum of rise * h over the knots, and
// E[D^2] is twice the integral of D D' Phi(-|t|) over v.
LineMoments line_moments(const Lines& lines, double shift, double scale) {
    const std::size_t piece = piece_of(lines, shift);
    const double centre = in_piece(lines, piece, shift);
    const Sums sums = moment_sums(lines.v.size(), lines.v.data(), lines.u.data(), lines.rises.data(),
                                  lines.rises_of_squares.data(), shift, scale, centre);
    const double slope = lines.slopes[piece];
    const double mean = scale * sums.first;
    const double square = scale * (2 * sums.second + scale * (slope * slope + 2 * sums.third));
    return {centre + mean, std::sqrt(std::max(square - mean * mean, 0.0))};
}

double line_crps(const Lines& lines, double shift, double scale, double v) {
    const double t = (v - shift) / scale;
    const double own = lines.slopes[piece_of(lines, v)] * (squares_beyond(t) + squares_beyond(-t));
    return scale * (own + crps_sum(lines.v.size(), lines.v.data(), lines.rises.data(), shift, scale, v));
}

}  // namespace accrue::families
