#include "accrue/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "accrue/threads.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "data/files.hpp"
#include "data/messages.hpp"
#include "lab_report.hpp"
#include "progress.hpp"
#include "report_files.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    RowOptions rows;
    std::vector<std::string> inputs;
    FitOptions fit;
    std::vector<double> split;
    std::string output;
    std::string report;
    std::string figures;
    int threads = 0;
    bool json = false;
    bool quiet = false;
};

// Every numeric column that has no other role, or the prediction when there is none.
std::vector<std::string> default_inputs(const RowOptions& rows) {
    const std::set<std::string> taken = {rows.prediction, rows.observation, rows.error,  rows.weight,
                                         rows.group,      rows.time,        "true_sigma"};
    const std::string& file = rows.files[0];
    std::error_code ignored;
    core::require(file != "-" && !std::filesystem::is_other(std::filesystem::status(file, ignored)),
                  "{} can be read only once, so its columns cannot be looked at first: name some with --inputs",
                  data::display_name(file));
    std::vector<std::string> inputs;
    for (const std::string& name : numeric_columns(file, rows.read_options()))
        if (taken.count(name) == 0) inputs.push_back(name);
    if (inputs.empty() && !rows.prediction.empty()) inputs.push_back(rows.prediction);
    core::require(!inputs.empty(), "{} has no numeric column that could be an input; name some with --inputs",
                  data::display_name(file));
    return inputs;
}

// What the page shows of a fit: the rows that were held out, each with the error and sigma of models that never saw it.
nlohmann::ordered_json fit_report_data(const Options& options, const RoleTable& rows, const Archive& archive,
                                       const FitResult& result) {
    std::vector<std::size_t> held_out;
    for (std::size_t i = 0; i < result.sigmas.size(); ++i)
        if (!std::isnan(result.sigmas[i])) held_out.push_back(i);
    std::deque<std::vector<double>> own;
    const auto taken = [&](std::span<const double> values) -> std::span<const double> {
        std::vector<double>& some = own.emplace_back();
        if (!values.empty())
            for (const std::size_t i : held_out) some.push_back(values[i]);
        return some;
    };
    ReportRows drawn;
    drawn.weights = taken(archive.weights);
    std::vector<std::uint32_t> codes;
    if (!archive.groups.codes.empty())
        for (const std::size_t i : held_out) codes.push_back(archive.groups.codes[i]);
    drawn.groups = {codes, archive.groups.labels};
    drawn.times = taken(archive.times);
    drawn.times_are_dates = rows.times_are_dates();
    drawn.input_names = options.inputs;
    for (const auto& input : archive.inputs) drawn.inputs.push_back(taken(input));

    ReportForecast forecast;
    forecast.verification = result.verification;
    forecast.model = &result.model;
    forecast.errors = taken(result.errors);
    forecast.sigmas = taken(result.sigmas);
    if (!archive.observation.empty()) {
        std::vector<double>& means = own.emplace_back();
        for (const std::size_t i : held_out) means.push_back(archive.observation[i] - result.errors[i]);
        forecast.means = means;
    } else if (!archive.prediction.empty()) {
        // The mean is what the observation would be without the error that is left.
        std::vector<double>& means = own.emplace_back();
        for (const std::size_t i : held_out)
            means.push_back(archive.prediction[i] + (archive.errors[i] - result.errors[i]));
        forecast.means = means;
    }
    ReportText text = report_text(options.rows, rows, fmt::format("Fit report: {}", options.output));
    text.kind = result.verification.name;
    text.verdict = result.verdict;
    return report_data(text, drawn, std::span(&forecast, 1));
}

void run(Options& options) {
    require_other_file(options.output, options.rows.files, "model");
    core::require(options.report.empty() || options.report != options.output,
                  "-o and --report name the same file, {}: give them one each", data::display_name(options.output));
    ReportFiles report(options.report, options.figures, options.rows.files);
    core::require(!(options.json && options.output == "-"),
                  "-o - and --json both write to standard output: give the model a file");
    if (options.inputs.empty() && options.fit.form != "constant") options.inputs = default_inputs(options.rows);
    data::AtomicFile file(options.output);  // before the work: a bad place is known at once
    RowPlan plan;
    for (const std::string& input : options.inputs) {
        core::require(std::count(options.inputs.begin(), options.inputs.end(), input) == 1, "--inputs names '{}' twice",
                      input);
        core::require(input != options.rows.observation && input != options.rows.error,
                      "--inputs names '{}', which is what the errors are made of: it is not known when predicting",
                      input);
        plan.read.push_back({input});
        plan.kept.push_back(input);
    }
    if (!options.rows.prediction.empty()) plan.kept.push_back(options.rows.prediction);
    if (options.fit.mean != "none") plan.kept.push_back(options.rows.observation);
    plan.work_bytes = fit_bytes_per_row(options.inputs.size(), options.fit);
    // The report has a copy of what it draws.
    if (report.wanted()) plan.work_bytes += (options.inputs.size() + 5) * sizeof(double);
    plan.seed = options.fit.seed;
    const RoleTable rows(options.rows, plan);

    Archive archive;
    archive.input_names = options.inputs;
    for (const std::string& input : options.inputs) archive.inputs.push_back(rows.numbers(input));
    archive.errors = rows.errors();
    archive.prediction = rows.prediction();
    archive.observation = rows.observation();
    archive.weights = rows.weights();
    archive.groups = rows.groups();
    archive.times = rows.times();
    archive.sampled_from = rows.sampled_from();
    archive.prediction_name = options.rows.prediction;
    archive.observation_name = options.rows.observation;
    archive.error_name = options.rows.error;
    archive.weight_name = options.rows.weight;
    archive.group_name = options.rows.group;
    archive.time_name = options.rows.time;

    const FitResult result = [&] {
        Progress progress(options.quiet);
        return fit(archive, options.fit, std::ref(progress));
    }();
    file.write(result.model.text());
    file.commit();
    const std::string reported = report.wanted() ? report.write(fit_report_data(options, rows, archive, result)) : "";

    if (options.json) {
        nlohmann::ordered_json json = to_json(result.verification);
        json["dropped"] = rows.dropped();
        if (rows.sampled_from() > 0) json["sampled_from"] = rows.sampled_from();
        json["verdict"] = {{"summary", result.verdict.summary}, {"remarks", result.verdict.remarks}};
        json["model"] = options.output;
        json["inputs"] = options.inputs;
        json["fit"] = result.model.json()["fit"];
        // A label that is not UTF-8 must not cost the figures.
        print(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
        return;
    }
    if (options.output == "-") return;
    std::size_t kept = 0;
    for (const StartOutcome& start : result.starts) kept += start.kept ? 1 : 0;
    std::string text =
        fmt::format("{}\n{} of {}; {} recipe, {} of {} starts kept\n\n", rows.title(), options.fit.form,
                    options.inputs.empty() ? "no inputs" : fmt::format("{}", fmt::join(options.inputs, ", ")),
                    options.fit.recipe, kept, result.starts.size());
    text += lab_report(std::span(&result.verification, 1), terminal_width(), &result.verdict);
    text += fmt::format("\nModel written to {}. Forecast with: accrue predict {} NEW.csv -o OUT.csv\n", options.output,
                        options.output);
    print(text + reported);
}

}  // namespace

void add_fit(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("fit", "Learn sigma(x) from an archive; verify it; write a model file");
    add_row_options(*command, options->rows, "Archives (CSV or NetCDF), pooled into one table; - is standard input",
                    TimeUse::folds);
    add_list(*command, "--inputs", options->inputs,
             "Columns that sigma may depend on; left out: every numeric column that has no other role, or the "
             "prediction itself when there is none")
        ->type_name("COLUMN,...");
    const auto words = [](std::initializer_list<const char*> list) {
        std::map<std::string, std::string> choices;
        for (const char* word : list) choices[word] = word;
        return choices;
    };
    add_choice(*command, "--form", options->fit.form, words({"network", "polynomial", "clusters", "constant"}),
               "Shape of sigma(x); a polynomial takes one input, clusters have one sigma each");
    add_choice(*command, "--recipe", options->fit.recipe, words({"default", "paper"}),
               "default: folds, every row is used and every row is held out once; paper: one random split");
    add_choice(*command, "--score", options->fit.score, words({"ar", "crps", "nlpd"}),
               "Cost to minimise: accuracy and reliability together, or one score alone");
    command->add_option("--balance", options->fit.balance, "ar: weight of accuracy against reliability, 0 to 1")
        ->type_name("NUMBER")
        ->capture_default_str();
    add_choice(
        *command, "--mean", options->fit.mean, words({"none", "gp", "network"}),
        "Learn the mean too, from --observation alone: a Gaussian process (up to 5,000 rows) or networks; a row's "
        "error comes from means that never saw it");
    add_choice(*command, "--bias", options->fit.bias, words({"none", "constant", "linear"}),
               "Correct the prediction by a constant, or linearly in the inputs and the prediction");
    add_choice(*command, "--recalibrate", options->fit.recalibrate, words({"none", "isotonic"}),
               "Map the forecast's probabilities to what held-out rows showed, for errors that are skewed");
    command->add_option("--folds", options->fit.folds, "Number of folds (default recipe)")
        ->check(is_count())
        ->type_name("COUNT")
        ->capture_default_str();
    command->add_option("--starts", options->fit.starts, "Random starts a fold; 0: 3, or 5 for the paper's recipe")
        ->check(is_count())
        ->type_name("COUNT");
    add_list(*command, "--split", options->split,
             "Shares of rows for training and validation (paper recipe); the rest is the test set")
        ->type_name("SHARE,SHARE")
        ->default_str("0.33,0.33");
    command->add_flag_callback(
        "--no-stages", [options] { options->fit.stages = false; },
        "Train on all rows throughout; else networks on 100,000 rows and more begin on growing samples");
    command->add_option("--seed", options->fit.seed, "Same seed, same model")
        ->check(is_count())
        ->type_name("NUMBER")
        ->capture_default_str();
    add_threads(*command, options->threads);
    command->add_option("-o,--output", options->output, "Model file to write; - is standard output")
        ->type_name("FILE")
        ->required();
    command->add_option("--report", options->report, "Also draw the out-of-fold verification: one HTML page")
        ->type_name("FILE");
    command->add_option("--figures", options->figures, "Also write the charts of that page as SVG and PNG")
        ->type_name("FOLDER");
    command->add_flag("--json", options->json, "Print one JSON object in place of the report");
    command->add_flag("--quiet", options->quiet, "No progress");
    command->footer(
        "Learns how large the errors y - mu are, as a function of the inputs, so that a prediction mu\n"
        "becomes the normal distribution N(mu, sigma(x)^2). The report is honest: each row is scored by a\n"
        "model that never saw it (or, in the paper's recipe, on the test set). The model file is the same,\n"
        "byte for byte, for any number of threads.\n"
        "\n"
        "Rows that belong together (one storm, one start of a simulation) must not be split between folds:\n"
        "name what they share with --group. If the future has to be forecast from the past, name the time\n"
        "with --time. Where the verdict says 'biased', try --bias.\n"
        "\n"
        "Examples:\n"
        "  accrue fit archive.csv --inputs lead_time,wind --prediction mu --observation y -o model.json\n"
        "  accrue fit a.nc b.nc --error e --group station --time time --bias linear -o model.json");
    command->callback([options] {
        require_error_columns(options->rows);
        if (options->fit.mean == "none" && options->rows.error.empty() && options->rows.prediction.empty())
            throw CLI::RequiredError("--prediction (or --mean gp|network, which learns one)");
        if (options->fit.mean != "none" && (!options->rows.error.empty() || !options->rows.prediction.empty()))
            throw CLI::ValidationError("--mean", "is for archives without predictions: give --observation alone");
        if (!options->split.empty()) {
            if (options->split.size() != 2)
                throw CLI::ValidationError("--split", "takes two shares, such as 0.56,0.14");
            options->fit.training_share = options->split[0];
            options->fit.validation_share = options->split[1];
        }
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
