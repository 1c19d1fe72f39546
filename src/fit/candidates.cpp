#include "fit/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "fields/kinds.hpp"
#include "fit/archive_rows.hpp"
#include "fit/dependence.hpp"
#include "fit/folds.hpp"
#include "verify/summaries.hpp"

namespace accrue::fitting {

namespace {

// From folds of so many rows on cost is smooth enough to wait for longer.
constexpr std::size_t kRowsToWait = 500;
constexpr int kShortPatience = 10;
constexpr int kLongPatience = 30;

// A location is learned by a network from so many rows on; with fewer it learns their noise.
constexpr std::size_t kRowsForLocation = 500;
// A linear correction is a candidate where it gains so much of the CRPS of a constant sigma.
constexpr double kWorthTrying = 0.005;
// Candidates are tried on so many rows at most, drawn at random.
constexpr std::size_t kRowsOfTrial = 50'000;
constexpr std::uint64_t kTrialStream = 1'000'099;

// Of forms that keep similar sizes, one is kept in all folds when its validation cost is not worse than the best size's
// by more than the standard error of their difference over the folds. The rows cannot tell those apart, so their
// average is taken.
void judge_sizes(std::vector<Trained>& trained, std::size_t folds, const fields::Kind& form) {
    const std::size_t first = form.sizes().first;
    const bool best_alone = form.sizes().choice == fields::Kind::Choice::best;
    const std::size_t orders = trained.size() / folds;
    const auto at = [&](std::size_t fold, std::size_t order) -> StartOutcome& {
        return trained[fold * orders + order].outcome;
    };
    const double count = static_cast<double>(folds);
    const auto mean = [&](auto value) {
        double sum = 0;
        for (std::size_t k = 0; k < folds; ++k) sum += value(k);
        return sum / count;
    };
    const auto cost = [&](std::size_t order) {
        return mean([&](std::size_t k) { return at(k, order).validation_cost; });
    };
    std::size_t best = 0;
    for (std::size_t order = 1; order < orders; ++order)
        if (cost(order) < cost(best)) best = order;
    for (std::size_t order = 0; order < orders; ++order) {
        const auto excess = [&](std::size_t k) { return at(k, order).validation_cost - at(k, best).validation_cost; };
        const double average = mean(excess);
        const double variance = mean([&](std::size_t k) { return std::pow(excess(k) - average, 2); });
        const bool kept = best_alone ? order == best : average <= std::sqrt(variance / (count - 1));
        for (std::size_t k = 0; k < folds; ++k) {
            at(k, order).kept = kept;
            if (!kept)
                at(k, order).dropped_because =
                    fmt::format("its validation cost is worse than that of {}", form.size_name(first + best));
        }
    }
}

// Everything that folds need: rows in their order, starts of every fold, what they say of the rows that they held out.
class FoldFit {
public:
    // `calibration`: rows that make the recalibration, or null.
    FoldFit(const Archive& archive, const FitOptions& options, const FitWatcher& watcher, const LearnedMean* mean,
            const Archive* calibration)
        : f_{archive, options, watcher, mean}, calibration_(calibration) {
        f_.standardise();
        f_.arranged = arrange(archive, *f_.content, make_folds(archive, options.folds, options.seed), options.folds);
        require_weight_in_folds(f_.arranged);
        gain_ = bias_gain(f_.arranged);
    }

    const BiasGain& gain() const { return gain_; }
    const FitOptions& options() const { return f_.options; }

    // Before the first start.
    void prepare() {
        f_.fit_bias(std::vector<bool>(f_.arranged.rows(), true));
        f_.arranged.errors = cross_fitted_errors(f_.arranged, correction_of(f_.options));
        f_.prepare_rows();
        smallest_ = f_.arranged.rows();
        for (std::size_t k = 0; k < f_.options.folds; ++k) {
            divisions_.push_back({f_.arranged.starts[k], f_.arranged.starts[k + 1], f_.arranged.rows()});
            smallest_ = std::min(smallest_, divisions_[k].end - divisions_[k].begin);
        }
        f_.choose_patience(smallest_ >= kRowsToWait ? kLongPatience : kShortPatience);
        f_.choose_starts(3);
    }

    // Starts [first, last) of every fold, as far as there are so many. The first ones are the same whatever the last.
    void train(std::size_t first, std::size_t last) {
        const std::size_t starts = f_.starts;
        std::vector<StartTask> tasks;
        for (std::size_t k = 0; k < f_.options.folds; ++k)
            for (std::size_t r = first; r < std::min(last, starts); ++r) tasks.push_back({k, r, 1 + k * starts + r});
        if (tasks.empty()) return;
        const bool all_at_once = first == 0 && last >= starts;
        const auto run = f_.form.random_starts() && f_.options.stages && all_at_once ? train_in_stages : train_all;
        std::vector<Trained> own =
            run(f_.rows, divisions_, tasks, f_.score, f_.train_options(), f_.options.seed, f_.watcher);
        f_.trained.insert(f_.trained.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
        std::stable_sort(f_.trained.begin(), f_.trained.end(), [](const Trained& a, const Trained& b) {
            return std::pair(a.outcome.fold, a.outcome.start) < std::pair(b.outcome.fold, b.outcome.start);
        });
    }
    void train_all_starts() { train(0, f_.starts); }

    // Judges the starts so far, and takes those that are kept.
    void judge_starts() {
        const std::vector<Trained> constants = train_constants(f_.rows, divisions_, f_.score, f_.train_options());
        judge(f_.trained, constants, f_.score, f_.form.random_starts() ? smallest_ : 0);
        if (f_.form.sizes().several()) judge_sizes(f_.trained, f_.options.folds, f_.form);
        f_.content->members.clear();
        for (std::size_t k = 0; k < f_.options.folds; ++k) {
            std::vector<fields::Fitted> own;
            for (const Trained& t : f_.trained)
                if (t.outcome.fold == k && t.outcome.kept) own.push_back(t.member);
            if (own.empty()) own.push_back(constants[k].member);
            f_.hold_out(own, divisions_[k].begin, divisions_[k].end, held_out_);
            f_.content->members.insert(f_.content->members.end(), own.begin(), own.end());
        }
        f_.widen(held_out_);
    }

    // Of every row of the archive.
    std::vector<double> crps() const {
        const std::vector<double> arranged = f_.crps(held_out_);
        std::vector<double> scores(arranged.size());
        for (std::size_t at = 0; at < arranged.size(); ++at) scores[f_.arranged.order[at]] = arranged[at];
        return scores;
    }

    FitResult finish(Candidates candidates) {
        f_.recalibrate(held_out_, calibration_);
        return f_.finish(held_out_, gain_, std::move(candidates));
    }

private:
    Fitting f_;
    const Archive* calibration_;
    BiasGain gain_;
    std::vector<Division> divisions_;
    std::size_t smallest_ = 0;
    HeldOut held_out_;
};

// A random sample of an archive's rows, in their order.
std::vector<std::size_t> sampled_rows(std::size_t all, std::size_t rows, std::uint64_t seed) {
    std::vector<std::size_t> taken;
    core::Random random(seed, kTrialStream);
    std::size_t wanted = rows;
    for (std::size_t i = 0, left = all; left > 0; ++i, --left)
        if (random.below(left) < wanted) {
            taken.push_back(i);
            --wanted;
        }
    return taken;
}

// What a candidate is, in words.
std::string described(const FitOptions& options) {
    const std::string location = options.bias == "none"     ? "around the prediction"
                                 : learns_location(options) ? "with a learned location"
                                                            : fmt::format("after a {} correction", options.bias);
    return fmt::format("{}, {}", options.family,
                       options.mean != "none" && options.bias == "none" ? "around the learned mean" : location);
}

}  // namespace

std::vector<FitOptions> candidates(const FitOptions& options, std::size_t rows, bool has_prediction,
                                   const BiasGain& gain) {
    const bool paper = options.recipe != "default";
    const bool any_outputs =
        fields::kind(options.form).gives_any_outputs() && fields::kind(options.form).random_starts();
    // Of a forecast around a prediction that nobody knows only the spread can be told.
    const bool known = has_prediction || options.mean != "none";
    const bool enough = rows >= kRowsForLocation && any_outputs && !paper && known;
    std::vector<std::string> biases = {options.bias};
    if (options.bias == kAuto) {
        biases = {"none"};
        // Corrections are of predictions.
        const std::vector<std::string> names = fields::correction_names();
        if (!paper && known && options.mean == "none" && !gain.empty() && gain.back() > kWorthTrying)
            biases.push_back(names.back());
        if (enough) biases.emplace_back(kNetworkBias);
    }
    std::vector<std::string> families = {options.family};
    if (options.family == kAuto) {
        families = {std::string(normal_family()->name())};
        if (enough) families.emplace_back("sinh-arcsinh");
    }
    // One after the other: the location with the simplest family, then the family with a location that is learned.
    std::vector<FitOptions> all;
    for (const std::string& bias : biases) {
        all.push_back(options);
        all.back().family = families.front();
        all.back().bias = bias;
    }
    for (std::size_t k = 1; k < families.size(); ++k) {
        all.push_back(options);
        all.back().family = families[k];
        if (options.bias == kAuto) all.back().bias = kNetworkBias;
    }
    return all;
}

FitResult default_recipe(const Archive& archive, const FitOptions& options, const FitWatcher& watcher,
                         const LearnedMean* mean, const Archive* calibration) {
    const auto made = [&](const Archive& rows, const FitOptions& own) {
        return std::make_unique<FoldFit>(rows, own, watcher, mean, calibration);
    };
    FitOptions simplest = options;
    if (simplest.family == kAuto) simplest.family = normal_family()->name();
    if (simplest.bias == kAuto) simplest.bias = "none";
    auto chosen = made(archive, simplest);
    const std::vector<FitOptions> list =
        candidates(options, archive.errors.size(), !archive.prediction.empty(), chosen->gain());
    if (list.size() == 1) {
        chosen->prepare();
        chosen->train_all_starts();
        chosen->judge_starts();
        return chosen->finish({});
    }

    // One start of every fold tells candidates apart; those of the one that is taken are kept.
    const std::size_t rows = archive.errors.size();
    std::unique_ptr<const ArchiveRows> sample;
    if (rows > kRowsOfTrial)
        sample = std::make_unique<const ArchiveRows>(archive, sampled_rows(rows, kRowsOfTrial, options.seed));
    const Archive& tried = sample ? sample->archive() : archive;
    const Dependence dependence(tried);
    const auto trial = [&](const FitOptions& own) {
        auto fit = made(tried, own);
        fit->prepare();
        fit->train(0, 1);
        fit->judge_starts();
        return fit;
    };
    Candidates outcomes;
    std::vector<double> best;
    std::size_t taken = 0;
    for (const FitOptions& own : list) {
        auto fit = trial(own);
        const std::vector<double> scores = fit->crps();
        CandidateOutcome outcome;
        outcome.family = own.family;
        outcome.bias = own.bias;
        outcome.description = described(own);
        outcome.crps = weighted_mean(scores, tried.weights);
        bool better = outcomes.empty();
        if (!better) {
            std::vector<double> differences(scores.size());
            for (std::size_t i = 0; i < scores.size(); ++i) differences[i] = scores[i] - best[i];
            const PairedDifference paired =
                verification::paired_difference(differences, tried.weights, dependence.groups);
            outcome.compared_with = taken;
            outcome.difference = paired.difference;
            outcome.low = paired.low;
            outcome.high = paired.high;
            better = paired.high < 0;
        }
        if (better) {
            taken = outcomes.size();
            best = scores;
            chosen = std::move(fit);
        }
        outcomes.push_back(outcome);
    }
    outcomes[taken].taken = true;
    if (sample) {
        chosen = made(archive, chosen->options());
        chosen->prepare();
        chosen->train_all_starts();
    } else {
        chosen->train(1, std::numeric_limits<std::size_t>::max());
    }
    chosen->judge_starts();
    return chosen->finish(std::move(outcomes));
}

}  // namespace accrue::fitting
