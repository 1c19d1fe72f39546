// Numbers for people's eyes in JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace accrue::core {

// The number rounded to so many significant digits, and written with no more; null for NaN and infinity, which JSON
// does not have.
nlohmann::ordered_json rounded_json(double value, int digits);

}  // namespace accrue::core
