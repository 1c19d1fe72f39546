// A model through time, as its page draws it: a replay beside the model that never learned, and the evidence of a
// change.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>

#include "accrue/evaluate.hpp"
#include "accrue/messages.hpp"
#include "accrue/report.hpp"
#include "forecast/content.hpp"
#include "report/parts.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;
using report::number;

constexpr std::size_t kMaxSteps = 2000;  // of the evidence, more are put together
// A logarithmic axis has no place for less or more.
constexpr double kMinEvidence = 1e-9;
constexpr double kMaxEvidence = 1e99;
constexpr double kShownLevel = 0.9;

// Some of the rows as an archive, with the memory that this takes.
struct ArchiveRows {
    Archive archive;
    std::deque<std::vector<double>> numbers;
    std::deque<std::vector<std::string>> labels;
    std::vector<std::uint32_t> groups;

    ArchiveRows(const Model& model, const TimedRows& rows, std::span<const std::size_t> taken) {
        // Rows that were not read from files have no names.
        Roles& roles = archive.roles = rows.roles;
        if (roles.error.empty() && roles.observation.empty()) roles.observation = "observation";
        if (roles.error.empty() && roles.prediction.empty() && !model.has_mean()) roles.prediction = "prediction";
        if (roles.time.empty()) roles.time = "time";
        const std::vector<Input> inputs = model.input_columns();
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            archive.input_names.push_back(inputs[k].name());
            archive.input_types.push_back({inputs[k].kind, inputs[k].period});
            archive.inputs.push_back(take(rows.inputs[k], taken));
            if (inputs[k].kind == InputKind::category) archive.input_types.back().labels = values_of(model, k);
        }
        archive.times = take(rows.times, taken);
        archive.times_are_dates = rows.dates;
        if (rows.roles.error.empty()) archive.prediction = take(rows.prediction, taken);
        if (!rows.groups.codes.empty()) {
            for (const std::size_t i : taken) groups.push_back(rows.groups.codes[i]);
            archive.by.push_back({rows.roles.group.empty() ? "group" : rows.roles.group, {groups, rows.groups.labels}});
        }
    }
    ArchiveRows(const ArchiveRows&) = delete;
    ArchiveRows& operator=(const ArchiveRows&) = delete;

    // The labels of the category that was taken last; what the model does not know has one of its own.
    std::span<const std::string> values_of(const Model& model, std::size_t input) {
        const Model::Content& content = model.content();
        const bool is_map = content.is_map_input(input);
        std::vector<std::string>& own =
            labels.emplace_back(is_map ? content.map_labels : content.inputs[input].labels());
        const auto other = static_cast<double>(own.size());
        own.emplace_back(is_map ? "all others" : "none of the archive's");
        for (double& code : numbers.back())
            if (is_map ? std::isnan(code) : code < 0) code = other;
        return own;
    }

    std::span<const double> take(std::span<const double> values, std::span<const std::size_t> taken) {
        std::vector<double>& own = numbers.emplace_back();
        if (!values.empty())
            for (const std::size_t i : taken) own.push_back(values[i]);
        return own;
    }
};

ReportForecast forecast_of(const Forecast& all, const Verification& figures, const TimedRows& rows,
                           std::span<const std::size_t> taken, ArchiveRows& memory) {
    ReportForecast forecast;
    forecast.verification = figures;
    forecast.own_family = all.family;
    const std::span<const double> means = memory.take(all.mean, taken);
    std::vector<double>& errors = memory.numbers.emplace_back();
    for (const std::size_t i : taken) errors.push_back(rows.observation[i] - all.mean[i]);
    std::vector<double>& parameters = memory.numbers.emplace_back();
    const std::size_t width = all.parameters.size() / all.sigma.size();
    for (const std::size_t i : taken)
        parameters.insert(parameters.end(), all.parameters.begin() + static_cast<std::ptrdiff_t>(i * width),
                          all.parameters.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
    forecast.errors = errors;
    forecast.sigmas = memory.take(all.sigma, taken);
    forecast.parameters = parameters;
    if (rows.roles.error.empty()) forecast.means = means;
    const ArchiveConditions conditions(memory.archive);
    forecast.conditional = conditional_calibration(normal_scores(forecast.errors, forecast.sigmas, forecast.families()),
                                                   conditions.all(), {}, memory.archive.times);
    return forecast;
}

Json period_figures(const Verification& all) {
    Json json = {{"name", all.name}};
    std::vector<double> crps, error, floor, coverage;
    json["rows"] = Json::array();
    for (const Verification& period : all.by.front().values) {
        json["rows"].push_back(period.rows);
        crps.push_back(period.crps);
        error.push_back(period.calibration_error);
        floor.push_back(period.calibration_floor);
        const auto at = std::find_if(period.coverage.begin(), period.coverage.end(),
                                     [](const Coverage& one) { return one.level == kShownLevel; });
        coverage.push_back(at == period.coverage.end() ? std::numeric_limits<double>::quiet_NaN() : at->observed);
    }
    json["crps"] = report::numbers(crps);
    json["calibration_error"] = report::numbers(error);
    json["calibration_floor"] = report::numbers(floor);
    json["coverage"] = report::numbers(coverage);
    return json;
}

// Times are kept to the second.
Json times_json(std::span<const double> times) {
    Json list = Json::array();
    for (const double time : times) list.push_back(time);
    return list;
}

std::string subtitle(const Archive& rows) {
    const auto [first, last] = std::minmax_element(rows.times.begin(), rows.times.end());
    return fmt::format("{} from {} to {}; {}", counted(rows.times.size(), "row"),
                       time_text(*first, rows.times_are_dates), time_text(*last, rows.times_are_dates),
                       rows.roles.subject());
}

}  // namespace

Json replay_report_data(ReportText text, const Model& model, const TimedRows& rows, const Replay& replay) {
    std::vector<std::size_t> scored;
    for (std::size_t i = 0; i < replay.scored.size(); ++i)
        if (replay.scored[i] != 0) scored.push_back(i);
    ArchiveRows memory(model, rows, scored);
    std::vector<ReportForecast> forecasts;
    forecasts.push_back(forecast_of(replay.forecast, replay.figures, rows, scored, memory));
    forecasts.push_back(forecast_of(replay.fixed, replay.fixed_figures, rows, scored, memory));
    if (text.subtitle.empty()) text.subtitle = subtitle(memory.archive);
    text.kind = "replay";
    text.verdict = verdict(forecasts[0]);
    for (const Coverage& one : replay.adaptive)
        text.verdict.remarks.emplace_back(fmt::format("Adaptive {:.3g}% interval: coverage {:.1f}%, mean width {:.4g}.",
                                                      100 * one.level, 100 * one.observed, one.mean_width));
    Json data = report_data(text, memory.archive, forecasts);
    std::vector<double> ends(replay.periods.begin() + 1, replay.periods.end());
    ends.push_back(*std::max_element(memory.archive.times.begin(), memory.archive.times.end()));
    data["through_time"] = {{"time_unit", rows.dates ? "seconds" : "number"},
                            {"level", kShownLevel},
                            {"from", times_json(replay.periods)},
                            {"to", times_json(ends)},
                            {"forecasts", {period_figures(replay.figures), period_figures(replay.fixed_figures)}}};
    const double forget = replay.state.forget();
    const double unit = rows.dates ? 86400 : 1;
    data["notes"].push_back(fmt::format(
        "Each row was forecast from what had been observed by then; 'static' is the same model, which never learned. "
        "Twice the mean pinball loss over the deciles is {:.4g} and {:.4g}. Last, observations were forgotten {}.",
        replay.pinball, replay.fixed_pinball,
        std::isinf(forget) ? std::string("never")
                           : fmt::format("over {:.3g}{}", forget / unit, rows.dates ? " days" : "")));
    return data;
}

Json monitor_report_data(ReportText text, const Model& model, const TimedRows& rows, const Monitor& monitor) {
    std::vector<std::size_t> all(rows.times.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    ArchiveRows memory(model, rows, all);
    Archive& archive = memory.archive;
    (rows.roles.error.empty() ? archive.observation : archive.errors) = rows.observation;
    if (model.has_mean()) archive.prediction = {};
    RowForecast given;
    given.name = "fitted model";
    given.model = &model;
    given.inputs = rows.inputs;
    EvaluateOptions options;
    options.conditional = true;
    const Evaluation evaluation = evaluate(archive, std::span(&given, 1), options);

    if (text.subtitle.empty()) text.subtitle = subtitle(archive);
    text.kind = "monitor";
    const Verdict words = verdict(evaluation.forecasts[0]);
    text.verdict.summary = monitor.sentence;
    text.verdict.remarks.emplace_back(fmt::format("Of these rows alone: {}", words.summary));
    text.verdict.remarks.insert(text.verdict.remarks.end(), words.remarks.begin(), words.remarks.end());
    Json data = report_data(text, evaluation.rows.archive, evaluation.forecasts);

    // Of times that are put together the one with the strongest evidence is kept, and so is the alarm.
    const std::size_t step = (monitor.steps + kMaxSteps - 1) / kMaxSteps;
    std::vector<double> times;
    Json evidence = Json::array();
    for (std::size_t begin = 0; begin < monitor.steps; begin += step) {
        const std::size_t end = std::min(begin + step, monitor.steps);
        std::size_t kept = begin;
        for (std::size_t k = begin; k < end; ++k)
            if (monitor.evidence[k] > monitor.evidence[kept]) kept = k;
        if (monitor.alarm && monitor.alarm_step > begin && monitor.alarm_step <= end) kept = monitor.alarm_step - 1;
        times.push_back(monitor.times[kept]);
        evidence.push_back(number(std::clamp(monitor.evidence[kept], kMinEvidence, kMaxEvidence)));
    }
    data["monitor"] = {{"time_unit", rows.dates ? "seconds" : "number"},
                       {"alarm", monitor.alarm},
                       {"alarm_time", monitor.alarm ? Json(monitor.alarm_time) : Json(nullptr)},
                       {"threshold", monitor.threshold},
                       {"off_support", number(monitor.off_support)},
                       {"steps", monitor.steps},
                       {"times", times_json(times)},
                       {"evidence", std::move(evidence)}};
    if (step > 1)
        data["notes"].push_back(
            fmt::format("Evidence is drawn for every {} times together: the strongest, or that of the alarm.", step));
    return data;
}

}  // namespace accrue
