#pragma once

#include "accrue/verify.hpp"
#include "verify/pits.hpp"

namespace accrue::verification {

// The diagram of `cdf`, which counts `pits` on its grid. `pits`, `weights` and `groups` are used for the bands that
// resample groups; without groups there are none.
ReliabilityDiagram reliability_diagram(const PitCdf& cdf, double effective_rows, std::span<const double> pits,
                                       std::span<const double> weights, const Grouping& groups,
                                       const VerifyOptions& options);

}  // namespace accrue::verification
