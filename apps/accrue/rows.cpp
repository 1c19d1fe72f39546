#include "rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "accrue/expression.hpp"
#include "accrue/messages.hpp"

namespace accrue::app {

namespace {

// Turns "500M", "1.5 GB" or "64MiB" into a number of bytes.
CLI::Validator is_size() {
    const auto convert = [](std::string& text) {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        std::string unit = CLI::detail::to_lower(CLI::detail::trim_copy(std::string(read.ptr, end)));
        if (unit.ends_with('b')) unit.pop_back();
        const bool binary = unit.size() == 2 && unit[1] == 'i';  // KiB, and Ki as some write it
        if (binary) unit.pop_back();
        const std::size_t power = unit.empty() ? 0 : std::string_view("kmgt").find(unit[0]) + 1;
        const bool known = unit.empty() || (unit.size() == 1 && power > 0);
        const double bytes = value * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power));
        if (read.ec != std::errc{} || !known || !(bytes >= 1) || !(bytes < 1e18))
            return "'" + text + "' is not a size; write 500M or 1.5G, for example";
        text = std::to_string(static_cast<std::uint64_t>(bytes));
        return std::string();
    };
    return {convert, ""};
}

}  // namespace

void add_row_options(CLI::App& command, RowSource& source, const std::string& files_help, TimeUse time) {
    Roles& roles = source.roles;
    command.add_option("FILE", source.files, files_help)->type_name("FILE")->required();
    const auto column = [&](const char* name, std::string& value, const char* help) {
        return command.add_option(name, value, help)->type_name("COLUMN");
    };
    auto* prediction = column("--prediction", roles.prediction, "Column of the predicted mean mu");
    auto* observation = column("--observation", roles.observation, "Column of the observation y");
    prediction->needs(observation);
    column("--error", roles.error, "Column of the error y - mu, in place of the two")
        ->excludes(prediction)
        ->excludes(observation);
    column("--weight", roles.weight, "Column of row weights; only their ratios matter");
    column("--group", roles.group,
           time == TimeUse::folds
               ? "Column (text or number) of what rows that err together share, such as a storm or a start time: bands "
                 "resample groups instead of rows, and without --time folds never split a group"
               : "Column (text or number) of what rows that err together share, such as a storm or a start time: bands "
                 "and differences between forecasts resample groups instead of rows");
    if (time == TimeUse::folds) {
        column("--time", roles.time,
               "Column of times (number, ISO 8601 or CF time): folds are contiguous blocks of time, which may split a "
               "group");
        column("--fold-group", roles.fold_group,
               "Column (text or number) of groups that folds never split, with or without --time; default: that of "
               "--group where there is no --time");
    }
    if (time == TimeUse::folds)
        column("--recalibrate-group", roles.recalibrate_group,
               "Column (text or number), such as a station: values with enough rows may have a recalibration of their "
               "own, other values that of all rows (docs/recalibration.md)");
    if (time == TimeUse::folds)
        column(
            "--observation-error", roles.observation_error,
            "Known standard deviation of the noise in the observations, a column or a number: sigma is learned without "
            "it (docs/observation-error.md); fits four times")
            ->type_name("COLUMN|VALUE");
    add_repeatable(command, "--by", source.by,
                   "Column (text or number), such as a station or a season: also figures for each of its values; may "
                   "be repeated")
        ->type_name("COLUMN");
    if (time == TimeUse::judged)
        column(
            "--time", roles.time,
            "Column of times (number, ISO 8601 or CF time): rows that err together are looked for in this order, and "
            "--conditional looks at months and hours too");
    if (time == TimeUse::drawn)
        column("--time", roles.time, "Column of times (number, ISO 8601 or CF time): forecasts are drawn along it");
    std::map<std::string, Missing> policies = {{"refuse", Missing::refuse}, {"drop", Missing::drop}};
    std::string help = "A row with a missing value: refuse the file, or drop the row and count it";
    if (time == TimeUse::folds) {
        policies.emplace("impute", Missing::impute);
        help =
            "A row with a missing value: refuse the file, drop the row and count it, or impute: a missing input "
            "becomes "
            "the mean, with an indicator that the model learns from; other rows are dropped";
    }
    add_choice(command, "--missing", source.missing, policies, help);
    add_missing_marks(command, source.marks);
    add_no_header(command, source.header);
    add_isolate(command, source.isolate);
    command
        .add_option("--memory", source.memory,
                    "Memory to use, such as 500M or 4G; where rows exceed it, a random sample of them is used, and the "
                    "output says so; default: three quarters of what the machine and its limits leave")
        ->transform(is_size())
        ->type_name("SIZE");
    command.add_option("--sample", source.sample, "Use so many rows, drawn at random (seeded); default: all")
        ->check(is_count())
        ->type_name("COUNT");
}

CLI::Option* add_columns(CLI::App& command, const std::string& name, std::vector<std::string>& columns,
                         const std::string& description) {
    const auto set = [&columns](const std::vector<std::string>& given) {
        columns.clear();
        for (const std::string& list : given)
            for (std::string& column : split_columns(list)) columns.push_back(std::move(column));
    };
    return command.add_option_function<std::vector<std::string>>(name, set, description)
        ->allow_extra_args(false)
        ->type_name("COLUMN,...");
}

void add_missing_marks(CLI::App& command, MissingMarks& marks) {
    const auto set_values = [&marks](const std::vector<std::string>& given) {
        marks.values.clear();
        marks.of_columns.clear();
        for (const std::string& list : given)
            for (const std::string& mark : split_columns(list)) {
                const std::size_t equals = mark.rfind('=');
                const bool in_column = equals != std::string::npos && equals > 0;
                const std::string number = in_column ? mark.substr(equals + 1) : mark;
                double value = 0;
                const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
                if (read.ec != std::errc{} || read.ptr != number.data() + number.size() || !std::isfinite(value))
                    throw CLI::ValidationError(
                        "--missing-value",
                        fmt::format("'{}' is not a number; write -9999 or COLUMN=-9999, and texts with --na", number));
                if (in_column)
                    marks.of_columns.emplace_back(mark.substr(0, equals), value);
                else
                    marks.values.push_back(value);
            }
    };
    command
        .add_option_function<std::vector<std::string>>(
            "--missing-value", set_values,
            "Numbers that mean a missing value, in every column of numbers (-9999) or in one (t2m=-9999)")
        ->allow_extra_args(false)
        ->type_name("[COLUMN=]NUMBER,...");
    add_list(command, "--na", marks.texts,
             "Texts that mean a missing value, such as n/a,-,****; empty cells, NA, NaN, nan and null always do")
        ->type_name("TEXT,...");
}

std::string remark_lines(const ReadRows& rows) {
    std::string lines;
    for (const Message& remark : rows.remarks) lines += fmt::format("Note: {}\n", remark.text());
    return lines;
}

void add_no_header(CLI::App& command, bool& header) {
    command.add_flag_callback(
        "--no-header", [&header] { header = false; }, "CSV files have no header: columns are called 1, 2, ...");
}

void require_other_file(const std::string& output, const std::vector<std::string>& files, const char* what) {
    for (const std::string& file : files) {
        std::error_code ignored;
        require(!std::filesystem::is_regular_file(file, ignored) || !std::filesystem::equivalent(file, output, ignored),
                fmt::format("{} is a file to read: write the {} to another one", display_name(output), what));
    }
}

void require_no_column_among_files(const RowSource& source, const std::vector<std::string>& inputs) {
    const auto is_file = [](const std::string& name) {
        std::error_code ignored;
        return std::filesystem::is_regular_file(name, ignored);
    };
    const auto table = std::find_if(source.files.begin(), source.files.end(), is_file);
    if (table == source.files.end() || std::all_of(source.files.begin(), source.files.end(), is_file)) return;
    const std::vector<std::string> columns = column_names(*table, source.read_options());
    std::vector<std::string> meant = inputs;
    for (const std::string& file : source.files)
        if (!is_file(file) && std::find(columns.begin(), columns.end(), file) != columns.end()) meant.push_back(file);
    if (meant.size() == inputs.size()) return;
    const std::string& first = meant[inputs.size()];
    require(false, fmt::format("'{}' is not a file but a column of {}{}", printable(first), display_name(*table),
                               inputs.empty()
                                   ? ": name an option before it"
                                   : fmt::format("; separate inputs with commas: --inputs {}", fmt::join(meant, ","))));
}

}  // namespace accrue::app
