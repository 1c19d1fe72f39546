#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "accrue/model.hpp"
#include "accrue/threads.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "data/transform.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    std::string model;
    std::vector<std::string> files;
    std::string output;
    std::string prediction;
    std::vector<double> quantiles;
    std::vector<double> intervals;
    bool no_header = false;
    int threads = 0;
};

void run(const Options& options) {
    require_other_file(options.output, {options.model}, "result");
    const Model model = Model::load(options.model);
    const std::string prediction = options.prediction.empty() ? model.prediction() : options.prediction;
    core::require(prediction.empty() || !model.has_mean(), "the model has a mean of its own: it takes no --prediction");
    const bool has_mean = model.has_mean() || !prediction.empty();
    core::require(has_mean || (options.quantiles.empty() && options.intervals.empty()),
                  "quantiles and intervals lie around a prediction: name its column with --prediction");
    core::require(!prediction.empty() || !model.corrects_bias(),
                  "the model corrects the prediction: name its column with --prediction");

    data::TransformPlan plan;
    plan.inputs = model.inputs();
    plan.header = !options.no_header;
    plan.history = fmt::format("accrue predict");
    // NetCDF rows: the prediction's dimensions, or those of the first input.
    plan.rows_of = !prediction.empty() || model.inputs().empty() || !model.has_mean() ? prediction : model.inputs()[0];
    if (!prediction.empty()) plan.inputs.push_back(prediction);
    if (has_mean) plan.added.push_back({"mean", "mean of the forecast"});
    plan.added.push_back({"sigma", "standard deviation of the forecast"});
    const Distribution standard{0, 1, model.shape()};  // its quantiles are what sigma is multiplied with
    std::vector<double> factors;
    const auto add = [&](const std::string& name, const std::string& long_name, double factor, double probability) {
        plan.added.push_back({name, long_name});
        plan.added.back().probability = probability;
        factors.push_back(factor);
    };
    for (const double q : options.quantiles) {
        core::require(q > 0 && q < 1, "--quantiles: {} is not between 0 and 1", q);
        add(fmt::format("q{}", q), fmt::format("{} quantile of the forecast", q), standard.quantile(q), q);
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (const double level : options.intervals) {
        core::require(level > 0 && level < 1, "--interval: {} is not between 0 and 1", level);
        const auto [low, high] = standard.interval(level);
        add(fmt::format("lower_{}", level), fmt::format("lower end of the central {} interval", level), low, none);
        add(fmt::format("upper_{}", level), fmt::format("upper end of the central {} interval", level), high, none);
    }
    data::AddedColumn off_support{"off_support",
                                  "1 where an input lies outside the range that the model was fitted on"};
    off_support.flag = true;
    off_support.has_units_of_rows = false;
    plan.added.push_back(off_support);

    const std::size_t inputs = model.inputs().size();
    data::transform_rows(options.files, options.output, plan, [&](auto values, auto results) {
        const auto mu = prediction.empty() ? std::span<const double>{} : values[inputs];
        const Forecast forecast = forecast_rows(model, values.first(inputs), mu, results.front().size());
        std::size_t column = 0;
        if (has_mean) std::copy(forecast.mean.begin(), forecast.mean.end(), results[column++].begin());
        std::copy(forecast.sigma.begin(), forecast.sigma.end(), results[column++].begin());
        for (const double factor : factors) {
            const auto result = results[column++];
            for (std::size_t i = 0; i < result.size(); ++i) result[i] = forecast.mean[i] + factor * forecast.sigma[i];
        }
        for (std::size_t i = 0; i < forecast.sigma.size(); ++i)
            results[column][i] = std::isnan(forecast.sigma[i]) ? none : forecast.off_support[i];
    });
}

}  // namespace

void add_predict(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("predict", "Add sigma, quantiles and intervals to new rows");
    command->add_option("MODEL", options->model, "Model file that 'accrue fit' wrote")->type_name("")->required();
    command->add_option("FILE", options->files, "New rows, CSV or NetCDF; - is standard input")
        ->type_name("")
        ->required();
    command
        ->add_option("-o,--output", options->output, "File to write, in the format of the input; - is standard output")
        ->type_name("FILE")
        ->required();
    command
        ->add_option("--prediction", options->prediction,
                     "Column of the prediction mu; left out: the column that the archive had")
        ->type_name("COLUMN");
    add_list(*command, "--quantiles", options->quantiles,
             "Probabilities of quantiles to add, for example 0.05,0.5,0.95")
        ->type_name("P,P,...");
    add_list(*command, "--interval", options->intervals, "Levels of central intervals to add, for example 0.9")
        ->type_name("P,P,...");
    command->add_flag("--no-header", options->no_header, "CSV files have no header: columns are called 1, 2, ...");
    add_threads(*command, options->threads);
    command->footer(
        "Every column is kept, and behind them are added:\n"
        "  mean                  the prediction, after the model's bias correction if it has one\n"
        "  sigma                 the standard deviation of the forecast\n"
        "  q0.05, ...            a column for each of --quantiles\n"
        "  lower_0.9, upper_0.9  two for each --interval\n"
        "  off_support           1 where an input lies outside the range of the archive: take care there\n"
        "Of a recalibrated model the quantiles and intervals are the recalibrated ones; mean and sigma are the\n"
        "centre and the scale that they are built on.\n"
        "A row with a missing input keeps its place, with empty results. A column of the same name is never\n"
        "overwritten; the file is refused. Rows are streamed, so files may be larger than memory. In NetCDF\n"
        "the quantiles are one variable.\n"
        "\n"
        "Examples:\n"
        "  accrue predict model.json new.csv --interval 0.9 -o out.csv\n"
        "  produce | accrue predict model.json - --quantiles 0.05,0.5,0.95 -o - | consume");
    command->callback([options] { with_threads(options->threads, [&] { run(*options); }); });
}

}  // namespace accrue::app
