// Forecasts of rows as scores see them, whether of a family, an ensemble or quantiles.
#pragma once

#include <memory>
#include <vector>

#include "accrue/evaluate.hpp"
#include "verify/row_distributions.hpp"

namespace accrue::judged {

// The distributions of the rows; null where a forecast is not known to have some. What a forecast of a family is
// compared with are observations where it has means, and else errors.
std::unique_ptr<verification::RowDistributions> distributions(const ReportForecast& forecast);

// What evaluations compute, beside what their spans lead to otherwise.
struct Memory {
    std::vector<std::vector<double>> values;
    std::shared_ptr<const void> other;
    std::span<const double> keep(std::vector<double> computed) {
        return values.emplace_back(std::move(computed));  // which stays where it is when others follow
    }
};

// Checks options and forecasts before anything is read; throws InputError.
void require_options(const EvaluateOptions& options, const Roles& roles, bool needs_observation);
// Levels between 0 and 1, none twice, as many as columns.
void require_levels(std::span<const std::string> columns, std::span<const double> levels);
// That no quantile of a row lies above one of a higher level. `place` names row i: "a.csv row 17".
void require_no_crossing(std::span<const std::string> columns, std::span<const double> levels,
                         std::span<const std::span<const double>> values,
                         const std::function<std::string(std::size_t row)>& place);

// These fill in a forecast that has its name and members, or its quantiles.
void judge_members(ReportForecast& forecast, const Archive& rows, const EvaluateOptions& options, Memory& memory);
void judge_quantiles(ReportForecast& forecast, const Archive& rows, const EvaluateOptions& options, Memory& memory);
// What options ask for beyond the verification.
void add_details(ReportForecast& forecast, const Archive& rows, const EvaluateOptions& options);
void add_baselines(std::vector<ReportForecast>& forecasts, const Archive& rows, const EvaluateOptions& options,
                   Memory& memory);

// Bytes for every row that these need.
std::size_t bytes_per_row(std::span<const FileForecast> forecasts, const EvaluateOptions& options);

}  // namespace accrue::judged
