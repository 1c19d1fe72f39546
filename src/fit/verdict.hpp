#pragma once

#include "accrue/fit.hpp"

namespace accrue::fitting {

// How much each cross-fitted correction would lower the CRPS of a constant sigma, as a share; in the order of
// fields::correction_names(), the simplest of which comes first.
using BiasGain = std::vector<double>;

// The words for a fit: what verification says, and what to do about it.
Verdict fit_verdict(const Verification& verification, const FitOptions& options, const BiasGain& gain);

// Whether rows of one group or time may be in several folds.
bool folds_are_by_row(const Archive& archive, const FitOptions& options);

// What rows of one place, or rows that err together, say of the forecast.
void add_conditional(Verdict& verdict, const ConditionalCalibration& conditional,
                     const std::optional<FoldComparison>& folds, const Archive& archive, const FitOptions& options);

// As a model file keeps it: of columns of very many values without these.
nlohmann::ordered_json conditional_in_file(const ConditionalCalibration& conditional);
constexpr std::size_t kMaxValuesInFile = 200;  // of a column

// What the observations themselves tell: that they end at a value, and how many are equal. `forecasts` are the held-out
// ones, whose errors and sigmas these are.
std::vector<Message> observation_remarks(const Archive& archive, const FitOptions& options,
                                         std::span<const double> errors, std::span<const double> sigmas,
                                         const Families& forecasts);

}  // namespace accrue::fitting
