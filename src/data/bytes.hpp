// Bytes of text by the block: where a character stands, and how often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace accrue::data {

constexpr std::size_t kByteBlock = 64;

// Bit i is set where block[i] == wanted; all kByteBlock bytes must be readable. The library is compiled once per
// instruction set, so the widest one that the compiler may use here is also the right one.
inline std::uint64_t match_block(const char* block, char wanted) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(block), _mm512_set1_epi8(wanted));
#elif defined(__AVX2__)
    const auto half = [&](int at) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + at));
        const int mask = _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(wanted)));
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(mask)) << at;
    };
    return half(0) | half(32);
#elif defined(__SSE2__)
    const auto quarter = [&](int at) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + at));
        const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted)));
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(mask)) << at;
    };
    return quarter(0) | quarter(16) | quarter(32) | quarter(48);
#else
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < kByteBlock; ++i) mask |= static_cast<std::uint64_t>(block[i] == wanted) << i;
    return mask;
#endif
}

// What has to be known of a stretch of text before it is parsed.
struct ByteSurvey {
    std::size_t newlines = 0;
    bool quotes = false;
    bool nuls = false;
};
ByteSurvey survey_bytes(std::string_view text);

std::size_t count_newlines(std::string_view text);

}  // namespace accrue::data
