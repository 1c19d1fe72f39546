// What the suites share: the counters that bench/run.py reads, thread counts, and files that vanish.
#pragma once

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace accrue::bench {

// Work on one row: the bytes that have to come from memory or go there, and the operations, where they can be counted.
// An implementation may move and do more; the shares of the machine's ceilings are of what has to be.
struct RowCost {
    double bytes = 0;
    double flops = 0;
};

// `passes` is how often an iteration goes over the rows.
inline void count_rows(benchmark::State& state, std::size_t rows, RowCost cost = {}, std::size_t passes = 1) {
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows * passes));
    state.counters["rows"] = static_cast<double>(rows);
    state.counters["bytes_per_row"] = cost.bytes;
    state.counters["flops_per_row"] = cost.flops;
}

// A reference that computes something else is none: ends the benchmark with an error unless its numbers and the
// library's agree to `tolerance` of the largest.
inline void must_agree(benchmark::State& state, std::span<const double> plain, std::span<const double> library,
                       double tolerance = 1e-9) {
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < plain.size(); ++i) {
        largest = std::max(largest, std::abs(plain[i]));
        difference = std::max(difference, std::abs(plain[i] - library[i]));
    }
    if (!(difference <= tolerance * largest)) state.SkipWithError("the reference and the library do not agree");
}

// One thread, and all that the machine has.
inline std::vector<std::int64_t> thread_counts() {
    const auto all = static_cast<std::int64_t>(std::thread::hardware_concurrency());
    return all > 1 ? std::vector<std::int64_t>{1, all} : std::vector<std::int64_t>{1};
}

// A name in the folder for temporary files; what is written there is removed at the end of the program.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& ending)
        : path_(std::filesystem::temp_directory_path() / ("accrue_bench_" + std::to_string(getpid()) + ending)) {}
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

}  // namespace accrue::bench
