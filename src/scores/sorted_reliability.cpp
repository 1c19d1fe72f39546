#include "scores/sorted_reliability.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "accrue/scores.hpp"
#include "core/parallel.hpp"
#include "core/sort.hpp"
#include "scores/buckets.hpp"
#include "scores/gauss.hpp"
#include "scores/weights.hpp"

namespace accrue::scores {

namespace {

constexpr std::size_t kBlock = 1024;  // its buffers stay in the first-level cache
using BlockBuffer = std::array<double, kBlock>;

// Calls use(t, row, count) for the blocks of rows [begin, end).
template <typename Use>
void for_t(const double* errors, const double* sigmas, std::size_t begin, std::size_t end, Use&& use) {
    BlockBuffer buffer;
    for (std::size_t from = begin; from < end; from += kBlock) {
        const std::size_t count = std::min(kBlock, end - from);
        const double* __restrict e = errors + from;
        const double* __restrict s = sigmas != nullptr ? sigmas + from : weights_from({}, from);
        double* __restrict t = buffer.data();
        // Adding 0 makes -0 and +0 one.
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) t[i] = e[i] / s[i] * kRootHalf + 0.0;
        use(t, from, count);
    }
}

// The sum over sorted rows of w*(t*(erf(t) + 1 - mid_rank) + exp(-t^2)/sqrt(pi)), mid_rank = (2*before + w)/total. Rows
// with equal t would share the mean of their ranks, which changes nothing in the sum.
double sum_of_block(std::size_t rows, const double* __restrict t, const double* __restrict w,
                    const double* __restrict twice_before, double per_weight) {
    BlockBuffer erf;
    BlockBuffer gauss;
    erf_gauss_block(rows, t, erf.data(), gauss.data());
    const double* __restrict f = erf.data();
    const double* __restrict g = gauss.data();
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < rows; ++i) {
        // Never above 2, not even by a rounding, which a huge t would make large.
        const double mid_rank = (twice_before[i] + w[i]) * per_weight;
        sum += w[i] * (t[i] * (f[i] + 1 - (mid_rank < 2 ? mid_rank : 2)) + kOneOverRootPi * g[i]);
    }
    return sum;
}

// The same over the `count` sorted rows of a bucket, of which row_at(i) gives t and weight.
template <typename RowAt>
double sum_of_bucket(std::size_t count, double before, double per_weight, RowAt&& row_at) {
    double sum = 0;
    BlockBuffer t;
    BlockBuffer w;
    BlockBuffer twice_before;
    for (std::size_t from = 0; from < count; from += kBlock) {
        const std::size_t rows = std::min(kBlock, count - from);
        for (std::size_t i = 0; i < rows; ++i) {
            std::tie(t[i], w[i]) = row_at(from + i);
            twice_before[i] = 2 * before;
            before += w[i];
        }
        sum += sum_of_block(rows, t.data(), w.data(), twice_before.data(), per_weight);
    }
    return sum;
}

}  // namespace

double sorted_reliability(std::span<const double> errors, std::span<const double> sigmas,
                          std::span<const double> weights, double total, SortBuffers& buffers) {
    const std::size_t n = errors.size();
    const double* e = errors.data();
    const double* s = sigmas.empty() ? nullptr : sigmas.data();
    const bool weighted = !weights.empty();
    const std::size_t buckets = std::clamp(n / kRowsPerBucket, std::size_t{1}, kMaxBuckets);
    const Bucketing bucket_of(n, buckets,
                              [&](std::size_t i) { return (s != nullptr ? e[i] / s[i] : e[i]) * kRootHalf; });
    const std::size_t chunk = std::max(kMinChunk, core::block_count(n, kMaxChunks));
    const std::size_t chunks = core::block_count(n, chunk);

    buffers.offsets.assign(chunks * buckets, 0);
    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        std::size_t* own = &buffers.offsets[c * buckets];
        if (buckets == 1) {
            own[0] = end - begin;
            return;
        }
        for_t(e, s, begin, end, [&](const double* t, std::size_t, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) ++own[bucket_of(t[i])];
        });
    });
    buffers.starts.assign(buckets + 1, n);
    std::size_t position = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
        buffers.starts[b] = position;
        for (std::size_t c = 0; c < chunks; ++c) {
            std::size_t& offset = buffers.offsets[c * buckets + b];
            position += std::exchange(offset, position);
        }
    }
    if (weighted)
        buffers.weighted.reserve(n);
    else
        buffers.keys.reserve(n);
    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        std::size_t* next = &buffers.offsets[c * buckets];
        for_t(e, s, begin, end, [&](const double* t, std::size_t from, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t to = next[bucket_of(t[i])]++;
                if (weighted)
                    buffers.weighted[to] = {ordered_bits(t[i]), weights[from + i]};
                else
                    buffers.keys[to] = ordered_bits(t[i]);
            }
        });
    });

    buffers.bucket_weights.assign(buckets, 0.0);
    const auto rows_of = [&](std::size_t b) { return buffers.starts[b + 1] - buffers.starts[b]; };
    core::for_blocks(buckets, 1, [&](std::size_t b, std::size_t, std::size_t) {
        if (!weighted) {
            buffers.bucket_weights[b] = static_cast<double>(rows_of(b));
            return;
        }
        const SortBuffers::Weighted* rows = buffers.weighted.data() + buffers.starts[b];
        for (std::size_t i = 0; i < rows_of(b); ++i) buffers.bucket_weights[b] += rows[i].weight;
    });
    double before = 0;
    for (double& weight : buffers.bucket_weights) before += std::exchange(weight, before);

    buffers.bucket_sums.assign(buckets, 0.0);
    core::for_blocks(buckets, 1, [&](std::size_t b, std::size_t, std::size_t) {
        const std::size_t count = rows_of(b);
        if (weighted) {
            SortBuffers::Weighted* rows = buffers.weighted.data() + buffers.starts[b];
            std::sort(rows, rows + count, [](const auto& x, const auto& y) {
                return x.key != y.key ? x.key < y.key : x.weight < y.weight;
            });
            buffers.bucket_sums[b] = sum_of_bucket(count, buffers.bucket_weights[b], 1 / total, [&](std::size_t i) {
                return std::pair(from_ordered_bits(rows[i].key), rows[i].weight);
            });
        } else {
            std::uint64_t* keys = buffers.keys.data() + buffers.starts[b];
            core::sort_ascending(std::span(keys, count));
            buffers.bucket_sums[b] = sum_of_bucket(count, buffers.bucket_weights[b], 1 / total, [&](std::size_t i) {
                return std::pair(from_ordered_bits(keys[i]), 1.0);
            });
        }
    });
    return core::ordered_sum(buffers.bucket_sums) / total - kReliabilityConstant;
}

std::vector<double> sorted_quantiles(const SortBuffers& buffers, std::size_t rows, bool weighted, double total,
                                     std::span<const double> shares) {
    const auto z = [&](std::size_t i) {
        return from_ordered_bits(weighted ? buffers.weighted.data()[i].key : buffers.keys.data()[i]) / kRootHalf;
    };
    const auto between = [](double low, double high, double part) {
        // Also where one is infinite.
        if (low == high || part <= 0) return low;
        return part >= 1 ? high : low + part * (high - low);
    };
    std::vector<double> quantiles;
    if (!weighted) {
        for (const double share : shares) {
            const auto count = static_cast<double>(rows);
            const double position = std::clamp(share * count - 0.5, 0.0, count - 1);
            const auto at = static_cast<std::size_t>(position);
            quantiles.push_back(between(z(at), z(std::min(at + 1, rows - 1)), position - static_cast<double>(at)));
        }
        return quantiles;
    }
    // The last row with weight before `i`, and the middle of its weight.
    double last = 0;
    double last_middle = -1;  // none
    double before = 0;
    std::size_t i = 0;
    for (const double share : shares) {
        for (;; ++i) {
            if (i == rows) {
                quantiles.push_back(last);
                break;
            }
            const double weight = buffers.weighted.data()[i].weight;
            if (!(weight > 0)) continue;
            const double middle = before + weight / 2;
            if (middle >= share * total) {
                const double part = last_middle < 0 ? 1 : (share * total - last_middle) / (middle - last_middle);
                quantiles.push_back(between(last, z(i), part));
                break;
            }
            last = z(i);
            last_middle = middle;
            before += weight;
        }
    }
    return quantiles;
}

}  // namespace accrue::scores
