// Forecasts of rows whose observations are known, scored: models, columns of standard deviations, of the members of an
// ensemble or of quantiles, and baselines to compare them with.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "accrue/archive.hpp"
#include "accrue/model.hpp"
#include "accrue/report.hpp"

namespace accrue {

// A forecast of rows in memory.
struct RowForecast {
    std::string name;
    const Model* model = nullptr;                         // either a model,
    std::vector<std::span<const double>> inputs = {};     // with the values of its inputs,
    std::span<const double> sigmas = {};                  // or a standard deviation for every row,
    std::span<const double> means = {};                   // about a mean of its own; empty: about the prediction,
    SharedFamily family = normal_family();                // and the family of these,
    std::span<const double> parameters = {};              // with those of its rows, where it has some (Families),
    std::vector<std::span<const double>> members = {};    // or the members of an ensemble,
    std::vector<std::span<const double>> quantiles = {};  // or quantiles
    std::vector<double> quantile_levels = {};             // of these levels
};

// A forecast of rows in files.
struct FileForecast {
    std::string name;  // of a column of standard deviations, or of a model file
    bool is_model = false;
    std::vector<std::string> members = {};     // or of an ensemble, whose columns these are, or patterns such as P*
    std::vector<std::string> quantiles = {};   // or of a quantile forecast, whose columns these are,
    std::vector<double> quantile_levels = {};  // with their levels
};

struct EvaluateOptions {
    std::vector<double> levels = {0.5, 0.9, 0.95};  // of central intervals
    std::vector<double> quantile_scores = {};       // levels of quantiles whose scores are wanted
    std::vector<double> exceed = {};                // thresholds: Brier scores and threshold-weighted CRPS
    bool decompose = false;                   // the parts of the CRPS, which take a sort for each of 640 thresholds
    bool conditional = false;                 // calibration along inputs, the prediction, values of `by` and groups
    std::vector<std::string> baselines = {};  // further forecasts, of baseline_names(), fitted on the rows
    // Files: whether to keep what it takes to draw the forecasts too, and the columns to draw errors along, which are
    // then the archive's inputs; empty: the inputs of the models, or the prediction.
    bool draw = false;
    std::vector<std::string> drawn = {};
};

// constant: N(prediction, root mean square error); climatology: the distribution of all observations; isotonic:
// isotonic distributional regression of the observations on the prediction.
const std::vector<std::string>& baseline_names();

struct Evaluation {
    ReadRows rows;
    // In the order given, baselines last; the errors of a model are about its own mean.
    std::vector<ReportForecast> forecasts;
    std::shared_ptr<const void> memory = {};  // what their spans and pointers lead to
};

// Throws InputError when roles and forecasts do not go together, where quantiles of a row cross, and as verify().
Evaluation evaluate(const Archive& rows, std::span<const RowForecast> forecasts, const EvaluateOptions& options = {});
Evaluation evaluate(const RowSource& source, std::span<const FileForecast> forecasts,
                    const EvaluateOptions& options = {});

}  // namespace accrue
