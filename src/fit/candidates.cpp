#include "fit/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "families/members.hpp"
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
// A start found nothing where its skill is below such a share of that of the median fold.
constexpr double kNothing = 0.1;
// Forms are pooled up to so many rows: it helps small archives, and takes up to twice the time.
constexpr std::size_t kRowsToPool = 20'000;

// Of forms that keep similar sizes, one is kept in all folds when its validation cost is not worse than the best size's
// by more than the standard error of their difference over the folds. The rows cannot tell those apart, so their
// average is taken. Beside another form, whose starts stop early and so lean to a constant, the smallest size is left
// out where there is another, and so are those beyond the next to the best, which lean to noise.
void judge_sizes(std::vector<Trained>& trained, std::size_t folds, const fields::Kind& form, bool beside_another) {
    const std::size_t first = form.sizes().first;
    const bool best_alone = form.sizes().choice == fields::Kind::Choice::best;
    const std::size_t orders = trained.size() / std::max<std::size_t>(folds, 1);
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
    const auto is_similar = [&](std::size_t order) {
        const auto excess = [&](std::size_t k) { return at(k, order).validation_cost - at(k, best).validation_cost; };
        const double average = mean(excess);
        const double variance = mean([&](std::size_t k) { return std::pow(excess(k) - average, 2); });
        return average <= std::sqrt(variance / (count - 1));
    };
    std::vector<bool> taken(orders);
    for (std::size_t order = 0; order < orders; ++order)
        taken[order] = best_alone ? order == best : is_similar(order) && !(beside_another && order > best + 1);
    if (beside_another && std::count(taken.begin(), taken.end(), true) > 1) taken[0] = false;
    for (std::size_t order = 0; order < orders; ++order) {
        for (std::size_t k = 0; k < folds; ++k) {
            at(k, order).kept = taken[order];
            if (!taken[order] && beside_another && is_similar(order))
                at(k, order).dropped_because = fmt::format("it is the smallest of several, or not next to the best, {}",
                                                           form.size_name(first + best));
            else if (!taken[order])
                at(k, order).dropped_because =
                    fmt::format("its validation cost is worse than that of {}", form.size_name(first + best));
        }
    }
}

// The weight of one of two forms in their average, by the CRPS of held-out rows. As a function of the weight w it is
// nearly a parabola, through its values at 0, 1/2 and 1: m + slope*(w - 1/2) + curve/2*(w - 1/2)^2. Its minimum is at
// w = 1/2 - slope/curve, but the slope is known as well as so many rows tell. It is shrunk by what it may be off by
// (half of its 90% interval), so that weights are equal where rows do not tell forms apart, and not much beyond that.
class PooledWeight {
public:
    PooledWeight(std::vector<double> at_0, std::vector<double> at_half, std::vector<double> at_1, const Arranged& rows,
                 const Grouping& groups)
        : at_0_(std::move(at_0)), at_half_(std::move(at_half)), at_1_(std::move(at_1)), weights_(rows.weights) {
        if (weights_.empty()) weights_.assign(rows.rows(), 1.0);
        if (!groups.codes.empty())
            for (const std::uint32_t row : rows.order) codes_.push_back(groups.codes[row]);
        groups_ = {codes_, groups.labels};
        slopes_.resize(rows.rows());
        for (std::size_t i = 0; i < rows.rows(); ++i) slopes_[i] = at_1_[i] - at_0_[i];
    }
    PooledWeight(const PooledWeight&) = delete;
    PooledWeight& operator=(const PooledWeight&) = delete;

    double of_all() const { return least(weights_); }
    double without(const Division& fold) const {
        std::vector<double> weights = weights_;
        std::fill(weights.begin() + static_cast<std::ptrdiff_t>(fold.begin),
                  weights.begin() + static_cast<std::ptrdiff_t>(fold.end), 0.0);
        return least(weights);
    }
    // Of one of the forms alone.
    double crps(int weight) const { return weighted_mean(weight == 0 ? at_0_ : at_1_, weights_); }

private:
    double least(std::span<const double> weights) const {
        const PairedDifference slope = verification::paired_difference(slopes_, weights, groups_);
        const double noise = (slope.high - slope.low) / 2;
        if (!std::isfinite(noise) || !(noise > 0)) return 0.5;
        const double curve =
            4 * (weighted_mean(at_0_, weights) + weighted_mean(at_1_, weights) - 2 * weighted_mean(at_half_, weights));
        const double sure = std::max(std::fabs(slope.difference) - noise, 0.0);
        return std::clamp(0.5 - std::copysign(sure, slope.difference) / (std::max(curve, 0.0) + noise), 0.0, 1.0);
    }

    std::vector<double> at_0_, at_half_, at_1_, slopes_;
    std::vector<double> weights_;
    std::vector<std::uint32_t> codes_;
    Grouping groups_;
};

// Everything that folds need: rows in their order, starts of every fold, what they say of the rows that they held out.
class FoldFit {
public:
    // `calibration`: rows that make the recalibration, or null. `earlier`: a fit that this one goes on from, or null.
    FoldFit(const Archive& archive, const FitOptions& options, const Work& work, const LearnedMean* mean,
            const Archive* calibration, const Model::Content* earlier)
        : f_{archive, options, work, mean, earlier}, calibration_(calibration) {
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

    // Starts [0, last) of every fold, as far as there are so many and they are not trained yet. The first ones are the
    // same whatever the last.
    void train(std::size_t last) {
        train(last, [](std::size_t) { return true; });
    }
    // One more start in folds where all so far found nothing of what the starts of other folds did: a candidate is not
    // judged by bad luck. Whether there is any.
    bool train_where_nothing_was_found() {
        if (!f_.form.random_starts() || smallest_ < kRowsToJudge) return false;
        std::vector<std::size_t> trained(f_.options.folds, 0);
        std::vector<double> best(f_.options.folds, 0.0);  // skill
        for (const Trained& t : forms_.front().trained) {
            ++trained[t.outcome.fold];
            best[t.outcome.fold] = std::max(best[t.outcome.fold], t.outcome.skill);
        }
        std::vector<double> sorted = best;
        std::nth_element(sorted.begin(), sorted.begin() + std::ssize(sorted) / 2, sorted.end());
        const double nothing = kNothing * sorted[sorted.size() / 2];
        const std::size_t last = *std::max_element(trained.begin(), trained.end()) + 1;
        return train(last, [&](std::size_t fold) { return best[fold] < nothing; });
    }
    void train_all_starts() {
        std::vector<Trained> continued = f_.earlier_starts();
        if (continued.empty()) return train(f_.starts);
        forms_.front().trained =
            continue_all(std::move(continued), f_.rows, divisions_, f_.score, f_.train_options(), f_.work);
    }

    // Where the form is left to the fit, and others suit as well: one start of each of them in every fold.
    void train_pooled_forms() {
        if (f_.options.form != kAuto || f_.arranged.rows() > kRowsToPool) return;
        for (const fields::Kind* form : fields::pooled_kinds(f_.rows.ranges, f_.outputs().count())) {
            std::vector<StartTask> tasks;
            for (std::size_t k = 0; k < f_.options.folds; ++k) tasks.push_back({k, 0, 1 + k});
            TrainOptions own = f_.train_options();
            own.form = form;
            FitWatcher watcher;  // counts on from the starts before
            const std::size_t before = forms_.front().trained.size();
            if (f_.work.watcher)
                watcher = [&](FitProgress progress) {
                    progress.task += before;
                    progress.finished += before;
                    progress.tasks += before;
                    return f_.work.watcher(progress);
                };
            const Work work = f_.work.watched_by(watcher);
            forms_.push_back({form, train_all(f_.rows, divisions_, tasks, f_.score, own, f_.options.seed, work)});
        }
    }

    // Judges the starts so far, and takes those that are kept.
    void judge_starts() {
        const std::vector<Trained> constants = train_constants(f_.rows, divisions_, f_.score, f_.train_options());
        for (FormStarts& own : forms_) {
            judge(own.trained, constants, f_.score, own.form->random_starts() ? smallest_ : 0);
            if (own.form->sizes().several())
                judge_sizes(own.trained, f_.options.folds, *own.form, &own != &forms_.front());
            own.kept.clear();
            for (std::size_t k = 0; k < f_.options.folds; ++k) {
                own.kept.emplace_back();
                for (const Trained& t : own.trained)
                    if (t.outcome.fold == k && t.outcome.kept) own.kept[k].push_back(t.member);
                if (own.kept[k].empty()) own.kept[k].push_back(constants[k].member);
            }
        }
        if (forms_.size() > 1)
            pool();
        else
            take([&](std::size_t k) { return forms_.front().kept[k]; });
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
        for (FormStarts& own : forms_) {
            for (Trained& t : own.trained) {
                t.outcome.form = own.form->name();
                f_.trained.push_back(std::move(t));
            }
        }
        if (forms_.size() == 1) f_.options.form = f_.form.name();
        f_.recalibrate(held_out_, calibration_);
        return f_.finish(held_out_, gain_, std::move(candidates));
    }

private:
    template <typename Wanted>
    bool train(std::size_t last, const Wanted& wanted) {
        std::vector<Trained>& all = forms_.front().trained;
        const auto is_trained = [&](std::size_t fold, std::size_t start) {
            return std::any_of(all.begin(), all.end(),
                               [&](const Trained& t) { return t.outcome.fold == fold && t.outcome.start == start; });
        };
        std::vector<StartTask> tasks;
        for (std::size_t k = 0; k < f_.options.folds; ++k)
            for (std::size_t r = 0; wanted(k) && r < std::min(last, f_.starts); ++r)
                if (!is_trained(k, r)) tasks.push_back({k, r, 1 + k * f_.starts + r});
        if (tasks.empty()) return false;
        const bool all_at_once = all.empty() && last >= f_.starts;
        const auto run = f_.form.random_starts() && f_.options.stages && all_at_once ? train_in_stages : train_all;
        std::vector<Trained> own =
            run(f_.rows, divisions_, tasks, f_.score, f_.train_options(), f_.options.seed, f_.work);
        all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
        std::stable_sort(all.begin(), all.end(), [](const Trained& a, const Trained& b) {
            return std::pair(a.outcome.fold, a.outcome.start) < std::pair(b.outcome.fold, b.outcome.start);
        });
        return true;
    }

    // What was trained of one form.
    struct FormStarts {
        const fields::Kind* form;
        std::vector<Trained> trained = {};
        std::vector<std::vector<fields::Fitted>> kept = {};  // of every fold
    };

    // Takes these members of every fold.
    template <typename Members>
    void take(const Members& of_fold) {
        f_.content->members.clear();
        for (std::size_t k = 0; k < f_.options.folds; ++k) {
            const std::vector<fields::Fitted> own = of_fold(k);
            f_.hold_out(own, divisions_[k].begin, divisions_[k].end, held_out_);
            f_.content->members.insert(f_.content->members.end(), own.begin(), own.end());
        }
    }

    // Members of two forms in this fold, where the first has this weight.
    std::vector<fields::Fitted> pooled(std::size_t fold, double weight) const {
        std::vector<fields::Fitted> all;
        for (const FormStarts& form : forms_) {
            const double own = &form == &forms_.front() ? weight : 1 - weight;
            if (own <= 0) continue;
            for (const fields::Fitted& member : form.kept[fold]) {
                all.push_back(member);
                all.back().weight = own / static_cast<double>(form.kept[fold].size());
            }
        }
        return all;
    }

    // The average of two forms, in log sigma. A fold's rows are judged with the weight that the others' rows ask for.
    void pool() {
        const auto scores = [&](double weight) {
            take([&](std::size_t k) { return pooled(k, weight); });
            return f_.crps(held_out_);
        };
        const PooledWeight weight(scores(0), scores(0.5), scores(1), f_.arranged, Dependence(f_.archive).groups);
        take([&](std::size_t k) { return pooled(k, weight.without(divisions_[k])); });
        const double own = weight.of_all();
        f_.content->members.clear();
        for (std::size_t k = 0; k < f_.options.folds; ++k)
            for (fields::Fitted& member : pooled(k, own)) f_.content->members.push_back(std::move(member));
        f_.pooled = {{std::string(forms_[0].form->name()), own, weight.crps(1)},
                     {std::string(forms_[1].form->name()), 1 - own, weight.crps(0)}};
    }

    Fitting f_;
    const Archive* calibration_;
    BiasGain gain_;
    std::vector<FormStarts> forms_ = {{&f_.form}};
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
    const bool any_outputs = form_of(options).gives_any_outputs() && form_of(options).random_starts();
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
        if (enough) biases.emplace_back(kLearnedLocation);
    }
    std::vector<std::string> families = {options.family};
    if (options.family == kAuto) {
        families = {std::string(normal_family()->name())};
        if (enough) families.emplace_back(accrue::families::flexible()->name());
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
        if (options.bias == kAuto) all.back().bias = kLearnedLocation;
    }
    return all;
}

FitResult default_recipe(const Archive& archive, const FitOptions& options, const Work& work, const LearnedMean* mean,
                         const Archive* calibration, const Model::Content* earlier) {
    const auto made = [&](const Archive& rows, const FitOptions& own) {
        return std::make_unique<FoldFit>(rows, own, work, mean, calibration, earlier);
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
        chosen->train_pooled_forms();
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
        fit->train(1);
        fit->judge_starts();
        while (fit->train_where_nothing_was_found()) fit->judge_starts();
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
                verification::paired_difference(differences, tried.weights, dependence.groups, kClearly);
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
        chosen->train(std::numeric_limits<std::size_t>::max());
    }
    chosen->train_pooled_forms();
    chosen->judge_starts();
    return chosen->finish(std::move(outcomes));
}

}  // namespace accrue::fitting
