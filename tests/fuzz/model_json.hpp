// Model files as JSON: their checksum, a report from one, and mutations that keep them JSON.
#pragma once

#include <nlohmann/json.hpp>

namespace accrue {
class Model;
struct Forecast;
}  // namespace accrue

namespace accrue::fuzz {

using Json = nlohmann::ordered_json;

// Gives the object the checksum that belongs to it; false where its texts are not UTF-8.
bool set_checksum(Json& json);

// Builds the data of a report in which the model is a forecast. The parameters of its family come from a row of these.
void check_report(const Model& model, const Forecast& rows);

}  // namespace accrue::fuzz
