// New rows to sigma, from memory to memory: a fitted model of 15 networks beside a plain loop over its file's content.
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "accrue/fit.hpp"
#include "accrue/generate.hpp"
#include "accrue/threads.hpp"
#include "fields/kinds.hpp"
#include "plain_network.hpp"
#include "suite.hpp"

namespace accrue::bench {

namespace {

constexpr std::size_t kInputs = 5;

struct Inputs {
    GeneratedData data;
    std::vector<std::span<const double>> columns;
    explicit Inputs(std::size_t rows, std::uint64_t seed) : data(generate("5D", rows, seed)) {
        for (std::size_t k = 0; k < kInputs; ++k) columns.emplace_back(data.columns[k]);
    }
};

// Few rows, of which every start is kept.
const Model& model() {
    static const Model fitted = [] {
        const Inputs inputs(500, 1);
        Archive archive;
        archive.input_names.assign(inputs.data.names.begin(), inputs.data.names.begin() + kInputs);
        archive.inputs = inputs.columns;
        archive.errors = inputs.data.columns.back();
        return fit(archive).model;
    }();
    return fitted;
}

RowCost cost() {
    const auto members = static_cast<double>(model().json().at("sigma").at("members").size());
    return {(kInputs + 1) * sizeof(double), members * PlainNetwork::forward_flops(kInputs)};
}

void predict(benchmark::State& state) {
    const Inputs inputs(static_cast<std::size_t>(state.range(0)), 2);
    with_threads(static_cast<int>(state.range(1)), [&] {
        for (auto _ : state) benchmark::DoNotOptimize(model().forecast(inputs.columns).sigma.data());
    });
    count_rows(state, inputs.columns[0].size(), cost());
}

void predict_reference(benchmark::State& state) {
    const Inputs inputs(static_cast<std::size_t>(state.range(0)), 2);
    const std::size_t rows = inputs.columns[0].size();
    const nlohmann::ordered_json content = model().json();
    const double error_scale = content.at("error_scale");
    std::vector<std::vector<double>> members;
    for (const auto& member : content.at("sigma").at("members")) members.push_back(member.at("parameters"));
    PlainNetwork plain(kInputs);
    std::vector<double> sigma(rows);
    for (auto _ : state) {
        std::vector<double> x(kInputs * rows);
        for (std::size_t k = 0; k < kInputs; ++k) {
            const double centre = content.at("inputs")[k].at("centre");
            const double scale = content.at("inputs")[k].at("scale");
            for (std::size_t i = 0; i < rows; ++i) x[k * rows + i] = (inputs.columns[k][i] - centre) / scale;
        }
        for (std::size_t i = 0; i < rows; ++i) {
            double sum = 0;
            for (const auto& parameters : members)
                sum += std::clamp(plain.log_sigma(parameters.data(), {x.data(), rows, kInputs}, i),
                                  fields::kLowestLogSigma, fields::kHighestLogSigma);
            sigma[i] = error_scale * std::exp(sum / static_cast<double>(members.size()));
        }
        benchmark::DoNotOptimize(sigma.data());
    }
    must_agree(state, sigma, model().forecast(inputs.columns).sigma);
    count_rows(state, rows, cost());
}

BENCHMARK(predict_reference)->ArgName("rows")->Arg(100'000)->UseRealTime();
BENCHMARK(predict)->ArgNames({"rows", "threads"})->ArgsProduct({{100'000}, thread_counts()})->UseRealTime();

}  // namespace

}  // namespace accrue::bench
