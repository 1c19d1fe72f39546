#include "families/shape.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "families/normal.hpp"

namespace accrue::families {

const std::array<double, kShapeKnots>& shape_places() {
    static const std::array<double, kShapeKnots> all = [] {
        std::array<double, kShapeKnots> places{};
        for (std::size_t k = 0; k < kShapeKnots; ++k) {
            const double below = static_cast<double>(k + 1) / kShapeBins;
            places[k] = normal_score_of(below, 1 - below);
        }
        return places;
    }();
    return all;
}

double Shape::polygon(double score) const {
    const auto& places = shape_places();
    const auto piece = static_cast<std::size_t>(std::upper_bound(places.begin(), places.end(), score) - places.begin());
    if (piece == 0) return score + rises_[0];
    if (piece == kShapeKnots) return score + rises_[kShapeKnots - 1];
    const double share = (score - places[piece - 1]) / (places[piece] - places[piece - 1]);
    return score + rises_[piece - 1] + share * (rises_[piece] - rises_[piece - 1]);
}

double Shape::polygon_slope(double score) const {
    const auto& places = shape_places();
    const auto piece = static_cast<std::size_t>(std::upper_bound(places.begin(), places.end(), score) - places.begin());
    if (piece == 0 || piece == kShapeKnots) return 1;
    return (knot(piece) - knot(piece - 1)) / (places[piece] - places[piece - 1]);
}

std::size_t Shape::piece_of_shaped(double shaped) const {
    std::size_t piece = 0;
    while (piece < kShapeKnots && knot(piece) <= shaped) ++piece;
    return piece;
}

double Shape::inverse(double shaped) const {
    const std::size_t piece = piece_of_shaped(shaped);
    if (piece == 0) return shaped - rises_[0];
    if (piece == kShapeKnots) return shaped - rises_[kShapeKnots - 1];
    const auto& places = shape_places();
    const double share = (shaped - knot(piece - 1)) / (knot(piece) - knot(piece - 1));
    return places[piece - 1] + share * (places[piece] - places[piece - 1]);
}

double Shape::inverse_slope(double shaped) const {
    const std::size_t piece = piece_of_shaped(shaped);
    if (piece == 0 || piece == kShapeKnots) return 1;
    return (shape_places()[piece] - shape_places()[piece - 1]) / (knot(piece) - knot(piece - 1));
}

std::vector<double> Shape::knots() const {
    std::vector<double> values;
    for (std::size_t k = 0; k < rises_.size(); ++k) values.push_back(knot(k));
    return values;
}

Lines Shape::lines(double shift, double scale) const {
    std::vector<double> u;
    for (const double place : shape_places()) u.push_back(shift + scale * place);
    return {knots(), std::move(u), scale, scale};
}

std::vector<double> shape_of(std::span<const double> weights, double factor, double prior) {
    const double total = factor * std::accumulate(weights.begin(), weights.end(), 0.0) + prior;
    std::vector<double> rises;
    double below = 0;
    for (std::size_t k = 0; k < kShapeKnots; ++k) {
        below += factor * weights[k] + prior / kShapeBins;
        rises.push_back(normal_score_of(below / total, 1 - below / total) - shape_places()[k]);
    }
    return rises;
}

void count_score(double score, std::span<double> weights) {
    constexpr double kLast = kShapeBins - 1;
    const double place = std::clamp(normal_cdf(score) * kShapeBins - 0.5, 0.0, kLast);
    const double first = std::min(std::floor(place), kLast - 1);
    weights[static_cast<std::size_t>(first)] += first + 1 - place;
    weights[static_cast<std::size_t>(first) + 1] += place - first;
}

}  // namespace accrue::families
