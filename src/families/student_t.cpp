// [STUDENT-T] with nu degrees of freedom, of which the further parameter is the logarithm.
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>

#include "families/members.hpp"
#include "families/normal.hpp"

namespace accrue::families {

namespace {

using boost::math::digamma;
using boost::math::quadrature::gauss;

double log_beta(double a, double b) {
    using boost::math::lgamma;  // the C library's writes a global variable
    return lgamma(a) + lgamma(b) - lgamma(a + b);
}

double log_cosh(double x) {
    return std::fabs(x) + std::log1p(std::exp(-2 * std::fabs(x))) - std::log(2.0);
}

// At u >= 0; all else follows by symmetry.
class Upper {
public:
    Upper(double u, double log_nu)
        : u_(u), nu_(std::exp(log_nu)), w_(std::asinh(u / std::sqrt(nu_))), log_normaliser_(-log_beta(0.5, nu_ / 2)) {}

    // With u = sqrt(nu)*sinh(w): 1 + u^2/nu is cosh(w)^2, which does not overflow as a logarithm.
    double log_pdf() const { return log_normaliser_ - std::log(nu_) / 2 - (nu_ + 1) * log_cosh(w_); }
    double log_survival() const {
        const double p = survival();
        if (p > 1e-290) return std::log(p);
        // I_x(a, 1/2) as its power series, x = nu/(nu + u^2) = 1/cosh(w)^2: so far out x is below .01.
        const double a = nu_ / 2;
        const double log_x = -2 * log_cosh(w_);
        const double x = std::exp(log_x);
        double sum = 0;
        double term = 1;
        for (int n = 0; n < 12; ++n) {
            sum += term / (a + n);
            term *= x * (n + 0.5) / (n + 1);
        }
        return a * log_x + log_normaliser_ + std::log(sum / 2);
    }
    double survival() const {
        if (std::isnan(u_)) return u_;
        const double c = std::exp(-2 * log_cosh(w_));
        const double s = std::tanh(w_) * std::tanh(w_);
        return (c < 0.5 ? boost::math::ibeta(nu_ / 2, 0.5, c) : boost::math::ibetac(0.5, nu_ / 2, s)) / 2;
    }
    double normal_score() const { return normal_score_above(log_survival()); }
    double normal_score_slope() const {
        const double above = log_survival();
        return std::exp(log_pdf() - above) * mills_ratio(normal_score_above(above));
    }
    // (nu + u^2)*pdf
    double spread() const { return std::exp(log_normaliser_ + std::log(nu_) / 2 - (nu_ - 1) * log_cosh(w_)); }
    double crps() const { return u_ * (1 - 2 * survival()) + 2 * spread() / (nu_ - 1) - gini(); }

    // By nu.
    double log_pdf_by_nu() const { return log_pdf_by_nu(w_); }
    double log_survival_by_nu() const {
        // Of the density in w, proportional to cosh(w)^-nu, the mean of the density's slope above w: in units of its
        // decay, of which 40 are all. Near the median as an integral from there, since the median does not move.
        if (w_ * std::sqrt(nu_) < kNear) {
            const auto slope = [&](double w) { return std::exp(-nu_ * log_cosh(w)) * log_pdf_by_nu(w); };
            return -std::exp(log_normaliser_) * gauss<double, 15>::integrate(slope, 0.0, w_) / survival();
        }
        const double unit = 1 / (nu_ * std::tanh(w_));
        const double here = log_cosh(w_);
        double all = 0;
        double slopes = 0;
        double from = 0;
        for (const double to : {3.0, 9.0, 18.0, 40.0}) {
            // Differences from here, so that what is large cancels.
            const auto at = [&](double v, bool weighted) {
                const double w = w_ + v * unit;
                const double density = std::exp(-nu_ * (log_cosh(w) - here));
                return weighted ? density * (log_pdf_by_nu(w) - log_pdf_by_nu(w_)) : density;
            };
            all += gauss<double, 15>::integrate([&](double v) { return at(v, false); }, from, to);
            slopes += gauss<double, 15>::integrate([&](double v) { return at(v, true); }, from, to);
            from = to;
        }
        return log_pdf_by_nu(w_) + slopes / all;
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
    static constexpr double kNear = 1.5;

    double log_pdf_by_nu(double w) const {
        const double t = std::tanh(w);
        return -1 / (2 * nu_) - (digamma(nu_ / 2) - digamma((nu_ + 1) / 2)) / 2 - log_cosh(w) +
               (nu_ + 1) / (2 * nu_) * t * t;
    }
    // Half the mean distance of two draws.
    double gini() const {
        return 2 * std::sqrt(nu_) / (nu_ - 1) * std::exp(log_beta(0.5, nu_ - 0.5) + 2 * log_normaliser_);
    }

    double u_, nu_, w_, log_normaliser_;
};

class StudentT final : public Family {
public:
    std::string_view name() const override { return "student-t"; }
    std::string_view help() const override { return "a Student t distribution, whose tails are learned"; }
    std::vector<Parameter> further() const override {
        // From 2.1 degrees of freedom, where the standard deviation is 4.6, to 200, nearly a Gaussian.
        return {{"log-nu", std::log(2.1), std::log(200.0), std::log(10.0)}};
    }
    double pdf(double u, Further f) const override { return std::exp(log_pdf(u, f)); }
    double log_pdf(double u, Further f) const override { return at(u, f).log_pdf(); }
    double cdf(double u, Further f) const override { return u < 0 ? upper_tail(u, f) : 1 - upper_tail(u, f); }
    double survival(double u, Further f) const override { return u < 0 ? 1 - upper_tail(u, f) : upper_tail(u, f); }
    double quantile(double p, Further f) const override {
        const boost::math::students_t_distribution<double> t(std::exp(f[0]));
        double u = boost::math::quantile(t, p);
        // Once more by Newton's method: Boost's inverse has some 10 digits at some nu.
        const double density = pdf(u, f);
        if (density > 0) u -= (p < 0.5 ? cdf(u, f) - p : (1 - p) - survival(u, f)) / density;
        return u;
    }
    double crps(double u, Further f) const override { return at(u, f).crps(); }
    double mean(Further) const override { return 0; }
    double sd(Further f) const override { return std::sqrt(std::exp(f[0]) / (std::exp(f[0]) - 2)); }
    bool symmetric() const override { return true; }
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
        if (!slopes.normal_score.empty())
            slopes.normal_score[0] = std::copysign(nu * mills_ratio(own.normal_score()), u) * -own.log_survival_by_nu();
        if (!slopes.crps.empty()) slopes.crps[0] = nu * own.crps_by_nu();
        if (!slopes.log_pdf.empty()) slopes.log_pdf[0] = nu * own.log_pdf_by_nu();
    }

private:
    static Upper at(double u, Further f) { return {std::fabs(u), f[0]}; }
    static double upper_tail(double u, Further f) { return at(u, f).survival(); }
};

}  // namespace

SharedFamily student_t() {
    return std::make_shared<StudentT>();
}

}  // namespace accrue::families
