// The numbers of a report, put together: docs/report-data.md.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "accrue/report.hpp"
#include "accrue/scores.hpp"
#include "accrue/version.hpp"
#include "core/error.hpp"
#include "core/rounded_json.hpp"
#include "verify/summaries.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::size_t kPitBars = 20;
constexpr std::size_t kInputBins = 20;
constexpr std::size_t kPredictionBins = 40;
constexpr std::size_t kTimeBins = 120;
// What keeps the page small enough to mail. More rows than these are drawn in bins alone; the forecasts share the rows,
// the groups and the numbers of the fits' curves.
constexpr std::size_t kMostForecasts = 10;
constexpr std::size_t kMostInputs = 24;
constexpr std::size_t kMostRows = 1000;
constexpr std::size_t kMostGroups = 400;
constexpr std::size_t kMostCurveNumbers = 20'000;

// A picture has no use for 17 digits.
Json number(double value) {
    return core::rounded_json(value, 7);
}

Json numbers(std::span<const double> values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(number(value));
    return list;
}

Json bins_json(const verification::Bins& bins) {
    return {{"low", numbers(bins.low)},
            {"high", numbers(bins.high)},
            {"x", numbers(bins.x)},
            {"rows", bins.rows},
            {"sigma", numbers(bins.sigma)},
            {"rmse", numbers(bins.rmse)},
            {"rmse_low", numbers(bins.rmse_low)},
            {"rmse_high", numbers(bins.rmse_high)},
            {"mean_error", numbers(bins.mean_error)}};
}

Json fan_json(const verification::Fan& fan) {
    return {{"low", numbers(fan.low)},
            {"high", numbers(fan.high)},
            {"x", numbers(fan.x)},
            {"rows", fan.rows},
            {"mean", numbers(fan.mean)},
            {"q05", numbers(fan.q05)},
            {"q25", numbers(fan.q25)},
            {"q75", numbers(fan.q75)},
            {"q95", numbers(fan.q95)},
            {"observed_q05", numbers(fan.observed_q05)},
            {"observed_q25", numbers(fan.observed_q25)},
            {"observed_q50", numbers(fan.observed_q50)},
            {"observed_q75", numbers(fan.observed_q75)},
            {"observed_q95", numbers(fan.observed_q95)}};
}

// Null: Gaussian.
std::shared_ptr<const Shape> shape_of(const ReportForecast& forecast) {
    return forecast.model != nullptr ? forecast.model->shape() : nullptr;
}

// Every row, in the order of time where there is one.
Json rows_json(const ReportForecast& forecast, const Shape& shape, std::span<const double> times, std::size_t most) {
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
    Json json;
    json["mean"] = column([&](std::size_t i) { return forecast.means[i]; });
    json["sigma"] = column([&](std::size_t i) { return forecast.sigmas[i]; });
    for (const auto& [name, probability] : {std::pair{"q05", 0.05}, {"q25", 0.25}, {"q75", 0.75}, {"q95", 0.95}}) {
        const double z = shape.quantile(probability);
        json[name] = column([&](std::size_t i) { return forecast.means[i] + z * forecast.sigmas[i]; });
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
Json fit_json(Json fit, std::size_t most_numbers) {
    std::size_t numbers = 0;
    for (const Json& start : fit["starts"])
        numbers += start["training_curve"].size() + start["validation_curve"].size();
    const std::size_t step = std::max<std::size_t>(1, (numbers + most_numbers - 1) / most_numbers);
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

Json forecast_json(const ReportForecast& forecast, const ReportRows& rows, std::size_t forecasts) {
    const auto& [v, errors, sigmas, means, model] = forecast;
    const Shape shape = shape_of(forecast) ? *shape_of(forecast) : Shape();
    const verification::PitHistogram pits = verification::pit_histogram(v, kPitBars);
    Json json;
    json["name"] = v.name;
    json["pit"] = {
        {"edges", pits.edges}, {"share", numbers(pits.share)}, {"low", number(pits.low)}, {"high", number(pits.high)}};
    json["rows"] = rows_json(forecast, shape, rows.times, kMostRows / forecasts);
    const auto fan = [&](std::span<const double> variable, std::size_t bins) -> Json {
        if (variable.empty() || means.empty()) return nullptr;
        return fan_json(verification::fan_along(variable, means, errors, sigmas, shape, rows.weights, bins));
    };
    json["along_prediction"] = fan(means, kPredictionBins);
    json["along_time"] = fan(rows.times, kTimeBins);
    json["time_unit"] = rows.times_are_dates ? "seconds" : "number";
    json["inputs"] = Json::array();
    for (std::size_t k = 0; k < std::min(rows.inputs.size(), kMostInputs); ++k)
        json["inputs"].push_back({{"name", rows.input_names[k]},
                                  {"bins", bins_json(verification::spread_along(rows.inputs[k], errors, sigmas,
                                                                                rows.weights, kInputBins))}});
    json["spread_skill"] = bins_json(verification::spread_along(sigmas, errors, sigmas, rows.weights, kInputBins));
    json["fit"] = nullptr;
    json["model"] = nullptr;
    if (model != nullptr) {
        const Json file = model->json();
        json["fit"] = fit_json(file.at("fit"), kMostCurveNumbers / forecasts);
        json["model"] = {{"accrue", file.at("accrue_version")},
                         {"configuration", file.at("configuration")},
                         {"columns", file.at("columns")}};
    }
    return json;
}

Json difference_json(const verification::PairedDifference& d) {
    return {{"difference", number(d.difference)},
            {"low", number(d.low)},
            {"high", number(d.high)},
            {"p_value", number(d.p_value)}};
}

Json comparison_json(std::span<const ReportForecast> forecasts, const ReportRows& rows) {
    Json list = Json::array();
    if (forecasts.size() < 2) return list;
    const std::size_t n = forecasts[0].errors.size();
    std::vector<double> first(n);
    std::vector<double> other(n);
    std::vector<Json> pairs(forecasts.size());
    const auto compare = [&](const char* score, auto&& rows_of) {
        rows_of(forecasts[0], std::span(first));
        for (std::size_t f = 1; f < forecasts.size(); ++f) {
            rows_of(forecasts[f], std::span(other));
            for (std::size_t i = 0; i < n; ++i) other[i] -= first[i];
            pairs[f][score] = difference_json(verification::paired_difference(other, rows.weights, rows.groups));
        }
    };
    for (std::size_t f = 1; f < forecasts.size(); ++f)
        pairs[f] = {{"first", forecasts[0].verification.name}, {"second", forecasts[f].verification.name}};
    compare("crps", [](const ReportForecast& f, std::span<double> values) {
        crps_rows(f.errors, f.sigmas, values);
        if (const auto shape = shape_of(f))
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = f.sigmas[i] * shape->crps(f.errors[i] / f.sigmas[i]);
    });
    compare("nlpd", [](const ReportForecast& f, std::span<double> values) {
        nlpd_rows(f.errors, f.sigmas, values);
        // Not defined for a recalibrated forecast.
        if (shape_of(f)) std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
    });
    for (std::size_t f = 1; f < forecasts.size(); ++f) {
        pairs[f]["independent"] = rows.groups.codes.empty() ? "rows" : "groups";
        list.push_back(std::move(pairs[f]));
    }
    return list;
}

// Keeps the groups with the most rows; returns how many there were.
std::size_t cut_groups(Json& scores, std::size_t most) {
    if (!scores.contains("groups")) return 0;
    Json& groups = scores["groups"];
    const std::size_t all = groups.size();
    if (all <= most) return all;
    std::vector<std::size_t> order(all);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rows = [&](std::size_t g) { return groups[g]["rows"].get<std::size_t>(); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows(a) > rows(b); });
    order.resize(most);
    std::sort(order.begin(), order.end());
    Json kept = Json::array();
    for (const std::size_t g : order) kept.push_back(std::move(groups[g]));
    groups = std::move(kept);
    return all;
}

Json notes_json(const ReportRows& rows, std::span<const ReportForecast> forecasts, std::size_t groups) {
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
    if (n > kMostRows / share && !forecasts[0].means.empty())
        notes.push_back(fmt::format("Single rows are drawn only up to {} rows.", kMostRows / share));
    if (groups > kMostGroups / share)
        notes.push_back(
            fmt::format("Of {} groups this page keeps the {} with the most rows.", groups, kMostGroups / share));
    if (rows.inputs.size() > kMostInputs)
        notes.push_back(fmt::format("Of {} inputs the first {} are drawn.", rows.inputs.size(), kMostInputs));
    if (forecasts[0].means.empty())
        notes.push_back("Errors were given without predictions, so nothing is drawn along those.");
    if (!rows.weights.empty()) notes.push_back("Rows are weighted in all figures; counts of rows are not.");
    return notes;
}

void check(const ReportRows& rows, std::span<const ReportForecast> forecasts) {
    core::require(!forecasts.empty(), "there is no forecast to report on");
    core::require(forecasts.size() <= kMostForecasts, "{} forecasts are more than the {} that one report can show",
                  forecasts.size(), kMostForecasts);
    const std::size_t n = forecasts[0].errors.size();
    const auto length = [&](std::size_t size, const char* what, bool optional) {
        core::require(size == n || (optional && size == 0), "there are {} {}, but {} errors", size, what, n);
    };
    for (const ReportForecast& f : forecasts) {
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

Json scores_json(std::span<const Verification> forecasts, std::size_t dropped, std::size_t sampled_from) {
    Json list = Json::array();
    for (const Verification& forecast : forecasts) {
        Json figures = to_json(forecast);
        Json own;
        for (auto& [key, value] : figures.items()) {
            own[key] = std::move(value);
            if (key != "rows") continue;
            if (sampled_from > 0) own["sampled_from"] = sampled_from;
            own["dropped"] = dropped;
        }
        list.push_back(std::move(own));
    }
    return list.size() == 1 ? list[0] : Json{{"forecasts", std::move(list)}};
}

Json report_data(const ReportText& text, const ReportRows& rows, std::span<const ReportForecast> forecasts) {
    check(rows, forecasts);
    std::vector<Verification> verifications;
    for (const ReportForecast& f : forecasts) verifications.push_back(f.verification);
    Json scores = scores_json(verifications, text.dropped, text.sampled_from);
    std::size_t groups = 0;
    const std::size_t most_groups = kMostGroups / forecasts.size();
    if (forecasts.size() == 1)
        groups = cut_groups(scores, most_groups);
    else
        for (Json& one : scores["forecasts"]) groups = cut_groups(one, most_groups);

    Json data;
    data["format"] = kFormat;
    data["accrue"] = kVersion;
    data["title"] = text.title;
    data["subtitle"] = text.subtitle;
    data["kind"] = text.kind;
    data["command"] = text.command;
    data["files"] = text.files;
    data["columns"] = Json::object();
    for (const auto& [role, name] : text.columns)
        if (!name.empty()) data["columns"][role] = name;
    data["verdict"] = {{"summary", text.verdict.summary}, {"remarks", text.verdict.remarks}};
    data["scores"] = std::move(scores);
    data["forecasts"] = Json::array();
    for (const ReportForecast& forecast : forecasts)
        data["forecasts"].push_back(forecast_json(forecast, rows, forecasts.size()));
    data["comparison"] = comparison_json(forecasts, rows);
    data["notes"] = notes_json(rows, forecasts, groups);
    return data;
}

}  // namespace accrue
