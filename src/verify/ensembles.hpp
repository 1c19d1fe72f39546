// Forecasts that are an ensemble of members.
#pragma once

#include <span>
#include <vector>

#include "accrue/figures.hpp"
#include "verify/row_distributions.hpp"

namespace accrue::verification {

struct VerifiedEnsemble {
    Verification verification;
    EnsembleFigures figures;
    // Of the rows: errors of the mean, standard deviations (with M - 1), and normal scores of the ranks.
    std::vector<double> means, errors, sigmas, crps, scores;
};

// Ranks are those of the observations among the members, uniform among equal ones; a PIT is uniform within its rank,
// and both follow from a number of each row's own. An interval of a level is there where enough members lie outside of
// it: (M + 1)(1 - level)/2 >= 1. Throws InputError as verify(), and unless every member has a finite value for every
// row.
VerifiedEnsemble verify_ensemble(MemberColumns members, std::span<const double> y, std::span<const double> weights,
                                 const Grouping& groups, const VerifyOptions& options,
                                 std::span<const ColumnGrouping> by);

}  // namespace accrue::verification
