// Numbers dealt into buckets in their order, so that each bucket can be sorted within a core's cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace accrue::scores {

// Rows a bucket should hold: 16 KiB of keys, sorted within the first-level cache. More buckets than the most would
// exhaust the machine's address translation cache while rows are dealt.
inline constexpr std::size_t kRowsPerBucket = 2048;
inline constexpr std::size_t kMaxBuckets = 1024;
// Rows are dealt in chunks, each of which has counts of its own, so there must not be too many.
inline constexpr std::size_t kMaxChunks = 64;
inline constexpr std::size_t kMinChunk = 1U << 14U;

// Unsigned integers in the order of the numbers; -0 and +0 must have been made one.
inline std::uint32_t ordered_bits(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000U);
}
inline std::uint64_t ordered_bits(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    return bits ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63) | 0x8000000000000000ULL);
}
inline double from_ordered_bits(std::uint64_t bits) {
    return std::bit_cast<double>(
        bits ^ (~static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63) | 0x8000000000000000ULL));
}

// Buckets of equal width in t between the sample's outer quantiles; the first and the last take the tails.
// Any monotone rule is right; this one keeps buckets even for distributions like those of errors.
struct Bucketing {
    double low = 0;
    double per_unit = 0;
    std::size_t count = 1;

    // Of n numbers t_of(i).
    template <typename Number>
    Bucketing(std::size_t n, std::size_t buckets, Number&& t_of) : count(buckets) {
        if (buckets == 1) return;
        constexpr std::size_t kSample = 1024;
        std::array<double, kSample> sample{};
        for (std::size_t i = 0; i < kSample; ++i) {
            const double value = t_of(i * n / kSample);
            sample[i] = std::isfinite(value) ? value : 0;
        }
        std::sort(sample.begin(), sample.end());
        low = sample[kSample / 200];
        const double high = sample[kSample - 1 - kSample / 200];
        per_unit = high > low ? static_cast<double>(buckets) / (high - low) : 0;
        if (!std::isfinite(per_unit)) per_unit = 0;
    }

    std::uint16_t operator()(double t) const {
        const double position = (t - low) * per_unit;
        const double last = static_cast<double>(count - 1);
        const double from_zero = position > 0 ? position : 0;  // NaN goes to the first bucket
        return static_cast<std::uint16_t>(static_cast<std::int32_t>(from_zero < last ? from_zero : last));
    }
};

}  // namespace accrue::scores
