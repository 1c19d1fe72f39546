// Figure 7: predicted against true sigma in five dimensions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "accrue/fit.hpp"
#include "accrue/generate.hpp"
#include "paper/items.hpp"

namespace accrue::paper {

namespace {

constexpr std::size_t kTraining = 10'000;
constexpr std::size_t kPoints = 10'000'000;
constexpr std::size_t kSlab = 500'000;  // points at a time
constexpr std::size_t kCells = 50;
constexpr double kGreatest = 1.1;
constexpr double kSecondsOfRun = 6;  // or so

Model fit_five(std::uint64_t seed, const std::string& recipe) {
    const GeneratedData data = generate("5D", kTraining, seed);
    Archive archive;
    std::vector<double> errors(kTraining);
    for (std::size_t i = 0; i < kTraining; ++i) errors[i] = data.columns[7][i] - data.columns[5][i];
    for (std::size_t k = 0; k < 5; ++k) {
        archive.input_names.push_back(data.names[k]);
        archive.inputs.emplace_back(data.columns[k]);
    }
    archive.errors = errors;
    FitOptions options;
    options.recipe = recipe;
    options.recalibrate = "none";
    options.seed = seed;
    return fit(archive, options).model;
}

// Counts of points by true and predicted sigma, and the correlation of the two.
Json density(const Model& model, std::uint64_t seed) {
    std::vector<double> counts(kCells * kCells, 0.0);
    double n = 0, sum_p = 0, sum_t = 0, sum_pp = 0, sum_tt = 0, sum_pt = 0, square = 0;
    for (std::size_t slab = 0; slab < kPoints / kSlab; ++slab) {
        const GeneratedData data = generate("5D", kSlab, seed + slab);
        std::vector<std::span<const double>> inputs;
        for (std::size_t k = 0; k < 5; ++k) inputs.emplace_back(data.columns[k]);
        const std::vector<double> predicted = model.forecast(inputs).sigma;
        const std::vector<double>& truth = data.columns[6];
        for (std::size_t i = 0; i < kSlab; ++i) {
            const double p = predicted[i];
            const double t = truth[i];
            n += 1;
            sum_p += p;
            sum_t += t;
            sum_pp += p * p;
            sum_tt += t * t;
            sum_pt += p * t;
            square += (p - t) * (p - t);
            const auto cell = [](double sigma) {
                return std::min(kCells - 1, static_cast<std::size_t>(sigma / kGreatest * kCells));
            };
            counts[cell(p) * kCells + cell(t)] += 1;
        }
    }
    const double covariance = sum_pt / n - sum_p / n * (sum_t / n);
    const double variances = (sum_pp / n - std::pow(sum_p / n, 2)) * (sum_tt / n - std::pow(sum_t / n, 2));
    return {{"counts", counts}, {"correlation", covariance / std::sqrt(variances)}, {"rmse", std::sqrt(square / n)}};
}

}  // namespace

Runs figure7_runs(const Request&) {
    return {2, 2 * kSecondsOfRun};
}

Section figure7(Store& store, const Request&) {
    Section section;
    section.id = "figure7";
    section.title = "Figure 7: predicted and true sigma in five dimensions";
    section.paper_says(
        "Values are close to the line of perfect prediction: an excellent result for a very challenging "
        "task, given the sparsity of the training set of 10,000 points.");
    section.table = {{"recipe", "predicted_sigma", "true_sigma", "points", "share_of_the_column_s_largest"}};
    std::string found;
    for (const std::string recipe : {"default", "paper"}) {
        const Json result = store.run("figure7", recipe, kSecondsOfRun,
                                      [&] { return density(fit_five(store.seed(1), recipe), store.seed(1'000'000)); });
        const auto counts = result.at("counts").get<std::vector<double>>();
        std::vector<double> at;
        std::vector<double> across;
        std::vector<double> value;
        const double cell = kGreatest / kCells;
        for (std::size_t p = 0; p < kCells; ++p) {
            const double most = *std::max_element(&counts[p * kCells], &counts[p * kCells] + kCells);
            // A column of a handful of points says nothing.
            constexpr double kMinPoints = 100;
            if (most < kMinPoints) continue;
            for (std::size_t t = 0; t < kCells; ++t) {
                const double own = counts[p * kCells + t];
                if (own == 0) continue;
                at.push_back((static_cast<double>(p) + 0.5) * cell);
                across.push_back((static_cast<double>(t) + 0.5) * cell);
                value.push_back(own / most);
                section.table.add({recipe, at.back(), across.back(), own, value.back()});
            }
        }
        const double correlation = result.at("correlation").get<double>();
        const double rmse = result.at("rmse").get<double>();
        Json picture =
            chart("figure7-" + recipe, fmt::format("5D, {} recipe", recipe == "paper" ? "the paper's" : "default"),
                  "Good: the strong cells lie on the diagonal.",
                  fmt::format("Density of the true sigma for each predicted one, 10,000,000 points; their "
                              "correlation is {:.4f}.",
                              correlation),
                  axis("predicted sigma", 0, kGreatest), axis("true sigma", 0, kGreatest));
        picture["square"] = true;
        picture["layers"] = {{{"kind", "heat"},
                              {"name", "share of the column's largest"},
                              {"colour", "forecast-0"},
                              {"at", rounded(at)},
                              {"across", rounded(across)},
                              {"value", rounded(value)},
                              {"size", {cell, cell}}},
                             {{"kind", "reference"},
                              {"name", "perfect prediction"},
                              {"colour", "forecast-1"},
                              {"through", {{0, 0}, {1, 1}}}}};
        section.charts.push_back(std::move(picture));
        section.numbers[recipe] = {{"correlation", correlation}, {"rmse", rmse}};
        found +=
            fmt::format("{} recipe: correlation {:.4f}, root mean square distance {:.4f}. ", recipe, correlation, rmse);
    }
    section.we_find(fmt::format("Trained on {} rows, tried on {} points. {}", kTraining, kPoints, found));
    return section;
}

}  // namespace accrue::paper
