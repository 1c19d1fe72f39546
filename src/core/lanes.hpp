// Small dense products over a block of rows, rows in the lanes of vector registers. The widest vectors of the level
// that this file is compiled for.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

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
// A vector of double or float; the functions below take either.
template <typename T>
struct LanesOf;
template <>
struct LanesOf<double> {
    using Type [[gnu::vector_size(kLaneBytes)]] = double;
};
template <>
struct LanesOf<float> {
    using Type [[gnu::vector_size(kLaneBytes)]] = float;
};
using Lanes = LanesOf<double>::Type;
template <typename T>
inline constexpr std::size_t kLanesOf = kLaneBytes / sizeof(T);
inline constexpr std::size_t kLanes = kLanesOf<double>;

// Rows of a block: a multiple of every tile, and small enough for the caches.
inline constexpr std::size_t kBlockRows = 128;
static_assert(kBlockRows % (kLanesOf<float> * kTileVectors) == 0);

inline constexpr std::size_t kTileUnits = 5;  // divides the 50 and 10 units of the networks' layers

template <typename T>
typename LanesOf<T>::Type load(const T* from) {
    typename LanesOf<T>::Type value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <typename T>
void store(T* to, std::type_identity_t<typename LanesOf<T>::Type> value) {
    std::memcpy(to, &value, sizeof value);
}
template <typename T>
typename LanesOf<T>::Type broadcast(T value) {
    return value - typename LanesOf<T>::Type{};
}
template <typename Vector>
double sum_of_lanes(Vector value) {
    double sum = 0;
    for (std::size_t i = 0; i < sizeof(Vector) / sizeof(value[0]); ++i) sum += value[i];
    return sum;
}

// out[u] = finish(u, bias[u] + sum_k weights[u*in_count + k] * in[k]) for every row of a block; in[k] and out[u] are
// blocks of kBlockRows values. `units` is a multiple of kTileUnits. bias may be null.
template <typename T, typename Finish>
void product(const T* weights, std::type_identity_t<const T*> bias, std::size_t units, std::size_t in_count,
             const T* in, T* out, Finish finish) {
    using Vector = typename LanesOf<T>::Type;
    constexpr std::size_t kWidth = kLanesOf<T>;
    for (std::size_t u = 0; u < units; u += kTileUnits)
        for (std::size_t v = 0; v < kBlockRows; v += kTileVectors * kWidth) {
            Vector sum[kTileUnits][kTileVectors];
            for (std::size_t i = 0; i < kTileUnits; ++i)
                for (std::size_t j = 0; j < kTileVectors; ++j)
                    sum[i][j] = broadcast(bias == nullptr ? T{} : bias[u + i]);
            for (std::size_t k = 0; k < in_count; ++k) {
                Vector x[kTileVectors];
                for (std::size_t j = 0; j < kTileVectors; ++j) x[j] = load(in + k * kBlockRows + v + j * kWidth);
                for (std::size_t i = 0; i < kTileUnits; ++i) {
                    const Vector w = broadcast(weights[(u + i) * in_count + k]);
                    for (std::size_t j = 0; j < kTileVectors; ++j) sum[i][j] += w * x[j];
                }
            }
            for (std::size_t i = 0; i < kTileUnits; ++i)
                for (std::size_t j = 0; j < kTileVectors; ++j) {
                    const std::size_t at = (u + i) * kBlockRows + v + j * kWidth;
                    store(out + at, finish(at, sum[i][j]));
                }
        }
}

// A sum over rows is a number, or is kept in lanes when it goes on over many blocks: adding the lanes of a vector up
// takes as long as several products.
template <typename T>
struct LaneSumOf {
    typename LanesOf<T>::Type lanes;
};
using LaneSum = LaneSumOf<double>;
template <typename Vector>
void add_to(double& sum, Vector value) {
    sum += sum_of_lanes(value);
}
template <typename T>
void add_to(LaneSumOf<T>& sum, std::type_identity_t<typename LanesOf<T>::Type> value) {
    sum.lanes += value;
}

// sums[i*second_count + j] += sum over the block's rows of first[i]*second[j]. `first_count` is a multiple of
// kTileUnits; sums are doubles or LaneSums.
template <std::size_t kTileSecond, typename T, typename Sum>
void add_outer_tile(const T* first, std::size_t i, const T* second, std::size_t j, std::size_t second_count,
                    Sum* sums) {
    using Vector = typename LanesOf<T>::Type;
    Vector sum[kTileUnits][kTileSecond] = {};
    for (std::size_t v = 0; v < kBlockRows; v += kLanesOf<T>) {
        Vector b[kTileSecond];
        for (std::size_t jj = 0; jj < kTileSecond; ++jj) b[jj] = load(second + (j + jj) * kBlockRows + v);
        for (std::size_t ii = 0; ii < kTileUnits; ++ii) {
            const Vector a = load(first + (i + ii) * kBlockRows + v);
            for (std::size_t jj = 0; jj < kTileSecond; ++jj) sum[ii][jj] += a * b[jj];
        }
    }
    for (std::size_t ii = 0; ii < kTileUnits; ++ii)
        for (std::size_t jj = 0; jj < kTileSecond; ++jj) add_to(sums[(i + ii) * second_count + j + jj], sum[ii][jj]);
}

template <typename T, typename Sum>
void add_outer(const T* first, std::size_t first_count, const T* second, std::size_t second_count, Sum* sums) {
    constexpr std::size_t kTileSecond = kTileVectors;
    for (std::size_t i = 0; i < first_count; i += kTileUnits) {
        std::size_t j = 0;
        for (; j + kTileSecond <= second_count; j += kTileSecond)
            add_outer_tile<kTileSecond>(first, i, second, j, second_count, sums);
        for (; j < second_count; ++j) add_outer_tile<1>(first, i, second, j, second_count, sums);
    }
}

// sums[i] += sum over the block's rows of values[i].
template <typename T, typename Sum>
void add_row_sums(const T* values, std::size_t count, Sum* sums) {
    for (std::size_t i = 0; i < count; ++i) {
        typename LanesOf<T>::Type sum{};
        for (std::size_t v = 0; v < kBlockRows; v += kLanesOf<T>) sum += load(values + i * kBlockRows + v);
        add_to(sums[i], sum);
    }
}

}  // namespace accrue::core
