// Rows put together by what they share.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace accrue {

// Groups of rows: a code for every row, and a label for every code.
struct Grouping {
    std::span<const std::uint32_t> codes;
    std::span<const std::string> labels;
};

// Rows put together by the values of the column of this name.
struct ColumnGrouping {
    std::string name;
    Grouping rows;
};

}  // namespace accrue
