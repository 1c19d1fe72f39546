// Scores at thresholds and levels, and the parts of a CRPS. Weights may be empty; results do not depend on the threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "accrue/figures.hpp"
#include "verify/row_distributions.hpp"

namespace accrue::verification {

double weighted_mean(std::span<const double> values, std::span<const double> weights);

// The quantile score of one row.
inline double quantile_score(double y, double quantile, double level) {
    return (y - quantile) * (level - (y < quantile ? 1 : 0));
}

// Of a quantile for every row. The rows are worth so many independent ones.
QuantileFigures quantile_figures(double level, std::span<const double> y, std::span<const double> weights,
                                 double effective_rows, const std::function<double(std::size_t row)>& quantile);

// The interval between two quantiles for every row, of levels (1 - level)/2 and (1 + level)/2.
Coverage interval_figures(double level, std::span<const double> y, std::span<const double> weights,
                          std::span<const double> low, std::span<const double> high);

// A row is worth so much of an independent one, at most 1: the band is that of as many rows, drawn at random.
ExceedanceFigures exceedance(const RowDistributions& forecast, double threshold, std::span<const double> y,
                             std::span<const double> weights, double row_worth, std::uint64_t seed);

// The CRPS as the integral over thresholds of Brier scores, each with its parts by isotonic regression. The score and
// its uncertainty are exact; what the best map leaves of the score is between the smallest and the largest observation
// a sum over nodes: Gauss-Legendre formulas between observations and where the forecasts rise, or between quantiles of
// the observations where they are many.
ScoreParts crps_parts(const RowDistributions& forecast, std::span<const double> y, std::span<const double> weights);

// The miscalibration of the same forecasts, of as many as they are worth, where observations are drawn from them.
double miscalibration_floor(const RowDistributions& forecast, std::span<const double> weights, double row_worth,
                            std::uint64_t seed);

// The nodes of that sum with their weights.
struct ThresholdNode {
    double y, weight;
};
std::vector<ThresholdNode> threshold_nodes(std::span<const double> y, std::span<const double> breakpoints);

}  // namespace accrue::verification
