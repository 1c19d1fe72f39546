#include "accrue/generate.hpp"

#include <fmt/ranges.h>

#include <memory>
#include <optional>

#include "accrue/files.hpp"
#include "commands.hpp"

namespace accrue::app {

namespace {

struct Options {
    std::string name;
    std::size_t rows = 20'000;
    std::uint64_t seed = 1;
    std::optional<double> change_at;
    std::string output;
};

void run(const Options& options) {
    AtomicFile file(options.output);  // before the work: a bad place is known at once
    const GeneratedData data = generate(options.name, options.rows, options.seed, options.change_at);
    fmt::memory_buffer text;
    text.append(fmt::format("{}\n", fmt::join(data.names, ",")));
    for (std::size_t row = 0; row < options.rows; ++row) {
        for (std::size_t column = 0; column < data.columns.size(); ++column)
            fmt::format_to(std::back_inserter(text), "{}{}", column == 0 ? "" : ",", data.columns[column][row]);
        text.push_back('\n');
        if (text.size() > (1U << 20U) || row + 1 == options.rows) {
            file.write({text.data(), text.size()});
            text.clear();
        }
    }
    file.commit();
}

}  // namespace

void add_generate(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("generate", "Make an example archive: the paper's G, Y, W, 5D, or lorenz");
    command
        ->add_option("NAME", options->name,
                     "G, Y, W (one input x) or 5D (x1..x5): the paper's toy data, with the true mean f and the true "
                     "sigma; lorenz: forecasts of a chaotic system whose error nobody knows in closed form")
        ->type_name(fmt::format("{{{}}}", fmt::join(generator_names(), ",")))
        ->required();
    command->add_option("--rows", options->rows, "Number of rows")
        ->type_name("COUNT")
        ->check(is_count())
        ->capture_default_str();
    command->add_option("--seed", options->seed, "Same seed, same rows")
        ->type_name("NUMBER")
        ->check(is_count())
        ->capture_default_str();
    command
        ->add_option("--change-at", options->change_at,
                     "lorenz: the model that forecasts is replaced by a worse one at this share of the rows, 0 to 1")
        ->type_name("SHARE");
    command->add_option("-o,--output", options->output, "CSV file to write; - is standard output")
        ->type_name("FILE")
        ->required();
    command->footer(
        "G, Y, W and 5D have the columns x (or x1..x5), f, true_sigma and y. lorenz has start_time,\n"
        "lead_time, site, the start values at the site and its neighbours, prediction and observation. The\n"
        "rows depend on nothing but NAME, --rows and --seed: they are the same on every machine.\n"
        "\n"
        "Examples:\n"
        "  accrue generate lorenz --rows 20000 --seed 1 -o lorenz.csv\n"
        "  accrue generate G --rows 100 -o - | head");
    command->callback([options] { run(*options); });
}

}  // namespace accrue::app
