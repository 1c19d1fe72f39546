#include "accrue/predict.hpp"

#include <memory>

#include "accrue/threads.hpp"
#include "commands.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options : PredictOptions {
    std::string model;
    std::vector<std::string> files;
    std::string output;
    int threads = 0;
};

void run(const Options& options) {
    require_other_file(options.output, {options.model}, "result");
    predict_files(Model::load(options.model), options.files, options.output, options);
}

}  // namespace

void add_predict(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("predict", "Add sigma, quantiles and intervals to new rows");
    command->add_option("MODEL", options->model, "Model file that 'accrue fit' wrote")->type_name("FILE")->required();
    command->add_option("FILE", options->files, "New rows, CSV or NetCDF; - is standard input")
        ->type_name("FILE")
        ->required();
    command
        ->add_option("-o,--output", options->output, "File to write, in the format of the input; - is standard output")
        ->type_name("FILE")
        ->required();
    command
        ->add_option("--prediction", options->prediction,
                     "Column of the prediction mu; default: the column that the archive had")
        ->type_name("COLUMN");
    add_list(*command, "--quantiles", options->quantiles,
             "Probabilities of quantiles to add, for example 0.05,0.5,0.95")
        ->type_name("P,P,...");
    add_list(*command, "--interval", options->intervals, "Levels of central intervals to add, for example 0.9")
        ->type_name("P,P,...");
    add_list(*command, "--exceed", options->exceed,
             "Thresholds, for example 0,10: the probability of more than each is added")
        ->type_name("Y,Y,...");
    command
        ->add_option("--draws", options->draws,
                     "So many random draws from each row's forecast, at most 1,000; those of different rows are "
                     "independent")
        ->type_name("COUNT")
        ->check(is_count());
    command->add_option("--seed", options->seed, "Of the draws; the same seed gives the same draws")
        ->type_name("NUMBER")
        ->capture_default_str();
    std::map<std::string, std::string> choices;
    for (const std::string& name : off_support_names()) choices.emplace(name, name);
    add_choice(*command, "--off-support", options->off_support, choices,
               "Rows outside the archive: flag marks them, widen also widens their forecasts with the distance to the "
               "archive (docs/off-support.md), refuse stops at the first");
    command->add_flag_callback(
        "--no-state", [options] { options->state = false; },
        "Forecasts of the model as it was fitted, where it has a state ('accrue update')");
    add_missing_marks(*command, options->marks);
    add_no_header(*command, options->header);
    add_isolate(*command, options->isolate);
    add_threads(*command, options->threads);
    command->footer(
        "Every column is kept, and behind them are added:\n"
        "  mean                  the mean of the forecast: the prediction, after the model's bias correction\n"
        "                        if it has one, and recalibration if it has that\n"
        "  sigma                 the standard deviation of the forecast\n"
        "  q0.05, ...            a column for each of --quantiles\n"
        "  lower_0.9, upper_0.9  two for each --interval\n"
        "  above_10, ...         the probability of more than each of --exceed\n"
        "  draw_1, draw_2, ...   random draws, as many as --draws says\n"
        "  off_support           1 where an input lies outside the range of the archive, or in a gap of it: take\n"
        "                        care there, or widen these forecasts with --off-support widen\n"
        "A recalibrated model of the normal family also adds gaussian_mean and gaussian_sigma: mean and\n"
        "standard deviation of the Gaussian forecast that was recalibrated.\n"
        "Draws of different rows are independent of each other, even where rows err together: their sums and\n"
        "averages vary less than those of the truth. They depend on --seed and the row's number alone.\n"
        "Of a model with a state ('accrue update') forecasts are as of each row's time, which lies after what\n"
        "the state has seen; the files have its column of times, and of groups where it has some. With adaptive\n"
        "intervals (--adaptive at the first update) these are added too, as adaptive_lower_0.9 and\n"
        "adaptive_upper_0.9; they may be infinite.\n"
        "A row with a missing input keeps its place, with empty results. A column of the same name is never\n"
        "overwritten; the file is refused. Rows are streamed, so files may be larger than memory. In NetCDF\n"
        "the quantiles are one variable, and the results have the dimensions of the prediction. Where the model\n"
        "learned the mean, they have those of all inputs together, in the order of the input with the most.\n"
        "\n"
        "Examples:\n"
        "  accrue predict model.json new.csv --interval 0.9 -o out.csv\n"
        "  produce | accrue predict model.json - --quantiles 0.05,0.5,0.95 -o - | consume");
    command->callback([options] { with_threads(options->threads, [&] { run(*options); }); });
}

}  // namespace accrue::app
