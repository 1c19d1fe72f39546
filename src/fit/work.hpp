// Where the tasks of a fit are done: here, in another process, or in an earlier run that kept them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "accrue/context.hpp"
#include "accrue/fit.hpp"

namespace accrue::fitting {

// Passed down to whatever trains. Copies share what is kept.
class Work {
public:
    Work() = default;                                      // all tasks are done here, and nothing is kept
    Work(FitWatcher watch) : watcher(std::move(watch)) {}  // NOLINT: the same, watched
    // Of a fit of these rows. Throws InputError where the context's checkpoint is of another fit or cannot be used, and
    // where processes have different rows, options or instructions.
    Work(const Context& context, const Archive& archive, const FitOptions& options);

    FitWatcher watcher = {};
    Work watched_by(FitWatcher watch) const;

private:
    friend class Batch;
    struct Shared;
    std::shared_ptr<Shared> shared_;  // null: nothing is shared or kept
};

// Tasks 0 to count - 1, whose results can be written as texts. Batches are made one after the other, in the same order
// by every process and in every run.
class Batch {
public:
    Batch(const Work& work, std::size_t count);

    // Those that are to be done here.
    const std::vector<std::size_t>& own() const { return own_; }
    bool keeps() const { return shared_ != nullptr; }  // whether somebody wants the results
    // The result of an own task. Calls may come from several threads.
    void keep(std::size_t task, std::string text);
    // After the last own task: calls take(task, text) for the tasks that were not done here. `failure` is what ended
    // the own ones, or null; it is thrown again, in the other processes as a MachineError.
    void finish(const std::exception_ptr& failure, const std::function<void(std::size_t, const std::string&)>& take);

private:
    std::shared_ptr<Work::Shared> shared_;
    std::size_t number_ = 0;  // of this batch
    std::vector<std::size_t> own_;
    std::vector<std::string> results_;  // empty: not known here
    std::vector<bool> done_here_;
    std::mutex mutex_;
};

}  // namespace accrue::fitting
