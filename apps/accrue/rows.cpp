#include "rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "data/messages.hpp"

namespace accrue::app {

namespace {

// Turns "500M", "1.5 GB" or "64MiB" into a number of bytes.
CLI::Validator is_size() {
    const auto convert = [](std::string& text) {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        std::string unit = CLI::detail::to_lower(CLI::detail::trim_copy(std::string(read.ptr, end)));
        const double thousand = unit.ends_with("ib") ? 1024 : 1000;
        for (const char letter : {'b', 'i'})
            if (unit.ends_with(letter)) unit.pop_back();
        const std::size_t power = std::string_view("kmgt").find(unit.empty() ? '?' : unit[0]) + 1;
        const double bytes = value * std::pow(thousand, unit.empty() ? 0 : static_cast<double>(power));
        const bool known = unit.empty() || (unit.size() == 1 && power > 0);
        if (read.ec != std::errc{} || !known || !(bytes >= 1) || !(bytes < 1e18))
            return "'" + text + "' is no size; write 500M or 1.5G, for example";
        text = std::to_string(static_cast<std::uint64_t>(bytes));
        return std::string();
    };
    return {convert, ""};
}

// "1.2 GB"
std::string bytes_text(std::size_t bytes) {
    const auto number = static_cast<double>(bytes);
    if (number >= 1e9) return fmt::format("{:.1f} GB", number / 1e9);
    if (number >= 1e6) return fmt::format("{:.0f} MB", number / 1e6);
    return fmt::format("{:.0f} kB", number / 1e3);
}

}  // namespace

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
    command
        .add_option("--memory", options.memory,
                    "Memory to use, such as 500M or 4G; where rows exceed it, a random sample of them is used, and the "
                    "output says so; left out: three quarters of what the machine and its limits leave")
        ->transform(is_size())
        ->type_name("SIZE");
    command.add_option("--sample", options.sample, "Use so many rows, drawn at random (seeded); left out: all")
        ->check(is_count())
        ->type_name("COUNT");
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

RoleTable::RoleTable(const RowOptions& options, const RowPlan& plan)
    : options_(options),
      memory_(options.memory > 0 ? options.memory : core::available_memory() / 4 * 3),
      has_errors_(!options.error.empty() || !options.prediction.empty()),
      made_(1 + plan.computed) {
    std::vector<ColumnRequest> columns;
    if (options.error.empty()) {
        if (!options.prediction.empty()) columns.push_back({options.prediction});
        columns.push_back({options.observation});
    } else {
        columns.push_back({options.error});
    }
    columns.insert(columns.end(), plan.read.begin(), plan.read.end());
    if (!options.weight.empty()) columns.push_back({options.weight, Kind::number, Rule::not_negative});
    if (!options.group.empty()) columns.push_back({options.group, Kind::text});
    if (!options.time.empty()) columns.push_back({options.time, Kind::time});

    std::size_t next = has_errors_ ? 1 : 0;
    const auto keep = [&](const std::string& name) {
        if (!name.empty() && places_.try_emplace(name, next).second) ++next;
    };
    for (const std::string& name : plan.kept) keep(name);
    keep(options.weight);
    keep(options.time);
    first_computed_ = next;
    const std::size_t kept_columns = next + plan.computed;
    rows_.emplace(kept_columns, !options.group.empty(), most_rows(plan, kept_columns), plan.seed);

    ReadOptions read = options.read_options();
    constexpr std::size_t kSlabShare = 32;
    constexpr std::size_t kLeastSlab = 4096;
    read.slab_bytes = std::clamp(memory_ / kSlabShare, kLeastSlab, read.slab_bytes);
    dropped_ = read_slabs(options.files, columns, read, [&](const Table& slab) { add(slab, plan); });
    made_ = {};
    rows_->finish();
    // As if the other rows, and groups that had no others, had not been there.
    if (sampled_from() > 0 && !options.group.empty()) rows_->renumber_codes(labels_);
    const auto w = weights();
    core::require(w.empty() || std::any_of(w.begin(), w.end(), [](double weight) { return weight > 0; }),
                  "{}, column '{}': every weight is 0; at least one must be positive",
                  data::display_name(options.files.front()), data::printable(options.weight));
}

// How many rows the memory has room for, or as many as were asked for.
std::size_t RoleTable::most_rows(const RowPlan& plan, std::size_t columns) {
    const std::size_t kept = columns * sizeof(double) + (options_.group.empty() ? 0 : sizeof(std::uint32_t));
    const std::size_t bytes = kept + std::max(plan.work_bytes, data::KeptRows::sampling_bytes(kept));
    // An eighth is for the slab, the program and what does not grow with the rows. Two digits, so that a little more or
    // less of free memory mostly gives the same sample.
    std::size_t most = memory_ / 8 * 7 / bytes;
    std::size_t step = 1;
    while (most / step >= 100) step *= 10;
    most = most / step * step;
    constexpr std::size_t kFewest = 100;
    core::require(most >= kFewest, "memory of {} has room for {}, which is too little: a row needs {} bytes",
                  bytes_text(memory_), data::counted(most, "row"), bytes);
    limited_by_memory_ = options_.sample == 0 || most < options_.sample;
    return limited_by_memory_ ? most : options_.sample;
}

void RoleTable::add(const Table& slab, const RowPlan& plan) {
    std::vector<std::span<const double>> columns;
    RoleSlab roles{slab, {}, {}};
    if (!options_.prediction.empty()) roles.prediction = slab.numbers(options_.prediction);
    if (!options_.error.empty()) {
        roles.errors = slab.numbers(options_.error);
    } else if (has_errors_) {
        const auto mu = roles.prediction;
        const auto y = slab.numbers(options_.observation);
        std::vector<double>& differences = made_[0];
        differences.resize(slab.rows());
        for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = y[i] - mu[i];
        for (std::size_t i = 0; i < differences.size(); ++i)
            if (!std::isfinite(differences[i])) {
                const std::size_t row = rows_->seen() + i + 1;
                // A slab does not tell which file its rows are from, nor which rows were left out.
                const bool is_in_file = options_.files.size() == 1 && slab.dropped() == 0;
                core::refuse("{}: {} - {} is too large for a double: {} - {}",
                             is_in_file ? fmt::format("{} row {}", data::display_name(options_.files.front()), row)
                                        : fmt::format("row {} of those that are used", row),
                             data::printable(options_.observation), data::printable(options_.prediction), y[i], mu[i]);
            }
        roles.errors = differences;
    }
    columns.resize(first_computed_);
    if (has_errors_) columns[0] = roles.errors;
    for (const auto& [name, place] : places_) columns[place] = slab.numbers(name);
    const std::span<std::vector<double>> computed = std::span(made_).subspan(1);
    if (plan.compute) plan.compute(roles, computed);
    columns.insert(columns.end(), computed.begin(), computed.end());

    std::span<const std::uint32_t> codes;
    if (!options_.group.empty()) {
        const TextColumn& groups = slab.text(options_.group);
        codes = groups.codes;
        labels_.insert(labels_.end(), groups.labels.begin() + static_cast<std::ptrdiff_t>(labels_.size()),
                       groups.labels.end());
    }
    rows_->append(columns, codes);
    if (!options_.time.empty()) times_are_dates_ = slab.has_dates(options_.time);
}

std::size_t RoleTable::sampled_from() const {
    return rows_->seen() > rows_->rows() ? rows_->seen() : 0;
}
std::span<const double> RoleTable::kept(const std::string& name) const {
    return places_.count(name) == 0 ? std::span<const double>{} : numbers(name);
}
std::span<const double> RoleTable::errors() const {
    return has_errors_ ? rows_->column(0) : std::span<const double>{};
}
std::span<const double> RoleTable::prediction() const {
    return kept(options_.prediction);
}
std::span<const double> RoleTable::observation() const {
    return kept(options_.observation);
}
std::span<const double> RoleTable::weights() const {
    return kept(options_.weight);
}
std::span<const double> RoleTable::times() const {
    return kept(options_.time);
}
Grouping RoleTable::groups() const {
    return {rows_->codes(), labels_};
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
    const std::string dropped = dropped_ == 0 ? "" : fmt::format(" ({} dropped: a value was missing)", dropped_);
    if (sampled_from() == 0) return fmt::format("{} of {}{}; {}", data::counted(rows(), "row"), where, dropped, what);
    const std::string why = limited_by_memory_
                                ? fmt::format("memory limit {}; --memory or --sample changes it", bytes_text(memory_))
                                : "--sample";
    return fmt::format("{} of {} of {}{}, a random sample ({}); {}", rows(), data::counted(sampled_from(), "row"),
                       where, dropped, why, what);
}

Forecast forecast_rows(const Model& model, std::span<const std::span<const double>> inputs,
                       std::span<const double> prediction, std::size_t rows) {
    if (!inputs.empty() || !prediction.empty()) return model.forecast(inputs, prediction);
    Forecast forecast = model.forecast(inputs, std::vector<double>(rows));
    forecast.mean.clear();
    return forecast;
}

}  // namespace accrue::app
