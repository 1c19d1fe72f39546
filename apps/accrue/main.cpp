// accrue: one program, a subcommand a job. Exit status: 0 done, 1 the machine failed, 2 bad usage or bad input,
// 130 interrupted (128 and the signal's number).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/version.hpp"
#include "commands.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "data/files.hpp"
#include "data/messages.hpp"

namespace {

constexpr int kMachineFailed = 1;
constexpr int kBadInput = 2;

// As a shell counts the signals that end a program.
extern "C" void stop_at_once(int signal) {
    accrue::data::remove_temporary_files();
    _exit(128 + signal);
}

void handle_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        // What nohup, or a shell in the background, wants ignored stays ignored.
        if (std::signal(signal, stop_at_once) == SIG_IGN) std::signal(signal, SIG_IGN);
    // Writing past a file-size limit or into a closed pipe is an error to report, not a reason to die silently.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
}

// One line, whatever a file or an argument put into the message.
int fail(int status, const std::string& message) {
    accrue::app::say(fmt::format("accrue: {}\n", accrue::data::printable(message, std::string::npos)));
    return status;
}

// CLI11's help with wrapped descriptions, and without the lists of what excludes what.
class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter() { column_width(kColumn); }
    std::string make_option_opts(const CLI::Option* option) const override {
        if (option->get_type_size() == 0) return "";
        const std::string type = option->get_type_name();
        return fmt::format("{}{}{}{}", type.empty() ? "" : " ", type,
                           option->get_items_expected_max() > 1 && !type.ends_with("...") ? " ..." : "",
                           option->get_required() ? " (required)" : "");
    }
    std::string make_option_desc(const CLI::Option* option) const override {
        const std::string standard =
            option->get_default_str().empty() ? "" : fmt::format(" [{}]", option->get_default_str());
        return accrue::app::wrap(option->get_description() + standard, kWidth - kColumn, 0);
    }

private:
    static constexpr std::size_t kColumn = 30;
    static constexpr std::size_t kWidth = 100;
};

// CLI11 would only say that a subcommand is missing.
void require_known_command(const CLI::App& app, int argc, char** argv) {
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
    if (argc < 2 || argv[1][0] == '-' || std::find(commands.begin(), commands.end(), argv[1]) != commands.end()) return;
    const std::string nearest = accrue::data::nearest_name(argv[1], commands);
    accrue::core::refuse("there is no command '{}'{} Commands: {}", accrue::data::printable(argv[1]),
                         nearest.empty() ? "." : fmt::format("; did you mean '{}'?", nearest),
                         accrue::data::name_list(commands));
}

// Runs the command; a request for help or the version is answered on standard output.
void run(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& request) {
        std::ostringstream answer;
        app.exit(request, answer, answer);
        accrue::app::print(answer.str());
    }
}

}  // namespace

namespace accrue::app {

namespace {

std::string& given_command_line() {
    static std::string line;
    return line;
}

}  // namespace

const std::string& command_line() {
    return given_command_line();
}

void keep_command_line(int argc, char** argv) {
    std::string& line = given_command_line();
    line = "accrue";
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
        line += ' ';
        if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) {
            line += argument;
            continue;
        }
        line += '\'';
        for (const char c : argument) {
            if (c == '\'')
                line += "'\\''";
            else
                line += c;
        }
        line += '\'';
    }
}

void print(std::string_view text) {
    data::AtomicFile output("-");
    output.write(text);
    output.commit();
}

void say(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                            const std::string& description) {
    return command.add_option(name, values, description)->allow_extra_args(false);
}

CLI::Validator is_count() {
    // CLI11 would wrap -1 around, and cut what is too large.
    const auto check = [](std::string& text) {
        std::uint64_t count = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, count);
        return read.ec == std::errc{} && read.ptr == end ? std::string() : "'" + text + "' is not a count";
    };
    return {check, ""};
}

CLI::Option* add_threads(CLI::App& command, int& threads) {
    return command.add_option("--threads", threads, "Threads to use; 0 is all of them")
        ->type_name("COUNT")
        ->check(is_count());
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
    std::string lines;
    std::size_t used = 0;  // of the last line
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        if (used > 0 && used + 1 + word.size() > width) {
            lines += '\n' + std::string(indent, ' ');
            used = indent;
        } else if (used > 0) {
            lines += ' ';
            ++used;
        }
        lines += word;
        used += word.size();
    }
    return lines;
}

}  // namespace accrue::app

int main(int argc, char** argv) {
    handle_signals();
    accrue::core::spare_memory();
    accrue::app::keep_command_line(argc, argv);
    CLI::App app{"accrue turns the single numbers of a deterministic model into calibrated probabilistic forecasts.",
                 "accrue"};
    app.set_version_flag("--version", std::string("accrue ") + accrue::kVersion);
    app.require_subcommand(1);
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer(
        "An archive of predictions and observations goes in, a model file comes out of 'fit', and 'predict'\n"
        "adds error bars to new predictions with it. 'evaluate' tells whether error bars, of whatever\n"
        "origin, can be believed.\n"
        "\n"
        "Example, from nothing to error bars:\n"
        "  accrue generate lorenz -o archive.csv\n"
        "  accrue fit archive.csv --inputs lead_time,start --prediction prediction \\\n"
        "      --observation observation --group start_time -o model.json\n"
        "  accrue predict model.json archive.csv --interval 0.9 -o error_bars.csv\n"
        "\n"
        "Exit status: 0 done; 1 the machine failed (disk full, no memory); 2 bad usage, bad input or an\n"
        "unreadable file, with one message on standard error that names the place and the rule; 130\n"
        "interrupted. A file is written whole or not at all.\n"
        "\n"
        "'accrue COMMAND --help' explains a command and shows examples.");
    accrue::app::add_generate(app);
    accrue::app::add_fit(app);
    accrue::app::add_predict(app);
    accrue::app::add_evaluate(app);
    accrue::app::add_report(app);
    accrue::app::add_reproduce(app);
    accrue::app::add_show(app);
    try {
        require_known_command(app, argc, argv);
        run(app, argc, argv);
        return 0;
    } catch (const CLI::ParseError& error) {
        const auto used = app.get_subcommands();
        const std::string command = used.empty() ? "accrue" : "accrue " + used.front()->get_name();
        return fail(kBadInput, fmt::format("{} ('{} --help' explains the options)", error.what(), command));
    } catch (const accrue::InputError& error) {
        return fail(kBadInput, error.what());
    } catch (const std::bad_alloc&) {
        return fail(kMachineFailed, "not enough memory");
    } catch (const std::exception& error) {
        return fail(kMachineFailed, error.what());
    }
}
