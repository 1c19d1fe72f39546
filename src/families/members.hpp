// The families of the library, one file each, and what they share.
#pragma once

#include "accrue/family.hpp"

namespace accrue::families {

SharedFamily logistic();
SharedFamily student_t();
SharedFamily two_piece_normal();
SharedFamily sinh_arcsinh();

// Throws InputError unless the family has as many further parameters.
void require_further(const Family& family, std::size_t values);

}  // namespace accrue::families
