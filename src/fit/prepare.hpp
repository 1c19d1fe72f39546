// From an archive to rows that a start can be trained on: checked, standardised, in the order of their folds.
#pragma once

#include <functional>

#include "accrue/fit.hpp"
#include "fields/kinds.hpp"
#include "fields/linear.hpp"
#include "fit/verdict.hpp"
#include "forecast/content.hpp"

namespace accrue::fitting {

// The choices of FitOptions::bias, family, form, mean and so on that are not names of a correction, a family, a form or
// a mean.
inline constexpr const char* kLearnedLocation = "network";
inline constexpr const char* kAuto = "auto";
inline constexpr const char* kCensored = "censored";
inline constexpr const char* kTruncated = "truncated";

// A share of observations that are equal which no forecast without an atom there can hold.
inline constexpr double kManyEqual = 0.2;

// The form that these options ask for; where the choice is left to the fit, the one that it begins with.
const fields::Kind& form_of(const FitOptions& options);
// Whether the location is learned, in the same network as the scale.
bool learns_location(const FitOptions& options);
// Whether a mean comes first that depends on the inputs.
bool mean_by_inputs(const FitOptions& options);
// The correction of the prediction that is fitted before the network.
std::string correction_of(const FitOptions& options);

// The observation of a row, and the family with the bounds that these options ask for.
double observation_of(const Archive& archive, std::size_t row, const Limits& limits);
Limits limits_of(const FitOptions& options);
SharedFamily family_of(const Archive& archive, const FitOptions& options);

// Throw InputError where the archive breaks a rule of these options.
void check(const Archive& archive, const FitOptions& options);
void check_for_mean(const Archive& archive, const FitOptions& options);

Scaling standardisation(std::span<const double> values, const std::string& name);
std::vector<encodings::Encoding> encodings_of(const Archive& archive);
// The same as those of another archive but for the range of the values.
std::vector<encodings::Encoding> encodings_as(std::vector<encodings::Encoding> encodings, const Archive& archive);
// Calls use(values of a column) for the columns that the inputs become, one after the other.
void for_encoded(const Archive& archive, std::span<const encodings::Encoding> encodings,
                 const std::function<void(std::span<const double>)>& use);
double root_mean_square(std::span<const double> values, std::span<const double> weights);

// Rows put into the order of their folds, so that a fold is one stretch.
struct Arranged {
    std::vector<std::uint32_t> order;   // arranged row -> archive's row
    std::vector<std::size_t> starts;    // of every fold, and the end
    std::vector<double> columns;        // of the inputs, then the standardised prediction where there is one
    std::vector<fields::Range> ranges;  // of these columns
    std::vector<double> errors;         // in their own unit, bias corrected
    std::vector<double> weights;

    std::size_t rows() const { return order.size(); }
    std::size_t folds() const { return starts.size() - 1; }
    fields::Columns regressors() const { return {columns.data(), rows(), columns.size() / rows()}; }
};

Arranged arrange(const Archive& archive, const Model::Content& content, const std::vector<std::size_t>& fold,
                 std::size_t folds);
void require_weight_in_folds(const Arranged& a);

// Every row's error after a correction that was fitted without the row's fold.
std::vector<double> cross_fitted_errors(const Arranged& a, std::string_view kind);
// It is only for a hint and for a choice, so it must not take long: a correction is tried where rows are many enough
// for one to be worth it, and its parameters few enough; and on some of the rows where all would take too long.
BiasGain bias_gain(const Arranged& a);

}  // namespace accrue::fitting
