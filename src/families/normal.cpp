#include "families/normal.hpp"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "accrue/family.hpp"
#include "accrue/scores.hpp"
#include "scores/gauss.hpp"

namespace accrue {

namespace families {

double normal_cdf(double z) {
    return std::erfc(-z / std::numbers::sqrt2) / 2;
}

double normal_pdf(double z) {
    return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

double normal_quantile(double p) {
    // Below these erfc_inv would raise errors of its own.
    if (p < std::numeric_limits<double>::min()) return -kEnd;
    return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p);
}

double normal_score_of(double below, double above) {
    return below < above ? normal_quantile(below) : -normal_quantile(above);
}

double mills_ratio(double z) {
    constexpr double kFar = 30;  // the series is right to 1e-14 from here on
    if (z < kFar) return normal_cdf(-z) / normal_pdf(z);
    const double r = 1 / z / z;
    return (1 - r * (1 - r * (3 - r * (15 - r * (105 - r * (945 - r * 10395)))))) / z;
}

double log_normal_pdf(double z) {
    return -z * z / 2 - std::log(2 * std::numbers::pi) / 2;
}

double log_normal_cdf(double z) {
    return z > 0 ? std::log1p(-normal_cdf(-z)) : std::log(mills_ratio(-z)) + log_normal_pdf(z);
}

double normal_score_above(double log_above) {
    constexpr double kRepresentable = -690;
    constexpr double kFar = -1e18;  // from where on z^2/2 is all that there is
    if (!(log_above < kRepresentable)) return -normal_quantile(std::exp(log_above));
    if (log_above < kFar) return std::numbers::sqrt2 * std::sqrt(-log_above);
    // exp(-z^2/2)/(z sqrt(2 pi)) to begin with.
    double z = std::sqrt(-2 * log_above - std::log(4 * std::numbers::pi) - std::log(-log_above));
    for (int k = 0; k < 3; ++k) {
        const double ratio = mills_ratio(z);
        z += ratio * (std::log(ratio) - z * z / 2 - std::log(2 * std::numbers::pi) / 2 - log_above);
    }
    return z;
}

namespace {

template <unsigned kNodes>
const Rule& rule() {
    static const Rule own = [] {
        Rule made;
        gauss_places<kNodes>(-1, 1, [&](double place, double weight) {
            made.places.push_back(place);
            made.weights.push_back(weight);
        });
        return made;
    }();
    return own;
}

}  // namespace

const Rule& rule_of(double length) {
    constexpr double kLengths[] = {0.02, 0.04, 0.12, 0.5};
    if (length < kLengths[0]) return rule<2>();
    if (length < kLengths[1]) return rule<3>();
    if (length < kLengths[2]) return rule<5>();
    if (length <= kLengths[3]) return rule<7>();
    return rule<15>();
}

namespace {

class Normal final : public Family {
public:
    std::string_view name() const override { return "normal"; }
    std::string_view help() const override { return "a Gaussian"; }
    double pdf(double u, Further) const override { return normal_pdf(u); }
    double log_pdf(double u, Further) const override { return log_normal_pdf(u); }
    double cdf(double u, Further) const override { return normal_cdf(u); }
    double survival(double u, Further) const override { return normal_cdf(-u); }
    double quantile(double p, Further) const override { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p); }
    double crps(double u, Further) const override { return accrue::crps(u, 1).value; }
    double squares_below(double u, Further) const override {
        // Its terms cancel in part for u << 0, by a factor of 2u^2.
        if (u < -kEnd) return 0;
        const double p = normal_cdf(u);
        return u * p * p + 2 * normal_pdf(u) * p - std::numbers::inv_sqrtpi * normal_cdf(std::numbers::sqrt2 * u);
    }
    double mean(Further) const override { return 0; }
    double sd(Further) const override { return 1; }
    bool symmetric() const override { return true; }
    std::pair<double, double> interval(double level, Further) const override {
        const double half = std::numbers::sqrt2 * boost::math::erf_inv(level);
        return {-half, half};
    }
    void cdf_block(std::size_t rows, double* values) const override { scores::normal_cdf_block(rows, values); }
    bool is_normal() const override { return true; }
    void of_normal_scores(std::span<const double> z, Further, double* u, double* slopes) const override {
        std::copy(z.begin(), z.end(), u);
        std::fill_n(slopes, z.size(), 1.0);
    }
    double normal_score(double u, Further) const override { return u; }
    double of_normal_score(double z, Further) const override { return z; }
    double normal_score_slope(double, Further) const override { return 1; }
    double log_pdf_slope(double u, Further) const override { return -u; }
    void crps_block(std::size_t rows, const double* errors, const double* scales, double* values) const override {
        scores::crps_block(rows, errors, scales, values);
    }
    void nlpd_block(std::size_t rows, const double* errors, const double* scales, double* values) const override {
        scores::nlpd_block(rows, errors, scales, values);
    }
    void crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision) const override {
        scores::crps_rows(rows.count, rows.errors, rows.scales, values, slopes != nullptr ? slopes->location : nullptr,
                          slopes != nullptr ? slopes->log_scale : nullptr);
    }
    void normal_score_rows(const Rows& rows, double* values, const RowSlopes* slopes) const override {
        for (std::size_t i = 0; i < rows.count; ++i) values[i] = rows.errors[i] / rows.scales[i];
        if (slopes == nullptr) return;
        for (std::size_t i = 0; i < rows.count; ++i) slopes->log_scale[i] = -values[i];
        if (slopes->location == nullptr) return;
        for (std::size_t i = 0; i < rows.count; ++i) slopes->location[i] = -1 / rows.scales[i];
    }
};

}  // namespace

}  // namespace families

const SharedFamily& normal_family() {
    static const SharedFamily normal = std::make_shared<families::Normal>();
    return normal;
}

}  // namespace accrue
