// Memory that fit() takes for every row beyond its archive, beside fit_bytes_per_row(), which promises that it is no
// more: the peaks of two processes, one with twice the rows of the other, less the bytes of the archive. One thread, a
// start in each of two folds, a few iterations; what is learned is not the point here.
//   bench_fit_memory [rows]
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "accrue/fit.hpp"
#include "accrue/threads.hpp"

namespace {

struct Case {
    std::size_t inputs;
    const char* mean;
    bool weighted;
};

accrue::FitOptions options_of(const Case& asked) {
    accrue::FitOptions options;
    options.mean = asked.mean;
    options.folds = 2;
    options.starts = 1;
    options.max_iterations = 3;
    return options;
}

std::size_t archive_bytes_per_row(const Case& asked) {
    return (asked.inputs + 1 + (asked.weighted ? 1 : 0)) * sizeof(double);
}

void fit_rows(const Case& asked, std::size_t rows) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::normal_distribution<double> normal;
    std::vector<std::vector<double>> inputs(asked.inputs, std::vector<double>(rows));
    std::vector<double> values(rows);
    const std::vector<double> weights(asked.weighted ? rows : 0, 2.0);
    for (std::size_t i = 0; i < rows; ++i) {
        for (auto& column : inputs) column[i] = uniform(random);
        values[i] = std::exp(inputs[0][i]) * normal(random);
    }
    accrue::Archive archive;
    for (const auto& column : inputs) {
        archive.input_names.push_back(fmt::format("x{}", archive.inputs.size() + 1));
        archive.inputs.emplace_back(column);
    }
    (std::string_view(asked.mean) == "none" ? archive.errors : archive.observation) = values;
    archive.weights = weights;
    accrue::with_threads(1, [&] { accrue::fit(archive, options_of(asked)); });
}

// Peak of a process that fits so many rows, in bytes.
double peak(const Case& asked, std::size_t rows) {
    const pid_t child = fork();
    if (child == 0) {
        fit_rows(asked, rows);
        _exit(0);
    }
    int status = 0;
    rusage used{};
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        fmt::print(stderr, "a fit of {} rows failed\n", rows);
        std::exit(1);
    }
    return 1024.0 * static_cast<double>(used.ru_maxrss);
}

}  // namespace

int main(int count, char** words) {
    const std::size_t rows = count > 1 ? std::strtoull(words[1], nullptr, 10) : 200000;
    fmt::print("{:>6}  {:>8}  {:>8}  {:>14}  {:>8}\n", "inputs", "mean", "weights", "bytes per row", "promised");
    std::fflush(stdout);  // before the first fork, which would print it again
    bool kept = true;
    for (const Case& asked : {Case{1, "none", false}, Case{5, "none", false}, Case{5, "none", true},
                              Case{1, "network", false}, Case{5, "network", false}}) {
        const double each = (peak(asked, 2 * rows) - peak(asked, rows)) / static_cast<double>(rows) -
                            static_cast<double>(archive_bytes_per_row(asked));
        const std::size_t promised = accrue::fit_bytes_per_row(asked.inputs, options_of(asked));
        kept = kept && each <= static_cast<double>(promised);
        fmt::print("{:>6}  {:>8}  {:>8}  {:>14.0f}  {:>8}\n", asked.inputs, asked.mean, asked.weighted ? "yes" : "no",
                   each, promised);
        std::fflush(stdout);
    }
    return kept ? 0 : 1;
}
