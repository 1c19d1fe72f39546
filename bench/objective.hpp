// The cost of a fit, on all rows, without weights and bounds.
#pragma once

#include <memory>
#include <span>

#include "accrue/family.hpp"
#include "fit/objective.hpp"

namespace accrue::bench {

inline std::unique_ptr<fitting::Objective> make_objective(const fields::Field& field, const fields::Columns& x,
                                                          std::span<const double> errors, fitting::Score score,
                                                          fitting::Objective::Precision precision,
                                                          const fields::Outputs& outputs = {normal_family().get()}) {
    const std::size_t rows = errors.size();
    return fitting::make_objective(outputs, field, x, {rows, rows, rows}, errors, {}, {}, score, precision);
}

}  // namespace accrue::bench
