#include "accrue/adapted.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "families/normal.hpp"
#include "scores/gauss.hpp"

namespace accrue {

using families::normal_cdf;
using families::normal_pdf;
using families::normal_score_of;

// The values of a row, taken apart.
struct Adapted::Row {
    explicit Row(Further all) : inner(all.first(all.size() - 2)), shift(all[all.size() - 2]), scale(all.back()) {}

    double own(double w) const { return (w - shift) / scale; }
    double inner_score(double z) const { return shift + scale * z; }

    Further inner;
    double shift, scale;
};

Adapted::Adapted(SharedFamily inner) : inner_(std::move(inner)) {}

std::vector<Family::Given> Adapted::given() const {
    std::vector<Given> all = inner_->given();
    all.insert(all.end(), {Given::shift, Given::scale});
    return all;
}

double Adapted::log_pdf(double u, Further further) const {
    const Row row(further);
    const double w = inner_->normal_score(u, row.inner);
    const double z = row.own(w);
    return inner_->log_pdf(u, row.inner) + (w - z) * (w + z) / 2 - std::log(row.scale);
}

double Adapted::pdf(double u, Further further) const {
    const Row row(further);
    return normal_pdf(row.own(inner_->normal_score(u, row.inner))) / row.scale *
           inner_->normal_score_slope(u, row.inner);
}

double Adapted::cdf(double u, Further further) const {
    return normal_cdf(upper_normal_score(u, further));
}

double Adapted::survival(double u, Further further) const {
    return normal_cdf(-upper_normal_score(u, further));
}

double Adapted::quantile(double probability, Further further) const {
    return of_normal_score(normal_score_of(probability, 1 - probability), further);
}

namespace {

// The normal score that ends a central interval, which is what it takes longest for: rows ask for the same few levels.
double end_of_interval(double level) {
    struct Known {
        double level, end;
    };
    thread_local std::array<Known, 8> known{};  // no level is 0
    thread_local std::size_t oldest = 0;
    for (const Known& one : known)
        if (one.level == level) return one.end;
    const double end = -families::normal_quantile((1 - level) / 2);
    known[oldest++ % known.size()] = {level, end};
    return end;
}

}  // namespace

std::pair<double, double> Adapted::interval(double level, Further further) const {
    const double half = end_of_interval(level);
    return {of_normal_score(-half, further), of_normal_score(half, further)};
}

double Adapted::normal_score(double u, Further further) const {
    const Row row(further);
    return row.own(inner_->normal_score(u, row.inner));
}

double Adapted::upper_normal_score(double u, Further further) const {
    const Row row(further);
    return row.own(inner_->upper_normal_score(u, row.inner));
}

double Adapted::of_normal_score(double score, Further further) const {
    const Row row(further);
    return inner_->of_normal_score(row.inner_score(score), row.inner);
}

double Adapted::normal_score_slope(double u, Further further) const {
    const Row row(further);
    return inner_->normal_score_slope(u, row.inner) / row.scale;
}

double Adapted::log_pdf_slope(double u, Further further) const {
    const Row row(further);
    const double w = inner_->normal_score(u, row.inner);
    return inner_->log_pdf_slope(u, row.inner) +
           (w - row.own(w) / row.scale) * inner_->normal_score_slope(u, row.inner);
}

std::vector<double> Adapted::jumps(Further further) const {
    const Row row(further);
    std::vector<double> own = inner_->jumps(row.inner);
    for (double& score : own) score = row.own(score);
    return own;
}

namespace {

// Adds the nodes of a rule between two points, more of them the farther these lie apart.
template <unsigned kNodes>
void add_rule(double from, double to, std::vector<double>& places, std::vector<double>& weights) {
    using Rule = boost::math::quadrature::gauss<double, kNodes>;
    const double half = (to - from) / 2;
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k)
        for (const double side : {-1.0, 1.0}) {
            if (side > 0 && Rule::abscissa()[k] == 0) continue;
            places.push_back(from + half * (1 + side * Rule::abscissa()[k]));
            weights.push_back(half * Rule::weights()[k]);
        }
}

// The trapezoidal rule for functions that are smooth and fall off as a normal density does: its error is exp(-2 pi d/h)
// for nodes h apart, d being how far off the real line the function is smooth. That is 1 for asinh of the inner score,
// and h is 1/4 of the inner score at most: 1e-11. Weights have the normal density in them.
struct EvenNodes {
    std::vector<double> z, weights;
};
constexpr double kMaxScale = 64;
const EvenNodes& even_nodes(double scale) {
    static const std::vector<EvenNodes> all = [] {
        std::vector<EvenNodes> made;
        for (double per_unit = 4; per_unit <= 4 * kMaxScale; per_unit *= 2) {
            EvenNodes& own = made.emplace_back();
            const int each_side = static_cast<int>(Adapted::kFarthest * per_unit);
            for (int k = -each_side; k <= each_side; ++k) {
                own.z.push_back(k / per_unit);
                own.weights.push_back(normal_pdf(own.z.back()) / per_unit);
            }
        }
        return made;
    }();
    std::size_t k = 0;
    while (static_cast<double>(std::size_t{1} << k) < scale) ++k;
    return all[k];
}

}  // namespace

// Calls use(z, weight, u, du/dz) for nodes between -kFarthest and kFarthest; at what bends there is none in between.
template <typename Use>
void Adapted::for_nodes(const Row& row, std::vector<double> splits, Use&& use) const {
    constexpr double kPanel = 2;
    constexpr double kShort = 0.5;
    constexpr double kTiny = 0.12;
    for (const double w : inner_->jumps(row.inner)) splits.push_back(row.own(w));
    std::erase_if(splits, [](double at) { return !(std::fabs(at) < kFarthest); });
    splits.push_back(kFarthest);
    std::sort(splits.begin(), splits.end());
    thread_local std::vector<double> z, weights, w, u, slopes;
    z.clear();
    weights.clear();
    double from = -kFarthest;
    for (const double to : splits) {
        // Panels are short in both scores, since either may be what bends the integrand.
        const double panels = std::ceil((to - from) * std::max(1.0, row.scale) / kPanel);
        for (double k = 0; k < panels; ++k) {
            const double left = from + (to - from) * (k / panels);
            const double right = from + (to - from) * ((k + 1) / panels);
            const double length = (right - left) * std::max(1.0, row.scale);
            if (length < kTiny)
                add_rule<5>(left, right, z, weights);
            else if (length < kShort)
                add_rule<7>(left, right, z, weights);
            else
                add_rule<15>(left, right, z, weights);
        }
        from = to;
    }
    w.resize(z.size());
    u.resize(z.size());
    slopes.resize(z.size());
    std::transform(z.begin(), z.end(), w.begin(), [&](double own) { return row.inner_score(own); });
    inner_->of_normal_scores(w, row.inner, u.data(), slopes.data());
    for (std::size_t i = 0; i < z.size(); ++i) use(z[i], weights[i], u[i], slopes[i] * row.scale);
}

double Adapted::crps(double u, Further further) const {
    const Row row(further);
    if (!std::isfinite(u)) return std::fabs(u);
    if (inner_->is_normal()) return row.scale * inner_->crps((u - row.shift) / row.scale, {});
    const double first = inner_->of_normal_score(row.inner_score(-kFarthest), row.inner);
    const double last = inner_->of_normal_score(row.inner_score(kFarthest), row.inner);
    const double inside = std::clamp(u, first, last);
    const double at = row.own(inner_->upper_normal_score(inside, row.inner));
    double sum = std::fabs(u - inside);
    thread_local std::vector<double> p, weights;
    p.clear();
    weights.clear();
    for_nodes(row, {at}, [&](double z, double weight, double, double slope) {
        p.push_back(z > at ? -z : z);
        weights.push_back(weight * slope);
    });
    scores::normal_cdf_block(p.size(), p.data());
    for (std::size_t i = 0; i < p.size(); ++i) sum += weights[i] * p[i] * p[i];
    return sum;
}

Adapted::Moments Adapted::moments(const Row& row) const {
    if (inner_->is_normal()) return {row.shift, row.scale};
    if (row.scale <= kMaxScale && inner_->jumps(row.inner).empty()) {
        const EvenNodes& nodes = even_nodes(row.scale);
        const std::size_t count = nodes.z.size();
        thread_local std::vector<double> w, u, slopes;
        w.resize(count);
        u.resize(count);
        slopes.resize(count);
        std::transform(nodes.z.begin(), nodes.z.end(), w.begin(), [&](double own) { return row.inner_score(own); });
        inner_->of_normal_scores(w, row.inner, u.data(), slopes.data());
        const double centre = u[count / 2];
        double mean = 0;
        double square = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double part = nodes.weights[i] * (u[i] - centre);
            mean += part;
            square += part * (u[i] - centre);
        }
        // Tails that are too heavy for their moments end at the last node, where this rule knows no end.
        const auto at_end = [&](std::size_t i) { return nodes.weights[i] * (u[i] - centre) * (u[i] - centre); };
        constexpr double kNothing = 1e-11;
        if (at_end(0) + at_end(count - 1) < kNothing * square)
            return {centre + mean, std::sqrt(std::max(square - mean * mean, 0.0))};
    }
    double mean = 0;
    double square = 0;
    const double centre = inner_->of_normal_score(row.shift, row.inner);
    for_nodes(row, {}, [&](double z, double weight, double u, double) {
        const double part = weight * normal_pdf(z) * (u - centre);
        mean += part;
        square += part * (u - centre);
    });
    return {centre + mean, std::sqrt(std::max(square - mean * mean, 0.0))};
}

Adapted::Moments Adapted::moments(Further further) const {
    return moments(Row(further));
}

double Adapted::mean(Further further) const {
    return moments(Row(further)).mean;
}

double Adapted::sd(Further further) const {
    return moments(Row(further)).sd;
}

}  // namespace accrue
