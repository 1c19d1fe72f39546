// Vectorised sorting, with the instruction set chosen at run time.
#pragma once

#include <cstdint>
#include <span>

namespace accrue::core {

void sort_ascending(std::span<double> values);  // no NaN
void sort_ascending(std::span<std::uint64_t> values);

}  // namespace accrue::core
