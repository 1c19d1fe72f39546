// Floors, minima and the balance between accuracy and reliability: [RSmin], [BETA].
#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "accrue/scores.hpp"
#include "core/parallel.hpp"
#include "scores/checks.hpp"
#include "scores/gauss.hpp"
#include "scores/weights.hpp"

namespace accrue {

namespace {

constexpr std::size_t kBlock = scores::kLongestBlock;
// erf(sqrt(log 4)/2): crps of a row over |e| at that row's best sigma.
constexpr double kCrpsMinimumFactor = 0.59490403356697518;

// The sum of term(value)*weight over rows, in order.
template <typename Term>
double weighted_sum(std::span<const double> values, std::span<const double> weights, Term term) {
    return core::sum_blocks<double>(values.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        const double* __restrict v = values.data() + begin;
        const double* __restrict w = scores::weights_from(weights, begin);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < end - begin; ++i) sum += w[i] * term(v[i]);
        return sum;
    });
}

// Weighted sums of g = exp(-t^2), t^2 g and t^4 g over rows, t = e*scale.
struct GaussSums {
    double gauss = 0;
    double squares = 0;
    double fourths = 0;
    GaussSums& operator+=(const GaussSums& other) {
        gauss += other.gauss;
        squares += other.squares;
        fourths += other.fourths;
        return *this;
    }
};

GaussSums gauss_sums_of_block(std::size_t rows, const double* __restrict e, const double* __restrict w, double scale) {
    double gauss = 0;
    double squares = 0;
    double fourths = 0;
#pragma omp simd reduction(+ : gauss, squares, fourths)
    for (std::size_t i = 0; i < rows; ++i) {
        const double t = e[i] * scale;
        const double g = w[i] * scores::erf_gauss(t).gauss;
        // Beyond the bound g is 0, and so are the products.
        constexpr double kBound = 1e100;
        const double square = t * t < kBound ? t * t : kBound;
        gauss += g;
        squares += square * g;
        fourths += square * square * g;
    }
    return {gauss, squares, fourths};
}

GaussSums gauss_sums(std::span<const double> errors, std::span<const double> weights, double scale) {
    return core::sum_blocks<GaussSums>(errors.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        return gauss_sums_of_block(end - begin, &errors[begin], scores::weights_from(weights, begin), scale);
    });
}

// The mean over i of exp(-t_i^2)/sqrt(pi) at erf(t_i) = (2i-1)/N - 1: RSmin without its constant.
double reliability_minimum_part(double rows) {
    const auto n = static_cast<std::size_t>(std::max(1.0, std::round(rows)));
    const double step = 1 / static_cast<double>(n);
    const auto density_at = [](double t) { return std::exp(-t * t) * scores::kOneOverRootPi; };
    const auto t_at = [](double probability) { return -boost::math::erfc_inv(2 * probability); };
    // The terms are symmetric about the middle. All of them up to kExact; for more rows the outer kTail terms and, for
    // the smooth middle, the integral that they are a midpoint sum of, with the Euler-Maclaurin correction. With
    // u the cdf and f(u) = exp(-t^2)/sqrt(pi): integral of f du = erf(sqrt(2) t)/sqrt(8 pi), f' = -2t,
    // f''' = -4t/f^2; the next term is below 1e-18.
    constexpr std::size_t kExact = 4096;
    constexpr std::size_t kTail = 1024;
    const std::size_t outer = n <= kExact ? n / 2 : kTail;
    double sum = 0;
    for (std::size_t i = 0; i < outer; ++i) sum += 2 * density_at(t_at((static_cast<double>(i) + 0.5) * step));
    if (n <= kExact) {
        if (n % 2 == 1) sum += density_at(0);
        return sum * step;
    }
    const double edge = -t_at(static_cast<double>(kTail) * step);
    const double f = density_at(edge);
    const double middle = 2 * std::erf(std::numbers::sqrt2 * edge) / std::sqrt(8 * std::numbers::pi) -
                          step * step / 24 * (-2 * edge * 2) + 7 * std::pow(step, 4) / 5760 * (-4 * edge / (f * f) * 2);
    return sum * step + middle;
}

}  // namespace

double effective_rows(std::size_t rows, std::span<const double> weights) {
    scores::require_rows(rows);
    const double total = scores::total_weight(rows, weights);
    if (weights.empty()) return total;
    // Relative to the total, so that the squares of tiny or huge weights stay in range.
    const double squares = weighted_sum(weights, {}, [=](double w) { return (w / total) * (w / total); });
    return std::max(1.0, 1 / squares);
}

double reliability_floor(double rows) {
    return kReliabilityConstant / rows;
}

double reliability_minimum(double rows) {
    return reliability_minimum_part(rows) - kReliabilityConstant;
}

double crps_minimum(std::span<const double> errors, std::span<const double> weights) {
    scores::require_rows(errors.size());
    const double total = scores::total_weight(errors.size(), weights);
    return kCrpsMinimumFactor * weighted_sum(errors, weights, [](double e) { return std::fabs(e); }) / total;
}

double balanced_beta(std::span<const double> errors, std::span<const double> weights) {
    const double reliability = reliability_minimum_part(effective_rows(errors.size(), weights));
    return reliability / (crps_minimum(errors, weights) + reliability);
}

double best_constant_sigma(std::span<const double> errors, std::span<const double> weights) {
    const std::size_t n = errors.size();
    scores::require_rows(n);
    const double total = scores::total_weight(n, weights);
    const double zeros = weighted_sum(errors, weights, [](double e) { return e == 0 ? 1.0 : 0.0; }) / total;
    if (zeros * scores::kRootTwoOverPi >= scores::kOneOverRootPi) return 0;
    // Work in units of the largest error: squares stay in range.
    const double* e = errors.data();
    double largest = 0;
#pragma omp simd reduction(max : largest)
    for (std::size_t i = 0; i < n; ++i) largest = largest < std::fabs(e[i]) ? std::fabs(e[i]) : largest;
    const double mean_square =
        weighted_sum(errors, weights, [=](double error) { return (error / largest) * (error / largest); }) / total;
    // The derivative of mean crps rises with sigma from (share of zeros)*sqrt(2/pi) - 1/sqrt(pi) < 0; its root in
    // log sigma by Halley steps inside a shrinking bracket. They triple the right digits, so that after a step of
    // kLastStep none is left to gain.
    constexpr double kLastStep = 1e-6;
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    double x = std::log(mean_square) / 2;  // log(sigma/largest)
    for (int iteration = 0; iteration < 200; ++iteration) {
        const GaussSums sums = gauss_sums(errors, weights, scores::kRootHalf / (std::exp(x) * largest));
        const double slope = scores::kRootTwoOverPi * sums.gauss / total - scores::kOneOverRootPi;
        if (slope == 0) break;
        (slope < 0 ? low : high) = x;
        const double first = scores::kRootTwoOverPi * 2 * sums.squares / total;
        const double second = scores::kRootTwoOverPi * 4 * (sums.fourths - sums.squares) / total;
        double next = x - 2 * slope * first / (2 * first * first - slope * second);
        if (next > low && next < high) {
            const double step = std::fabs(next - x);
            x = next;
            if (step <= kLastStep) break;
            continue;
        }
        const bool bracketed = std::isfinite(low) && std::isfinite(high);
        next = bracketed ? (low + high) / 2 : (slope < 0 ? x + 1 : x - 1);
        if (std::fabs(next - x) <= 4e-16 * std::max(1.0, std::fabs(x))) break;
        x = next;
    }
    return std::exp(x) * largest;
}

}  // namespace accrue
