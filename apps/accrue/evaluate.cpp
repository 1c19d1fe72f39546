#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "accrue/verify.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "lab_report.hpp"

namespace accrue::app {

namespace {

struct Options {
    std::vector<std::string> files;
    std::string prediction, observation, error, weight, group;
    std::vector<std::string> sigmas;
    std::vector<double> levels = {0.5, 0.9, 0.95};
    Missing missing = Missing::refuse;
    bool no_header = false;
    bool json = false;
    int threads = 0;
};

std::string title(const Options& options, const Table& table) {
    const std::string where =
        options.files.size() == 1 ? options.files[0] : fmt::format("{} files", options.files.size());
    const std::string what = options.error.empty() ? fmt::format("error = {} - {}", options.observation, options.prediction)
                                                   : fmt::format("error = {}", options.error);
    const std::string dropped =
        table.dropped() == 0 ? "" : fmt::format(" ({} dropped: a value was missing)", table.dropped());
    return fmt::format("{} rows of {}{}; {}\n\n", table.rows(), where, dropped, what);
}

void run(const Options& options) {
    std::vector<ColumnRequest> columns;
    if (options.error.empty()) {
        columns.push_back({options.prediction});
        columns.push_back({options.observation});
    } else {
        columns.push_back({options.error});
    }
    for (const std::string& sigma : options.sigmas) columns.push_back({sigma, Kind::number, Rule::positive});
    if (!options.weight.empty()) columns.push_back({options.weight, Kind::number, Rule::not_negative});
    if (!options.group.empty()) columns.push_back({options.group, Kind::text});
    for (const double level : options.levels)
        core::require(level > 0 && level < 1, "--levels: {} is not between 0 and 1", level);

    const Table table = read_table(options.files, columns, {options.missing, !options.no_header});
    std::vector<double> differences;
    std::span<const double> errors;
    if (options.error.empty()) {
        const auto mu = table.numbers(options.prediction);
        const auto y = table.numbers(options.observation);
        differences.resize(table.rows());
        for (std::size_t i = 0; i < table.rows(); ++i) differences[i] = y[i] - mu[i];
        errors = differences;
    } else {
        errors = table.numbers(options.error);
    }
    const auto weights = options.weight.empty() ? std::span<const double>{} : table.numbers(options.weight);
    Grouping groups;
    if (!options.group.empty()) groups = {table.text(options.group).codes, table.text(options.group).labels};

    VerifyOptions verify_options;
    verify_options.levels = options.levels;
    std::vector<Verification> forecasts;
    for (const std::string& sigma : options.sigmas) {
        forecasts.push_back(verify(errors, table.numbers(sigma), weights, groups, verify_options));
        forecasts.back().name = sigma;
    }
    if (!options.json) {
        print(title(options, table) + lab_report(forecasts, terminal_width()));
        return;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Verification& forecast : forecasts) {
        nlohmann::ordered_json json = to_json(forecast);
        json["dropped"] = table.dropped();
        list.push_back(std::move(json));
    }
    const nlohmann::ordered_json result =
        list.size() == 1 ? list[0] : nlohmann::ordered_json{{"forecasts", std::move(list)}};
    print(result.dump(2) + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("evaluate", "Score Gaussian forecasts: accuracy, calibration, a verdict");
    command->add_option("FILE", options->files, "CSV files, pooled into one table; - is standard input")->required();
    auto* prediction = command->add_option("--prediction", options->prediction, "Column of the predicted mean mu");
    auto* observation = command->add_option("--observation", options->observation, "Column of the observation y");
    prediction->needs(observation);
    observation->needs(prediction);
    command->add_option("--error", options->error, "Column of the error y - mu, in place of the two")
        ->excludes(prediction)
        ->excludes(observation);
    add_repeatable(*command, "--sigma", options->sigmas,
                   "Column of the forecast's standard deviation; repeat it to compare forecasts of the same rows")
        ->required();
    command->add_option("--weight", options->weight, "Column of row weights; only their ratios matter");
    command->add_option("--group", options->group,
                        "Column of groups (station, storm, year; text or number): figures per group, and bands that "
                        "resample groups instead of rows");
    add_list(*command, "--levels", options->levels, "Central intervals to check")->default_str("0.5,0.9,0.95");
    const std::map<std::string, Missing> policies = {{"refuse", Missing::refuse}, {"drop", Missing::drop}};
    command
        ->add_option("--missing", options->missing, "A row with a missing value: refuse the file, or drop the row and count it")
        ->transform(CLI::CheckedTransformer(policies))
        ->default_str("refuse");
    command->add_flag("--no-header", options->no_header, "The files have no header: columns are called 1, 2, ...");
    command->add_flag("--json", options->json, "Print one JSON object (docs/evaluate.md)");
    command->add_option("--threads", options->threads, "Threads to use; 0 is all")->check(CLI::NonNegativeNumber);
    command->footer(
        "Examples:\n"
        "  accrue evaluate forecasts.csv --prediction mu --observation y --sigma sigma\n"
        "  accrue evaluate 2023.csv 2024.csv --error e --sigma raw --sigma tuned --group station --json");
    command->callback([options, command] {
        if (options->error.empty() && options->prediction.empty())
            throw CLI::RequiredError("--prediction with --observation, or --error");
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
