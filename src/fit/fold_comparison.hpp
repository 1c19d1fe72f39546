// Are folds by row too kind?
#pragma once

#include "accrue/fit.hpp"
#include "fit/prepare.hpp"

namespace accrue::fitting {

// Of stretches of neighbouring rows, in the order of the archive: N(mean, sd^2) of the errors of the nearest rows, once
// held out at random and once a stretch at a time. None where rows are few or there are no inputs.
std::optional<FoldComparison> compare_folds(const Arranged& arranged, std::size_t inputs, std::uint64_t seed);

}  // namespace accrue::fitting
