// Rows to learn a mean from.
#pragma once

#include <functional>
#include <span>

#include "core/columns.hpp"

namespace accrue::fields {

using core::Columns;

// A target for every row of x; weights (none negative) may be empty.
struct Targets {
    Columns x;
    std::span<const double> y;
    std::span<const double> weights;

    double weight(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }
};

// After every step of a fit: its number and its error. False stops the fit, which then returns the best so far.
using Report = std::function<bool(int iteration, double error)>;

}  // namespace accrue::fields
