#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/model.hpp"
#include "accrue/threads.hpp"
#include "accrue/verify.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "lab_report.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    RowOptions rows;
    std::vector<std::string> sigmas;
    std::vector<std::string> models;
    std::vector<double> levels = {0.5, 0.9, 0.95};
    bool json = false;
    int threads = 0;
};

nlohmann::ordered_json to_json(const Verification& forecast, std::size_t dropped) {
    nlohmann::ordered_json figures = accrue::to_json(forecast);
    nlohmann::ordered_json result;
    for (auto& [key, value] : figures.items()) {
        result[key] = std::move(value);
        if (key == "rows") result["dropped"] = dropped;
    }
    return result;
}

// Figures of a model on the rows: its errors are those that its bias correction leaves.
Verification verify_model(const Model& model, const RoleTable& rows, const RowOptions& roles,
                          const VerifyOptions& verify_options) {
    std::vector<std::span<const double>> inputs;
    for (const std::string& input : model.inputs()) inputs.push_back(rows.table().numbers(input));
    const Forecast forecast = forecast_rows(model, inputs, rows.prediction(), rows.table().rows());
    if (!model.corrects_bias())
        return verify(rows.errors(), forecast.sigma, rows.weights(), rows.groups(), verify_options);
    const auto y = rows.table().numbers(roles.observation);
    std::vector<double> errors(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) errors[i] = y[i] - forecast.mean[i];
    return verify(errors, forecast.sigma, rows.weights(), rows.groups(), verify_options);
}

void run(const Options& options) {
    for (const double level : options.levels)
        core::require(level > 0 && level < 1, "--levels: {} is not between 0 and 1", level);
    std::vector<Model> models;
    std::vector<ColumnRequest> columns;
    for (const std::string& sigma : options.sigmas) columns.push_back({sigma, Kind::number, Rule::positive});
    for (const std::string& path : options.models) {
        models.push_back(Model::load(path));
        core::require(!models.back().corrects_bias() || options.rows.error.empty(),
                      "{} corrects the prediction: give --prediction and --observation in place of --error", path);
        for (const std::string& input : models.back().inputs()) columns.push_back({input});
    }
    const RoleTable rows(options.rows, columns);

    VerifyOptions verify_options;
    verify_options.levels = options.levels;
    std::vector<Verification> forecasts;
    for (const std::string& sigma : options.sigmas) {
        forecasts.push_back(
            verify(rows.errors(), rows.table().numbers(sigma), rows.weights(), rows.groups(), verify_options));
        forecasts.back().name = sigma;
    }
    for (std::size_t m = 0; m < models.size(); ++m) {
        forecasts.push_back(verify_model(models[m], rows, options.rows, verify_options));
        forecasts.back().name = options.models[m];
    }
    if (!options.json) {
        print(rows.title() + "\n\n" + lab_report(forecasts, terminal_width()));
        return;
    }
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Verification& forecast : forecasts) list.push_back(to_json(forecast, rows.table().dropped()));
    const nlohmann::ordered_json result =
        list.size() == 1 ? list[0] : nlohmann::ordered_json{{"forecasts", std::move(list)}};
    // A label that is not UTF-8 must not cost the figures: its odd bytes become U+FFFD.
    print(result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("evaluate", "Score Gaussian forecasts: accuracy, calibration, a verdict");
    add_row_options(*command, options->rows, "Files (CSV or NetCDF), pooled into one table; - is standard input",
                    false);
    add_repeatable(*command, "--sigma", options->sigmas,
                   "Column of the forecast's standard deviation; repeat it to compare forecasts of the same rows")
        ->type_name("COLUMN");
    add_repeatable(
        *command, "--model", options->models,
        "Model file whose forecast of these rows is scored, in place of a column or beside it; may be repeated")
        ->type_name("FILE");
    add_list(*command, "--levels", options->levels, "Central intervals to check")
        ->type_name("P,P,...")
        ->default_str("0.5,0.9,0.95");
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
    command->callback([options] {
        require_error_columns(options->rows);
        if (options->sigmas.empty() && options->models.empty()) throw CLI::RequiredError("--sigma or --model");
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
