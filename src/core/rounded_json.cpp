#include "core/rounded_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace accrue::core {

nlohmann::ordered_json rounded_json(double value, int digits) {
    if (!std::isfinite(value)) return nullptr;
    // Through text: the nearest double to a short decimal is written as that decimal.
    return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

}  // namespace accrue::core
