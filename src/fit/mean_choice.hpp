// A mean that is left to the fit: whether location and scale are learned together, or one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "accrue/fit.hpp"

namespace accrue::fitting {

// The means to try, in the order of their simplicity: a constant, from which the location is learned with the scale,
// and then those of which the inputs tell the mean first, as far as they take these rows and inputs.
std::vector<std::string> means_to_try(const Archive& archive, const FitOptions& options);

// Fits with each of them; the first that no later one beats clearly, by the CRPS of rows out of fold.
FitResult fit_with_chosen_mean(const Archive& archive, const FitOptions& options,
                               const std::function<FitResult(const FitOptions&)>& fitted);

}  // namespace accrue::fitting
