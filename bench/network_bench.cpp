// One 50-10 network with 5 inputs: log sigma from memory, and the gradient, a thread. The same for the squared error of
// the mean's network with 9 inputs.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "mean/network_rows.hpp"
#include "sigma/network.hpp"

namespace {

constexpr std::size_t kRows = 1U << 16U;
constexpr std::size_t kInputs = 5;

struct Case {
    accrue::core::Random random{1};
    accrue::sigma::Network network;
    std::vector<double> x = std::vector<double>(kInputs * kRows);
    std::vector<double> out = std::vector<double>(kRows);
    std::vector<double> slopes = std::vector<double>(kRows);
    std::vector<double> parameters = network.start(random, 0);
    std::vector<double> gradient = std::vector<double>(network.parameters());
    explicit Case(benchmark::State& state)
        : network(kInputs, state.range(0) == 0 ? accrue::sigma::Network::Precision::full
                                               : accrue::sigma::Network::Precision::single) {
        for (double& value : x) value = random.normal();
        for (double& value : slopes) value = random.normal();
    }
    accrue::sigma::Columns columns() const { return {x.data(), kRows, kInputs}; }
};

void network_log_sigma(benchmark::State& state) {
    Case c(state);
    for (auto _ : state) {
        c.network.log_sigma(c.parameters, c.columns(), 0, kRows, c.out.data());
        benchmark::DoNotOptimize(c.out.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}

void network_gradient(benchmark::State& state) {
    Case c(state);
    for (auto _ : state) {
        c.network.add_gradient(c.parameters, c.columns(), 0, kRows, c.slopes.data(), c.gradient.data());
        benchmark::DoNotOptimize(c.gradient.data());
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}

void mean_network_error(benchmark::State& state) {
    constexpr std::size_t kMeanInputs = 9;
    accrue::core::Random random(1);
    std::vector<double> x(kMeanInputs * kRows);
    std::vector<double> y(kRows);
    std::vector<double> parameters(accrue::mean::network_parameters(kMeanInputs));
    std::vector<double> gradient(state.range(0) == 0 ? 0 : parameters.size());
    for (double& value : x) value = random.normal();
    for (double& value : y) value = random.normal();
    for (double& value : parameters) value = 0.3 * random.normal();
    std::vector<std::size_t> rows(kRows);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    accrue::mean::SquaredError error({{x.data(), kRows, kMeanInputs}, y, {}}, rows);
    accrue::with_threads(1, [&] {
        for (auto _ : state) {
            double value = 0;
            error(parameters, value, gradient);
            benchmark::DoNotOptimize(value);
        }
    });
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRows));
}

}  // namespace

BENCHMARK(network_log_sigma)->ArgName("single")->Arg(0)->Arg(1);
BENCHMARK(network_gradient)->ArgName("single")->Arg(0)->Arg(1);
BENCHMARK(mean_network_error)->ArgName("gradient")->Arg(0)->Arg(1);
