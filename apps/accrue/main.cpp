// accrue: one program, a subcommand a job. Exit status: 0 done, 1 the machine failed, 2 bad usage or bad input,
// 3 'monitor' alarms, 130 interrupted, 141 standard output was closed (128 and the signal's number).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/files.hpp"
#include "accrue/messages.hpp"
#include "accrue/program.hpp"
#include "accrue/version.hpp"
#include "commands.hpp"
#include "completion.hpp"
#include "processes.hpp"

namespace {

constexpr int kMachineFailed = 1;
constexpr int kBadInput = 2;

// As a shell counts the signals that end a program.
extern "C" void stop_at_once(int signal) {
    if (accrue::signal_must_wait(signal)) return;
    accrue::remove_temporary_files();
    _exit(128 + signal);
}

[[noreturn]] void end_without_memory() noexcept {
    accrue::remove_temporary_files();
    accrue::app::say("accrue: not enough memory\n");
    _exit(kMachineFailed);
}

// Called when operator new finds no memory. A request that was too large is an error like others, which somebody may
// explain; but where not even a little is left the program ends here, because code that it stands on (std::filesystem,
// JSON, the optimiser) does not bear an allocation that fails half-way.
void when_memory_is_short() {
    constexpr std::size_t kLittle = 65536;
    void* little = std::malloc(kLittle);
    if (little == nullptr) end_without_memory();
    std::free(little);
    throw std::bad_alloc();
}

// Where memory ends in a function that must not throw.
[[noreturn]] void end_at_once() noexcept {
    if (const std::exception_ptr error = std::current_exception()) {
        try {
            std::rethrow_exception(error);
        } catch (const std::bad_alloc&) {
            end_without_memory();
        } catch (...) {  // a defect: abort() tells more
        }
    }
    std::abort();
}

// The C library too ends programs so, when it has no memory for itself.
extern "C" void clean_up(int) {
    accrue::remove_temporary_files();
}

void handle_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        // What nohup, or a shell in the background, wants ignored stays ignored.
        if (std::signal(signal, stop_at_once) == SIG_IGN) std::signal(signal, SIG_IGN);
    // Writing past a file-size limit is an error to report; after a closed pipe temporary files must go.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGABRT, clean_up);
}

// One line, whatever a file or an argument put into the message.
int fail(int status, const std::string& message) {
    // What several processes fail of alike is said once.
    if (accrue::app::is_first_of_all())
        accrue::app::say(fmt::format("accrue: {}\n", accrue::printable(message, std::string::npos)));
    accrue::app::end_processes(status, message);
    return status;
}

// CLI11's help with wrapped descriptions, and without the lists of what excludes what.
class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter() { column_width(kColumn); }
    std::string make_option_opts(const CLI::Option* option) const override {
        if (option->get_type_size() == 0) return "";
        // The name of an argument says enough.
        const std::string type = option->nonpositional() ? option->get_type_name() : "";
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

// What scripts ask, in words that are nobody else's: shells what can follow, the build its files to install.
bool serve_machines(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty()) return false;
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (words[0] == "__complete")
        accrue::app::print(accrue::app::answer_completion(app, rest));
    else if (words[0] == "__share" && rest.size() == 1)
        accrue::app::write_share(app, rest[0]);
    else
        return false;
    return true;
}

// The first option on the line that the command does not have, in words; empty where it has all. It goes before other
// faults: that --output is missing is no news to someone who wrote --ouput.
std::string unknown_option(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& word : command.remaining()) {
        if (word.size() < 2 || word[0] != '-' || word == "--") continue;
        const std::string name = word.substr(0, word.find('='));
        return fmt::format("there is no option '{}'{}", accrue::printable(name), accrue::suggestion(name, names));
    }
    return {};
}

// The first option that has more values than it takes, in words; empty where none has.
std::string repeated_option(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options())
        if (option->get_items_expected_max() == 1 && option->results().size() > 1)
            return fmt::format("{} is given {} times, but takes one value", option->get_name(),
                               option->results().size());
    return {};
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

std::string shell_quoted(std::string_view argument) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
    if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) return std::string(argument);
    std::string quoted = "'";
    for (const char c : argument) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

void keep_command_line(int argc, char** argv) {
    std::string& line = given_command_line();
    line = "accrue";
    for (int i = 1; i < argc; ++i) {
        line += ' ';
        line += shell_quoted(argv[i]);
    }
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
    for (const CLI::App* command : app.get_subcommands({}))
        if (command->get_name() == name) return command;
    return nullptr;
}

const CLI::App& known_command(const CLI::App& app, const std::string& name) {
    if (const CLI::App* command = find_command(app, name)) return *command;
    std::vector<std::string> commands;
    for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
    const std::string meant = suggestion(name, commands);
    throw InputError(fmt::format("there is no command '{}'{} Commands: {}", printable(name),
                                 meant.empty() ? "." : meant, name_list(commands)));
}

void require(bool rule, const std::string& message) {
    if (!rule) throw InputError(message);
}

void print(std::string_view text) {
    write_file("-", text);
}

void say(std::string_view text) noexcept {
    (void)write_all(STDERR_FILENO, text);
}

CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                            const std::string& description) {
    return command.add_option(name, values, description)->allow_extra_args(false);
}

CLI::Validator is_count() {
    // CLI11 would wrap -1 around, cut what is too large, and read 010 as octal.
    const auto check = [](std::string& text) {
        std::uint64_t count = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, count);
        const bool plain = text.size() < 2 || text.front() != '0';
        return plain && read.ec == std::errc{} && read.ptr == end ? std::string() : "'" + text + "' is not a count";
    };
    return {check, ""};
}

CLI::Option* add_isolate(CLI::App& command, bool& isolate) {
    return command.add_flag("--isolate", isolate,
                            "NetCDF files from strangers: read them in a child process with limits on memory and time, "
                            "so that a file which crashes the NetCDF library is an error message");
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

static int parse_and_run(int argc, char** argv) {
    accrue::fill_standard_descriptors();
    handle_signals();
    accrue::spare_memory();
    accrue::app::keep_command_line(argc, argv);
    CLI::App app{"accrue turns the single numbers of a deterministic model into calibrated probabilistic forecasts.",
                 "accrue"};
    app.set_version_flag("--version", std::string("accrue ") + accrue::kVersion);
    app.require_subcommand(1);
    app.formatter(std::make_shared<HelpFormatter>());
    app.footer(
        "An archive of predictions and observations goes in, a model file comes out of 'fit', and 'predict'\n"
        "adds error bars to new predictions with it. 'evaluate' tells whether error bars, of whatever\n"
        "origin, can be believed. 'accrue COMMAND --help' explains a command and shows examples.\n"
        "\n"
        "Example, from nothing to error bars:\n"
        "  accrue generate lorenz --rows 4000 -o archive.csv\n"
        "  accrue fit archive.csv --inputs lead_time,start --prediction prediction \\\n"
        "      --observation observation --group start_time -o model.json\n"
        "  accrue predict model.json archive.csv --interval 0.9 -o error_bars.csv\n"
        "\n"
        "Exit status: 0 done; 1 the machine failed (disk full, no memory); 2 bad usage, bad input or an\n"
        "unreadable file, with one message on standard error that names the place and the rule; 3 'monitor'\n"
        "alarms; 130 interrupted; 141 the reader of its output went away. A file is written whole or not at\n"
        "all.");
    accrue::app::add_generate(app);
    accrue::app::add_fit(app, argv);
    accrue::app::add_predict(app);
    accrue::app::add_evaluate(app);
    accrue::app::add_replay(app);
    accrue::app::add_update(app);
    accrue::app::add_monitor(app);
    accrue::app::add_report(app);
    accrue::app::add_reproduce(app);
    accrue::app::add_show(app);
    accrue::app::add_completion(app);
    accrue::app::add_man(app);
    try {
        const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
        if (serve_machines(app, words)) return 0;
        // CLI11 would only say that a subcommand is missing.
        if (!words.empty() && !words[0].starts_with('-')) accrue::app::known_command(app, words[0]);
        accrue::app::require(!accrue::app::is_one_of_several() || words.empty() || words[0] == "fit",
                             "several processes were started, but 'fit' alone shares its work among them: start this "
                             "without mpirun");
        run(app, argc, argv);
        accrue::app::leave_processes();
        return 0;
    } catch (const CLI::RuntimeError& ended) {
        return ended.get_exit_code();  // the command has said why
    } catch (const CLI::ParseError& error) {
        const auto used = app.get_subcommands();
        const std::string command = used.empty() ? "accrue" : "accrue " + used.front()->get_name();
        const CLI::App& own = used.empty() ? app : *used.front();
        std::string why = unknown_option(own);
        if (why.empty() && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) why = repeated_option(own);
        return fail(kBadInput,
                    fmt::format("{} ('{} --help' explains the options)", why.empty() ? error.what() : why, command));
    } catch (const accrue::InputError& error) {
        return fail(kBadInput, error.what());
    } catch (const accrue::BrokenPipe&) {
        return 128 + SIGPIPE;  // `accrue ... | head` has what it wants; the status is that of other programs
    } catch (const std::bad_alloc&) {
        return fail(kMachineFailed, "not enough memory");
    } catch (const std::exception& error) {
        return fail(kMachineFailed, error.what());
    }
}

int main(int argc, char** argv) {
    std::set_new_handler(when_memory_is_short);
    std::set_terminate(end_at_once);
    try {
        return parse_and_run(argc, argv);
    } catch (const std::exception&) {
        // Memory was short before a command had begun, or for a message.
        accrue::app::say("accrue: not enough memory\n");
        return kMachineFailed;
    }
}
