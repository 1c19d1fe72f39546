// Scores of many rows of sinh-arcsinh normal distributions, as vector code.
#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>

#include "core/exp.hpp"
#include "core/log.hpp"
#include "families/sinh_arcsinh.hpp"
#include "scores/gauss.hpp"

namespace accrue::families {

namespace {

constexpr std::size_t kBlock = 128;  // its columns stay in the first-level cache
struct Column {
    alignas(64) double values[kBlock];
    double& operator[](std::size_t i) { return values[i]; }
    double operator[](std::size_t i) const { return values[i]; }
};

// The rule of Gauss and Legendre between 0 and 1, the weights over sqrt(2 pi).
struct Node {
    double place, weight;
};
template <unsigned kCount>
std::array<Node, kCount> gauss_nodes() {
    using Rule = boost::math::quadrature::gauss<double, kCount>;
    static_assert(kCount % 2 == 0);
    constexpr double kDensity = scores::kRootHalf * scores::kOneOverRootPi;
    std::array<Node, kCount> nodes;
    for (std::size_t k = 0; k < kCount / 2; ++k) {
        const double weight = Rule::weights()[k] / 2 * kDensity;
        nodes[2 * k] = {(1 - Rule::abscissa()[k]) / 2, weight};
        nodes[2 * k + 1] = {(1 + Rule::abscissa()[k]) / 2, weight};
    }
    return nodes;
}

double clamped(double x, double most) noexcept {
    const double above = x > -most ? x : -most;
    return above < most ? above : most;
}

// Of every row: asinh(u), the tail and w.
struct Places {
    Column arsinh, tail, w;
};
void place(const ShashRows& in, std::size_t begin, std::size_t rows, Places& out) {
    constexpr double kLargest = 1e150;  // whose square is a number
    const double* __restrict e = in.errors + begin;
    const double* __restrict s = in.scales + begin;
    const double* __restrict skew = in.skews + begin;
    const double* __restrict log_tail = in.log_tails + begin;
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) {
        const double u = e[i] / s[i];
        const double size = std::fabs(u) < kLargest ? std::fabs(u) : kLargest;
        const double arsinh = std::copysign(core::vector_log(size + std::sqrt(size * size + 1)), u);
        const double tail = core::vector_exp(log_tail[i]);
        out.arsinh[i] = arsinh;
        out.tail[i] = tail;
        out.w[i] = clamped(tail * arsinh - skew[i], kFarthestScore);
    }
}

// Integrals over the normal density from 0 to z, of sinh(q(w + skew)), and of cosh(q(w + skew)) and w + skew times it.
struct Integrals {
    Column sinh, cosh, first;
};
void add_node(Node node, std::size_t rows, const double* __restrict skew, const Column& __restrict end,
              const Column& __restrict q, Integrals& __restrict sums) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) {
        const double w = end[i] * node.place;
        const double grown = core::vector_exp(w);
        const double shrunk = 1 / grown;
        const double n = (grown - shrunk) / 2;
        const double density = core::vector_exp(-n * n / 2) * (grown + shrunk) * (end[i] * node.weight / 4);
        const double moved = w + skew[i];
        const double up = core::vector_exp(q[i] * moved);
        const double down = 1 / up;
        sums.sinh[i] += density * (up - down);
        const double cosh = density * (up + down);
        sums.cosh[i] += cosh;
        sums.first[i] += cosh * moved;
    }
}

template <unsigned kNodes>
void crps_block(const ShashRows& in, std::size_t begin, std::size_t rows, double* __restrict values,
                const ShashSlopes* slopes) {
    static const std::array<Node, kNodes> nodes = gauss_nodes<kNodes>();
    Places places;
    Column end;
    Column q;
    place(in, begin, rows, places);
    Integrals sums{};
    for (std::size_t i = 0; i < rows; ++i) {
        end[i] = clamped(places.w[i], kFarthestW);
        q[i] = 1 / places.tail[i];
    }
    const double* __restrict skew = in.skews + begin;
    for (const Node& node : nodes) add_node(node, rows, skew, end, q, sums);
    const double* __restrict e = in.errors + begin;
    const double* __restrict s = in.scales + begin;
    const Series& series = shash_series();
    Column certainty;
    Column own;
    Column by_skew;
    Column by_q;
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) {
        const double grown = core::vector_exp(places.w[i]);
        certainty[i] = scores::erf_gauss((grown - 1 / grown) / 2 * scores::kRootHalf).erf;
        const SeriesValue constant = shash_constant(series, q[i]);
        const double up = core::vector_exp(q[i] * skew[i]);
        const double down = 1 / up;
        own[i] = (up + down) / 2 * constant.value - 2 * sums.sinh[i];
        by_skew[i] = q[i] * ((up - down) / 2 * constant.value - 2 * sums.cosh[i]);
        by_q[i] = skew[i] * ((up - down) / 2) * constant.value + (up + down) / 2 * constant.slope - 2 * sums.first[i];
    }
    for (std::size_t i = 0; i < rows; ++i) values[i] = e[i] * certainty[i] + s[i] * own[i];
    if (slopes == nullptr) return;
    for (std::size_t i = 0; i < rows; ++i) {
        if (slopes->location != nullptr) slopes->location[begin + i] = -certainty[i];
        slopes->log_scale[begin + i] = s[i] * own[i];
        slopes->skew[begin + i] = s[i] * by_skew[i];
        slopes->log_tail[begin + i] = -s[i] * q[i] * by_q[i];
    }
}

}  // namespace

void shash_crps(const ShashRows& rows, bool rough, double* values, const ShashSlopes* slopes) {
    for (std::size_t at = 0; at < rows.count; at += kBlock) {
        const std::size_t some = std::min(kBlock, rows.count - at);
        (rough ? crps_block<kRoughNodes> : crps_block<kNodes>)(rows, at, some, values + at, slopes);
    }
}

void shash_values(std::span<const double> z, double skew, double q, double* __restrict u, double* __restrict slopes) {
    const double* __restrict from = z.data();
    const std::size_t count = z.size();
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) {
        const double size = std::fabs(from[i]);
        const double root = std::sqrt(size * size + 1);
        const double arsinh = std::copysign(core::vector_log(size + root), from[i]);
        const double up = core::vector_exp(q * (arsinh + skew));
        const double down = 1 / up;
        u[i] = (up - down) / 2;
        slopes[i] = q * (up + down) / 2 / root;
    }
}

void shash_scores(const ShashRows& rows, double* values, const ShashSlopes* slopes) {
    Places places;
    Column cosh;
    for (std::size_t at = 0; at < rows.count; at += kBlock) {
        const std::size_t some = std::min(kBlock, rows.count - at);
        place(rows, at, some, places);
        double* __restrict z = values + at;
#pragma omp simd
        for (std::size_t i = 0; i < some; ++i) {
            const double grown = core::vector_exp(places.w[i]);
            z[i] = (grown - 1 / grown) / 2;
            cosh[i] = (grown + 1 / grown) / 2;
        }
        if (slopes == nullptr) continue;
        for (std::size_t i = 0; i < some; ++i) {
            const double u = rows.errors[at + i] / rows.scales[at + i];
            const double by_u = places.tail[i] * cosh[i] / std::sqrt(1 + u * u);
            if (slopes->location != nullptr) slopes->location[at + i] = -by_u / rows.scales[at + i];
            slopes->log_scale[at + i] = std::isfinite(u) ? -by_u * u : 0;
            slopes->skew[at + i] = -cosh[i];
            slopes->log_tail[at + i] = places.tail[i] * places.arsinh[i] * cosh[i];
        }
    }
}

}  // namespace accrue::families
