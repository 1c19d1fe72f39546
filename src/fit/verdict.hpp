#pragma once

#include "accrue/fit.hpp"

namespace accrue::fitting {

// How much a cross-fitted correction would lower the CRPS of a constant sigma, as a share.
struct BiasGain {
    double constant = 0;
    double linear = 0;
};

// The words for a fit: what verification says, and what to do about it.
Verdict fit_verdict(const Verification& verification, const FitOptions& options, const BiasGain& gain);

}  // namespace accrue::fitting
