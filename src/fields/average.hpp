// Several fitted fields as one: the average of their values.
#pragma once

#include <limits>

#include "fields/field.hpp"

namespace accrue::fields {

struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};
inline constexpr Bounds kLogSigmaBounds{kLowestLogSigma, kHighestLogSigma};

// out[p*stride + i - begin] = the weighted mean over members of output p, each bounded. At least one member, all with
// one bound for each output.
void average(std::span<const Fitted> members, std::span<const Bounds> bounds, const Columns& x, std::size_t begin,
             std::size_t end, double* out, std::size_t stride);

// Of fields with one output, for every row, in parallel.
std::vector<double> average_of_all(std::span<const Fitted> members, const Columns& x, std::size_t rows);

}  // namespace accrue::fields
