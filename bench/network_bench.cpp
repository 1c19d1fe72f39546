// The 50-10 network of sigma: forward; gradient; and one cost-and-gradient step of a fit, with the memory that it takes
// beyond the data. The squared error of the mean's network, with its gradient.
#include <malloc.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <string>

#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "fields/network.hpp"
#include "fields/tanh_rows.hpp"
#include "objective.hpp"
#include "plain_network.hpp"
#include "suite.hpp"

namespace accrue::bench {

namespace {

constexpr double kBeta = 0.4;

struct Case {
    std::size_t rows, inputs;
    core::Random random{1};
    fields::Network network;
    std::vector<double> x, errors, out;
    std::vector<double> parameters, gradient;

    Case(std::int64_t row_count, std::int64_t input_count)
        : rows(static_cast<std::size_t>(row_count)),
          inputs(static_cast<std::size_t>(input_count)),
          network(inputs),
          x(inputs * rows),
          errors(rows),
          out(rows),
          parameters(network.start(random, std::vector<double>{0})),
          gradient(network.parameters()) {
        for (double& value : x) value = random.normal();
        for (double& value : errors) value = random.normal();
    }
    explicit Case(const benchmark::State& state) : Case(state.range(0), state.range(1)) {}

    fields::Columns columns() const { return {x.data(), rows, inputs}; }
    RowCost forward_cost() const {
        return {static_cast<double>(inputs + 1) * sizeof(double), PlainNetwork::forward_flops(inputs)};
    }
    RowCost gradient_cost() const {
        return {static_cast<double>(inputs + 1) * sizeof(double), PlainNetwork::gradient_flops(inputs)};
    }
    // Inputs twice, errors once; sigmas and slopes stay inside.
    RowCost step_cost() const {
        return {static_cast<double>(2 * inputs + 1) * sizeof(double),
                PlainNetwork::forward_flops(inputs) + PlainNetwork::gradient_flops(inputs)};
    }
};

void network_forward(benchmark::State& state) {
    Case c(state);
    for (auto _ : state) {
        c.network.values(c.parameters, c.columns(), 0, c.rows, c.out.data(), 0);
        benchmark::DoNotOptimize(c.out.data());
    }
    count_rows(state, c.rows, c.forward_cost());
}

void network_forward_reference(benchmark::State& state) {
    Case c(state);
    PlainNetwork plain(c.inputs);
    for (auto _ : state) {
        for (std::size_t i = 0; i < c.rows; ++i) c.out[i] = plain.log_sigma(c.parameters.data(), c.columns(), i);
        benchmark::DoNotOptimize(c.out.data());
    }
    std::vector<double> library(c.rows);
    c.network.values(c.parameters, c.columns(), 0, c.rows, library.data(), 0);
    must_agree(state, c.out, library);
    count_rows(state, c.rows, c.forward_cost());
}

void network_gradient(benchmark::State& state) {
    Case c(state);
    for (auto _ : state) {
        c.network.add_gradient(c.parameters, c.columns(), 0, c.rows, c.errors.data(), 0, c.gradient.data());
        benchmark::DoNotOptimize(c.gradient.data());
    }
    count_rows(state, c.rows, c.gradient_cost());
}

void network_gradient_reference(benchmark::State& state) {
    Case c(state);
    PlainNetwork plain(c.inputs);
    for (auto _ : state) {
        std::fill(c.gradient.begin(), c.gradient.end(), 0.0);
        for (std::size_t i = 0; i < c.rows; ++i)
            plain.add_gradient(c.parameters.data(), c.columns(), i, c.errors[i], c.gradient.data());
        benchmark::DoNotOptimize(c.gradient.data());
    }
    std::vector<double> library(c.gradient.size());
    c.network.add_gradient(c.parameters, c.columns(), 0, c.rows, c.errors.data(), 0, library.data());
    must_agree(state, c.gradient, library);
    count_rows(state, c.rows, c.gradient_cost());
}

// Resident memory in bytes: now ("VmRSS:"), or the most since the last forget_peak ("VmHWM:"). Linux only; 0 elsewhere.
double resident(const std::string& which) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (double kilobytes = 0; word == which && status >> kilobytes) return 1024 * kilobytes;
    return 0;
}
void forget_peak() {
    malloc_trim(0);  // or an earlier benchmark's memory, kept by malloc, would be used again and not be seen
    std::ofstream("/proc/self/clear_refs") << "5";
}

// `outputs`: what the network gives of every row's distribution.
void step(benchmark::State& state, const fields::Outputs& outputs) {
    Case c(state);
    const fields::Network network(c.inputs, outputs.count());
    c.parameters = network.start(c.random, outputs.levels(0));
    c.gradient.resize(c.parameters.size());
    with_threads(static_cast<int>(state.range(2)), [&] {
        forget_peak();
        const double before = resident("VmRSS:");
        const auto objective = make_objective(network, c.columns(), c.errors, {fitting::Score::Kind::ar, kBeta},
                                              fitting::Objective::of_descent(c.rows), outputs);
        const double bias = c.parameters.back();
        double step = 0;
        for (auto _ : state) {
            c.parameters.back() = bias + 0.01 * std::sin(++step);
            double cost = 0;
            (*objective)(c.parameters, cost, c.gradient);
            benchmark::DoNotOptimize(cost);
        }
        state.counters["memory_per_row"] = (resident("VmHWM:") - before) / static_cast<double>(c.rows);
    });
    count_rows(state, c.rows, c.step_cost());
}

void network_step(benchmark::State& state) {
    step(state, {normal_family().get()});
}

void network_step_sinh_arcsinh(benchmark::State& state) {
    step(state, {family("sinh-arcsinh").get(), true});
}

void network_step_reference(benchmark::State& state) {
    Case c(state);
    PlainNetwork plain(c.inputs);
    std::vector<double> slopes(c.rows);
    for (auto _ : state) {
        for (std::size_t i = 0; i < c.rows; ++i)
            c.out[i] = std::exp(plain.log_sigma(c.parameters.data(), c.columns(), i));
        benchmark::DoNotOptimize(reference::accuracy_reliability(c.errors, c.out, kBeta, {}, slopes));
        std::fill(c.gradient.begin(), c.gradient.end(), 0.0);
        for (std::size_t i = 0; i < c.rows; ++i)
            plain.add_gradient(c.parameters.data(), c.columns(), i, slopes[i] * c.out[i], c.gradient.data());
        benchmark::DoNotOptimize(c.gradient.data());
    }
    std::vector<double> library(c.gradient.size());
    double cost = 0;
    (*make_objective(c.network, c.columns(), c.errors, {fitting::Score::Kind::ar, kBeta},
                     fitting::Objective::of_descent(c.rows)))(c.parameters, cost, library);
    must_agree(state, c.gradient, library, 1e-3);  // a fit need not rank exactly
    count_rows(state, c.rows, c.step_cost());
}

struct MeanCase {
    static constexpr std::size_t kInputs = 9;
    std::size_t rows;
    std::vector<double> x, y, parameters, gradient;
    explicit MeanCase(std::int64_t row_count)
        : rows(static_cast<std::size_t>(row_count)),
          x(kInputs * rows),
          y(rows),
          parameters(fields::network_parameters(kInputs)),
          gradient(parameters.size()) {
        core::Random random(1);
        for (double& value : x) value = random.normal();
        for (double& value : y) value = random.normal();
        for (double& value : parameters) value = 0.3 * random.normal();
    }
    fields::Columns columns() const { return {x.data(), rows, kInputs}; }
    static RowCost cost() {
        return {(kInputs + 1) * sizeof(double), 4.0 * fields::kUnits * (kInputs + 1) + 2.0 * fields::kUnits};
    }
};

void mean_network_error(benchmark::State& state) {
    MeanCase c(state.range(0));
    std::vector<std::size_t> all(c.rows);
    std::iota(all.begin(), all.end(), std::size_t{0});
    fields::SquaredError error({c.columns(), c.y, {}}, all);
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) {
            double value = 0;
            error(c.parameters, value, c.gradient);
            benchmark::DoNotOptimize(value);
        }
    });
    count_rows(state, c.rows, MeanCase::cost());
}

void mean_network_error_reference(benchmark::State& state) {
    MeanCase c(state.range(0));
    constexpr std::size_t kStride = MeanCase::kInputs + 1;  // a unit's weights and its bias
    const double* output = c.parameters.data() + fields::kUnits * kStride;
    std::vector<double> units(fields::kUnits);
    for (auto _ : state) {
        std::fill(c.gradient.begin(), c.gradient.end(), 0.0);
        double* output_gradient = c.gradient.data() + fields::kUnits * kStride;
        double sum = 0;
        for (std::size_t i = 0; i < c.rows; ++i) {
            double value = output[fields::kUnits];
            for (std::size_t j = 0; j < fields::kUnits; ++j) {
                const double* weights = &c.parameters[j * kStride];
                double input = weights[MeanCase::kInputs];
                for (std::size_t k = 0; k < MeanCase::kInputs; ++k) input += weights[k] * c.x[k * c.rows + i];
                units[j] = std::tanh(input);
                value += output[j] * units[j];
            }
            const double error = value - c.y[i];
            sum += error * error;
            output_gradient[fields::kUnits] += error;
            for (std::size_t j = 0; j < fields::kUnits; ++j) {
                output_gradient[j] += error * units[j];
                const double down = error * output[j] * (1 - units[j] * units[j]);
                for (std::size_t k = 0; k < MeanCase::kInputs; ++k)
                    c.gradient[j * kStride + k] += down * c.x[k * c.rows + i];
                c.gradient[j * kStride + MeanCase::kInputs] += down;
            }
        }
        benchmark::DoNotOptimize(sum);
    }
    for (double& slope : c.gradient) slope *= 2 / static_cast<double>(c.rows);
    std::vector<double> library(c.gradient.size());
    std::vector<std::size_t> all(c.rows);
    std::iota(all.begin(), all.end(), std::size_t{0});
    double value = 0;
    fields::SquaredError({c.columns(), c.y, {}}, all)(c.parameters, value, library);
    must_agree(state, c.gradient, library);
    count_rows(state, c.rows, MeanCase::cost());
}

const std::vector<std::int64_t> kPassRows = {1 << 16};

BENCHMARK(network_forward_reference)->ArgNames({"rows", "inputs"})->ArgsProduct({kPassRows, {5}})->UseRealTime();
BENCHMARK(network_forward)->ArgNames({"rows", "inputs"})->ArgsProduct({kPassRows, {1, 5, 20, 80}})->UseRealTime();
BENCHMARK(network_gradient_reference)->ArgNames({"rows", "inputs"})->ArgsProduct({kPassRows, {5}})->UseRealTime();
BENCHMARK(network_gradient)->ArgNames({"rows", "inputs"})->ArgsProduct({kPassRows, {1, 5, 20, 80}})->UseRealTime();
BENCHMARK(network_step_reference)->ArgNames({"rows", "inputs"})->Args({100'000, 5})->UseRealTime();
BENCHMARK(network_step)
    ->ArgNames({"rows", "inputs", "threads"})
    ->ArgsProduct({{1'000, 100'000, 1'000'000}, {5}, thread_counts()})
    ->UseRealTime();
BENCHMARK(network_step_sinh_arcsinh)
    ->ArgNames({"rows", "inputs", "threads"})
    ->ArgsProduct({{1'000'000}, {5}, thread_counts()})
    ->UseRealTime();
BENCHMARK(mean_network_error_reference)->ArgName("rows")->ArgsProduct({kPassRows})->UseRealTime();
BENCHMARK(mean_network_error)->ArgNames({"rows", "threads"})->ArgsProduct({kPassRows, thread_counts()})->UseRealTime();

}  // namespace

}  // namespace accrue::bench
