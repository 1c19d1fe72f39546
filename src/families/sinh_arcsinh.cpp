// [SHASH] The sinh-arcsinh normal distribution of Jones and Pewsey (2009): u = sinh((asinh(n) + skew)*q), n standard
// normal, q = 1/tail. Further parameters are skew and the logarithm of tail.
#include "families/sinh_arcsinh.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <numbers>

#include "families/members.hpp"
#include "families/normal.hpp"

namespace accrue::families {

const Series& shash_series() {
    static const Series series = [] {
        Series terms{};
        double factorial = 1;
        for (std::size_t k = 0; k < kSeriesTerms; ++k) {
            const double power = static_cast<double>(2 * k + 1);
            if (k > 0) factorial *= power * (power - 1);
            const auto moment = [&](double w) {
                const double n = std::sinh(w);
                return std::pow(w, power) * normal_pdf(n) * normal_cdf(-n) * std::cosh(w);
            };
            for (const double from : {0.0, 1.0, 2.0})
                terms[k] +=
                    4 / factorial *
                    boost::math::quadrature::gauss<double, 30>::integrate(moment, from, std::min(from + 1, kFarthestW));
        }
        return terms;
    }();
    return series;
}

namespace {

// E r^q, r = n + sqrt(1 + n^2), of a standard normal n: K is the modified Bessel function of the second kind.
double mean_power(double q) {
    const auto k = [](double order) { return boost::math::cyl_bessel_k(std::fabs(order), 0.25); };
    return std::exp(0.25) / std::sqrt(8 * std::numbers::pi) * (k((q + 1) / 2) + k((q - 1) / 2));
}

class SinhArcsinh final : public Family {
public:
    std::string_view name() const override { return "sinh-arcsinh"; }
    std::string_view help() const override {
        return "a sinh-arcsinh normal distribution, whose skew and tails are learned";
    }
    std::vector<Parameter> further() const override { return {{"skew", -2, 2, 0}, {"log-tail", -1.2, 1.2, 0}}; }
    double pdf(double u, Further f) const override { return std::exp(log_pdf(u, f)); }
    double log_pdf(double u, Further f) const override {
        const Place at(u, f);
        return -at.z * at.z / 2 - std::log(2 * std::numbers::pi) / 2 + std::log(at.slope);
    }
    double cdf(double u, Further f) const override { return normal_cdf(Place(u, f).z); }
    double survival(double u, Further f) const override { return normal_cdf(-Place(u, f).z); }
    double quantile(double p, Further f) const override { return of_normal_score(normal_score_of(p, 1 - p), f); }
    double normal_score(double u, Further f) const override { return Place(u, f).z; }
    double of_normal_score(double z, Further f) const override {
        return std::sinh((std::asinh(z) + f[0]) * std::exp(-f[1]));
    }
    void of_normal_scores(std::span<const double> z, Further f, double* u, double* slopes) const override {
        shash_values(z, f[0], std::exp(-f[1]), u, slopes);
    }
    double normal_score_slope(double u, Further f) const override { return Place(u, f).slope; }
    double log_pdf_slope(double u, Further f) const override {
        const Place at(u, f);
        const double root = std::hypot(1.0, u);
        return (at.tail * std::tanh(at.w) - u / root) / root - at.z * at.slope;
    }
    double mean(Further f) const override {
        const double q = std::exp(-f[1]);
        return std::sinh(f[0] * q) * mean_power(q);
    }
    double sd(Further f) const override {
        const double q = std::exp(-f[1]);
        const double own = mean(f);
        return std::sqrt((std::cosh(2 * f[0] * q) * mean_power(2 * q) - 1) / 2 - own * own);
    }
    double crps(double u, Further f) const override {
        if (!std::isfinite(u)) return std::fabs(u);
        const Place at(u, f);
        const double q = 1 / at.tail;
        return u * (normal_cdf(at.z) - normal_cdf(-at.z)) - 2 * at.integral([&](double w) {
            return std::sinh(q * (w + at.skew));
        }) + std::cosh(q * at.skew) * shash_constant(shash_series(), q).value;
    }
    void crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision precision) const override {
        const ShashSlopes own = slopes != nullptr ? columns(*slopes) : ShashSlopes{};
        shash_crps(columns(rows), precision == Precision::rough, values, slopes != nullptr ? &own : nullptr);
    }
    void normal_score_rows(const Rows& rows, double* values, const RowSlopes* slopes) const override {
        const ShashSlopes own = slopes != nullptr ? columns(*slopes) : ShashSlopes{};
        shash_scores(columns(rows), values, slopes != nullptr ? &own : nullptr);
    }
    void further_slopes(double u, Further f, const FurtherSlopes& slopes) const override {
        const double from = std::asinh(u);
        const double tail = std::exp(f[1]);
        const double cosh = std::cosh(Place::asinh_of_score(from, f[0], tail));
        if (!slopes.normal_score.empty()) {
            slopes.normal_score[0] = -cosh;
            slopes.normal_score[1] = tail * from * cosh;
        }
        if (slopes.log_pdf.empty() && slopes.crps.empty()) return;
        const Place at(u, f);
        const double q = 1 / at.tail;
        const double tanh = std::tanh(at.w);
        if (!slopes.log_pdf.empty()) {
            slopes.log_pdf[0] = at.z * cosh - tanh;
            slopes.log_pdf[1] = 1 - at.tail * from * (at.z * cosh - tanh);
        }
        if (slopes.crps.empty()) return;
        const double all = at.integral([&](double w) { return std::cosh(q * (w + at.skew)); });
        const double first = at.integral([&](double w) { return (w + at.skew) * std::cosh(q * (w + at.skew)); });
        const SeriesValue constant = shash_constant(shash_series(), q);
        const double sinh_skew = std::sinh(q * at.skew);
        slopes.crps[0] = q * (sinh_skew * constant.value - 2 * all);
        slopes.crps[1] =
            -q * (at.skew * sinh_skew * constant.value + std::cosh(q * at.skew) * constant.slope - 2 * first);
    }

private:
    // The normal score z = sinh(w) of u.
    struct Place {
        double skew, tail, w, z, slope;
        Place(double u, Further f)
            : skew(f[0]),
              tail(std::exp(f[1])),
              w(asinh_of_score(std::asinh(u), skew, tail)),
              z(std::sinh(w)),
              slope(tail * std::cosh(w) / std::hypot(1.0, u)) {}

        static double asinh_of_score(double asinh_of_u, double skew, double tail) {
            return std::clamp(tail * asinh_of_u - skew, -kFarthestScore, kFarthestScore);
        }

        // Of value(asinh n) over the normal density of n from 0 to z.
        template <typename Value>
        double integral(Value value) const {
            const auto weighted = [&](double at) { return value(at) * normal_pdf(std::sinh(at)) * std::cosh(at); };
            return boost::math::quadrature::gauss<double, kNodes>::integrate(weighted, 0.0,
                                                                             std::clamp(w, -kFarthestW, kFarthestW));
        }
    };
    static ShashRows columns(const Rows& rows) {
        return {rows.count, rows.errors, rows.scales, rows.further, rows.further + rows.stride};
    }
    static ShashSlopes columns(const RowSlopes& slopes) {
        return {slopes.location, slopes.log_scale, slopes.further, slopes.further + slopes.stride};
    }
};

}  // namespace

SharedFamily sinh_arcsinh() {
    return std::make_shared<SinhArcsinh>();
}

}  // namespace accrue::families
