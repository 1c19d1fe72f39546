// The families of the library, one file each, and what they share.
#pragma once

#include "accrue/family.hpp"

namespace accrue::families {

SharedFamily logistic();
SharedFamily student_t();
SharedFamily two_piece_normal();
SharedFamily sinh_arcsinh();

// What a fit tries beside the normal one where rows are many enough to tell: its skew and tails are learned.
inline SharedFamily flexible() {
    return sinh_arcsinh();
}

// A standard deviation is a unit that rows are counted in, and may not be 0, as that of a forecast far beyond a bound
// is, whose probability sits there but for what no double holds.
inline constexpr double kLeastSd = 1e-12;

// Throws InputError unless the family has as many further parameters.
void require_further(const Family& family, std::size_t values);

}  // namespace accrue::families
