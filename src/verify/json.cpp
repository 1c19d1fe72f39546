#include <cmath>
#include <nlohmann/json.hpp>

#include "accrue/verify.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinity: such figures are null.
Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace

Json to_json(const Verification& v) {
    Json json;
    if (!v.name.empty()) json["name"] = v.name;
    json["rows"] = v.rows;
    json["effective_rows"] = v.effective_rows;
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
    json["sharpness"] = number(v.sharpness);
    json["rmse"] = number(v.rmse);
    json["coverage"] = Json::array();
    for (const Coverage& c : v.coverage)
        json["coverage"].push_back({{"level", c.level},
                                    {"observed", number(c.observed)},
                                    {"mean_width", number(c.mean_width)},
                                    {"interval_score", number(c.interval_score)}});
    if (!v.diagram.probability.empty()) {
        const auto band = [](const Band& b) { return Json{{"low", b.low}, {"high", b.high}}; };
        Json& diagram = json["reliability_diagram"];
        diagram["probability"] = v.diagram.probability;
        diagram["observed"] = v.diagram.observed;
        diagram["band_90_pointwise"] = band(v.diagram.pointwise);
        diagram["band_90_simultaneous"] = band(v.diagram.simultaneous);
        if (!v.diagram.group_pointwise.low.empty()) {
            diagram["group_band_90_pointwise"] = band(v.diagram.group_pointwise);
            diagram["group_band_90_simultaneous"] = band(v.diagram.group_simultaneous);
        }
        const Verdict words = verdict(v);
        json["verdict"] = {{"summary", words.summary}, {"remarks", words.remarks}};
        json["groups"] = Json::array();
        for (const Verification& group : v.groups) json["groups"].push_back(to_json(group));
    }
    return json;
}

}  // namespace accrue
