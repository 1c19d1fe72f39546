// accrue: one program, a subcommand a job. Exit status: 0 done, 1 the machine failed, 2 bad usage or bad input,
// 130 interrupted.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>

#include "accrue/error.hpp"
#include "accrue/version.hpp"
#include "commands.hpp"
#include "data/files.hpp"

namespace {

constexpr int kMachineFailed = 1;
constexpr int kBadInput = 2;
constexpr int kInterrupted = 130;

extern "C" void stop_at_once(int) {
    accrue::data::remove_temporary_files();
    _exit(kInterrupted);
}

void handle_signals() {
    std::signal(SIGINT, stop_at_once);
    // Writing past a file-size limit or into a closed pipe is an error to report, not a reason to die silently.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
}

int fail(int status, const std::string& message) {
    fmt::print(stderr, "accrue: {}\n", message);
    return status;
}

}  // namespace

namespace accrue::app {

void print(std::string_view text) {
    data::AtomicFile output("-");
    output.write(text);
    output.commit();
}

CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                            const std::string& description) {
    return command.add_option(name, values, description)->allow_extra_args(false);
}

}  // namespace accrue::app

int main(int argc, char** argv) {
    handle_signals();
    CLI::App app{"accrue turns the single numbers of a deterministic model into calibrated probabilistic forecasts.",
                 "accrue"};
    app.set_version_flag("--version", std::string("accrue ") + accrue::kVersion);
    app.require_subcommand(1);
    app.get_formatter()->column_width(34);
    app.footer("'accrue COMMAND --help' explains a command and shows an example.");
    accrue::app::add_generate(app);
    accrue::app::add_evaluate(app);
    try {
        app.parse(argc, argv);
        return 0;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
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
