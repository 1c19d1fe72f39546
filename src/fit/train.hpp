// One start on one division of the rows: minimise on the training rows, watch the validation rows, keep the best.
#pragma once

#include <functional>

#include "accrue/fit.hpp"
#include "fit/objective.hpp"
#include "sigma/ensemble.hpp"

namespace accrue::fitting {

// Standardised rows in the order of their folds.
struct Rows {
    sigma::Columns x;
    std::span<const double> errors;
    std::span<const double> weights;
    std::vector<sigma::Range> ranges;
};

// A division: training rows are all but [begin, end), which validate. For the paper's split `rows` leaves out the test
// rows, which come last.
struct Division {
    std::size_t begin;
    std::size_t end;
    std::size_t rows;
};

struct TrainOptions {
    std::string form;
    int patience;
    int most_iterations;
    double tolerance = 0;  // what counts as a better validation cost: better by more than this share of it
};

struct Trained {
    sigma::Member member;
    StartOutcome outcome;
};

// Called after every iteration with its number and the validation cost; false stops the start.
using Report = std::function<bool(int iteration, double cost)>;

// A form without orders.
Trained train(const Rows& rows, const Division& division, const Score& score, const TrainOptions& options,
              core::Random& random, const Report& report);

// Goes on with a start from where it got, on other rows: its costs become those of these rows.
void train_on(Trained& trained, const Rows& rows, const Division& division, const Score& score,
              const TrainOptions& options, const Report& report);

// [ALG1] a polynomial of every order from 0 to 10, each started from the last solution. The validation rows stop each
// descent early; which order to take is the recipe's choice.
std::vector<Trained> train_orders(const Rows& rows, const Division& division, const Score& score,
                                  const TrainOptions& options, core::Random& random, const Report& report);

// [KM] one to ten clusters of the training rows' inputs, sigma being the root mean square error of each.
std::vector<Trained> train_clusters(const Rows& rows, const Division& division, const Score& score,
                                    core::Random& random, const Report& report);

// The paper's choice among orders: the last order before one that does not lower the training cost.
Trained last_useful_order(std::vector<Trained> orders);

}  // namespace accrue::fitting
