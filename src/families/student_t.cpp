// [STUDENT-T] with nu degrees of freedom, of which the further parameter is the logarithm.
#include <array>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "families/members.hpp"
#include "families/normal.hpp"
#include "families/rows.hpp"

namespace accrue::families {

namespace {

// Double is enough: long double is ten times slower.
using Double = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

double digamma(double x) {
    return boost::math::digamma(x, Double());
}

double log_beta(double a, double b) {
    const auto log_gamma = [](double x) {
        return boost::math::lgamma(x, Double());
    };  // the C library's writes a global
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

double log_cosh(double x) {
    return std::fabs(x) + std::log1p(std::exp(-2 * std::fabs(x))) - std::log(2.0);
}

// At u >= 0; all else follows by symmetry.
class Upper {
public:
    Upper(double u, double log_nu)
        : u_(u), nu_(std::exp(log_nu)), w_(std::asinh(u / std::sqrt(nu_))), log_normaliser_(-log_beta(0.5, nu_ / 2)) {}

    // The u with this normal score, at least 0, by Newton's method on the logarithm of the probability beyond it, which
    // is nearly a line in w where it matters. Begins with the approximation of Wallace (1959).
    static double beyond(double z, double log_nu) {
        if (!(z < kFarthest)) return z;
        const double nu = std::exp(log_nu);
        const double log_above = log_normal_cdf(-z);
        const double a = std::pow((8 * nu + 3) / (8 * nu + 1) * z, 2) / nu;
        constexpr double kLarge = 40;  // beyond it asinh(sqrt(exp(a) - 1)) is that to the last digit
        double w = a > kLarge ? a / 2 + std::log(2.0) : std::asinh(std::sqrt(std::expm1(a)));
        for (int step = 0; step < 20; ++step) {
            const double u = std::sqrt(nu) * std::sinh(w);
            if (std::isinf(u)) return u;
            const Upper own(u, log_nu);
            const double change = (own.log_survival() - log_above) *
                                  std::exp(own.log_survival() - own.log_normaliser_ + nu * log_cosh(own.w_));
            w = std::max(0.0, w + change);
            if (!(std::fabs(change) > kNearly * w)) break;
        }
        return std::sqrt(nu) * std::sinh(w);
    }

    // With u = sqrt(nu)*sinh(w): 1 + u^2/nu is cosh(w)^2, which does not overflow as a logarithm.
    double log_pdf() const { return log_normaliser_ - std::log(nu_) / 2 - (nu_ + 1) * log_cosh(w_); }
    double log_survival() const {
        if (std::isnan(tail_.log)) tail_ = tail(false);
        return tail_.log;
    }
    double survival() const { return std::exp(log_survival()); }
    double normal_score() const { return normal_score_above(log_survival()); }
    double normal_score_slope() const {
        const double above = log_survival();
        return std::exp(log_pdf() - above) * mills_ratio(normal_score_above(above));
    }
    // (nu + u^2)*pdf
    double spread() const { return std::exp(log_normaliser_ + std::log(nu_) / 2 - (nu_ - 1) * log_cosh(w_)); }
    double crps() const { return u_ * (1 - 2 * survival()) + 2 * spread() / (nu_ - 1) - gini(); }

    // By nu.
    double log_pdf_by_nu() const { return by_nu_of_all() + weighed_by_nu(log_cosh(w_)); }
    // Beside log_survival(), for which it is best asked first.
    double log_survival_by_nu() const {
        if (std::isnan(tail_.log_by_nu)) tail_ = tail(true);
        return tail_.log_by_nu;
    }
    double crps_by_nu() const {
        const double own = spread();
        const double by_cdf = -survival() * log_survival_by_nu();
        const double t = std::tanh(w_);
        // spread has the slope of the density, and 1/(nu + u^2) = (1 - t^2)/nu of its factor.
        const double by_spread = own * (log_pdf_by_nu() + (1 - t * t) / nu_ - 1 / (nu_ - 1)) / (nu_ - 1);
        const double by_gini = gini() * (1 / (2 * nu_) - 1 / (nu_ - 1) + digamma(nu_ - 0.5) - digamma(nu_) -
                                         digamma(nu_ / 2) + digamma((nu_ + 1) / 2));
        return (by_cdf == 0 ? 0 : 2 * u_ * by_cdf) + 2 * by_spread - by_gini;
    }

private:
    // The probability beyond u, in logarithms.
    struct Tail {
        double log;
        double log_by_nu;
    };
    static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    static constexpr double kNear = 1.5;
    static constexpr double kNearly = 1e-9;     // after a step so small all digits are right
    static constexpr double kFarthest = 1e150;  // no square beyond it

    Tail tail(bool slopes) const { return w_ * std::sqrt(nu_) < kNear ? near(slopes) : far(slopes); }
    // The density in w is proportional to cosh(w)^-nu. Near the median as an integral from there: it does not move.
    Tail near(bool slopes_too) const {
        double below = 0;
        double slopes = 0;
        gauss_places<15>(0.0, w_, [&](double w, double weight) {
            const double log_density = log_cosh(w);
            const double density = weight * std::exp(-nu_ * log_density);
            below += density;
            if (slopes_too) slopes += density * weighed_by_nu(log_density);
        });
        const double normaliser = std::exp(log_normaliser_);
        const double above = 0.5 - normaliser * below;
        return {std::log(above), slopes_too ? -normaliser * (slopes + by_nu_of_all() * below) / above : kUnknown};
    }
    // Further out from here on, in units of the density's decay, of which 40 are all. Differences from here, so that
    // what is large cancels.
    Tail far(bool slopes_too) const {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (w_ == kInfinity) return {-kInfinity, -kInfinity};
        const double unit = 1 / (nu_ * std::tanh(w_));
        const double here = log_cosh(w_);
        const double at_here = weighed_by_nu(here);
        double all = 0;
        double slopes = 0;
        double from = 0;
        for (const double to : {3.0, 9.0, 18.0, 40.0}) {
            gauss_places<15>(from, to, [&](double v, double weight) {
                const double log_density = log_cosh(w_ + v * unit);
                const double density = weight * std::exp(-nu_ * (log_density - here));
                all += density;
                if (slopes_too) slopes += density * (weighed_by_nu(log_density) - at_here);
            });
            from = to;
        }
        return {log_normaliser_ - nu_ * here + std::log(all * unit),
                slopes_too ? log_pdf_by_nu() + slopes / all : kUnknown};
    }

    // The slope of the density's logarithm by nu at a fixed u: what is the same everywhere, and the rest where
    // log(cosh(w)) is so much.
    double by_nu_of_all() const {
        if (std::isnan(by_nu_of_all_)) by_nu_of_all_ = -1 / (2 * nu_) - (digamma(nu_ / 2) - digamma((nu_ + 1) / 2)) / 2;
        return by_nu_of_all_;
    }
    double weighed_by_nu(double log_cosh_of_w) const {
        return -log_cosh_of_w + (nu_ + 1) / (2 * nu_) * (1 - std::exp(-2 * log_cosh_of_w));  // tanh(w)^2
    }
    // Half the mean distance of two draws.
    double gini() const {
        return 2 * std::sqrt(nu_) / (nu_ - 1) * std::exp(log_beta(0.5, nu_ - 0.5) + 2 * log_normaliser_);
    }

    double u_, nu_, w_, log_normaliser_;
    // When asked for.
    mutable Tail tail_ = {kUnknown, kUnknown};
    mutable double by_nu_of_all_ = kUnknown;
};

const double kLowLogNu = std::log(2.1);     // where the standard deviation is 4.6
const double kHighLogNu = std::log(200.0);  // nearly a Gaussian

// Normal scores z of many u, which quadratures ask for: sqrt(nu)*asinh(u/sqrt(nu)) as polynomials in z on short panels,
// of which every coefficient is interpolated by log nu. Right to 2e-10 of u.
class ScoreTable {
public:
    static constexpr double kFarthest = 12;  // of a score
    static constexpr std::size_t kTerms = 8;
    static constexpr std::size_t kPanels = 48;
    static constexpr double kPerUnit = kPanels / kFarthest;
    using Row = std::array<double, kTerms * kPanels>;

    static const ScoreTable& table() {
        static const ScoreTable own;
        return own;
    }

    // The polynomials of a row: of t between -1 and 1 in panel after panel, the constants first.
    void polynomials(double log_nu, Row& row) const {
        std::array<double, kNus> parts{};
        double sum = 0;
        for (std::size_t j = 0; j < kNus; ++j) {
            const double away = log_nu - place(j);
            if (away == 0) {
                row = rows_[j];
                return;
            }
            parts[j] = (j % 2 == 0 ? 1 : -1) * std::sin(angle(j)) / away;
            sum += parts[j];
        }
        row.fill(0);
        for (std::size_t j = 0; j < kNus; ++j) {
            const double part = parts[j] / sum;
            const double* __restrict own = rows_[j].data();
            double* __restrict to = row.data();
#pragma omp simd
            for (std::size_t k = 0; k < kTerms * kPanels; ++k) to[k] += part * own[k];
        }
    }

private:
    // Places of Chebyshev in either direction.
    static constexpr std::size_t kNus = 32;
    static double angle(std::size_t j) {
        return (static_cast<double>(j) + 0.5) * std::numbers::pi / kNus;
    }
    static double place(std::size_t j) {
        return (kLowLogNu + kHighLogNu + (kHighLogNu - kLowLogNu) * std::cos(angle(j))) / 2;
    }

    ScoreTable() : rows_(kNus) {
        std::array<double, kTerms> places{};
        for (std::size_t k = 0; k < kTerms; ++k)
            places[k] = std::cos((static_cast<double>(k) + 0.5) * std::numbers::pi / kTerms);
        // The polynomial that is 1 at one place and 0 at the others.
        std::array<std::array<double, kTerms>, kTerms> basis{};
        for (std::size_t k = 0; k < kTerms; ++k) {
            basis[k][0] = 1;
            std::size_t degree = 0;
            for (std::size_t other = 0; other < kTerms; ++other) {
                if (other == k) continue;
                ++degree;
                for (std::size_t d = degree; d + 1 > 0; --d)
                    basis[k][d] =
                        ((d > 0 ? basis[k][d - 1] : 0) - places[other] * basis[k][d]) / (places[k] - places[other]);
            }
        }
        for (std::size_t j = 0; j < kNus; ++j) {
            const double root = std::exp(place(j) / 2);
            rows_[j].fill(0);
            for (std::size_t panel = 0; panel < kPanels; ++panel)
                for (std::size_t k = 0; k < kTerms; ++k) {
                    const double z = (static_cast<double>(panel) + (1 + places[k]) / 2) / kPerUnit;
                    const double value = root * std::asinh(Upper::beyond(z, place(j)) / root);
                    for (std::size_t d = 0; d < kTerms; ++d) rows_[j][kTerms * panel + d] += value * basis[k][d];
                }
        }
    }

    std::vector<Row> rows_;
};

class StudentT final : public Family {
public:
    std::string_view name() const override { return "student-t"; }
    std::string_view help() const override { return "a Student t distribution, whose tails are learned"; }
    std::vector<Parameter> further() const override { return {{"log-nu", kLowLogNu, kHighLogNu, std::log(10.0)}}; }
    double pdf(double u, Further f) const override { return std::exp(log_pdf(u, f)); }
    double log_pdf(double u, Further f) const override { return at(u, f).log_pdf(); }
    double cdf(double u, Further f) const override { return u < 0 ? upper_tail(u, f) : 1 - upper_tail(u, f); }
    double survival(double u, Further f) const override { return u < 0 ? 1 - upper_tail(u, f) : upper_tail(u, f); }
    double quantile(double p, Further f) const override {
        if (!(p > 0 && p < 1)) return p == 0.5 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), p - 0.5);
        const double u = of_normal_score(families::normal_score_of(p, 1 - p), f);
        // Once more by Newton's method, by the probability that was given.
        const double density = pdf(u, f);
        return density > 0 ? u - (p < 0.5 ? cdf(u, f) - p : (1 - p) - survival(u, f)) / density : u;
    }
    double of_normal_score(double z, Further f) const override {
        return std::copysign(Upper::beyond(std::fabs(z), f[0]), z);
    }
    void of_normal_scores(std::span<const double> z, Further f, double* u, double* slopes) const override {
        if (!(f[0] >= kLowLogNu && f[0] <= kHighLogNu)) return Family::of_normal_scores(z, f, u, slopes);
        // The score, the mean and the spread of a row ask one after another.
        struct Known {
            double log_nu = std::numeric_limits<double>::quiet_NaN();
            ScoreTable::Row polynomials;
        };
        thread_local Known known;
        if (known.log_nu != f[0]) ScoreTable::table().polynomials(f[0], known.polynomials);
        known.log_nu = f[0];
        const double root = std::exp(f[0] / 2);
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double at = std::fabs(z[i]) * ScoreTable::kPerUnit;
            if (!(at < ScoreTable::kPanels)) {
                Family::of_normal_scores(z.subspan(i, 1), f, u + i, slopes + i);
                continue;
            }
            const auto panel = static_cast<std::size_t>(at);
            const double t = 2 * (at - static_cast<double>(panel)) - 1;
            const double* own = known.polynomials.data() + ScoreTable::kTerms * panel;
            double value = own[ScoreTable::kTerms - 1];
            double slope = 0;
            for (std::size_t d = ScoreTable::kTerms - 1; d-- > 0;) {
                slope = slope * t + value;
                value = value * t + own[d];
            }
            const double w = value / root;
            const double up = std::exp(w);
            u[i] = std::copysign(root * (std::fabs(w) < 0.1 ? std::sinh(w) : (up - 1 / up) / 2), z[i]);
            slopes[i] = (up + 1 / up) / 2 * (2 * ScoreTable::kPerUnit * slope);
        }
    }
    double crps(double u, Further f) const override { return at(u, f).crps(); }
    double mean(Further) const override { return 0; }
    double sd(Further f) const override { return std::sqrt(std::exp(f[0]) / (std::exp(f[0]) - 2)); }
    bool symmetric() const override { return true; }
    bool power_tails() const override { return true; }
    double normal_score(double u, Further f) const override { return std::copysign(at(u, f).normal_score(), u); }
    double normal_score_slope(double u, Further f) const override { return at(u, f).normal_score_slope(); }
    double log_pdf_slope(double u, Further f) const override {
        const double root = std::exp(f[0] / 2);
        const double x = u / root;  // u/(nu + u^2) is tanh/(root*cosh) of its arsinh
        return -(root * root + 1) / root * (std::fabs(x) < 1 ? x / (1 + x * x) : 1 / (x + 1 / x));
    }
    void further_slopes(double u, Further f, const FurtherSlopes& slopes) const override {
        const Upper own = at(u, f);
        const double nu = std::exp(f[0]);
        if (!slopes.normal_score.empty()) slopes.normal_score[0] = normal_score_by_log_nu(own, u, f);
        if (!slopes.crps.empty()) slopes.crps[0] = nu * own.crps_by_nu();
        if (!slopes.log_pdf.empty()) slopes.log_pdf[0] = nu * own.log_pdf_by_nu();
    }
    // Everything of a row from one integral.
    void crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision) const override {
        for_rows(*this, rows, slopes, [&](std::size_t i, double u, Further f, std::span<double> by) -> RowSlope {
            const Upper own = at(u, f);
            if (slopes != nullptr) own.log_survival_by_nu();
            values[i] = rows.scales[i] * own.crps();
            if (slopes == nullptr) return {};
            by[0] = rows.scales[i] * std::exp(f[0]) * own.crps_by_nu();
            return {std::copysign(rows.scales[i], u) * (1 - 2 * own.survival()), values[i]};
        });
    }
    void normal_score_rows(const Rows& rows, double* values, const RowSlopes* slopes) const override {
        for_rows(*this, rows, slopes, [&](std::size_t i, double u, Further f, std::span<double> by) -> RowSlope {
            const Upper own = at(u, f);
            if (slopes != nullptr) own.log_survival_by_nu();
            values[i] = std::copysign(own.normal_score(), u);
            if (slopes == nullptr) return {};
            by[0] = normal_score_by_log_nu(own, u, f);
            return {own.normal_score_slope(), 0};
        });
    }

private:
    static double normal_score_by_log_nu(const Upper& own, double u, Further f) {
        return std::copysign(std::exp(f[0]) * mills_ratio(own.normal_score()), u) * -own.log_survival_by_nu();
    }
    static Upper at(double u, Further f) { return {std::fabs(u), f[0]}; }
    static double upper_tail(double u, Further f) { return at(u, f).survival(); }
};

}  // namespace

SharedFamily student_t() {
    return std::make_shared<StudentT>();
}

}  // namespace accrue::families
