// [LOGISTIC] cdf 1/(1 + exp(-u)).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

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
    // From logarithms, which do not underflow.
    double of_normal_score(double z, Further) const override {
        const double above = log_normal_cdf(-std::fabs(z));
        return std::copysign(std::log1p(-std::exp(above)) - above, z);
    }
    // By a cubic between places kPerUnit to the unit, right to 1e-10: many scores come from quadratures.
    void of_normal_scores(std::span<const double> z, Further, double* u, double* slopes) const override {
        static const std::vector<Cubic> cubics = [this] {
            std::vector<Cubic> made;
            double value = 0;
            double slope = 0;
            for (double k = 0; k <= kEnd * kPerUnit + 1; ++k) {
                const double next = of_normal_score(k / kPerUnit, {});
                const double next_slope = 1 / normal_score_slope(next, {}) / kPerUnit;
                const double rise = next - value;
                if (k > 0)
                    made.push_back({value, slope, 3 * rise - 2 * slope - next_slope, slope + next_slope - 2 * rise});
                value = next;
                slope = next_slope;
            }
            return made;
        }();
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double at = std::fabs(z[i]) * kPerUnit;
            if (!(at < kEnd * kPerUnit)) {
                Family::of_normal_scores(z.subspan(i, 1), {}, u + i, slopes + i);
                continue;
            }
            const auto k = static_cast<std::size_t>(at);
            const double t = at - static_cast<double>(k);
            const Cubic& own = cubics[k];
            u[i] = std::copysign(own.value + t * (own.slope + t * (own.second + t * own.third)), z[i]);
            slopes[i] = kPerUnit * (own.slope + t * (2 * own.second + t * 3 * own.third));
        }
    }
    double normal_score_slope(double u, Further) const override {
        return cdf(std::fabs(u), {}) * mills_ratio(std::fabs(normal_score(u, {})));
    }
    double log_pdf_slope(double u, Further) const override { return -std::tanh(u / 2); }

private:
    static constexpr double kPerUnit = 64;
    // From one place to the next.
    struct Cubic {
        double value, slope, second, third;
    };
};

}  // namespace

SharedFamily logistic() {
    return std::make_shared<Logistic>();
}

}  // namespace accrue::families
