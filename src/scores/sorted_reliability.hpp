// [RS] without its gradient, in little memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/buffer.hpp"

namespace accrue::scores {

struct SortBuffers {
    struct Weighted {
        std::uint64_t key;
        double weight;
    };
    core::Buffer<std::uint64_t> keys;  // t as ordered bits, bucket after bucket
    core::Buffer<Weighted> weighted;   // the same where rows have weights
    std::vector<std::size_t> offsets;  // of every chunk and bucket
    std::vector<std::size_t> starts;   // of every bucket
    std::vector<double> bucket_weights, bucket_sums;
};

// reliability_score() to rounding, for as many rows as memory holds: the score needs the sorted t and nothing of where
// they came from, so that 8 bytes per row suffice, 16 with weights, in place of 42 and 50. Every sigma must be
// positive, and the weights sum to `total`. Without sigmas the errors are the z.
double sorted_reliability(std::span<const double> errors, std::span<const double> sigmas,
                          std::span<const double> weights, double total, SortBuffers& buffers);

// Quantiles of z of the rows that `buffers` have just sorted, for shares in rising order: between the middles of the
// weights of neighbouring rows, linearly.
std::vector<double> sorted_quantiles(const SortBuffers& buffers, std::size_t rows, bool weighted, double total,
                                     std::span<const double> shares);

}  // namespace accrue::scores
