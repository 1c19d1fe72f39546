#include "accrue/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "accrue/options.hpp"
#include "core/error.hpp"
#include "fit/balance_front.hpp"
#include "fit/candidates.hpp"
#include "fit/folds.hpp"
#include "fit/importance.hpp"
#include "fit/mean_choice.hpp"
#include "fit/observation_error.hpp"
#include "fit/recalibration.hpp"

namespace accrue {

namespace fitting {
namespace {

constexpr std::uint64_t kSplitStream = 1'000'033;

// One random division into training, validation and test rows; the best start by validation cost.
FitResult paper_recipe(const Archive& archive, const FitOptions& asked, const Work& work, const LearnedMean* mean) {
    const FitOptions options = candidates(asked, archive.errors.size(), false, {}).front();
    const std::size_t rows = archive.errors.size();
    const auto share = [&](double s) { return static_cast<std::size_t>(std::lround(s * static_cast<double>(rows))); };
    const std::size_t training = share(options.training_share);
    const std::size_t validation = share(options.validation_share);
    core::require(training > 0 && validation > 0 && training + validation < rows,
                  "{} rows cannot be divided into {} for training, {} for validation and a test set", rows, training,
                  validation);
    core::require(archive.times.empty() && archive.groups.codes.empty() && archive.fold_groups.codes.empty(),
                  "the paper's recipe divides rows at random; {}, {} and {} go with {}", core::option("group"),
                  core::option("fold_group"), core::option("time"), core::option("recipe", "default"));
    Fitting f{archive, options, work, mean};
    f.options.form = f.form.name();
    f.standardise();
    std::vector<std::size_t> part(rows);
    for (std::size_t i = 0; i < rows; ++i) part[i] = i < training ? 0 : i < training + validation ? 1 : 2;
    core::Random(options.seed, kSplitStream).shuffle(std::span(part));
    f.arranged = arrange(archive, *f.content, part, 3);
    const BiasGain gain = bias_gain(f.arranged);
    std::vector<bool> used(rows, false);
    std::fill_n(used.begin(), training, true);
    f.fit_bias(used);
    fields::correct(f.content->bias, f.arranged.regressors(), 0, rows, f.arranged.errors.data());
    f.prepare_rows();

    const Division division{training, training + validation, training + validation};
    constexpr int kPatience = 10;
    f.choose_patience(kPatience);
    f.choose_starts(5);
    std::vector<StartTask> tasks;
    for (std::size_t r = 0; r < f.starts; ++r) tasks.push_back({0, r, 1 + r});
    f.trained = train_all(f.rows, {division}, tasks, f.score, f.train_options(), options.seed, work);
    if (f.form.sizes().several() && f.form.sizes().choice == fields::Kind::Choice::similar)
        f.trained = {last_useful_size(std::move(f.trained))};
    const auto best = std::min_element(f.trained.begin(), f.trained.end(), [](const Trained& a, const Trained& b) {
        return a.outcome.validation_cost < b.outcome.validation_cost;
    });
    const std::vector<Trained> constant = train_constants(f.rows, {division}, f.score, f.train_options());
    for (Trained& t : f.trained) {
        t.outcome.skill = skill(f.score, t.outcome.validation_cost, constant[0].outcome.validation_cost);
        t.outcome.kept = &t == &*best;
        if (!t.outcome.kept) t.outcome.dropped_because = "another start has a lower validation cost";
    }
    f.content->members = {best->member};
    HeldOut held_out;
    f.hold_out(f.content->members, 0, rows, held_out);
    if (options.recalibrate != "none") {
        const std::vector<double> scores = f.held_out_scores(held_out);
        f.content->family = f.map_of_parts(options.recalibrate, scores, f.family, [](std::size_t p) { return p < 2; });
        f.recalibrated = {f.content->family};
    }
    std::fill_n(held_out.scales.begin(), training + validation, std::numeric_limits<double>::quiet_NaN());
    return f.finish(held_out, gain);
}

}  // namespace
}  // namespace fitting

std::string default_mean() {
    return std::string(fields::default_mean_kind().name());
}

std::vector<std::string> form_names() {
    return fields::kind_names();
}

namespace {

// Of the candidate that has the most, whatever the rows.
std::size_t max_outputs(const FitOptions& options) {
    std::size_t outputs = 1;
    for (const FitOptions& own :
         fitting::candidates(options, std::numeric_limits<std::size_t>::max(), true, fitting::BiasGain{})) {
        const fields::Outputs all{family(own.family).get(), fitting::learns_location(own)};
        outputs = std::max(outputs, all.count());
    }
    return outputs;
}

}  // namespace

std::size_t fit_bytes_per_row(std::size_t inputs, const FitOptions& options) {
    // Standardised inputs and prediction; errors, weights and order of the arranged rows, and the numbers of one start,
    // which are more than what the verification needs later.
    std::size_t own = (inputs + 1) * sizeof(double) + 136;
    // Values, slopes and marks of every further output, and the parameters of a row that is verified; errors about the
    // location, normal scores and their slopes.
    const std::size_t outputs = max_outputs(options);
    if (outputs > 1) own += (outputs - 1) * (4 * sizeof(double) + 1) + 8 * sizeof(double);
    // Of every balance: scores of the rows; and a second result beside the first.
    if (!options.balance_front.empty()) own += (options.balance_front.size() + 1) * 3 * sizeof(double) + 32;
    // A mean is learned from standardised copies, by networks that hold some numbers a row too.
    if (options.mean != "none") own += (2 * inputs + 12) * sizeof(double);
    // Two results, to compare.
    if (options.mean == fitting::kAuto) own += 8 * sizeof(double);
    // Copies of the rows that are learned from and of those that are set apart; scores of the maps that are tried.
    if (options.calibration_share > 0) own += (inputs + 8) * sizeof(double);
    return own + (options.recalibrate == fitting::kAuto ? 2 * sizeof(double) : 0);
}

std::size_t fit_bytes(std::size_t inputs, const FitOptions& options, std::size_t starts_at_work) {
    const fields::Kind& form = fitting::form_of(options);
    std::size_t parameters = 0;
    try {
        const std::vector<fields::Range> ranges(inputs, fields::Range{-1, 1});
        parameters = form.make(ranges, max_outputs(options), form.sizes().last)->parameters();
    } catch (const InputError&) {  // no such form of so many inputs: fit() says it
        return 0;
    }
    const bool is_paper = options.recipe == "paper";
    const std::size_t starts = !form.random_starts() ? 1 : options.starts > 0 ? options.starts : is_paper ? 5 : 3;
    const std::size_t trained = starts * (is_paper ? 1 : options.folds);
    constexpr std::size_t kDescent = 60;  // copies of the parameters: 20 pairs of the optimiser, gradients, steps
    constexpr std::size_t kWritten = 64;  // bytes of a parameter: numbers, JSON and text of the file
    return parameters * std::max((starts_at_work * kDescent + trained) * sizeof(double), trained * kWritten);
}

namespace {

using fitting::Work;

FitResult fit_from(const Archive& archive, const FitOptions& options, const Work& work, const Model::Content* earlier) {
    if (options.mean == fitting::kAuto) {
        fitting::check_for_mean(archive, options);
        return fitting::fit_with_chosen_mean(
            archive, options, [&](const FitOptions& own) { return fit_from(archive, own, work, earlier); });
    }
    const bool learns_mean = options.mean != "none";
    Archive whole = archive;
    if (learns_mean) {
        fitting::check_for_mean(archive, options);
        whole.errors = archive.observation;  // as many, for the checks
        whole.roles.error = archive.roles.observation.empty() ? "observation" : archive.roles.observation;
    }
    fitting::check(whole, options);
    if (learns_mean) whole.roles.error.clear();

    // Before anything is learned.
    std::optional<fitting::CalibrationSplit> split;
    if (options.calibration_share > 0) split.emplace(whole, options);
    fitting::check_groups(split ? split->calibration() : whole, options, split.has_value());
    Archive rows = split ? split->training() : whole;
    std::optional<fitting::LearnedMean> mean;
    if (learns_mean) {
        mean = fitting::learn_mean(rows, options, work.watcher);
        rows.errors = mean->errors;
    }
    if (learns_mean || split) fitting::check(rows, options);
    const fitting::LearnedMean* learned = mean ? &*mean : nullptr;
    const auto fitted = [&](const FitOptions& own) {
        return own.recipe == "paper" ? fitting::paper_recipe(rows, own, work, learned)
                                     : fitting::default_recipe(rows, own, work, learned,
                                                               split ? &split->calibration() : nullptr, earlier);
    };
    FitResult result = fitted(options);
    if (!options.balance_front.empty()) fitting::add_balance_front(result, rows, options, fitted);
    if (split) split->spread(result);
    return result;
}

}  // namespace

FitResult fit(const Archive& archive, const FitOptions& asked, const Context& context) {
    for (const FitOption& option : fit_options()) option.check(option.get(asked));
    FitOptions options = asked;
    options.recalibrate = fitting::recalibration_asked(archive, asked);
    fitting::check_balance_front(options);
    fitting::check_recalibration(archive, options);
    const Work work(context, archive, options);
    const auto fitted = [](const Archive& rows, const FitOptions& own, const Work& way) {
        return fit_from(rows, own, way, nullptr);
    };
    if (!archive.observation_error.empty()) return fitting::fit_without_noise(archive, options, work, fitted);
    return fitted(archive, options, work);
}

FitResult refit(const Model& model, const Archive& archive, const Context& context) {
    const Model::Content& earlier = model.content();
    FitOptions options;
    for (const FitOption& option : fit_options())
        if (earlier.configuration.contains(option.name)) option.set(options, earlier.configuration.at(option.name));
    options.balance_front.clear();  // what other balances give was told with the first fit
    if (options.recalibrate == "none") options.calibration_share = 0;  // where rows were set apart in vain
    core::require(options.recipe == "default", "a model of {} cannot be fitted again from where it is",
                  core::option("recipe", options.recipe));
    core::require(fitting::has_inputs_of(archive, model), "the inputs are not those of the model");
    core::require(archive.observation_error.empty(), "a model cannot be fitted again with {}",
                  core::option("observation_error"));
    return fit_from(archive, options, Work(context, archive, options), &earlier);
}

}  // namespace accrue
