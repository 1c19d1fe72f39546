// Places by counting, where exact ones are not worth a sort.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "core/parallel.hpp"
#include "scores/ranks.hpp"

namespace accrue::scores {

namespace {

constexpr std::size_t kBlock = 1024;
// Every chunk has counts of its own, which are added up in order.
constexpr std::size_t kMaxChunks = 16;
constexpr std::size_t kMinChunk = std::size_t{1} << 16U;

// Where t lies on a line of kCells cells: even in t/(1 + |t|), so that they are fine where the rows of a sensible
// forecast are, and reach as far as there are rows. NaN goes to the first cell.
inline double position_of(double t) {
    constexpr double kHalf = static_cast<double>(kCells) / 2;
    const double position = kHalf + kHalf * (t / (1 + std::fabs(t)));
    constexpr double kEnd = static_cast<double>(kCells) * (1 - 1e-15);
    return position > 0 ? (position < kEnd ? position : kEnd) : 0;
}

template <typename Count>
void count_cells(std::span<const double> t, const double* weights, std::size_t begin, std::size_t end, Count* counts) {
    std::array<std::int32_t, kBlock> buffer;
    std::int32_t* __restrict cell = buffer.data();
    for (std::size_t from = begin; from < end; from += kBlock) {
        const std::size_t rows = std::min(kBlock, end - from);
        const double* __restrict in = &t[from];
#pragma omp simd
        for (std::size_t i = 0; i < rows; ++i) cell[i] = static_cast<std::int32_t>(position_of(in[i]));
        if constexpr (std::is_integral_v<Count>)
            for (std::size_t i = 0; i < rows; ++i) ++counts[cell[i]];
        else
            for (std::size_t i = 0; i < rows; ++i) counts[cell[i]] += weights[from + i];
    }
}

// Counts of all chunks, added up into upto[c + 1]: the weight of the rows of the cells up to c.
template <typename Count>
void sum_cells(std::span<const double> t, const double* weights, core::Buffer<Count>& counts, double* upto) {
    const std::size_t chunk = std::max(kMinChunk, core::block_count(t.size(), kMaxChunks));
    const std::size_t chunks = core::block_count(t.size(), chunk);
    counts.reserve(chunks * kCells);
    core::for_blocks(t.size(), chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        Count* own = counts.data() + c * kCells;
        std::fill_n(own, kCells, Count{});
        count_cells(t, weights, begin, end, own);
    });
    upto[0] = 0;
    for (std::size_t cell = 0; cell < kCells; ++cell) {
        Count sum{};
        for (std::size_t c = 0; c < chunks; ++c) sum += counts[c * kCells + cell];
        upto[cell + 1] = upto[cell] + static_cast<double>(sum);
    }
}

}  // namespace

bool counted_mid_ranks(std::span<const double> t, std::span<const double> weights, double total_weight,
                       std::span<double> mid_ranks, CountBuffers& buffers) {
    buffers.upto.reserve(kCells + 1);
    double* upto = buffers.upto.data();
    if (weights.empty())
        sum_cells(t, nullptr, buffers.counts, upto);
    else
        sum_cells(t, weights.data(), buffers.weights, upto);
    const double most = kFullestCell * total_weight;
    for (std::size_t cell = 0; cell < kCells; ++cell)
        if (upto[cell + 1] - upto[cell] > most) return false;

    const double twice = 2 / total_weight;
    for (std::size_t cell = 0; cell <= kCells; ++cell) upto[cell] *= twice;
    core::for_blocks(t.size(), kMinChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
        const double* __restrict in = t.data();
        const double* __restrict edge = upto;
        double* __restrict out = mid_ranks.data();
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) {
            const double position = position_of(in[i]);
            const auto cell = static_cast<std::int32_t>(position);
            const double from = edge[cell];
            out[i] = from + (position - cell) * (edge[cell + 1] - from);
        }
    });
    return true;
}

}  // namespace accrue::scores
