// Families of which u is piecewise linear in its normal score, after their normal scores have moved: closed forms.
#pragma once

#include <span>
#include <vector>

namespace accrue::families {

// u of the normal score v: a polygon through the knots, and straight beyond them.
struct Lines {
    Lines() = default;
    // Knots rise in both coordinates; there is at least one.
    Lines(std::vector<double> v, std::vector<double> u, double first_slope, double last_slope);

    std::vector<double> v, u;
    std::vector<double> slopes;  // du/dv before each knot, and after the last
    // At every knot: by how much the slope rises there, and its square.
    std::vector<double> rises, rises_of_squares;
};

struct LineMoments {
    double mean, sd;
};
// Of u where (v - shift)/scale is standard normal.
LineMoments line_moments(const Lines& lines, double shift, double scale);
// [CRPS] of an observation u that has the normal score v.
double line_crps(const Lines& lines, double shift, double scale, double v);

}  // namespace accrue::families
