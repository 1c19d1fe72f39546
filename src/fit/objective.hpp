// A score over a sigma model, as a function of the model's parameters.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "accrue/scores.hpp"
#include "sigma/form.hpp"

namespace accrue::fitting {

// Which score, in standardised units of the errors. `beta` weighs accuracy against reliability for ar.
struct Score {
    enum class Kind { ar, crps, nlpd } kind = Kind::ar;
    double beta = 0.5;
};
Score::Kind score_kind(const std::string& name);  // throws InputError

// Rows [0, hole_begin) and [hole_end, rows) of the columns: everything but one fold, since rows lie fold by fold.
struct Slice {
    std::size_t hole_begin;
    std::size_t hole_end;
    std::size_t rows;
    std::size_t size() const { return hole_begin + rows - hole_end; }
};

// Cost and gradient of a form on the rows of a slice, in two passes over cache-sized blocks: forward to log sigma; the
// score and its slopes over all rows; forward again with the way back. Memory is a few numbers a row. Not thread safe:
// each task has its own; inside, blocks run in parallel and sums keep their order.
class Objective {
public:
    // A rough cost counts rows where it would sort them, and uses the form's rough version: it is right to about 1e-6
    // of itself. Descents on many rows go by it, and the validation rows that stop them; costs that are compared with
    // other starts', kept and shown are exact.
    enum class Precision { exact, rough };
    static Precision of_descent(std::size_t training_rows);

    Objective(const sigma::Form& form, const sigma::Columns& x, Slice slice, std::span<const double> errors,
              std::span<const double> weights, Score score, Precision precision);

    // False where the parameters are not admissible or the cost is not finite. The gradient may be empty.
    bool operator()(std::span<const double> parameters, double& cost, std::span<double> gradient);

private:
    // Calls work(column_begin, column_end, position) for the stretches of columns behind positions [begin, end).
    template <typename Work>
    void for_stretches(std::size_t begin, std::size_t end, Work&& work) const;

    std::shared_ptr<const sigma::Form> rough_;  // where it is used
    const sigma::Form& form_;
    sigma::Columns x_;
    Slice slice_;
    std::vector<double> errors_;
    std::vector<double> weights_;
    Score score_;
    Ranks ranks_;
    std::vector<double> sigmas_;
    std::vector<double> slopes_;
    std::vector<double> partial_gradients_;
    std::vector<unsigned char> bounded_;
    ScoreWorkspace workspace_;
};

}  // namespace accrue::fitting
