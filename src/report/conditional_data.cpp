// Calibration in each place, as the page draws it.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/rounded_json.hpp"
#include "report/parts.hpp"

namespace accrue::report {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kPointwise = 1.6448536269514722;  // standard errors, 90%
constexpr int kDigits = 4;

const char* role_name(Condition::Role role) {
    switch (role) {
        case Condition::Role::prediction:
            return "prediction";
        case Condition::Role::group:
            return "group";
        case Condition::Role::time:
            return "time";
        default:
            return "input";
    }
}

double trouble(const ConditionalColumn& column) {
    double worst = 0;
    for (const ConditionalPlace& place : column.places) worst = std::max(worst, std::fabs(place.furthest_t()));
    return worst;
}

// Those with the most trouble, in the order that they have.
template <typename Item, typename Trouble>
std::vector<const Item*> worst_of(const std::vector<Item>& all, std::size_t most, Trouble&& trouble) {
    std::vector<const Item*> kept;
    for (const Item& one : all) kept.push_back(&one);
    if (kept.size() <= most) return kept;
    std::stable_sort(kept.begin(), kept.end(), [&](const Item* a, const Item* b) { return trouble(*a) > trouble(*b); });
    kept.resize(most);
    std::sort(kept.begin(), kept.end());
    return kept;
}

Json column_json(const ConditionalCalibration& conditional, const ConditionalColumn& column, std::size_t max_places) {
    const auto kept = worst_of(column.places, max_places,
                               [](const ConditionalPlace& place) { return std::fabs(place.furthest_t()); });
    Json json = {{"name", column.name}, {"role", role_name(column.role)}, {"all_places", column.places.size()}};
    json["label"] = Json::array();
    json["rows"] = Json::array();
    for (const ConditionalPlace* place : kept) {
        json["label"].push_back(place->label);
        json["rows"].push_back(place->rows);
    }
    const auto add = [&](const char* key, auto&& value) {
        json[key] = Json::array();
        for (const ConditionalPlace* place : kept) json[key].push_back(core::rounded_json(value(*place), kDigits));
    };
    if (!std::isnan(column.places.front().x)) {
        for (const auto& [key, value] : {std::pair{"low", &ConditionalPlace::low},
                                         {"high", &ConditionalPlace::high},
                                         {"x", &ConditionalPlace::x}}) {
            json[key] = Json::array();
            for (const ConditionalPlace* place : kept) json[key].push_back(number(place->*value));
        }
    }
    add("mean_z", [](const auto& place) { return place.mean_z; });
    add("sd_z", [](const auto& place) { return place.sd_z; });
    add("coverage", [](const auto& place) { return place.coverage; });
    add("calibration_error", [](const auto& place) { return place.calibration_error; });
    add("calibration_floor", [](const auto& place) { return place.calibration_floor; });
    // How far off, as a share of what chance may do anywhere.
    const auto share = [&](double t) { return conditional.critical > 0 ? std::fabs(t) / conditional.critical : 0; };
    add("off", [&](const auto& place) { return share(place.furthest_t()); });
    add("calibration_off", [&](const auto& place) { return share(place.calibration_t); });
    const auto add_band = [&](const std::string& figure, ChanceRange PlaceByChance::*band) {
        for (const auto& [name, t] : {std::pair{"", conditional.critical}, {"_pointwise", kPointwise}}) {
            const auto range = [&, errors = t](const auto& place) {
                return by_chance(conditional, place, errors).*band;
            };
            add((figure + name + "_low").c_str(), [&](const auto& place) { return range(place).low; });
            add((figure + name + "_high").c_str(), [&](const auto& place) { return range(place).high; });
        }
    };
    add_band("mean_z", &PlaceByChance::mean_z);
    add_band("sd_z", &PlaceByChance::sd_z);
    add_band("coverage", &PlaceByChance::coverage);
    return json;
}

}  // namespace

Json conditional_json(const ConditionalCalibration& conditional, std::size_t max_columns, std::size_t max_places) {
    Json json = {{"passes", conditional.passes},
                 {"tests", conditional.tests},
                 {"worst", conditional.worst},
                 {"error_rate", conditional.error_rate},
                 {"mean_z", core::rounded_json(conditional.mean_z, kDigits)},
                 {"sd_z", core::rounded_json(conditional.sd_z, kDigits)},
                 {"coverage", core::rounded_json(conditional.coverage, kDigits)},
                 {"all_columns", conditional.columns.size()}};
    json["columns"] = Json::array();
    for (const ConditionalColumn* column : worst_of(conditional.columns, max_columns, trouble))
        json["columns"].push_back(column_json(conditional, *column, max_places));
    return json;
}

}  // namespace accrue::report
