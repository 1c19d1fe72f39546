#include "accrue/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/threads.hpp"
#include "commands.hpp"
#include "data/messages.hpp"
#include "forecasts.hpp"
#include "report_files.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    RowOptions rows;
    ForecastOptions forecasts;
    std::vector<std::string> inputs;
    std::string title;
    std::string output;
    std::string figures;
    bool quiet = false;
    int threads = 0;
};

// Sigma is drawn along the columns that were named, else along all inputs of the models, else along the prediction.
std::vector<std::string> drawn_inputs(const Options& options, const std::deque<Model>& models) {
    std::vector<std::string> names = options.inputs;
    if (names.empty())
        for (const Model& model : models)
            for (const std::string& input : model.inputs())
                if (std::count(names.begin(), names.end(), input) == 0) names.push_back(input);
    if (names.empty() && !options.rows.prediction.empty()) names.push_back(options.rows.prediction);
    return names;
}

std::string default_title(const Options& options) {
    const std::size_t count = options.forecasts.sigmas.size() + options.forecasts.models.size();
    if (count > 1) return fmt::format("{} forecasts compared", count);
    const std::string& name =
        options.forecasts.models.empty() ? options.forecasts.sigmas[0] : options.forecasts.models[0];
    return fmt::format("Forecast report: {}", name);
}

void run(const Options& options) {
    std::vector<std::string> read = options.rows.files;
    read.insert(read.end(), options.forecasts.models.begin(), options.forecasts.models.end());
    ReportFiles files(options.output, options.figures, read);
    const ScoredForecasts scored(options.rows, options.forecasts, ScoredForecasts::Purpose::draw, options.inputs);
    const RoleTable& rows = scored.rows();

    ReportRows drawn;
    drawn.weights = rows.weights();
    drawn.groups = rows.groups();
    drawn.times = rows.times();
    drawn.times_are_dates = rows.times_are_dates();
    drawn.input_names = drawn_inputs(options, scored.models());
    for (const std::string& name : drawn.input_names) drawn.inputs.push_back(rows.numbers(name));
    std::vector<ReportForecast> forecasts;
    for (const ScoredForecast& f : scored.forecasts())
        forecasts.push_back({f.verification, f.errors, f.sigmas, f.means, f.model});
    ReportText text = report_text(options.rows, rows, options.title.empty() ? default_title(options) : options.title);
    text.verdict = verdict(forecasts[0].verification);
    const std::string said = files.write(report_data(text, drawn, forecasts));
    if (!options.quiet && options.output != "-") print(said);
}

}  // namespace

void add_report(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("report", "Draw forecasts and their verification: one HTML page");
    add_row_options(*command, options->rows, "Files (CSV or NetCDF), pooled into one table; - is standard input",
                    TimeUse::drawn);
    add_forecast_options(*command, options->forecasts);
    add_list(*command, "--inputs", options->inputs,
             "Columns along which sigma is drawn beside the errors' spread; left out: the inputs of the models, or the "
             "prediction")
        ->type_name("COLUMN,...");
    command->add_option("--title", options->title, "Heading of the page")->type_name("TEXT");
    command->add_option("-o,--output", options->output, "Page to write; - is standard output")->type_name("FILE");
    command->add_option("--figures", options->figures, "Also write every chart as SVG and PNG into this folder")
        ->type_name("FOLDER");
    command->add_flag("--quiet", options->quiet, "Do not say what was written");
    add_threads(*command, options->threads);
    command->footer(
        "The page needs no network and no other file: mail it, archive it, open it in any browser. It shows\n"
        "the verdict, the reliability diagram, the PIT histogram, observations against predictions, sigma\n"
        "along the inputs, groups, spread against skill, the fit, and all scores. However many the rows,\n"
        "it stays below 1.5 MB; all rows are counted, and it says how they were summarised.\n"
        "Its numbers can be saved from it as JSON (docs/report-data.md).\n"
        "\n"
        "For the out-of-fold figures of a fit use 'accrue fit ... --report report.html'.\n"
        "\n"
        "Examples:\n"
        "  accrue report later.csv --prediction mu --observation y --model model.json -o report.html\n"
        "  accrue report later.csv --prediction mu --observation y --sigma usual --model model.json \\\n"
        "      --group station --time date --title 'Usual and new error bars' -o report.html --figures figures");
    command->callback([command, options] {
        require_error_columns(options->rows);
        require_forecasts(*command, options->forecasts);
        if (options->output.empty() && options->figures.empty())
            throw CLI::RequiredError("-o FILE or --figures FOLDER");
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
