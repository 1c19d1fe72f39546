// Places of rows in sorted order: what the reliability score needs of a sort.
#pragma once

#include <cstdint>
#include <span>

#include "core/buffer.hpp"

namespace accrue::scores {

struct RankBuffers {
    core::Buffer<std::uint16_t> buckets;  // of every row
    core::Buffer<std::uint32_t> offsets;  // of every chunk and bucket
    core::Buffer<std::uint32_t> starts;   // of every bucket
    core::Buffer<double> dealt;           // t, later places, bucket after bucket
    core::Buffer<double> dealt_weights;   // likewise
    core::Buffer<double> bucket_weights;
};

// places[i] = (weight of the rows before row i + weight of the rows up to and including it)/total, rows sorted by t:
// that is (2 rank - 1)/N without weights, in (0, 2). Rows with equal t share the mean of their places. Exact: rows are
// dealt into buckets of t that fit the cache, every bucket is sorted by a 32-bit key (vectorised sort of key and
// position packed into 64 bits), then by t where keys are equal, and the places are dealt back. Nothing is gathered or
// scattered beyond the cache, so time stays proportional to the rows. Fewer than 2^32 rows.
void places(std::span<const double> t, std::span<const double> weights, double total_weight, std::span<double> places,
            RankBuffers& buffers);

}  // namespace accrue::scores
