// Forecasts of what has bounds, such as rain or power: a family around another.
#pragma once

#include <cstdint>

#include "accrue/family.hpp"

namespace accrue {

// [BOUNDED] Between a lower and an upper bound, or one of them. `censored`: the other family's probability beyond a
// bound sits on the bound, an atom; for observations that do so. `truncated`: the other family given that it lies
// between. Bounds are in the unit of y, so in units of u they are each row's own: calls take (lower - location)/scale
// and (upper - location)/scale, those that there are, after the further parameters (Family::given), and for `censored`
// a uniform number of the row: the PIT of an observation on an atom is anywhere in the jump of the cdf, and this says
// where.
class Bounded final : public Family {
public:
    enum class Kind { censored, truncated };

    // Throws InputError where there is no bound, where they are not in order, and where the inner family has bounds
    // already.
    Bounded(Kind kind, Limits limits, SharedFamily inner = normal_family());

    // Between 0 and 1, by the row's number and nothing else: the same whatever the order in which rows come.
    static double uniform_of_row(std::uint64_t row, std::uint64_t seed = 0);

    std::string_view name() const override { return inner_->name(); }
    std::string_view help() const override { return inner_->help(); }
    std::vector<Parameter> further() const override { return inner_->further(); }
    std::vector<Given> given() const override;

    // At and beyond an atom the logarithm of its probability, as in a Tobit model.
    double log_pdf(double u, Further further) const override;
    double pdf(double u, Further further) const override;
    double cdf(double u, Further further) const override;
    double survival(double u, Further further) const override;
    double quantile(double probability, Further further) const override;
    // Censored: the inner crps less its squares beyond the bounds, a closed form where those are. Truncated: by
    // quadrature over normal scores, to 1e-11 of the scale. An observation beyond a bound is as far from it as it is.
    double crps(double u, Further further) const override;
    double mean(Further further) const override;
    double sd(Further further) const override;
    bool has_density() const override { return kind_ == Kind::truncated; }
    double normal_score(double u, Further further) const override;
    double of_normal_score(double z, Further further) const override;
    void of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const override;
    double upper_normal_score(double u, Further further) const override;
    std::vector<double> jumps(Further further) const override;
    double normal_score_slope(double u, Further further) const override;
    double log_pdf_slope(double u, Further further) const override;
    void further_slopes(double u, Further further, const FurtherSlopes& slopes) const override;
    // Where there is no closed form, to 1e-6 of the scale.
    void crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision precision) const override;
    void normal_score_rows(const Rows& rows, double* values, const RowSlopes* slopes) const override;

    const Family& unbounded() const override { return *inner_; }

    Limits limits() const override { return limits_; }
    bool power_tails() const override { return inner_->power_tails(); }
    Kind kind() const { return kind_; }
    const SharedFamily& inner() const { return inner_; }

private:
    class Row;
    class Beyond;
    void censored_crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision precision) const;
    void row_slopes(const Row& row, double u, const FurtherSlopes& slopes) const;

    Kind kind_;
    Limits limits_;
    SharedFamily inner_;
    std::size_t inner_further_;  // parameters
};

}  // namespace accrue
