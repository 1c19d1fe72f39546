// A rising polygon from normal scores to normal scores, with knots at fixed places: [SHAPE] in docs/notation.md.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "families/lines.hpp"

namespace accrue::families {

inline constexpr std::size_t kShapeBins = 16;
inline constexpr std::size_t kShapeKnots = kShapeBins - 1;

// Where the knots are: Phi^-1(k/16).
const std::array<double, kShapeKnots>& shape_places();

// What is added to the score at each knot. Between knots the polygon is straight, beyond the outermost it rises as the
// score does, so that tails are those of the forecast. No rises at all: nothing changes.
class Shape {
public:
    // As many as there are knots, or none; place + rise must rise strictly.
    explicit Shape(std::span<const double> rises) : rises_(rises) {}

    bool empty() const { return rises_.empty(); }
    double of(double score) const { return empty() ? score : polygon(score); }
    double slope(double score) const { return empty() ? 1 : polygon_slope(score); }  // of that
    double score_of(double shaped) const { return empty() ? shaped : inverse(shaped); }
    double score_slope(double shaped) const { return empty() ? 1 : inverse_slope(shaped); }  // of that
    double knot(std::size_t k) const { return shape_places()[k] + rises_[k]; }
    std::vector<double> knots() const;  // values at the places
    // u = shift + scale*score as a function of the shaped score.
    Lines lines(double shift, double scale) const;

private:
    double polygon(double score) const;
    double polygon_slope(double score) const;
    double inverse(double shaped) const;
    double inverse_slope(double shaped) const;
    std::size_t piece_of_shaped(double shaped) const;

    std::span<const double> rises_;
};

// The rises that make these weights, of bins that are equally probable, normal: of a score within bin k for k = 0 to
// 15, `prior` more of weight being spread over all bins evenly.
std::vector<double> shape_of(std::span<const double> weights, double factor, double prior);
// How a row with this score counts: all of it in the bin in the middle of which its probability lies, or divided
// between two.
void count_score(double score, std::span<double> weights);

}  // namespace accrue::families
