// Rows of several inputs, as forms of sigma and of the mean take them.
#pragma once

#include <cstddef>

namespace accrue::core {

// Standardised inputs, column after column: value(input, row) = data[input*stride + row].
struct Columns {
    const double* data = nullptr;
    std::size_t stride = 0;
    std::size_t inputs = 0;
};

}  // namespace accrue::core
