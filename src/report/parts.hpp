// Parts of the object that a page draws (docs/report-data.md).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "accrue/conditional.hpp"
#include "accrue/report.hpp"

namespace accrue::report {

// A picture has no use for 17 digits.
nlohmann::ordered_json number(double value);
nlohmann::ordered_json numbers(std::span<const double> values);

// Calibration in each place: the columns, and of each the places, that are furthest off, so many at most.
nlohmann::ordered_json conditional_json(const ConditionalCalibration& conditional, std::size_t max_columns,
                                        std::size_t max_places);

// Rows from the smallest sigma to the largest, so many at most; and the whole distribution of each.
std::vector<std::size_t> picked_rows(const ReportForecast& forecast, std::size_t most);
nlohmann::ordered_json densities_json(const ReportForecast& forecast, const Families& families,
                                      std::span<const double> times, std::span<const std::size_t> picked);

}  // namespace accrue::report
