#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/report.hpp"
#include "accrue/threads.hpp"
#include "commands.hpp"
#include "forecasts.hpp"
#include "lab_report.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    RowOptions rows;
    ForecastOptions forecasts;
    bool json = false;
    int threads = 0;
};

void run(const Options& options) {
    const ScoredForecasts scored(options.rows, options.forecasts);
    const std::vector<Verification> forecasts = scored.verifications();
    if (!options.json) {
        print(scored.rows().title() + "\n\n" + lab_report(forecasts, terminal_width()));
        return;
    }
    const nlohmann::ordered_json result = scores_json(forecasts, scored.rows().dropped(), scored.rows().sampled_from());
    // A label that is not UTF-8 must not cost the figures: its odd bytes become U+FFFD.
    print(result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("evaluate", "Score Gaussian forecasts: accuracy, calibration, a verdict");
    add_row_options(*command, options->rows, "Files (CSV or NetCDF), pooled into one table; - is standard input",
                    TimeUse::none);
    add_forecast_options(*command, options->forecasts);
    command->add_flag("--json", options->json, "Print one JSON object (docs/evaluate.md)");
    add_threads(*command, options->threads);
    command->footer(
        "Prints the CRPS (accuracy), the calibration error beside its floor (what a calibrated forecast of\n"
        "as many rows would show by chance), coverage of central intervals, and a verdict in words.\n"
        "docs/evaluate.md explains every figure.\n"
        "\n"
        "Examples:\n"
        "  accrue evaluate forecasts.csv --prediction mu --observation y --sigma sigma\n"
        "  accrue evaluate 2023.csv 2024.csv --error e --sigma raw --sigma tuned --group station --json\n"
        "  accrue evaluate later.csv --prediction mu --observation y --model model.json");
    command->callback([command, options] {
        require_error_columns(options->rows);
        require_forecasts(*command, options->forecasts);
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
