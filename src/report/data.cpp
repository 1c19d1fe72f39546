// The numbers of a report, put together: docs/report-data.md.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "accrue/messages.hpp"
#include "accrue/report.hpp"
#include "accrue/scores.hpp"
#include "accrue/version.hpp"
#include "core/error.hpp"
#include "core/rounded_json.hpp"
#include "report/parts.hpp"
#include "verify/summaries.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;
using report::number;
using report::numbers;

constexpr int kFormat = 2;
constexpr std::size_t kPitBars = 20;
constexpr std::size_t kInputBins = 20;
constexpr std::size_t kPredictionBins = 40;
constexpr std::size_t kTimeBins = 120;
// What keeps the page small enough to mail. More rows than these are drawn in bins alone; the forecasts share the rows,
// the values of columns and the numbers of the fits' curves.
constexpr std::size_t kMaxForecasts = 10;
constexpr std::size_t kMaxInputs = 24;
constexpr std::size_t kMaxInputsOfAll = 40;  // of all forecasts together
constexpr std::size_t kMaxRows = 1000;
constexpr std::size_t kMaxValues = 400;
constexpr std::size_t kMaxValuesOfMany = 300;  // of more than two forecasts, whose other drawings take more
constexpr std::size_t kMaxCurveNumbers = 20'000;
constexpr std::size_t kMaxPlaces = 700;  // of all columns and forecasts, in which calibration is shown
constexpr std::size_t kMaxPlacesOfColumn = 24;
constexpr std::size_t kPickedRows = 24;  // that are shown with their whole distribution

// Errors lie around zero, where fewer digits tell as much.
Json errors(std::span<const double> values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(core::rounded_json(value, 5));
    return list;
}

Json bins_json(const verification::ErrorBins& bins) {
    return {{"low", numbers(bins.low)},
            {"high", numbers(bins.high)},
            {"x", numbers(bins.x)},
            {"rows", bins.rows},
            {"sigma", errors(bins.sigma)},
            {"q05", errors(bins.q05)},
            {"q50", errors(bins.q50)},
            {"q95", errors(bins.q95)},
            {"observed_q05", errors(bins.observed_q05)},
            {"observed_q05_low", errors(bins.observed_q05_low)},
            {"observed_q05_high", errors(bins.observed_q05_high)},
            {"observed_q50", errors(bins.observed_q50)},
            {"observed_q50_low", errors(bins.observed_q50_low)},
            {"observed_q50_high", errors(bins.observed_q50_high)},
            {"observed_q95", errors(bins.observed_q95)},
            {"observed_q95_low", errors(bins.observed_q95_low)},
            {"observed_q95_high", errors(bins.observed_q95_high)},
            {"width", errors(bins.width)},
            {"observed_width", errors(bins.observed_width)},
            {"observed_width_low", errors(bins.observed_width_low)},
            {"observed_width_high", errors(bins.observed_width_high)}};
}

Json fan_json(const verification::Fan& fan) {
    return {{"low", numbers(fan.low)},
            {"high", numbers(fan.high)},
            {"x", numbers(fan.x)},
            {"rows", fan.rows},
            {"q05", numbers(fan.q05)},
            {"q25", numbers(fan.q25)},
            {"q50", numbers(fan.q50)},
            {"q75", numbers(fan.q75)},
            {"q95", numbers(fan.q95)},
            {"observed_q05", numbers(fan.observed_q05)},
            {"observed_q25", numbers(fan.observed_q25)},
            {"observed_q50", numbers(fan.observed_q50)},
            {"observed_q75", numbers(fan.observed_q75)},
            {"observed_q95", numbers(fan.observed_q95)}};
}

// Every row, in the order of time where there is one.
Json rows_json(const ReportForecast& forecast, const Families& families, std::span<const double> times,
               std::size_t most) {
    const std::size_t n = forecast.errors.size();
    if (forecast.means.empty() || n > most) return nullptr;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (!times.empty())
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    const auto column = [&](auto&& value) {
        Json list = Json::array();
        for (const std::size_t i : order) list.push_back(number(value(i)));
        return list;
    };
    const RowFamilies own(families, n);
    Json json;
    json["mean"] = column([&](std::size_t i) { return forecast.means[i]; });
    json["sigma"] = column([&](std::size_t i) { return forecast.sigmas[i]; });
    for (const auto& [name, probability] : {std::pair{"q05", 0.05}, {"q25", 0.25}, {"q75", 0.75}, {"q95", 0.95}}) {
        std::vector<double> z;
        for (const Standardised& family : own.alike()) z.push_back(family.quantile(probability));
        json[name] = column([&, p = probability](std::size_t i) {
            const double factor =
                z.empty() ? own.with(i, [&](const Standardised& row) { return row.quantile(p); }) : z[own.code(i)];
            return forecast.means[i] + factor * forecast.sigmas[i];
        });
    }
    json["observation"] = column([&](std::size_t i) { return forecast.means[i] + forecast.errors[i]; });
    // Seconds since 1970 have ten digits before the point.
    if (!times.empty()) {
        json["time"] = Json::array();
        for (const std::size_t i : order) json["time"].push_back(times[i]);
    }
    return json;
}

// The fit of a model file with every k-th number of its curves, the step k being one of its keys.
Json fit_json(Json fit, std::size_t max_numbers) {
    std::size_t numbers = 0;
    for (const Json& start : fit["starts"])
        numbers += start["training_curve"].size() + start["validation_curve"].size();
    const std::size_t step = std::max<std::size_t>(1, (numbers + max_numbers - 1) / max_numbers);
    const auto thin = [&](Json& curve) {
        Json kept = Json::array();
        for (std::size_t i = 0; i < curve.size(); i += step) kept.push_back(curve[i]);
        curve = std::move(kept);
    };
    for (Json& start : fit["starts"]) {
        thin(start["training_curve"]);
        thin(start["validation_curve"]);
    }
    fit["iteration_step"] = step;
    return fit;
}

// How many inputs of each forecast are drawn, and other columns along which calibration is shown.
std::size_t max_inputs(std::size_t forecasts) {
    return std::min(kMaxInputs, kMaxInputsOfAll / forecasts);
}

// How many places of a column are shown.
std::size_t max_places(const ConditionalCalibration& conditional, std::size_t forecasts) {
    const std::size_t columns = std::clamp<std::size_t>(conditional.columns.size(), 1, max_inputs(forecasts));
    return std::min(kMaxPlacesOfColumn, kMaxPlaces / forecasts / columns);
}

bool is_drawn(const Archive& rows, std::size_t input) {
    const InputKind kind = rows.input_types.empty() ? InputKind::number : rows.input_types[input].kind;
    return kind == InputKind::number || kind == InputKind::cyclic;
}

Json forecast_json(const ReportForecast& forecast, const Archive& rows, std::size_t forecasts,
                   std::span<const std::size_t> picked) {
    // Not a structured binding: Clang 14 cannot capture one.
    const Verification& v = forecast.verification;
    const std::span<const double> errors = forecast.errors;
    const std::span<const double> sigmas = forecast.sigmas;
    const std::span<const double> means = forecast.means;
    const Model* model = forecast.model;
    const Families families = forecast.families();
    const verification::PitHistogram pits = verification::pit_histogram(v, kPitBars);
    Json json;
    json["name"] = v.name;
    json["pit"] = {
        {"edges", pits.edges}, {"share", numbers(pits.share)}, {"low", number(pits.low)}, {"high", number(pits.high)}};
    json["rows"] = rows_json(forecast, families, rows.times, kMaxRows / forecasts);
    const auto bins = [&](std::span<const double> variable, std::size_t most) {
        return bins_json(verification::errors_along(variable, errors, sigmas, families, rows.weights, most));
    };
    json["along_prediction"] = nullptr;
    if (!means.empty())
        json["along_prediction"] = fan_json(
            verification::observations_along_mean(means, errors, sigmas, families, rows.weights, kPredictionBins));
    json["along_time"] = rows.times.empty() ? Json(nullptr) : bins(rows.times, kTimeBins);
    json["time_unit"] = rows.times_are_dates ? "seconds" : "number";
    json["inputs"] = Json::array();
    for (std::size_t k = 0; k < rows.inputs.size() && json["inputs"].size() < max_inputs(forecasts); ++k) {
        // Along numbers; calibration alone is shown for values of a category, months and hours. An input with gaps,
        // which a model fills in, has no place for some of the rows.
        if (!is_drawn(rows, k)) continue;
        const std::span<const double> values = rows.inputs[k];
        if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) continue;
        json["inputs"].push_back({{"name", rows.input_names[k]}, {"bins", bins(values, kInputBins)}});
    }
    json["spread_skill"] = bins(sigmas, kInputBins);
    json["densities"] = report::densities_json(forecast, families, rows.times, picked);
    json["conditional"] = nullptr;
    if (forecast.conditional)
        json["conditional"] = report::conditional_json(*forecast.conditional, max_inputs(forecasts),
                                                       max_places(*forecast.conditional, forecasts));
    json["fit"] = nullptr;
    json["model"] = nullptr;
    if (model != nullptr) {
        const Json file = model->json();
        json["fit"] = fit_json(file.at("fit"), kMaxCurveNumbers / forecasts);
        json["model"] = {{"accrue", file.at("accrue_version")},
                         {"configuration", file.at("configuration")},
                         {"columns", file.at("columns")}};
    }
    return json;
}

Json difference_json(const PairedDifference& d) {
    return {{"difference", number(d.difference)},
            {"low", number(d.low)},
            {"high", number(d.high)},
            {"p_value", number(d.p_value)},
            {"clear", d.clear()}};
}

// Of quantile forecasts: what stands for the CRPS.
void add_quantile_score(Json& json, const Comparison& c) {
    if (c.levels.empty()) return;
    json["quantile_score"] = difference_json(c.quantile_score);
    json["quantile_score"]["levels"] = c.levels;
}

Json comparison_json(const Comparison& c) {
    Json json = {{"first", c.first},
                 {"second", c.second},
                 {"crps", difference_json(c.crps)},
                 {"nlpd", difference_json(c.nlpd)},
                 {"independent", c.independent}};
    add_quantile_score(json, c);
    return json;
}

// The figures of one forecast. Those that are not of a family say what they are; where there is no verification, what
// there is of it.
Json forecast_scores(const ReportForecast& forecast) {
    Json all = to_json(forecast.verification);
    Json json;
    for (auto& [key, value] : all.items()) {
        if (!forecast.is_verified() && (value.is_null() || (value.is_array() && value.empty()))) continue;
        json[key] = std::move(value);
        if (key == "name" && forecast.kind() != "family") json["kind"] = forecast.kind();
    }
    json.update(to_json(forecast.details));
    if (forecast.conditional) json["conditional"] = to_json(*forecast.conditional);
    if (forecast.kind() == "family" && !forecast.conditional) return json;
    const Verdict words = verdict(forecast);
    json["verdict"] = {{"summary", words.summary}, {"remarks", words.remarks}};
    return json;
}

// Keeps the values of a column with the most rows.
void cut_values(Json& values, std::size_t most) {
    if (values.size() <= most) return;
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rows = [&](std::size_t v) { return values[v]["rows"].get<std::size_t>(); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows(a) > rows(b); });
    order.resize(most);
    std::sort(order.begin(), order.end());
    Json kept = Json::array();
    for (const std::size_t v : order) kept.push_back(std::move(values[v]));
    values = std::move(kept);
}

// How many values of a column the page keeps.
std::size_t max_values(std::span<const ReportForecast> forecasts) {
    const std::size_t columns = forecasts[0].verification.by.size();
    return (forecasts.size() > 2 ? kMaxValuesOfMany : kMaxValues) / forecasts.size() /
           std::max<std::size_t>(columns, 1);
}

Json notes_json(const Archive& rows, std::span<const ReportForecast> forecasts) {
    const std::size_t n = forecasts[0].errors.size();
    Json notes = Json::array();
    notes.push_back(fmt::format(
        "Scores, the reliability diagram and the PIT histogram are of all {} rows, without bins or samples.", n));
    std::string bins = fmt::format(
        "Where rows are shown along an input, sigma, the prediction or time they are put into bins of about as many "
        "rows "
        "each (up to {}, {} for the prediction, {} for time); every row is counted.",
        kInputBins, kPredictionBins, kTimeBins);
    if (n > verification::Binning::kSample)
        bins += fmt::format(" The edges of the bins are quantiles of {} rows drawn at random.",
                            verification::Binning::kSample);
    notes.push_back(bins);
    const std::size_t share = forecasts.size();
    if (n > kMaxRows / share && !forecasts[0].means.empty())
        notes.push_back(fmt::format("Single rows are drawn only up to {} rows.", kMaxRows / share));
    for (const Verification::Breakdown& column : forecasts[0].verification.by)
        if (column.values.size() > max_values(forecasts))
            notes.push_back(fmt::format("Of {} values of {} this page keeps the {} with the most rows.",
                                        column.values.size(), column.column, max_values(forecasts)));
    if (forecasts[0].conditional) {
        const ConditionalCalibration& conditional = *forecasts[0].conditional;
        const std::size_t most = max_places(conditional, share);
        if (conditional.columns.size() > max_inputs(share))
            notes.push_back(
                fmt::format("Of {} columns along which calibration was tested the {} that are furthest off "
                            "are drawn; the verdict knows all.",
                            conditional.columns.size(), max_inputs(share)));
        for (const ConditionalColumn& column : conditional.columns)
            if (column.places.size() > most)
                notes.push_back(
                    fmt::format("Of {} places of {} the {} that are furthest off are drawn; the verdict "
                                "knows all.",
                                column.places.size(), column.name, most));
    }
    std::size_t inputs = 0;
    for (std::size_t k = 0; k < rows.inputs.size(); ++k) inputs += is_drawn(rows, k) ? 1 : 0;
    if (inputs > max_inputs(share))
        notes.push_back(fmt::format("Of {} inputs the first {} are drawn.", inputs, max_inputs(share)));
    if (forecasts[0].means.empty())
        notes.push_back("Errors were given without predictions, so nothing is drawn along those.");
    if (forecasts[0].row_families.list.size() > 1)
        notes.push_back(
            "Rows are drawn as they were judged, each fold with a recalibration from the other folds. The reliability "
            "diagram and the PIT histogram are of all folds together, where the deviations of folds and maps cancel: "
            "they look better than the calibration error, which is the mean over the folds.");
    if (!rows.weights.empty()) notes.push_back("Rows are weighted in all figures; counts of rows are not.");
    return notes;
}

void check(const Archive& rows, std::span<const ReportForecast> forecasts) {
    core::require(!forecasts.empty(), "there is no forecast to report on");
    core::require(forecasts.size() <= kMaxForecasts, "{} forecasts are more than the {} that one report can show",
                  forecasts.size(), kMaxForecasts);
    const std::size_t n = forecasts[0].errors.size();
    const auto length = [&](std::size_t size, const char* what, bool optional) {
        core::require(size == n || (optional && size == 0), "there are {} {}, but {} errors", size, what, n);
    };
    for (const ReportForecast& f : forecasts) {
        core::require(f.has_family(), "a report draws models and sigmas, but '{}' has {}; score it without a report",
                      printable(f.verification.name), f.kind());
        length(f.errors.size(), "errors", false);
        length(f.sigmas.size(), "sigmas", false);
        length(f.means.size(), "means", true);
    }
    length(rows.weights.size(), "weights", true);
    length(rows.groups.codes.size(), "group codes", true);
    length(rows.times.size(), "times", true);
    core::require(rows.inputs.size() == rows.input_names.size(), "there are {} inputs, but {} names",
                  rows.inputs.size(), rows.input_names.size());
    for (const auto& input : rows.inputs) length(input.size(), "values of an input", false);
}

}  // namespace

Json report::number(double value) {
    return core::rounded_json(value, 7);
}

Json report::numbers(std::span<const double> values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(number(value));
    return list;
}

Json scores_json(std::span<const ReportForecast> forecasts, std::span<const double> weights, const Grouping& groups,
                 std::size_t dropped, std::size_t sampled_from, std::span<const double> times) {
    Json list = Json::array();
    for (const ReportForecast& forecast : forecasts) {
        Json figures = forecast_scores(forecast);
        Json own;
        for (auto& [key, value] : figures.items()) {
            own[key] = std::move(value);
            if (key != "rows") continue;
            if (sampled_from > 0) own["sampled_from"] = sampled_from;
            own["dropped"] = dropped;
        }
        list.push_back(std::move(own));
    }
    if (list.size() == 1) return list[0];
    Json comparison = Json::array();
    for (std::size_t f = 1; f < forecasts.size(); ++f)
        comparison.push_back(comparison_json(compare(forecasts[0], forecasts[f], weights, groups, times)));
    const LowestCrps lowest = lowest_crps(forecasts, weights, groups, times);
    Json others = Json::array();
    for (const Comparison& c : lowest.comparisons) {
        Json other = {{"name", c.first}};
        other.update(difference_json(c.crps));
        add_quantile_score(other, c);
        others.push_back(std::move(other));
    }
    return {{"forecasts", std::move(list)},
            {"comparison", std::move(comparison)},
            {"lowest_crps",
             {{"name", forecasts[lowest.index].verification.name},
              {"sentence", lowest.sentence},
              {"others", std::move(others)}}}};
}

Json report_data(const ReportText& text, const Archive& rows, std::span<const ReportForecast> forecasts) {
    check(rows, forecasts);
    Json scores = scores_json(forecasts, rows.weights, rows.groups, text.dropped, rows.sampled_from, rows.times);
    const auto cut = [&](Json& one) {
        one.erase("conditional");  // what is drawn of it goes with the forecast
        if (one.contains("by"))
            for (Json& column : one["by"]) cut_values(column["values"], max_values(forecasts));
    };
    if (forecasts.size() == 1)
        cut(scores);
    else
        for (Json& one : scores["forecasts"]) cut(one);

    Json data;
    data["format"] = kFormat;
    data["accrue"] = kVersion;
    const std::string& name = forecasts[0].verification.name;
    data["title"] = !text.title.empty()    ? text.title
                    : forecasts.size() > 1 ? fmt::format("{} forecasts compared", forecasts.size())
                                           : fmt::format("Forecast report: {}", name);
    data["subtitle"] = text.subtitle.empty()
                           ? fmt::format("{}; {}", counted(forecasts[0].errors.size(), "row"), rows.roles.subject())
                           : text.subtitle;
    data["kind"] = text.kind;
    data["command"] = text.command;
    data["files"] = text.files;
    data["columns"] = Json::object();
    for (const auto& [role, column] : rows.roles.all())
        if (!column.empty()) data["columns"][role] = column;
    const Verdict words = text.verdict.summary.empty() ? verdict(forecasts[0]) : text.verdict;
    data["verdict"] = {{"summary", words.summary}, {"remarks", words.remarks}};
    data["scores"] = std::move(scores);
    data["forecasts"] = Json::array();
    // The same rows of all forecasts.
    const auto picked = report::picked_rows(forecasts[0], std::max<std::size_t>(kPickedRows / forecasts.size(), 4));
    for (const ReportForecast& forecast : forecasts)
        data["forecasts"].push_back(forecast_json(forecast, rows, forecasts.size(), picked));
    data["notes"] = notes_json(rows, forecasts);
    return data;
}

}  // namespace accrue
