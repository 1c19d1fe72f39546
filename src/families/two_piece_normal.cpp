// [TWO-PIECE] Two halves of normal densities that meet at u = 0, of the scales exp(-k/2) below and exp(k/2) above; k is
// the further parameter.
#include <cmath>
#include <numbers>

#include "families/members.hpp"
#include "families/normal.hpp"

namespace accrue::families {

namespace {

const double kPeak = normal_pdf(0);
// Integrals up to v of Phi, and up to 0 of its square.
double integral_of_cdf(double v) {
    return v * normal_cdf(v) + normal_pdf(v);
}
constexpr double kSquareBelowZero = std::numbers::inv_sqrtpi * (1 / std::numbers::sqrt2 - 0.5);

// Seen from the side on which u lies, at distance x in units of the scale there; the other side is the mirror image of
// one with -k. Probabilities are twice the normal tails, times the side's share of both scales.
struct Side {
    double scale, other;  // of the halves
    double share;         // probability of this half
    double x;

    Side(double u, double k)
        : scale(std::exp((u < 0 ? -k : k) / 2)),
          other(1 / scale),
          share(scale / (scale + other)),
          x(std::fabs(u) / scale) {}

    double beyond() const { return 2 * share * normal_cdf(-x); }
    double log_beyond() const { return std::log(2 * share) + log_normal_cdf(-x); }
    // The normal score, as a distance from the median towards this side. Far out by logarithms.
    double score() const {
        constexpr double kFarthest = 1e9;  // where the share no longer tells
        const double p = beyond();
        if (x > kFarthest) return x;
        return p > 1e-290 ? normal_score_of(1 - p, p) : normal_score_above(log_beyond());
    }
    double mean_square() const {  // integral of the squared probabilities beyond the meeting point, both sides
        return 4 * kSquareBelowZero * (share * share * scale + (1 - share) * (1 - share) * other);
    }
    double crps() const { return scale * (x + 4 * share * (integral_of_cdf(-x) - kPeak)) + mean_square(); }
    // Slope of score over that of log(beyond). Where the score is negative, more than half lies beyond.
    double score_ratio() const {
        const double z = score();
        return z >= 0 ? mills_ratio(z) : beyond() / normal_pdf(z);
    }
    // By the log of the ratio of the scales, this one over the other: the scale rises by half of itself.
    double score_slope() const {
        const double ratio = score_ratio();
        return -ratio * (1 - share) - ratio / mills_ratio(x) * (x / 2);
    }
    double crps_slope() const {
        const double change = share * (1 - share);
        const double of_square = 4 * kSquareBelowZero *
                                 (2 * change * (share * scale - (1 - share) * other) +
                                  (share * share * scale - (1 - share) * (1 - share) * other) / 2);
        // x*scale is |u| and stays; d integral_of_cdf(-x) = Phi(-x)*x/2.
        return 4 * scale * ((change + share / 2) * (integral_of_cdf(-x) - kPeak) + share * normal_cdf(-x) * x / 2) +
               of_square;
    }
    double log_pdf_slope() const { return (x * x - (2 * share - 1)) / 2; }
};

class TwoPieceNormal final : public Family {
public:
    std::string_view name() const override { return "two-piece-normal"; }
    std::string_view help() const override { return "a Gaussian with another scale on either side, which is learned"; }
    std::vector<Parameter> further() const override { return {{"log-ratio", -3, 3, 0}}; }
    // The scale changes at the location.
    std::vector<double> jumps(Further f) const override { return {normal_score(0, f)}; }
    double pdf(double u, Further f) const override { return std::exp(log_pdf(u, f)); }
    double log_pdf(double u, Further f) const override {
        const Side side(u, f[0]);
        return std::log(2 * kPeak / (side.scale + side.other)) - side.x * side.x / 2;
    }
    double cdf(double u, Further f) const override {
        const double beyond = Side(u, f[0]).beyond();
        return u < 0 ? beyond : 1 - beyond;
    }
    double survival(double u, Further f) const override {
        const double beyond = Side(u, f[0]).beyond();
        return u < 0 ? 1 - beyond : beyond;
    }
    double quantile(double p, Further f) const override {
        const double below = Side(-1, f[0]).share;
        const Side side(p < below ? -1 : 1, f[0]);
        // Outwards from where the halves meet.
        const double x =
            p < below ? normal_quantile(p / (2 * side.share)) : -normal_quantile((1 - p) / (2 * side.share));
        return side.scale * x;
    }
    double crps(double u, Further f) const override { return Side(u, f[0]).crps(); }
    double mean(Further f) const override { return 2 * kPeak * 2 * std::sinh(f[0] / 2); }
    double sd(Further f) const override {
        const double difference = 2 * std::sinh(f[0] / 2);
        return std::sqrt(1 + (1 - 2 / std::numbers::pi) * difference * difference);
    }
    double normal_score(double u, Further f) const override {
        const double score = Side(u, f[0]).score();
        return u < 0 ? -score : score;
    }
    double of_normal_score(double z, Further f) const override {
        const double below = normal_cdf(z);
        const bool lower = below < Side(-1, f[0]).share;
        const Side side(lower ? -1 : 1, f[0]);
        const double log_beyond = log_normal_cdf(lower ? z : -z) - std::log(2 * side.share);
        return side.scale * (lower ? -1 : 1) * normal_score_above(log_beyond);
    }
    double normal_score_slope(double u, Further f) const override {
        const Side side(u, f[0]);
        return side.score_ratio() / mills_ratio(side.x) / side.scale;
    }
    double log_pdf_slope(double u, Further f) const override {
        const Side side(u, f[0]);
        return (u < 0 ? side.x : -side.x) / side.scale;
    }
    // What Side gives is outwards and by the ratio of its own scale; below 0 both have the other sign.
    void further_slopes(double u, Further f, const FurtherSlopes& slopes) const override {
        const Side side(u, f[0]);
        const double sign = u < 0 ? -1 : 1;
        if (!slopes.normal_score.empty()) slopes.normal_score[0] = side.score_slope();
        if (!slopes.crps.empty()) slopes.crps[0] = sign * side.crps_slope();
        if (!slopes.log_pdf.empty()) slopes.log_pdf[0] = sign * side.log_pdf_slope();
    }
};

}  // namespace

SharedFamily two_piece_normal() {
    return std::make_shared<TwoPieceNormal>();
}

}  // namespace accrue::families
