// One 50-10 network with 5 inputs: log sigma from memory, and the gradient, a thread.
#include <benchmark/benchmark.h>

#include <vector>

#include "core/random.hpp"
#include "sigma/network.hpp"

namespace {

constexpr std::size_t kRows = 1U << 16U;
constexpr std::size_t kInputs = 5;

struct Case {
    accrue::core::Random random{1};
    accrue::sigma::Network network{kInputs};
    std::vector<double> x = std::vector<double>(kInputs * kRows);
    std::vector<double> out = std::vector<double>(kRows);
    std::vector<double> slopes = std::vector<double>(kRows);
    std::vector<double> parameters = network.start(random, 0);
    std::vector<double> gradient = std::vector<double>(network.parameters());
    Case() {
        for (double& value : x) value = random.normal();
        for (double& value : slopes) value = random.normal();
    }
    accrue::sigma::Columns columns() const { return {x.data(), kRows, kInputs}; }
};

void network_log_sigma(benchmark::State& state) {
    Case c;
    for (auto _ : state) {
        c.network.log_sigma(c.parameters, c.columns(), 0, kRows, c.out.data());
        benchmark::DoNotOptimize(c.out.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}

void network_gradient(benchmark::State& state) {
    Case c;
    for (auto _ : state) {
        c.network.add_gradient(c.parameters, c.columns(), 0, kRows, c.slopes.data(), c.gradient.data());
        benchmark::DoNotOptimize(c.gradient.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}

}  // namespace

BENCHMARK(network_log_sigma);
BENCHMARK(network_gradient);
