// Small dense products over a block of rows, rows in the lanes of vector registers. The widest vectors of the level
// that this file is compiled for.
#pragma once

#include <cstddef>
#include <cstring>

namespace accrue::core {

#if defined(__AVX512F__)
inline constexpr std::size_t kLaneBytes = 64;
inline constexpr std::size_t kTileVectors = 4;  // vectors of rows a tile; 5 x 4 sums fit the 32 registers
#elif defined(__AVX__)
inline constexpr std::size_t kLaneBytes = 32;
inline constexpr std::size_t kTileVectors = 2;  // 5 x 2 sums fit the 16 registers
#else
inline constexpr std::size_t kLaneBytes = 16;
inline constexpr std::size_t kTileVectors = 2;
#endif
inline constexpr std::size_t kLanes = kLaneBytes / sizeof(double);
using Lanes [[gnu::vector_size(kLaneBytes)]] = double;

// Rows of a block: a multiple of every tile, and small enough for the caches.
inline constexpr std::size_t kBlockRows = 128;
inline constexpr std::size_t kBlockVectors = kBlockRows / kLanes;
static_assert(kBlockVectors % kTileVectors == 0);

inline constexpr std::size_t kTileUnits = 5;  // divides the 50 and 10 units of the networks' layers

inline Lanes load(const double* from) {
    Lanes value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline void store(double* to, Lanes value) {
    std::memcpy(to, &value, sizeof value);
}
inline Lanes broadcast(double value) {
    return value - Lanes{};
}
inline double sum_of_lanes(Lanes value) {
    double sum = 0;
    for (std::size_t i = 0; i < kLanes; ++i) sum += value[i];
    return sum;
}

// out[u] = finish(u, bias[u] + sum_k weights[u*in_count + k] * in[k]) for every row of a block; in[k] and out[u] are
// blocks of kBlockRows values. `units` is a multiple of kTileUnits. bias may be null.
template <typename Finish>
void product(const double* weights, const double* bias, std::size_t units, std::size_t in_count, const double* in,
             double* out, Finish finish) {
    for (std::size_t u = 0; u < units; u += kTileUnits)
        for (std::size_t v = 0; v < kBlockRows; v += kTileVectors * kLanes) {
            Lanes sum[kTileUnits][kTileVectors];
            for (std::size_t i = 0; i < kTileUnits; ++i)
                for (std::size_t j = 0; j < kTileVectors; ++j) sum[i][j] = broadcast(bias == nullptr ? 0 : bias[u + i]);
            for (std::size_t k = 0; k < in_count; ++k) {
                Lanes x[kTileVectors];
                for (std::size_t j = 0; j < kTileVectors; ++j) x[j] = load(in + k * kBlockRows + v + j * kLanes);
                for (std::size_t i = 0; i < kTileUnits; ++i) {
                    const Lanes w = broadcast(weights[(u + i) * in_count + k]);
                    for (std::size_t j = 0; j < kTileVectors; ++j) sum[i][j] += w * x[j];
                }
            }
            for (std::size_t i = 0; i < kTileUnits; ++i)
                for (std::size_t j = 0; j < kTileVectors; ++j) {
                    const std::size_t at = (u + i) * kBlockRows + v + j * kLanes;
                    store(out + at, finish(at, sum[i][j]));
                }
        }
}

// A sum over rows is a number, or is kept in lanes when it goes on over many blocks: adding the lanes of a vector up
// takes as long as several products.
struct LaneSum {
    Lanes lanes;
};
inline void add_to(double& sum, Lanes value) {
    sum += sum_of_lanes(value);
}
inline void add_to(LaneSum& sum, Lanes value) {
    sum.lanes += value;
}

// sums[i*second_count + j] += sum over the block's rows of first[i]*second[j]. `first_count` is a multiple of
// kTileUnits; sums are doubles or LaneSums.
template <std::size_t kTileSecond, typename Sum>
void add_outer_tile(const double* first, std::size_t i, const double* second, std::size_t j, std::size_t second_count,
                    Sum* sums) {
    Lanes sum[kTileUnits][kTileSecond] = {};
    for (std::size_t v = 0; v < kBlockRows; v += kLanes) {
        Lanes b[kTileSecond];
        for (std::size_t jj = 0; jj < kTileSecond; ++jj) b[jj] = load(second + (j + jj) * kBlockRows + v);
        for (std::size_t ii = 0; ii < kTileUnits; ++ii) {
            const Lanes a = load(first + (i + ii) * kBlockRows + v);
            for (std::size_t jj = 0; jj < kTileSecond; ++jj) sum[ii][jj] += a * b[jj];
        }
    }
    for (std::size_t ii = 0; ii < kTileUnits; ++ii)
        for (std::size_t jj = 0; jj < kTileSecond; ++jj) add_to(sums[(i + ii) * second_count + j + jj], sum[ii][jj]);
}

template <typename Sum>
void add_outer(const double* first, std::size_t first_count, const double* second, std::size_t second_count,
               Sum* sums) {
    constexpr std::size_t kTileSecond = kTileVectors;
    for (std::size_t i = 0; i < first_count; i += kTileUnits) {
        std::size_t j = 0;
        for (; j + kTileSecond <= second_count; j += kTileSecond)
            add_outer_tile<kTileSecond>(first, i, second, j, second_count, sums);
        for (; j < second_count; ++j) add_outer_tile<1>(first, i, second, j, second_count, sums);
    }
}

// sums[i] += sum over the block's rows of values[i].
inline void add_row_sums(const double* values, std::size_t count, double* sums) {
    for (std::size_t i = 0; i < count; ++i) {
        Lanes sum{};
        for (std::size_t v = 0; v < kBlockRows; v += kLanes) sum += load(values + i * kBlockRows + v);
        sums[i] += sum_of_lanes(sum);
    }
}

}  // namespace accrue::core
