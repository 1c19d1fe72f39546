#include "fuzz/command.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

#include "commands.hpp"
#include "fuzz/target.hpp"

// tests/fuzz/CMakeLists.txt gives main() of apps/accrue this name.
int accrue_main(int argc, char** argv);

// Of the sanitizers, where there are any.
extern "C" __attribute__((weak)) void __sanitizer_set_report_fd(void* descriptor);

namespace accrue::fuzz {

namespace {

// A sanitizer's report must not end in a stream that is caught.
void keep_reports() {
    static const int own = [] {
        const int copy = ::dup(STDERR_FILENO);
        if (__sanitizer_set_report_fd != nullptr)
            __sanitizer_set_report_fd(reinterpret_cast<void*>(static_cast<std::intptr_t>(copy)));
        return copy;
    }();
    (void)own;
}

// What is written to a stream goes to memory for a while.
class Caught {
public:
    Caught(std::FILE* stream, int descriptor) : stream_(stream), descriptor_(descriptor) {
        std::fflush(stream);
        before_ = ::dup(descriptor);
        memory_ = ::memfd_create("stream", 0);
        if (before_ < 0 || memory_ < 0 || ::dup2(memory_, descriptor) < 0) fail("a stream cannot be caught");
    }
    ~Caught() { release(); }
    Caught(const Caught&) = delete;
    Caught& operator=(const Caught&) = delete;

    std::string text() {
        std::fflush(stream_);
        std::string all(static_cast<std::size_t>(::lseek(memory_, 0, SEEK_END)), '\0');
        if (::pread(memory_, all.data(), all.size(), 0) < 0) all.clear();
        release();
        return all;
    }

private:
    void release() {
        if (before_ < 0) return;
        ::dup2(before_, descriptor_);
        ::close(before_);
        ::close(memory_);
        before_ = -1;
    }

    std::FILE* stream_;
    int descriptor_;
    int before_ = -1;
    int memory_ = -1;
};

}  // namespace

std::string shown_model(const std::string& path, bool json) {
    CLI::App app;
    app::add_show(app);
    std::vector<std::string> reversed = {path, "show"};
    if (json) reversed.insert(reversed.begin(), "--json");
    Caught out(stdout, STDOUT_FILENO);
    app.parse(reversed);
    return out.text();
}

CommandResult run_command(const std::vector<std::string>& arguments) {
    keep_reports();
    std::vector<std::string> all = {"accrue"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);

    // The command's handlers are not the fuzzer's.
    constexpr std::array<int, 5> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGXFSZ, SIGPIPE};
    std::array<struct sigaction, kSignals.size()> handlers{};
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], nullptr, &handlers[i]);
    CommandResult result;
    {
        Caught out(stdout, STDOUT_FILENO);
        Caught err(stderr, STDERR_FILENO);
        result.status = accrue_main(static_cast<int>(all.size()), argv.data());
        result.out = out.text();
        result.err = err.text();
    }
    for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &handlers[i], nullptr);
    return result;
}

}  // namespace accrue::fuzz
