// Fits: the descent of one start with the library's objective and with a plain one under the same minimiser; a whole
// fit.
#include <cmath>

#include "accrue/fit.hpp"
#include "accrue/generate.hpp"
#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "fields/network.hpp"
#include "objective.hpp"
#include "optimise/minimise.hpp"
#include "plain_network.hpp"
#include "suite.hpp"

namespace accrue::bench {

namespace {

constexpr std::size_t kInputs = 5;
constexpr int kSteps = 20;
constexpr double kBeta = 0.6;

// 5D as a fit sees it: inputs in columns (not standardised, which changes no cost), and errors.
struct Rows {
    std::size_t count;
    GeneratedData data;
    std::vector<double> x, errors;

    explicit Rows(std::int64_t rows) : count(static_cast<std::size_t>(rows)), data(generate("5D", count, 1)) {
        for (std::size_t k = 0; k < kInputs; ++k) x.insert(x.end(), data.columns[k].begin(), data.columns[k].end());
        errors = data.columns.back();  // the mean is zero
    }
    fields::Columns columns() const { return {x.data(), count, kInputs}; }
};

void descend(benchmark::State& state, const Rows& rows, const optimise::Function& cost) {
    const fields::Network network(kInputs);
    optimise::Options options;
    options.max_iterations = kSteps;
    options.function_tolerance = options.gradient_tolerance = 0;
    int evaluations = 0;
    for (auto _ : state) {
        core::Random random(1);
        const auto outcome = optimise::minimise(
            cost, network.start(random, std::vector<double>{0}),
            [](int, auto, double) { return optimise::Watch::go_on; }, options);
        evaluations = outcome.evaluations;
        benchmark::DoNotOptimize(outcome.value);
    }
    count_rows(state, rows.count, {}, kSteps);
    state.counters["evaluations"] = evaluations;
}

void descent(benchmark::State& state) {
    const Rows rows(state.range(0));
    const fields::Network network(kInputs);
    const auto objective = make_objective(network, rows.columns(), rows.errors, {fitting::Score::Kind::ar, kBeta},
                                          fitting::Objective::of_descent(rows.count));
    with_threads(static_cast<int>(state.range(1)), [&] {
        descend(state, rows, [&](auto p, double& cost, auto gradient) { return (*objective)(p, cost, gradient); });
    });
}

void descent_reference(benchmark::State& state) {
    const Rows rows(state.range(0));
    PlainNetwork plain(kInputs);
    std::vector<double> sigmas(rows.count);
    std::vector<double> slopes(rows.count);
    descend(state, rows, [&](std::span<const double> p, double& cost, std::span<double> gradient) {
        for (std::size_t i = 0; i < rows.count; ++i)
            sigmas[i] = std::exp(std::clamp(plain.log_sigma(p.data(), rows.columns(), i), fields::kLowestLogSigma,
                                            fields::kHighestLogSigma));
        cost = reference::accuracy_reliability(rows.errors, sigmas, kBeta, {}, slopes).value;
        std::fill(gradient.begin(), gradient.end(), 0.0);
        if (!gradient.empty())
            for (std::size_t i = 0; i < rows.count; ++i)
                plain.add_gradient(p.data(), rows.columns(), i, slopes[i] * sigmas[i], gradient.data());
        return std::isfinite(cost);
    });
}

void whole_fit(benchmark::State& state) {
    const Rows rows(state.range(0));
    Archive archive;
    archive.errors = rows.errors;
    for (std::size_t k = 0; k < kInputs; ++k) {
        archive.input_names.push_back(rows.data.names[k]);
        archive.inputs.emplace_back(rows.data.columns[k]);
    }
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) benchmark::DoNotOptimize(fit(archive).verification.crps);
    });
    count_rows(state, rows.count);
}

BENCHMARK(descent_reference)->ArgName("rows")->Arg(10'000)->UseRealTime();
BENCHMARK(descent)->ArgNames({"rows", "threads"})->ArgsProduct({{10'000}, thread_counts()})->UseRealTime();
BENCHMARK(whole_fit)->ArgNames({"rows", "threads"})->ArgsProduct({{1'000, 10'000}, thread_counts()})->UseRealTime();

}  // namespace

}  // namespace accrue::bench
