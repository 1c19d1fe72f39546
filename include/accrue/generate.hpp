// Data sets that accrue makes itself: the paper's G, Y, W and 5D, and a small real forecasting problem.
#pragma once

#include <cstddef>
#include <cstdint>
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

// `rows` rows of the data set `name`; the same seed gives the same numbers on every platform and for any number of
// threads. Throws InputError for an unknown name (the message lists the known ones) or zero rows.
GeneratedData generate(const std::string& name, std::size_t rows, std::uint64_t seed);

}  // namespace accrue
