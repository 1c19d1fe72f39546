#include "rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.hpp"
#include "data/messages.hpp"

namespace accrue::app {

void add_row_options(CLI::App& command, RowOptions& options, const std::string& files_help, TimeUse time) {
    command.add_option("FILE", options.files, files_help)->type_name("")->required();
    const auto column = [&](const char* name, std::string& value, const char* help) {
        return command.add_option(name, value, help)->type_name("COLUMN");
    };
    auto* prediction = column("--prediction", options.prediction, "Column of the predicted mean mu");
    auto* observation = column("--observation", options.observation, "Column of the observation y");
    prediction->needs(observation);
    column("--error", options.error, "Column of the error y - mu, in place of the two")
        ->excludes(prediction)
        ->excludes(observation);
    column("--weight", options.weight, "Column of row weights; only their ratios matter");
    column("--group", options.group,
           time == TimeUse::folds
               ? "Column of groups (station, storm, year; text or number): folds never split a group"
               : "Column of groups (station, storm, year; text or number): figures per group, and bands that "
                 "resample groups instead of rows");
    if (time == TimeUse::folds)
        column("--time", options.time,
               "Column of times (number, ISO 8601 or CF time): folds are contiguous blocks of time");
    if (time == TimeUse::drawn)
        column("--time", options.time, "Column of times (number, ISO 8601 or CF time): forecasts are drawn along it");
    const std::map<std::string, Missing> policies = {{"refuse", Missing::refuse}, {"drop", Missing::drop}};
    add_choice(command, "--missing", options.missing, policies,
               "A row with a missing value: refuse the file, or drop the row and count it");
    command.add_flag("--no-header", options.no_header, "CSV files have no header: columns are called 1, 2, ...");
}

void require_other_file(const std::string& output, const std::vector<std::string>& files, const char* what) {
    for (const std::string& file : files) {
        std::error_code ignored;
        core::require(
            !std::filesystem::is_regular_file(file, ignored) || !std::filesystem::equivalent(file, output, ignored),
            "{} is a file to read: write the {} to another one", data::display_name(output), what);
    }
}

void require_error_columns(const RowOptions& options) {
    if (options.error.empty() && options.observation.empty())
        throw CLI::RequiredError("--prediction with --observation, or --error");
}

RoleTable::RoleTable(const RowOptions& options, std::vector<ColumnRequest> more) : options_(options) {
    std::vector<ColumnRequest> columns;
    if (options.error.empty()) {
        if (!options.prediction.empty()) columns.push_back({options.prediction});
        columns.push_back({options.observation});
    } else {
        columns.push_back({options.error});
    }
    columns.insert(columns.end(), more.begin(), more.end());
    if (!options.weight.empty()) columns.push_back({options.weight, Kind::number, Rule::not_negative});
    if (!options.group.empty()) columns.push_back({options.group, Kind::text});
    if (!options.time.empty()) columns.push_back({options.time, Kind::time});
    table_ = read_table(options.files, columns, options.read_options());
    const auto w = weights();
    core::require(w.empty() || std::any_of(w.begin(), w.end(), [](double weight) { return weight > 0; }),
                  "{}, column '{}': every weight is 0; at least one must be positive",
                  data::display_name(options.files.front()), data::printable(options.weight));
    if (!options.error.empty()) {
        errors_ = table_->numbers(options.error);
        return;
    }
    if (options.prediction.empty()) return;
    const auto mu = table_->numbers(options.prediction);
    const auto y = table_->numbers(options.observation);
    differences_.resize(table_->rows());
    for (std::size_t i = 0; i < differences_.size(); ++i) differences_[i] = y[i] - mu[i];
    for (std::size_t i = 0; i < differences_.size(); ++i)
        if (!std::isfinite(differences_[i]))
            core::refuse("{} - {} is too large for a double: {} - {}", data::printable(options.observation),
                         data::printable(options.prediction), y[i], mu[i]);
    errors_ = differences_;
}

std::span<const double> RoleTable::prediction() const {
    return options_.prediction.empty() ? std::span<const double>{} : table_->numbers(options_.prediction);
}
std::span<const double> RoleTable::observation() const {
    return options_.observation.empty() ? std::span<const double>{} : table_->numbers(options_.observation);
}
std::span<const double> RoleTable::weights() const {
    return options_.weight.empty() ? std::span<const double>{} : table_->numbers(options_.weight);
}
std::span<const double> RoleTable::times() const {
    return options_.time.empty() ? std::span<const double>{} : table_->numbers(options_.time);
}
Grouping RoleTable::groups() const {
    if (options_.group.empty()) return {};
    const TextColumn& column = table_->text(options_.group);
    return {column.codes, column.labels};
}

std::string RoleTable::title() const {
    const std::string where = options_.files.size() == 1 ? data::display_name(options_.files[0])
                                                         : data::counted(options_.files.size(), "file");
    const std::string what = options_.error.empty() && options_.prediction.empty()
                                 ? fmt::format("observation = {}", data::printable(options_.observation))
                             : options_.error.empty()
                                 ? fmt::format("error = {} - {}", data::printable(options_.observation),
                                               data::printable(options_.prediction))
                                 : fmt::format("error = {}", data::printable(options_.error));
    const std::string dropped =
        table_->dropped() == 0 ? "" : fmt::format(" ({} dropped: a value was missing)", table_->dropped());
    return fmt::format("{} of {}{}; {}", data::counted(table_->rows(), "row"), where, dropped, what);
}

Forecast forecast_rows(const Model& model, std::span<const std::span<const double>> inputs,
                       std::span<const double> prediction, std::size_t rows) {
    if (!inputs.empty() || !prediction.empty()) return model.forecast(inputs, prediction);
    Forecast forecast = model.forecast(inputs, std::vector<double>(rows));
    forecast.mean.clear();
    return forecast;
}

}  // namespace accrue::app
