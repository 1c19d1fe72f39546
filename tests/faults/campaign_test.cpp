// Fault campaigns: for each command every system call fails once, in order; memory ends at every allocation; it is
// killed, its disk is full, its memory is short. Whatever happens, an output is the old one or a whole new one, there
// is one message and the right exit status, and nothing is left behind.
//
// ACCRUE_FAULTS is how many faults of a kind each command meets (some dozens by default; `make faults` has the full
// campaign), ACCRUE_FAULTS_SEED another seed.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <thread>

#include "cli/model_cli_test.hpp"
#include "faults/supervised.hpp"

namespace accrue::test {
namespace {

using Clock = std::chrono::steady_clock;
using faults::Decision;
using faults::Supervised;
using faults::Supervision;

std::size_t number_from_environment(const char* name, std::size_t standard) {
    const char* text = std::getenv(name);
    return text == nullptr ? standard : std::strtoull(text, nullptr, 10);
}

struct Command {
    std::string name;
    std::vector<std::string> arguments;
    std::string output;      // empty: it prints only
    std::string later = {};  // another output, written when the first is in its place
};

constexpr const char* kCheckpoint = "starts";  // a folder

// What a run leaves behind.
struct State {
    std::string out;
    std::string output;  // the file
    std::string later;
    std::set<std::string> files;
};

class Campaign : public ModelCliTest, public testing::WithParamInterface<std::string> {
protected:
    void SetUp() override {
        archive("a.csv", 40);
        std::filesystem::create_directory(folder_.path("tmp"));
        ::setenv("TMPDIR", folder_.path("tmp").c_str(), 1);
        output(fit_arguments(folder_.path("a.csv"), {"--inputs", "x", "--form", "constant"}));
        std::filesystem::rename(folder_.path("m.json"), folder_.path("model.json"));
        command_ = make_command(GetParam());
        faults_ = number_from_environment("ACCRUE_FAULTS", 30);
        random_ = core::Random(number_from_environment("ACCRUE_FAULTS_SEED", 1));
        if (command_.name.ends_with("report") &&
            accrue(command_.arguments).err.find("without npm") != std::string::npos)
            GTEST_SKIP() << "the report page was not built";
        before_ = clean_state();
        good_ = state(run());
        ASSERT_NE(command_.output.empty() ? good_.out : good_.output, command_.output.empty() ? "" : kOld);
        ASSERT_EQ(good_.files, before_.files);
        before_ = clean_state();
    }
    void TearDown() override { ::unsetenv("TMPDIR"); }

    Command make_command(const std::string& name) const {
        const std::string rows = folder_.path("a.csv");
        const std::string model = folder_.path("model.json");
        const std::string out = folder_.path("out");
        if (name == "fit")
            return {name,
                    {"fit", rows, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--starts", "1",
                     "--folds", "2", "--threads", "1", "--quiet", "-o", out},
                    out};
        if (name == "predict")
            return {name, {"predict", model, rows, "--interval", "0.9", "--threads", "1", "-o", out}, out};
        if (name == "fit_report") {
            Command fit = make_command("fit");
            fit.name = name;
            fit.later = folder_.path("page");
            fit.arguments.insert(fit.arguments.end(), {"--report", fit.later});
            return fit;
        }
        if (name == "fit_checkpoint") {
            Command fit = make_command("fit");
            fit.name = name;
            fit.arguments.insert(fit.arguments.end(), {"--checkpoint", folder_.path(kCheckpoint), "--resume"});
            return fit;
        }
        if (name.starts_with("predict_")) {
            Command predict{name,
                            {"predict", model, netcdf(), "--interval", "0.9", "--threads", "1", "-o", out + ".nc"},
                            out + ".nc"};
            if (name == "predict_isolated") predict.arguments.emplace_back("--isolate");
            return predict;
        }
        if (name == "update")
            return {
                name,
                {"update", model, rows_in_time(), "--time", "day", "--group", "station", "--threads", "1", "-o", out},
                out};
        if (name == "replay")
            return {name,
                    {"replay", rows_in_time(), "--model", model, "--time", "day", "--prediction", "mu", "--observation",
                     "y", "--threads", "1", "-o", out},
                    out};
        if (name == "replay_report") {
            Command replay = make_command("replay");
            replay.name = name;
            replay.later = folder_.path("page");
            replay.arguments.insert(replay.arguments.end(), {"--report", replay.later});
            return replay;
        }
        if (name == "monitor") return {name, {"monitor", model, rows_in_time(), "--time", "day", "--threads", "1"}, ""};
        if (name == "monitor_report")
            return {name, {"monitor", model, rows_in_time(), "--time", "day", "--threads", "1", "--report", out}, out};
        if (name == "fit_later") {
            Command fit = make_command("fit");
            fit.name = name;
            fit.arguments.insert(fit.arguments.end(), {"--later", folder_.file("later.csv", folder_.content("a.csv"))});
            return fit;
        }
        if (name == "evaluate")
            return {name,
                    {"evaluate", rows, "--prediction", "mu", "--observation", "y", "--model", model, "--group",
                     "station", "--threads", "1"},
                    ""};
        return {name,
                {"report", rows, "--prediction", "mu", "--observation", "y", "--model", model, "--threads", "1",
                 "--quiet", "-o", out},
                out};
    }

    // a.csv has its rows in the order of their days but for the end of a month that has 28 of them.
    std::string rows_in_time() const {
        std::vector<std::string> rows = lines(folder_.content("a.csv"));
        std::stable_sort(rows.begin() + 1, rows.end(),
                         [](const std::string& a, const std::string& b) { return cells(a)[5] < cells(b)[5]; });
        std::string text;
        for (const std::string& row : rows) text += row + "\n";
        return folder_.file("sorted.csv", text);
    }

    // The rows of a.csv that a forecast needs.
    std::string netcdf() const {
        const std::string file = folder_.path("a.nc");
        if (std::filesystem::exists(file)) return file;
        std::string x, mu;
        const std::vector<std::string> rows = lines(folder_.content("a.csv"));
        for (std::size_t i = 1; i < rows.size(); ++i) {
            const std::vector<std::string> row = cells(rows[i]);
            x += (i > 1 ? ", " : "") + row[0];
            mu += (i > 1 ? ", " : "") + row[1];
        }
        const std::string cdl = folder_.file(
            "a.cdl", fmt::format("netcdf a {{ dimensions: row = {} ; variables: double x(row), mu(row) ; data: "
                                 "x = {} ; mu = {} ; }}\n",
                                 rows.size() - 1, x, mu));
        EXPECT_EQ(support::run({"/usr/bin/ncgen", "-k", "classic", "-o", file, cdl}).status, 0);
        return file;
    }

    // The old output in its place, and nothing beside it.
    State clean_state() const {
        std::filesystem::remove_all(folder_.path(kCheckpoint));
        for (const auto& entry : std::filesystem::directory_iterator(folder_.folder()))
            if (entry.path().filename().string().starts_with(".accrue")) std::filesystem::remove_all(entry.path());
        for (const std::string& path : {command_.output, command_.later})
            if (!path.empty()) folder_.file(std::filesystem::path(path).filename(), kOld);
        return state({});
    }
    State state(const Ended& ended) const {
        State now;
        now.out = ended.out;
        now.output = content(command_.output);
        now.later = content(command_.later);
        // A checkpoint is meant to be left behind; what it holds is judged by the runs that go on with it.
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.folder()))
            if (const std::string file = entry.path().lexically_relative(folder_.folder()).string();
                !file.starts_with(kCheckpoint))
                now.files.insert(file);
        return now;
    }
    // Without the time that NetCDF has in its history.
    std::string content(const std::string& path) const {
        static const std::regex kTime("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z");
        if (path.empty()) return kOld;
        const std::string text = folder_.content(std::filesystem::path(path).filename());
        return path.ends_with(".nc") ? std::regex_replace(text, kTime, "then") : text;
    }
    Ended run() const { return accrue(command_.arguments); }
    std::vector<std::string> line() const { return command(command_.arguments); }

    // Indices to try, in order: all, where there are not more than the campaign asks for.
    std::vector<std::size_t> chosen(std::size_t all) {
        std::vector<std::size_t> indices(all);
        for (std::size_t i = 0; i < all; ++i) indices[i] = i;
        random_.shuffle(std::span(indices));
        indices.resize(std::min(all, faults_));
        std::sort(indices.begin(), indices.end());
        return indices;
    }

    // Judges a run in which something failed. `replaced`: it failed after the output had been renamed, so that the new
    // one is in its place.
    void judge(const Ended& ended, bool replaced, const std::string& fault) {
        const State now = state(ended);
        // What is written afterwards can fail when the first output is in its place, and a child can be done before it
        // is ended.
        replaced = replaced || !command_.later.empty() || command_.name == "predict_isolated";
        std::string wrong;
        const auto expect = [&](bool holds, const std::string& otherwise) {
            if (!holds) wrong += "\n  " + otherwise;
        };
        // The C library ends the program by itself when it has no memory for its own list of a thread's objects.
        const bool ended_by_libc =
            ended.signal == SIGABRT && ended.err.starts_with("Fatal glibc error: failed to register TLS destructor");
        expect(ended.signal == 0 || ended_by_libc, "ended by signal " + std::to_string(ended.signal));
        if (ended_by_libc) {
            ++refused_;
            expect(now.out.empty() && now.output == kOld, "the old output is lost");
        } else if (ended.status == 0) {
            ++without_effect_;
            expect(ended.err.empty(), "success with a message");
            expect(now.out == good_.out, "printed something else");
            expect(now.output == good_.output && now.later == good_.later, "wrote something else");
        } else {
            ++refused_;
            expect(ended.status == 1 || ended.status == 2, "status " + std::to_string(ended.status));
            expect(ended.err.starts_with("accrue: ") && ended.err.size() > 12 &&
                       ended.err.find('\n') == ended.err.size() - 1,
                   "not one message");
            // What fails when all is done cannot take back what was printed.
            expect(now.out.empty() || now.out == good_.out, "printed '" + now.out + "'");
            expect(now.output == kOld || (replaced && now.output == good_.output), "the old output is lost");
            expect(command_.later.empty() || now.later == kOld || now.later == good_.later, "half a second output");
        }
        for (const std::string& file : now.files) expect(before_.files.contains(file), "left behind: " + file);
        EXPECT_EQ(wrong, "") << fault << "\n  it said: " << ended.err;
        clean_state();
    }
    void tell(const std::string& what) const {
        std::cout << command_.name << ": " << what << ": " << refused_ + without_effect_ << " (" << refused_
                  << " refused with a message, " << without_effect_ << " without effect)\n";
    }

    static constexpr const char* kOld = "old\n";
    Command command_;
    std::size_t faults_ = 0;
    core::Random random_{1};
    State before_, good_;
    std::size_t refused_ = 0, without_effect_ = 0;
};

// Errors that a call meets in the field, the most telling first.
std::vector<int> errors_of(const std::string& call) {
    static const std::map<std::string, std::vector<int>> kErrors = {
        {"open", {EIO, EMFILE, ENOSPC, EACCES}},
        {"openat", {EIO, EMFILE, ENOSPC, EACCES}},
        {"read", {EIO, ENOMEM, EISDIR}},
        {"pread64", {EIO, ENOMEM}},
        {"write", {ENOSPC, EIO, EDQUOT, EFBIG}},
        {"writev", {ENOSPC, EIO, EDQUOT, EFBIG}},
        {"pwrite64", {ENOSPC, EIO, EDQUOT, EFBIG}},
        {"fallocate", {ENOSPC, EOPNOTSUPP}},
        {"fsync", {EIO, ENOSPC, EDQUOT}},
        {"rename", {EIO, ENOSPC, EACCES, EXDEV}},
        {"renameat2", {EIO, ENOSPC, EACCES, EXDEV}},
        {"mmap", {ENOMEM, ENODEV, EAGAIN}},
        {"mprotect", {ENOMEM}},
        {"clone", {EAGAIN, ENOMEM}},
        {"clone3", {EAGAIN, ENOMEM}},
        {"poll", {ENOMEM, EINTR}},
        {"ppoll", {ENOMEM, EINTR}},
        {"close", {EIO, EDQUOT}},
    };
    const auto found = kErrors.find(call);
    return found == kErrors.end() ? std::vector<int>{EIO, ENOMEM, EACCES} : found->second;
}

TEST_P(Campaign, EachSystemCallThatFailsLeavesTheOldOutputAndOneMessage) {
    std::vector<long> calls;
    Supervision listening;
    listening.decide = [&](std::size_t, long number) {
        calls.push_back(number);
        return Decision{};
    };
    judge(faults::run_supervised(line(), listening).ended, false, "no fault");
    ASSERT_EQ(without_effect_, 1U);
    without_effect_ = 0;
    ASSERT_GT(calls.size(), 20U) << "the calls are announced";

    struct Fault {
        std::size_t index;
        int error;
    };
    std::vector<Fault> faults;
    for (std::size_t i = 0; i < calls.size(); ++i) faults.push_back({i, errors_of(faults::call_name(calls[i]))[0]});
    const std::size_t once = faults.size();
    for (std::size_t i = 0; i < once; ++i) {
        const std::vector<int> errors = errors_of(faults::call_name(calls[i]));
        for (std::size_t e = 1; e < errors.size(); ++e) faults.push_back({i, errors[e]});
    }
    const std::vector<std::size_t> picked = chosen(faults_ >= once ? faults.size() : once);
    for (const std::size_t f : picked) {
        bool replaced = false;
        long failed = -1;
        Supervision failing;
        failing.decide = [&](std::size_t index, long number) {
            if (index != faults[f].index) {
                if (failed < 0 && std::string(faults::call_name(number)).starts_with("rename")) replaced = true;
                return Decision{};
            }
            failed = number;
            return Decision{.error = faults[f].error};
        };
        const Ended ended = faults::run_supervised(line(), failing).ended;
        judge(ended, replaced,
              "call " + std::to_string(faults[f].index) + ", " + faults::call_name(failed) + " fails with " +
                  std::strerror(faults[f].error));
    }
    tell("failing system calls, of " + std::to_string(once) + " a run");
}

TEST_P(Campaign, MemoryThatEndsLeavesTheOldOutputAndOneMessage) {
    if (command_.name == "predict_netcdf") GTEST_SKIP() << "the NetCDF library crashes; --isolate is for that";
    Supervision counting;
    counting.count_allocations = true;
    const long all = faults::run_supervised(line(), counting).allocations;
    clean_state();
    ASSERT_GT(all, 100);
    for (const std::size_t index : chosen(static_cast<std::size_t>(all))) {
        Supervision failing = counting;
        failing.failing_allocation = static_cast<long>(index);
        Ended ended = faults::run_supervised(line(), failing).ended;
        // What the NetCDF library says by itself.
        constexpr std::string_view kOfNetcdf = "bytebuffer failure\n";
        if (ended.err.starts_with(kOfNetcdf)) ended.err.erase(0, kOfNetcdf.size());
        judge(ended, true, "memory ends at allocation " + std::to_string(index));
    }
    tell("ends of memory, of " + std::to_string(all) + " allocations a run");
}

// At moments drawn at random, and at system calls, where files change.
TEST_P(Campaign, AKillLeavesAWholeOutputAndTheNextRunCleansUp) {
    const auto begin = Clock::now();
    ASSERT_EQ(run().status, 0);
    auto longest = std::chrono::duration<double>(Clock::now() - begin);
    clean_state();
    std::size_t calls = 0;
    Supervision listening;
    listening.decide = [&](std::size_t index, long) {
        calls = index + 1;
        return Decision{};
    };
    faults::run_supervised(line(), listening);
    clean_state();

    std::size_t killed = 0;
    std::size_t old = 0;
    for (std::size_t i = 0; i < faults_; ++i) {
        std::string moment;
        if (i % 2 == 0) {
            support::Process process(line());
            std::this_thread::sleep_for(random_.uniform() * longest);
            process.signal(SIGKILL);
            const bool in_time = process.wait().signal == SIGKILL;
            // Machines that run tests are busy at one moment and idle at the next.
            longest *= in_time ? 1.1 : 0.9;
            killed += in_time ? 1 : 0;
            moment = "at some moment";
        } else {
            const std::size_t at = random_.below(calls);
            Supervision killing;
            killing.decide = [&](std::size_t index, long) { return Decision{.kill = index == at}; };
            killed += faults::run_supervised(line(), killing).ended.signal == SIGKILL ? 1 : 0;
            moment = "at call " + std::to_string(at);
        }
        const std::string output = content(command_.output);
        EXPECT_TRUE(output == kOld || output == good_.output) << "kill " << moment << ": half an output";
        old += output == kOld ? 1 : 0;
        if (output != kOld && !command_.output.empty())
            folder_.file(std::filesystem::path(command_.output).filename(), kOld);
        if (i % 10 != 9 && i + 1 != faults_) continue;
        const Ended next = run();
        EXPECT_EQ(next.status, 0) << next.err;
        const State now = state(next);
        EXPECT_TRUE(now.output == good_.output) << "the run after a kill writes something else";
        EXPECT_EQ(now.files, before_.files) << "leftovers after the run that follows a kill " << moment;
        clean_state();
    }
    EXPECT_GT(killed, faults_ / 4) << "the test should kill, not wait";
    std::cout << command_.name << ": kills: " << killed << " (" << old << " before the output was replaced)\n";
}

TEST_P(Campaign, AFullDiskLeavesTheOldOutputAndOneMessage) {
    if (command_.output.empty()) GTEST_SKIP() << "it writes no file";
    for (std::size_t i = 0; i < faults_; ++i) {
        const std::size_t bytes = i == 0 ? 0 : random_.below(good_.output.size());
        const RunOptions small{.in_child = [&] {
            const rlimit limit{bytes, bytes};
            ::setrlimit(RLIMIT_FSIZE, &limit);
        }};
        // Its streams are files as well, which must not be what is full.
        std::vector<std::string> quiet = line();
        const Ended ended = support::run(quiet, small);
        EXPECT_EQ(ended.status, 1) << bytes << " bytes";
        if (bytes > 200) {
            judge(ended, false, "a disk of " + std::to_string(bytes) + " bytes");
        } else {
            EXPECT_EQ(content(command_.output), kOld);
            EXPECT_EQ(state(ended).files, before_.files) << "leftovers";
            ++refused_;
        }
    }
    tell("full disks");
}

TEST_P(Campaign, LittleMemoryLeavesTheOldOutputAndOneMessage) {
    const auto with_memory = [](std::size_t bytes) {
        return RunOptions{.in_child = [bytes] {
            const rlimit limit{bytes, bytes};
            support::limit_data(limit);
        }};
    };
    // From what the program needs to start up to what the command needs.
    const auto least = [&](const std::vector<std::string>& arguments) {
        std::size_t low = 0;
        std::size_t high = std::size_t{1} << 30U;
        while (high - low > (std::size_t{1} << 16U)) {
            const std::size_t middle = low + (high - low) / 2;
            (accrue(arguments, with_memory(middle)).status == 0 ? high : low) = middle;
        }
        return high;
    };
    const std::size_t low = least({"--version"});
    const std::size_t high = least(command_.arguments);
    clean_state();
    for (std::size_t i = 0; i < faults_; ++i) {
        const auto bytes =
            static_cast<std::size_t>(random_.uniform(static_cast<double>(low), static_cast<double>(high) * 1.05));
        judge(accrue(command_.arguments, with_memory(bytes)), false, std::to_string(bytes) + " bytes of memory");
    }
    tell("memory limits from " + std::to_string(low >> 10U) + " to " + std::to_string(high >> 10U) + " kB");
}

INSTANTIATE_TEST_SUITE_P(Faults, Campaign,
                         testing::Values("fit", "fit_report", "fit_checkpoint", "predict", "predict_netcdf",
                                         "predict_isolated", "update", "replay", "replay_report", "monitor",
                                         "monitor_report", "fit_later", "evaluate", "report"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace accrue::test
