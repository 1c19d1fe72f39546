#include "accrue/shape.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "scores/checks.hpp"

namespace accrue {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFarOut = 37;
constexpr double kOneOverRootPi = std::numbers::inv_sqrtpi;

double normal_cdf(double z) {
    return std::erfc(-z / std::numbers::sqrt2) / 2;
}
double normal_pdf(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}
double normal_quantile(double p) {
    return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p);
}

// Integrals of Phi and of Phi^2 from -infinity to z; by symmetry those of 1 - Phi and its square from -z on.
double integral_of_cdf(double z) {
    return z == -kInfinity ? 0 : z * normal_cdf(z) + normal_pdf(z);
}
double integral_of_squared_cdf(double z) {
    if (z == -kInfinity) return 0;
    const double p = normal_cdf(z);
    return z * p * p + 2 * normal_pdf(z) * p - kOneOverRootPi * normal_cdf(std::numbers::sqrt2 * z);
}

// Integral of (offset + slope*Phi)^2 over [from, to]. Where `from` is -infinity the offset is 0.
double integral_of_square(double offset, double slope, double from, double to) {
    double sum = slope * slope * (integral_of_squared_cdf(to) - integral_of_squared_cdf(from));
    if (offset != 0)
        sum += offset * offset * (to - from) + 2 * offset * slope * (integral_of_cdf(to) - integral_of_cdf(from));
    return sum;
}

}  // namespace

Shape::Shape(std::vector<double> predicted, std::vector<double> actual)
    : predicted_(std::move(predicted)), actual_(std::move(actual)) {
    core::require(predicted_.size() == actual_.size(), "a map of {} predicted probabilities has {} actual ones",
                  predicted_.size(), actual_.size());
    std::vector<double> p = {0};
    std::vector<double> r = {0};
    p.insert(p.end(), predicted_.begin(), predicted_.end());
    r.insert(r.end(), actual_.begin(), actual_.end());
    p.push_back(1);
    r.push_back(1);
    for (std::size_t i = 0; i + 1 < p.size(); ++i)
        core::require(
            p[i] < p[i + 1] && r[i] < r[i + 1],
            "probabilities of a recalibration must rise strictly from 0 to 1, but {} is followed by {} and {} "
            "by {}",
            p[i], p[i + 1], r[i], r[i + 1]);
    for (std::size_t i = 0; i + 1 < p.size(); ++i) {
        const double slope = (r[i + 1] - r[i]) / (p[i + 1] - p[i]);
        // Exactly 0 where the piece reaches to infinity, or the integrals there would diverge.
        const double offset = i == 0 ? 0 : r[i] - slope * p[i];
        const double complement = i + 2 == p.size() ? 0 : 1 - r[i + 1] - slope * (1 - p[i + 1]);
        pieces_.push_back({i == 0 ? -kInfinity : normal_quantile(p[i]), offset, slope, complement, 0, 0});
    }
    for (std::size_t i = 0; i + 1 < pieces_.size(); ++i)
        pieces_[i + 1].below = pieces_[i].below + integral_of_square(pieces_[i].offset, pieces_[i].slope,
                                                                     pieces_[i].begin, pieces_[i + 1].begin);
    for (std::size_t i = pieces_.size() - 1; i > 0; --i) {
        const double end = i + 1 < pieces_.size() ? pieces_[i + 1].begin : kInfinity;
        pieces_[i - 1].above =
            pieces_[i].above + integral_of_square(pieces_[i].complement, pieces_[i].slope, -end, -pieces_[i].begin);
    }
}

Shape Shape::of_pits(std::span<const double> pits, std::span<const double> weights) {
    scores::require_rows(pits.size());
    scores::require_optional_length(weights, pits.size(), "weight");
    std::vector<std::size_t> order(pits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return pits[a] < pits[b]; });
    const auto weight = [&](std::size_t i) { return weights.empty() ? 1 : weights[i]; };
    double total = 0;
    for (const std::size_t i : order) total += weight(i);

    // A PIT and the middle of its step of the cdf. Of many, those at evenly spaced steps.
    std::vector<double> predicted;
    std::vector<double> actual;
    const double spacing = pits.size() <= kMostKnots ? 0 : 1 / static_cast<double>(kMostKnots);
    double before = 0;
    double next = spacing / 2;
    for (std::size_t at = 0; at < order.size();) {
        const double pit = pits[order[at]];
        double own = 0;
        for (; at < order.size() && pits[order[at]] == pit; ++at) own += weight(order[at]) / total;
        const double middle = before + own / 2;
        before += own;
        if (pit <= 0 || pit >= 1 || middle <= 0 || middle >= 1 || middle < next) continue;
        if (!actual.empty() && middle <= actual.back()) continue;
        predicted.push_back(pit);
        actual.push_back(middle);
        while (spacing > 0 && next <= middle) next += spacing;
    }
    return {std::move(predicted), std::move(actual)};
}

const Shape::Piece& Shape::piece_at(double z) const {
    const auto after = std::upper_bound(pieces_.begin() + 1, pieces_.end(), z,
                                        [](double value, const Piece& piece) { return value < piece.begin; });
    return *(after - 1);
}

double Shape::pdf(double z) const {
    return piece_at(z).slope * normal_pdf(z);
}

double Shape::cdf(double z) const {
    const Piece& piece = piece_at(z);
    // From the nearer end, so that small probabilities keep their digits.
    if (z < 0) return piece.offset + piece.slope * normal_cdf(z);
    return 1 - (piece.complement + piece.slope * normal_cdf(-z));
}

double Shape::quantile(double probability) const {
    core::require(probability > 0 && probability < 1, "a probability must be between 0 and 1; it is {}", probability);
    const auto after = std::upper_bound(actual_.begin(), actual_.end(), probability);
    const Piece& piece = pieces_[static_cast<std::size_t>(after - actual_.begin())];
    const double p = (probability - piece.offset) / piece.slope;
    if (p < 0.5) return normal_quantile(p);
    return -normal_quantile((1 - probability - piece.complement) / piece.slope);
}

double Shape::crps(double z) const {
    if (std::isinf(z)) return kInfinity;
    const Piece& piece = piece_at(z);
    const bool last = &piece == &pieces_.back();
    const double end = last ? kInfinity : (&piece + 1)->begin;
    return piece.below + integral_of_square(piece.offset, piece.slope, piece.begin, z) + piece.above +
           integral_of_square(piece.complement, piece.slope, -end, -z);
}

double Shape::normal_score(double z) const {
    const Piece& piece = piece_at(z);
    const bool outermost = &piece == (z < 0 ? &pieces_.front() : &pieces_.back());
    if (outermost && std::abs(z) > kFarOut) {
        // Phi loses its digits and then underflows, but -log Phi(-z) is z^2/2 + log z and a constant.
        if (std::isinf(z)) return z;
        const double squared = z * z - 2 * std::log(piece.slope);
        return std::copysign(std::sqrt(squared + std::log(z * z / squared)), z);
    }
    if (z < 0) return normal_quantile(piece.offset + piece.slope * normal_cdf(z));
    return -normal_quantile(piece.complement + piece.slope * normal_cdf(-z));
}

}  // namespace accrue
