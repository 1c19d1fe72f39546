// What other balances between accuracy and reliability would have given.
#pragma once

#include <functional>

#include "accrue/fit.hpp"

namespace accrue::fitting {

// Throws InputError where the front that these options ask for makes no sense.
void check_balance_front(const FitOptions& options);

// Fits the archive again with every balance of `options.balance_front`, and with the family, the location and the form
// that `result` has taken, and adds what that gave to it and to its model: scores of held-out rows, before
// recalibration, and how well they are known. `fitted` is a fit with other options.
void add_balance_front(FitResult& result, const Archive& archive, const FitOptions& options,
                       const std::function<FitResult(const FitOptions&)>& fitted);

}  // namespace accrue::fitting
