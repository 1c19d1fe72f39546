// For libFuzzer: changes one value of the model and leaves it JSON. Bytes changed at random would rarely be.
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz/model_json.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using accrue::fuzz::Json;

void collect(Json& json, std::vector<Json*>& all, int depth = 0) {
    all.push_back(&json);
    if (depth > 12 || !json.is_structured()) return;
    // Of long lists of numbers a few are enough.
    std::size_t taken = 0;
    for (Json& item : json)
        if (++taken <= 6) collect(item, all, depth + 1);
}

Json another_value(std::minstd_rand& random) {
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
                                              "",
                                              "x",
                                              "none",
                                              "network",
                                              "polynomial",
                                              "clusters",
                                              "constant",
                                              "linear",
                                              "ensemble",
                                              "gp",
                                              "\x1b[2J",
                                              Json::array(),
                                              Json::object(),
                                              Json::array({Json::object()}),
                                              Json::array({0.5}),
                                              std::uint64_t{1} << 63U,
                                              4294967296,
                                              "accrue model",
                                              "isotonic"};
    return kValues[random() % kValues.size()];
}

void mutate(Json& json, std::minstd_rand& random) {
    std::vector<Json*> all;
    collect(json, all);
    Json& place = *all[random() % all.size()];
    const auto child = [&] { return std::next(place.begin(), static_cast<std::ptrdiff_t>(random() % place.size())); };
    switch (random() % 8) {
        case 0:
            place = another_value(random);
            break;
        case 1:
            place = Json(*all[random() % all.size()]);
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
        default:
            if (place.is_array() && place.size() > 1) place.erase(place.begin() + 1, place.end());
            break;
    }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    std::minstd_rand random(seed);
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
