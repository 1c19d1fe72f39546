#include "accrue/recalibrated.hpp"

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "families/lines.hpp"
#include "families/members.hpp"
#include "families/normal.hpp"
#include "families/panels.hpp"

namespace accrue {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFarOut = 37;

using families::kEnd;
using families::normal_cdf;
using families::normal_pdf;
using families::normal_score_of;

// Phi(b) - Phi(a), a <= b, from whichever side has the digits.
double between(double a, double b) {
    if (a >= 0) return normal_cdf(-a) - normal_cdf(-b);
    if (b <= 0) return normal_cdf(b) - normal_cdf(a);
    return 1 - normal_cdf(a) - normal_cdf(-b);
}

// Integral of value over [from, to] by Gauss-Legendre formulas on panels. `span` is the length in a unit in which value
// is as smooth as Phi is: with panels of at most 2 the formula is right to the last digit or two.
template <typename Value>
double integral(double from, double to, double span, Value value) {
    using boost::math::quadrature::gauss;
    constexpr double kPanel = 2;
    constexpr double kShort = 0.25;
    if (!(to > from)) return 0;
    if (span <= kShort) return gauss<double, 7>::integrate(value, from, to);
    const double panels = std::ceil(span / kPanel);
    double sum = 0;
    for (double k = 0; k < panels; ++k)
        sum += gauss<double, 15>::integrate(value, from + (to - from) * (k / panels),
                                            k + 1 == panels ? to : from + (to - from) * ((k + 1) / panels));
    return sum;
}

// Integral of Phi^2 from -infinity to v. Its terms cancel in part for v << 0, by a factor of 2v^2.
double integral_of_squared_cdf(double v) {
    if (v < -kEnd) return 0;
    const double p = normal_cdf(v);
    return v * p * p + 2 * normal_pdf(v) * p - std::numbers::inv_sqrtpi * normal_cdf(std::numbers::sqrt2 * v);
}
double integral_of_squared_cdf(double from, double to) {
    constexpr double kFarApart = 2;  // where the difference of two integrals has its digits
    if (to - from > kFarApart) return integral_of_squared_cdf(to) - integral_of_squared_cdf(from);
    return integral(from, to, to - from, [](double v) { return std::pow(normal_cdf(v), 2); });
}

// Slope of V beyond its outermost knot: `u` and `v` go outwards, and `beyond` is the probability beyond v.
double tail_slope(std::size_t knots, auto&& u, auto&& v) {
    constexpr double kTimes = 10;
    const double last = normal_cdf(-v(knots - 1));
    std::size_t inner = knots - 1;
    while (inner > 0 && normal_cdf(-v(inner)) < kTimes * last) --inner;
    if (inner + 1 == knots) return 1;
    return std::min(1.0, (v(knots - 1) - v(inner)) / (u(knots - 1) - u(inner)));
}

}  // namespace

Recalibrated::Recalibrated(Knots knots, std::vector<double> predicted, std::vector<double> actual, SharedFamily inner,
                           Kind kind)
    : inner_(std::move(inner)),
      knots_(knots),
      kind_(kind),
      predicted_(std::move(predicted)),
      actual_(std::move(actual)) {
    core::require(kind == Kind::isotonic || knots == Knots::scores, "the knots of a conformal map must be scores");
    core::require(predicted_.size() == actual_.size(), "a recalibration of {} predicted values has {} actual ones",
                  predicted_.size(), actual_.size());
    const bool are_scores = knots == Knots::scores;
    const double least = are_scores ? -2 * kFarthest : 0;
    const double most = are_scores ? 2 * kFarthest : 1;
    const auto require_rising = [&](const std::vector<double>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            core::require(values[i] > least && values[i] < most, "{} of a recalibration must be {}, but one is {}",
                          are_scores ? "scores" : "probabilities", are_scores ? "finite" : "between 0 and 1",
                          values[i]);
            if (i > 0)
                core::require(values[i - 1] < values[i],
                              "{} of a recalibration must rise strictly, but {} is followed by {}",
                              are_scores ? "scores" : "probabilities", values[i - 1], values[i]);
        }
    };
    require_rising(predicted_);
    require_rising(actual_);
    if (predicted_.empty()) knots_ = Knots::scores;  // either way a Gaussian
    if (knots_ == Knots::scores)
        take_scores();
    else
        take_probabilities();

    if (parameters_per_row(*inner_) > 0) {
        core::require(knots_ == Knots::scores, "a recalibration of probabilities goes around location and scale alone");
        take_panels();
        return;
    }
    if (knots_ == Knots::scores && inner_->is_normal())
        lines_ = std::make_shared<const families::Lines>(v_, w_, 1 / first_slope_, 1 / last_slope_);
    mean_ = inner_->mean({});
    sd_ = inner_->sd({});
    const std::size_t last = w_.size() - 1;
    lower_.assign(w_.size(), 0.0);
    upper_.assign(w_.size(), 0.0);
    lower_[0] = square(Side::below, 0, -kInfinity, w_[0]);
    upper_[last] = square(Side::above, last + 1, w_[last], kInfinity);
    for (std::size_t k = 1; k <= last; ++k) lower_[k] = lower_[k - 1] + square(Side::below, k, w_[k - 1], w_[k]);
    for (std::size_t k = last; k > 0; --k) upper_[k - 1] = upper_[k] + square(Side::above, k, w_[k - 1], w_[k]);
    if (!predicted_.empty()) take_moments();
}

void Recalibrated::take_scores() {
    w_ = predicted_;
    v_ = actual_;
    if (w_.empty()) w_ = v_ = {0};
    if (inner_->power_tails()) {
        // Back to the family's own tails, within a unit or so beyond the outermost knots.
        const double first = w_.front() - std::max(1.0, 2 * (w_.front() - v_.front()));
        const double last = w_.back() + std::max(1.0, 2 * (v_.back() - w_.back()));
        for (std::vector<double>* scores : {&w_, &v_}) {
            scores->insert(scores->begin(), first);
            scores->push_back(last);
        }
        return;  // with slopes of 1
    }
    const std::size_t n = w_.size();
    last_slope_ = tail_slope(
        n, [&](std::size_t k) { return w_[k]; }, [&](std::size_t k) { return v_[k]; });
    first_slope_ = tail_slope(
        n, [&](std::size_t k) { return -w_[n - 1 - k]; }, [&](std::size_t k) { return -v_[n - 1 - k]; });
}

void Recalibrated::take_probabilities() {
    for (std::size_t k = 0; k < predicted_.size(); ++k) {
        w_.push_back(normal_score_of(predicted_[k], 1 - predicted_[k]));
        v_.push_back(normal_score_of(actual_[k], 1 - actual_[k]));
        actual_sides_.push_back({actual_[k], 1 - actual_[k]});
    }
    actual_sides_.insert(actual_sides_.begin(), {0, 1});
    actual_sides_.push_back({1, 0});
}

// Mean of u, and then of (u - mean)^2, over the probability of every piece.
void Recalibrated::take_moments() {
    const std::size_t last = w_.size();
    const auto expected = [&](auto value) {
        double sum = 0;
        for (std::size_t k = 0; k <= last; ++k) {
            if (knots_ == Knots::scores) {
                const double from = is_first(k) ? std::min(v_[0], 0.0) - kEnd : v_[k - 1];
                const double to = is_last(k) ? std::max(v_[last - 1], 0.0) + kEnd : v_[k];
                constexpr double kMaxSpan = 64;
                const double span = inner_->is_normal() ? 0 : std::min(kMaxSpan, at_score(k, to) - at_score(k, from));
                sum += integral(from, to, std::max(to - from, span), [&](double v) {
                    const double w = is_first(k)  ? w_[0] + (v - v_[0]) / first_slope_
                                     : is_last(k) ? w_[last - 1] + (v - v_[last - 1]) / last_slope_
                                                  : w_[k - 1] + (w_[k] - w_[k - 1]) * ((v - from) / (to - from));
                    return value(inner_->of_normal_score(w, {})) * normal_pdf(v);
                });
            } else {
                const double from = is_first(k) ? -kEnd : w_[k - 1];
                const double to = is_last(k) ? kEnd : w_[k];
                const double all = between(from, to);
                if (!(all > 0)) continue;
                sum += rise(k) * integral(from, to, to - from, [&](double w) {
                           return value(inner_->of_normal_score(w, {})) * (normal_pdf(w) / all);
                       });
            }
        }
        return sum;
    };
    const double mean = expected([](double u) { return u; });
    sd_ = std::sqrt(expected([&](double u) { return (u - mean) * (u - mean); }));
    mean_ = mean;
}

namespace {

// Rows in the order of their values, the far ones brought in. Of those that count.
struct SortedRows {
    // A value, and the share of the rows that have it.
    struct Step {
        double value, probability;
        std::size_t rows;
    };
    std::vector<Step> steps;
    std::size_t rows = 0;

    SortedRows(std::span<const double> scores, std::span<const double> weights) {
        std::vector<std::size_t> order(scores.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto weight = [&](std::size_t i) { return weights.empty() ? 1 : weights[i]; };
        std::erase_if(order, [&](std::size_t i) { return !(weight(i) > 0); });
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
        rows = order.size();
        double total = 0;
        for (const std::size_t i : order) total += weight(i);
        for (const std::size_t i : order) {
            const double value = std::clamp(scores[i], -Recalibrated::kFarthestRow, Recalibrated::kFarthestRow);
            if (steps.empty() || steps.back().value != value) steps.push_back({value, 0, 0});
            steps.back().probability += weight(i) / total;
            ++steps.back().rows;
        }
    }

    // The way from a step to other rows.
    double to_next(std::size_t step) const {
        return step + 1 < steps.size() ? steps[step + 1].value - steps[step].value : kInfinity;
    }
    double to_last(std::size_t step) const { return step > 0 ? to_next(step - 1) : kInfinity; }
};

// Knots that rise: what would not is left out.
struct RisingKnots {
    std::vector<double> predicted, actual;

    void add(double at, double probability) {
        if (!(probability > 0 && probability < 1)) return;
        const double score = normal_score_of(probability, 1 - probability);
        if (!predicted.empty() && !(at > predicted.back() && score > actual.back())) return;
        predicted.push_back(at);
        actual.push_back(score);
    }
};

// How far from an atom its ends lie, `gap` being the way to other rows and `row` the probability of one. Beyond all of
// them it is as far as so many rows leave sigma uncertain: in units of that an atom of another fold has another place,
// which must be possible.
double hair(double gap, double at, double row) {
    constexpr double kHair = 1e-6;
    return gap < kInfinity ? kHair * std::min(1.0, gap) : std::max(kHair, std::sqrt(row) * std::fabs(at));
}

constexpr double kSpacing = 1 / static_cast<double>(Recalibrated::kAllKnots);
constexpr double kShareOfRest = 0.25;

RisingKnots isotonic_knots(const SortedRows& rows) {
    const auto& steps = rows.steps;
    // The median step stands for one row: where rows are repeated in place of a weight it is the same.
    double row = 0;
    if (!steps.empty()) {
        std::vector<double> sizes;
        for (const auto& step : steps) sizes.push_back(step.probability);
        const auto median = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
        std::nth_element(sizes.begin(), median, sizes.end());
        row = *median;
    }

    // A value and the middle of its step. A step of several rows that knots would divide has a knot at either end too,
    // where the first and the last of its rows would have theirs: half of an atom would otherwise be spread as far as
    // the next knot is away, and without end where there is none.
    constexpr double kSeveral = 1.6;  // rows; no ratio of small whole weights, which rounding could move either way
    const auto spacing = [](double at) { return std::min(kSpacing, kShareOfRest * std::min(at, 1 - at)); };
    RisingKnots knots;
    double before = 0;
    double next = 0;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const double at = steps[k].value;
        const double own = steps[k].probability;
        const double low = before + row / 2;
        const double middle = before + own / 2;
        const double high = before + own - row / 2;
        before += own;
        const bool atom = own > kSeveral * row && high - low > spacing(middle);
        if (middle < next && !atom) continue;
        const double from_last = knots.predicted.empty() ? kInfinity : at - knots.predicted.back();
        if (atom) knots.add(at - hair(from_last, at, row), low);
        knots.add(at, middle);
        if (atom) knots.add(at + hair(rows.to_next(k), at, row), high);
        if (rows.rows > Recalibrated::kAllKnots) next = (atom ? high : middle) + spacing(atom ? high : middle);
    }
    return knots;
}

// The ranks, from 1 on, of the rows that are knots of a conformal map. With each rank its mirror image.
std::vector<std::size_t> conformal_ranks(std::size_t rows) {
    std::vector<std::size_t> ranks;
    const auto add = [&](std::size_t rank) {
        if (rank == 0) return;
        ranks.push_back(rank);
        ranks.push_back(rows + 1 - rank);
    };
    if (rows <= Recalibrated::kAllKnots) {
        for (std::size_t rank = 1; rank <= rows; ++rank) add(rank);
    } else {
        constexpr std::size_t kHalf = Recalibrated::kAllKnots / 2;
        for (std::size_t k = 1; k <= kHalf; ++k) add(k * (rows + 1) / Recalibrated::kAllKnots);
        const auto count = static_cast<double>(rows + 1);
        for (double rank = kSpacing * count; rank >= 1; rank *= 1 - kShareOfRest) add(static_cast<std::size_t>(rank));
        add(1);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

RisingKnots conformal_knots(const SortedRows& rows) {
    const std::vector<std::size_t> ranks = conformal_ranks(rows.rows);
    const auto count = static_cast<double>(rows.rows + 1);
    const auto probability = [&](std::size_t rank, double off = 0) {
        return (static_cast<double>(rank) + off) / count;
    };
    RisingKnots knots;
    std::size_t before = 0;
    for (std::size_t k = 0; k < rows.steps.size(); ++k) {
        const auto& step = rows.steps[k];
        const std::size_t first = before + 1;
        const std::size_t last = before + step.rows;
        before = last;
        const auto wanted = std::lower_bound(ranks.begin(), ranks.end(), first);
        if (wanted == ranks.end() || *wanted > last) continue;
        if (first == last) {
            knots.add(step.value, probability(first));
            continue;
        }
        // Whichever of equal rows an interval ends at, it holds all of them: rounded outwards their ranks are at the
        // knot on the far side. A third, so that the knots of two such values rise.
        constexpr double kOff = 1.0 / 3;
        knots.add(step.value - hair(rows.to_last(k), step.value, 1 / count), probability(first, -kOff));
        knots.add(step.value + hair(rows.to_next(k), step.value, 1 / count), probability(last, kOff));
    }
    return knots;
}

}  // namespace

std::shared_ptr<const Recalibrated> Recalibrated::fitted(std::span<const double> scores,
                                                         std::span<const double> weights, SharedFamily inner,
                                                         Kind kind) {
    core::require(!scores.empty(), "there are no rows to recalibrate");
    core::require(weights.empty() || weights.size() == scores.size(), "there are {} weights, but {} rows",
                  weights.size(), scores.size());
    core::require(weights.empty() || kind == Kind::isotonic, "a conformal map counts rows: it takes no weights");
    for (std::size_t i = 0; i < scores.size(); ++i)
        core::require(!std::isnan(scores[i]), "row {} has no score to recalibrate", i + 1);
    const SortedRows rows(scores, weights);
    RisingKnots knots = kind == Kind::conformal ? conformal_knots(rows) : isotonic_knots(rows);
    return std::make_shared<Recalibrated>(Knots::scores, std::move(knots.predicted), std::move(knots.actual),
                                          std::move(inner), kind);
}

std::size_t Recalibrated::piece_of(double w) const {
    return static_cast<std::size_t>(std::upper_bound(w_.begin(), w_.end(), w) - w_.begin());
}

// The normal score V(w), in the piece.
double Recalibrated::score(std::size_t piece, double w) const {
    if (knots_ == Knots::scores) {
        if (is_first(piece)) return v_[0] + first_slope_ * (w - w_[0]);
        if (is_last(piece)) return v_.back() + last_slope_ * (w - w_.back());
        return v_[piece - 1] + (v_[piece] - v_[piece - 1]) * ((w - w_[piece - 1]) / (w_[piece] - w_[piece - 1]));
    }
    if (std::isinf(w)) return w;
    if ((is_first(piece) && w < -kFarOut) || (is_last(piece) && w > kFarOut)) {
        // Phi loses its digits and then underflows, but -log Phi(-w) is w^2/2 + log w and a constant.
        const double slope =
            is_first(piece) ? actual_[0] / predicted_[0] : actual_sides_[piece].above / (1 - predicted_[piece - 1]);
        const double squared = w * w - 2 * std::log(slope);
        return std::copysign(std::sqrt(squared + std::log(w * w / squared)), w);
    }
    const Sides p = sides(piece, w);
    return normal_score_of(p.below, p.above);
}

Recalibrated::Sides Recalibrated::sides(std::size_t piece, double w) const {
    if (knots_ == Knots::scores) {
        const double v = score(piece, w);
        return {normal_cdf(v), normal_cdf(-v)};
    }
    const double from = is_first(piece) ? -kInfinity : w_[piece - 1];
    const double to = is_last(piece) ? kInfinity : w_[piece];
    const Sides& low = actual_sides_[piece];
    const Sides& high = actual_sides_[piece + 1];
    const double all = between(from, to);
    if (!(all > 0)) return low;  // two knots that Phi cannot tell apart
    return {low.below + rise(piece) * (between(from, w) / all), high.above + rise(piece) * (between(w, to) / all)};
}

// Of V in a piece.
double Recalibrated::slope(std::size_t piece) const {
    if (is_first(piece)) return first_slope_;
    if (is_last(piece)) return last_slope_;
    return (v_[piece] - v_[piece - 1]) / (w_[piece] - w_[piece - 1]);
}

double Recalibrated::stretch(double w) const {
    if (inner_->is_normal()) return 1;
    const double slope = inner_->normal_score_slope(inner_->of_normal_score(w, {}), {});
    return slope > 0 ? 1 / slope : 0;
}

// The actual probability of a piece.
double Recalibrated::rise(std::size_t piece) const {
    const Sides& low = actual_sides_[piece];
    const Sides& high = actual_sides_[piece + 1];
    return low.below < low.above ? high.below - low.below : low.above - high.above;
}

std::size_t Recalibrated::piece_of_score(double v) const {
    return static_cast<std::size_t>(std::upper_bound(v_.begin(), v_.end(), v) - v_.begin());
}

// The w that has the score v, in the piece. Of scores.
double Recalibrated::at_score(std::size_t piece, double v) const {
    if (is_first(piece)) return w_[0] + (v - v_[0]) / first_slope_;
    if (is_last(piece)) return w_.back() + (v - v_.back()) / last_slope_;
    const double share = (v - v_[piece - 1]) / (v_[piece] - v_[piece - 1]);
    return w_[piece - 1] + (w_[piece] - w_[piece - 1]) * share;
}

// The w that has the score v, and these probabilities on its sides.
double Recalibrated::at_score(double v, Sides p) const {
    if (knots_ == Knots::scores) {
        return at_score(piece_of_score(v), v);
    }
    const auto piece =
        static_cast<std::size_t>(std::upper_bound(actual_.begin(), actual_.end(), p.below) - actual_.begin());
    const Sides& low = actual_sides_[piece];
    const Sides& high = actual_sides_[piece + 1];
    const double from = is_first(piece) ? 0 : predicted_[piece - 1];
    const double to = is_last(piece) ? 1 : predicted_[piece];
    // Shares of the piece that lie below and above.
    const double below = from + (to - from) * ((p.below - low.below) / rise(piece));
    const double above = (1 - to) + (to - from) * ((p.above - high.above) / rise(piece));
    return normal_score_of(below, above);
}

// Integral over part of one piece of the squared probability on one side. The integrand is positive, and so is every
// term of the sum.
double Recalibrated::square(Side side, std::size_t piece, double from, double to) const {
    const auto value = [&](double w) {
        const Sides p = sides(piece, w);
        return std::pow(side == Side::below ? p.below : p.above, 2) * stretch(w);
    };
    if (!inner_->is_normal()) {
        // By quadrature between where the squares are nothing, or all up to u itself.
        constexpr double kFarV = 13;
        const double first = std::min(w_[0], at_score(-kFarV, {0, 1}));
        const double last = std::max(w_.back(), at_score(kFarV, {1, 0}));
        const double low = std::clamp(from, first, last);
        const double high = std::clamp(to, first, last);
        const auto inner_value = [&](double w) { return inner_->of_normal_score(w, {}); };
        const double certain = side == Side::below ? inner_value(std::max(to, high)) - inner_value(high)
                                                   : inner_value(low) - inner_value(std::min(from, low));
        // In two parts where the median, at which a density may have a kink, lies between.
        const double middle = std::clamp(0.0, low, high);
        const auto part = [&](double a, double b) {
            const double rise = a < b ? score(piece, b) - score(piece, a) : 0;
            return integral(a, b, std::max(8 * (b - a), rise), value);
        };
        return (std::isfinite(certain) ? certain : 0) + part(low, middle) + part(middle, high);
    }
    if (knots_ == Knots::scores) {
        if (!is_first(piece) && !is_last(piece))
            return integral(from, to, score(piece, to) - score(piece, from), value);
        const double slope = is_first(piece) ? first_slope_ : last_slope_;
        const double v_from = score(piece, from);
        const double v_to = score(piece, to);
        if (side == Side::below)
            return (std::isinf(v_from) ? integral_of_squared_cdf(v_to) : integral_of_squared_cdf(v_from, v_to)) / slope;
        return (std::isinf(v_to) ? integral_of_squared_cdf(-v_from) : integral_of_squared_cdf(-v_to, -v_from)) / slope;
    }
    // Beyond the ends the probability is 0 on one side and 1 on the other.
    const double low = std::clamp(from, -kEnd, kEnd);
    const double high = std::clamp(to, -kEnd, kEnd);
    const double certain =
        side == Side::below ? std::max(0.0, to - std::max(from, kEnd)) : std::max(0.0, std::min(to, -kEnd) - from);
    return certain + integral(low, high, high - low, value);
}

void Recalibrated::take_panels() {
    constexpr double kEndOfV = 8.5;  // beyond it a square is less than 1e-33
    for (std::size_t k = 0; k <= w_.size(); ++k) {
        const double from = is_first(k) ? w_[0] - std::max(0.0, v_[0] + kEndOfV) / first_slope_ : w_[k - 1];
        const double to = is_last(k) ? w_.back() + std::max(0.0, kEndOfV - v_.back()) / last_slope_ : w_[k];
        families::for_panels(*inner_, {}, std::array{from, to}, slope(k), [&](double a, double b, double) {
            panels_.push_back({a, b, k, nodes_.size()});
            add_nodes(panels_.back(), a, b, nodes_);
        });
    }
    for (const Node& node : nodes_) node_scores_.push_back(node.w);
}

void Recalibrated::add_nodes(const Panel& panel, double from, double to, std::vector<Node>& nodes) const {
    const double half = (to - from) / 2;
    const families::Rule& rule =
        families::rule_of(std::max(inner_->unit(to, {}) - inner_->unit(from, {}), slope(panel.piece) * (to - from)));
    for (std::size_t k = 0; k < rule.places.size(); ++k) {
        const double w = from + half * (1 + rule.places[k]);
        nodes.push_back({w, half * rule.weights[k], sides(panel.piece, w)});
    }
}

template <typename Use>
void Recalibrated::for_nodes(Further further, std::vector<double> splits, Use&& use) const {
    const std::vector<double> jumps = inner_->jumps(further);
    splits.insert(splits.end(), jumps.begin(), jumps.end());
    std::sort(splits.begin(), splits.end());
    thread_local std::array<std::vector<double>, 2> kept;
    auto& [u, slopes] = kept;
    u.resize(nodes_.size());
    slopes.resize(nodes_.size());
    inner_->of_normal_scores(node_scores_, further, u.data(), slopes.data());
    auto split = splits.begin();
    for (std::size_t k = 0; k < panels_.size(); ++k) {
        const Panel& panel = panels_[k];
        while (split != splits.end() && *split <= panel.from) ++split;
        if (split == splits.end() || *split >= panel.to) {
            const std::size_t end = k + 1 < panels_.size() ? panels_[k + 1].first_node : nodes_.size();
            for (std::size_t at = panel.first_node; at < end; ++at) use(nodes_[at], u[at], slopes[at]);
            continue;
        }
        std::vector<Node> own;
        double from = panel.from;
        for (; split != splits.end() && *split < panel.to; ++split) {
            add_nodes(panel, from, *split, own);
            from = *split;
        }
        add_nodes(panel, from, panel.to, own);
        std::vector<double> w, own_u(own.size()), own_slopes(own.size());
        for (const Node& node : own) w.push_back(node.w);
        inner_->of_normal_scores(w, further, own_u.data(), own_slopes.data());
        for (std::size_t at = 0; at < own.size(); ++at) use(own[at], own_u[at], own_slopes[at]);
    }
}

Recalibrated::Moments Recalibrated::moments(Further further) const {
    // About the end of a panel in the middle.
    const double centre = panels_[panels_.size() / 2].from;
    const double from = inner_->of_normal_score(centre, further);
    double mean = 0;
    double square = 0;
    for_nodes(further, {}, [&](const Node& node, double u, double slope) {
        const double part = node.weight * slope * (node.w > centre ? node.sides.above : -node.sides.below);
        mean += part;
        square += 2 * (u - from) * part;
    });
    // What tails that fall as a power have beyond the last panel, where squares of u still count.
    for (const double side : {-1.0, 1.0}) {
        if (!inner_->power_tails()) break;
        const Panel& last = side < 0 ? panels_.front() : panels_.back();
        const double w = side < 0 ? last.from : last.to;
        const double v = side * score(last.piece, w);
        const double u = side * inner_->of_normal_score(w, further);
        const double beyond = normal_cdf(-v);
        const double power =
            u * slope(last.piece) * inner_->normal_score_slope(side * u, further) / families::mills_ratio(v);
        if (!(power > 2)) continue;
        mean += side * beyond * u / (power - 1);
        square += 2 * beyond * (u * u / (power - 2) - side * from * u / (power - 1));
    }
    return {from + mean, std::sqrt(std::max(square - mean * mean, 0.0))};
}

double Recalibrated::pdf(double u, Further further) const {
    const double w = inner_->normal_score(u, further);
    const std::size_t piece = piece_of(w);
    if (knots_ == Knots::scores)
        return slope(piece) * normal_pdf(score(piece, w)) * inner_->normal_score_slope(u, further);
    const double all = between(is_first(piece) ? -kInfinity : w_[piece - 1], is_last(piece) ? kInfinity : w_[piece]);
    return rise(piece) * (normal_pdf(w) / all) * inner_->normal_score_slope(u, further);
}

double Recalibrated::log_pdf_slope(double u, Further further) const {
    const double w = inner_->normal_score(u, further);
    const std::size_t piece = piece_of(w);
    // Of the inner density, and of what the map multiplies it with inside a piece.
    const double by_w = knots_ == Knots::scores ? w - slope(piece) * score(piece, w) : 0;
    return inner_->log_pdf_slope(u, further) + by_w * inner_->normal_score_slope(u, further);
}

// Of the probability up to u: an atom of the inner family, whose normal score is anywhere in it, belongs to it.
double Recalibrated::cdf(double u, Further further) const {
    const double w = inner_->upper_normal_score(u, further);
    return sides(piece_of(w), w).below;
}

double Recalibrated::survival(double u, Further further) const {
    const double w = inner_->upper_normal_score(u, further);
    return sides(piece_of(w), w).above;
}

double Recalibrated::quantile(double probability, Further further) const {
    return inner_->of_normal_score(
        at_score(normal_score_of(probability, 1 - probability), {probability, 1 - probability}), further);
}

std::pair<double, double> Recalibrated::interval(double level, Further further) const {
    if (kind_ == Kind::isotonic || predicted_.empty()) return Family::interval(level, further);
    const double half = -normal_score_of((1 - level) / 2, (1 + level) / 2);
    // A level of just so many rows has their rank, whatever rounding makes of it; and rows that lie where the interval
    // ends lie inside.
    constexpr double kRounding = 1e-9;
    // Of rows: what leads back to a family's own tails is none of them.
    const auto added = static_cast<std::ptrdiff_t>(v_.size() - predicted_.size()) / 2;
    const auto first = v_.begin() + added;
    const auto last = v_.end() - added;
    const auto high = std::lower_bound(first, last, half - kRounding);
    const auto low = std::upper_bound(first, last, kRounding - half);
    const Sides above{(1 + level) / 2, (1 - level) / 2};
    const double from =
        low != first ? w_[static_cast<std::size_t>(low - v_.begin()) - 1] : at_score(-half, {above.above, above.below});
    const double to = high != last ? w_[static_cast<std::size_t>(high - v_.begin())] : at_score(half, above);
    const auto slack = [](double w) { return kRounding * (1 + std::fabs(w)); };
    return {inner_->of_normal_score(from - slack(from), further), inner_->of_normal_score(to + slack(to), further)};
}

double Recalibrated::squares_below_score(double w) const {
    const std::size_t piece = piece_of(w);
    return is_first(piece) ? square(Side::below, piece, -kInfinity, w)
                           : lower_[piece - 1] + square(Side::below, piece, w_[piece - 1], w);
}

Recalibrated::Place Recalibrated::place_in_panels(double u, Further further) const {
    const double first = inner_->of_normal_score(panels_.front().from, further);
    const double last = inner_->of_normal_score(panels_.back().to, further);
    const double own = std::clamp(u, first, last);
    return {own, inner_->upper_normal_score(own, further)};
}

double Recalibrated::crps(double u, Further further) const {
    if (!std::isfinite(u)) return std::fabs(u);
    if (!panels_.empty()) {
        const Place at = place_in_panels(u, further);
        double sum = std::fabs(u - at.u);
        for_nodes(further, {at.score}, [&](const Node& node, double, double slope) {
            const double p = node.w > at.score ? node.sides.above : node.sides.below;
            sum += node.weight * slope * p * p;
        });
        return sum;
    }
    const double w = inner_->normal_score(u, {});
    const std::size_t piece = piece_of(w);
    const double above = is_last(piece) ? square(Side::above, piece, w, kInfinity)
                                        : square(Side::above, piece, w, w_[piece]) + upper_[piece];
    return squares_below_score(w) + above;
}

double Recalibrated::squares_below(double u, Further further) const {
    if (panels_.empty()) return squares_below_score(inner_->normal_score(u, {}));
    const Place at = place_in_panels(u, further);
    if (u < at.u) return 0;
    double sum = u - at.u;
    for_nodes(further, {at.score}, [&](const Node& node, double, double slope) {
        if (node.w <= at.score) sum += node.weight * slope * node.sides.below * node.sides.below;
    });
    return sum;
}

double Recalibrated::normal_score(double u, Further further) const {
    const double w = inner_->normal_score(u, further);
    return score(piece_of(w), w);
}

// Knots bend the map, and what the inner family has is seen through it.
std::vector<double> Recalibrated::jumps(Further further) const {
    std::vector<double> all = v_;
    for (const double w : inner_->jumps(further)) all.push_back(score(piece_of(w), w));
    return all;
}

double Recalibrated::unit(double z, Further further) const {
    const bool are_scores = knots_ == Knots::scores;
    return inner_->unit(are_scores ? at_score(piece_of_score(z), z) : at_score(z, {normal_cdf(z), normal_cdf(-z)}),
                        further);
}

void Recalibrated::of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const {
    if (knots_ == Knots::probabilities) return Family::of_normal_scores(z, further, u, slopes);
    thread_local std::array<std::vector<double>, 2> kept;
    auto& [w, by] = kept;
    w.resize(z.size());
    by.resize(z.size());
    // Most scores come in rising order: the piece of one is that of the last, or not far above.
    std::size_t piece = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        if (piece > 0 && z[i] < v_[piece - 1])
            piece = static_cast<std::size_t>(std::upper_bound(v_.begin(), v_.end(), z[i]) - v_.begin());
        while (piece < v_.size() && v_[piece] <= z[i]) ++piece;
        w[i] = at_score(piece, z[i]);
        by[i] = 1 / slope(piece);
    }
    inner_->of_normal_scores(w, further, u, slopes);
    for (std::size_t i = 0; i < z.size(); ++i) slopes[i] *= by[i];
}

double Recalibrated::of_normal_score(double score, Further further) const {
    if (knots_ == Knots::scores) return inner_->of_normal_score(at_score(piece_of_score(score), score), further);
    return inner_->of_normal_score(at_score(score, {normal_cdf(score), normal_cdf(-score)}), further);
}

}  // namespace accrue
