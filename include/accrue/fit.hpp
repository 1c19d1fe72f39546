// From an archive of rows to a model: learns sigma(x) and verifies it out of sample.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accrue/archive.hpp"
#include "accrue/conditional.hpp"
#include "accrue/context.hpp"
#include "accrue/model.hpp"
#include "accrue/verify.hpp"

namespace accrue {

// What each does and takes: options.hpp, docs/options.md.
struct FitOptions {
    std::string form = "auto";
    std::string family = "auto";
    std::string recipe = "default";
    std::string score = "ar";
    double balance = 0.5;
    std::vector<double> balance_front = {};  // others to compare with
    std::string bias = "auto";
    std::string mean = "none";
    std::optional<double> lower, upper;  // bounds of the observation
    std::string bound_kind = "auto";
    std::string recalibrate = "auto";
    bool recalibrate_given = false;  // by its name: "auto" then chooses for a form given by hand too
    double calibration_share = 0;
    std::size_t folds = 5;
    double training_share = 0.33;
    double validation_share = 0.33;
    std::size_t starts = 0;
    int patience = 0;
    int max_iterations = 400;
    bool stages = true;
    std::uint64_t seed = 1;
};

// What happened to one start.
struct StartOutcome {
    std::size_t fold = 0, start = 0;
    std::string form = {};
    int iterations = 0;
    std::string method = {};     // bfgs, lbfgs, adam; solved, where nothing was minimised
    std::string reason;          // why it stopped
    double validation_cost = 0;  // the best, whose parameters were taken
    double skill = 0;            // of that cost over a constant sigma on the same rows
    bool kept = false;
    std::string dropped_because;                           // empty when kept
    std::vector<double> training_curve, validation_curve;  // a value for every iteration
};

// One candidate of what was left to the fit: its score on rows that it was not fitted on, and how much lower that is,
// with a 95% interval, than that of the candidate that was ahead until then. A lower score is better.
struct CandidateOutcome {
    std::string family, bias;
    std::string description;
    double crps = 0;
    std::size_t compared_with = 0;  // of the candidates; the first is compared with none
    double difference = 0, low = 0, high = 0;
    bool taken = false;
};

// A form of a forecast that is the average of several, in log sigma.
struct PooledForm {
    std::string form;
    double weight = 0;
    double crps = 0;  // of this form alone, out of fold
};

// What permuting the values of an input among rows of the archive changes in the forecasts, on average: the location,
// in units of a row's scale; the logarithm of the scale; and further parameters of the family, such as skew.
struct InputImportance {
    std::string input;
    double location = 0, scale = 0, shape = 0;
};

// What rows from after the model was made say of it.
struct LaterRows {
    double factor = 1;      // of least CRPS on sigma
    bool rescaled = false;  // it is beyond chance, and the model has it now
    Verification as_fitted;
    Verification verification;  // after that: each half of the rows by the factor of the other
    ConditionalCalibration conditional;
    Verdict verdict;
};

// A quick model, of the nearest rows, held out in random folds and in folds of neighbours.
struct FoldComparison {
    double crps_by_row = 0, crps_by_block = 0;
};

// What one balance between accuracy and reliability gives on held-out rows, before recalibration, with standard errors
// (NaN where one block holds all rows) and differences to the balance that the model has.
struct BalanceOutcome {
    double balance = 0;
    double crps = 0, crps_se = 0;
    double rs = 0, rs_se = 0;
    double calibration_error = 0, calibration_error_se = 0;
    double crps_difference = 0, crps_difference_se = 0;
    double rs_difference = 0, rs_difference_se = 0;
    bool taken = false;
};

// The recalibration of a fit: what was asked for and taken, and why.
struct RecalibrationOutcome {
    std::string asked = "none", kind = "none";
    std::size_t rows = 0;     // whose scores made the map; of "none", those that were set apart in vain
    bool split = false;       // these rows entered nothing else; else they were out of fold
    bool guaranteed = false;  // the coverage of intervals for exchangeable rows (docs/recalibration.md)
    // Of "auto": every row judged by a map of other folds, or by none, in the order of preference.
    struct Trial {
        std::string kind;
        bool by_group = false;  // with maps of groups' own
        double crps = 0;
        std::size_t compared_with = 0;             // of the trials; the first is compared with none
        double difference = 0, low = 0, high = 0;  // in crps, with its 90% interval
        double calibration_error = 0, p_value = 1;
        bool taken = false;
    };
    std::vector<Trial> trials = {};
    // Where groups were named (Archive::recalibrate_groups): those with a map of their own, and how many rows made it.
    struct Group {
        std::string label;
        std::size_t rows = 0;
    };
    std::string group_column = {};  // empty: none was named
    std::vector<Group> groups = {};
    std::size_t common_rows = 0;  // of the others, which have the map of all rows
    std::size_t strays = 0;       // rows judged by the common map for want of rows of their group in other folds
};

struct FitResult {
    Model model;
    // Out of fold (default recipe) or on the test rows (paper recipe). With recalibration every fold's rows are judged
    // by a map of the other folds' rows, and calibration error, reliability score and their floors are the means of
    // those within the folds: over all rows together the deviations of folds and maps cancel. With a calibration share
    // the rows are the others, and the map is that of the model.
    Verification verification;
    ConditionalCalibration conditional = {};  // of the same rows
    std::vector<StartOutcome> starts;
    Verdict verdict;  // in words, of this fit
    // Errors of the out-of-fold forecasts (after the cross-fitted bias correction and recalibration) and their sigmas
    // in the order of the archive's rows; NaN for rows that are not in the verification.
    std::vector<double> errors, sigmas;
    // With recalibration: the family that each part of the rows was judged by, whose mean and standard deviation these
    // errors and sigmas are about; and the part of every row of the archive. One where all were judged by the same map.
    // Else empty.
    std::vector<SharedFamily> families = {};
    std::vector<std::uint32_t> parts = {};
    std::vector<CandidateOutcome> candidates = {};   // in the order of their simplicity; none where nothing was left
    std::string choice = {};                         // why this one, in a sentence
    std::vector<PooledForm> pooled = {};             // none where one form was fitted
    std::vector<InputImportance> importance = {};    // of every input
    std::optional<FoldComparison> folds = {};        // where neighbouring rows err together and folds are by row
    std::optional<LaterRows> later = {};             // judge_later()
    std::vector<BalanceOutcome> balance_front = {};  // in the order of the balances; none where nobody asked
    RecalibrationOutcome recalibration = {};
    // Of families that have some: parameters of the rows, row after row (Families).
    std::vector<double> parameters = {};
    std::span<const double> parameters_of(std::size_t row) const {
        const std::size_t width = sigmas.empty() ? 0 : parameters.size() / sigmas.size();
        return std::span(parameters).subspan(row * width, width);
    }
};

// Whether these options have a use for inputs: for a constant that corrects nothing by them none are needed.
bool needs_inputs(const FitOptions& options);

// The inputs where none are named: the prediction, where it is known and is not the only one already, and `others`,
// which default_inputs() gives. The paper's recipe, and forms of one input, take the others alone.
std::vector<std::string> default_fit_inputs(std::vector<std::string> others, const Roles& roles,
                                            const FitOptions& options);
// Whether categories can be inputs of a fit where nobody named them: its form takes them, no mean is learned by the
// inputs first, and its recipe is not the paper's.
bool takes_categories(const FitOptions& options);

// Throws InputError unless the roles agree with each other and have what these options need.
void require_roles(const Roles& roles, const FitOptions& options);

// The names that FitOptions::form takes beside auto, sorted.
std::vector<std::string> form_names();
// A name for FitOptions::mean where the location is to be learned and nobody chose how.
std::string default_mean();

// Bytes that fit() needs for every row beyond its archive, at most: what it holds, counted and rounded up.
// bench/fit_memory.cpp measures what it takes.
std::size_t fit_bytes_per_row(std::size_t inputs, const FitOptions& options = {});
// And whatever the rows, with so many starts at work at a time: large where inputs are thousands.
std::size_t fit_bytes(std::size_t inputs, const FitOptions& options = {}, std::size_t starts_at_work = 1);

// Throws InputError when the archive breaks a rule: lengths that differ, too few rows for the folds, errors that are
// all zero, values that are not finite, a single group.
FitResult fit(const Archive& archive, const FitOptions& options = {}, const Context& context = {});

// The model's fit again, with the options that it was made with, on rows that have come since: networks begin where the
// model's ended, which takes a fraction of the time, inputs are standardised and categories numbered as they were. Its
// choice of a family and a bias correction stays. The archive has the same inputs in the same order; the label "" is
// for values that the model does not know. Where the windows of two fits share rows, out-of-fold figures are a little
// too good: a network may begin with what it learned from a row that it is now judged by. Throws InputError as fit(),
// and for a model of the paper's recipe.
FitResult refit(const Model& model, const Archive& archive, const Context& context = {});

// Judges a fit by rows from after its model was made, and multiplies sigma by what these ask for where that is beyond
// chance. The predictions of an archive may have been trained on its own rows, and no table can show it: errors are too
// small then. Throws InputError for fewer than 20 rows, other inputs, or observation errors.
void judge_later(FitResult& result, const Archive& later);

}  // namespace accrue
