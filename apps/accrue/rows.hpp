// The options by which a command is told where its rows are and which column plays which role.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/table.hpp"
#include "accrue/verify.hpp"
#include "commands.hpp"

namespace accrue::app {

struct RowOptions {
    std::vector<std::string> files;
    std::string prediction, observation, error, weight, group, time;
    Missing missing = Missing::refuse;
    bool no_header = false;

    // The column whose dimensions are the rows in NetCDF.
    const std::string& main_column() const {
        return !error.empty() ? error : !prediction.empty() ? prediction : observation;
    }
    ReadOptions read_options() const { return {missing, !no_header, main_column()}; }
};

// What a command wants a column of times for.
enum class TimeUse { none, folds, drawn };

// Adds FILE..., --prediction, --observation, --error, --weight, --group, --missing, --no-header, and --time where it
// has a use.
void add_row_options(CLI::App& command, RowOptions& options, const std::string& files_help, TimeUse time);

// Throws when the output, the place of `what`, is one of the files to read, which would be lost.
void require_other_file(const std::string& output, const std::vector<std::string>& files, const char* what);

// Throws unless the errors are named one way or the other. Called before anything is read.
void require_error_columns(const RowOptions& options);

// The rows with their roles. `more` are further columns to read.
class RoleTable {
public:
    RoleTable(const RowOptions& options, std::vector<ColumnRequest> more);

    const Table& table() const { return *table_; }
    std::span<const double> errors() const { return errors_; }  // empty when only observations were named
    std::span<const double> prediction() const;                 // empty when none was named
    std::span<const double> observation() const;                // likewise
    std::span<const double> weights() const;
    std::span<const double> times() const;
    Grouping groups() const;
    // "1000 rows of archive.csv (3 dropped: a value was missing); error = y - mu"
    std::string title() const;

private:
    const RowOptions& options_;
    std::optional<Table> table_;
    std::vector<double> differences_;
    std::span<const double> errors_;
};

// The forecasts of so many rows, also where neither inputs nor a prediction tell their number: a constant fitted to
// errors has none.
Forecast forecast_rows(const Model& model, std::span<const std::span<const double>> inputs,
                       std::span<const double> prediction, std::size_t rows);

}  // namespace accrue::app
