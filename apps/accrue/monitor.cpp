#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/threads.hpp"
#include "report_files.hpp"
#include "timed.hpp"

namespace accrue::app {

namespace {

constexpr int kAlarm = 3;

struct Options : MonitorOptions {
    std::string model;
    RowSource rows;
    std::string report;
    bool json = false;
    int threads = 0;
};

void run(const Options& options) {
    std::vector<std::string> read = options.rows.files;
    read.push_back(options.model);
    ReportFiles report(options.report, "", read);
    const Model model = Model::load(options.model);
    const TimedRows rows = read_timed_rows(model, options.rows);
    const Monitor result = monitor(model, rows, options);
    std::string reported;
    if (report.wanted()) {
        ReportText text;
        text.title = fmt::format("Monitor: {}", options.model);
        text.command = command_line();
        text.files = read;
        text.dropped = rows.dropped;
        reported = report.write(monitor_report_data(text, model, rows, result));
    }
    print(options.json ? to_json(result).dump(2) + "\n" : result.sentence + "\n" + reported);
    if (result.alarm) throw CLI::RuntimeError(kAlarm);
}

}  // namespace

void add_monitor(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("monitor", "Tell whether the world has moved away from a model");
    command->add_option("MODEL", options->model, "Model file that 'accrue fit' wrote")->type_name("FILE")->required();
    command->add_option("FILE", options->rows.files, "All rows since the model was fitted whose observations are known")
        ->type_name("FILE")
        ->required();
    add_timed_rows(*command, options->rows);
    command
        ->add_option("--alpha", options->alpha,
                     "Probability of ever alarming while nothing has changed, however often one looks")
        ->type_name("P")
        ->capture_default_str();
    command->add_option("--report", options->report, "Also draw the evidence through time: one HTML page")
        ->type_name("FILE");
    command->add_flag("--json", options->json, "Print one JSON object, with the evidence after every time");
    add_threads(*command, options->threads);
    command->footer(
        "A sequential test of whether the forecasts still err as they did when the model was verified: a\n"
        "conformal test martingale of the fitted model's PITs, whose state plays no part. It is valid at every\n"
        "moment, so it may be run every day on all rows so far. It also tells how many rows lie outside the\n"
        "range of the archive. Exit status 0: no alarm; 3: alarm; others as for every command.\n"
        "\n"
        "Examples:\n"
        "  accrue monitor model.json since_the_fit.csv --time date --report drift.html\n"
        "  accrue monitor model.json since_the_fit.csv --time date --json > drift.json");
    command->callback([options] { with_threads(options->threads, [&] { run(*options); }); });
}

}  // namespace accrue::app
