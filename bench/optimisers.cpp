// The optimiser of accrue (Ceres) beside those of libLBFGS and NLopt, on the cost of a network over the paper's data
// sets: the same starts, 20 vectors of history, the same number of evaluations. docs/decisions/0010-optimiser.md has
// what it shows.
//   bench_optimisers [starts]
#include <fmt/format.h>
#include <lbfgs.h>
#include <nlopt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "accrue/generate.hpp"
#include "fields/kinds.hpp"
#include "objective.hpp"
#include "optimise/minimise.hpp"

namespace {

constexpr int kEvaluations = 400;
constexpr int kHistory = 20;

// The cost, with the lowest so far after each evaluation.
struct Watched {
    accrue::fitting::Objective& cost;
    std::vector<double> lowest = {};

    double operator()(std::span<const double> x, std::span<double> gradient) {
        double value = 0;
        if (!cost(x, value, gradient)) value = std::numeric_limits<double>::infinity();
        if (lowest.size() < kEvaluations) lowest.push_back(lowest.empty() ? value : std::min(lowest.back(), value));
        return value;
    }
    bool is_done() const { return lowest.size() >= kEvaluations; }
};

void with_ceres(Watched& watched, std::vector<double> start) {
    accrue::optimise::Options options;
    options.function_tolerance = 0;
    options.gradient_tolerance = 0;
    options.max_iterations = kEvaluations;
    accrue::optimise::minimise(
        [&](std::span<const double> x, double& value, std::span<double> gradient) {
            value = watched(x, gradient);
            return std::isfinite(value);
        },
        std::move(start),
        [&](int, std::span<const double>, double) {
            return watched.is_done() ? accrue::optimise::Watch::stop : accrue::optimise::Watch::go_on;
        },
        options);
}

void with_liblbfgs(Watched& watched, std::vector<double> start) {
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = kHistory;
    parameters.epsilon = 0;
    const auto n = static_cast<int>(start.size());
    double* x = lbfgs_malloc(n);
    std::copy(start.begin(), start.end(), x);
    double value = 0;
    lbfgs(
        n, x, &value,
        [](void* own, const double* at, double* gradient, int size, double) {
            const auto count = static_cast<std::size_t>(size);
            return (*static_cast<Watched*>(own))({at, count}, {gradient, count});
        },
        [](void* own, const double*, const double*, double, double, double, double, int, int, int) {
            return static_cast<Watched*>(own)->is_done() ? 1 : 0;
        },
        &watched, &parameters);
    lbfgs_free(x);
}

void with_nlopt(Watched& watched, std::vector<double> start) {
    nlopt_opt optimiser = nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(start.size()));
    nlopt_set_vector_storage(optimiser, kHistory);
    nlopt_set_maxeval(optimiser, kEvaluations);
    nlopt_set_min_objective(
        optimiser,
        [](unsigned size, const double* x, double* gradient, void* own) {
            return (*static_cast<Watched*>(own))({x, size}, {gradient, gradient == nullptr ? 0 : size});
        },
        &watched);
    double value = 0;
    nlopt_optimize(optimiser, start.data(), &value);
    nlopt_destroy(optimiser);
}

struct Way {
    const char* name;
    void (*run)(Watched&, std::vector<double>);
};
constexpr Way kWays[] = {{"Ceres", with_ceres}, {"libLBFGS", with_liblbfgs}, {"NLopt", with_nlopt}};

void standardise(std::vector<double>& values, bool centred) {
    double mean = 0;
    for (const double v : values) mean += v / static_cast<double>(values.size());
    if (!centred) mean = 0;
    double square = 0;
    for (const double v : values) square += (v - mean) * (v - mean) / static_cast<double>(values.size());
    for (double& v : values) v = (v - mean) / std::sqrt(square);
}

void compare(const char* name, std::size_t rows, std::size_t starts) {
    accrue::GeneratedData data = accrue::generate(name, rows, 1);
    const std::size_t inputs = data.columns.size() - 3;
    std::vector<double> errors(rows);
    for (std::size_t i = 0; i < rows; ++i) errors[i] = data.columns[inputs + 2][i] - data.columns[inputs][i];
    standardise(errors, false);
    std::vector<double> x;
    std::vector<accrue::fields::Range> ranges;
    for (std::size_t k = 0; k < inputs; ++k) {
        standardise(data.columns[k], true);
        x.insert(x.end(), data.columns[k].begin(), data.columns[k].end());
        const auto [low, high] = std::minmax_element(data.columns[k].begin(), data.columns[k].end());
        ranges.push_back({*low, *high});
    }
    const auto form = accrue::fields::kind("network").make(ranges, 1, 0);
    struct Total {
        double at_50 = 0, at_100 = 0, at_end = 0, used = 0, seconds = 0;
    };
    std::vector<Total> totals(std::size(kWays));
    for (std::size_t s = 0; s < starts; ++s) {
        accrue::core::Random random(s + 1);
        const std::vector<double> start = form->start(random, std::vector<double>{0});
        for (std::size_t w = 0; w < std::size(kWays); ++w) {
            const auto cost = accrue::bench::make_objective(*form, {x.data(), rows, inputs}, errors, {},
                                                            accrue::fitting::Objective::Precision::exact);
            Watched watched{*cost};
            const auto begin = std::chrono::steady_clock::now();
            kWays[w].run(watched, start);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
            const auto after = [&](std::size_t evaluations) {
                return watched.lowest[std::min(evaluations, watched.lowest.size()) - 1] / static_cast<double>(starts);
            };
            totals[w].at_50 += after(50);
            totals[w].at_100 += after(100);
            totals[w].at_end += after(kEvaluations);
            totals[w].used += static_cast<double>(watched.lowest.size()) / static_cast<double>(starts);
            totals[w].seconds += taken.count();
        }
    }
    for (std::size_t w = 0; w < std::size(kWays); ++w)
        fmt::print("{:<4}{:>7}  {:<10}{:>10.5f}{:>10.5f}{:>10.5f}{:>8.0f}{:>10.2f}\n", name, rows, kWays[w].name,
                   totals[w].at_50, totals[w].at_100, totals[w].at_end, totals[w].used, totals[w].seconds);
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t starts = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10;
    fmt::print("Mean over {} starts of the lowest cost after so many evaluations\n", starts);
    fmt::print("{:<13}{:<10}{:>10}{:>10}{:>10}{:>8}{:>10}\n", "data, rows", "", "50", "100", kEvaluations, "used",
               "seconds");
    for (const char* name : {"G", "Y", "W"}) compare(name, 100, starts);
    for (const char* name : {"G", "Y", "W"}) compare(name, 1000, starts);
    compare("5D", 2000, starts);
    compare("5D", 10000, std::max<std::size_t>(1, starts / 3));
}
