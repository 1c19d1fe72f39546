// Known noise of the observations, taken out of the learned spread.
#pragma once

#include <functional>

#include "fit/work.hpp"

namespace accrue::fitting {

// Where y is the quantity plus noise of standard deviation s, errors about the correction b have the variance
// sigma(x)^2 + s^2. The fit is repeated on errors b + (e - b)*r with r^2 = sigma^2/(sigma^2 + s^2), whose variance is
// sigma(x)^2 where sigma is right, and whose z-values are those of e within the whole spread: r comes from the held-out
// sigmas of the round before, and at first from the whole spread less s^2. What log sigma^2 is off by shrinks by
// q = s^2/(sigma^2 + s^2) in a round, so that the step to the last one is longer by 1/(1 - mean q). Figures are those
// of the last round: of errors without the noise. Throws InputError for options other than a normal distribution around
// a given prediction, and where the noise exceeds the errors.
// `fitted` is a fit without such noise.
FitResult fit_without_noise(const Archive& archive, const FitOptions& options, const Work& work,
                            const std::function<FitResult(const Archive&, const FitOptions&, const Work&)>& fitted);

}  // namespace accrue::fitting
