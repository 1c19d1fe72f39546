#include "accrue/report.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/threads.hpp"
#include "commands.hpp"
#include "forecasts.hpp"
#include "report_files.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    RowSource rows;
    ForecastOptions forecasts;
    std::string title;
    std::string output;
    std::string figures;
    bool quiet = false;
    int threads = 0;
};

void run(Options& options) {
    std::vector<std::string> read = options.rows.files;
    read.insert(read.end(), options.forecasts.models.begin(), options.forecasts.models.end());
    ReportFiles files(options.output, options.figures, read);
    expand_columns(options.rows, options.forecasts.evaluate.drawn);
    const Evaluation evaluation = evaluate(options.rows, options.forecasts.all, options.forecasts.evaluate);
    const ReportText text = report_text(options.rows, evaluation.rows, options.title);
    const std::string said = files.write(report_data(text, evaluation.rows.archive, evaluation.forecasts));
    if (!options.quiet && options.output != "-") print(remark_lines(evaluation.rows) + said);
}

}  // namespace

void add_report(CLI::App& app) {
    auto options = std::make_shared<Options>();
    options->forecasts.evaluate.draw = true;
    options->forecasts.evaluate.conditional = true;
    CLI::App* command = app.add_subcommand("report", "Draw forecasts and their verification: one HTML page");
    add_row_options(*command, options->rows, "Files (CSV or NetCDF), pooled into one table; - is standard input",
                    TimeUse::drawn);
    add_forecast_options(*command, options->forecasts);
    add_columns(
        *command, "--inputs", options->forecasts.evaluate.drawn,
        "Columns along which errors are drawn, as forecast and as observed; default: the inputs of the models, or the "
        "prediction");
    command->add_option("--title", options->title, "Heading of the page")->type_name("TEXT");
    command->add_option("-o,--output", options->output, "Page to write; - is standard output")->type_name("FILE");
    command->add_option("--figures", options->figures, "Also write every chart as SVG and PNG into this folder")
        ->type_name("FOLDER");
    command->add_flag("--quiet", options->quiet, "Do not say what was written");
    add_threads(*command, options->threads);
    command->footer(
        "The page needs no network and no other file: mail it, archive it, open it in any browser. It shows\n"
        "the verdict, the reliability diagram, bias, spread and coverage in each place (along every input, per\n"
        "station, month and hour), the PIT histogram, observations against predictions, single rows, errors\n"
        "along the inputs, figures by station or season (--by), spread against skill, the fit, and all scores;\n"
        "of an ensemble its rank histogram, of quantiles how often observations lie below them.\n"
        "However many the rows, it stays below 1.5 MB; all rows are counted, and it says how they were\n"
        "summarised.\n"
        "Its numbers can be saved from it as JSON (docs/report-data.md).\n"
        "\n"
        "For the out-of-fold figures of a fit use 'accrue fit ... --report report.html'.\n"
        "\n"
        "Examples:\n"
        "  accrue report later.csv --prediction mu --observation y --model model.json -o report.html\n"
        "  accrue report later.csv --prediction mu --observation y --sigma usual --model model.json \\\n"
        "      --group storm --by station --time date --title 'Usual and new error bars' -o report.html --figures "
        "figures\n"
        "  accrue report later.csv --prediction mu --observation y --model model.json --members 'P*' -o report.html");
    command->callback([command, options] {
        require_no_column_among_files(options->rows, options->forecasts.evaluate.drawn);
        as_usage([&] { require_errors(options->rows.roles); });
        require_forecasts(*command, options->forecasts);
        if (options->output.empty() && options->figures.empty())
            throw CLI::RequiredError("-o FILE or --figures FOLDER");
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
