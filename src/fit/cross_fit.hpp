// Mean functions fitted so that every row also has a prediction by one that never saw it: errors on rows that a mean
// was fitted to are too small, and a sigma learnt from them too sure of itself.
#pragma once

#include <cstdint>

#include "accrue/progress.hpp"
#include "fields/average.hpp"
#include "fields/kinds.hpp"

namespace accrue::fitting {

struct CrossFit {
    // A row's held-out prediction, the average over the rounds.
    std::vector<double> held_out;
    // For new rows: their average.
    std::vector<fields::Fitted> members;
};

// The fold (0..K-1) of every row.
using Folds = std::vector<std::size_t>;

// For every round, which is a division of the rows into folds, and every fold: fits to the rows of the other folds and
// predicts those of the fold. A network is stopped early on the fold that it predicts; of the fold's targets it learns
// that one number. The watcher's `start` is the round, its cost the validation error or minus the log likelihood a row.
// Throws InputError when a round has not two folds, or a fold or the rest no weight, and Interrupted.
CrossFit cross_fit(const fields::MeanKind& kind, const fields::Targets& targets, std::span<const Folds> rounds,
                   std::uint64_t seed, const FitWatcher& watcher = {});

// One fit. Kinds that do not stop early take the validation rows as rows to fit to.
fields::Fitted fit_mean(const fields::MeanKind& kind, const fields::Targets& targets,
                        std::span<const std::size_t> training, std::span<const std::size_t> validation,
                        std::uint64_t seed, const fields::Report& report = {});

}  // namespace accrue::fitting
