// The checks that every score over rows makes.
#pragma once

#include <span>
#include <vector>

#include "core/error.hpp"

namespace accrue::scores {

inline void require_rows(std::size_t rows) {
    core::require(rows > 0, "a score needs at least one row; there is none");
}

inline void require_length(std::span<const double> values, std::size_t rows, const char* name) {
    core::require(values.size() == rows, "{} has {} values, but there are {} errors", name, values.size(), rows);
}

inline void require_optional_length(std::span<const double> values, std::size_t rows, const char* name) {
    if (!values.empty()) require_length(values, rows, name);
}

// Throws for the first sigma that is not positive; called when a loop has counted at least one.
[[noreturn]] void refuse_sigma(std::span<const double> sigmas);

// The sum of the weights, or the number of rows without weights; throws when a weight is negative or the sum is not
// positive and finite. `parts` is room that the sum may use (core::sum_blocks).
double total_weight(std::size_t rows, std::span<const double> weights, std::vector<double>& parts);
double total_weight(std::size_t rows, std::span<const double> weights);

}  // namespace accrue::scores
