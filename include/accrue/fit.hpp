// From an archive of rows to a model: learns sigma(x) and verifies it out of sample.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/verify.hpp"

namespace accrue {

// Rows to learn from. Every span has a value for each row; those that may be left out are empty.
struct Archive {
    std::vector<std::string> input_names;
    std::vector<std::span<const double>> inputs;
    std::span<const double> errors;       // y - mu; empty where the mean is to be learned
    std::span<const double> observation;  // y, to learn the mean from: FitOptions::mean
    std::span<const double> prediction;   // mu, where it is known: needed for a linear bias correction in mu
    std::span<const double> weights;      // optional
    Grouping groups;                      // optional: folds never split a group
    std::span<const double> times;        // optional: folds are contiguous blocks of time
    std::size_t sampled_from = 0;         // rows, of which these are a random sample; 0: they are all
    // Names for the model file and for messages.
    std::string prediction_name, observation_name, error_name, weight_name, group_name, time_name;
};

struct FitOptions {
    std::string form = "network";      // network, polynomial (one input), clusters, constant
    std::string recipe = "default";    // default: folds, all rows used; paper: one split, the best of some starts
    std::string score = "ar";          // ar, crps, nlpd
    std::string mean = "none";         // none: the archive has predictions; gp, network: learn them, cross-fitted
    double balance = 0.5;              // ar: weight of accuracy against reliability, 0..1
    std::string bias = "none";         // none, constant, linear
    std::string recalibrate = "none";  // none, isotonic: maps probabilities to what out-of-fold rows showed
    std::size_t folds = 5;             // default recipe
    std::size_t starts = 0;            // 0: 3 a fold for the default recipe, 5 for the paper's
    // paper recipe: the shares of rows for training and for validation; the rest is the test set.
    double training_share = 0.33;
    double validation_share = 0.33;
    // Iterations without a better validation cost; 0: 10, or 30 for the default recipe in folds of at least 500 rows,
    // where starts cross a plateau before they find anything and cost is smooth enough to wait.
    int patience = 0;
    int most_iterations = 400;
    // From 100,000 rows on networks train on growing samples first, with more starts than are carried on, and on all
    // rows in the end; false: on all rows throughout, which takes twice as long, and eight times with a million.
    bool stages = true;
    std::uint64_t seed = 1;
};

struct FitProgress {
    std::size_t task = 0;  // the (fold, start) that reports
    std::size_t fold = 0, start = 0;
    int iteration = 0;
    double cost = 0;  // validation cost
    std::size_t finished = 0, tasks = 0;
};
// Return false to stop the fit; it then throws Interrupted. Calls come one at a time, from any thread.
using FitWatcher = std::function<bool(const FitProgress&)>;

class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

// What happened to one start.
struct StartOutcome {
    std::size_t fold = 0, start = 0;
    int iterations = 0;
    std::string reason;          // why it stopped
    double validation_cost = 0;  // the best, whose parameters were taken
    double skill = 0;            // of that cost over a constant sigma on the same rows
    bool kept = false;
    std::string dropped_because;                           // empty when kept
    std::vector<double> training_curve, validation_curve;  // a value for every iteration
};

struct FitResult {
    Model model;
    // Out of fold (default recipe) or on the test rows (paper recipe). With recalibration it is of two fifths of the
    // rows, whose map comes from the other three.
    Verification verification;
    std::vector<StartOutcome> starts;
    Verdict verdict;  // in words, of this fit
    // Out-of-fold errors (after the cross-fitted bias correction) and sigmas in the order of the archive's rows; NaN
    // for rows that are not in the verification.
    std::vector<double> errors, sigmas;
};

// Bytes that fit() needs for every row beyond its archive, at most: measured (bench/fit_memory.py) and rounded up.
std::size_t fit_bytes_per_row(std::size_t inputs, const FitOptions& options = {});

// Throws InputError when the archive breaks a rule: lengths that differ, too few rows for the folds, errors that are
// all zero, values that are not finite, a single group.
FitResult fit(const Archive& archive, const FitOptions& options = {}, const FitWatcher& watcher = {});

}  // namespace accrue
