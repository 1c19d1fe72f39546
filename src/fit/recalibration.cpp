#include "fit/recalibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>

#include "accrue/group_maps.hpp"
#include "accrue/messages.hpp"
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
// And from so many on rows tell a distribution to about 12%: groups with fewer have no map of their own, unless ranks
// of rows set apart promise something.
constexpr std::size_t kMinGroupRows = 50;
constexpr std::size_t kMaxGroups = 1000;
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

// So many rows of equal weight would tell as much; 0 where there is none that counts.
double rows_worth(std::size_t rows, std::span<const double> weights) {
    const bool counts =
        weights.empty() ? rows > 0 : std::any_of(weights.begin(), weights.end(), [](double w) { return w > 0; });
    return counts ? effective_rows(rows, weights) : 0;
}

// Effective rows of every group's map, in every part of the rows; those of the common map come last.
std::vector<std::vector<double>> rows_of_maps(std::span<const double> numbers, std::size_t maps,
                                              std::span<const double> weights, std::span<const std::size_t> starts) {
    std::vector<std::vector<double>> rows;
    for (std::size_t part = 0; part + 1 < starts.size(); ++part) {
        std::vector<double> sums(maps + 1), squares(maps + 1);
        for (std::size_t at = starts[part]; at < starts[part + 1]; ++at) {
            const std::size_t map = numbers[at] >= 0 ? static_cast<std::size_t>(numbers[at]) : maps;
            const double weight = weights.empty() ? 1 : weights[at];
            sums[map] += weight;
            squares[map] += weight * weight;
        }
        std::vector<double>& own = rows.emplace_back();
        for (std::size_t map = 0; map <= maps; ++map)
            own.push_back(squares[map] > 0 ? sums[map] * sums[map] / squares[map] : 0);
    }
    return rows;
}

// The smallest p-value of the rows of one group in one part, by Bonferroni's bound over all of these. A map that was
// made of n rows strays as they do, which counts; `by_group` says that it was of the group's own in the other parts.
double p_value_in_groups(std::span<const double> scores, std::span<const double> weights,
                         std::span<const std::size_t> starts, std::span<const double> numbers, std::size_t maps,
                         bool by_group, double rows_worth_one) {
    const auto rows = rows_of_maps(numbers, maps, weights, starts);
    double smallest = 1;
    double cells = 0;
    for (std::size_t part = 0; part < rows.size(); ++part) {
        std::vector<std::vector<double>> pits(maps + 1), own_weights(maps + 1);
        for (std::size_t at = starts[part]; at < starts[part + 1]; ++at) {
            const std::size_t map = numbers[at] >= 0 ? static_cast<std::size_t>(numbers[at]) : maps;
            pits[map].push_back(pit_of(scores[at]));
            if (!weights.empty()) own_weights[map].push_back(weights[at]);
        }
        for (std::size_t map = 0; map <= maps; ++map) {
            constexpr double kFewest = 5;
            double count = rows[part][map] / rows_worth_one;
            if (count < kFewest) continue;
            double others = 0;
            for (std::size_t other = 0; other < rows.size(); ++other)
                others += other == part ? 0 : rows[other][map] / rows_worth_one;
            if (by_group && map < maps && others > 0) count = count * others / (count + others);
            constexpr std::size_t kIntervals = 100;
            const double distance =
                verification::PitCdf(pits[map], own_weights[map], kIntervals).distance_to_diagonal();
            smallest = std::min(smallest, kolmogorov_survival(count, distance));
            ++cells;
        }
    }
    return std::min(1.0, cells * smallest);
}

// The map of these rows, and of groups that have at least `fewest` of them: `numbers` are those of the rows' maps.
SharedFamily fitted_maps(std::span<const double> scores, std::span<const double> weights,
                         std::span<const double> numbers, std::size_t groups, double fewest, const SharedFamily& inner,
                         Recalibrated::Kind kind) {
    auto common = Recalibrated::fitted(scores, weights, inner, kind);
    if (groups == 0) return common;
    std::vector<std::vector<double>> own_scores(groups), own_weights(groups);
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (!(numbers[i] >= 0)) continue;
        const auto group = static_cast<std::size_t>(numbers[i]);
        own_scores[group].push_back(scores[i]);
        if (!weights.empty()) own_weights[group].push_back(weights[i]);
    }
    std::vector<std::shared_ptr<const Recalibrated>> maps;
    for (std::size_t group = 0; group < groups; ++group)
        maps.push_back(rows_worth(own_scores[group].size(), own_weights[group]) >= std::max(fewest, 1.0)
                           ? Recalibrated::fitted(own_scores[group], own_weights[group], inner, kind)
                           : common);
    return std::make_shared<GroupMaps>(std::move(common), std::move(maps));
}

// Groups that have enough of the rows that make the maps.
struct OwnGroups {
    std::vector<RecalibrationOutcome::Group> groups;
    std::vector<double> map_of_code;
    std::size_t other_rows = 0;
    std::size_t largest = 0;  // rows of any group
};

double min_group_rows(const std::string& kind, bool split) {
    return static_cast<double>(kind == kConformal && split ? kMinCalibrationRows : kMinGroupRows);
}

// Of a group's rows in other folds, which are fewer than all of them: enough for a map to judge the fold by.
double min_rows_of_fold(const std::string& kind, bool split) {
    return min_group_rows(kind, split) / 2;
}

OwnGroups own_groups(const Archive& rows, const std::string& kind, bool split) {
    const Grouping& groups = rows.recalibrate_groups;
    struct Sums {
        std::size_t rows = 0;
        double weights = 0, squares = 0;
    };
    std::vector<Sums> sums(groups.labels.size());
    for (std::size_t i = 0; i < groups.codes.size(); ++i) {
        const double weight = rows.weights.empty() ? 1 : rows.weights[i];
        if (!(weight > 0)) continue;
        Sums& own = sums[groups.codes[i]];
        ++own.rows;
        own.weights += weight;
        own.squares += weight * weight;
    }
    const double fewest = min_group_rows(kind, split);
    OwnGroups result;
    for (std::size_t code = 0; code < groups.labels.size(); ++code) {
        const Sums& own = sums[code];
        const bool is_known = !groups.labels[code].empty();
        const bool has_map = is_known && own.rows > 0 && own.weights * own.weights >= fewest * own.squares;
        result.map_of_code.push_back(has_map ? static_cast<double>(result.groups.size()) : GroupMaps::kCommon);
        if (is_known) result.largest = std::max(result.largest, own.rows);
        if (has_map)
            result.groups.push_back({groups.labels[code], own.rows});
        else
            result.other_rows += own.rows;
    }
    return result;
}

bool is_utf8(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore) ==
           Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string recalibration_asked(const Archive& archive, const FitOptions& options) {
    // Who names groups wants a map, and so does who asks for the choice.
    const bool papers_form = options.family == normal_family()->name() && options.bias == kNone &&
                             archive.recalibrate_groups.codes.empty() && !options.recalibrate_given;
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
    if (archive.recalibrate_groups.codes.empty()) return;
    const OptionName group = core::option("recalibrate_group");
    core::require(!archive.roles.recalibrate_group.empty(),
                  "{} needs the name of its column, from which forecasts read the groups of new rows", group);
    core::require(options.recipe == "default", "{} goes with {} only", group, core::option("recipe", "default"));
    core::require(archive.observation_error.empty(), "{} does not go with {}", group,
                  core::option("observation_error"));
    core::require(options.recalibrate != kNone, "{} is for a recalibration, but there is none: give {}", group,
                  core::option("recalibrate", kAuto));
}

void check_groups(const Archive& rows, const FitOptions& options, bool split) {
    if (rows.recalibrate_groups.codes.empty() || options.recalibrate == kNone) return;
    const std::string kind =
        options.recalibrate == kAuto ? maps_to_try(!rows.weights.empty(), split).front() : options.recalibrate;
    const OwnGroups own = own_groups(rows, kind, split);
    const OptionName option = core::option("recalibrate_group", printable(rows.roles.recalibrate_group));
    core::require(!own.groups.empty(),
                  "{}: no value has the {} rows{} that a map of its own needs; the most frequent of {} has {}", option,
                  min_group_rows(kind, split), split ? " set apart" : "",
                  counted(rows.recalibrate_groups.labels.size(), "value"), own.largest);
    core::require(own.groups.size() <= kMaxGroups,
                  "{}: {} values have enough rows for a map of their own, but a model has at most {}: name a coarser "
                  "column",
                  option, own.groups.size(), kMaxGroups);
    for (const auto& group : own.groups)
        core::require(is_utf8(group.label), "{}: the value '{}' is not UTF-8, which a model file needs", option,
                      printable(group.label));
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
                                   const std::function<bool(std::size_t part)>& taken, bool by_group,
                                   double fewest) const {
    std::vector<double> own;
    std::vector<double> weights;
    std::vector<double> numbers;
    for (std::size_t part = 0; part < arranged.folds(); ++part) {
        if (!taken(part)) continue;
        for (std::size_t i = arranged.starts[part]; i < arranged.starts[part + 1]; ++i) {
            own.push_back(scores[i]);
            if (!arranged.weights.empty()) weights.push_back(arranged.weights[i]);
            if (by_group) numbers.push_back(map_numbers[i]);
        }
    }
    return fitted_maps(own, weights, numbers, by_group ? group_maps : 0, fewest, inner, kind_of(kind));
}

void Fitting::number_groups(const Archive* calibration, const std::string& kind) {
    OwnGroups own = own_groups(calibration != nullptr ? *calibration : archive, kind, calibration != nullptr);
    recalibration.group_column = archive.roles.recalibrate_group;
    recalibration.groups = std::move(own.groups);
    recalibration.common_rows = own.other_rows;
    map_of_code = std::move(own.map_of_code);
    group_maps = recalibration.groups.size();
    map_numbers.clear();
    for (std::size_t at = 0; at < arranged.rows(); ++at)
        map_numbers.push_back(map_of_code[archive.recalibrate_groups.codes[arranged.order[at]]]);
}

Fitting::ChosenMaps Fitting::choose_map(const HeldOut& held_out, std::span<const double> scores,
                                        const Archive* calibration) {
    options.recalibrate = kNone;
    if (static_cast<double>(arranged.rows()) < kMinRows) return {};
    const Together together(archive, arranged, scores);
    if (effective_rows(arranged.rows(), arranged.weights) < kMinRows * together.worth_one) return {};

    const bool split = calibration != nullptr;
    const std::vector<std::string> kinds = maps_to_try(!arranged.weights.empty(), split);
    const bool grouped = !archive.recalibrate_groups.codes.empty();
    if (grouped) number_groups(calibration, kinds.front());
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
                           std::span<const double> mapped_scores, bool by_group) {
        RecalibrationOutcome::Trial& own = trials.emplace_back();
        own.kind = kind;
        own.by_group = by_group;
        std::vector<double> crps = crps_of(held_out, tried, maps, part_of_tried);
        own.crps = weighted_mean(crps, weights);
        const Calibration figures =
            calibration_of(mapped_scores, arranged.weights, arranged.starts, together.worth_one);
        own.calibration_error = figures.error;
        // Without a map all rows together can refute it. With maps they would bear out whatever there is: what a fold
        // deviates by comes back, with the opposite sign, in the maps of the others.
        own.p_value =
            kind == kNone ? smooth_p_value(mapped_scores, arranged.weights, together.worth_one) : figures.p_value;
        if (grouped)  // in groups and over all of them, by Bonferroni's bound
            own.p_value = std::min(
                1.0,
                2 * std::min(own.p_value, p_value_in_groups(mapped_scores, arranged.weights, arranged.starts,
                                                            map_numbers, group_maps, by_group, together.worth_one)));
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
    const auto try_maps = [&](const std::string& kind, bool by_group) {
        const double fewest = min_rows_of_fold(kind, split);
        std::vector<SharedFamily> maps;
        std::vector<double> mapped(scores.begin(), scores.end());
        for (std::size_t part = 0; part < folds; ++part) {
            const auto others = [&](std::size_t other) { return other != part; };
            maps.push_back(map_of_parts(kind, scores, family, others, by_group, fewest));
            const SharedFamily of_scores = map_of_parts(kind, scores, normal_family(), others, by_group, fewest);
            for (std::size_t at = arranged.starts[part]; at < arranged.starts[part + 1]; ++at)
                mapped[at] = of_scores->normal_score(
                    scores[at], by_group ? std::span<const double>(&map_numbers[at], 1) : std::span<const double>{});
        }
        if (judge(kind, maps, mapped, by_group)) taken_maps = std::move(maps);
    };
    judge(kNone, std::vector{family}, scores, false);
    for (const std::string& kind : kinds) try_maps(kind, false);
    if (grouped) {
        const std::string kind = trials[taken].kind == kNone ? kinds.front() : trials[taken].kind;
        if (kind != kinds.front()) number_groups(calibration, kind);
        if (group_maps > 0) try_maps(kind, true);
    }
    trials[taken].taken = true;
    options.recalibrate = trials[taken].kind;
    return {std::move(taken_maps), trials[taken].by_group};
}

void Fitting::recalibrate(const HeldOut& held_out, const Archive* calibration) {
    if (options.recalibrate == kNone) return;
    recalibration.asked = options.recalibrate;
    recalibration.split = calibration != nullptr;
    const std::vector<double> scores = held_out_scores(held_out);
    bool by_group = !archive.recalibrate_groups.codes.empty();
    ChosenMaps chosen;
    if (options.recalibrate == kAuto) {
        chosen = choose_map(held_out, scores, calibration);
        by_group = chosen.by_group;
    } else if (by_group) {
        number_groups(calibration, options.recalibrate);
    }
    if (!by_group) {
        map_numbers.clear();
        group_maps = 0;
        recalibration.groups.clear();
    }
    recalibration.kind = options.recalibrate;
    recalibration.rows = calibration != nullptr ? calibration->errors.size() : arranged.rows();
    if (options.recalibrate == kNone) return;
    const auto set_family = [&](SharedFamily made) {
        content->family = made;
        if (!by_group) return;
        std::vector<std::string> labels;
        for (const auto& group : recalibration.groups) labels.push_back(group.label);
        content->set_maps(archive.roles.recalibrate_group, std::move(labels), std::move(made));
    };
    if (calibration != nullptr) {
        const std::vector<double> own = scores_of_rows(Model(content), *calibration);
        std::vector<double> numbers;
        for (std::size_t i = 0; by_group && i < own.size(); ++i)
            numbers.push_back(map_of_code[calibration->recalibrate_groups.codes[i]]);
        set_family(
            fitted_maps(own, calibration->weights, numbers, group_maps, 0, family, kind_of(options.recalibrate)));
        recalibrated = {content->family};
        // Rows that err together are not exchangeable one by one, and nor are those of different times.
        recalibration.guaranteed = options.recalibrate == kConformal && archive.times.empty() &&
                                   archive.groups.codes.empty() && archive.fold_groups.codes.empty();
        return;
    }
    set_family(map_of_parts(
        options.recalibrate, scores, family, [](std::size_t) { return true; }, by_group));
    // Every fold is judged by a map of the others.
    recalibrated = std::move(chosen.by_others);
    const double fewest = min_rows_of_fold(options.recalibrate, false);
    for (std::size_t k = 0; k < arranged.folds(); ++k) {
        if (recalibrated.size() == k)
            recalibrated.push_back(map_of_parts(
                options.recalibrate, scores, family, [&](std::size_t part) { return part != k; }, by_group, fewest));
        if (!by_group) continue;
        const auto& own = dynamic_cast<const GroupMaps&>(*recalibrated[k]);
        for (std::size_t at = arranged.starts[k]; at < arranged.starts[k + 1]; ++at)
            if (map_numbers[at] >= 0 && own.maps()[static_cast<std::size_t>(map_numbers[at])] == own.common())
                ++recalibration.strays;
    }
}

namespace {

// "0.90": what the central interval of this level promises, by the ranks between which it lies.
double stated_coverage(std::size_t rows, double level) {
    constexpr double kRounding = 1e-9;
    const auto count = static_cast<double>(rows + 1);
    return 1 - 2 * std::floor((1 - level) / 2 * count + kRounding) / count;
}

// "isotonic", "conformal per value of 'station'"
std::string kind_text(const RecalibrationOutcome& outcome, const RecalibrationOutcome::Trial& trial) {
    return trial.by_group ? fmt::format("{} per value of '{}'", trial.kind, printable(outcome.group_column))
                          : trial.kind;
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
            trials.size() == 2   ? "one was"
            : trials.size() == 3 ? "two were"
                                 : "three were");
    return fmt::format(
        "The {} recalibration was taken: on rows that it was not made from the calibration error is {:.2g}% with it "
        "and {:.2g}% without, and the CRPS {:.4g} and {:.4g}.",
        kind_text(outcome, own), 100 * own.calibration_error, 100 * none.calibration_error, own.crps, none.crps);
}

}  // namespace

namespace {

// "12 values of 'station' have a map of their own, from 25 to 310 rows each; the other 88 rows ..."
std::string group_text(const RecalibrationOutcome& outcome) {
    const auto& groups = outcome.groups;
    std::size_t smallest = groups.front().rows;
    std::size_t largest = 0;
    for (const auto& group : groups) {
        smallest = std::min(smallest, group.rows);
        largest = std::max(largest, group.rows);
    }
    return fmt::format(
        "{} of '{}' {} a recalibration of {} own, from {} rows{}; other values ({} rows) have that of all rows",
        counted(groups.size(), "value"), printable(outcome.group_column), groups.size() == 1 ? "has" : "have",
        groups.size() == 1 ? "its" : "their",
        smallest == largest ? fmt::format("{}", smallest) : fmt::format("{} to {}", smallest, largest),
        groups.size() == 1 ? "" : " each", outcome.common_rows);
}

// What the conformal maps of groups promise: that of the smallest and that of the largest group.
std::string promise_of_groups(const RecalibrationOutcome& outcome, double level) {
    constexpr std::size_t kMaxNamed = 5;
    std::string named;
    double least = 1;
    double most_level = 1;
    for (const auto& group : outcome.groups) {
        least = std::min(least, stated_coverage(group.rows, level));
        most_level = std::min(most_level, 1 - 2 / static_cast<double>(group.rows + 1));
        if (&group - outcome.groups.data() < static_cast<std::ptrdiff_t>(kMaxNamed))
            named += fmt::format("{}{}: n = {}, {:.1f}%", named.empty() ? "" : "; ", printable(group.label), group.rows,
                                 100 * stated_coverage(group.rows, level));
    }
    if (outcome.groups.size() > kMaxNamed) named += "; ...";
    return fmt::format(
        "within each value of '{}' with a map of its own the central {:g}% interval covers {:.1f}% of new rows or more "
        "({}), on average over archives, and the same holds at every level up to {:.1f}%; of the other rows nothing is "
        "promised",
        printable(outcome.group_column), 100 * level, 100 * least, named, 100 * most_level);
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
    const bool by_group = !outcome.groups.empty();
    if (by_group) remarks.emplace_back(group_text(outcome) + '.');
    if (outcome.strays > 0)
        remarks.emplace_back(
            fmt::format("{} of groups with a map of their own were judged by the map of all rows: the other folds have "
                        "too few rows of their group to make one, and the verification says little of these maps.",
                        counted(outcome.strays, "row")));
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
        by_group
            ? promise_of_groups(outcome, kLevel)
            : fmt::format("the central {:g}% interval covers {:.1f}% of new rows or more, on average over archives",
                          100 * kLevel, 100 * stated_coverage(outcome.rows, kLevel));
    if (outcome.guaranteed && by_group)
        remarks.emplace_back(
            fmt::format("Guarantee: where new rows of a value and its rows set apart are exchangeable, {}.", promise));
    else if (outcome.guaranteed)
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
    const auto max_level = [](std::size_t rows) { return 1 - 2 / static_cast<double>(rows + 1); };
    if (outcome.guaranteed && outcome.groups.empty()) json["max_level"] = max_level(outcome.rows);
    if (!outcome.group_column.empty()) {
        Json values = Json::array();
        for (const auto& group : outcome.groups) {
            values.push_back({{"name", group.label}, {"rows", group.rows}});
            if (outcome.guaranteed) values.back()["max_level"] = max_level(group.rows);
        }
        json["by_group"] = {{"column", outcome.group_column}, {"groups", outcome.groups.size()}};
        if (!outcome.groups.empty())
            json["by_group"].update(
                {{"common_rows", outcome.common_rows}, {"strays", outcome.strays}, {"values", std::move(values)}});
    }
    if (outcome.asked != kAuto) return json;
    if (!outcome.trials.empty()) json["candidates"] = Json::array();
    for (const auto& trial : outcome.trials) {
        Json own = {{"kind", trial.kind}, {"crps", core::rounded_json(trial.crps, 6)}};
        if (trial.by_group) own["by_group"] = true;
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
