// The options by which a command is told where its rows are and which column plays which role.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/table.hpp"
#include "accrue/verify.hpp"
#include "commands.hpp"
#include "data/kept_rows.hpp"

namespace accrue::app {

struct RowOptions {
    std::vector<std::string> files;
    std::string prediction, observation, error, weight, group, time;
    Missing missing = Missing::refuse;
    bool no_header = false;
    std::size_t memory = 0;  // bytes; 0: most of what there is
    std::size_t sample = 0;  // rows to use; 0: all that memory has room for

    // The column whose dimensions are the rows in NetCDF.
    const std::string& main_column() const {
        return !error.empty() ? error : !prediction.empty() ? prediction : observation;
    }
    ReadOptions read_options() const { return {missing, !no_header, main_column()}; }
};

// What a command wants a column of times for.
enum class TimeUse { none, folds, drawn };

// Adds FILE..., --prediction, --observation, --error, --weight, --group, --missing, --no-header, --memory, --sample,
// and --time where it has a use.
void add_row_options(CLI::App& command, RowOptions& options, const std::string& files_help, TimeUse time);

// Throws when the output, the place of `what`, is one of the files to read, which would be lost.
void require_other_file(const std::string& output, const std::vector<std::string>& files, const char* what);

// Throws unless the errors are named one way or the other. Called before anything is read.
void require_error_columns(const RowOptions& options);

// Some rows of the files, with their roles.
struct RoleSlab {
    const Table& table;
    std::span<const double> errors;      // empty when only observations were named
    std::span<const double> prediction;  // empty when none was named
};

// What a command wants of the rows.
struct RowPlan {
    std::vector<ColumnRequest> read;  // columns beside those of the roles
    std::vector<std::string> kept;    // those of all that have to be at hand later
    std::size_t computed = 0;         // columns that `compute` makes of every slab, and that are kept
    std::function<void(const RoleSlab& slab, std::span<std::vector<double>> columns)> compute = {};
    std::size_t work_bytes = 0;  // a row, of what is done with the rows beyond holding them
    std::uint64_t seed = 1;      // of the sample
};

// The rows of all files: errors, weights, groups, times and what the plan keeps. They are read slab by slab, and where
// memory has no room for what is kept of them, it is kept of a random sample.
class RoleTable {
public:
    RoleTable(const RowOptions& options, const RowPlan& plan);
    RoleTable(const RoleTable&) = delete;

    std::size_t rows() const { return rows_->rows(); }
    std::size_t dropped() const { return dropped_; }
    std::size_t sampled_from() const;  // the number of all rows; 0 where these are all
    std::span<const double> numbers(const std::string& name) const { return rows_->column(places_.at(name)); }
    std::span<const double> computed(std::size_t k) const { return rows_->column(first_computed_ + k); }
    std::span<const double> errors() const;      // empty when only observations were named
    std::span<const double> prediction() const;  // these two: empty when they are not kept
    std::span<const double> observation() const;
    std::span<const double> weights() const;
    std::span<const double> times() const;
    bool times_are_dates() const { return times_are_dates_; }
    Grouping groups() const;
    // "1000 rows of archive.csv (3 dropped: a value was missing); error = y - mu"
    std::string title() const;

private:
    std::size_t most_rows(const RowPlan& plan, std::size_t columns);
    void add(const Table& slab, const RowPlan& plan);
    std::span<const double> kept(const std::string& name) const;

    const RowOptions& options_;
    std::size_t memory_;
    bool limited_by_memory_ = false;
    bool has_errors_;
    std::map<std::string, std::size_t> places_;  // of columns by name
    std::size_t first_computed_ = 0;
    std::optional<data::KeptRows> rows_;
    std::vector<std::vector<double>> made_;  // in a slab: differences, then computed columns
    std::vector<std::string> labels_;
    std::size_t dropped_ = 0;
    bool times_are_dates_ = false;
};

// The forecasts of so many rows, also where neither inputs nor a prediction tell their number: a constant fitted to
// errors has none.
Forecast forecast_rows(const Model& model, std::span<const std::span<const double>> inputs,
                       std::span<const double> prediction, std::size_t rows);

}  // namespace accrue::app
