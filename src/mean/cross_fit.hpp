// Mean functions fitted so that every row also has a prediction by one that never saw it: errors on rows that a mean
// was fitted to are too small, and a sigma learnt from them too sure of itself.
#pragma once

#include <cstdint>

#include "accrue/fit.hpp"
#include "mean/regression.hpp"

namespace accrue::mean {

enum class RegressionKind { gp, network };
RegressionKind regression_kind(std::string_view name);  // throws InputError for another name than gp, network
std::string to_string(RegressionKind kind);

struct CrossFit {
    // A row's held-out prediction, the average over the rounds.
    std::vector<double> held_out;
    // For new rows: the average of all networks, or a Gaussian process fitted to all rows.
    std::shared_ptr<const Regression> regression;
};

// The fold (0..K-1) of every row.
using Folds = std::vector<std::size_t>;

// For every round, which is a division of the rows into folds, and every fold: fits to the rows of the other folds and
// predicts those of the fold. A network is stopped early on the fold that it predicts; of the fold's targets it learns
// that one number. The watcher's `start` is the round, its cost the validation error or minus the log likelihood a row.
// Throws InputError when a round has not two folds, or a fold or the rest no weight, and Interrupted.
CrossFit cross_fit(RegressionKind kind, const Targets& targets, std::span<const Folds> rounds, std::uint64_t seed,
                   const FitWatcher& watcher = {});

// One fit. The network trains on the training rows and stops early on the validation rows; a Gaussian process, which
// needs none, takes both as its rows.
std::shared_ptr<const Regression> fit_regression(RegressionKind kind, const Targets& targets,
                                                 std::span<const std::size_t> training,
                                                 std::span<const std::size_t> validation, std::uint64_t seed,
                                                 const Report& report = {});

}  // namespace accrue::mean
