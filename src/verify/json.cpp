#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "accrue/conditional.hpp"
#include "accrue/figures.hpp"
#include "accrue/verify.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinity: such figures are null.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// A name with its length, where it is longer than anyone reads.
std::string shortened(const std::string& name) {
    constexpr std::size_t kLongest = 1000;
    if (name.size() <= kLongest) return name;
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
    return fmt::format("{}... ({} bytes)", name.substr(0, end), name.size());
}

// Their places, in order: all, or those with the most rows.
std::vector<std::size_t> largest_groups(const std::vector<Verification>& groups) {
    constexpr std::size_t kMax = 10'000;
    std::vector<std::size_t> places(groups.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    if (places.size() <= kMax) return places;
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return groups[a].rows > groups[b].rows; });
    places.resize(kMax);
    std::sort(places.begin(), places.end());
    return places;
}

Json coverage_json(const std::vector<Coverage>& intervals) {
    Json list = Json::array();
    for (const Coverage& c : intervals)
        list.push_back({{"level", c.level},
                        {"observed", number(c.observed)},
                        {"mean_width", number(c.mean_width)},
                        {"interval_score", number(c.interval_score)}});
    return list;
}

Json band_json(const Band& band) {
    return {{"low", band.low}, {"high", band.high}};
}

Json parts_json(const ScoreParts& parts) {
    return {{"miscalibration", number(parts.miscalibration)},
            {"discrimination", number(parts.discrimination)},
            {"uncertainty", number(parts.uncertainty)}};
}

Json exceedance_json(const ExceedanceFigures& e) {
    Json brier = {{"score", number(e.brier.score)}};
    brier.update(parts_json(e.brier));
    return {{"threshold", e.threshold},
            {"observed", number(e.observed)},
            {"forecast", number(e.forecast)},
            {"threshold_weighted_crps", number(e.weighted_crps)},
            {"brier", std::move(brier)},
            {"reliability",
             {{"probability", e.probability}, {"observed", e.happened}, {"band_90_pointwise", band_json(e.band)}}}};
}

}  // namespace

Json to_json(const ForecastDetails& details) {
    Json json = Json::object();
    if (details.ensemble) {
        const EnsembleFigures& e = *details.ensemble;
        json["members"] = e.members;
        json["fair_crps"] = number(e.fair_crps);
        json["rank_histogram"] = {{"share", e.rank_share}, {"low", e.low}, {"high", e.high}};
    }
    if (details.approximate_crps) json["crps_is_approximate"] = true;
    if (details.fitted_here) json["fitted_on_these_rows"] = true;
    if (!details.quantiles.empty()) {
        json["quantile_scores"] = Json::array();
        for (const QuantileFigures& q : details.quantiles)
            json["quantile_scores"].push_back({{"level", q.level},
                                               {"score", number(q.score)},
                                               {"below", q.below},
                                               {"at_or_below", q.at_or_below},
                                               {"low", q.low},
                                               {"high", q.high}});
    }
    if (!details.quantile_intervals.empty()) json["quantile_intervals"] = coverage_json(details.quantile_intervals);
    if (details.crps_parts) {
        json["crps_parts"] = parts_json(*details.crps_parts);
        json["crps_parts"]["miscalibration_floor"] = number(details.miscalibration_floor);
    }
    if (!details.exceed.empty()) {
        json["exceed"] = Json::array();
        for (const ExceedanceFigures& e : details.exceed) json["exceed"].push_back(exceedance_json(e));
    }
    return json;
}

Json to_json(const Verification& v) {
    Json json;
    if (!v.name.empty()) json["name"] = shortened(v.name);
    json["rows"] = v.rows;
    json["effective_rows"] = v.effective_rows;
    json["effective_rows_of_mean"] = v.mean_rows();
    json["effective_rows_of_spread"] = v.spread_rows();
    if (!std::isnan(v.neighbours)) json["neighbour_correlation"] = number(v.neighbours);
    json["recalibrated"] = v.recalibrated;
    json["crps"] = number(v.crps);
    json["crps_skill"] = number(v.crps_skill);
    json["constant_sigma"] = number(v.constant_sigma);
    json["nlpd"] = number(v.nlpd);
    json["rs"] = number(v.rs);
    json["rs_floor"] = number(v.rs_floor);
    json["ar"] = number(v.ar);
    json["beta"] = number(v.beta);
    json["calibration_error_percent"] = number(100 * v.calibration_error);
    json["calibration_floor_percent"] = number(100 * v.calibration_floor);
    json["calibration_p_value"] = number(v.calibration_p_value);
    json["sign_bound_percent"] = number(100 * v.sign_bound);
    json["mean_z"] = number(v.mean_z);
    json["sd_z"] = number(v.sd_z);
    json["z_quantiles"] = Json::array();
    for (const double quantile : v.z_quantiles) json["z_quantiles"].push_back(number(quantile));
    json["sharpness"] = number(v.sharpness);
    json["rmse"] = number(v.rmse);
    if (!std::isnan(v.off_support)) json["off_support_percent"] = number(100 * v.off_support);
    if (!v.outside.empty()) json["off_support"] = to_json(v.outside.front());
    json["coverage"] = coverage_json(v.coverage);
    if (!v.diagram.probability.empty()) {
        Json& diagram = json["reliability_diagram"];
        diagram["probability"] = v.diagram.probability;
        diagram["observed"] = v.diagram.observed;
        diagram["band_90_pointwise"] = band_json(v.diagram.pointwise);
        diagram["band_90_simultaneous"] = band_json(v.diagram.simultaneous);
        if (!v.diagram.group_pointwise.low.empty()) {
            diagram["group_band_90_pointwise"] = band_json(v.diagram.group_pointwise);
            diagram["group_band_90_simultaneous"] = band_json(v.diagram.group_simultaneous);
        }
        Verdict words = verdict(v);
        say_on_average(words);
        json["verdict"] = {{"summary", words.summary}, {"remarks", words.remarks}};
        json["by"] = Json::array();
        for (const Verification::Breakdown& column : v.by) {
            Json& own = json["by"].emplace_back(Json{{"column", shortened(column.column)}, {"values", Json::array()}});
            for (const std::size_t g : largest_groups(column.values))
                own["values"].push_back(to_json(column.values[g]));
            if (own["values"].size() < column.values.size()) own["values_in_all"] = column.values.size();
        }
    }
    return json;
}

}  // namespace accrue
