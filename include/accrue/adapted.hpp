// Forecasts that have moved with what was observed since they were fitted: a family around another.
#pragma once

#include "accrue/recalibrated.hpp"

namespace accrue {

// [ADAPT] A forecast of another family says that w, the normal score of its u, is standard normal. An adapted one says
// that (w - shift)/scale is: the cdf of u is Phi((w(u) - shift)/scale), and the quantile at p is the other's at
// Phi(shift + scale*Phi^-1(p)). Shift and scale are each row's own: calls take them, in this order, after the values of
// the inner family (Family::given). A shift of 0 and a scale of 1 change nothing.
// [SHAPE] Where it is shaped, H((w - shift)/scale) is standard normal, H being a rising polygon through knots at
// Phi^-1(k/16): what it adds at each of these kShapeValues follows the scale, and zeros change nothing.
class Adapted final : public Family {
public:
    explicit Adapted(SharedFamily inner, bool shaped = false);
    static constexpr std::size_t kShapeValues = 15;

    std::string_view name() const override { return inner_->name(); }
    std::string_view help() const override { return inner_->help(); }
    std::vector<Parameter> further() const override { return inner_->further(); }
    std::vector<Given> given() const override;
    const Family& unbounded() const override { return inner_->unbounded(); }
    Limits limits() const override { return inner_->limits(); }
    double pdf(double u, Further further) const override;
    double log_pdf(double u, Further further) const override;
    double cdf(double u, Further further) const override;
    double survival(double u, Further further) const override;
    double quantile(double probability, Further further) const override;
    // Closed forms around the normal family. Around others, and so mean and sd, by quadrature over normal scores
    // between -kFarthest and kFarthest, to about 1e-9 of the standard deviation. Of a Student t whose scale has grown
    // moments may not exist: they are those of the forecast between these scores.
    static constexpr double kFarthest = 8;
    double crps(double u, Further further) const override;
    double mean(Further further) const override;
    double sd(Further further) const override;
    struct Moments {
        double mean, sd;
    };
    Moments moments(Further further) const;  // both, which take no longer than one
    bool has_density() const override { return !shaped_ && inner_->has_density(); }  // it has jumps at knots
    bool recalibrated() const override { return inner_->recalibrated(); }
    double normal_score(double u, Further further) const override;
    double of_normal_score(double score, Further further) const override;
    void of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const override;
    double upper_normal_score(double u, Further further) const override;
    std::vector<double> jumps(Further further) const override;
    double unit(double z, Further further) const override;
    double normal_score_slope(double u, Further further) const override;
    double log_pdf_slope(double u, Further further) const override;
    std::pair<double, double> interval(double level, Further further) const override;

    const SharedFamily& inner() const { return inner_; }
    bool shaped() const { return shaped_; }

private:
    struct Row;
    struct Nodes;
    Nodes& nodes(const Row& row, std::vector<double> splits) const;
    Moments moments(const Row& row) const;
    struct Even;
    Even even(const Row& row) const;
    double beyond(const Row& row, double z) const;

    families::Lines lines(const Row& row) const;  // u over the shaped score, where it is a polygon

    SharedFamily inner_;
    bool shaped_;
    const families::Lines* lines_ = nullptr;  // of a recalibrated normal family, which have closed forms too
};

}  // namespace accrue
