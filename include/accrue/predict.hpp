// A model's forecasts of new rows, in memory or in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/table.hpp"

namespace accrue {

// The forecasts of so many rows, also where neither inputs nor a prediction tell their number: a constant fitted to
// errors has none. `first` is the number of the first row. Throws as Model::forecast.
Forecast forecast_rows(const Model& model, std::span<const std::span<const double>> inputs,
                       std::span<const double> prediction, std::size_t rows, std::size_t first = 0);

// The same as of each row's time, by the model's state (accrue/state.hpp). `groups` are the numbers that the state has
// for the rows' groups (State::group), below 0 for one that it does not know, or empty. Throws InputError where a time
// is not after what the state has seen.
Forecast forecast_at(const Model& model, std::span<const std::span<const double>> inputs,
                     std::span<const double> prediction, std::span<const double> times,
                     std::span<const double> groups = {});

// The columns that a model's inputs are read from, and the codes of those that are categories; the others have none.
std::vector<ColumnRequest> input_requests(const Model& model);
std::vector<std::vector<double>> input_codes(const Model& model, const Table& rows);

// What PredictOptions::off_support can be.
const std::vector<std::string>& off_support_names();

struct PredictOptions {
    std::string prediction = {};         // column; empty: the one that the archive had
    std::vector<double> quantiles = {};  // probabilities, each a column to add
    std::vector<double> intervals = {};  // levels of central intervals, each two columns to add
    std::vector<double> exceed = {};     // thresholds: the probability of more than each is a column to add
    std::size_t draws = 0;               // from each forecast, each a column to add; at most 1,000
    std::uint64_t seed = 1;              // of the draws
    // Rows off support: flag marks them, widen also widens their forecasts (Model::widened), refuse throws InputError.
    std::string off_support = "flag";
    bool state = true;     // forecasts as of each row's time, where the model has a state
    bool header = true;    // CSV
    bool isolate = false;  // NetCDF, see ReadOptions
    MissingMarks marks = {};
};

// Writes the rows of the files to `output`, in their format, with the columns of the forecast added; "-" is standard
// input and output. Memory does not grow with the rows, and `output` appears when all has succeeded. Throws InputError
// when the model and the options do not go together, an input is missing, a name to add is taken, a cell cannot be
// read.
void predict_files(const Model& model, const std::vector<std::string>& files, const std::string& output,
                   const PredictOptions& options = {});

}  // namespace accrue
