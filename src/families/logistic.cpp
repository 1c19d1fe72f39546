// [LOGISTIC] cdf 1/(1 + exp(-u)).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "families/members.hpp"
#include "families/normal.hpp"

namespace accrue::families {

namespace {

class Logistic final : public Family {
public:
    std::string_view name() const override { return "logistic"; }
    std::string_view help() const override { return "a logistic distribution, with heavier tails than a Gaussian's"; }
    double pdf(double u, Further) const override { return survival(u, {}) * cdf(u, {}); }
    double log_pdf(double u, Further) const override { return -std::fabs(u) - 2 * std::log1p(std::exp(-std::fabs(u))); }
    double cdf(double u, Further) const override {
        const double small = std::exp(-std::fabs(u));
        return (u < 0 ? small : 1) / (1 + small);
    }
    double survival(double u, Further) const override { return cdf(-u, {}); }
    double quantile(double p, Further) const override { return std::log(p) - std::log1p(-p); }
    double crps(double u, Further) const override { return std::fabs(u) + 2 * std::log1p(std::exp(-std::fabs(u))) - 1; }
    double squares_below(double u, Further) const override {
        // log(1 + e^u) - cdf, of which both are e^u far below: there half its square and what follows.
        if (u < -6) {
            const double x = std::exp(u);
            double sum = 0;
            for (int n = 9; n >= 2; --n) sum = (n % 2 == 0 ? 1 : -1) * (1 - 1.0 / n) + x * sum;
            return x * x * sum;
        }
        return std::max(u, 0.0) + std::log1p(std::exp(-std::fabs(u))) - cdf(u, {});
    }
    double mean(Further) const override { return 0; }
    double sd(Further) const override { return std::numbers::pi / std::numbers::sqrt3; }
    bool symmetric() const override { return true; }
    double normal_score(double u, Further) const override {
        const double above = -std::fabs(u) - std::log1p(std::exp(-std::fabs(u)));
        return std::copysign(normal_score_above(above), u);
    }
    double normal_score_slope(double u, Further) const override {
        return cdf(std::fabs(u), {}) * mills_ratio(std::fabs(normal_score(u, {})));
    }
    double log_pdf_slope(double u, Further) const override { return -std::tanh(u / 2); }
};

}  // namespace

SharedFamily logistic() {
    return std::make_shared<Logistic>();
}

}  // namespace accrue::families
