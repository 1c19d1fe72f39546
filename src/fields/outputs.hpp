// What a field gives of every row's distribution.
#pragma once

#include "accrue/family.hpp"
#include "fields/average.hpp"

namespace accrue::fields {

// Output by output: the log of the scale, the family's further parameters, and the location where it is learned, in
// units of the errors' scale. Each is kept within its bounds.
struct Outputs {
    const Family* family;
    bool location = false;

    std::size_t further() const { return family->further().size(); }
    std::size_t count() const { return 1 + further() + (location ? 1 : 0); }
    std::vector<Bounds> bounds() const;
    // What training begins with; `log_spread` is that of the errors.
    std::vector<double> levels(double log_spread) const;
};

}  // namespace accrue::fields
