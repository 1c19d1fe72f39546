// How well sigma(x) is recovered on the paper's toy data, exact mean: root mean square distance between fitted and true
// sigma on a grid, averaged over runs (seeds 1..runs). Also calibration on fresh rows of 5D.
//   bench_toy_sigma [runs] [runs of 5D] [recipe...]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "accrue/fit.hpp"
#include "accrue/generate.hpp"

namespace {

struct Set {
    const char* name;
    std::size_t rows;
};

std::vector<double> errors_of(const accrue::GeneratedData& data) {
    const std::size_t inputs = data.columns.size() - 3;
    std::vector<double> errors(data.columns[0].size());
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = data.columns[inputs + 2][i] - data.columns[inputs][i];
    return errors;
}

struct Figures {
    double rmse, calibration, floor, sd_z;
};

Figures run(const char* name, std::size_t rows, std::uint64_t seed, const accrue::FitOptions& base) {
    const accrue::GeneratedData data = accrue::generate(name, rows, seed);
    const std::size_t inputs = data.columns.size() - 3;
    const std::vector<double> errors = errors_of(data);
    accrue::Archive archive;
    archive.errors = errors;
    for (std::size_t k = 0; k < inputs; ++k) {
        archive.input_names.push_back(data.names[k]);
        archive.inputs.emplace_back(data.columns[k]);
    }
    accrue::FitOptions options = base;
    options.seed = seed;
    const accrue::FitResult result = accrue::fit(archive, options);
    // Fresh rows: a fine grid in one dimension, as many random points as needed in five.
    accrue::GeneratedData fresh = accrue::generate(name, 10'000, 1'000'000 + seed);
    std::vector<std::span<const double>> columns;
    for (std::size_t k = 0; k < inputs; ++k) columns.emplace_back(fresh.columns[k]);
    const accrue::Forecast forecast = result.model.forecast(columns);
    const std::vector<double>& truth = fresh.columns[inputs + 1];
    double square = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
        square += (forecast.sigma[i] - truth[i]) * (forecast.sigma[i] - truth[i]);
    const accrue::Verification v = accrue::verify(errors_of(fresh), forecast.sigma);
    return {std::sqrt(square / static_cast<double>(truth.size())), v.calibration_error, v.calibration_floor, v.sd_z};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t runs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100;
    const std::size_t runs_5d = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10;
    struct Case {
        const char* label;
        const char* recipe;
        const char* form;
    };
    fmt::print("{:<22}{:<5}{:>6}{:>10}{:>12}{:>12}{:>8}\n", "recipe", "set", "runs", "RMSE", "cal.err/floor", "sd of z",
               "");
    for (const Case& c :
         {Case{"default network", "default", "network"}, Case{"paper network", "paper", "network"},
          Case{"default polynomial", "default", "polynomial"}, Case{"paper polynomial", "paper", "polynomial"}})
        for (const Set& set : {Set{"G", 100}, Set{"Y", 100}, Set{"W", 100}, Set{"5D", 10'000}}) {
            const bool five = set.rows > 100;
            const std::size_t count = five ? runs_5d : runs;
            if (count == 0 || (five && std::string(c.form) == "polynomial")) continue;
            accrue::FitOptions options;
            options.recipe = c.recipe;
            options.form = c.form;
            options.recalibrate = "none";
            double sum = 0;
            std::vector<double> calibration;
            std::vector<double> sd;
            for (std::size_t seed = 1; seed <= count; ++seed) {
                const Figures figures = run(set.name, set.rows, seed, options);
                sum += figures.rmse;
                calibration.push_back(figures.calibration / figures.floor);
                sd.push_back(figures.sd_z);
            }
            fmt::print("{:<22}{:<5}{:>6}{:>10.4f}{:>12.2f}{:>12.3f}\n", c.label, set.name, count,
                       sum / static_cast<double>(count), median(calibration), median(sd));
            std::fflush(stdout);
        }
}
