// One start on one division of the rows: minimise on the training rows, watch the validation rows, keep the best.
#pragma once

#include <functional>

#include "accrue/fit.hpp"
#include "fields/kinds.hpp"
#include "fit/objective.hpp"

namespace accrue::fitting {

// Standardised rows in the order of their folds.
struct Rows {
    fields::Columns x;
    std::span<const double> errors;
    std::span<const double> weights;
    std::vector<fields::Range> ranges;
    fields::Columns given = {nullptr, 0, 0};  // what the family's rows are given (make_objective)
};

// A division: training rows are all but [begin, end), which validate. For the paper's split `rows` leaves out the test
// rows, which come last.
struct Division {
    std::size_t begin;
    std::size_t end;
    std::size_t rows;
};

struct TrainOptions {
    const fields::Kind* form;
    fields::Outputs outputs;
    int patience;
    int max_iterations;
    bool first_order = false;  // where quasi-Newton methods stall
    bool continued = false;    // from where another fit ended: first-order steps begin small
    double tolerance = 0;      // what counts as a better validation cost: better by more than this share of it
};

struct Trained {
    fields::Fitted member;
    StartOutcome outcome;
};

// Called after every iteration with its number and the validation cost; false stops the start.
using Report = std::function<bool(int iteration, double cost)>;

// One start, or one in every size that the form has: a form is solved, or each size started from the last solution and
// minimised to the end; which size to take is then the recipe's choice.
std::vector<Trained> train(const Rows& rows, const Division& division, const Score& score, const TrainOptions& options,
                           core::Random& random, const Report& report);

// Goes on with a start from where it got, on other rows: its costs become those of these rows.
void train_on(Trained& trained, const Rows& rows, const Division& division, const Score& score,
              const TrainOptions& options, const Report& report);

// The paper's choice among sizes: the last one before one that does not lower the training cost.
Trained last_useful_size(std::vector<Trained> sizes);

}  // namespace accrue::fitting
