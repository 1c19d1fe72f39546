// Data sets that accrue makes itself: the paper's G, Y, W and 5D, and a small real forecasting problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace accrue {

// Columns of equal length with their names.
struct GeneratedData {
    std::vector<std::string> names;
    std::vector<std::vector<double>> columns;
};

// The names that `generate` takes.
std::vector<std::string> generator_names();

// `rows` rows of the data set `name`; the first rows of a longer set are those of a shorter one. The same seed gives
// the same random numbers on every platform and for any number of threads: `lorenz` is the same to the last bit, and
// the paper's sets to the last place or so of the machine's sin, cos and exp.
//   G, Y, W: x, f, true_sigma, y        5D: x1 .. x5, f, true_sigma, y        with y = f + true_sigma N(0,1)
//   lorenz:  start_time, lead_time, site, start_left2, start_left1, start, start_right1, start_right2, prediction,
//            observation; sorted by start_time
// Throws InputError for an unknown name (the message lists the known ones) or zero rows, MachineError without memory.
// With `change_at` another version of the model that lorenz forecasts with takes over at that share of the rows.
GeneratedData generate(const std::string& name, std::size_t rows, std::uint64_t seed,
                       std::optional<double> change_at = {});

}  // namespace accrue
