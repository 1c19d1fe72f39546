#include "paper/reproduce.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "accrue/threads.hpp"
#include "commands.hpp"

namespace accrue::app {

namespace {

struct Options {
    std::string what;
    ReproduceOptions reproduce;
    bool quiet = false;
    int threads = 0;
};

// "table1: 12 of 360 runs, about 25 min left": one line that rewrites itself on a terminal, lines now and then
// elsewhere.
class RunProgress {
public:
    explicit RunProgress(bool quiet) : quiet_(quiet), live_(::isatty(STDERR_FILENO) == 1) {}
    ~RunProgress() {
        if (written_ && live_) say("\n");
    }
    RunProgress(const RunProgress&) = delete;
    RunProgress& operator=(const RunProgress&) = delete;

    bool operator()(const ReproduceProgress& p) {
        const auto now = std::chrono::steady_clock::now();
        constexpr std::chrono::seconds kBetweenLines{10};
        if (quiet_ || (!live_ && written_ && p.done < p.all && now - last_ < kBetweenLines)) return true;
        const double seconds = std::chrono::duration<double>(now - begin_).count();
        std::string text = fmt::format("{}: {} of {} runs", p.item, p.done, p.all);
        if (p.share > 0) {  // else nothing was computed yet
            const double left = seconds * (1 / p.share - 1);
            text += fmt::format(", about {:.0f} {} left", left < 100 ? left : left / 60, left < 100 ? "s" : "min");
        }
        say(live_ ? fmt::format("\r\033[K{}", text) : fmt::format("{}\n", text));
        last_ = now;
        written_ = true;
        return true;
    }

private:
    bool quiet_;
    bool live_;
    bool written_ = false;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point last_;
};

void run(Options& options) {
    const std::vector<std::string> known = reproducible_items();
    options.reproduce.items = options.what == "all" ? known : std::vector<std::string>{options.what};
    options.reproduce.command = command_line();
    std::string missing;
    std::vector<std::string> written;
    {
        RunProgress progress(options.quiet);
        written = reproduce(options.reproduce, std::ref(progress), missing);
    }
    std::string text = fmt::format("{} files written to {}.", written.size(), options.reproduce.folder);
    if (missing.empty())
        text += fmt::format(" Open {}/index.html in a browser.\n", options.reproduce.folder);
    else
        text += fmt::format(" Numbers only: {}.\n", missing);
    print(text);
}

}  // namespace

void add_reproduce(CLI::App& app) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("reproduce", "Compute the paper's figures and Table 1 again");
    command->add_option("ITEM", options->what, "figure1 to figure7, table1, or all")
        ->type_name(fmt::format("{{{},all}}", fmt::join(reproducible_items(), ",")))
        ->required();
    command->add_option("-o,--output", options->reproduce.folder, "Folder to write to")
        ->type_name("FOLDER")
        ->required();
    command
        ->add_option("--runs", options->reproduce.runs,
                     "Independent runs of figures 4 to 6 and table1; 0: as many as the paper (100, and 50 or 10)")
        ->check(is_count())
        ->type_name("COUNT");
    add_list(*command, "--sets", options->reproduce.sets, "Sets of table1: boston, concrete, ...; default: all")
        ->type_name("NAME,...");
    command->add_option("--data", options->reproduce.data, "Folder of the UCI data sets, for table1")
        ->type_name("FOLDER");
    command->add_option("--seed", options->reproduce.seed, "Same seed, same numbers")
        ->check(is_count())
        ->type_name("NUMBER")
        ->capture_default_str();
    command->add_flag("--quiet", options->quiet, "No progress");
    add_threads(*command, options->threads);
    command->footer(
        "Writes numbers (CSV and JSON), pictures (SVG and PNG) and index.html, one page that shows each figure\n"
        "and the table beside what the paper says. Every run is kept in the folder: the next call resumes\n"
        "one that was interrupted. docs/paper.md has the results and what we conclude.\n"
        "\n"
        "Examples:\n"
        "  accrue reproduce figure2 -o paper\n"
        "  accrue reproduce table1 --sets yacht --runs 3 --data uci -o paper");
    command->callback([options] { with_threads(options->threads, [&] { run(*options); }); });
}

}  // namespace accrue::app
