// Stretches of normal scores in which what depends on them is smooth enough for a rule of Gauss and Legendre.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "accrue/family.hpp"

namespace accrue::families {

// The longest that the rule with the most nodes can do.
inline constexpr double kLongestPanel = 2;

// Calls use(from, to, length) for panels of the normal scores of a family, which together are what lies between the
// first and the last edge, in rising order; none has an edge inside. Each is at most kLongestPanel long: in the unit in
// which u is smooth (Family::unit), and in scores times `steepness`.
template <typename Use>
void for_panels(const Family& family, Family::Further further, std::span<const double> edges, double steepness,
                Use&& use) {
    const auto divide = [&](auto&& self, double a, double b, double unit_a, double unit_b) -> void {
        const double along = steepness * (b - a);
        const double own = unit_b - unit_a;
        if (!(std::max(along, own) > kLongestPanel)) {
            use(a, b, std::max(along, own));
            return;
        }
        const double parts = std::max(2.0, std::ceil(along / kLongestPanel));
        double begin = a;
        double unit_begin = unit_a;
        for (double k = 1; k <= parts; ++k) {
            const double end = k == parts ? b : a + (b - a) * (k / parts);
            const double unit_end = k == parts ? unit_b : family.unit(end, further);
            self(self, begin, end, unit_begin, unit_end);
            begin = end;
            unit_begin = unit_end;
        }
    };
    double unit = family.unit(edges[0], further);
    for (std::size_t k = 1; k < edges.size(); ++k) {
        if (!(edges[k - 1] < edges[k])) continue;
        const double next = family.unit(edges[k], further);
        divide(divide, edges[k - 1], edges[k], unit, next);
        unit = next;
    }
}

}  // namespace accrue::families
