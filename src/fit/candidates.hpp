// The default recipe: folds and starts, and the choice between candidates by what they say of rows that they never saw.
#pragma once

#include "fit/fitting.hpp"

namespace accrue::fitting {

// A candidate replaces a simpler one where the whole interval of this level of their paired difference is below zero.
inline constexpr double kClearly = 0.95;

// What these options leave to the fit, spelled out: the candidates in the order of their simplicity. One where nothing
// is left. `has_prediction`: it is known, not only the errors about it. `gain` is what corrections would gain.
std::vector<FitOptions> candidates(const FitOptions& options, std::size_t rows, bool has_prediction,
                                   const BiasGain& gain);

// `calibration`: rows that make the recalibration and enter nothing else, or null.
FitResult default_recipe(const Archive& archive, const FitOptions& options, const Work& work, const LearnedMean* mean,
                         const Archive* calibration = nullptr, const Model::Content* earlier = nullptr);

}  // namespace accrue::fitting
