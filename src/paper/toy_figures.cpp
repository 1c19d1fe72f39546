// Figures 3 to 6: the sets G, Y and W with Gaussian-process means, and sigma estimated on them.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "accrue/fit.hpp"
#include "accrue/generate.hpp"
#include "core/random.hpp"
#include "fit/cross_fit.hpp"
#include "generate/generators.hpp"
#include "paper/items.hpp"
#include "paper/rows.hpp"

namespace accrue::paper {

namespace {

constexpr std::size_t kRows = 100;
constexpr std::size_t kGrid = 101;
constexpr std::size_t kPapersRuns = 100;
constexpr double kSecondsOfRun = 0.3;  // or so
constexpr std::size_t kFolds = 5;

std::vector<double> grid_of(double width) {
    std::vector<double> grid(kGrid);
    for (std::size_t k = 0; k < kGrid; ++k) grid[k] = width * static_cast<double>(k) / static_cast<double>(kGrid - 1);
    return grid;
}

struct Toy {
    std::vector<double> x, f, sigma, y;
    Toy(const std::string& set, std::uint64_t seed) {
        GeneratedData data = generate(set, kRows, seed);
        x = std::move(data.columns[0]);
        f = std::move(data.columns[1]);
        sigma = std::move(data.columns[2]);
        y = std::move(data.columns[3]);
    }
};

// A Gaussian-process mean of the set: at its own rows, at rows that it never saw, and on a grid.
struct ProcessMean {
    std::vector<double> own, held_out, grid;

    ProcessMean(const Toy& toy, const std::vector<double>& at, std::uint64_t seed) {
        const Standard x_scale(toy.x);
        const Standard y_scale(toy.y);
        ExperimentRows rows{1, {}, {}};
        for (const double value : toy.x) rows.x.push_back(x_scale(value));
        for (const double value : toy.y) rows.y.push_back(y_scale(value));
        fitting::Folds folds(kRows);
        for (std::size_t i = 0; i < kRows; ++i) folds[i] = i % kFolds;
        core::Random(seed, 7).shuffle(std::span(folds));
        const fitting::CrossFit fitted =
            fitting::cross_fit(fields::mean_kind("gp"), {rows.columns(), rows.y, {}}, std::span(&folds, 1), seed);
        const auto back = [&](std::vector<double> values) {
            for (double& value : values) value = y_scale.back(value);
            return values;
        };
        held_out = back(fitted.held_out);
        own = back(fields::average_of_all(fitted.members, rows.columns(), kRows));
        std::vector<double> places;
        for (const double value : at) places.push_back(x_scale(value));
        grid = back(fields::average_of_all(fitted.members, {places.data(), places.size(), 1}, places.size()));
    }
};

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
    std::vector<double> result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
    return result;
}

// The estimated sigma on the grid.
std::vector<double> estimate(const Toy& toy, const std::vector<double>& mean, const std::string& form,
                             const std::string& recipe, const std::vector<double>& grid, std::uint64_t seed) {
    const std::vector<double> errors = difference(toy.y, mean);
    Archive archive;
    archive.input_names = {"x"};
    archive.inputs = {toy.x};
    archive.errors = errors;
    FitOptions options;
    options.form = form;
    options.recipe = recipe;
    options.recalibrate = "none";
    options.seed = seed;
    const Model model = fit(archive, options).model;
    const std::vector<std::span<const double>> inputs = {grid};
    return model.forecast(inputs).sigma;
}

struct Variant {
    const char* id;
    const char* mean;    // exact, held out or own
    const char* recipe;  // default or paper
    const char* title;
};
constexpr Variant kVariants[] = {
    {"exact", "exact", "default", "default recipe, exact mean"},
    {"held-out", "held out", "default", "default recipe, Gaussian-process mean, errors of held-out rows"},
    {"paper", "own", "paper", "the paper's recipe, Gaussian-process mean, errors on its own rows"},
};

Json toy_run(const std::string& set, std::uint64_t seed) {
    const Toy toy(set, seed);
    const std::vector<double> grid = grid_of(generators::curve(set).width);
    const ProcessMean process(toy, grid, seed);
    Json result;
    for (const Variant& variant : kVariants)
        for (const char* form : {"network", "polynomial"}) {
            const std::string mean = variant.mean;
            const std::vector<double>& mu = mean == "exact" ? toy.f : mean == "own" ? process.own : process.held_out;
            result[fmt::format("{}-{}", variant.id, form)] =
                rounded(estimate(toy, mu, form, variant.recipe, grid, seed));
        }
    return result;
}

struct Summary {
    std::vector<double> mean, sd;
    double distance = 0;  // root mean square of mean - truth
    double rmse = 0;      // of a single run, averaged over the runs
};

Summary summarise(const std::vector<std::vector<double>>& runs, const std::vector<double>& truth) {
    Summary s;
    const auto count = static_cast<double>(runs.size());
    for (std::size_t k = 0; k < kGrid; ++k) {
        double mean = 0;
        for (const auto& run : runs) mean += run[k] / count;
        double square = 0;
        for (const auto& run : runs) square += (run[k] - mean) * (run[k] - mean);
        s.mean.push_back(mean);
        s.sd.push_back(runs.size() > 1 ? std::sqrt(square / (count - 1)) : 0);
        s.distance += (mean - truth[k]) * (mean - truth[k]) / static_cast<double>(kGrid);
    }
    s.distance = std::sqrt(s.distance);
    for (const auto& run : runs) {
        double square = 0;
        for (std::size_t k = 0; k < kGrid; ++k) square += (run[k] - truth[k]) * (run[k] - truth[k]);
        s.rmse += std::sqrt(square / static_cast<double>(kGrid)) / count;
    }
    return s;
}

Section sigma_figure(Store& store, const Request& request, const std::string& id, const std::string& set) {
    const std::size_t runs = request.runs_or(kPapersRuns);
    const generators::Curve curve = generators::curve(set);
    const std::vector<double> grid = grid_of(curve.width);
    std::vector<double> truth;
    for (const double x : grid) truth.push_back(curve.at(x).sigma);
    std::vector<Json> results;
    for (std::size_t r = 1; r <= runs; ++r)
        results.push_back(
            store.run(id, fmt::format("run{:03}", r), kSecondsOfRun, [&] { return toy_run(set, store.seed(r)); }));

    Section section;
    section.id = id;
    section.title = fmt::format("Figure {}: true and estimated sigma of {}", id.back(), set);
    section.table = {{"recipe_and_mean", "form", "x", "true_sigma", "mean", "sd"}};
    section.numbers = {{"set", set}, {"rows", kRows}, {"runs", runs}, {"variants", Json::array()}};
    Json table = {{"title", "Distance from the truth"},
                  {"head", {"Recipe and mean", "Form", "Mean over runs", "Single runs"}},
                  {"rows", Json::array()},
                  {"note",
                   "Root mean square distance to the true sigma on a grid: of the mean over the runs (bias), and of "
                   "single runs, averaged (what a user gets)."}};
    for (const Variant& variant : kVariants)
        for (const std::string form : {"network", "polynomial"}) {
            const std::string key = fmt::format("{}-{}", variant.id, form);
            std::vector<std::vector<double>> curves;
            for (const Json& result : results) curves.push_back(result.at(key).get<std::vector<double>>());
            const Summary s = summarise(curves, truth);
            Json picture =
                chart(fmt::format("{}-{}", id, key), fmt::format("{}: {}", form, variant.title),
                      "Good: the mean of the runs follows the truth, and the bands are narrow.",
                      fmt::format("Sigma of {} estimated by a {} in {} runs. Root mean square distance of the "
                                  "mean from the truth: {:.3f}; of single runs: {:.3f}.",
                                  set, form, runs, s.distance, s.rmse),
                      axis("x", 0, curve.width), axis("sigma"));
            for (const double times : {2.0, 1.0}) {
                std::vector<double> low(kGrid);
                std::vector<double> high(kGrid);
                for (std::size_t k = 0; k < kGrid; ++k) {
                    low[k] = std::max(0.0, s.mean[k] - times * s.sd[k]);
                    high[k] = s.mean[k] + times * s.sd[k];
                }
                picture["layers"].push_back(band(times > 1 ? "two sd of the runs" : "one sd of the runs", "band",
                                                 times > 1 ? 0.2 : 0.3, grid, low, high));
            }
            picture["layers"].push_back(line("true sigma", "forecast-1", grid, truth));
            picture["layers"].push_back(line("mean of the runs", "observed", grid, s.mean));
            picture["y"]["include"] = {0};
            section.charts.push_back(std::move(picture));
            table["rows"].push_back(
                {variant.title, form, fmt::format("{:.4f}", s.distance), fmt::format("{:.4f}", s.rmse)});
            section.numbers["variants"].push_back({{"mean", variant.mean},
                                                   {"recipe", variant.recipe},
                                                   {"form", form},
                                                   {"distance_of_mean", s.distance},
                                                   {"rmse_of_runs", s.rmse}});
            for (std::size_t k = 0; k < kGrid; ++k) {
                section.table.add({variant.id, form, grid[k], truth[k], s.mean[k], s.sd[k]});
            }
        }
    section.tables.push_back(std::move(table));
    const auto distance = [&](std::size_t variant) {
        return section.numbers["variants"][variant]["distance_of_mean"].get<double>();
    };
    section.paper_says(set == "W" ? "The results are very accurate for the network, but not for the polynomial."
                                  : "The results are very accurate, for the network and for the polynomial.");
    section.we_find(
        fmt::format("Mean over {} runs, root mean square distance from the truth: with the default recipe and the "
                    "exact mean, network {:.3f} and polynomial {:.3f}; as in the paper {:.3f} and {:.3f}.",
                    runs, distance(0), distance(1), distance(4), distance(5)));
    return section;
}

}  // namespace

Runs figure3_runs(const Request&) {
    return {};
}
Runs figures456_runs(const Request& request) {
    const std::size_t runs = request.runs_or(kPapersRuns);
    return {runs, kSecondsOfRun * static_cast<double>(runs)};
}

Section figure3(Store& store, const Request&) {
    Section section;
    section.id = "figure3";
    section.title = "Figure 3: the data sets";
    section.paper_says(
        "100 points of G, Y and W with the true mean and that of a Gaussian process; sigma of 5D lies in "
        "[0.09, 0.99].");
    section.table = {{"set", "x", "f", "gp_mean"}};
    std::string found;
    for (const std::string set : {"G", "Y", "W"}) {
        const Toy toy(set, store.seed(1));
        const generators::Curve curve = generators::curve(set);
        const std::vector<double> grid = grid_of(curve.width);
        const ProcessMean process(toy, grid, store.seed(1));
        std::vector<double> truth;
        double square = 0;
        for (std::size_t k = 0; k < kGrid; ++k) {
            truth.push_back(curve.at(grid[k]).f);
            square += std::pow(process.grid[k] - truth[k], 2) / static_cast<double>(kGrid);
            section.table.add({set, grid[k], truth[k], process.grid[k]});
        }
        Json picture = chart(
            "figure3-" + set, set + ": 100 points and their mean", "Good: the Gaussian process follows the true mean.",
            fmt::format("Points of {}; the Gaussian process is {:.3f} from the true mean, root mean square.", set,
                        std::sqrt(square)),
            axis("x", 0, curve.width), axis("y"));
        picture["layers"] = {points("points", "band", toy.x, toy.y), line("true mean", "forecast-0", grid, truth),
                             line("Gaussian process", "forecast-1", grid, process.grid)};
        section.charts.push_back(std::move(picture));
        section.numbers[set] = {{"gp_rmse", std::sqrt(square)}};
        found += fmt::format("{} {:.3f}, ", set, std::sqrt(square));
    }
    const GeneratedData five = generate("5D", 100'000, store.seed(1));
    const std::vector<double>& sigma = five.columns[6];
    constexpr std::size_t kBars = 40;
    std::vector<double> counts(kBars, 0.0);
    for (const double s : sigma) counts[std::min(kBars - 1, static_cast<std::size_t>(s * kBars))] += 1;
    std::vector<double> from;
    std::vector<double> to;
    std::vector<double> middle;
    for (std::size_t b = 0; b < kBars; ++b) {
        counts[b] *= static_cast<double>(kBars) / static_cast<double>(sigma.size());
        from.push_back(static_cast<double>(b) / kBars);
        to.push_back(static_cast<double>(b + 1) / kBars);
        middle.push_back((from[b] + to[b]) / 2);
    }
    const auto [least, greatest] = std::minmax_element(sigma.begin(), sigma.end());
    Json picture = chart("figure3-5D", "5D: distribution of the true sigma", "Two peaks at the ends of its range.",
                         fmt::format("Density of the true sigma of 5D, between {:.2f} and {:.2f}.", *least, *greatest),
                         axis("true sigma", 0, 1), axis("density"));
    picture["layers"] = {{{"kind", "bars"},
                          {"name", "true sigma"},
                          {"colour", "forecast-0"},
                          {"at", rounded(middle)},
                          {"from", rounded(from)},
                          {"to", rounded(to)},
                          {"value", rounded(counts)}}};
    section.charts.push_back(std::move(picture));
    section.numbers["5D"] = {{"min_sigma", *least}, {"max_sigma", *greatest}};
    section.we_find(
        fmt::format("Distance of the Gaussian process from the true mean, root mean square: {}sigma of 5D lies in "
                    "[{:.3f}, {:.3f}]. Colours as in the caption, which the text contradicts.",
                    found, *least, *greatest));
    return section;
}

Section figure4(Store& store, const Request& request) {
    return sigma_figure(store, request, "figure4", "G");
}
Section figure5(Store& store, const Request& request) {
    return sigma_figure(store, request, "figure5", "Y");
}
Section figure6(Store& store, const Request& request) {
    return sigma_figure(store, request, "figure6", "W");
}

}  // namespace accrue::paper
