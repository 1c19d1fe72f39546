#include "accrue/evaluate.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/threads.hpp"
#include "commands.hpp"
#include "forecasts.hpp"
#include "lab_report.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    RowSource rows;
    ForecastOptions forecasts;
    bool json = false;
    int threads = 0;
};

void run(const Options& options) {
    const auto [rows, forecasts, memory] = evaluate(options.rows, options.forecasts.all, options.forecasts.evaluate);
    const Archive& archive = rows.archive;
    if (!options.json) {
        const std::string comparison =
            forecasts.size() > 1 ? lowest_crps(forecasts, archive.weights, archive.groups, archive.times).sentence : "";
        print(rows.title + "\n" + remark_lines(rows) + "\n" + lab_report(forecasts, terminal_width(), comparison));
        return;
    }
    nlohmann::ordered_json result =
        scores_json(forecasts, archive.weights, archive.groups, rows.dropped, archive.sampled_from, archive.times);
    if (!rows.remarks.empty()) result["notes"] = rows.remarks;
    // A label that is not UTF-8 must not cost the figures: its odd bytes become U+FFFD.
    print(result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("evaluate", "Score forecasts: accuracy, calibration, a verdict");
    add_row_options(*command, options->rows, "Files (CSV or NetCDF), pooled into one table; - is standard input",
                    TimeUse::judged);
    add_forecast_options(*command, options->forecasts);
    command->add_flag(
        "--conditional", options->forecasts.evaluate.conditional,
        "Also whether a model, a sigma or an ensemble is calibrated everywhere: along the inputs of the model, "
        "--inputs, the prediction, in each value of --by and each group");
    add_list(
        *command, "--inputs", options->forecasts.evaluate.drawn,
        "With --conditional: columns of numbers to look along; default: the inputs of the models, or the prediction")
        ->type_name("COLUMN,...");
    command->add_flag("--json", options->json, "Print one JSON object (docs/evaluate.md)");
    add_threads(*command, options->threads);
    command->footer(
        "Prints the CRPS (accuracy), the calibration error beside its floor (what a calibrated forecast of\n"
        "as many rows would show by chance), coverage of central intervals, and a verdict in words.\n"
        "docs/evaluate.md explains every figure, docs/scores.md when a score misleads, docs/groups.md what\n"
        "--group and --by are for.\n"
        "\n"
        "Examples:\n"
        "  accrue evaluate forecasts.csv --prediction mu --observation y --sigma sigma\n"
        "  accrue evaluate 2023.csv 2024.csv --error e --sigma raw --sigma tuned --group storm --json\n"
        "  accrue evaluate later.csv --prediction mu --observation y --model model.json --by station\n"
        "  accrue evaluate later.csv --prediction mu --observation y --model model.json --conditional\n"
        "  accrue evaluate later.csv --error e --sigma sigma --inputs wind --conditional --time date\n"
        "  accrue evaluate ensemble.csv --observation y --members 'P*' --exceed 0,10 --baselines climatology\n"
        "  accrue evaluate quantiles.csv --observation y --quantile-columns q05=0.05,q50=0.5,q95=0.95");
    command->callback([command, options] {
        require_no_column_among_files(options->rows, {});
        as_usage([&] { require_errors(options->rows.roles); });
        require_forecasts(*command, options->forecasts);
        require(options->forecasts.evaluate.drawn.empty() || options->forecasts.evaluate.conditional,
                "--inputs goes with --conditional");
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
