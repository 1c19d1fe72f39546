#include "core/random.hpp"

namespace accrue::core {

std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

Random::Random(std::uint64_t seed, std::uint64_t stream) : engine_(scramble(scramble(seed) + stream)) {}

std::size_t Random::below(std::size_t n) {
    return boost::random::uniform_int_distribution<std::size_t>(0, n - 1)(engine_);
}

}  // namespace accrue::core
