// Standard output that cannot be written, and signals: the machine's failures and the user's impatience.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "cli/cli_test.hpp"

namespace accrue::test {
namespace {

class Output : public CliTest {
protected:
    std::vector<std::string> evaluation() const {
        return {"evaluate", folder_.file("t.csv", "e,s\n0.5,1\n-1,2\n"), "--error", "e", "--sigma", "s", "--json"};
    }
};

TEST_F(Output, AClosedStandardOutputIsAnError) {
    const RunOptions closed{.in_child = [] { ::close(STDOUT_FILENO); }};
    EXPECT_EQ(refusal(accrue(evaluation(), closed), 1), "cannot write standard output: Bad file descriptor");
    EXPECT_EQ(refusal(accrue({"generate", "G", "-o", "-"}, closed), 1),
              "cannot write standard output: Bad file descriptor");
    EXPECT_EQ(folder_.content("t.csv"), "e,s\n0.5,1\n-1,2\n") << "the input is untouched";
}

TEST_F(Output, AFullDiskIsAnError) {
    const RunOptions full{.in_child = [] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); }};
    const std::string message = "cannot write standard output: No space left on device";
    EXPECT_EQ(refusal(accrue(evaluation(), full), 1), message);
    EXPECT_EQ(refusal(accrue({"generate", "G", "--rows", "10", "-o", "-"}, full), 1), message);
    EXPECT_EQ(refusal(accrue({"--version"}, full), 1), message);
    EXPECT_EQ(refusal(accrue({"evaluate", "--help"}, full), 1), message);
}

TEST_F(Output, AReaderThatWentAwayIsNoReasonToComplain) {
    const RunOptions broken{.in_child = [] {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0) ::_exit(126);
        ::dup2(ends[1], STDOUT_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
    }};
    const std::string file = folder_.file("x.csv", "x,mu,y\n0,1,2\n1,2,1\n2,3,4\n3,4,3\n4,5,7\n5,6,5\n");
    const std::string model = folder_.path("m.json");
    output({"fit", file, "--form", "constant", "--prediction", "mu", "--observation", "y", "--quiet", "-o", model});
    const std::vector<std::vector<std::string>> commands = {
        evaluation(), {"predict", model, file, "-o", "-"}, {"generate", "G", "-o", "-"}, {"fit", "--help"}};
    for (const auto& arguments : commands) {
        const Ended run = accrue(arguments, broken);
        EXPECT_EQ(run.err, "") << arguments[0];
        EXPECT_EQ(run.status, 128 + SIGPIPE) << arguments[0] << ": as of a program that SIGPIPE ends";
    }
}

TEST_F(Output, AFileThatOutgrowsItsLimitIsNoFile) {
    const RunOptions small{.in_child = [] {
        const rlimit limit{4096, 4096};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }};
    EXPECT_EQ(refusal(accrue({"generate", "G", "--rows", "10000", "-o", folder_.path("g.csv")}, small), 1),
              "cannot write g.csv: File too large");
    EXPECT_EQ(folder_.files(), 0U);
}

TEST_F(Output, AnInterruptedGenerateLeavesTheOldFileAndNothingElse) {
    const std::string file = folder_.file("g.csv", "old");
    for (const int signal : {SIGINT, SIGTERM}) {
        // Many seconds of work; the temporary file is there from the start.
        support::Process process(command({"generate", "5D", "--rows", "5000000", "-o", file}));
        for (int i = 0; i < 3000 && folder_.files() < 2; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        EXPECT_EQ(folder_.files(), 2U);
        process.signal(signal);
        const Ended run = process.wait();
        EXPECT_EQ(run.status, 128 + signal) << "130 after Ctrl-C";
        EXPECT_EQ(run.out + run.err, "");
        EXPECT_EQ(folder_.files(), 1U) << "no temporary file is left";
        EXPECT_EQ(folder_.content("g.csv"), "old");
    }
}

// More than a pipe holds: when it is written, the program is reading.
std::string long_table() {
    std::string text = "e,s\n";
    while (text.size() < (1U << 20U)) text += "0.5,1\n";
    return text;
}

TEST_F(Output, AnInterruptedEvaluatePrintsNothing) {
    support::Process process(command({"evaluate", "-", "--error", "e", "--sigma", "s"}));
    process.write(long_table());
    process.signal(SIGINT);
    const Ended run = process.wait();
    EXPECT_EQ(run.status, 130);
    EXPECT_EQ(run.out + run.err, "");
}

TEST_F(Output, WhatTheCallerWantsIgnoredStaysIgnored) {
    support::Process process(command({"evaluate", "-", "--error", "e", "--sigma", "s"}),
                             [] { ::signal(SIGINT, SIG_IGN); });
    process.write(long_table());
    process.signal(SIGINT);
    EXPECT_EQ(process.wait().status, 0);
}

TEST_F(Output, HelpAndVersionGoToStandardOutput) {
    EXPECT_TRUE(output({"--version"}).starts_with("accrue "));
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"--help"}, {"evaluate", "--help"}, {"generate", "-h"}}) {
        const std::string help = output(arguments);
        EXPECT_NE(help.find("Usage: accrue"), std::string::npos) << help;
        std::size_t longest = 0;
        std::size_t line = 0;
        for (const char c : help) longest = std::max(longest, line = c == '\n' ? 0 : line + 1);
        EXPECT_LE(longest, 100U) << help;
    }
    EXPECT_NE(output({"evaluate", "--help"}).find("--missing {drop,refuse}"), std::string::npos);
}

TEST_F(Output, ACommandIsNeeded) {
    const std::string help = " ('accrue --help' explains the options)";
    EXPECT_EQ(refusal(accrue({})), "A subcommand is required" + help);
    EXPECT_EQ(refusal(accrue({"evalute", "f.csv"})),
              "there is no command 'evalute'; did you mean 'evaluate'? Commands: generate, fit, predict, evaluate, "
              "replay, update, monitor, report, reproduce, show, completion, man");
    EXPECT_EQ(refusal(accrue({"-q"})), "there is no option '-q'" + help);
}

TEST_F(Output, ANonBlockingStandardOutputLosesNothing) {
    const std::vector<std::string> arguments = {"generate", "G", "--rows", "20000", "-o", "-"};
    const std::string whole = output(arguments);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    support::Process process(command(arguments), [&] { ::dup2(ends[1], STDOUT_FILENO); });
    ::close(ends[1]);
    std::string received;
    std::array<char, 4096> buffer{};
    // Slower than it is written: the pipe is full most of the time.
    for (ssize_t got; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
        received.append(buffer.data(), static_cast<std::size_t>(got));
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    ::close(ends[0]);
    const Ended run = process.wait();
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_GT(whole.size(), 1'000'000U);
    EXPECT_EQ(received.size(), whole.size());
    EXPECT_EQ(received == whole, true);
}

}  // namespace
}  // namespace accrue::test
