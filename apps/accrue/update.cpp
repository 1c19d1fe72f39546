#include <fmt/format.h>

#include <memory>

#include "accrue/threads.hpp"
#include "timed.hpp"

namespace accrue::app {

namespace {

struct Options {
    std::string model;
    RowSource rows;
    AdaptOptions adapt;
    std::string output;
    int threads = 0;
};

void run(Options& options) {
    require_other_file(options.output, options.rows.files, "model");
    const Model model = Model::load(options.model);
    expand_columns(options.rows, options.adapt.correct);
    const State* before = model.state();
    const TimedRows rows =
        read_timed_rows(model, options.rows, "", before != nullptr ? before->options().levels : options.adapt.levels);
    options.adapt.time = options.rows.roles.time;
    options.adapt.group = options.rows.roles.group;
    const Model moved = update(model, rows, options.adapt);
    moved.save(options.output);
    if (options.output == "-") return;
    const State& state = *moved.state();
    print(fmt::format("{} added; the state has seen {} at {} up to {}\n", counted(rows.times.size(), "row"),
                      counted(state.rows(), "row"), counted(state.steps(), "time"),
                      time_text(state.clock(), rows.dates)));
    if (state.tails().empty()) return;
    print(rows.issued.empty()
              ? "Adaptive intervals are taken to have been made from all that came before each time: the rows have no "
                "columns adaptive_lower_..., adaptive_upper_... of those that were issued\n"
              : "Adaptive intervals are those that the rows have\n");
}

}  // namespace

void add_update(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("update", "Let a model learn from observations that have arrived");
    command->add_option("MODEL", options->model, "Model file that 'accrue fit' or 'accrue update' wrote")
        ->type_name("FILE")
        ->required();
    command
        ->add_option("FILE", options->rows.files, "Rows whose observations have arrived, in the order of their times")
        ->type_name("FILE")
        ->required();
    command->add_option("-o,--output", options->output, "Model file to write, which may be the one that was read")
        ->type_name("FILE")
        ->required();
    add_timed_rows(*command, options->rows);
    add_adapt_options(*command, options->rows, options->adapt);
    add_threads(*command, options->threads);
    command->footer(
        "Moves the state in the model file: by how much, and how widely, observations have differed from the\n"
        "forecasts of late. 'accrue predict' then moves its forecasts by as much. What the state is made with\n"
        "(--group, --forget, --shrink, --correct, --shape, --adaptive) is said at the first update and kept.\n"
        "Updating in one go or day by day gives the same file. Rows that the state has seen, and rows out of\n"
        "order, are refused; the model file then stays as it was. docs/operation.md has a worked example.\n"
        "\n"
        "What --adaptive promises is about intervals that were issued: where the rows have the columns\n"
        "adaptive_lower_0.9 and adaptive_upper_0.9 that 'accrue predict' wrote, the record goes by them.\n"
        "\n"
        "Examples:\n"
        "  accrue update model.json january.csv --time date --group station -o model.json\n"
        "  accrue update model.json yesterday.csv -o model.json");
    command->callback([options] { with_threads(options->threads, [&] { run(*options); }); });
}

}  // namespace accrue::app
