// Which rows are held out together.
#pragma once

#include <cstdint>
#include <vector>

#include "accrue/fit.hpp"

namespace accrue::fitting {

// The groups that folds never split: the archive's fold groups, else its groups where there are no times. May be empty.
ColumnGrouping fold_groups(const Archive& archive);

// The fold (0..folds-1) of every row. At random; whole groups when there are some that folds never split; contiguous
// blocks of time when there are times, which split neither a time stamp nor such a group. Sizes are as equal as that
// allows. Throws InputError when the rows do not allow so many folds.
std::vector<std::size_t> make_folds(const Archive& archive, std::size_t folds, std::uint64_t seed);

// The rows that a share of the archive sets apart for calibration: drawn at random; whole groups, drawn at random,
// where folds keep some whole; the latest block of time where there are times, which splits neither a time stamp nor
// such a group. As many as that allows. Throws InputError where what is left cannot make folds of whole groups.
std::vector<bool> calibration_rows(const Archive& archive, double share, std::size_t folds, std::uint64_t seed);

}  // namespace accrue::fitting
