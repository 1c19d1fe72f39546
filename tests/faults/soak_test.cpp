// Months of daily operation in which things go wrong: every day an update, a prediction and a look at the drift, killed
// at any moment or on a full disk, and repeated until they succeed. At the end of every day the files are those of
// operations that nothing disturbed, byte for byte.
//
// ACCRUE_SOAK_DAYS is how many days (a few by default; `make soak` has 24 months), ACCRUE_FAULTS_SEED another seed.
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "cli/model_cli_test.hpp"
#include "faults/supervised.hpp"

namespace accrue::test {
namespace {

using Clock = std::chrono::steady_clock;
using faults::Decision;
using faults::Supervision;

class Soak : public ModelCliTest {
protected:
    static std::size_t number_from_environment(const char* name, std::size_t standard) {
        const char* text = std::getenv(name);
        return text == nullptr ? standard : std::strtoull(text, nullptr, 10);
    }

    // Four stations on one day; the world moves from the hundredth day on.
    static std::string day_rows(std::size_t day) {
        core::Random random(7, day);
        std::string text;
        const auto days = std::chrono::sys_days{std::chrono::year{2025} / 1 / 1} + std::chrono::days{day};
        const std::chrono::year_month_day date{days};
        for (int station = 0; station < 4; ++station) {
            const double x = random.uniform();
            const double mu = random.normal();
            const double e = (0.3 + x) * (0.2 * station + (day > 100 ? 0.8 : 0) + random.normal());
            text += fmt::format("{},{},{},s{},{}-{:02}-{:02}\n", x, mu, mu + e, station, static_cast<int>(date.year()),
                                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
        }
        return text;
    }

    struct Operation {
        std::string name;
        std::vector<std::string> arguments;
    };
    std::vector<Operation> operations(const std::string& place) const {
        const std::string model = folder_.path(place + "/model.json");
        std::vector<Operation> all = {
            {"update", {"update", model, folder_.path("day.csv"), "--threads", "1", "-o", model}},
            {"predict",
             {"predict", model, folder_.path("next.csv"), "--interval", "0.9", "--threads", "1", "-o",
              folder_.path(place + "/forecasts.csv")}},
            {"monitor", {"monitor", model, folder_.path("all.csv"), "--threads", "1", "--json"}}};
        // Said at the first update, and once more is as good.
        for (const char* word : {"--group", "station", "--adaptive", "0.9", "--shrink", "auto", "--shape"})
            all[0].arguments.emplace_back(word);
        return all;
    }

    // One attempt at which something may go wrong.
    Ended disturbed(const Operation& operation) {
        const std::vector<std::string> line = command(operation.arguments);
        switch (random_.below(4)) {
            case 0: {
                support::Process process(line);
                std::this_thread::sleep_for(random_.uniform() * longest_);
                process.signal(SIGKILL);
                return process.wait();
            }
            case 1: {
                const std::size_t at = random_.below(kCalls);
                Supervision killing;
                killing.decide = [at](std::size_t index, long) { return Decision{.kill = index == at}; };
                return faults::run_supervised(line, killing).ended;
            }
            case 2: {
                // From some call on no more can be written: the disk is full, to the command and to its messages.
                const std::size_t from = random_.below(kCalls);
                Supervision full;
                full.decide = [from](std::size_t index, long number) {
                    const std::string_view call = faults::call_name(number);
                    const bool writes = call == "write" || call == "writev" || call == "pwrite64" || call == "fsync";
                    return Decision{.error = index >= from && writes ? ENOSPC : 0};
                };
                return faults::run_supervised(line, full).ended;
            }
            default: {
                const std::size_t bytes = random_.below(20'000);
                const RunOptions small{.in_child = [bytes] {
                    const rlimit limit{bytes, bytes};
                    ::setrlimit(RLIMIT_FSIZE, &limit);
                }};
                return support::run(line, small);
            }
        }
    }

    // Repeats a command until it has done its work, as whoever watches over it would.
    Ended done(const Operation& operation) {
        for (int attempt = 0; attempt < 3; ++attempt) {
            if (random_.below(3) == 0) break;
            const Ended ended = disturbed(operation);
            ++disturbances_;
            killed_ += ended.signal == SIGKILL ? 1 : 0;
            refused_ += ended.status == 1 ? 1 : 0;
            if (ended.status == 0 || ended.status == 3) return ended;
            if (has_been_done(operation, ended)) return ended;
            // With the disk that is full a refusal of rows that were seen may lose its message.
            EXPECT_TRUE(ended.signal == SIGKILL || ended.status == 1 ||
                        (operation.name == "update" && ended.status == 2))
                << operation.name << ": status " << ended.status << ", signal " << ended.signal << ": " << ended.err;
        }
        return accrue(operation.arguments);
    }
    // An update that was killed when its file was in place has seen the rows.
    static bool has_been_done(const Operation& operation, const Ended& ended) {
        return operation.name == "update" && ended.status == 2 &&
               ended.err.find("rows already seen are refused") != std::string::npos;
    }

    std::string content(const std::string& path) const { return folder_.content(path); }

    static constexpr std::size_t kCalls = 250;  // about as many as a command makes
    core::Random random_{number_from_environment("ACCRUE_FAULTS_SEED", 1)};
    std::chrono::duration<double> longest_{0.1};
    std::size_t disturbances_ = 0, killed_ = 0, refused_ = 0;
};

TEST_F(Soak, DisturbedOperationsEndInTheStateOfUndisturbedOnes) {
    archive("a.csv", 80);
    output(fit_arguments(folder_.path("a.csv"), {"--inputs", "x", "--form", "constant", "--time", "day"}));
    for (const std::string place : {"clean", "disturbed"}) {
        std::filesystem::create_directory(folder_.path(place));
        std::filesystem::copy_file(folder_.path("m.json"), folder_.path(place + "/model.json"));
    }
    const std::string header = "x,mu,y,station,day\n";
    std::string all = header;
    const std::size_t days = number_from_environment("ACCRUE_SOAK_DAYS", 6);
    std::size_t alarms = 0;
    for (std::size_t day = 0; day < days; ++day) {
        all += day_rows(day);
        folder_.file("all.csv", all);
        folder_.file("day.csv", header + day_rows(day));
        folder_.file("next.csv", header + day_rows(day + 1));
        const std::vector<Operation> clean = operations("clean");
        const std::vector<Operation> own = operations("disturbed");
        for (std::size_t k = 0; k < own.size(); ++k) {
            const auto begin = Clock::now();
            const Ended expected = accrue(clean[k].arguments);
            longest_ = Clock::now() - begin;
            ASSERT_TRUE(expected.status == 0 || expected.status == 3) << expected.err;
            const Ended ended = done(own[k]);
            if (own[k].name == "monitor") {
                alarms += expected.status == 3 ? 1 : 0;
                ASSERT_EQ(ended.status, expected.status) << ended.err;
                ASSERT_EQ(ended.out, expected.out) << "day " << day;
            } else {
                ASSERT_TRUE(ended.status == 0 || has_been_done(own[k], ended)) << own[k].name << ": " << ended.err;
            }
        }
        // What a kill left behind, the next run into the same folder takes away: a prediction follows every update.
        accrue(own[1].arguments);
        for (const char* file : {"model.json", "forecasts.csv"})
            ASSERT_TRUE(content(std::string("disturbed/") + file) == content(std::string("clean/") + file))
                << file << " differs on day " << day;
        std::size_t files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path("disturbed"))) {
            ++files;
            EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path() << " is left behind";
        }
        ASSERT_EQ(files, 2U) << "day " << day;
    }
    EXPECT_GT(disturbances_, days) << "the test should disturb, not watch";
    std::cout << days << " days, " << disturbances_ << " disturbed commands: " << killed_ << " killed, " << refused_
              << " refused by a full disk; " << alarms << " days with an alarm\n";
}

}  // namespace
}  // namespace accrue::test
