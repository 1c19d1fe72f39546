// The distribution of z = (y - mean)/sigma where it is not normal: a recalibrated Gaussian.
#pragma once

#include <span>
#include <vector>

namespace accrue {

// [RECAL] H(z) = R(Phi(z)): R, the map from predicted to actual probability, is piecewise linear through (0, 0), the
// knots and (1, 1). A forecast of that shape has the cdf H((y - mean)/sigma), and is Gaussian where R is the identity.
class Shape {
public:
    // Knots strictly between 0 and 1, both coordinates strictly rising; none make a Gaussian. Throws InputError.
    Shape() : Shape({}, {}) {}
    Shape(std::vector<double> predicted, std::vector<double> actual);

    // The map that makes these PITs uniform: isotonic regression of their cdf on them, which is that cdf itself since
    // it rises, at the PITs or at kMostKnots of their quantiles where there are more. Weights may be empty.
    static constexpr std::size_t kMostKnots = 200;
    static Shape of_pits(std::span<const double> pits, std::span<const double> weights = {});

    double pdf(double z) const;
    double cdf(double z) const;
    double quantile(double probability) const;  // throws InputError unless 0 < probability < 1
    // Integral over u of (H(u) - [u >= z])^2, in closed form; times sigma it is the crps of an observation.
    double crps(double z) const;
    // The z of a Gaussian forecast that has the same PIT.
    double normal_score(double z) const;

    const std::vector<double>& predicted() const { return predicted_; }
    const std::vector<double>& actual() const { return actual_; }

private:
    // H = offset + slope*Phi in every piece between knots; 1 - H = complement + slope*(1 - Phi).
    struct Piece {
        double begin;  // in z
        double offset, slope, complement;
        double below;  // integral of H^2 up to begin
        double above;  // integral of (1 - H)^2 from the piece's end on
    };
    const Piece& piece_at(double z) const;

    std::vector<double> predicted_, actual_;
    std::vector<Piece> pieces_;
};

}  // namespace accrue
