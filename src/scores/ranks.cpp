#include "scores/ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/sort.hpp"
#include "scores/buckets.hpp"

namespace accrue::scores {

namespace {

// Room for keys at first: buckets differ, and it should not have to grow with each that is a little larger.
constexpr std::size_t kMinKeys = 4 * kRowsPerBucket;

// One bucket: t and weights as dealt. Replaces every t by its rank within the bucket, not yet divided by the total
// weight, and returns the bucket's weight.
double rank_bucket(std::span<double> t, const double* weights) {
    const std::size_t count = t.size();
    // A thread's own, so that it stays in its cache from bucket to bucket: order-preserving bits of float(t), and the
    // row in the bucket.
    thread_local core::Buffer<std::uint64_t> key_buffer;
    key_buffer.reserve(std::bit_ceil(std::max(count, kMinKeys)));
    std::uint64_t* keys = key_buffer.data();
    for (std::size_t i = 0; i < count; ++i)
        keys[i] = static_cast<std::uint64_t>(ordered_bits(static_cast<float>(t[i]))) << 32U | i;
    core::sort_ascending({keys, count});

    const auto index = [](std::uint64_t key) { return static_cast<std::uint32_t>(key); };
    const auto exact = [&](std::uint64_t key) { return ordered_bits(t[index(key)]); };
    double before = 0;
    const auto rank_rows = [&](std::size_t first, std::size_t last) {
        double own = static_cast<double>(last - first);
        if (weights != nullptr) {
            own = 0;
            for (std::size_t i = first; i < last; ++i) own += weights[index(keys[i])];
        }
        for (std::size_t i = first; i < last; ++i) t[index(keys[i])] = 2 * before + own;
        before += own;
    };

    std::size_t i = 0;
    while (i < count) {
        if (i + 1 == count || keys[i] >> 32U != keys[i + 1] >> 32U) [[likely]] {
            rank_rows(i, i + 1);
            ++i;
            continue;
        }
        std::size_t end = i + 2;
        while (end < count && keys[end] >> 32U == keys[i] >> 32U) ++end;
        std::sort(keys + i, keys + end,
                  [&](std::uint64_t a, std::uint64_t b) { return exact(a) != exact(b) ? exact(a) < exact(b) : a < b; });
        while (i < end) {
            std::size_t last = i + 1;
            while (last < end && exact(keys[last]) == exact(keys[i])) ++last;
            rank_rows(i, last);
            i = last;
        }
    }
    return before;
}

}  // namespace

void mid_ranks(std::span<const double> t, std::span<const double> weights, double total_weight,
               std::span<double> mid_ranks, RankBuffers& buffers) {
    const std::size_t n = t.size();
    core::require(n < (std::size_t{1} << 32U), "{} rows are more than the 2^32 - 1 that can be ranked", n);
    const bool weighted = !weights.empty();
    const std::size_t bucket_count = std::clamp(n / kRowsPerBucket, std::size_t{1}, kMaxBuckets);
    if (bucket_count == 1) {
        // Adding 0 makes -0 and +0 one.
        for (std::size_t i = 0; i < n; ++i) mid_ranks[i] = t[i] + 0.0;
        rank_bucket(mid_ranks, weighted ? weights.data() : nullptr);
        for (double& mid_rank : mid_ranks) mid_rank /= total_weight;
        return;
    }

    buffers.buckets.reserve(n);
    buffers.dealt.reserve(n);
    if (weighted) buffers.dealt_weights.reserve(n);
    buffers.starts.reserve(bucket_count + 1);
    buffers.bucket_weights.reserve(bucket_count);
    const Bucketing bucket_of(n, bucket_count, [&](std::size_t i) { return t[i]; });
    const std::size_t chunk = std::max(kMinChunk, core::block_count(n, kMaxChunks));
    const std::size_t chunks = core::block_count(n, chunk);
    buffers.offsets.reserve(chunks * bucket_count);
    std::uint16_t* bucket = buffers.buckets.data();
    std::uint32_t* starts = buffers.starts.data();
    double* dealt = buffers.dealt.data();
    double* dealt_weights = weighted ? buffers.dealt_weights.data() : nullptr;

    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        const double* __restrict in = t.data();
        std::uint16_t* __restrict out = bucket;
        const Bucketing own = bucket_of;
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) out[i] = own(in[i]);
        std::uint32_t* histogram = &buffers.offsets[c * bucket_count];
        std::fill_n(histogram, bucket_count, 0);
        for (std::size_t i = begin; i < end; ++i) ++histogram[out[i]];
    });
    // From counts to the position of every chunk's first row in every bucket: the way there and the way back.
    std::uint32_t position = 0;
    for (std::size_t b = 0; b < bucket_count; ++b) {
        starts[b] = position;
        for (std::size_t c = 0; c < chunks; ++c) {
            std::uint32_t& offset = buffers.offsets[c * bucket_count + b];
            position += std::exchange(offset, position);
        }
    }
    starts[bucket_count] = position;
    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        std::array<std::uint32_t, kMaxBuckets> next;
        std::copy_n(&buffers.offsets[c * bucket_count], bucket_count, next.begin());
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t to = next[bucket[i]]++;
            dealt[to] = t[i] + 0.0;
            if (weighted) dealt_weights[to] = weights[i];
        }
    });

    core::for_blocks(bucket_count, 1, [&](std::size_t b, std::size_t, std::size_t) {
        const std::size_t first = starts[b];
        buffers.bucket_weights[b] =
            rank_bucket({dealt + first, starts[b + 1] - first}, weighted ? dealt_weights + first : nullptr);
    });

    double before = 0;
    for (std::size_t b = 0; b < bucket_count; ++b) before += std::exchange(buffers.bucket_weights[b], before);
    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        std::uint32_t* next = &buffers.offsets[c * bucket_count];
        const double* base = buffers.bucket_weights.data();
        const double per_weight = 1 / total_weight;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint16_t b = bucket[i];
            mid_ranks[i] = (dealt[next[b]++] + 2 * base[b]) * per_weight;
        }
    });
}

}  // namespace accrue::scores
