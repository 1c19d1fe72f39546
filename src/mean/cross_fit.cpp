#include "mean/cross_fit.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "mean/gaussian_process.hpp"
#include "mean/mean_network.hpp"

namespace accrue::mean {

namespace {

// From so many rows on tasks run one after the other, each on all threads, so that memory holds one task's numbers.
constexpr std::size_t kRowsToShareThreads = 200'000;
constexpr std::size_t kProcessRowsToShareThreads = 2000;

struct Task {
    std::size_t round;
    std::size_t fold;
    std::vector<double> held_out;  // for the rows of the fold, in their order
    std::shared_ptr<const Regression> regression;
};

std::vector<Task> make_tasks(std::span<const Folds> rounds, std::size_t rows) {
    core::require(!rounds.empty(), "a cross-fit needs at least one division into folds");
    std::vector<Task> tasks;
    for (std::size_t r = 0; r < rounds.size(); ++r) {
        core::require(rounds[r].size() == rows, "a division into folds has {} rows in place of {}", rounds[r].size(),
                      rows);
        const std::size_t folds = rows == 0 ? 0 : 1 + *std::max_element(rounds[r].begin(), rounds[r].end());
        core::require(folds >= 2, "a cross-fit needs at least two folds");
        for (std::size_t f = 0; f < folds; ++f) tasks.push_back({r, f, {}, {}});
    }
    return tasks;
}

struct Division {
    std::vector<std::size_t> fold;
    std::vector<std::size_t> others;

    Division(const Folds& folds, std::size_t own) {
        for (std::size_t i = 0; i < folds.size(); ++i) (folds[i] == own ? fold : others).push_back(i);
    }
};

// The fold's rows, gathered: a regression predicts stretches of rows.
std::vector<double> predict_rows(const Regression& regression, const Columns& x, std::span<const std::size_t> rows) {
    std::vector<double> gathered(rows.size() * x.inputs);
    for (std::size_t k = 0; k < x.inputs; ++k)
        for (std::size_t i = 0; i < rows.size(); ++i) gathered[k * rows.size() + i] = x.data[k * x.stride + rows[i]];
    return predict_all(regression, {gathered.data(), rows.size(), x.inputs}, rows.size());
}

std::shared_ptr<const Regression> final_regression(RegressionKind kind, const Targets& targets,
                                                   const std::vector<Task>& tasks, core::Random random,
                                                   const Report& report) {
    if (kind == RegressionKind::network) {
        std::vector<std::shared_ptr<const Regression>> members;
        for (const Task& task : tasks) members.push_back(task.regression);
        return std::make_shared<Ensemble>(std::move(members));
    }
    // From where the folds of the first round ended: all rows are not far from there.
    ProcessOptions options;
    for (const Task& task : tasks)
        if (task.round == 0)
            options.from.push_back(dynamic_cast<const GaussianProcess&>(*task.regression).log_hyperparameters());
    std::vector<std::size_t> all(targets.y.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return fit_gaussian_process(targets, all, random, options, report);
}

}  // namespace

RegressionKind regression_kind(std::string_view name) {
    if (name == "gp") return RegressionKind::gp;
    if (name == "network") return RegressionKind::network;
    core::refuse("there is no mean function '{}'; known are gp, network", name);
}

std::string to_string(RegressionKind kind) {
    return kind == RegressionKind::gp ? "gp" : "network";
}

CrossFit cross_fit(RegressionKind kind, const Targets& targets, std::span<const Folds> rounds, std::uint64_t seed,
                   const FitWatcher& watcher) {
    const std::size_t rows = targets.y.size();
    std::vector<Task> tasks = make_tasks(rounds, rows);
    const bool process = kind == RegressionKind::gp;
    if (process) require_process_rows(rows);
    std::mutex mutex;
    std::atomic<bool> stopped{false};
    std::size_t finished = 0;
    const std::size_t count = tasks.size() + (process ? 1 : 0);
    const auto report_of = [&](std::size_t t, std::size_t fold, std::size_t round) -> Report {
        return [&, t, fold, round](int iteration, double error) {
            if (watcher && !stopped) {
                const std::lock_guard lock(mutex);
                if (!watcher({t, fold, round, iteration, error, finished, count})) stopped = true;
            }
            return !stopped.load();
        };
    };
    const auto run = [&](std::size_t t) {
        if (stopped) return;
        Task& task = tasks[t];
        const Division division(rounds[task.round], task.fold);
        core::Random random(seed, 1 + t);
        const Report report = report_of(t, task.fold, task.round);
        if (process)
            task.regression = fit_gaussian_process(targets, division.others, random, {}, report);
        else
            task.regression = train_network(targets, division.others, division.fold, random, {}, report);
        task.held_out = predict_rows(*task.regression, targets.x, division.fold);
        const std::lock_guard lock(mutex);
        ++finished;
    };
    if (rows >= (process ? kProcessRowsToShareThreads : kRowsToShareThreads))
        for (std::size_t t = 0; t < tasks.size(); ++t) run(t);
    else
        tbb::parallel_for(std::size_t{0}, tasks.size(), run, tbb::simple_partitioner());
    if (stopped) throw Interrupted();

    CrossFit result;
    result.held_out.assign(rows, 0.0);
    for (const Task& task : tasks) {
        auto own = task.held_out.begin();
        for (std::size_t i = 0; i < rows; ++i)
            if (rounds[task.round][i] == task.fold) result.held_out[i] += *own++;
    }
    for (double& value : result.held_out) value /= static_cast<double>(rounds.size());
    result.regression = final_regression(kind, targets, tasks, core::Random(seed, 0), report_of(tasks.size(), 0, 0));
    if (stopped) throw Interrupted();
    return result;
}

std::shared_ptr<const Regression> fit_regression(RegressionKind kind, const Targets& targets,
                                                 std::span<const std::size_t> training,
                                                 std::span<const std::size_t> validation, std::uint64_t seed,
                                                 const Report& report) {
    core::Random random(seed);
    if (kind == RegressionKind::network) return train_network(targets, training, validation, random, {}, report);
    std::vector<std::size_t> rows(training.begin(), training.end());
    rows.insert(rows.end(), validation.begin(), validation.end());
    return fit_gaussian_process(targets, rows, random, {}, report);
}

}  // namespace accrue::mean
