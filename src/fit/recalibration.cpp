#include "fit/recalibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

#include "accrue/recalibrated.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/rounded_json.hpp"
#include "fit/dependence.hpp"
#include "fit/fitting.hpp"
#include "fit/folds.hpp"
#include "verify/dependence.hpp"
#include "verify/pits.hpp"
#include "verify/summaries.hpp"

namespace accrue::fitting {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kNone = "none";
constexpr const char* kIsotonic = "isotonic";
constexpr const char* kConformal = "conformal";

// From so many rows on a central interval of 90% ends at rows: 0.05*(n + 1) is at least 1.
constexpr std::size_t kMinCalibrationRows = 19;
// A map is looked for where rows are worth so many independent ones: one that fewer make is mostly their noise.
constexpr double kMinRows = 500;
// Maps are tried on so many rows at most, evenly taken from all folds.
constexpr std::size_t kRowsOfTrial = 50'000;
// Rows refute the calibration of a forecast below the first, and bear it out from the second on.
constexpr double kRefuted = 0.001;
constexpr double kBorneOut = 0.05;

Recalibrated::Kind kind_of(const std::string& name) {
    return name == kConformal ? Recalibrated::Kind::conformal : Recalibrated::Kind::isotonic;
}

// Maps in the order of preference where rows cannot tell them apart. Without rows set apart a conformal map promises
// nothing, and is hardly another than the isotonic one.
std::vector<std::string> maps_to_try(bool weighted, bool split) {
    if (split && !weighted) return {kConformal, kIsotonic};
    return {kIsotonic};
}

double pit_of(double score) {
    return std::erfc(-score / std::sqrt(2.0)) / 2;
}

// The calibration of held-out rows within stretches of them: the mean error, and the smallest p-value, by Bonferroni's
// bound.
struct Calibration {
    double error = 0;
    double p_value = 1;
};

Calibration calibration_of(std::span<const double> scores, std::span<const double> weights,
                           std::span<const std::size_t> starts, double rows_worth_one) {
    Calibration result;
    const std::size_t stretches = starts.size() - 1;
    for (std::size_t k = 0; k < stretches; ++k) {
        const std::size_t rows = starts[k + 1] - starts[k];
        const auto own = weights.empty() ? weights : weights.subspan(starts[k], rows);
        const auto pits = [&](std::size_t begin, std::size_t end, double* out) {
            for (std::size_t i = begin; i < end; ++i) out[i - begin] = pit_of(scores[starts[k] + i]);
        };
        constexpr std::size_t kIntervals = 100;
        const double distance = verification::PitCdf(rows, pits, own, kIntervals).distance_to_diagonal();
        result.error += distance / static_cast<double>(stretches);
        const double worth = std::max(effective_rows(rows, own) / rows_worth_one, 1.0);
        result.p_value = std::min(result.p_value, kolmogorov_survival(worth, distance));
    }
    result.p_value = std::clamp(static_cast<double>(stretches) * result.p_value, 0.0, 1.0);
    return result;
}

// Whether PITs are uniform, by Neyman's smooth test: rows*sum over j = 1..6 of (mean of sqrt(2)*cos(j*pi*PIT))^2 has a
// chi-square distribution of 6 degrees of freedom. Of a wrong shape, which goes up and down, it tells more than
// Kolmogorov's distance does.
struct Cosines {
    static constexpr std::size_t kCount = 6;
    double weight = 0;
    std::array<double, kCount> sums = {};

    void add(double score, double own) {
        const double step = 2 * std::cos(std::numbers::pi * pit_of(score));
        double before = 1;
        double value = step / 2;
        for (double& sum : sums) {
            sum += own * value;
            before = std::exchange(value, step * value - before);
        }
        weight += own;
    }
    Cosines& operator+=(const Cosines& other) {
        for (std::size_t j = 0; j < kCount; ++j) sums[j] += other.sums[j];
        weight += other.weight;
        return *this;
    }
    double p_value(double rows) const {
        double half = 0;  // of the statistic
        for (const double sum : sums) half += rows * (sum / weight) * (sum / weight);
        return std::exp(-half) * (1 + half + half * half / 2);
    }
};

double smooth_p_value(std::span<const double> scores, std::span<const double> weights, double rows_worth_one) {
    constexpr std::size_t kBlock = 4096;
    const auto all = core::sum_blocks<Cosines>(scores.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        Cosines own;
        for (std::size_t i = begin; i < end; ++i) own.add(scores[i], weights.empty() ? 1 : weights[i]);
        return own;
    });
    return all.p_value(effective_rows(scores.size(), weights) / rows_worth_one);
}

// Arranged rows that err together: groups, those that folds keep whole, or neighbours.
struct Together {
    std::vector<std::uint32_t> codes;  // which of them count as one observation of a difference; empty: each for itself
    std::vector<std::string> labels;
    double worth_one = 1;  // rows that tell as much as one that is independent

    Together(const Archive& archive, const Arranged& arranged, std::span<const double> scores) {
        const verification::NormalScores own{scores};
        const Dependence dependence(archive);
        const bool in_groups = !archive.groups.codes.empty() || !archive.fold_groups.codes.empty();
        const Grouping& groups = in_groups && archive.groups.codes.empty() ? archive.fold_groups : dependence.groups;
        for (std::size_t at = 0; at < arranged.rows() && !groups.codes.empty(); ++at)
            codes.push_back(groups.codes[arranged.order[at]]);
        if (!codes.empty()) labels.assign(groups.labels.begin(), groups.labels.end());
        verification::DesignEffects effects;
        if (in_groups) effects = verification::design_effects(own, arranged.weights, codes, labels.size());
        if (!verification::in_order_of_size(archive)) {
            const std::vector<std::uint32_t> order = places_in_order(archive, arranged);
            const verification::Neighbours neighbours = verification::neighbours_in(own, order);
            effects.raise_to(verification::design_effects(own, arranged.weights, order, neighbours));
            if (codes.empty() && neighbours.err_together) {
                codes.resize(arranged.rows());
                labels.resize(verification::neighbour_blocks(order, codes));
            }
        }
        worth_one = std::max({effects.mean, effects.spread, effects.curve});
    }

private:
    // Arranged rows in the order of their times, or else of the archive.
    static std::vector<std::uint32_t> places_in_order(const Archive& archive, const Arranged& arranged) {
        std::vector<std::uint32_t> places(arranged.rows());
        for (std::size_t at = 0; at < arranged.rows(); ++at)
            places[arranged.order[at]] = static_cast<std::uint32_t>(at);
        const auto time = [&](std::uint32_t at) { return archive.times[arranged.order[at]]; };
        if (!archive.times.empty())
            std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return time(a) < time(b); });
        return places;
    }
};

}  // namespace

std::string recalibration_asked(const Archive& archive, const FitOptions& options) {
    const bool papers_form = options.family == normal_family()->name() && options.bias == kNone;
    const bool none = papers_form || options.recipe != "default" || !archive.observation_error.empty();
    return options.recalibrate == kAuto && none ? kNone : options.recalibrate;
}

void check_recalibration(const Archive& archive, const FitOptions& options) {
    const OptionName recalibrate = core::option("recalibrate", options.recalibrate);
    const OptionName share = core::option("calibration_share");
    if (options.recipe != "default") {
        core::require(options.recalibrate == kNone || options.recalibrate == kIsotonic, "{} goes with {} only",
                      recalibrate, core::option("recipe", "default"));
        core::require(options.calibration_share == 0, "{} goes with {} only", share, core::option("recipe", "default"));
    }
    core::require(options.calibration_share == 0 || options.recalibrate != kNone,
                  "{} sets rows apart for a recalibration, but there is none: give {}, or no share", share,
                  core::option("recalibrate", kConformal));
    core::require(archive.weights.empty() || options.recalibrate != kConformal,
                  "{} counts rows, each as one, and does not go with {}; {} takes weights", recalibrate,
                  core::option("weight"), core::option("recalibrate", kIsotonic));
}

CalibrationSplit::CalibrationSplit(const Archive& all, const FitOptions& options) : rows_(all.errors.size()) {
    const std::vector<bool> set_apart = calibration_rows(all, options.calibration_share, options.folds, options.seed);
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < rows_; ++i) (set_apart[i] ? others : of_training_).push_back(i);
    const auto counts = [&](std::size_t i) { return all.weights.empty() || all.weights[i] > 0; };
    const auto count = static_cast<std::size_t>(std::count_if(others.begin(), others.end(), counts));
    core::require(count >= kMinCalibrationRows,
                  "{} of {} rows sets {} apart, but a central 90% interval needs at least {}: give a larger share, or "
                  "none to calibrate by rows out of fold",
                  core::option("calibration_share", fmt::format("{}", options.calibration_share)), rows_, count,
                  kMinCalibrationRows);
    training_ = std::make_unique<const ArchiveRows>(all, of_training_);
    calibration_ = std::make_unique<const ArchiveRows>(all, others);
}

void CalibrationSplit::spread(FitResult& result) const {
    const std::size_t own = of_training_.size();
    const auto spread = [&](auto& values, auto none) {
        const std::size_t width = values.size() / own;
        std::remove_reference_t<decltype(values)> all(width * rows_, none);
        for (std::size_t i = 0; i < own; ++i)
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                        all.begin() + static_cast<std::ptrdiff_t>(of_training_[i] * width));
        values = std::move(all);
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    spread(result.errors, nan);
    spread(result.sigmas, nan);
    spread(result.parameters, nan);
    spread(result.parts, std::uint32_t{0});
}

std::vector<double> scores_of_rows(const Model& model, const Archive& rows) {
    const std::size_t count = rows.errors.size();
    // Errors alone are those of a prediction of zero.
    std::vector<double> zeros;
    std::span<const double> prediction = rows.prediction;
    if (!model.has_mean() && prediction.empty()) {
        zeros.resize(count);
        if (model.family()->limits().any())  // then the observations are known
            for (std::size_t i = 0; i < count; ++i) zeros[i] = rows.observation[i] - rows.errors[i];
        prediction = zeros;
    }
    std::vector<std::vector<double>> codes(rows.inputs.size());
    std::vector<std::span<const double>> inputs = rows.inputs;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (rows.input_types.empty() || rows.input_types[k].kind != InputKind::category) continue;
        std::vector<double> places;
        for (const std::string& label : rows.input_types[k].labels) places.push_back(model.category_code(k, label));
        for (const double code : inputs[k])
            codes[k].push_back(std::isnan(code) ? code : places[static_cast<std::size_t>(code)]);
        inputs[k] = codes[k];
    }
    const Forecast forecast = model.forecast(inputs, model.has_mean() ? std::span<const double>{} : prediction);
    std::vector<double> errors(count);
    for (std::size_t i = 0; i < count; ++i)
        errors[i] = model.has_mean() ? rows.observation[i] - forecast.mean[i]
                                     : rows.errors[i] - (forecast.mean[i] - prediction[i]);
    return normal_scores(errors, forecast.sigma, forecast.families());
}

std::vector<double> Fitting::held_out_scores(const HeldOut& held_out) const {
    const forecasts::RowParameters complete(*family);
    std::vector<double> scores(arranged.rows());
    constexpr std::size_t kBlock = 1024;
    core::for_blocks(arranged.rows(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<double> parameters(complete.width());
        for (std::size_t at = begin; at < end; ++at) {
            // Not a structured binding: Clang 14 cannot capture one.
            const RowForecast row = row_forecast(held_out, at, complete, parameters);
            const RowFamilies own(Families{{family}, {}, parameters}, 1);
            scores[at] = own.with(0, [&](const Standardised& z) { return z.normal_score(row.error / row.sigma); });
        }
    });
    return scores;
}

SharedFamily Fitting::map_of_parts(const std::string& kind, std::span<const double> scores, const SharedFamily& inner,
                                   const std::function<bool(std::size_t part)>& taken) const {
    std::vector<double> own;
    std::vector<double> weights;
    for (std::size_t part = 0; part < arranged.folds(); ++part) {
        if (!taken(part)) continue;
        for (std::size_t i = arranged.starts[part]; i < arranged.starts[part + 1]; ++i) {
            own.push_back(scores[i]);
            if (!arranged.weights.empty()) weights.push_back(arranged.weights[i]);
        }
    }
    return Recalibrated::fitted(own, weights, inner, kind_of(kind));
}

std::vector<SharedFamily> Fitting::choose_map(const HeldOut& held_out, std::span<const double> scores, bool split) {
    options.recalibrate = kNone;
    if (static_cast<double>(arranged.rows()) < kMinRows) return {};
    const Together together(archive, arranged, scores);
    if (effective_rows(arranged.rows(), arranged.weights) < kMinRows * together.worth_one) return {};

    const std::size_t folds = arranged.folds();
    // Every step-th row of all folds, in the arranged order.
    const std::size_t step = (arranged.rows() + kRowsOfTrial - 1) / kRowsOfTrial;
    std::vector<std::size_t> tried;
    std::vector<std::size_t> part_of_tried;
    std::vector<double> weights;
    std::vector<std::uint32_t> codes;
    for (std::size_t part = 0; part < folds; ++part)
        for (std::size_t at = arranged.starts[part]; at < arranged.starts[part + 1]; at += step) {
            tried.push_back(at);
            part_of_tried.push_back(part);
            if (!arranged.weights.empty()) weights.push_back(arranged.weights[at]);
            if (!together.codes.empty()) codes.push_back(together.codes[at]);
        }
    const Grouping groups{codes, together.labels};

    std::vector<RecalibrationOutcome::Trial>& trials = recalibration.trials;
    std::vector<SharedFamily> taken_maps;
    std::vector<double> best;
    std::size_t taken = 0;
    const auto judge = [&](const std::string& kind, std::span<const SharedFamily> maps,
                           std::span<const double> mapped_scores) {
        RecalibrationOutcome::Trial& own = trials.emplace_back();
        own.kind = kind;
        std::vector<double> crps = crps_of(held_out, tried, maps, part_of_tried);
        own.crps = weighted_mean(crps, weights);
        const Calibration calibration =
            calibration_of(mapped_scores, arranged.weights, arranged.starts, together.worth_one);
        own.calibration_error = calibration.error;
        // Without a map all rows together can refute it. With maps they would bear out whatever there is: what a fold
        // deviates by comes back, with the opposite sign, in the maps of the others.
        own.p_value =
            kind == kNone ? smooth_p_value(mapped_scores, arranged.weights, together.worth_one) : calibration.p_value;
        bool better = trials.size() == 1;
        if (!better) {
            std::vector<double> differences(crps.size());
            for (std::size_t i = 0; i < crps.size(); ++i) differences[i] = crps[i] - best[i];
            const PairedDifference paired = verification::paired_difference(differences, weights, groups);
            own.compared_with = taken;
            own.difference = paired.difference;
            own.low = paired.low;
            own.high = paired.high;
            const bool calibrates = trials[taken].p_value < kRefuted && own.p_value >= kBorneOut && !(paired.low > 0);
            better = paired.high < 0 || calibrates;
        }
        if (!better) return false;
        taken = trials.size() - 1;
        best = std::move(crps);
        return true;
    };
    judge(kNone, std::vector{family}, scores);
    for (const std::string& kind : maps_to_try(!arranged.weights.empty(), split)) {
        std::vector<SharedFamily> maps;
        std::vector<double> mapped(scores.begin(), scores.end());
        for (std::size_t part = 0; part < folds; ++part) {
            const auto others = [&](std::size_t other) { return other != part; };
            maps.push_back(map_of_parts(kind, scores, family, others));
            const SharedFamily of_scores = map_of_parts(kind, scores, normal_family(), others);
            for (std::size_t at = arranged.starts[part]; at < arranged.starts[part + 1]; ++at)
                mapped[at] = of_scores->normal_score(scores[at], {});
        }
        if (judge(kind, maps, mapped)) taken_maps = std::move(maps);
    }
    trials[taken].taken = true;
    options.recalibrate = trials[taken].kind;
    return taken_maps;
}

void Fitting::recalibrate(const HeldOut& held_out, const Archive* calibration) {
    if (options.recalibrate == kNone) return;
    recalibration.asked = options.recalibrate;
    recalibration.split = calibration != nullptr;
    const std::vector<double> scores = held_out_scores(held_out);
    std::vector<SharedFamily> by_others;
    if (options.recalibrate == kAuto) by_others = choose_map(held_out, scores, calibration != nullptr);
    recalibration.kind = options.recalibrate;
    recalibration.rows = calibration != nullptr ? calibration->errors.size() : arranged.rows();
    if (options.recalibrate == kNone) return;
    if (calibration != nullptr) {
        content->family = Recalibrated::fitted(scores_of_rows(Model(content), *calibration), calibration->weights,
                                               family, kind_of(options.recalibrate));
        recalibrated = {content->family};
        // Rows that err together are not exchangeable one by one, and nor are those of different times.
        recalibration.guaranteed = options.recalibrate == kConformal && archive.times.empty() &&
                                   archive.groups.codes.empty() && archive.fold_groups.codes.empty();
        return;
    }
    content->family = map_of_parts(options.recalibrate, scores, family, [](std::size_t) { return true; });
    // Every fold is judged by a map of the others.
    recalibrated = std::move(by_others);
    for (std::size_t k = recalibrated.size(); k < arranged.folds(); ++k)
        recalibrated.push_back(
            map_of_parts(options.recalibrate, scores, family, [&](std::size_t part) { return part != k; }));
}

namespace {

// "0.90": what the central interval of this level promises, by the ranks between which it lies.
double stated_coverage(std::size_t rows, double level) {
    constexpr double kRounding = 1e-9;
    const auto count = static_cast<double>(rows + 1);
    return 1 - 2 * std::floor((1 - level) / 2 * count + kRounding) / count;
}

// Why what `auto` took was taken.
std::string choice_text(const RecalibrationOutcome& outcome) {
    const auto& trials = outcome.trials;
    if (trials.empty())
        return fmt::format(
            "No recalibration was tried: one is learned where rows are worth {:g} independent ones or more.", kMinRows);
    const auto& own = *std::find_if(trials.begin(), trials.end(), [](const auto& trial) { return trial.taken; });
    const auto& none = trials.front();
    if (own.kind == kNone)
        return fmt::format(
            "No recalibration was taken: rows that a map was not made from show neither a clearly lower CRPS with one "
            "nor a calibration that it repairs ({} tried).",
            trials.size() == 2 ? "one was" : "two were");
    return fmt::format(
        "The {} recalibration was taken: on rows that it was not made from the calibration error is {:.2g}% with it "
        "and {:.2g}% without, and the CRPS {:.4g} and {:.4g}.",
        own.kind, 100 * own.calibration_error, 100 * none.calibration_error, own.crps, none.crps);
}

}  // namespace

std::vector<Message> recalibration_remarks(const RecalibrationOutcome& outcome, const Archive& archive) {
    std::vector<Message> remarks;
    const bool chosen = outcome.asked == kAuto;
    // That there is none needs no words where no rows were set apart for one.
    if (chosen && (outcome.kind != kNone || outcome.split)) remarks.emplace_back(choice_text(outcome));
    if (outcome.kind == kNone) {
        if (outcome.split)
            remarks.push_back(core::message("The {} rows of {} were not used: without it the fit learns from them too.",
                                            outcome.rows, core::option("calibration_share")));
        return remarks;
    }
    if (!outcome.split) {
        constexpr const char* kByFold =
            "Each fold was judged by a recalibration from the other folds; calibration error, reliability score and "
            "their floors are means over the folds.";
        if (!chosen) remarks.emplace_back(kByFold);  // else the choice has been judged so
        if (outcome.kind == kConformal)
            remarks.push_back(core::message(
                "The ranks are those of rows out of fold, whose forecasts come from parts of the model: no "
                "finite-sample guarantee. {} sets rows apart for one.",
                core::option("calibration_share", "0.25")));
        return remarks;
    }
    remarks.emplace_back(fmt::format(
        "The recalibration comes from {} rows that entered nothing else, which tell a distribution to about "
        "{:.2g}%; the figures are of the other rows, out of fold.",
        outcome.rows, 100 * kolmogorov_quantile(static_cast<double>(outcome.rows), 0.5)));
    if (outcome.kind != kConformal) return remarks;
    constexpr double kLevel = 0.9;
    const std::string promise =
        fmt::format("the central {:g}% interval covers {:.1f}% of new rows or more, on average over archives",
                    100 * kLevel, 100 * stated_coverage(outcome.rows, kLevel));
    if (outcome.guaranteed)
        remarks.emplace_back(fmt::format(
            "Guarantee: where new rows and those are exchangeable, {}; the same holds at every level up to {:.1f}%.",
            promise, 100 * (1 - 2 / static_cast<double>(outcome.rows + 1))));
    else if (!archive.times.empty())
        remarks.emplace_back(
            fmt::format("No finite-sample guarantee: the rows set apart are the latest. As far as later rows are like "
                        "them, {}.",
                        promise));
    else
        remarks.emplace_back(fmt::format(
            "No finite-sample guarantee: rows of one group err together. As far as new groups are like "
            "those set apart, {}, less up to about the share that one group has of the {} rows at each end.",
            promise, outcome.rows));
    return remarks;
}

Json recalibration_json(const RecalibrationOutcome& outcome) {
    Json json = {{"asked", outcome.asked}, {"kind", outcome.kind}};
    if (outcome.kind != kNone) {
        json["rows"] = outcome.rows;
        json["from"] = outcome.split ? "rows set apart" : "rows out of fold";
    } else if (outcome.split) {
        json["rows_not_used"] = outcome.rows;
    }
    json["finite_sample_guarantee"] = outcome.guaranteed;
    if (outcome.guaranteed) json["max_level"] = 1 - 2 / static_cast<double>(outcome.rows + 1);
    if (outcome.asked != kAuto) return json;
    if (!outcome.trials.empty()) json["candidates"] = Json::array();
    for (const auto& trial : outcome.trials) {
        Json own = {{"kind", trial.kind}, {"crps", core::rounded_json(trial.crps, 6)}};
        if (&trial != &outcome.trials.front()) {
            own["compared_with"] = trial.compared_with;
            for (const auto& [key, value] :
                 {std::pair{"difference", trial.difference}, {"low", trial.low}, {"high", trial.high}})
                own[key] = core::rounded_json(value, 4);
        }
        own["calibration_error_percent"] = core::rounded_json(100 * trial.calibration_error, 4);
        own["calibration_p_value"] = core::rounded_json(trial.p_value, 4);
        own["taken"] = trial.taken;
        json["candidates"].push_back(std::move(own));
    }
    json["reason"] = choice_text(outcome);
    return json;
}

}  // namespace accrue::fitting
