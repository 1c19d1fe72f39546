#include "report/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "accrue/error.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/files.hpp"

extern char** environ;

namespace accrue::report {

namespace {

// The standard streams of a child.
class Streams {
public:
    Streams() { posix_spawn_file_actions_init(&actions_); }
    ~Streams() { posix_spawn_file_actions_destroy(&actions_); }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;
    void open(int descriptor, const std::string& path, int flags) {
        posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0600);
    }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
    posix_spawn_file_actions_t actions_{};
};

std::string last_line(const std::string& path) {
    std::ifstream file(path);
    std::string last;
    for (std::string line; std::getline(file, line);)
        if (line.find_first_not_of("# \t\r") != std::string::npos) last = line;
    return last;
}

}  // namespace

void run(const Program& program) {
    Streams streams;
    streams.open(STDIN_FILENO, program.input.empty() ? "/dev/null" : program.input, O_RDONLY);
    streams.open(STDOUT_FILENO, program.output, O_WRONLY | O_CREAT | O_TRUNC);
    streams.open(STDERR_FILENO, program.errors, O_WRONLY | O_CREAT | O_TRUNC);
    std::vector<char*> arguments;
    std::vector<std::string> command = program.command;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, arguments[0], streams.get(), nullptr, arguments.data(), environ);
    if (failed == ENOENT)
        throw MissingProgram(fmt::format("{} is missing, which {}: {}", command[0], program.purpose, program.hint));
    if (failed != 0)
        throw MachineError(fmt::format("{} could not be started: {}", command[0], core::system_message(failed)));
    // A signal that ends this process ends the child too.
    data::set_running_child(child);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    data::set_running_child(0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw MachineError(fmt::format("{}, which {}, failed{}{}", command[0], program.purpose,
                                       last_line(program.errors).empty() ? " without a word" : ": ",
                                       printable(last_line(program.errors), 200)));
}

}  // namespace accrue::report
