#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "accrue/files.hpp"
#include "accrue/threads.hpp"
#include "lab_report.hpp"
#include "report_files.hpp"
#include "timed.hpp"

namespace accrue::app {

namespace {

struct Options : ReplayOptions {
    std::string model;
    RowSource rows;
    std::string lead;
    std::vector<double> quantiles;
    std::vector<double> intervals = {0.9};
    std::string output;
    std::string report;
    bool json = false;
    int threads = 0;
};

// A cell of text as CSV has it.
std::string cell(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

void write_forecasts(const Options& options, const TimedRows& rows, const Replay& replay, AtomicFile& file) {
    const bool grouped = !rows.groups.codes.empty();
    const std::vector<double>& levels = replay.state.options().levels;
    std::string text = fmt::format("time{},observation,mean,sigma", grouped ? ",group" : "");
    for (const double q : options.quantiles) text += fmt::format(",q{}", q);
    for (const double level : options.intervals) text += fmt::format(",lower_{0},upper_{0}", level);
    for (const double level : levels) text += fmt::format(",adaptive_lower_{0},adaptive_upper_{0}", level);
    text += ",static_mean,static_sigma,shift,scale,off_support\n";
    const Forecast& forecast = replay.forecast;
    const RowFamilies families(forecast.families(), forecast.sigma.size());
    const Limits limits = forecast.family->limits();
    // What all rows have alike is found once.
    const bool alike = !families.alike().empty();
    std::vector<double> alike_quantiles;
    std::vector<std::pair<double, double>> alike_intervals;
    if (alike) {
        const Standardised& row = families.alike().front();
        for (const double q : options.quantiles) alike_quantiles.push_back(row.quantile(q));
        for (const double level : options.intervals) alike_intervals.push_back(row.interval(level));
    }
    for (std::size_t i = 0; i < rows.times.size(); ++i) {
        if (replay.scored[i] == 0) continue;
        const double mean = forecast.mean[i];
        const double sigma = forecast.sigma[i];
        // Into memory of its own, which is quicker than letter by letter into a string.
        const auto add_number = [&](double value) {
            std::array<char, 32> digits;  // the longest double has 24
            text.append(digits.data(), fmt::format_to(digits.data(), FMT_COMPILE("{}"), value));
        };
        const auto add_value = [&](double value) {
            text += ',';
            add_number(value);
        };
        const auto place = [&](double z) { return limits.hold(mean + z * sigma, sigma); };
        if (rows.dates)
            text += time_text(rows.times[i], true);
        else
            add_number(rows.times[i]);
        if (grouped) text += "," + cell(rows.groups.labels[rows.groups.codes[i]]);
        for (const double value : {rows.observation[i], mean, sigma}) add_value(value);
        families.with(i, [&](const Standardised& row) {
            for (std::size_t k = 0; k < options.quantiles.size(); ++k)
                add_value(place(alike ? alike_quantiles[k] : row.quantile(options.quantiles[k])));
            const auto add = [&](std::pair<double, double> ends) {
                add_value(place(ends.first));
                add_value(place(ends.second));
            };
            for (std::size_t k = 0; k < options.intervals.size(); ++k)
                add(alike ? alike_intervals[k] : row.interval(options.intervals[k]));
            for (std::size_t k = 0; k < levels.size(); ++k)
                add(adaptive_interval(row, replay.tails[i * levels.size() + k]));
            return 0;
        });
        for (const double value :
             {replay.fixed.mean[i], replay.fixed.sigma[i], replay.moves[i].shift, replay.moves[i].scale})
            add_value(value);
        text += forecast.off_support[i] == 0 ? ",0\n" : ",1\n";
        if (text.size() > (1U << 20U)) {
            file.write(text);
            text.clear();
        }
    }
    file.write(text);
}

std::string summary(const Replay& replay) {
    std::vector<ReportForecast> forecasts(2);
    forecasts[0].verification = replay.figures;
    forecasts[1].verification = replay.fixed_figures;
    const double forget = replay.state.forget();
    const double unit = replay.state.options().dates ? 86400 : 1;
    const std::string comparison = fmt::format(
        "The model that learns has a CRPS of {:.4g}, the static one of {:.4g}; twice the mean pinball loss over the "
        "deciles is {:.4g} and {:.4g}. Last, observations were forgotten {}{}.",
        replay.figures.crps, replay.fixed_figures.crps, replay.pinball, replay.fixed_pinball,
        std::isinf(forget) ? std::string("never")
                           : fmt::format("over {:.3g}{}", forget / unit, unit > 1 ? " days" : ""),
        replay.state.options().shrink.size() > 1
            ? fmt::format(", and {:.3g} spoke for the fitted model", replay.state.shrink())
            : std::string());
    std::string text = lab_report(forecasts, terminal_width(), comparison);
    if (!replay.refits.empty())
        text += fmt::format("Fitted again {}, last at {} to {}\n", counted(replay.refits.size(), "time"),
                            time_text(replay.refits.back().time, replay.state.options().dates),
                            counted(replay.refits.back().rows, "row"));
    for (const Coverage& one : replay.adaptive)
        text += fmt::format("Adaptive {:.3g}% interval: coverage {:.1f}%, mean width {:.4g}\n", 100 * one.level,
                            100 * one.observed, one.mean_width);
    return text;
}

void run(Options& options) {
    require(options.output.empty() || options.output != "-" || !options.json,
            "forecasts and --json cannot both go to standard output");
    if (!options.output.empty()) {
        require_other_file(options.output, options.rows.files, "forecasts");
        require_other_file(options.output, {options.model}, "forecasts");
    }
    for (const double q : options.quantiles)
        require(q > 0 && q < 1, fmt::format("--quantiles: {} is not between 0 and 1", q));
    for (const double level : options.intervals)
        require(level > 0 && level < 1, fmt::format("--interval: {} is not between 0 and 1", level));
    const std::unique_ptr<AtomicFile> file =
        options.output.empty() ? nullptr : std::make_unique<AtomicFile>(options.output);
    require(options.report.empty() || options.report != options.output,
            fmt::format("-o and --report name the same file, {}: give them one each", options.output));
    std::vector<std::string> read = options.rows.files;
    read.push_back(options.model);
    ReportFiles report(options.report, "", read);
    const Model model = Model::load(options.model);
    expand_columns(options.rows, options.correct);
    const TimedRows rows = read_timed_rows(model, options.rows, options.lead);
    options.time = options.rows.roles.time;
    options.group = options.rows.roles.group;
    const Replay result = replay(model, rows, options);
    if (file) {
        write_forecasts(options, rows, result, *file);
        file->commit();
    }
    std::string reported;
    if (report.wanted()) {
        ReportText text;
        text.title = fmt::format("Replay: {}", options.model);
        text.command = command_line();
        text.files = read;
        text.dropped = rows.dropped;
        reported = report.write(replay_report_data(text, model, rows, result));
    }
    if (options.output == "-") return;
    // A label that is not UTF-8 must not cost the figures: its odd bytes become U+FFFD.
    print(options.json ? to_json(result).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
                       : summary(result) + reported);
}

}  // namespace

void add_replay(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("replay", "Go through an archive as in operation: forecast, observe, learn");
    command->add_option("FILE", options->rows.files, "Rows with their observations, in any order")
        ->type_name("FILE")
        ->required();
    command->add_option("--model", options->model, "Model file that 'accrue fit' wrote on earlier rows")
        ->type_name("FILE")
        ->required();
    command->add_option("-o,--output", options->output, "CSV file to write the forecasts to; - is standard output")
        ->type_name("FILE");
    command
        ->add_option("--report", options->report,
                     "Also draw scores, calibration and coverage along time, adapting beside static: one HTML page")
        ->type_name("FILE");
    add_timed_rows(*command, options->rows);
    command
        ->add_option("--delay", options->delay,
                     "How long after its time an observation is known: 2d, 6h (of plain numbers a number); default: "
                     "before the next time")
        ->type_name("DURATION");
    command
        ->add_option("--lead", options->lead,
                     "Column of how long before its time each row was forecast, in the unit of the times (seconds for "
                     "dates): 'lead_hours * 3600'")
        ->type_name("COLUMN");
    command
        ->add_option("--from", options->from,
                     "Score and write the rows from this time on; those before only move the state")
        ->type_name("TIME");
    command
        ->add_option("--refit", options->refit,
                     "Fit the model again so often, to what is known by then, from where the last fit ended: 30d")
        ->type_name("DURATION");
    command
        ->add_option("--window", options->window,
                     "With --refit: how long before it the rows of a fit begin: 365d; when that has passed comes the "
                     "first")
        ->type_name("DURATION");
    add_adapt_options(*command, options->rows, *options);
    add_list(*command, "--quantiles", options->quantiles, "Probabilities of quantiles to write")->type_name("P,P,...");
    add_list(*command, "--interval", options->intervals, "Levels of central intervals to write")
        ->type_name("P,P,...")
        ->default_str("0.9");
    command->add_flag("--json", options->json, "Print one JSON object (docs/operation.md)");
    add_threads(*command, options->threads);
    command->footer(
        "Each row is forecast from what had been observed by then, by a model that learns as 'accrue update'\n"
        "does, and scored beside the same model without. The archive should be later than the rows that the\n"
        "model was fitted on. Nothing looks ahead, --forget auto neither. docs/operation.md explains it.\n"
        "\n"
        "Examples:\n"
        "  accrue replay 2023.csv --model model.json --time date -o forecasts.csv --report replay.html\n"
        "  accrue replay 2023.csv --model model.json --time date --group station --delay 2d --forget 10d --json");
    command->callback([options] { with_threads(options->threads, [&] { run(*options); }); });
}

}  // namespace accrue::app
