// Changes values of a model and leaves it JSON: bytes changed at random would rarely be. What an entry may be it takes
// from the schema that loading checks against, so that new entries are tried without a line here.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "accrue/family.hpp"
#include "accrue/options.hpp"
#include "fields/kinds.hpp"
#include "forecast/model_schema.hpp"
#include "fuzz/model_json.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using accrue::fuzz::Json;
using Random = std::minstd_rand;

template <typename Item>
const Item& any_of(const std::vector<Item>& items, Random& random) {
    return items[random() % items.size()];
}

const Json& schema() {
    static const Json parsed = Json::parse(accrue::model_file::schema_text());
    return parsed;
}

// A rule without references; null where there is none.
const Json* resolved(const Json* rule) {
    while (rule != nullptr && rule->contains("$ref")) {
        const auto path = rule->at("$ref").get<std::string>();  // "#/$defs/NAME"
        rule = &schema().at("$defs").at(path.substr(path.rfind('/') + 1));
    }
    return rule;
}

const Json* child_rule(const Json* rule, const char* keyword) {
    return rule == nullptr || !rule->contains(keyword) ? nullptr : &rule->at(keyword);
}

const Json* property_rule(const Json* rule, const std::string& name) {
    const Json* properties = child_rule(rule, "properties");
    return properties == nullptr || !properties->contains(name) ? nullptr : resolved(&properties->at(name));
}

// An entry, and what the schema says of it; null where it leaves the entry open.
struct Place {
    Json* value;
    const Json* rule;
};

void collect(Json& json, const Json* rule, std::vector<Place>& all, int depth = 0) {
    all.push_back({&json, rule});
    if (depth > 12 || !json.is_structured()) return;
    // Of long lists of numbers a few are enough.
    std::size_t taken = 0;
    if (json.is_array()) {
        for (Json& item : json)
            if (++taken <= 6) collect(item, resolved(child_rule(rule, "items")), all, depth + 1);
    } else {
        for (auto& [name, item] : json.items()) collect(item, property_rule(rule, name), all, depth + 1);
    }
}

// Texts that mean something somewhere.
const std::vector<std::string>& words() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> list = {"", "x", "\x1b[2J", "accrue model"};
        const auto add = [&](const std::vector<std::string>& names) {
            list.insert(list.end(), names.begin(), names.end());
        };
        add(accrue::family_names());
        add(accrue::fields::kind_names());
        add(accrue::fields::mean_kind_names());
        for (const accrue::FitOption& option : accrue::fit_options()) add(option.choice_names());
        return list;
    }();
    return all;
}

Json another_value(Random& random) {
    static const std::vector<Json> kValues = {nullptr,
                                              true,
                                              0,
                                              1,
                                              -1,
                                              2,
                                              12,
                                              1e308,
                                              -1e308,
                                              1e-308,
                                              0.5,
                                              -14.0,
                                              8.0,
                                              1e15,
                                              -0.0,
                                              Json::array(),
                                              Json::object(),
                                              Json::array({Json::object()}),
                                              Json::array({0.5}),
                                              std::uint64_t{1} << 63U,
                                              4294967296};
    if (random() % 4 == 0) return any_of(words(), random);
    return any_of(kValues, random);
}

// A number at the ends of its range, within it, or just outside.
Json number_of(const Json& rule, bool whole, Random& random) {
    std::vector<double> candidates = {0, 1, 2, 7};
    for (const char* keyword : {"minimum", "exclusiveMinimum", "maximum"})
        if (rule.contains(keyword)) {
            const auto end = rule.at(keyword).get<double>();
            candidates.insert(candidates.end(), {end, end + 1, end - 1});
        }
    if (!whole) candidates.insert(candidates.end(), {0.5, -2.5, 1e-300, 1e300});
    const double value = any_of(candidates, random);
    if (whole) return static_cast<std::int64_t>(value);
    return value;
}

// What the rule allows, or nearly so.
Json value_of(const Json* rule, Random& random, int depth = 0) {
    rule = resolved(rule);
    if (rule == nullptr || depth > 6) return another_value(random);
    if (rule->contains("const")) return rule->at("const");
    if (rule->contains("enum")) return rule->at("enum").at(random() % rule->at("enum").size());
    const Json& types = rule->at("type");
    const auto type = (types.is_array() ? types.at(random() % types.size()) : types).get<std::string>();
    if (type == "null") return nullptr;
    if (type == "boolean") return random() % 2 == 0;
    if (type == "string") return any_of(words(), random);
    if (type == "number" || type == "integer") return number_of(*rule, type == "integer", random);
    if (type == "array") {
        Json list = Json::array();
        const auto least = rule->value("minItems", std::size_t{0});
        const std::size_t size = least > 100 ? 1 : least + random() % 3;
        while (list.size() < size) list.push_back(value_of(child_rule(rule, "items"), random, depth + 1));
        return list;
    }
    Json object = Json::object();
    const Json required = rule->value("required", Json::array());
    const auto is_required = [&](const std::string& name) {
        return std::find(required.begin(), required.end(), name) != required.end();
    };
    for (const auto& [name, own] : rule->at("properties").items())
        if (is_required(name) || random() % 3 == 0) object[name] = value_of(&own, random, depth + 1);
    return object;
}

void mutate(Json& json, Random& random) {
    std::vector<Place> all;
    collect(json, &schema(), all);
    const auto& [target, rule] = any_of(all, random);
    Json& place = *target;
    const auto child = [&] { return std::next(place.begin(), static_cast<std::ptrdiff_t>(random() % place.size())); };
    const Json* properties = child_rule(rule, "properties");
    switch (random() % 10) {
        case 0:
            place = another_value(random);
            break;
        case 1:
            place = Json(*any_of(all, random).value);
            break;
        case 2:
            if (place.is_structured() && !place.empty()) place.erase(child());
            break;
        case 3:
            if (place.is_array()) place.push_back(place.empty() ? another_value(random) : Json(place.back()));
            break;
        case 4:
            if (place.is_object()) place["x" + std::to_string(random() % 4)] = another_value(random);
            break;
        case 5:
            if (place.is_number()) place = place.get<double>() * (1 + 1e-12 * static_cast<double>(random() % 1000));
            break;
        case 6:
            if (place.is_number()) place = place.get<double>() * -3.5;
            break;
        case 7:
            place = value_of(rule, random);
            break;
        case 8:  // an entry that it may have
            if (place.is_object() && properties != nullptr) {
                const auto entry =
                    std::next(properties->begin(), static_cast<std::ptrdiff_t>(random() % properties->size()));
                place[entry.key()] = value_of(&entry.value(), random);
            }
            break;
        default:
            if (place.is_array() && place.size() > 1) place.erase(place.begin() + 1, place.end());
            break;
    }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    Random random(seed);
    Json json = Json::parse(data, data + size, nullptr, false);
    if (json.is_discarded() || random() % 32 == 0) return LLVMFuzzerMutate(data, size, most);
    for (auto left = 1 + random() % 3; left > 0; --left) mutate(json, random);
    std::string text;
    try {
        text = json.dump();
    } catch (const Json::exception&) {
    }
    if (text.empty() || text.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::memcpy(data, text.data(), text.size());
    return text.size();
}
