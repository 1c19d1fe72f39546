// Runs a program the way a shell would, without a shell: arguments arrive as they are.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace accrue::support {

// For a child: the most data memory that it may have. Not under a sanitizer, whose shadow memory exceeds any limit.
inline void limit_data([[maybe_unused]] const rlimit& limit) {
#ifndef __SANITIZE_ADDRESS__
    ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

// How a program ended, and what it printed.
struct Ended {
    int status = -1;  // exit status; -1 when a signal ended it
    int signal = 0;   // that signal
    std::string out;
    std::string err;
};

struct RunOptions {
    std::string input = {};  // on standard input, through a pipe
    // Called in the child before the program starts: limits, another user, other files. Only plain system calls.
    std::function<void()> in_child = {};
};

// A program that is running. Its output goes to unnamed files, so that neither side ever waits for the other.
class Process {
public:
    explicit Process(const std::vector<std::string>& command, const std::function<void()>& in_child = {}) {
        std::signal(SIGPIPE, SIG_IGN);  // a program may well end before it has read its input
        std::vector<char*> arguments;
        for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
        arguments.push_back(nullptr);
        std::array<int, 2> input{};
        if (out_ == nullptr || err_ == nullptr || ::pipe2(input.data(), O_CLOEXEC) != 0)
            throw std::runtime_error("cannot make files for a child's output");
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("cannot fork");
        if (child_ == 0) {
            ::dup2(input[0], STDIN_FILENO);
            ::dup2(::fileno(out_.get()), STDOUT_FILENO);
            ::dup2(::fileno(err_.get()), STDERR_FILENO);
            // Whoever runs the tests may have these ignored.
            for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
            ::alarm(kLongest);
            if (in_child) in_child();
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
        ::close(input[0]);
        input_ = input[1];
    }
    ~Process() {
        close_input();
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    // Returns when the program has read all but what a pipe holds, or has ended.
    void write(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t written = ::write(input_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) return;
            text.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    void close_input() {
        if (input_ >= 0) ::close(input_);
        input_ = -1;
    }
    void signal(int number) const { ::kill(child_, number); }
    pid_t id() const { return child_; }

    Ended wait() {
        close_input();
        int state = 0;
        while (::waitpid(child_, &state, 0) < 0 && errno == EINTR) {
        }
        child_ = -1;
        Ended run;
        if (WIFEXITED(state)) run.status = WEXITSTATUS(state);
        if (WIFSIGNALED(state)) run.signal = WTERMSIG(state);
        run.out = content(out_.get());
        run.err = content(err_.get());
        return run;
    }

private:
    static constexpr unsigned kLongest = 300;  // seconds: a program that hangs ends with SIGALRM

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    using File = std::unique_ptr<std::FILE, Close>;

    static std::string content(std::FILE* file) {
        std::rewind(file);
        std::string text;
        std::array<char, 65536> buffer{};
        while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file))
            text.append(buffer.data(), got);
        return text;
    }

    File out_{std::tmpfile()};
    File err_{std::tmpfile()};
    pid_t child_ = -1;
    int input_ = -1;
};

// Runs a command to its end.
inline Ended run(const std::vector<std::string>& command, const RunOptions& options = {}) {
    Process process(command, options.in_child);
    process.write(options.input);
    return process.wait();
}

}  // namespace accrue::support
