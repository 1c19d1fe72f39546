#pragma once

#include <span>
#include <utility>

#include "accrue/verify.hpp"
#include "verify/pits.hpp"

namespace accrue::verification {

// Where the share of n independent rows in an event of probability p lies with probability 90%: the least and the
// greatest count that are not beyond the outer 5% of the binomial distribution, over n.
std::pair<double, double> binomial_band(double n, double p);

// A quantile of numbers in ascending order, between two of them in proportion.
double sorted_quantile(std::span<const double> sorted, double probability);

// The diagram of `cdf`, which counts `pits` on its grid. `pits`, `weights` and `groups` are used for the bands that
// resample groups; without groups there are none.
ReliabilityDiagram reliability_diagram(const PitCdf& cdf, double effective_rows, const PitSource& pits,
                                       std::span<const double> weights, const Grouping& groups,
                                       const VerifyOptions& options);

}  // namespace accrue::verification
