// Forecasts whose probabilities are mapped to what observations showed: a family around another.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "accrue/family.hpp"

namespace accrue {

namespace families {
struct Lines;
}

// [RECAL] A forecast of another family says that w, the normal score of its u, is standard normal. A recalibrated one
// says that V(w) is, V being a rising map through the knots: the cdf of u is Phi(V(w(u))). Around the normal family u
// is w itself.
class Recalibrated final : public Family {
public:
    // What the knots are. `scores`: values of w and V(w), and V is linear between them; beyond the outermost knots the
    // tails are normal, of the scale that the map has at its ends (fitted() says how it is taken) and never lighter
    // than those of the forecast. `probabilities`: Phi(w) and Phi(V(w)), which are linear in one another
    // between the knots and (0, 0) and (1, 1); files of version 0.1 have these. They end where Phi rounds to 1.
    enum class Knots { scores, probabilities };

    // What probabilities the rows of a map have. `isotonic`: the middle of their step in the cdf, (k - 1/2)/n for the
    // k-th of n rows. [CONFORMAL] `conformal`: k/(n + 1), the probability with which one more row of the same kind lies
    // at or below the k-th. Central intervals of a conformal map end at rows, rounded outwards from their level: the
    // interval between rows i and k holds one more row with a probability of at least (k - i)/(n + 1), and of exactly
    // that where no two rows are equal. Where the level asks for more than lies between the outermost rows, 1 - 2/(n +
    // 1), the interval ends in the tails, and nothing is promised beyond that number. Quantiles lie between rows.
    enum class Kind { isotonic, conformal };

    // Both coordinates finite and strictly rising, probabilities strictly between 0 and 1; no knots change nothing.
    // Only scores go around a family with further parameters or bounds, and are conformal. Throws InputError.
    Recalibrated(Knots knots, std::vector<double> predicted, std::vector<double> actual,
                 SharedFamily inner = normal_family(), Kind kind = Kind::isotonic);

    // The map that makes the normal scores w of these rows normal: isotonic regression of their cdf on w, which is that
    // cdf itself since it rises, at the rows, or where there are more than kAllKnots at quantiles of
    // theirs: half a percent apart, and nearer to the ends a quarter of what lies beyond. Rows of one value that are
    // more than that have a knot at their middle and one a hair away on either side, at the ends 1/sqrt(n) of their
    // value for n rows of the median weight. The scale of a tail is that of the map between its outermost knot and the
    // one that has ten times as much beyond it. Weights may be empty. Rows beyond kFarthestRow count as lying there:
    // one gross outlier would otherwise give the forecast a mean and a standard deviation beside which the other rows
    // have no digits.
    // A conformal map has rows for knots in the same way; of more than kAllKnots those at half percents, rounded
    // outwards, and nearer to the ends each a quarter nearer than the last, so that central intervals of whole percents
    // lose nothing. Rows of one value have a knot on either side, a third of a rank out. It counts rows: it throws
    // InputError for weights.
    static constexpr std::size_t kAllKnots = 200;
    static constexpr double kFarthestRow = 1e9;
    static constexpr double kFarthest = 1e100;  // of a knot
    static std::shared_ptr<const Recalibrated> fitted(std::span<const double> scores,
                                                      std::span<const double> weights = {},
                                                      SharedFamily inner = normal_family(), Kind kind = Kind::isotonic);

    std::string_view name() const override { return inner_->name(); }
    std::string_view help() const override { return inner_->help(); }
    std::vector<Parameter> further() const override { return inner_->further(); }
    std::vector<Given> given() const override { return inner_->given(); }
    const Family& unbounded() const override { return inner_->unbounded(); }
    Limits limits() const override { return inner_->limits(); }
    double pdf(double u, Further further) const override;
    double cdf(double u, Further further) const override;
    double survival(double u, Further further) const override;
    double quantile(double probability, Further further) const override;
    // Sums of positive parts only, to a relative error of about 1e-13 around the normal family. Around one with further
    // parameters, and so mean and sd, by quadrature over normal scores to about 1e-9 of the standard deviation.
    double crps(double u, Further further) const override;
    double squares_below(double u, Further further) const override;
    double mean(Further further) const override { return panels_.empty() ? mean_ : moments(further).mean; }
    double sd(Further further) const override { return panels_.empty() ? sd_ : moments(further).sd; }
    bool has_density() const override { return false; }  // it has jumps at the knots
    bool recalibrated() const override { return true; }
    double normal_score(double u, Further further) const override;
    double of_normal_score(double score, Further further) const override;
    void of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const override;
    std::vector<double> jumps(Further further) const override;
    double unit(double z, Further further) const override;
    // u as a polygon over its normal score: of scores around the normal family; else null.
    const families::Lines* lines() const { return lines_.get(); }
    std::pair<double, double> interval(double level, Further further) const override;
    double log_pdf_slope(double u, Further further) const override;

    const SharedFamily& inner() const { return inner_; }
    Knots knots() const { return knots_; }
    Kind kind() const { return kind_; }
    const std::vector<double>& predicted() const { return predicted_; }
    const std::vector<double>& actual() const { return actual_; }

private:
    // Probabilities below and above a point. Both, so that neither loses its digits.
    struct Sides {
        double below, above;
    };
    enum class Side { below, above };

    void take_scores();
    void take_probabilities();
    void take_moments();
    // Piece k lies between knots k - 1 and k; the first and the last reach to infinity.
    std::size_t piece_of(double w) const;
    bool is_first(std::size_t piece) const { return piece == 0; }
    bool is_last(std::size_t piece) const { return piece == w_.size(); }
    double score(std::size_t piece, double w) const;
    double slope(std::size_t piece) const;
    Sides sides(std::size_t piece, double w) const;
    double rise(std::size_t piece) const;
    std::size_t piece_of_score(double v) const;
    double at_score(std::size_t piece, double v) const;
    double at_score(double v, Sides p) const;
    double square(Side side, std::size_t piece, double from, double to) const;
    double squares_below_score(double w) const;  // where there are no panels
    // u within the panels, and the normal score of the inner family there.
    struct Place {
        double u, score;
    };
    Place place_in_panels(double u, Further further) const;
    double stretch(double w) const;  // du/dw of an inner family whose rows are alike

    // For inner families whose rows differ: stretches of w in which V is linear and short, with the nodes of a rule.
    struct Panel {
        double from, to;
        std::size_t piece, first_node;
    };
    struct Node {
        double w, weight;
        Sides sides;
    };
    struct Moments {
        double mean, sd;
    };
    void take_panels();
    void add_nodes(const Panel& panel, double from, double to, std::vector<Node>& nodes) const;
    // Calls use(node, u, du/dw) for the nodes of all panels; those that hold a point of `splits` are divided there.
    template <typename Use>
    void for_nodes(Further further, std::vector<double> splits, Use&& use) const;
    Moments moments(Further further) const;

    SharedFamily inner_;
    Knots knots_;
    Kind kind_;
    std::vector<double> predicted_, actual_;
    std::vector<double> w_, v_;          // knots as scores; at least one
    std::vector<Sides> actual_sides_;    // probabilities: at the ends of the pieces
    double first_slope_ = 1;             // scores: of V beyond the first knot
    double last_slope_ = 1;              // and beyond the last
    std::vector<double> lower_, upper_;  // at every knot: integral of cdf^2 below it, of (1 - cdf)^2 above it
    double mean_ = 0;
    double sd_ = 1;
    std::vector<Panel> panels_;  // none where rows of the inner family are alike
    std::vector<Node> nodes_;
    std::vector<double> node_scores_;               // their w
    std::shared_ptr<const families::Lines> lines_;  // around the normal family
};

}  // namespace accrue
