// Many rows in a few numbers, for drawing: every row is counted, none is sampled. Weights may be empty. Sums are taken
// in a fixed order, so that results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "accrue/verify.hpp"
#include "verify/row_distributions.hpp"

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

// Errors in bins of a variable, and what the forecasts say about them; an element for every bin that has rows.
// Quantiles are compared because they mean the same for every distribution: a root mean square error is as large as a
// few errors of a heavy tail make it.
struct ErrorBins {
    std::vector<double> low, high, x;
    std::vector<std::size_t> rows;
    std::vector<double> sigma;  // root mean square
    // Of the errors of a bin's rows, if each is drawn from its forecast.
    std::vector<double> q05, q50, q95;
    // Of the errors that were observed, and the 90% intervals of these quantiles for independent rows, from order
    // statistics: no distribution is assumed.
    std::vector<double> observed_q05, observed_q50, observed_q95;
    std::vector<double> observed_q05_low, observed_q50_low, observed_q95_low;
    std::vector<double> observed_q05_high, observed_q50_high, observed_q95_high;
    // Of the middle 90%: q95 - q05.
    std::vector<double> width, observed_width, observed_width_low, observed_width_high;
};
ErrorBins errors_along(std::span<const double> variable, std::span<const double> errors, std::span<const double> sigmas,
                       const Families& families, std::span<const double> weights, std::size_t most_bins);
// Of ensembles, each member as likely, whose means and standard deviations these are.
ErrorBins errors_along(std::span<const double> variable, std::span<const double> errors, std::span<const double> sigmas,
                       std::span<const double> means, MemberColumns members, std::span<const double> weights,
                       std::size_t most_bins);

// Observations in bins of the forecasts' mean.
struct Fan {
    std::vector<double> low, high, x;
    std::vector<std::size_t> rows;
    // Of the observations of a bin's rows, if each is drawn from its forecast.
    std::vector<double> q05, q25, q50, q75, q95;
    // Of what was observed.
    std::vector<double> observed_q05, observed_q25, observed_q50, observed_q75, observed_q95;
};
Fan observations_along_mean(std::span<const double> means, std::span<const double> errors,
                            std::span<const double> sigmas, const Families& families, std::span<const double> weights,
                            std::size_t most_bins);
Fan observations_along_mean(std::span<const double> means, std::span<const double> errors,
                            std::span<const double> sigmas, MemberColumns members, std::span<const double> weights,
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

// Means of the differences, as PairedDifference has them, with an interval of this level.
PairedDifference paired_difference(std::span<const double> differences, std::span<const double> weights,
                                   const Grouping& groups, double level = 0.9);

}  // namespace accrue::verification
