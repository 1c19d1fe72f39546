#include "report/judged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "accrue/messages.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "families/normal.hpp"
#include "verify/dependence.hpp"
#include "verify/ensembles.hpp"
#include "verify/isotonic.hpp"
#include "verify/score_parts.hpp"
#include "verify/squares.hpp"

namespace accrue {

std::string ReportForecast::kind() const {
    if (details.fitted_here) return "baseline";
    return has_family() ? "family" : members.empty() ? "quantiles" : "members";
}

const std::vector<std::string>& baseline_names() {
    static const std::vector<std::string> names = {"constant", "climatology", "isotonic"};
    return names;
}

namespace judged {

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kSeed = 1;

// Python calls a quantile forecast by what it is.
OptionName quantile_option() {
    return {"quantiles", "", false, "--quantile-columns"};
}

VerifyOptions verify_options(const EvaluateOptions& options, const Archive& rows) {
    VerifyOptions own;
    own.levels = options.levels;
    own.ordered = !verification::in_order_of_size(rows);
    own.times = rows.times;
    return own;
}

// A verification of which scores alone are known; what its rows are worth is not known either.
Verification scores_alone(const std::string& name, const Archive& rows, double crps) {
    Verification v;
    v.name = name;
    v.rows = rows.observation.size();
    v.crps = crps;
    for (double* figure : {&v.effective_rows, &v.crps_skill, &v.constant_sigma, &v.nlpd, &v.rs, &v.rs_floor, &v.ar,
                           &v.beta, &v.calibration_error, &v.calibration_floor, &v.calibration_p_value, &v.sign_bound,
                           &v.mean_z, &v.sd_z, &v.sharpness, &v.rmse})
        *figure = kUndefined;
    return v;
}

// Normal scores of the probabilities in the middle between the levels around each observation: enough to tell which
// rows err together.
std::vector<double> scores_by_levels(std::span<const double> y, std::span<const std::span<const double>> quantiles,
                                     std::span<const double> levels) {
    std::vector<double> sorted(levels.begin(), levels.end());
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> scores(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto below = static_cast<std::size_t>(
            std::count_if(quantiles.begin(), quantiles.end(), [&](auto values) { return values[i] < y[i]; }));
        const auto above = static_cast<std::size_t>(
            std::count_if(quantiles.begin(), quantiles.end(), [&](auto values) { return values[i] > y[i]; }));
        const double low = below == 0 ? 0 : sorted[below - 1];
        const double high = above == 0 ? 1 : sorted[sorted.size() - above];
        scores[i] = families::normal_score_of((low + high) / 2, 1 - (low + high) / 2);
    }
    return scores;
}

ReportForecast baseline(const std::string& name, const Archive& rows, const EvaluateOptions& options, Memory& memory) {
    ReportForecast forecast;
    const std::string title = "baseline " + name;
    if (name == "constant") {
        verification::Squares squares;
        double total = 0;
        for (std::size_t i = 0; i < rows.errors.size(); ++i) {
            const double weight = rows.weights.empty() ? 1 : rows.weights[i];
            squares.add(rows.errors[i], weight);
            total += weight;
        }
        const double sigma = squares.root_mean(total);
        core::require(sigma > 0, "{}: every error is 0, so that no constant sigma is left",
                      core::option("baselines", name));
        forecast.errors = rows.errors;
        forecast.means = rows.prediction;
        forecast.sigmas = memory.keep(std::vector<double>(rows.errors.size(), sigma));
        forecast.verification =
            verify(forecast.errors, forecast.sigmas, rows.weights, rows.groups, verify_options(options, rows), rows.by);
        forecast.verification.name = title;
        forecast.details.words = "N(prediction, root mean square error), ";
    } else {
        const bool isotonic = name == "isotonic";
        forecast.crps =
            memory.keep(isotonic ? verification::isotonic_crps(rows.prediction, rows.observation, rows.weights)
                                 : verification::climatology_crps(rows.observation, rows.weights));
        forecast.verification = scores_alone(title, rows, verification::weighted_mean(forecast.crps, rows.weights));
        for (const double level : options.levels)
            forecast.verification.coverage.push_back({level, kUndefined, kUndefined, kUndefined});
        forecast.details.words = isotonic ? "isotonic distributional regression of the observations on the prediction, "
                                          : "the distribution of all observations, ";
    }
    forecast.details.words += "fitted on these very rows";
    forecast.details.fitted_here = true;
    return forecast;
}

}  // namespace

void require_options(const EvaluateOptions& options, const Roles& roles, bool needs_observation) {
    for (const double threshold : options.exceed)
        core::require(std::isfinite(threshold), "{}: {} is not a number", core::option("exceed"), threshold);
    for (const double level : options.quantile_scores)
        core::require(level > 0 && level < 1, "{}: {} is not between 0 and 1", core::option("quantile_scores"), level);
    for (const std::string& name : options.baselines) {
        const auto& names = baseline_names();
        core::require(std::find(names.begin(), names.end(), name) != names.end(),
                      "{} must be one of {}, but it is '{}'{}", core::option("baselines"), name_list(names),
                      printable(name), suggestion(name, names));
        core::require(name == "climatology" || !roles.prediction.empty(), "{} needs a prediction: give {} and {}",
                      core::option("baselines", name), core::option("prediction"), core::option("observation"));
    }
    require_once("baselines", options.baselines);
    core::require(!needs_observation || !roles.observation.empty(),
                  "what is asked for needs observations, not errors alone: give {} in place of {}",
                  core::option("observation"), core::option("error"));
}

void require_levels(std::span<const std::string> columns, std::span<const double> levels) {
    core::require(!levels.empty() && columns.size() == levels.size(), "there are {} of quantiles, but {}",
                  counted(columns.size(), "column"), counted(levels.size(), "level"));
    for (std::size_t k = 0; k < levels.size(); ++k) {
        core::require(levels[k] > 0 && levels[k] < 1, "{}: the level of '{}' is {}, but must be between 0 and 1",
                      quantile_option(), printable(columns[k]), levels[k]);
        const auto first =
            std::find(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(k), levels[k]) - levels.begin();
        core::require(static_cast<std::size_t>(first) == k, "{}: '{}' and '{}' have the same level, {}",
                      quantile_option(), printable(columns[static_cast<std::size_t>(first)]), printable(columns[k]),
                      levels[k]);
    }
}

void require_no_crossing(std::span<const std::string> columns, std::span<const double> levels,
                         std::span<const std::span<const double>> values,
                         const std::function<std::string(std::size_t)>& place) {
    std::vector<std::size_t> order(levels.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return levels[a] < levels[b]; });
    for (std::size_t i = 0; i < values[0].size(); ++i)
        for (std::size_t k = 1; k < order.size(); ++k) {
            const std::size_t low = order[k - 1];
            const std::size_t high = order[k];
            if (values[low][i] > values[high][i])
                core::refuse("{}, columns '{}' and '{}': quantiles cross: {} at level {}, but {} at level {}", place(i),
                             printable(columns[low]), printable(columns[high]), values[low][i], levels[low],
                             values[high][i], levels[high]);
        }
}

void judge_members(ReportForecast& forecast, const Archive& rows, const EvaluateOptions& options, Memory& memory) {
    const std::string name = forecast.verification.name;
    verification::VerifiedEnsemble judged = verification::verify_ensemble(
        forecast.members, rows.observation, rows.weights, rows.groups, verify_options(options, rows), rows.by);
    forecast.verification = std::move(judged.verification);
    forecast.verification.name = name;
    forecast.details.ensemble = std::move(judged.figures);
    forecast.details.words = fmt::format("an ensemble of {}", counted(forecast.members.size(), "member"));
    forecast.crps = memory.keep(std::move(judged.crps));
    forecast.means = memory.keep(std::move(judged.means));
    forecast.errors = memory.keep(std::move(judged.errors));
    forecast.sigmas = memory.keep(std::move(judged.sigmas));
    forecast.observation = rows.observation;
    if (!options.conditional) return;
    const ArchiveConditions conditions(rows);
    forecast.conditional =
        conditional_calibration(judged.scores, conditions.all(), rows.groups, rows.times, rows.weights);
}

void judge_quantiles(ReportForecast& forecast, const Archive& rows, const EvaluateOptions& options, Memory& memory) {
    const std::span<const double> y = rows.observation;
    const std::vector<double>& levels = forecast.quantile_levels;
    forecast.observation = y;
    for (std::size_t k = 0; k < levels.size(); ++k)
        core::require(forecast.quantiles[k].size() == y.size(),
                      "the quantile of level {} has {}, but there are {} observations", levels[k],
                      counted(forecast.quantiles[k].size(), "row"), y.size());
    forecast.verification = scores_alone(forecast.verification.name, rows, kUndefined);
    const std::vector<double> scores = scores_by_levels(y, forecast.quantiles, levels);
    const VerifyOptions own_options = verify_options(options, rows);
    verification::evidence_of({scores}, rows.weights, rows.groups, own_options.ordered, own_options.times)
        .tell(forecast.verification, rows.weights);
    std::vector<double> crps(y.size());
    for (std::size_t k = 0; k < levels.size(); ++k) {
        const std::span<const double> values = forecast.quantiles[k];
        for (std::size_t i = 0; i < y.size(); ++i)
            crps[i] +=
                2 / static_cast<double>(levels.size()) * verification::quantile_score(y[i], values[i], levels[k]);
        forecast.details.quantiles.push_back(verification::quantile_figures(levels[k], y, rows.weights,
                                                                            forecast.verification.effective_rows,
                                                                            [&](std::size_t i) { return values[i]; }));
    }
    forecast.crps = memory.keep(std::move(crps));
    forecast.details.approximate_crps = true;
    forecast.details.words = fmt::format("quantiles of {}", counted(levels.size(), "level"));
    forecast.verification.crps = verification::weighted_mean(forecast.crps, rows.weights);
    // The interval of a level is there where both its ends are; 0.95 is not 1 - 0.05 in doubles.
    constexpr double kSame = 1e-9;
    const auto place_of = [&](double level) {
        const auto same = [&](double own) { return std::fabs(own - level) < kSame; };
        return static_cast<std::size_t>(std::find_if(levels.begin(), levels.end(), same) - levels.begin());
    };
    const auto interval = [&](double level, std::size_t low, std::size_t high) {
        return verification::interval_figures(level, y, rows.weights, forecast.quantiles[low],
                                              forecast.quantiles[high]);
    };
    for (std::size_t k = 0; k < levels.size(); ++k)
        if (const std::size_t high = place_of(1 - levels[k]); levels[k] < 0.5 - kSame && high < levels.size())
            forecast.details.quantile_intervals.push_back(interval(1 - 2 * levels[k], k, high));
    std::sort(forecast.details.quantile_intervals.begin(), forecast.details.quantile_intervals.end(),
              [](const Coverage& a, const Coverage& b) { return a.level < b.level; });
    for (const double level : options.levels) {
        const std::size_t low = place_of((1 - level) / 2);
        const std::size_t high = place_of((1 + level) / 2);
        forecast.verification.coverage.push_back(low < levels.size() && high < levels.size()
                                                     ? interval(level, low, high)
                                                     : Coverage{level, kUndefined, kUndefined, kUndefined});
    }
}

void add_details(ReportForecast& forecast, const Archive& rows, const EvaluateOptions& options) {
    if (options.exceed.empty() && options.quantile_scores.empty() && !options.decompose) return;
    const auto own = distributions(forecast);
    if (own == nullptr) return;
    const double worth = forecast.verification.effective_rows;
    const double row_worth =
        worth > 0 ? std::min(1.0, worth / effective_rows(rows.observation.size(), rows.weights)) : 1;
    for (const double threshold : options.exceed)
        forecast.details.exceed.push_back(
            verification::exceedance(*own, threshold, rows.observation, rows.weights, row_worth, kSeed));
    for (const double level : options.quantile_scores)
        forecast.details.quantiles.push_back(
            verification::quantile_figures(level, rows.observation, rows.weights, forecast.verification.effective_rows,
                                           [&](std::size_t i) { return own->quantile(level, i); }));
    if (!options.decompose) return;
    forecast.details.crps_parts = verification::crps_parts(*own, rows.observation, rows.weights);
    forecast.details.miscalibration_floor = verification::miscalibration_floor(*own, rows.weights, row_worth, kSeed);
}

void add_baselines(std::vector<ReportForecast>& forecasts, const Archive& rows, const EvaluateOptions& options,
                   Memory& memory) {
    for (const std::string& name : options.baselines) {
        forecasts.push_back(baseline(name, rows, options, memory));
        add_details(forecasts.back(), rows, options);
    }
}

std::size_t bytes_per_row(std::span<const FileForecast> forecasts, const EvaluateOptions& options) {
    std::size_t doubles = 0;
    for (const FileForecast& forecast : forecasts) {
        if (!forecast.members.empty()) doubles += 7 + 2 * options.levels.size();
        if (!forecast.quantiles.empty()) doubles += 1;
    }
    doubles += options.baselines.empty() ? 0 : 40;  // the tree of the isotonic one
    doubles += options.exceed.empty() && !options.decompose ? 0 : 6;
    return doubles * sizeof(double);
}

}  // namespace judged

namespace {

// What would help where a forecast is wrong in one place.
Message advice(const ReportForecast& forecast) {
    const ConditionalCalibration& found = *forecast.conditional;
    const bool is_time = found.worst_role == Condition::Role::time;
    const bool is_month = is_time && found.worst_column == "month";
    const bool is_hour = is_time && found.worst_column == "hour";
    const std::string input = is_month                    ? "TIME:season"
                              : is_hour                   ? "TIME:hour"
                              : found.worst_group.empty() ? printable(found.worst_column)
                                                          : printable(found.worst_group) + ":category";
    const auto is_input = [&](const Input& own) {
        if (is_month) return own.kind == InputKind::season;
        if (is_hour) return own.kind == InputKind::hour;
        return own.column == found.worst_column || own.name() == found.worst_column || own.column == found.worst_group;
    };
    const std::vector<Input> known = forecast.model == nullptr ? std::vector<Input>{} : forecast.model->input_columns();
    const OptionName recalibration = {"recalibrate_group", printable(found.worst_group), true,
                                      "accrue fit --recalibrate-group"};
    const bool may_have_own = found.is_of_shape() && !found.worst_group.empty();
    if (const auto own = std::find_if(known.begin(), known.end(), is_input); own != known.end()) {
        if (may_have_own)
            return core::message(
                "The model has {} among its inputs: a new fit with rows such as these in its archive, and "
                "recalibrations of its own for each value, may help: {}.",
                printable(own->name()), recalibration);
        return core::message(
            "The model has {} among its inputs: a new fit with rows such as these in its archive may help.",
            printable(own->name()));
    }
    if (!found.is_of_shape())
        return core::message("An input that tells these rows apart would help a fit: {}.",
                             OptionName{"inputs", input, true, "accrue fit --inputs"});
    if (may_have_own)
        return core::message("A fit with recalibrations of its own for each value would help: {}.", recalibration);
    return core::message("A fit whose skew and tails follow an input that tells these rows apart would help: {} {}.",
                         OptionName{"inputs", input, true, "accrue fit --inputs"},
                         OptionName{"family", "sinh-arcsinh", true});
}

}  // namespace

Verdict verdict(const ReportForecast& forecast) {
    const ForecastDetails& details = forecast.details;
    if (forecast.is_verified()) {
        Verdict words = verdict(forecast.verification);
        if (details.fitted_here)
            words.remarks.emplace_back(fmt::format("A baseline: {}, so that its scores are too good.", details.words));
        if (forecast.conditional)
            add_conditional(words, *forecast.conditional);
        else
            say_on_average(words);
        if (forecast.conditional && !forecast.conditional->passes) words.remarks.push_back(advice(forecast));
        return words;
    }
    Verdict words;
    if (details.quantiles.empty()) {
        words.summary = fmt::format("A baseline: {}, so that its CRPS is too good.", details.words);
        return words;
    }
    std::vector<std::string> off;
    for (const QuantileFigures& q : details.quantiles)
        if (q.is_off())
            off.push_back(fmt::format("{:.1f}% of the observations lie below the quantile of level {:g}",
                                      100 * (q.at_or_below < q.low ? q.at_or_below : q.below), q.level));
    const Verification& v = forecast.verification;
    constexpr double kMuchFewer = 0.8;  // as in the other verdicts
    const bool together =
        v.dependence != Dependence::none && v.effective_rows < kMuchFewer * static_cast<double>(v.rows);
    words.summary = off.empty() ? fmt::format("Calibrated on average at {}, as far as {}{} can tell.",
                                              details.quantiles.size() == 1 ? "its level" : "all its levels",
                                              counted(v.rows, "row"),
                                              together ? fmt::format(" worth {:.0f}", v.effective_rows) : "")
                                : fmt::format("Not calibrated: {}.", fmt::join(off, ", "));
    words.remarks.emplace_back(
        "Its CRPS is twice the mean quantile score over its levels: comparable only with that of other forecasts at "
        "the "
        "same levels.");
    return words;
}

}  // namespace accrue
