// Starts that other processes train, and starts that an earlier run has kept: the model is the same, byte for byte.
#include "fit/work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "accrue/threads.hpp"
#include "data/temporary_folder.hpp"
#include "support/archives.hpp"

namespace accrue::test {
namespace {

using support::Rows;

// Processes that are threads of this one.
class ThreadsAsProcesses {
public:
    explicit ThreadsAsProcesses(std::size_t count, bool end_together = false)
        : end_together_(end_together), texts_(count), barrier_(static_cast<std::ptrdiff_t>(count)) {
        for (std::size_t p = 0; p < count; ++p) members_.push_back(std::make_unique<Member>(*this, p));
    }

    // What work(process) gives in each.
    template <typename Work>
    std::vector<std::string> run(const Work& work) {
        std::vector<std::string> results(texts_.size());
        std::vector<std::thread> threads;
        for (std::size_t p = 0; p < texts_.size(); ++p)
            threads.emplace_back([&, p] {
                try {
                    results[p] = work(*members_[p]);
                } catch (const std::exception& error) {
                    results[p] = std::string("error: ") + error.what();
                }
            });
        for (std::thread& thread : threads) thread.join();
        return results;
    }

private:
    class Member final : public Processes {
    public:
        Member(ThreadsAsProcesses& all, std::size_t own) : all_(all), own_(own) {}
        std::size_t count() const override { return all_.texts_.size(); }
        std::size_t own() const override { return own_; }
        bool end_together() const override { return all_.end_together_; }
        std::vector<std::string> exchange(const std::string& text) const override {
            all_.texts_[own_] = text;
            all_.barrier_.arrive_and_wait();
            std::vector<std::string> texts = all_.texts_;
            all_.barrier_.arrive_and_wait();  // before anyone writes again
            return texts;
        }

    private:
        ThreadsAsProcesses& all_;
        std::size_t own_;
    };

    bool end_together_;
    std::vector<std::string> texts_;
    std::barrier<> barrier_;
    std::vector<std::unique_ptr<Member>> members_;
};

class Folder : public TemporaryFolder {
public:
    std::string checkpoint() const { return path("checkpoint"); }
    std::vector<std::filesystem::path> starts() const {
        std::vector<std::filesystem::path> all;
        for (const auto& entry : std::filesystem::directory_iterator(checkpoint()))
            if (entry.path().extension() == ".start") all.push_back(entry.path());
        std::sort(all.begin(), all.end());
        return all;
    }
};

// Fits that train in different ways: pooled forms, candidates with a location, means, every form, the paper's recipe.
struct Way {
    std::string name;
    Rows rows;
    FitOptions options;
};
std::vector<Way> ways() {
    std::vector<Way> all;
    FitOptions quick;
    quick.max_iterations = 20;
    all.push_back({"pooled", support::some_rows(120, 1), quick});
    Rows biased = support::some_rows(700, 2, 2);
    biased.prediction = biased.inputs[1];
    for (std::size_t i = 0; i < biased.errors.size(); ++i) biased.errors[i] += 3 * std::fabs(biased.inputs[1][i]);
    all.push_back({"candidates", biased, quick});
    for (const std::string& form : form_names()) {
        FitOptions own = quick;
        own.form = form;
        all.push_back({form, support::some_rows(120, 3), own});
    }
    FitOptions paper = quick;
    paper.recipe = "paper";
    all.push_back({"paper", support::some_rows(150, 4), paper});
    FitOptions front = quick;
    front.form = "network";
    front.balance_front = {0.2, 0.8};
    all.push_back({"front", support::some_rows(120, 5), front});
    return all;
}

std::string model_of(const Way& way, const Context& context) {
    return fit(way.rows.archive(), way.options, context).model.text();
}

TEST(Work, AnyNumberOfProcessesMakesTheSameModel) {
    for (const Way& way : ways()) {
        const std::string alone = model_of(way, {});
        for (const std::size_t count : {2U, 3U, 7U}) {
            ThreadsAsProcesses processes(count);
            const std::vector<std::string> models = processes.run([&](const Processes& own) {
                Context context;
                context.processes = &own;
                std::string model;
                with_threads(1, [&] { model = model_of(way, context); });
                return model;
            });
            for (const std::string& model : models) EXPECT_EQ(model, alone) << way.name << ", " << count;
        }
    }
}

TEST(Work, ProcessesShareTheStarts) {
    const Rows rows = support::some_rows(200, 6);
    FitOptions options;
    options.form = "network";
    options.family = "normal";
    options.bias = "none";
    options.max_iterations = 5;
    ThreadsAsProcesses processes(3);
    const std::vector<std::string> seen = processes.run([&](const Processes& own) {
        std::set<std::pair<std::size_t, std::size_t>> starts;
        Context context([&](const FitProgress& progress) {
            starts.emplace(progress.fold, progress.start);
            return true;
        });
        context.processes = &own;
        (void)fit(rows.archive(), options, context);
        return std::to_string(starts.size());
    });
    EXPECT_EQ(seen, (std::vector<std::string>{"5", "5", "5"})) << "15 starts among three";
}

TEST(Work, FailureOfOneProcessEndsAll) {
    const Rows rows = support::some_rows(200, 6);
    ThreadsAsProcesses processes(3);
    const std::vector<std::string> ends = processes.run([&](const Processes& own) {
        Context context([&](const FitProgress&) -> bool {
            if (own.own() == 1) throw MachineError("no more memory");
            return true;
        });
        context.processes = &own;
        return fit(rows.archive(), {}, context).model.text();
    });
    EXPECT_EQ(ends, (std::vector<std::string>{"error: process 2 of 3: no more memory", "error: no more memory",
                                              "error: process 2 of 3: no more memory"}));
}

// The others are in the midst of a start then, which ends here when they are told to.
TEST(Work, FailureOfOneIsKnownBeforeTheOthersHaveDoneTheirPart) {
    const Rows rows = support::some_rows(200, 6);
    ThreadsAsProcesses processes(3, true);
    std::atomic<bool> has_ended = false;
    const std::vector<std::string> ends = processes.run([&](const Processes& own) -> std::string {
        Context context([&](const FitProgress&) {
            if (own.own() == 1) throw MachineError("no more memory");
            has_ended.wait(false);
            return false;
        });
        context.processes = &own;
        try {
            return fit(rows.archive(), {}, context).model.text();
        } catch (const std::exception&) {
            if (own.own() == 1) {
                has_ended = true;
                has_ended.notify_all();
            }
            throw;
        }
    });
    EXPECT_EQ(ends[1], "error: no more memory");
}

TEST(Work, AFailedStartEndsTheOthersOfItsProcess) {
    const Rows rows = support::some_rows(200, 6);
    FitOptions options;
    options.form = "network";
    options.family = "normal";
    options.bias = "none";
    options.patience = options.max_iterations = 1000;
    std::set<std::size_t> folds;
    bool has_failed = false;
    int later = 0;
    Context context([&](const FitProgress& progress) {
        folds.insert(progress.fold);
        if (has_failed) {
            ++later;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        } else if (folds.size() > 1) {
            has_failed = true;
            throw MachineError("no more memory");
        }
        return true;
    });
    with_threads(2, [&] { EXPECT_THROW((void)fit(rows.archive(), options, context), MachineError); });
    // A call may wait while another one throws; a whole start would have hundreds.
    EXPECT_LT(later, 50);
}

TEST(Work, ProcessesOfOtherRowsAreRefused) {
    ThreadsAsProcesses processes(2);
    const std::vector<std::string> ends = processes.run([&](const Processes& own) {
        const Rows rows = support::some_rows(100 + own.own(), 6);
        Context context;
        context.processes = &own;
        return fit(rows.archive(), {}, context).model.text();
    });
    for (const std::string& end : ends)
        EXPECT_NE(end.find("the processes do not make the same fit"), std::string::npos);
}

// Stops a fit when it has kept so many starts.
void interrupt(const Way& way, const std::string& checkpoint, std::size_t kept, bool resume) {
    Context context([&](const FitProgress& progress) { return progress.finished < kept; });
    context.checkpoint = checkpoint;
    context.resume = resume;
    try {
        (void)fit(way.rows.archive(), way.options, context);
    } catch (const Interrupted&) {
    }
}

TEST(Work, AnInterruptedFitGoesOnToTheSameModel) {
    for (const Way& way : ways()) {
        const std::string undisturbed = model_of(way, {});
        const Folder folder;
        for (const std::size_t kept : {1U, 2U, 4U}) interrupt(way, folder.checkpoint(), kept, kept > 1);
        const std::size_t before = folder.starts().size();
        EXPECT_GE(before, 1U) << way.name;
        Context context;
        context.checkpoint = folder.checkpoint();
        context.resume = true;
        EXPECT_EQ(model_of(way, context), undisturbed) << way.name;
        // And with other processes, which find all of it done.
        ThreadsAsProcesses processes(2);
        for (const std::string& model : processes.run([&](const Processes& own) {
                 Context shared;
                 shared.processes = &own;
                 shared.checkpoint = folder.checkpoint();
                 shared.resume = true;
                 return model_of(way, shared);
             }))
            EXPECT_EQ(model, undisturbed) << way.name;
        remove_checkpoint(folder.checkpoint());
        EXPECT_FALSE(std::filesystem::exists(folder.checkpoint()));
    }
}

TEST(Work, StartsThatWereKeptAreNotTrainedAgain) {
    const Way way = ways().front();
    const Folder folder;
    Context context;
    context.checkpoint = folder.checkpoint();
    (void)model_of(way, context);
    bool trained = false;
    Context again([&](const FitProgress&) { return trained = true; });
    again.checkpoint = folder.checkpoint();
    again.resume = true;
    (void)model_of(way, again);
    EXPECT_FALSE(trained);
}

TEST(Work, DamagedStartsAreTrainedAgain) {
    const Way way = ways().front();
    const std::string undisturbed = model_of(way, {});
    const Folder folder;
    Context context;
    context.checkpoint = folder.checkpoint();
    (void)model_of(way, context);
    const auto starts = folder.starts();
    ASSERT_GE(starts.size(), 3U);
    std::filesystem::resize_file(starts[0], std::filesystem::file_size(starts[0]) / 2);
    std::filesystem::resize_file(starts[1], 0);
    {
        std::fstream file(starts[2], std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(starts[2]) / 2));
        file.put('\x7f');
    }
    context.resume = true;
    EXPECT_EQ(model_of(way, context), undisturbed);
}

TEST(Work, CheckpointsOfOtherFitsAreRefused) {
    const Way way = ways().front();
    const Folder folder;
    Context context;
    context.checkpoint = folder.checkpoint();
    (void)model_of(way, context);
    const auto refusal = [&](const Rows& rows, const FitOptions& options, bool resume) {
        Context own;
        own.checkpoint = folder.checkpoint();
        own.resume = resume;
        return support::refusal([&] { (void)fit(rows.archive(), options, own); });
    };
    EXPECT_NE(refusal(way.rows, way.options, false).find("add --resume to continue"), std::string::npos);
    FitOptions other = way.options;
    other.seed = 2;
    EXPECT_NE(refusal(way.rows, other, true).find("holds another fit"), std::string::npos);
    Rows rows = way.rows;
    rows.errors[7] += 1e-9;
    EXPECT_NE(refusal(rows, way.options, true).find("holds another fit"), std::string::npos);
    Archive sample = way.rows.archive();
    sample.errors = sample.errors.subspan(0, 100);
    for (std::span<const double>& input : sample.inputs) input = input.subspan(0, 100);
    sample.sampled_from = 120;
    Context own;
    own.checkpoint = folder.checkpoint();
    own.resume = true;
    const std::string of_sample = support::refusal([&] { (void)fit(sample, way.options, own); });
    EXPECT_NE(of_sample.find("give --memory to each run"), std::string::npos) << of_sample;
    // Where only the file that says whose they are is gone, starts of another fit are not taken either.
    std::filesystem::remove(std::filesystem::path(folder.checkpoint()) / "accrue-fit");
    EXPECT_EQ(fit(rows.archive(), way.options, context).model.text(), fit(rows.archive(), way.options).model.text());

    Context nowhere;
    nowhere.resume = true;
    EXPECT_NE(support::refusal([&] { (void)fit(way.rows.archive(), way.options, nowhere); }).find("--checkpoint"),
              std::string::npos);
    nowhere.checkpoint = folder.file("file", "no folder");
    EXPECT_NE(support::refusal([&] { (void)fit(way.rows.archive(), way.options, nowhere); }).find("cannot be made"),
              std::string::npos);
}

}  // namespace
}  // namespace accrue::test
