// What a model learns as observations come. A state is the same, byte for byte, whether they came at once or in parts
// with its file in between, and its moves are those of sums over all observations, made anew at every time. Updates of
// a model with any rows are refused with a message, or the same in parts.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "accrue/adapt.hpp"
#include "accrue/error.hpp"
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
    if ((has & 16U) != 0) options.shrink = 0.25;
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

// One candidate, by the definition: everything that was seen is kept, and weighed anew at every time.
class Plain {
public:
    Plain(const StateOptions& options, double forget, double trust)
        : options_(options), forget_(forget), trust_(trust), n_(options.correct.size() + 1) {}

    Moved at(double time, const Row& row) const {
        const std::vector<double> b = coefficients(time);
        const double k = unit(time, row.sigma);
        return {k * shift(time, b, row), k * scale(time)};
    }
    double loss() const { return loss_; }

    void observe(const Step& step) {
        const std::vector<double> b = coefficients(step.time);
        const double width = scale(step.time);
        std::vector<Seen> now;
        for (const Row& row : step.rows) {
            const double k = unit(step.time, row.sigma);
            const double forecast = shift(step.time, b, row);
            const double left = row.score / k - forecast;
            const double z = left / width;
            const double cdf = std::erfc(-z / std::numbers::sqrt2) / 2;
            const double pdf = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
            loss_ += row.sigma * k * width * (z * (2 * cdf - 1) + 2 * pdf - std::numbers::inv_sqrtpi);
            Seen seen{step.time, row.group, {1.0}, 0, 0, std::log(row.sigma)};
            seen.f.insert(seen.f.end(), row.x.begin(), row.x.end());
            seen.taken =
                forecast + std::clamp(left, -State::kFarthestForShift * width, State::kFarthestForShift * width);
            const double far = State::kFarthestForScale * width;
            seen.left = std::sqrt(std::numbers::pi / 2) * std::fabs(std::clamp(left, -far, far));
            now.push_back(seen);
        }
        seen_.insert(seen_.end(), now.begin(), now.end());
    }

private:
    struct Seen {
        double time;
        std::string group;
        std::vector<double> f;
        double taken, left, log_sigma;
    };

    double weight(double time, const Seen& seen) const { return std::exp(-(time - seen.time) / forget_); }

    // (sum w f f' + diagonal) b = sum w f taken, by elimination.
    std::vector<double> coefficients(double time) const {
        std::vector<std::vector<double>> a(n_, std::vector<double>(n_ + 1, 0.0));
        for (std::size_t i = 0; i < n_; ++i) a[i][i] = i == 0 ? options_.shrink : options_.ridge;
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
    double shift(double time, const std::vector<double>& b, const Row& row) const {
        double sum = b[0];
        for (std::size_t k = 0; k < row.x.size(); ++k) sum += b[k + 1] * row.x[k];
        if (options_.group.empty()) return sum;
        double left = 0;
        double total = options_.shrink;
        for (const Seen& seen : seen_) {
            if (seen.group != row.group) continue;
            double rest = seen.taken;
            for (std::size_t k = 0; k < n_; ++k) rest -= b[k] * seen.f[k];
            left += weight(time, seen) * rest;
            total += weight(time, seen);
        }
        return sum + left / total;
    }
    double scale(double time) const {
        double left = options_.shrink;
        double total = options_.shrink;
        for (const Seen& seen : seen_) {
            left += weight(time, seen) * seen.left;
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
    for (std::size_t s = 0; s < steps.size(); ++s) {
        // What is in use is as good as any, and moves as the plain version does.
        const auto in_use = std::find_if(plain.begin(), plain.end(), [&](const Plain& own) {
            const std::size_t k = static_cast<std::size_t>(&own - plain.data());
            return once.options().forget[k / options.trust.size()] == once.forget() &&
                   options.trust[k % options.trust.size()] == once.trust();
        });
        expect(in_use != plain.end(), "a candidate that there is not is in use");
        // Rounding of a few dozen sums of numbers up to 10, and an exp that is right to 4e-16.
        constexpr double kRounding = 1e-10;
        for (const Plain& own : plain)
            expect(in_use->loss() <= own.loss() * (1 + kRounding) + kRounding, "{} is in use, but {} is lower",
                   in_use->loss(), own.loss());
        const State::Moment now = once.at(steps[s].time);
        for (const Row& row : steps[s].rows) {
            const Moved moved = now.of(row.sigma, once.group(row.group), row.x);
            const Moved wanted = in_use->at(steps[s].time, row);
            expect(std::fabs(moved.shift - wanted.shift) <= kRounding * (1 + std::fabs(wanted.shift)) &&
                       std::fabs(moved.scale - wanted.scale) <= kRounding * wanted.scale,
                   "step {}: moved by {} and {}, but plainly by {} and {}", s, moved.shift, moved.scale, wanted.shift,
                   wanted.scale);
        }
        observe(once, steps[s]);
        for (Plain& own : plain) own.observe(steps[s]);
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
    if ((has & 8U) != 0) options.shrink = any_number(input);
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
