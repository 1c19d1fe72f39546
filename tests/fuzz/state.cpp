// What a model learns as observations come. A state is the same, byte for byte, whether they came at once or in parts
// with its file in between, and its moves are those of sums over all observations, made anew at every time. Updates of
// a model with any rows are refused with a message, or the same in parts.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "accrue/adapt.hpp"
#include "accrue/error.hpp"
#include "accrue/family.hpp"
#include "accrue/fit.hpp"
#include "accrue/state.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double any_number(Bytes& input) {
    const std::uint8_t kind = input.byte();
    if (kind < 236) return (kind - 118) / 32.0;
    if (kind < 250) return std::ldexp(1 + input.byte() / 256.0, 4 * (static_cast<int>(input.byte() % 128) - 64));
    return input.number();
}

struct Row {
    double score, sigma;
    std::string group;
    std::vector<double> x;
};
struct Step {
    double time;
    std::vector<Row> rows;
};

StateOptions any_state_options(Bytes& input) {
    StateOptions options;
    options.time = "t";
    constexpr std::array kForget = {kInfinity, 1.0, 4.0, 30.0, 0.01, 1e6};
    for (std::size_t k = input.below(4); k > 0; --k) options.forget.push_back(kForget[input.below(kForget.size())]);
    constexpr std::array kTrust = {1.0, 0.5, 0.0, 0.25};
    options.trust.clear();
    for (std::size_t k = 1 + input.below(3); k > 0; --k) options.trust.push_back(kTrust[input.below(kTrust.size())]);
    const std::uint8_t has = input.byte();
    if ((has & 1U) != 0) options.group = "g";
    if ((has & 2U) != 0) options.correct = {"x"};
    if ((has & 4U) != 0) options.correct = {"x", "y", "z"};
    if ((has & 8U) != 0) options.levels = {0.9, 0.5};
    if ((has & 16U) != 0) options.shrink = {0.25};
    if ((has & 32U) != 0) options.shrink = {4, 0.25, 20};
    options.shape = (has & 64U) != 0;
    return options;
}

// Numbers of a usual size: what lies beyond has its tests in the updates below.
std::vector<Step> any_steps(Bytes& input, const StateOptions& options) {
    std::vector<Step> steps;
    double time = 0;
    for (std::size_t s = 1 + input.below(12); s > 0; --s) {
        time += std::ldexp(static_cast<double>(1 + input.below(7)), static_cast<int>(input.below(6)) - 2);
        Step step{time, {}};
        for (std::size_t r = 1 + input.below(4); r > 0; --r) {
            Row row{(input.byte() - 128) / 24.0, std::exp((input.byte() - 128) / 40.0), {}, {}};
            if (!options.group.empty()) row.group = std::string(1, static_cast<char>('a' + input.below(4)));
            for (std::size_t k = 0; k < options.correct.size(); ++k) row.x.push_back((input.byte() - 128) / 64.0);
            step.rows.push_back(row);
        }
        steps.push_back(step);
    }
    return steps;
}

void observe(State& state, const Step& step) {
    std::vector<State::Observation> rows;
    for (const Row& row : step.rows) rows.push_back({row.score, row.sigma, row.group, row.x});
    state.observe(step.time, rows);
}

// One forgetting time and trust with every shrink, by the definition: everything that was seen is kept, and weighed
// anew at every time.
class Plain {
public:
    Plain(const StateOptions& options, double forget, double trust)
        : options_(options),
          forget_(forget),
          trust_(trust),
          n_(options.correct.size() + 1),
          loss_(options.shrink.size()) {}

    Moved at(double time, const Row& row, std::size_t s) const {
        const std::vector<double> b = coefficients(time, s);
        const double k = unit(time, row.sigma);
        return {k * shift(time, b, row, s), k * scale(time, s)};
    }
    double loss(std::size_t s) const { return loss_[s]; }

    // `best` is the shrink by which observations count for the shift.
    void observe(const Step& step, std::size_t best) {
        std::vector<Seen> now;
        for (const Row& row : step.rows) {
            now.push_back({step.time, row.group, {1.0}, 0, {}, std::log(row.sigma)});
            now.back().f.insert(now.back().f.end(), row.x.begin(), row.x.end());
        }
        for (std::size_t s = 0; s < loss_.size(); ++s) {
            const std::vector<double> b = coefficients(step.time, s);
            const double width = scale(step.time, s);
            for (std::size_t i = 0; i < now.size(); ++i) {
                const Row& row = step.rows[i];
                const double k = unit(step.time, row.sigma);
                const double forecast = shift(step.time, b, row, s);
                const double left = row.score / k - forecast;
                const double z = left / width;
                const double cdf = std::erfc(-z / std::numbers::sqrt2) / 2;
                const double pdf = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
                loss_[s] += row.sigma * k * width * (z * (2 * cdf - 1) + 2 * pdf - std::numbers::inv_sqrtpi);
                const double near = State::kFarthestForShift * width;
                if (s == best) now[i].taken = forecast + std::clamp(left, -near, near);
                const double far = State::kFarthestForScale * width;
                now[i].left.push_back(std::sqrt(std::numbers::pi / 2) * std::fabs(std::clamp(left, -far, far)));
            }
        }
        seen_.insert(seen_.end(), now.begin(), now.end());
    }

private:
    struct Seen {
        double time;
        std::string group;
        std::vector<double> f;
        double taken;
        std::vector<double> left;  // with every shrink
        double log_sigma;
    };

    double weight(double time, const Seen& seen) const { return std::exp(-(time - seen.time) / forget_); }

    // (sum w f f' + diagonal) b = sum w f taken, by elimination.
    std::vector<double> coefficients(double time, std::size_t s) const {
        std::vector<std::vector<double>> a(n_, std::vector<double>(n_ + 1, 0.0));
        for (std::size_t i = 0; i < n_; ++i) a[i][i] = i == 0 ? options_.shrink[s] : options_.ridge;
        for (const Seen& seen : seen_)
            for (std::size_t i = 0; i < n_; ++i) {
                for (std::size_t j = 0; j < n_; ++j) a[i][j] += weight(time, seen) * seen.f[i] * seen.f[j];
                a[i][n_] += weight(time, seen) * seen.f[i] * seen.taken;
            }
        for (std::size_t p = 0; p < n_; ++p)
            for (std::size_t i = 0; i < n_; ++i) {
                if (i == p) continue;
                const double factor = a[i][p] / a[p][p];
                for (std::size_t j = p; j <= n_; ++j) a[i][j] -= factor * a[p][j];
            }
        std::vector<double> b(n_);
        for (std::size_t i = 0; i < n_; ++i) b[i] = a[i][n_] / a[i][i];
        return b;
    }
    double shift(double time, const std::vector<double>& b, const Row& row, std::size_t s) const {
        double sum = b[0];
        for (std::size_t k = 0; k < row.x.size(); ++k) sum += b[k + 1] * row.x[k];
        if (options_.group.empty()) return sum;
        double left = 0;
        double total = options_.shrink[s];
        for (const Seen& seen : seen_) {
            if (seen.group != row.group) continue;
            double rest = seen.taken;
            for (std::size_t k = 0; k < n_; ++k) rest -= b[k] * seen.f[k];
            left += weight(time, seen) * rest;
            total += weight(time, seen);
        }
        return sum + left / total;
    }
    double scale(double time, std::size_t s) const {
        double left = options_.shrink[s];
        double total = options_.shrink[s];
        for (const Seen& seen : seen_) {
            left += weight(time, seen) * seen.left[s];
            total += weight(time, seen);
        }
        return left / total;
    }
    double unit(double time, double sigma) const {
        if (seen_.empty()) return 1;
        // Weights from the last time on, since none of those before may be left.
        double sum = 0;
        double total = 0;
        for (const Seen& seen : seen_) {
            sum += weight(std::min(time, seen_.back().time), seen) * seen.log_sigma;
            total += weight(std::min(time, seen_.back().time), seen);
        }
        return std::exp((trust_ - 1) * std::clamp(std::log(sigma) - sum / total, -5.0, 5.0));
    }

    StateOptions options_;
    double forget_, trust_;
    std::size_t n_;
    std::vector<Seen> seen_;
    std::vector<double> loss_;
};

// The shape of one forgetting time, or with a prior beside which nothing counts none: scores with their times, and
// the CRPS of their forecasts.
class PlainShape {
public:
    PlainShape(double forget, double prior) : forget_(forget), prior_(prior) {}

    // Normal scores with k/16 of the probability below them, by the moved forecast and by the shaped one.
    struct Knots {
        std::vector<double> from, to;
    };
    Knots knots(double time) const {
        std::vector<double> counts(16, prior_ / 16);
        for (const auto& [when, score] : seen_) {
            const double place = std::clamp(8 * std::erfc(-score / std::numbers::sqrt2) - 0.5, 0.0, 15.0);
            const double weight = std::exp(-(time - when) / forget_);
            for (std::size_t k = 0; k < 16; ++k)
                counts[k] += weight * std::max(0.0, 1 - std::fabs(place - static_cast<double>(k)));
        }
        const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
        Knots own;
        double below = 0;
        for (std::size_t k = 0; k + 1 < 16; ++k) {
            below += counts[k];
            own.from.push_back(normal_family()->quantile(static_cast<double>(k + 1) / 16, {}));
            own.to.push_back(normal_family()->quantile(below / total, {}));
        }
        return own;
    }
    static double polygon(const std::vector<double>& x, const std::vector<double>& y, double at) {
        std::size_t k = 0;
        while (k < x.size() && x[k] <= at) ++k;
        if (k == 0) return at + y.front() - x.front();
        if (k == x.size()) return at + y.back() - x.back();
        return y[k - 1] + (at - x[k - 1]) / (x[k] - x[k - 1]) * (y[k] - y[k - 1]);
    }
    void observe(double time, const std::vector<std::pair<double, double>>& scores_and_units) {
        const Knots own = knots(time);
        // As a polygon of u, the moved score, over the shaped one: the integral of (cdf - [u >= score])^2 by parts.
        for (const auto& [score, unit] : scores_and_units) loss_ += unit * crps(own, score);
        for (const auto& [score, unit] : scores_and_units) seen_.emplace_back(time, score);
    }
    double loss() const { return loss_; }

private:
    static double crps(const Knots& own, double score) {
        std::vector<double> ends = own.from;
        ends.push_back(score);
        ends.push_back(std::min(own.from.front(), score) - 10);
        ends.push_back(std::max(own.from.back(), score) + 10);
        std::sort(ends.begin(), ends.end());
        double sum = 0;
        for (std::size_t k = 1; k < ends.size(); ++k) {
            // Simpson's rule, steps being short where there is something to see.
            const double length = ends[k] - ends[k - 1];
            const int steps = 2 * (1 + static_cast<int>(std::min(10 * length, 100.0)));
            const auto value = [&](double u) {
                const double v = polygon(own.from, own.to, u);
                const double p = std::erfc((ends[k] <= score ? -v : v) / std::numbers::sqrt2) / 2;
                return p * p;
            };
            for (int j = 0; j <= steps; ++j) {
                // From within, since the polygon bends at the ends.
                const double u = ends[k - 1] + length * j / steps;
                sum += value(u) * (j == 0 || j == steps ? 1 : j % 2 == 1 ? 4 : 2) * length / steps / 3;
            }
        }
        return sum;
    }

    double forget_, prior_;
    std::vector<std::pair<double, double>> seen_;
    double loss_ = 0;
};

void check_state(Bytes& input) {
    const StateOptions options = any_state_options(input);
    const std::vector<Step> steps = any_steps(input, options);
    const std::size_t parts = 1 + input.below(3);
    State once(options);
    State again(options);
    std::vector<Plain> plain;
    for (const double forget : once.options().forget)
        for (const double trust : options.trust) plain.emplace_back(options, forget, trust);
    std::vector<PlainShape> shapes = {{1, 1e300}};
    for (const double forget : once.options().forget) shapes.emplace_back(forget, State::kShapePrior);
    for (std::size_t s = 0; s < steps.size(); ++s) {
        // What is in use is as good as any, and moves as the plain version does. The state says which of equals it is.
        const nlohmann::ordered_json json = once.json();
        const auto losses = [](const nlohmann::ordered_json& list) {
            return list.is_array() ? list.get<std::vector<double>>() : std::vector{list.get<double>()};
        };
        const auto least = [](const std::vector<double>& all) {
            return static_cast<std::size_t>(std::min_element(all.begin(), all.end()) - all.begin());
        };
        const std::size_t candidate = json.at("candidate").get<std::size_t>();
        const Plain& in_use = plain.at(candidate % plain.size());
        const std::size_t shrink = candidate / plain.size();
        expect(options.shrink.at(shrink) == once.shrink(), "a candidate that there is not is in use");
        // Rounding of a few dozen sums of numbers up to 10, and an exp that is right to 4e-16.
        constexpr double kRounding = 1e-10;
        const auto expect_best = [&](double loss, double other, double rounding) {
            expect(loss <= other * (1 + rounding) + rounding, "{} is in use, but {} is lower", loss, other);
        };
        std::vector<std::size_t> best;  // of every pair
        for (std::size_t p = 0; p < plain.size(); ++p) {
            best.push_back(least(losses(json.at("sums")[p].at("loss"))));
            for (std::size_t k = 0; k < options.shrink.size(); ++k) {
                expect_best(in_use.loss(shrink), plain[p].loss(k), kRounding);
                expect_best(plain[p].loss(best[p]), plain[p].loss(k), kRounding);
            }
        }
        const State::Moment now = once.at(steps[s].time);
        std::size_t shape = 0;
        if (options.shape) {
            shape = least(losses(json.at("shape").at("loss")));
            // Simpson's rule.
            for (const PlainShape& other : shapes) expect_best(shapes[shape].loss(), other.loss(), 1e-6);
        }
        std::vector<std::pair<double, double>> left;
        for (const Row& row : steps[s].rows) {
            const Moved moved = now.of(row.sigma, once.group(row.group), row.x);
            const Moved wanted = in_use.at(steps[s].time, row, shrink);
            expect(std::fabs(moved.shift - wanted.shift) <= kRounding * (1 + std::fabs(wanted.shift)) &&
                       std::fabs(moved.scale - wanted.scale) <= kRounding * wanted.scale,
                   "step {}: moved by {} and {}, but plainly by {} and {}", s, moved.shift, moved.scale, wanted.shift,
                   wanted.scale);
            left.emplace_back((row.score - wanted.shift) / wanted.scale, row.sigma * wanted.scale);
            expect((moved.shape != nullptr) == (shape > 0), "step {}: a shape is in use, or none is", s);
            if (shape == 0) continue;
            const PlainShape::Knots knots = shapes[shape].knots(steps[s].time);
            for (std::size_t k = 0; k < knots.to.size(); ++k)
                expect(std::fabs(knots.from[k] + (*moved.shape)[k] - knots.to[k]) <= kRounding,
                       "step {}: knot {} of the shape is at {}, but plainly at {}", s, k,
                       knots.from[k] + (*moved.shape)[k], knots.to[k]);
        }
        observe(once, steps[s]);
        for (std::size_t p = 0; p < plain.size(); ++p) plain[p].observe(steps[s], best[p]);
        if (options.shape)
            for (PlainShape& own : shapes) own.observe(steps[s].time, left);
        if (s % parts == 0) again = State::from_json(nlohmann::ordered_json::parse(again.json().dump()));
        observe(again, steps[s]);
    }
    const std::string text = once.json().dump();
    expect(again.json().dump() == text, "in parts the state is another one");
    expect(State::from_json(nlohmann::ordered_json::parse(text)).json().dump() == text, "what was read is another one");
    for (const double tail : once.tails()) expect(std::isfinite(tail), "a tail is {}", tail);
}

const Model& small_model() {
    static const Model model = [] {
        std::vector<double> x, errors, prediction, times;
        for (std::size_t i = 0; i < 60; ++i) {
            x.push_back(static_cast<double>(i % 7) / 7);
            errors.push_back(std::sin(static_cast<double>(i * i)) * (1 + x.back()));
            prediction.push_back(std::cos(static_cast<double>(i)));
            times.push_back(static_cast<double>(i));
        }
        Archive archive;
        archive.input_names = {"x"};
        archive.inputs = {x};
        archive.errors = errors;
        archive.prediction = prediction;
        archive.times = times;
        archive.roles.prediction = "mu";
        archive.roles.observation = "y";
        archive.roles.time = "t";
        FitOptions options;
        options.form = "constant";
        options.bias = "none";
        options.family = "logistic";
        return fit(archive, options).model;
    }();
    return model;
}

void check_update(Bytes& input) {
    AdaptOptions options;
    const std::uint8_t has = input.byte();
    if ((has & 1U) != 0) options.group = "g";
    if ((has & 2U) != 0) options.correct = {"x"};
    if ((has & 4U) != 0) options.levels = {0.9};
    options.forget = std::array{"auto", "never", "3", "0", "1d"}[input.below(5)];
    if ((has & 8U) != 0) options.shrink = std::to_string(any_number(input));
    if ((has & 32U) != 0) options.shrink = "auto";
    options.shape = (has & 64U) != 0;
    std::vector<double> x, prediction, observation, times;
    std::vector<std::uint32_t> codes;
    const std::vector<std::string> labels = {"a", "b", "caf\xe9", ""};
    double time = 100;
    for (std::size_t r = 1 + input.below(10); r > 0; --r) {
        const std::uint8_t step = input.byte();
        time = step < 240 ? time + step % 4 : any_number(input);
        times.push_back(time);
        x.push_back(any_number(input));
        prediction.push_back(any_number(input));
        observation.push_back(any_number(input));
        codes.push_back(static_cast<std::uint32_t>(input.below((has & 16U) != 0 ? 4 : 2)));
    }
    const auto rows = [&](std::size_t begin, std::size_t end) {
        TimedRows own;
        own.inputs = {std::span<const double>(x).subspan(begin, end - begin)};
        own.prediction = std::span<const double>(prediction).subspan(begin, end - begin);
        own.observation = std::span<const double>(observation).subspan(begin, end - begin);
        own.times = std::span<const double>(times).subspan(begin, end - begin);
        own.groups = {std::span<const std::uint32_t>(codes).subspan(begin, end - begin), labels};
        return own;
    };
    std::string once;
    try {
        once = update(small_model(), rows(0, times.size()), options).text();
    } catch (const InputError&) {
        return;
    }
    expect(Model::parse(once).text() == once, "a model that was read writes something else");
    Model daily = small_model();
    for (std::size_t begin = 0; begin < times.size();) {
        std::size_t end = begin;
        while (end < times.size() && times[end] == times[begin]) ++end;
        daily = Model::parse(update(daily, rows(begin, end), begin == 0 ? options : AdaptOptions{}).text());
        begin = end;
    }
    expect(daily.text() == once, "day by day the model is another one");
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input);
    if (bytes.flag())
        check_update(bytes);
    else
        check_state(bytes);
}

}  // namespace accrue::fuzz
