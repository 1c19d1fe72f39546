// Many rows in a few numbers, for drawing: every row is counted, none is sampled. Weights may be empty. Sums are taken
// in a fixed order, so that results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "accrue/verify.hpp"

namespace accrue::verification {

// The range of some variable cut into bins of about as many rows each; equal values are never parted, so a variable of
// few values has a bin for each.
class Binning {
public:
    // Edges are quantiles of the values, or of kSample of them where there are more.
    static constexpr std::size_t kSample = 1U << 16U;
    Binning(std::span<const double> values, std::size_t most_bins);

    std::size_t bins() const { return edges_.size() + 1; }
    // bin[i] is the number of edges that are not above values[i].
    void operator()(std::span<const double> values, std::uint16_t* bin) const;

private:
    std::vector<double> edges_;
};

// An element for every bin that has rows; see docs/report-data.md.
struct Bins {
    std::vector<double> low, high, x;
    std::vector<std::size_t> rows;
    std::vector<double> sigma, rmse, rmse_low, rmse_high, mean_error;
};
Bins spread_along(std::span<const double> variable, std::span<const double> errors, std::span<const double> sigmas,
                  std::span<const double> weights, std::size_t most_bins);

struct Fan {
    std::vector<double> low, high, x;
    std::vector<std::size_t> rows;
    std::vector<double> mean, q05, q25, q75, q95;  // of the forecasts
    // The forecasts' mean plus quantiles of the errors.
    std::vector<double> observed_q05, observed_q25, observed_q50, observed_q75, observed_q95;
};
// `means` of the forecasts, which are of the shape.
Fan fan_along(std::span<const double> variable, std::span<const double> means, std::span<const double> errors,
              std::span<const double> sigmas, const Shape& shape, std::span<const double> weights,
              std::size_t most_bins);

// Shares of the PITs in `bars` equal bars, from a diagram whose grid their edges lie on, and where each bar of a
// calibrated forecast of as many rows lies with probability 90%.
struct PitHistogram {
    std::vector<double> edges;
    std::vector<double> share;
    double low = 0;
    double high = 0;
};
PitHistogram pit_histogram(const Verification& verification, std::size_t bars);

// The mean of per-row differences with its 90% interval and the p-value of none, by Student's t for independent rows,
// or for independent groups where there are some. NaN where there are fewer than two of them.
struct PairedDifference {
    double difference = 0;
    double low = 0;
    double high = 0;
    double p_value = 0;
};
PairedDifference paired_difference(std::span<const double> differences, std::span<const double> weights,
                                   const Grouping& groups);

}  // namespace accrue::verification
