// Corrections of a prediction: none, a constant, or linear in the inputs and the prediction.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace accrue::mean {

enum class BiasKind { none, constant, linear };

BiasKind bias_kind(std::string_view name);  // throws InputError for another name than none, constant, linear
std::string to_string(BiasKind kind);

// correction = coefficients[0] + sum_k coefficients[k + 1] * regressor_k, regressors being standardised: the inputs,
// then the prediction where there is one. No coefficients: no correction.
struct Bias {
    BiasKind kind = BiasKind::none;
    std::vector<double> coefficients;
};

// A regressor for every row.
using Regressors = std::span<const std::span<const double>>;

// Least squares of the errors over the rows for which `used` is true. Directions that the rows do not determine get
// no slope.
Bias fit_bias(BiasKind kind, Regressors regressors, std::span<const double> errors, std::span<const double> weights,
              const std::vector<bool>& used);

// The correction of row i.
double correction(const Bias& bias, Regressors regressors, std::size_t i);

}  // namespace accrue::mean
