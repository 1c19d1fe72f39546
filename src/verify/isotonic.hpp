// Baselines that need only the rows: the distribution of all observations, and the one that increases with a
// prediction.
#pragma once

#include <span>
#include <vector>

namespace accrue::verification {

// CRPS of every row by the empirical distribution of all observations, that of the row among them. Weights may be
// empty.
std::vector<double> climatology_crps(std::span<const double> y, std::span<const double> weights);

// CRPS of every row by isotonic distributional regression of y on x, fitted on these rows: for every z the probability
// of y <= z is the nonincreasing function of x that fits best in squares. The integrals are exact. Rows of weight 0 are
// not part of the fit, and have 0. Takes O(n (log n)^2 + c) for c changes of blocks, n of them for smooth data.
std::vector<double> isotonic_crps(std::span<const double> x, std::span<const double> y,
                                  std::span<const double> weights);

}  // namespace accrue::verification
