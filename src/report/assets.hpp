// The bundles that src/report/web was built into; empty where npm was missing.
#pragma once

#include <string_view>

namespace accrue::report {

std::string_view page_template();    // report.html with places for the title and the data
std::string_view figures_program();  // figures.cjs, which Node.js runs

}  // namespace accrue::report
