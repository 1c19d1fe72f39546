#include "fit/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/parallel.hpp"

namespace accrue::fitting {

namespace {

// From so many rows on starts run one after the other, each on all threads, so that memory holds one start's numbers.
constexpr std::size_t kRowsToShareThreads = 200'000;
// A start is dropped when its skill is below such a share of its fold's best.
constexpr double kShareOfBestSkill = 0.5;

constexpr double kRowsToBeginSmaller = 100'000;  // a stage of so many has one before it
constexpr double kGrowth = 3;                    // of a stage over the one before
constexpr std::uint64_t kStageStream = 1'000'081;
// Less than this share of the validation cost is not worth more iterations in a stage.
constexpr double kTolerance = 1e-4;
// Later stages begin close to their minimum: they stop after so many iterations without a better cost, and when they
// have gone over so many rows in all, but not before the least iterations.
constexpr int kLaterPatience = 10;
constexpr double kRowsToGoOver = 40e6;
constexpr int kMinIterations = 20;
constexpr int kContinuedPatience = 5;    // of starts that another fit ended with
constexpr double kTimesOfContinued = 5;  // that a first-order method goes over the rows of an earlier fit's start

// Progress of all stages together, one call at a time.
struct Watched {
    const FitWatcher& watcher;
    std::size_t tasks;
    std::mutex mutex = {};
    std::atomic<bool> stopped = false;
    std::size_t finished = 0;

    Report report_of(std::size_t t, const StartTask& task) {
        return [this, t, task](int iteration, double cost) {
            if (watcher && !stopped) {
                const std::lock_guard lock(mutex);
                if (!watcher({t, task.fold, task.start, iteration, cost, finished, tasks})) stopped = true;
            }
            return !stopped.load();
        };
    }
    void finish() {
        const std::lock_guard lock(mutex);
        ++finished;
    }
};

// Starts as a text, to the last bit, and back.
std::string text_of(std::span<const Trained> starts) {
    using Json = nlohmann::ordered_json;
    Json all = Json::array();
    for (const Trained& t : starts) {
        const StartOutcome& o = t.outcome;
        all.push_back({t.member.field->name(), t.member.parameters, t.member.weight, o.fold, o.start, o.iterations,
                       o.method, o.reason, o.validation_cost, o.skill, o.kept, o.dropped_because, o.training_curve,
                       o.validation_curve});
    }
    std::string text;
    Json::to_cbor(all, text);
    return text;
}

std::vector<Trained> starts_from(const std::string& text, std::span<const fields::Range> ranges, std::size_t outputs) {
    std::vector<Trained> starts;
    for (const auto& entry : nlohmann::ordered_json::from_cbor(text)) {
        Trained t;
        std::string field;
        std::size_t k = 0;
        const auto next = [&](auto& value) { entry.at(k++).get_to(value); };
        next(field);
        next(t.member.parameters);
        next(t.member.weight);
        StartOutcome& o = t.outcome;
        next(o.fold);
        next(o.start);
        next(o.iterations);
        next(o.method);
        next(o.reason);
        next(o.validation_cost);
        next(o.skill);
        next(o.kept);
        next(o.dropped_because);
        next(o.training_curve);
        next(o.validation_curve);
        t.member.field = fields::make_field(field, ranges, outputs, t.member.parameters.size());
        starts.push_back(std::move(t));
    }
    return starts;
}

// A task has one start, or one in every size.
std::string text_of(const Trained& start) {
    return text_of(std::span(&start, 1));
}
void put(std::vector<Trained> starts, std::vector<Trained>& result) {
    result = std::move(starts);
}
void put(std::vector<Trained> starts, Trained& result) {
    result = std::move(starts.at(0));
}

using Trainings = std::vector<std::vector<Trained>>;  // of every task; all sizes are one task

// Calls run(t), which trains results[t], for every task that is this process's, and takes the others' results. Throws
// when the watcher has stopped them.
template <typename Result, typename Run>
void for_tasks(const Rows& rows, const TrainOptions& options, const Work& work, Watched& watched,
               std::vector<Result>& results, Run&& run) {
    Batch batch(work, results.size());
    const auto one = [&](std::size_t k) {
        const std::size_t t = batch.own()[k];
        if (watched.stopped) return;
        try {
            run(t);
            if (watched.stopped) return;
            if (batch.keeps()) batch.keep(t, text_of(results[t]));
        } catch (const std::exception&) {
            watched.stopped = true;  // the others need not come to their end
            throw;
        }
        watched.finish();
    };
    std::exception_ptr failure;
    try {
        // Steps by blocks of rows need little memory, and are too short to be shared.
        if (rows.errors.size() >= kRowsToShareThreads && !options.first_order)
            for (std::size_t k = 0; k < batch.own().size(); ++k) one(k);
        else
            core::for_tasks(batch.own().size(), one);
        if (watched.stopped) throw Interrupted();
    } catch (const std::exception&) {
        failure = std::current_exception();
    }
    batch.finish(failure, [&](std::size_t t, const std::string& text) {
        put(starts_from(text, rows.ranges, options.outputs.count()), results[t]);
        watched.finish();
    });
}

// A random sample of every fold, in the order of the rows.
struct Sample {
    std::vector<double> columns;
    std::vector<double> errors;
    std::vector<double> weights;
    std::vector<double> given;
    std::vector<Division> divisions;
    Rows rows;

    Sample(const Rows& all, const std::vector<Division>& folds, double share, core::Random random) {
        std::vector<std::size_t> taken;
        std::size_t row = 0;
        for (const Division& fold : folds) {
            const std::size_t begin = taken.size();
            const std::size_t size = fold.end - fold.begin;
            auto wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(size)));
            // Every row with the chance of what is still wanted among what is left, so that the sample has its size.
            for (std::size_t left = size; left > 0 && wanted > 0; --left, ++row)
                if (random.below(left) < wanted) {
                    taken.push_back(row);
                    --wanted;
                }
            row = fold.end;
            divisions.push_back({begin, taken.size(), 0});
        }
        const auto take = [&](std::span<const double> values, std::vector<double>& to) {
            for (const std::size_t i : taken) to.push_back(values[i]);
        };
        columns.reserve(all.x.inputs * taken.size());
        for (std::size_t k = 0; k < all.x.inputs; ++k)
            take({all.x.data + k * all.x.stride, all.errors.size()}, columns);
        take(all.errors, errors);
        if (!all.weights.empty()) take(all.weights, weights);
        for (Division& division : divisions) division.rows = taken.size();
        for (std::size_t k = 0; k < all.given.inputs; ++k)
            take({all.given.data + k * all.given.stride, all.errors.size()}, given);
        rows = {{columns.data(), taken.size(), all.x.inputs},
                errors,
                weights,
                all.ranges,
                {given.data(), taken.size(), all.given.inputs}};
    }
    Sample(const Sample&) = delete;
    Sample& operator=(const Sample&) = delete;
};

std::size_t smallest_fold(const std::vector<Division>& divisions) {
    std::size_t smallest = divisions.front().rows;
    for (const Division& d : divisions) smallest = std::min(smallest, d.end - d.begin);
    return smallest;
}

std::vector<Trained> joined(Trainings trained, const std::vector<StartTask>& tasks) {
    std::vector<Trained> all;
    for (std::size_t t = 0; t < tasks.size(); ++t)
        for (std::size_t size = 0; size < trained[t].size(); ++size) {
            all.push_back(std::move(trained[t][size]));
            all.back().outcome.fold = tasks[t].fold;
            all.back().outcome.start = tasks[t].start + size;
        }
    return all;
}

// Starts of the first stage, which are cheap there: two more for every three that are carried on.
std::vector<StartTask> candidates(const std::vector<StartTask>& tasks, std::size_t folds) {
    const std::size_t starts = tasks.size() / folds;
    std::vector<StartTask> all;
    for (std::size_t k = 0; k < folds; ++k)
        for (std::size_t r = 0; r < starts + (2 * starts + 2) / 3; ++r) all.push_back({k, r, all.size() + 1});
    return all;
}

// Drops all but the best starts of every fold.
void carry_on_the_best(std::vector<Trained>& trained, std::size_t folds, std::size_t starts) {
    const std::size_t each = trained.size() / folds;
    for (std::size_t k = 0; k < folds; ++k) {
        std::vector<Trained*> own;
        for (std::size_t r = 0; r < each; ++r) own.push_back(&trained[k * each + r]);
        std::stable_sort(own.begin(), own.end(), [](const Trained* a, const Trained* b) {
            return a->outcome.validation_cost < b->outcome.validation_cost;
        });
        for (std::size_t r = starts; r < each; ++r) {
            own[r]->outcome.kept = false;
            if (own[r]->outcome.dropped_because.empty())
                own[r]->outcome.dropped_because = "on the first sample of the rows other starts of its fold are better";
        }
    }
}

Trainings begin_all(const Rows& rows, const std::vector<Division>& divisions, const std::vector<StartTask>& tasks,
                    const Score& score, const TrainOptions& options, std::uint64_t seed, const Work& work,
                    Watched& watched) {
    Trainings trained(tasks.size());
    for_tasks(rows, options, work, watched, trained, [&](std::size_t t) {
        const Division& division = divisions[tasks[t].fold];
        core::Random random(seed, tasks[t].stream);
        trained[t] = train(rows, division, score, options, random, watched.report_of(t, tasks[t]));
    });
    return trained;
}

}  // namespace

std::vector<Trained> train_all(const Rows& rows, const std::vector<Division>& divisions,
                               const std::vector<StartTask>& tasks, const Score& score, const TrainOptions& options,
                               std::uint64_t seed, const Work& work) {
    Watched watched{work.watcher, tasks.size()};
    return joined(begin_all(rows, divisions, tasks, score, options, seed, work, watched), tasks);
}

std::vector<Trained> train_in_stages(const Rows& rows, const std::vector<Division>& divisions,
                                     const std::vector<StartTask>& tasks, const Score& score,
                                     const TrainOptions& options, std::uint64_t seed, const Work& work) {
    const auto count = static_cast<double>(rows.errors.size());
    std::vector<double> shares = {1};
    while (shares.back() * count >= kRowsToBeginSmaller) shares.push_back(shares.back() / kGrowth);
    if (shares.size() == 1 || options.first_order) return train_all(rows, divisions, tasks, score, options, seed, work);

    TrainOptions first = options;
    first.tolerance = kTolerance;
    TrainOptions later = first;
    later.patience = kLaterPatience;
    const std::vector<StartTask> all = candidates(tasks, divisions.size());
    Watched watched{work.watcher, all.size() * shares.size()};
    std::vector<Trained> trained;
    for (std::size_t stage = 0; stage < shares.size(); ++stage) {
        const double share = shares[shares.size() - 1 - stage];
        const bool last = share == 1;
        std::optional<Sample> sample;
        if (!last) sample.emplace(rows, divisions, share, core::Random(seed, kStageStream + stage));
        const Rows& own = last ? rows : sample->rows;
        const std::vector<Division>& folds = last ? divisions : sample->divisions;
        const double most = kRowsToGoOver / (share * count);
        later.max_iterations =
            std::max(kMinIterations, static_cast<int>(std::min<double>(most, options.max_iterations)));
        if (stage == 0)
            trained = joined(begin_all(own, folds, all, score, first, seed, work, watched), all);
        else
            for_tasks(own, later, work, watched, trained, [&](std::size_t t) {
                if (trained[t].outcome.dropped_because.empty())
                    train_on(trained[t], own, folds[all[t].fold], score, later, watched.report_of(t, all[t]));
            });
        if (!last) judge(trained, train_constants(own, folds, score, options), score, smallest_fold(folds));
        if (stage == 0) carry_on_the_best(trained, divisions.size(), tasks.size() / divisions.size());
    }
    return trained;
}

std::vector<Trained> continue_all(std::vector<Trained> starts, const Rows& rows, const std::vector<Division>& divisions,
                                  const Score& score, const TrainOptions& options, const Work& work) {
    TrainOptions later = options;
    later.tolerance = kTolerance;
    later.continued = true;
    later.patience = std::min(options.patience, kContinuedPatience);
    const double most =
        options.first_order ? kTimesOfContinued : kRowsToGoOver / static_cast<double>(rows.errors.size());
    later.max_iterations = std::max(options.first_order ? 1 : kMinIterations,
                                    static_cast<int>(std::min<double>(most, options.max_iterations)));
    Watched watched{work.watcher, starts.size()};
    for_tasks(rows, later, work, watched, starts, [&](std::size_t t) {
        const StartOutcome& own = starts[t].outcome;
        train_on(starts[t], rows, divisions[own.fold], score, later, watched.report_of(t, {own.fold, own.start, 0}));
    });
    return starts;
}

std::vector<Trained> train_constants(const Rows& rows, const std::vector<Division>& divisions, const Score& score,
                                     const TrainOptions& options) {
    TrainOptions constant = options;
    constant.form = &fields::constant_kind();
    constant.first_order = false;
    std::vector<StartTask> tasks;
    for (std::size_t k = 0; k < divisions.size(); ++k) tasks.push_back({k, 0, 1 + k});
    return train_all(rows, divisions, tasks, score, constant, 0, {});
}

double skill(const Score& score, double cost, double constant_cost) {
    // A difference of NLPDs is the log of a ratio of densities; the NLPD itself may be negative.
    if (score.kind == Score::Kind::nlpd) return 1 - std::exp(cost - constant_cost);
    return constant_cost > 0 ? 1 - cost / constant_cost : 0;
}

void judge(std::vector<Trained>& trained, const std::vector<Trained>& constants, const Score& score,
           std::size_t smallest_fold) {
    const auto is_dropped = [](const Trained& t) { return !t.outcome.dropped_because.empty(); };
    std::vector<double> best(constants.size(), 0.0);  // of every fold
    for (Trained& t : trained) {
        if (is_dropped(t)) continue;
        t.outcome.skill = skill(score, t.outcome.validation_cost, constants[t.outcome.fold].outcome.validation_cost);
        best[t.outcome.fold] = std::max(best[t.outcome.fold], t.outcome.skill);
    }
    for (Trained& t : trained) {
        if (is_dropped(t)) continue;
        t.outcome.kept = std::isfinite(t.outcome.validation_cost);
        if (!t.outcome.kept) t.outcome.dropped_because = "its cost is not finite";
        if (smallest_fold < kRowsToJudge || !t.outcome.kept) continue;
        const double best_of_fold = best[t.outcome.fold];
        t.outcome.kept = t.outcome.skill > 0 && t.outcome.skill >= kShareOfBestSkill * best_of_fold;
        if (!t.outcome.kept)
            t.outcome.dropped_because =
                fmt::format("its held-out skill of {:.2f}% is below half of its fold's best, {:.2f}%",
                            100 * t.outcome.skill, 100 * best_of_fold);
    }
}

}  // namespace accrue::fitting
