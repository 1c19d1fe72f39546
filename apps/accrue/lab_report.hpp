// Figures as a person reads them in a terminal.
#pragma once

#include <span>
#include <string>

#include "accrue/report.hpp"

namespace accrue::app {

// A table with a column a forecast, a verdict for each, what else is known of them, `comparison`, and a reliability
// diagram where `width` columns allow it.
std::string lab_report(std::span<const ReportForecast> forecasts, int width, const std::string& comparison = "");

// The same of a fit.
std::string lab_report(const Verification& verification, const Verdict& verdict, int width);

// The width of the terminal that standard output goes to; 80 when it is none.
int terminal_width();

}  // namespace accrue::app
