// Figures as a person reads them in a terminal.
#pragma once

#include <span>
#include <string>

#include "accrue/verify.hpp"

namespace accrue::app {

// A table with a column a forecast, a verdict for each, and a reliability diagram where `width` columns allow it. The
// first forecast's verdict may be given; a fit has more to say than its figures.
std::string lab_report(std::span<const Verification> forecasts, int width, const Verdict* words_of_first = nullptr);

// The width of the terminal that standard output goes to; 80 when it is none.
int terminal_width();

}  // namespace accrue::app
