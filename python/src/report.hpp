// What every report from Python has in common.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "accrue/report.hpp"

namespace accrue::python {

// The object as one line; names may hold any bytes, of which odd ones become U+FFFD.
std::string text_of(const nlohmann::ordered_json& json);

ReportText report_text(const std::string& title);

}  // namespace accrue::python
