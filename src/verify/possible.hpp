// Figures that cannot be are not shown.
#pragma once

#include "accrue/error.hpp"
#include "accrue/verify.hpp"

namespace accrue::verification {

// Throws DefectError for a figure outside its bounds: a negative CRPS, a skill above 100%, a share or a p-value outside
// 0 to 1, a negative spread or width; of the values of a column too. Figures may be undefined (NaN) or infinite: errors
// that are too large for a double make them so.
void require_possible(const Verification& verification);

}  // namespace accrue::verification
