// A score over a family over a field, as a function of the field's parameters.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "accrue/family.hpp"
#include "fields/outputs.hpp"

namespace accrue::fitting {

// Which score, in standardised units of the errors. `beta` weighs accuracy against reliability for ar.
struct Score {
    enum class Kind { ar, crps, nlpd } kind = Kind::ar;
    double beta = 0.5;
};
std::vector<std::string> score_names();           // in the order of the kinds
Score::Kind score_kind(const std::string& name);  // throws InputError

// Rows [0, hole_begin) and [hole_end, rows) of the columns: everything but one fold, since rows lie fold by fold.
struct Slice {
    std::size_t hole_begin;
    std::size_t hole_end;
    std::size_t rows;
    std::size_t size() const { return hole_begin + rows - hole_end; }
};

// Cost and gradient at a parameter vector. Not thread safe: each task has its own.
class Objective {
public:
    // A rough cost counts rows where it would sort them, and uses the field's rough version: it is right to about 1e-6
    // of itself. Descents on many rows go by it, and the validation rows that stop them; costs that are compared with
    // other starts', kept and shown are exact.
    enum class Precision { exact, rough };
    static Precision of_descent(std::size_t training_rows);

    virtual ~Objective() = default;

    // False where the parameters are not admissible or the cost is not finite. The gradient may be empty.
    virtual bool operator()(std::span<const double> parameters, double& cost, std::span<double> gradient) = 0;
};

// Over the rows of a slice, in this process: two passes over cache-sized blocks, forward to the outputs of the field;
// the score and its slopes over all rows; forward again with the way back. Memory is a few numbers a row. Blocks run in
// parallel and sums keep their order.
// `given` holds what the family's rows are given (Family::given): of a bound, how far it lies from the prediction, as
// an error does.
std::unique_ptr<Objective> make_objective(const fields::Outputs& outputs, const fields::Field& field,
                                          const fields::Columns& x, Slice slice, std::span<const double> errors,
                                          std::span<const double> weights, const fields::Columns& given, Score score,
                                          Objective::Precision precision);

}  // namespace accrue::fitting
