#include "accrue/adapted.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/exp.hpp"
#include "families/lines.hpp"
#include "families/normal.hpp"
#include "families/panels.hpp"
#include "families/shape.hpp"
#include "scores/gauss.hpp"

namespace accrue {

using families::normal_cdf;
using families::normal_pdf;
using families::normal_score_of;

// The values of a row, taken apart.
struct Adapted::Row {
    Row(Further all, bool shaped)
        : inner(all.first(all.size() - 2 - (shaped ? families::kShapeKnots : 0))),
          shift(all[inner.size()]),
          scale(all[inner.size() + 1]),
          shape(all.subspan(inner.size() + 2)) {}

    double unshaped(double w) const { return (w - shift) / scale; }
    double own(double w) const { return shape.of(unshaped(w)); }
    double stretch(double w) const { return scale / shape.slope(unshaped(w)); }  // dw/d own
    double inner_score(double z) const { return shift + scale * shape.score_of(z); }
    double inner_slope(double z) const { return scale * shape.score_slope(z); }  // of inner_score

    Further inner;
    double shift, scale;
    families::Shape shape;
};

static_assert(Adapted::kShapeValues == families::kShapeKnots);

Adapted::Adapted(SharedFamily inner, bool shaped) : inner_(std::move(inner)), shaped_(shaped) {
    const auto* recalibrated = dynamic_cast<const Recalibrated*>(inner_.get());
    if (recalibrated != nullptr) lines_ = recalibrated->lines();
}

std::vector<Family::Given> Adapted::given() const {
    std::vector<Given> all = inner_->given();
    all.insert(all.end(), {Given::shift, Given::scale});
    if (shaped_) all.insert(all.end(), kShapeValues, Given::shift);
    return all;
}

double Adapted::log_pdf(double u, Further further) const {
    const Row row(further, shaped_);
    const double w = inner_->normal_score(u, row.inner);
    const double z = row.own(w);
    return inner_->log_pdf(u, row.inner) + (w - z) * (w + z) / 2 - std::log(row.stretch(w));
}

double Adapted::pdf(double u, Further further) const {
    const Row row(further, shaped_);
    const double w = inner_->normal_score(u, row.inner);
    return normal_pdf(row.own(w)) / row.stretch(w) * inner_->normal_score_slope(u, row.inner);
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
    const Row row(further, shaped_);
    const double half = end_of_interval(level);
    const std::array<double, 2> ends = {row.inner_score(-half), row.inner_score(half)};
    std::array<double, 2> u{};
    std::array<double, 2> slopes{};
    inner_->of_normal_scores(ends, row.inner, u.data(), slopes.data());
    return {u[0], u[1]};
}

double Adapted::normal_score(double u, Further further) const {
    const Row row(further, shaped_);
    return row.own(inner_->normal_score(u, row.inner));
}

double Adapted::upper_normal_score(double u, Further further) const {
    const Row row(further, shaped_);
    return row.own(inner_->upper_normal_score(u, row.inner));
}

double Adapted::of_normal_score(double score, Further further) const {
    const Row row(further, shaped_);
    return inner_->of_normal_score(row.inner_score(score), row.inner);
}

void Adapted::of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const {
    const Row row(further, shaped_);
    thread_local std::vector<double> kept;
    std::vector<double>& w = kept;
    w.clear();
    for (const double score : z) w.push_back(row.inner_score(score));
    inner_->of_normal_scores(w, row.inner, u, slopes);
    for (std::size_t i = 0; i < z.size(); ++i) slopes[i] *= row.inner_slope(z[i]);
}

double Adapted::normal_score_slope(double u, Further further) const {
    const Row row(further, shaped_);
    const double slope = inner_->normal_score_slope(u, row.inner);
    return slope / (row.shape.empty() ? row.scale : row.stretch(inner_->normal_score(u, row.inner)));
}

double Adapted::log_pdf_slope(double u, Further further) const {
    const Row row(further, shaped_);
    const double w = inner_->normal_score(u, row.inner);
    return inner_->log_pdf_slope(u, row.inner) +
           (w - row.own(w) / row.stretch(w)) * inner_->normal_score_slope(u, row.inner);
}

double Adapted::unit(double z, Further further) const {
    const Row row(further, shaped_);
    return inner_->unit(row.inner_score(z), row.inner);
}

std::vector<double> Adapted::jumps(Further further) const {
    const Row row(further, shaped_);
    std::vector<double> own = inner_->jumps(row.inner);
    for (double& score : own) score = row.own(score);
    const std::vector<double> knots = row.shape.knots();
    own.insert(own.end(), knots.begin(), knots.end());
    std::sort(own.begin(), own.end());
    return own;
}

namespace {

// The trapezoidal rule for functions that are smooth and fall off as a normal density does: its error is exp(-2 pi d/h)
// for nodes h apart, d being how far off the real line the function is smooth. That is 1 for asinh of the inner score,
// and h is 1/4 of the inner score at most: 1e-11. Weights have the normal density in them.
struct EvenNodes {
    std::vector<double> z, weights;
    std::vector<double> by_rank;  // weights times 2 Phi(z) - 1
};
constexpr double kMaxScale = 64;
const EvenNodes& even_nodes(double scale) {
    static const std::vector<EvenNodes> all = [] {
        std::vector<EvenNodes> made;
        for (double finer = 1; finer <= kMaxScale; finer *= 2)
            for (const double part : {1.0, 1.25, 1.5, 1.75}) {
                const double per_unit = 4 * finer * part;
                EvenNodes& own = made.emplace_back();
                const int each_side = static_cast<int>(Adapted::kFarthest * per_unit);
                for (int k = -each_side; k <= each_side; ++k) {
                    const double z = k / per_unit;
                    own.z.push_back(z);
                    own.weights.push_back(normal_pdf(z) / per_unit);
                    own.by_rank.push_back(own.weights.back() * (normal_cdf(z) - normal_cdf(-z)));
                }
            }
        return made;
    }();
    std::size_t k = 0;
    double finer = 1;
    while (2 * finer < scale) {
        finer *= 2;
        k += 4;
    }
    if (scale > 1)
        for (double part = 1; part * finer < scale; part += 0.25) ++k;
    return all[k];
}

}  // namespace

// Nodes between -kFarthest and kFarthest, each in units of the row and of the inner family; at what bends there is none
// in between. They last until the next ones of the thread.
struct Adapted::Nodes {
    std::vector<double> z, weights, w, u, slopes;
};
Adapted::Nodes& Adapted::nodes(const Row& row, std::vector<double> splits) const {
    for (double& z : splits) z = row.inner_score(z);
    const std::vector<double> jumps = inner_->jumps(row.inner);
    splits.insert(splits.end(), jumps.begin(), jumps.end());
    for (const double knot : row.shape.knots()) splits.push_back(row.inner_score(knot));
    const double first = row.inner_score(-kFarthest);
    const double last = row.inner_score(kFarthest);
    std::erase_if(splits, [&](double w) { return !(w > first && w < last); });
    splits.insert(splits.end(), {first, last});
    std::sort(splits.begin(), splits.end());
    thread_local Nodes kept;
    Nodes& own = kept;
    own.w.clear();
    own.weights.clear();
    for (std::size_t k = 1; k < splits.size(); ++k) {
        const std::array<double, 2> piece = {splits[k - 1], splits[k]};
        if (!(piece[0] < piece[1])) continue;
        const double stretch = row.stretch((piece[0] + piece[1]) / 2);  // the same in all of it
        // Panels are short in both scores, since either may be what bends the integrand.
        families::for_panels(*inner_, row.inner, piece, std::max(1.0, 1 / stretch),
                             [&](double from, double to, double length) {
                                 const double half = (to - from) / 2;
                                 const families::Rule& rule = families::rule_of(length);
                                 for (const double place : rule.places) own.w.push_back(from + half * (1 + place));
                                 for (const double weight : rule.weights)
                                     own.weights.push_back(half / stretch * weight);
                             });
    }
    for (auto* values : {&own.z, &own.u, &own.slopes}) values->resize(own.w.size());
    for (std::size_t i = 0; i < own.w.size(); ++i) own.z[i] = row.own(own.w[i]);
    inner_->of_normal_scores(own.w, row.inner, own.u.data(), own.slopes.data());
    for (std::size_t i = 0; i < own.z.size(); ++i) own.slopes[i] *= row.inner_slope(own.z[i]);
    return own;
}

// Sums over even nodes; not good where tails are too heavy for their moments: they end at the last node, where this
// rule knows no end.
struct Adapted::Even {
    bool good = false;
    double mean = 0;
    double variance = 0;
    double mean_difference = 0;  // half that of two draws: the integral of (2 Phi(z) - 1) u over the normal density
};

Adapted::Even Adapted::even(const Row& row) const {
    if (!row.shape.empty() || !(row.scale <= kMaxScale) || !inner_->jumps(row.inner).empty()) return {};
    const EvenNodes& nodes = even_nodes(row.scale);
    const std::size_t count = nodes.z.size();
    thread_local std::vector<double> kept;
    std::vector<double>& all = kept;
    all.resize(3 * count);
    double* w = all.data();
    double* u = w + count;
    for (std::size_t i = 0; i < count; ++i) w[i] = row.inner_score(nodes.z[i]);
    inner_->of_normal_scores({w, count}, row.inner, u, u + count);
    const double centre = u[count / 2];
    double mean = 0;
    double square = 0;
    double difference = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double own = u[i] - centre;
        const double part = nodes.weights[i] * own;
        mean += part;
        square += part * own;
        difference += nodes.by_rank[i] * own;
    }
    const auto at_end = [&](std::size_t i) { return nodes.weights[i] * (u[i] - centre) * (u[i] - centre); };
    constexpr double kNothing = 1e-11;
    if (!(at_end(0) + at_end(count - 1) < kNothing * square)) return {};
    return {true, centre + mean, std::max(square - mean * mean, 0.0), difference};
}

// Of what lies beyond z on its side of 0: the integral of Phi(-|x|) du from there on.
double Adapted::beyond(const Row& row, double z) const {
    const families::Rule& own = families::rule_of(2);
    const double side = z < 0 ? -1 : 1;
    const double from = std::fabs(z);
    if (!(from < kFarthest)) return 0;  // but for rounding the farthest score itself
    const double panels = std::ceil((kFarthest - from) * std::max(1.0, row.scale) / 2);
    const std::size_t count = static_cast<std::size_t>(panels) * own.places.size();
    thread_local std::vector<double> kept;
    std::vector<double>& all = kept;
    all.resize(4 * count);
    double* w = all.data();
    double* u = w + count;
    double* slopes = u + count;
    double* p = slopes + count;
    const double half = (kFarthest - from) / panels / 2;
    std::size_t at = 0;
    for (double k = 0; k < panels; ++k)
        for (const double place : own.places) {
            const double x = from + half * (2 * k + 1 + place);
            p[at] = -x;
            w[at++] = row.inner_score(side * x);
        }
    inner_->of_normal_scores({w, count}, row.inner, u, slopes);
    scores::normal_cdf_block(count, p);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += own.weights[i % own.weights.size()] * p[i] * slopes[i];
    return sum * half * row.scale;
}

// Of an inner polygon knots are its own and those of the shape.
families::Lines Adapted::lines(const Row& row) const {
    families::Lines shape = row.shape.lines(row.shift, row.scale);
    if (lines_ == nullptr) return shape;
    std::vector<double> z;
    for (const double w : lines_->v) z.push_back(row.own(w));
    z.insert(z.end(), shape.v.begin(), shape.v.end());
    std::sort(z.begin(), z.end());
    // Of knots that rounding can hardly tell apart one is enough.
    constexpr double kApart = 1e-9;
    std::vector<double> kept;
    for (const double at : z)
        if (kept.empty() || at - kept.back() > kApart) kept.push_back(at);
    std::vector<double> w, u(kept.size()), slopes(kept.size());
    for (const double at : kept) w.push_back(row.inner_score(at));
    inner_->of_normal_scores(w, row.inner, u.data(), slopes.data());
    return {std::move(kept), std::move(u), row.scale * lines_->slopes.front(), row.scale * lines_->slopes.back()};
}

double Adapted::crps(double u, Further further) const {
    const Row row(further, shaped_);
    if (!std::isfinite(u)) return std::fabs(u);
    if (!row.shape.empty() && (inner_->is_normal() || lines_ != nullptr))
        return families::line_crps(lines(row), 0, 1, row.own(inner_->normal_score(u, row.inner)));
    if (inner_->is_normal()) return row.scale * inner_->crps((u - row.shift) / row.scale, {});
    if (lines_ != nullptr)
        return families::line_crps(*lines_, row.shift, row.scale, inner_->normal_score(u, row.inner));
    const double first = inner_->of_normal_score(row.inner_score(-kFarthest), row.inner);
    const double last = inner_->of_normal_score(row.inner_score(kFarthest), row.inner);
    const double inside = std::clamp(u, first, last);
    const double at = row.own(inner_->upper_normal_score(inside, row.inner));
    double sum = std::fabs(u - inside);
    if (const Even own = even(row); own.good) {
        // E|U - u| less half the mean difference of two draws; the former from the shorter tail.
        return sum + 2 * beyond(row, at) + std::copysign(1.0, at) * (inside - own.mean) - own.mean_difference;
    }
    Nodes& all = nodes(row, {at});
    for (double& z : all.z) z = z > at ? -z : z;
    scores::normal_cdf_block(all.z.size(), all.z.data());
    for (std::size_t i = 0; i < all.z.size(); ++i) sum += all.weights[i] * all.slopes[i] * all.z[i] * all.z[i];
    return sum;
}

Adapted::Moments Adapted::moments(const Row& row) const {
    if (!row.shape.empty() && (inner_->is_normal() || lines_ != nullptr)) {
        const families::LineMoments moments = families::line_moments(lines(row), 0, 1);
        return {moments.mean, moments.sd};
    }
    if (inner_->is_normal()) return {row.shift, row.scale};
    if (lines_ != nullptr) {
        const families::LineMoments moments = families::line_moments(*lines_, row.shift, row.scale);
        return {moments.mean, moments.sd};
    }
    if (const Even own = even(row); own.good) return {own.mean, std::sqrt(own.variance)};
    double mean = 0;
    double square = 0;
    const double centre = inner_->of_normal_score(row.inner_score(0), row.inner);
    Nodes& all = nodes(row, {});
    const std::size_t count = all.z.size();
    double* z = all.z.data();
#pragma omp simd
    for (std::size_t i = 0; i < count; ++i) z[i] = core::vector_exp(-z[i] * z[i] / 2);  // all of them within kFarthest
    constexpr double kDensity = scores::kRootHalf * scores::kOneOverRootPi;
    for (std::size_t i = 0; i < count; ++i) {
        const double part = kDensity * all.weights[i] * z[i] * (all.u[i] - centre);
        mean += part;
        square += part * (all.u[i] - centre);
    }
    return {centre + mean, std::sqrt(std::max(square - mean * mean, 0.0))};
}

Adapted::Moments Adapted::moments(Further further) const {
    return moments(Row(further, shaped_));
}

double Adapted::mean(Further further) const {
    return moments(Row(further, shaped_)).mean;
}

double Adapted::sd(Further further) const {
    return moments(Row(further, shaped_)).sd;
}

}  // namespace accrue
