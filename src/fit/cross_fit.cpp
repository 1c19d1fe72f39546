#include "fit/cross_fit.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace accrue::fitting {

namespace {

using fields::Columns;
using fields::Fitted;

struct HeldOutFit {
    std::size_t round;
    std::size_t fold;
    std::vector<double> held_out;  // for the rows of the fold, in their order
    Fitted fitted;
};

std::vector<HeldOutFit> make_tasks(std::span<const Folds> rounds, std::size_t rows) {
    core::require(!rounds.empty(), "a cross-fit needs at least one division into folds");
    std::vector<HeldOutFit> tasks;
    for (std::size_t r = 0; r < rounds.size(); ++r) {
        core::require(rounds[r].size() == rows, "a division into folds has {} rows in place of {}", rounds[r].size(),
                      rows);
        const std::size_t folds = rows == 0 ? 0 : 1 + *std::max_element(rounds[r].begin(), rounds[r].end());
        core::require(folds >= 2, "a cross-fit needs at least two folds");
        for (std::size_t f = 0; f < folds; ++f) tasks.push_back({r, f, {}, {}});
    }
    return tasks;
}

struct FoldRows {
    std::vector<std::size_t> fold;
    std::vector<std::size_t> others;

    FoldRows(const Folds& folds, std::size_t own) {
        for (std::size_t i = 0; i < folds.size(); ++i) (folds[i] == own ? fold : others).push_back(i);
    }
};

// The fold's rows, gathered: a field predicts stretches of rows.
std::vector<double> predict_rows(const Fitted& fitted, const Columns& x, std::span<const std::size_t> rows) {
    std::vector<double> gathered(rows.size() * x.inputs);
    for (std::size_t k = 0; k < x.inputs; ++k)
        for (std::size_t i = 0; i < rows.size(); ++i) gathered[k * rows.size() + i] = x.data[k * x.stride + rows[i]];
    return fields::average_of_all(std::span(&fitted, 1), {gathered.data(), rows.size(), x.inputs}, rows.size());
}

}  // namespace

CrossFit cross_fit(const fields::MeanKind& kind, const fields::Targets& targets, std::span<const Folds> rounds,
                   std::uint64_t seed, const FitWatcher& watcher) {
    const std::size_t rows = targets.y.size();
    std::vector<HeldOutFit> tasks = make_tasks(rounds, rows);
    kind.require_rows(rows);
    std::mutex mutex;
    std::atomic<bool> stopped{false};
    std::size_t finished = 0;
    const std::size_t count = tasks.size() + (kind.refits() ? 1 : 0);
    const auto report_of = [&](std::size_t t, std::size_t fold, std::size_t round) -> fields::Report {
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
        HeldOutFit& task = tasks[t];
        const FoldRows division(rounds[task.round], task.fold);
        core::Random random(seed, 1 + t);
        const fields::Report report = report_of(t, task.fold, task.round);
        task.fitted = kind.fit(targets, division.others, division.fold, random, report);
        task.held_out = predict_rows(task.fitted, targets.x, division.fold);
        const std::lock_guard lock(mutex);
        ++finished;
    };
    if (rows >= kind.rows_to_share_threads())
        for (std::size_t t = 0; t < tasks.size(); ++t) run(t);
    else
        core::for_tasks(tasks.size(), run);
    if (stopped) throw Interrupted();

    CrossFit result;
    result.held_out.assign(rows, 0.0);
    for (const HeldOutFit& task : tasks) {
        auto own = task.held_out.begin();
        for (std::size_t i = 0; i < rows; ++i)
            if (rounds[task.round][i] == task.fold) result.held_out[i] += *own++;
    }
    for (double& value : result.held_out) value /= static_cast<double>(rounds.size());
    std::vector<Fitted> of_first_round;
    std::vector<Fitted> of_all;
    for (HeldOutFit& task : tasks) {
        if (task.round == 0) of_first_round.push_back(task.fitted);
        of_all.push_back(std::move(task.fitted));
    }
    core::Random random(seed, 0);
    result.members =
        kind.finished(targets, std::move(of_first_round), std::move(of_all), random, report_of(tasks.size(), 0, 0));
    if (stopped) throw Interrupted();
    return result;
}

Fitted fit_mean(const fields::MeanKind& kind, const fields::Targets& targets, std::span<const std::size_t> training,
                std::span<const std::size_t> validation, std::uint64_t seed, const fields::Report& report) {
    core::Random random(seed);
    std::vector<std::size_t> rows(training.begin(), training.end());
    if (!kind.stops_early()) rows.insert(rows.end(), validation.begin(), validation.end());
    return kind.fit(targets, rows, validation, random, report);
}

}  // namespace accrue::fitting
