// What the machine can do at most, by the number of threads: bytes a second through memory (a triad over arrays far
// larger than the caches) and multiply-adds a second (in registers, at the widest vectors that the machine has).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/ceilings.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // compiles this file for every vector width
#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace accrue::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// a = b + factor*c, past the caches: they would only read a to overwrite it. Begins and ends at multiples of 8.
void triad(const double* b, const double* c, double factor, double* a, std::size_t begin, std::size_t end) {
    const hn::ScalableTag<double> d;
    const auto f = hn::Set(d, factor);
    for (std::size_t i = begin; i < end; i += hn::Lanes(d))
        hn::Stream(hn::MulAdd(f, hn::Load(d, c + i), hn::Load(d, b + i)), d, a + i);
    hwy::FlushStream();
}

// 12 chains: two units of a latency of 4 or 5 are kept busy, and the narrowest instruction set has registers enough.
// Returns the operations done; `sink` keeps them from being left out.
double multiply_adds(std::size_t rounds, double& sink) {
    const hn::ScalableTag<double> d;
    const auto shrink = hn::Set(d, 0.999);
    const auto add = hn::Set(d, 0.001);
    auto a0 = hn::Iota(d, 0), a1 = hn::Iota(d, 1), a2 = hn::Iota(d, 2), a3 = hn::Iota(d, 3);
    auto a4 = hn::Iota(d, 4), a5 = hn::Iota(d, 5), a6 = hn::Iota(d, 6), a7 = hn::Iota(d, 7);
    auto b0 = hn::Iota(d, 8), b1 = hn::Iota(d, 9), b2 = hn::Iota(d, 10), b3 = hn::Iota(d, 11);
    for (std::size_t i = 0; i < rounds; ++i) {
        a0 = hn::MulAdd(a0, shrink, add), a1 = hn::MulAdd(a1, shrink, add), a2 = hn::MulAdd(a2, shrink, add);
        a3 = hn::MulAdd(a3, shrink, add), a4 = hn::MulAdd(a4, shrink, add), a5 = hn::MulAdd(a5, shrink, add);
        a6 = hn::MulAdd(a6, shrink, add), a7 = hn::MulAdd(a7, shrink, add), b0 = hn::MulAdd(b0, shrink, add);
        b1 = hn::MulAdd(b1, shrink, add), b2 = hn::MulAdd(b2, shrink, add), b3 = hn::MulAdd(b3, shrink, add);
    }
    const auto a = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)));
    sink = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, hn::Add(hn::Add(b0, b1), hn::Add(b2, b3)))));
    return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

}  // namespace accrue::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <hwy/aligned_allocator.h>

#include "suite.hpp"

namespace accrue::bench {

HWY_EXPORT(triad);
HWY_EXPORT(multiply_adds);

namespace {

constexpr std::size_t kDoubles = std::size_t{1} << 25U;  // 256 MiB an array

void memory_bandwidth(benchmark::State& state) {
    static hwy::AlignedFreeUniquePtr<double[]> a, b, c;
    static const bool filled = [] {
        for (auto* array : {&a, &b, &c}) {
            *array = hwy::AllocateAligned<double>(kDoubles);
            std::fill_n(array->get(), kDoubles, 1.0);
        }
        return true;
    }();
    benchmark::DoNotOptimize(filled);
    const std::size_t share = kDoubles / static_cast<std::size_t>(state.threads()) / 8 * 8;
    const std::size_t begin = share * static_cast<std::size_t>(state.thread_index());
    for (auto _ : state) HWY_DYNAMIC_DISPATCH(triad)(b.get(), c.get(), 0.5, a.get(), begin, begin + share);
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(3 * sizeof(double) * share));
}

void multiply_add_rate(benchmark::State& state) {
    double done = 0;
    double sink = 0;
    for (auto _ : state) {
        done += HWY_DYNAMIC_DISPATCH(multiply_adds)(100'000, sink);
        benchmark::DoNotOptimize(sink);
    }
    state.counters["flops_per_second"] = benchmark::Counter(done, benchmark::Counter::kIsRate);
}

void by_threads(benchmark::internal::Benchmark* benchmark) {
    for (const std::int64_t threads : thread_counts()) benchmark->Threads(static_cast<int>(threads));
    benchmark->UseRealTime();
}

}  // namespace

BENCHMARK(memory_bandwidth)->Apply(by_threads);
BENCHMARK(multiply_add_rate)->Apply(by_threads);

}  // namespace accrue::bench

#endif
