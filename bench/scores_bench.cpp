// The accuracy-reliability cost with its gradient, beside its scalar reference, by rows and threads.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "accrue/scores.hpp"
#include "accrue/threads.hpp"

namespace {

struct Rows {
    std::vector<double> errors, sigmas, gradient;
    explicit Rows(std::size_t n) : errors(n), sigmas(n), gradient(n) {
        std::mt19937_64 engine(1);
        std::normal_distribution<double> normal;
        std::uniform_real_distribution<double> spread(0.2, 2);
        for (std::size_t i = 0; i < n; ++i) {
            sigmas[i] = spread(engine);
            errors[i] = sigmas[i] * normal(engine);
        }
    }
};

const Rows& rows_of(std::size_t n) {
    static std::vector<std::unique_ptr<Rows>> made;
    for (const auto& rows : made)
        if (rows->errors.size() == n) return *rows;
    return *made.emplace_back(std::make_unique<Rows>(n));
}

void report(benchmark::State& state) {
    state.SetItemsProcessed(state.iterations() * state.range(0));
    state.counters["ns_per_row"] =
        benchmark::Counter(static_cast<double>(state.range(0)) * 1e-9,
                           benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void accuracy_reliability_reference(benchmark::State& state) {
    Rows rows = rows_of(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(
            accrue::reference::accuracy_reliability(rows.errors, rows.sigmas, 0.4, {}, rows.gradient));
    report(state);
}

void accuracy_reliability(benchmark::State& state) {
    Rows rows = rows_of(static_cast<std::size_t>(state.range(0)));
    accrue::ScoreWorkspace workspace;
    accrue::with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state)
            benchmark::DoNotOptimize(
                accrue::accuracy_reliability(rows.errors, rows.sigmas, 0.4, {}, rows.gradient, &workspace));
    });
    report(state);
}

void accuracy_reliability_counted(benchmark::State& state) {
    Rows rows = rows_of(static_cast<std::size_t>(state.range(0)));
    accrue::ScoreWorkspace workspace;
    accrue::with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state)
            benchmark::DoNotOptimize(accrue::accuracy_reliability(rows.errors, rows.sigmas, 0.4, {}, rows.gradient,
                                                                  &workspace, accrue::Variable::log_sigma,
                                                                  accrue::Ranks::counted));
    });
    report(state);
}

void mean_crps(benchmark::State& state) {
    Rows rows = rows_of(static_cast<std::size_t>(state.range(0)));
    accrue::with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) benchmark::DoNotOptimize(accrue::mean_crps(rows.errors, rows.sigmas, {}, rows.gradient));
    });
    report(state);
}

}  // namespace

BENCHMARK(accuracy_reliability_reference)->Arg(100)->Arg(10'000)->Arg(1'000'000)->UseRealTime();
BENCHMARK(accuracy_reliability)
    ->ArgNames({"rows", "threads"})
    ->ArgsProduct({{100, 10'000, 1'000'000, 10'000'000}, {1, 2}})
    ->UseRealTime();
BENCHMARK(accuracy_reliability_counted)
    ->ArgNames({"rows", "threads"})
    ->ArgsProduct({{100'000, 1'000'000, 10'000'000}, {1, 2}})
    ->UseRealTime();
BENCHMARK(mean_crps)->ArgNames({"rows", "threads"})->ArgsProduct({{1'000'000}, {1, 2}})->UseRealTime();
