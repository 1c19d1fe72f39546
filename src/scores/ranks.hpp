// Ranks of rows: what the reliability score needs of a sort.
#pragma once

#include <cstdint>
#include <span>

#include "core/buffer.hpp"

namespace accrue::scores {

struct RankBuffers {
    core::Buffer<std::uint16_t> buckets;  // of every row
    core::Buffer<std::uint32_t> offsets;  // of every chunk and bucket
    core::Buffer<std::uint32_t> starts;   // of every bucket
    core::Buffer<double> dealt;           // t, later ranks, bucket after bucket
    core::Buffer<double> dealt_weights;   // likewise
    core::Buffer<double> bucket_weights;
};

// mid_ranks[i] = (weight of the rows before row i + weight of the rows up to and including it)/total, rows sorted by t:
// that is (2 rank - 1)/N without weights, in (0, 2). Rows with equal t share the mean of their ranks. Exact: rows are
// dealt into buckets of t that fit the cache, every bucket is sorted by a 32-bit key (vectorised sort of key and
// position packed into 64 bits), then by t where keys are equal, and the ranks are dealt back. Nothing is gathered or
// scattered beyond the cache, so time stays proportional to the rows. Fewer than 2^32 rows.
void mid_ranks(std::span<const double> t, std::span<const double> weights, double total_weight,
               std::span<double> mid_ranks, RankBuffers& buffers);

struct CountBuffers {
    core::Buffer<std::uint32_t> counts;  // of every chunk and cell
    core::Buffer<double> weights;        // likewise
    core::Buffer<double> upto;           // of every cell's end
};

// The same from counts of rows in cells of t, a cell's rows being taken as spread evenly over it: a rank is wrong by
// less than twice its cell's share of the weight (about 1e-4 where the forecast is not far from calibrated), by chance
// up or down, so that sums over rows are closer by far: tests/scores/counting_test.cpp. False, and mid_ranks left
// unset, where a cell holds more than kFullestCell of the weight, as with many equal errors.
bool counted_mid_ranks(std::span<const double> t, std::span<const double> weights, double total_weight,
                       std::span<double> mid_ranks, CountBuffers& buffers);

inline constexpr std::size_t kCells = std::size_t{1} << 14U;
inline constexpr double kFullestCell = 1.0 / 1024;

}  // namespace accrue::scores
