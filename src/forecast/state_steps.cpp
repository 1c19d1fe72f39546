// What a state does for every time and every row: all candidates side by side, in vector code.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "accrue/state.hpp"
#include "core/error.hpp"
#include "core/exp.hpp"
#include "families/shape.hpp"
#include "scores/gauss.hpp"

namespace accrue {

namespace {

constexpr double kFarthestScore = 1e6;  // whatever came, sums stay finite
// A sigma beyond all that was seen is no reason to turn a forecast upside down.
constexpr double kMaxLog = 5;

const double kMeanToScale = std::sqrt(std::numbers::pi / 2);  // of the absolute value of a normal number

double within(double value, double most) {
    const double above = value > -most ? value : -most;
    return above < most ? above : most;
}

// k of a row, by how far its trust is from 1.
double unit_of(double distrust, double log_sigma, double log_unit) {
    return core::vector_exp(-distrust * within(log_sigma - log_unit, kMaxLog));
}

// The solutions of (weight*products + diagonal) b = weight*sums, of positive diagonals, by Cholesky's method: for
// `count` candidates side by side, whose products and sums are `stride` apart.
void solve(std::size_t n, std::size_t count, std::size_t stride, const double* products, const double* sums,
           double weight, double first, double others, double* b) {
    thread_local std::vector<double> lower;
    lower.resize(n * n * count);
    const auto l = [&](std::size_t i, std::size_t j) { return lower.data() + (i * n + j) * count; };
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double* value = l(i, j);
            const double* product = products + (i * (i + 1) / 2 + j) * stride;
            const double added = i != j ? 0 : i == 0 ? first : others;
            for (std::size_t c = 0; c < count; ++c) value[c] = weight * product[c] + added;
            for (std::size_t k = 0; k < j; ++k)
                for (std::size_t c = 0; c < count; ++c) value[c] -= l(i, k)[c] * l(j, k)[c];
            if (i == j)
                for (std::size_t c = 0; c < count; ++c) value[c] = std::sqrt(value[c]);
            else
                for (std::size_t c = 0; c < count; ++c) value[c] /= l(j, j)[c];
        }
    for (std::size_t i = 0; i < n; ++i) {
        double* value = b + i * count;
        for (std::size_t c = 0; c < count; ++c) value[c] = weight * sums[i * stride + c];
        for (std::size_t k = 0; k < i; ++k)
            for (std::size_t c = 0; c < count; ++c) value[c] -= l(i, k)[c] * b[k * count + c];
        for (std::size_t c = 0; c < count; ++c) value[c] /= l(i, i)[c];
    }
    for (std::size_t i = n; i-- > 0;) {
        double* value = b + i * count;
        for (std::size_t k = i + 1; k < n; ++k)
            for (std::size_t c = 0; c < count; ++c) value[c] -= l(k, i)[c] * b[k * count + c];
        for (std::size_t c = 0; c < count; ++c) value[c] /= l(i, i)[c];
    }
}

double product(std::span<const double> coefficients, std::span<const double> x) {
    double sum = coefficients[0];
    for (std::size_t k = 0; k < x.size(); ++k) sum += coefficients[k + 1] * x[k];
    return sum;
}

// A row of which every candidate makes something: its score, sigma and what it looked like before.
struct Seen {
    double score, sigma, log_sigma;
};
// Adds what the forecasts of this row left, for a vector of candidates. `taken` is its score as the shift takes it, in
// units of k.
constexpr std::size_t kLanes = 8;
void add_lanes(Seen row, const double* __restrict shift, const double* __restrict scale,
               const double* __restrict log_unit, const double* __restrict distrust, double* __restrict loss,
               double* __restrict left, double* __restrict taken) {
    const double mean_to_scale = kMeanToScale;
#pragma omp simd
    for (std::size_t c = 0; c < kLanes; ++c) {
        const double unit = unit_of(distrust[c], row.log_sigma, log_unit[c]);
        const double error = row.score - unit * shift[c];
        const double spread = unit * scale[c];
        const scores::ErfGauss g = scores::erf_gauss(error / spread * scores::kRootHalf);
        // As scores::crps_value, which would keep g in memory: this loop is vector code only without.
        loss[c] += row.sigma * (std::fabs(error) * std::fabs(g.erf) +
                                spread * (scores::kRootTwoOverPi * g.gauss - scores::kOneOverRootPi));
        const double rest = error / unit;
        taken[c] = shift[c] + within(rest, State::kFarthestForShift * scale[c]);
        left[c] += mean_to_scale * std::fabs(within(rest, State::kFarthestForScale * scale[c]));
    }
}

// The same for all candidates. Those that fill no vector are brought into one: one by one they would take longer than
// all others.
void add_row(std::size_t count, const Seen& row, const double* shift, const double* scale, const double* log_unit,
             const double* distrust, double* loss, double* left, double* taken) {
    std::size_t c = 0;
    for (; c + kLanes <= count; c += kLanes)
        add_lanes(row, shift + c, scale + c, log_unit + c, distrust + c, loss + c, left + c, taken + c);
    if (c == count) return;
    using Lanes = std::array<double, kLanes>;
    Lanes own_shift{}, own_scale, own_unit{}, own_distrust{}, own_loss{}, own_left{}, own_taken{};
    own_scale.fill(1);
    const std::size_t rest = count - c;
    const auto take = [&](const double* from, Lanes& to) { std::copy_n(from + c, rest, to.begin()); };
    take(shift, own_shift);
    take(scale, own_scale);
    take(log_unit, own_unit);
    take(distrust, own_distrust);
    take(loss, own_loss);
    take(left, own_left);
    add_lanes(row, own_shift.data(), own_scale.data(), own_unit.data(), own_distrust.data(), own_loss.data(),
              own_left.data(), own_taken.data());
    const auto put = [&](const Lanes& from, double* to) { std::copy_n(from.begin(), rest, to + c); };
    put(own_loss, loss);
    put(own_left, left);
    put(own_taken, taken);
}

}  // namespace

State::Moment::Moment(const State& state, std::size_t candidate, double time)
    : state_(state), candidate_(candidate), time_(time), coefficients_(state.width()) {
    const std::size_t pair = state.pair(candidate);
    const double shrink = state.shrink(candidate);
    const double weight = state.steps_ == 0 ? 0 : std::exp(-(time - state.clock_) / state.forget(pair));
    const Sums& sums = state.sums_;
    const double* products = sums.products.data() + pair;
    solve(state.width(), 1, state.pairs(), products, sums.scores.data() + pair, weight, shrink, state.options_.ridge,
          coefficients_.data());
    scale_ = (weight * sums.left[candidate] + shrink) / (weight * products[0] + shrink);
    if (state.steps_ > 0) log_unit_ = sums.log_sigmas[pair] / products[0];
    if (!state.options_.shape) return;
    const auto best = std::min_element(sums.shape_loss.begin(), sums.shape_loss.end()) - sums.shape_loss.begin();
    if (best > 0)
        shape_ = std::make_shared<const std::vector<double>>(
            state.shape(static_cast<std::size_t>(best) - 1, state.steps_ > 0 ? time - state.clock_ : 0));
}

double State::Moment::unit(double sigma) const {
    const double trust = state_.trust(state_.pair(candidate_));
    if (state_.steps_ == 0 || trust == 1) return 1;
    return unit_of(1 - trust, std::log(sigma), log_unit_);
}

double State::Moment::shift(std::size_t group, std::span<const double> x) const {
    const double common = product(coefficients_, x);
    if (group == kNoGroup) return common;
    const std::size_t width = state_.width();
    const std::size_t pairs = state_.pairs();
    const std::size_t pair = state_.pair(candidate_);
    const double* own = state_.sums_.groups.data() + group * (width + 1) * pairs + pair;
    const double weight = std::exp(-(time_ - state_.group_times_[group]) / state_.forget(pair));
    // What the coefficients leave of the group's scores.
    double left = own[width * pairs];
    for (std::size_t k = 0; k < width; ++k) left -= coefficients_[k] * own[k * pairs];
    return common + weight * left / (weight * own[0] + state_.shrink(candidate_));
}

Moved State::Moment::of(double sigma, std::size_t group, std::span<const double> x) const {
    const double k = unit(sigma);
    return {k * shift(group, x), k * scale_, shape_};
}

const std::vector<double>& State::fades(double gap) {
    if (gap == gap_) return fades_;
    fades_.resize(pairs());
    for (std::size_t p = 0; p < fades_.size(); ++p)
        fades_[p] = p % options_.trust.size() > 0 ? fades_[p - 1] : std::exp(-gap / forget(p));
    gap_ = gap;
    return fades_;
}

void State::observe(double time, std::span<const Observation> rows) {
    core::require(time > clock_, "the state has seen time {} already", time);
    if (rows.empty()) return;
    thread_local std::vector<std::size_t> groups, present;
    groups.assign(rows.size(), kNoGroup);
    if (!options_.group.empty())
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::string label(rows[i].group);
            groups[i] = group(label);
            if (groups[i] != kNoGroup) continue;
            add_group(label, time);
            groups[i] = labels_.size() - 1;
        }
    if (!tails_.empty()) move_tails(time, rows, groups);
    if (options_.shape) count_shape(time, rows, groups);
    const std::size_t n = width();
    const std::size_t pairs = this->pairs();
    const std::size_t all = candidates();
    const auto fade = [&](double gap, std::span<double> values) {
        const std::vector<double>& by = fades(gap);
        for (std::size_t k = 0; k < values.size(); k += pairs)
            for (std::size_t p = 0; p < pairs; ++p) values[k + p] *= by[p];
    };

    // What every candidate forecasts now, before any row is added: coefficients, those of every shrink together, scale,
    // log s; of groups their shifts. And of every pair the best candidate, by which rows are added to what is shared.
    thread_local std::vector<double> now, group_shifts, f;
    thread_local std::vector<std::size_t> best;
    now.assign((n + 5) * all, 0.0);
    double* coefficients = now.data();
    double* scale = coefficients + n * all;
    double* log_unit = scale + all;
    double* distrust = log_unit + all;
    double* shift = distrust + all;
    double* taken = shift + all;
    if (steps_ > 0) {
        for (std::size_t c = 0; c < all; ++c) {
            const std::size_t p = pair(c);
            log_unit[c] = sums_.log_sigmas[p] / sums_.products[p];  // before these fade to nothing
            distrust[c] = 1 - trust(p);
        }
        for (auto* values : {&sums_.left, &sums_.log_sigmas, &sums_.products, &sums_.scores})
            fade(time - clock_, *values);
    }
    for (std::size_t first = 0; first < all; first += pairs) {
        const double own = shrink(first);
        solve(n, pairs, pairs, sums_.products.data(), sums_.scores.data(), 1, own, options_.ridge,
              coefficients + n * first);
        for (std::size_t p = 0; p < pairs; ++p)
            scale[first + p] = (sums_.left[first + p] + own) / (sums_.products[p] + own);
    }
    best.resize(pairs);
    for (std::size_t p = 0; p < pairs; ++p) best[p] = best_of(p);
    const auto sums_of = [&](std::size_t group) { return sums_.groups.data() + group * (n + 1) * pairs; };
    present = groups;
    std::sort(present.begin(), present.end());
    present.erase(std::unique(present.begin(), present.end()), present.end());
    std::erase(present, kNoGroup);
    group_shifts.resize(present.size() * all);
    for (std::size_t g = 0; g < present.size(); ++g) {
        const std::size_t group = present[g];
        double* own = sums_of(group);
        fade(time - group_times_[group], {own, (n + 1) * pairs});
        group_times_[group] = time;
        for (std::size_t first = 0; first < all; first += pairs) {
            const double* b = coefficients + n * first;
            const double towards_common = shrink(first);
            double* of_group = group_shifts.data() + g * all + first;
            std::copy(own + n * pairs, own + (n + 1) * pairs, of_group);
            for (std::size_t k = 0; k < n; ++k)
                for (std::size_t p = 0; p < pairs; ++p) of_group[p] -= b[k * pairs + p] * own[k * pairs + p];
            for (std::size_t p = 0; p < pairs; ++p) of_group[p] /= own[p] + towards_common;
        }
    }

    f.assign(n, 1.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::copy(rows[i].x.begin(), rows[i].x.end(), f.begin() + 1);
        for (std::size_t first = 0; first < all; first += pairs) {
            const double* b = coefficients + n * first;
            std::copy(b, b + pairs, shift + first);
            for (std::size_t k = 1; k < n; ++k)
                for (std::size_t p = 0; p < pairs; ++p) shift[first + p] += b[k * pairs + p] * f[k];
        }
        if (groups[i] != kNoGroup) {
            const auto g = std::lower_bound(present.begin(), present.end(), groups[i]) - present.begin();
            for (std::size_t c = 0; c < all; ++c) shift[c] += group_shifts[static_cast<std::size_t>(g) * all + c];
        }
        const Seen row{within(rows[i].score, kFarthestScore), rows[i].sigma, std::log(rows[i].sigma)};
        add_row(all, row, shift, scale, log_unit, distrust, sums_.loss.data(), sums_.left.data(), taken);
        if (all > pairs)
            for (std::size_t p = 0; p < pairs; ++p) taken[p] = taken[best[p]];
        for (std::size_t p = 0; p < pairs; ++p) sums_.log_sigmas[p] += row.log_sigma;
        double* products = sums_.products.data();
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j <= k; ++j, products += pairs)
                for (std::size_t p = 0; p < pairs; ++p) products[p] += f[k] * f[j];
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t p = 0; p < pairs; ++p) sums_.scores[k * pairs + p] += f[k] * taken[p];
        if (groups[i] == kNoGroup) continue;
        double* own = sums_of(groups[i]);
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t p = 0; p < pairs; ++p) own[k * pairs + p] += f[k];
        for (std::size_t p = 0; p < pairs; ++p) own[n * pairs + p] += taken[p];
    }
    for (std::size_t c = 0; c < all; ++c)
        if (sums_.loss[c] < sums_.loss[best_]) best_ = c;
    clock_ = time;
    rows_ += rows.size();
    ++steps_;
}

std::vector<double> State::shape(std::size_t forget, double gap) const {
    const auto counts = std::span(sums_.shape_counts).subspan(forget * families::kShapeBins, families::kShapeBins);
    return families::shape_of(counts, std::exp(-gap / options_.forget[forget]), kShapePrior);
}

void State::count_shape(double time, std::span<const Observation> rows, std::span<const std::size_t> groups) {
    const Moment now = at(time);
    const double gap = steps_ > 0 ? time - clock_ : 0;
    thread_local std::vector<Moved> moves;
    moves.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) moves.push_back(now.of(rows[i].sigma, groups[i], rows[i].x));
    const auto score = [&](std::size_t i) {
        return (within(rows[i].score, kFarthestScore) - moves[i].shift) / moves[i].scale;
    };
    for (std::size_t f = 0; f <= options_.forget.size(); ++f) {
        const std::vector<double> rises = f == 0 ? std::vector<double>(families::kShapeKnots) : shape(f - 1, gap);
        const families::Shape shape(rises);
        const families::Lines lines = shape.lines(0, 1);
        for (std::size_t i = 0; i < rows.size(); ++i)
            sums_.shape_loss[f] +=
                rows[i].sigma * moves[i].scale * families::line_crps(lines, 0, 1, shape.of(score(i)));
    }
    for (std::size_t f = 0; f < options_.forget.size(); ++f) {
        const auto counts = std::span(sums_.shape_counts).subspan(f * families::kShapeBins, families::kShapeBins);
        const double fade = std::exp(-gap / options_.forget[f]);
        for (double& count : counts) count *= fade;
        for (std::size_t i = 0; i < rows.size(); ++i) families::count_score(score(i), counts);
    }
}

void State::move_tails(double time, std::span<const Observation> rows, std::span<const std::size_t> groups) {
    const Moment now = at(time);
    std::vector<double> missed(tails_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::span<const std::uint8_t> issued = rows[i].missed;
        core::require(issued.empty() || issued.size() == tails_.size(),
                      "a row has {} issued intervals, but the state {} levels", issued.size(), tails_.size());
        const double tail = issued.empty() ? tail_of(rows[i].score, now.of(rows[i].sigma, groups[i], rows[i].x)) : 0;
        for (std::size_t k = 0; k < tails_.size(); ++k)
            missed[k] += (issued.empty() ? tail < tails_[k] : issued[k] != 0) ? 1 : 0;
    }
    for (std::size_t k = 0; k < tails_.size(); ++k)
        tails_[k] += options_.rate * (1 - options_.levels[k] - missed[k] / static_cast<double>(rows.size()));
}

}  // namespace accrue
