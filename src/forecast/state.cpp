#include "accrue/state.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "accrue/adapted.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "families/normal.hpp"

namespace accrue {

using Json = nlohmann::ordered_json;

Forecast adapted(const Forecast& forecast, std::span<const Moved> moves) {
    const std::size_t rows = forecast.sigma.size();
    core::require(moves.size() == rows, "there are {} moves, but {} rows", moves.size(), rows);
    core::require(!forecast.mean.empty(), "a state moves forecasts around a prediction: give one");
    const auto family = std::make_shared<Adapted>(forecast.family);
    const std::size_t before = parameters_per_row(*forecast.family);
    const std::size_t width = parameters_per_row(*family);
    const Standardised alike = before == 0 ? Standardised(forecast.family) : Standardised(normal_family());
    Forecast result{forecast.mean, forecast.sigma, forecast.off_support, family,
                    std::vector<double>(rows * width, std::numeric_limits<double>::quiet_NaN())};
    constexpr std::size_t kBlock = 256;
    core::for_blocks(rows, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (std::isnan(forecast.sigma[i])) continue;
            const std::span<const double> old = std::span(forecast.parameters).subspan(i * before, before);
            const std::span<double> own = std::span(result.parameters).subspan(i * width, width);
            const std::span<double> values = own.subspan(2);
            if (before > 0) std::copy(old.begin() + 2, old.end(), values.begin());
            values[values.size() - 2] = moves[i].shift;
            values.back() = moves[i].scale;
            const double scale = forecast.sigma[i] / (before > 0 ? old[1] : alike.u_sd());
            const double location = forecast.mean[i] - scale * (before > 0 ? old[0] : alike.u_mean());
            own[0] = family->mean(values);
            own[1] = family->sd(values);
            result.mean[i] = location + own[0] * scale;
            result.sigma[i] = own[1] * scale;
        }
    });
    return result;
}

std::vector<double> forget_candidates(bool dates) {
    const double day = dates ? 86400 : 1;
    // The longest first: of equals the first is taken.
    std::vector<double> all = {std::numeric_limits<double>::infinity()};
    for (double days = 160; days >= 5; days /= 2) all.push_back(days * day);
    return all;
}

namespace {

constexpr double kFarthestScore = 1e6;  // whatever came, sums stay finite

// The solution of (scaled products + diagonal) b = scaled sums, of positive diagonals, by Cholesky's method.
std::vector<double> solved(std::span<const double> products, std::span<const double> sums, double weight, double first,
                           double others) {
    const std::size_t n = sums.size();
    std::vector<double> l(n * n);
    std::vector<double> b(n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double value = weight * products[i * (i + 1) / 2 + j];
            if (i == j) value += i == 0 ? first : others;
            for (std::size_t k = 0; k < j; ++k) value -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? std::sqrt(value) : value / l[j * n + j];
        }
    for (std::size_t i = 0; i < n; ++i) {
        double value = weight * sums[i];
        for (std::size_t k = 0; k < i; ++k) value -= l[i * n + k] * b[k];
        b[i] = value / l[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
        b[i] /= l[i * n + i];
    }
    return b;
}

const double kMeanToScale = std::sqrt(std::numbers::pi / 2);  // of the absolute value of a normal number

double within(double value, double most) {
    return std::clamp(value, -most, most);
}

double faded(double from, double to, double forget) {
    return std::exp(-(to - from) / forget);
}

double product(std::span<const double> coefficients, std::span<const double> x) {
    double sum = coefficients[0];
    for (std::size_t k = 0; k < x.size(); ++k) sum += coefficients[k + 1] * x[k];
    return sum;
}

// CRPS of N(shift, scale^2).
double normal_crps(double score, const Moved& moved) {
    return moved.scale * normal_family()->crps((score - moved.shift) / moved.scale, {});
}

}  // namespace

State::State(StateOptions options) : options_(std::move(options)) {
    core::require(!options_.time.empty(), "a state needs times: name their column with {}", core::option("time"));
    if (options_.forget.empty()) options_.forget = forget_candidates(options_.dates);
    for (const double forget : options_.forget)
        core::require(forget > 0, "{}: {} is not more than 0", core::option("forget"), forget);
    core::require(options_.shrink > 0 && std::isfinite(options_.shrink), "{}: {} is not more than 0",
                  core::option("shrink"), options_.shrink);
    core::require(options_.ridge > 0 && std::isfinite(options_.ridge), "{}: {} is not more than 0",
                  core::option("ridge"), options_.ridge);
    core::require(options_.rate > 0 && options_.rate < 1, "{}: {} is not between 0 and 1", core::option("rate"),
                  options_.rate);
    for (const double level : options_.levels) {
        core::require(level > 0 && level < 1, "{}: {} is not between 0 and 1", core::option("adaptive"), level);
        tails_.push_back(1 - level);
    }
    core::require(!options_.trust.empty(), "a state needs a trust");
    for (const double trust : options_.trust)
        core::require(trust >= 0 && trust <= 1, "the trust of a state is {}, which is not between 0 and 1", trust);
    sums_.resize(options_.forget.size() * options_.trust.size());
    for (Sums& sums : sums_) {
        sums.products.resize(width() * (width() + 1) / 2);
        sums.scores.resize(width());
    }
}

std::size_t State::group(const std::string& label) const {
    const auto found = groups_.find(label);
    return found == groups_.end() ? kNoGroup : found->second;
}

State::Moment::Moment(const State& state, std::size_t candidate, double time)
    : state_(state), candidate_(candidate), time_(time) {
    const StateOptions& options = state.options_;
    const Sums& sums = state.sums_[candidate];
    const double weight = state.steps_ == 0 ? 0 : faded(state.clock_, time, state.forget(candidate));
    coefficients_ = solved(sums.products, sums.scores, weight, options.shrink, options.ridge);
    scale_ = (weight * sums.left + options.shrink) / (weight * sums.products[0] + options.shrink);
    if (state.steps_ > 0) log_unit_ = sums.log_sigmas / sums.products[0];
}

double State::Moment::unit(double sigma) const {
    const double trust = state_.options_.trust[candidate_ % state_.options_.trust.size()];
    // A sigma beyond all that was seen is no reason to turn a forecast upside down.
    constexpr double kMaxLog = 5;
    if (state_.steps_ == 0 || trust == 1) return 1;
    return std::exp((trust - 1) * std::clamp(std::log(sigma) - log_unit_, -kMaxLog, kMaxLog));
}

double State::Moment::shift(std::size_t group, std::span<const double> x) const {
    const double common = product(coefficients_, x);
    if (group == kNoGroup) return common;
    const std::size_t width = state_.width();
    const auto own = std::span(state_.sums_[candidate_].groups).subspan(group * (width + 1), width + 1);
    const double weight = faded(state_.group_times_[group], time_, state_.forget(candidate_));
    // What the coefficients leave of the group's scores.
    double left = own[width];
    for (std::size_t k = 0; k < width; ++k) left -= coefficients_[k] * own[k];
    return common + weight * left / (weight * own[0] + state_.options_.shrink);
}

Moved State::Moment::of(double sigma, std::size_t group, std::span<const double> x) const {
    const double k = unit(sigma);
    return {k * shift(group, x), k * scale_};
}

void State::add_group(const std::string& label, double time) {
    try {
        (void)Json(label).dump();  // the model file is JSON, which is UTF-8
    } catch (const Json::exception&) {
        core::refuse("the group '{}' is not UTF-8, which a model file needs", printable(label));
    }
    groups_.emplace(label, labels_.size());
    labels_.push_back(label);
    group_times_.push_back(time);
    for (Sums& sums : sums_) sums.groups.resize(labels_.size() * (width() + 1));
}

void State::observe(double time, std::span<const Observation> rows) {
    core::require(time > clock_, "the state has seen time {} already", time);
    if (rows.empty()) return;
    std::vector<std::size_t> groups(rows.size(), kNoGroup);
    if (!options_.group.empty())
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::string label(rows[i].group);
            if (groups_.count(label) == 0) add_group(label, time);
            groups[i] = groups_.at(label);
        }
    if (!tails_.empty()) move_tails(at(time), rows, groups);
    const std::size_t n = width();
    std::vector<std::size_t> present = groups;
    std::sort(present.begin(), present.end());
    present.erase(std::unique(present.begin(), present.end()), present.end());
    std::erase(present, kNoGroup);
    struct Row {
        double unit, shift;
    };
    std::vector<Row> forecasts(rows.size());
    std::vector<double> f(n, 1.0);
    for (std::size_t c = 0; c < sums_.size(); ++c) {
        Sums& sums = sums_[c];
        // Of all rows, before any is added.
        const Moment now(*this, c, time);
        for (std::size_t i = 0; i < rows.size(); ++i)
            forecasts[i] = {now.unit(rows[i].sigma), now.shift(groups[i], rows[i].x)};
        const double forget = this->forget(c);
        if (steps_ > 0) {
            const double fade = faded(clock_, time, forget);
            sums.left *= fade;
            sums.log_sigmas *= fade;
            for (double& value : sums.products) value *= fade;
            for (double& value : sums.scores) value *= fade;
        }
        for (const std::size_t group : present) {
            const double fade = faded(group_times_[group], time, forget);
            for (double& value : std::span(sums.groups).subspan(group * (n + 1), n + 1)) value *= fade;
        }
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [unit, shift] = forecasts[i];
            const double score = std::clamp(rows[i].score, -kFarthestScore, kFarthestScore);
            sums.loss += rows[i].sigma * normal_crps(score, {unit * shift, unit * now.scale_});
            const double left = score / unit - shift;
            const double taken = shift + within(left, kFarthestForShift * now.scale_);
            std::copy(rows[i].x.begin(), rows[i].x.end(), f.begin() + 1);
            sums.left += kMeanToScale * std::fabs(within(left, kFarthestForScale * now.scale_));
            sums.log_sigmas += std::log(rows[i].sigma);
            for (std::size_t k = 0, at = 0; k < n; ++k)
                for (std::size_t j = 0; j <= k; ++j, ++at) sums.products[at] += f[k] * f[j];
            for (std::size_t k = 0; k < n; ++k) sums.scores[k] += f[k] * taken;
            if (groups[i] == kNoGroup) continue;
            const auto group = std::span(sums.groups).subspan(groups[i] * (n + 1), n + 1);
            for (std::size_t k = 0; k < n; ++k) group[k] += f[k];
            group[n] += taken;
        }
    }
    for (const std::size_t group : present) group_times_[group] = time;
    for (std::size_t c = 0; c < sums_.size(); ++c)
        if (sums_[c].loss < sums_[best_].loss) best_ = c;
    clock_ = time;
    rows_ += rows.size();
    ++steps_;
}

void State::move_tails(const Moment& now, std::span<const Observation> rows, std::span<const std::size_t> groups) {
    for (std::size_t k = 0; k < tails_.size(); ++k) {
        double outside = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Moved moved = now.of(rows[i].sigma, groups[i], rows[i].x);
            const double z = std::fabs((rows[i].score - moved.shift) / moved.scale);
            outside += 2 * families::normal_cdf(-z) < tails_[k] ? 1 : 0;
        }
        tails_[k] += options_.rate * (1 - options_.levels[k] - outside / static_cast<double>(rows.size()));
    }
}

Json State::json() const {
    Json forget = Json::array();
    for (const double one : options_.forget) forget.push_back(std::isinf(one) ? Json(nullptr) : Json(one));
    Json json = {{"time", options_.time},
                 {"dates", options_.dates},
                 {"forget", std::move(forget)},
                 {"trust", options_.trust},
                 {"shrink", options_.shrink}};
    if (!options_.correct.empty()) {
        json["correct"] = options_.correct;
        json["ridge"] = options_.ridge;
    }
    if (!options_.levels.empty()) {
        json["levels"] = options_.levels;
        json["rate"] = options_.rate;
        json["tails"] = tails_;
    }
    json["clock"] = steps_ == 0 ? Json(nullptr) : Json(clock_);
    json["rows"] = rows_;
    json["steps"] = steps_;
    json["candidate"] = best_;
    if (!options_.group.empty()) {
        json["group"] = options_.group;
        json["groups"] = labels_;
        json["group_times"] = group_times_;
    }
    Json list = Json::array();
    for (const Sums& sums : sums_) {
        Json one = {{"left", sums.left},
                    {"log_sigmas", sums.log_sigmas},
                    {"products", sums.products},
                    {"scores", sums.scores},
                    {"loss", sums.loss}};
        if (!options_.group.empty()) one["groups"] = sums.groups;
        list.push_back(std::move(one));
    }
    json["sums"] = std::move(list);
    return json;
}

State State::from_json(const Json& json) {
    StateOptions options;
    options.time = json.at("time").get<std::string>();
    options.group = json.value("group", std::string());
    options.dates = json.at("dates").get<bool>();
    for (const Json& one : json.at("forget"))
        options.forget.push_back(one.is_null() ? std::numeric_limits<double>::infinity() : one.get<double>());
    options.trust = json.at("trust").get<std::vector<double>>();
    options.shrink = json.at("shrink").get<double>();
    options.correct = json.value("correct", std::vector<std::string>{});
    options.ridge = json.value("ridge", options.ridge);
    options.levels = json.value("levels", std::vector<double>{});
    options.rate = json.value("rate", options.rate);
    State state(std::move(options));
    const auto require_size = [](const char* entry, std::size_t size, std::size_t wanted) {
        core::require(size == wanted, "'{}' of its state has {} values in place of {}", entry, size, wanted);
    };
    if (!state.options_.levels.empty()) {
        state.tails_ = json.at("tails").get<std::vector<double>>();
        require_size("tails", state.tails_.size(), state.options_.levels.size());
    }
    state.rows_ = json.at("rows").get<std::size_t>();
    state.steps_ = json.at("steps").get<std::size_t>();
    core::require((state.steps_ == 0) == json.at("clock").is_null(),
                  "its state has a clock and no step, or none and some");
    if (state.steps_ > 0) state.clock_ = json.at("clock").get<double>();
    state.best_ = json.at("candidate").get<std::size_t>();
    core::require(state.best_ < state.sums_.size(), "'candidate' of its state is {}, but there are {}", state.best_,
                  state.sums_.size());
    if (!state.options_.group.empty()) {
        for (const Json& label : json.at("groups")) state.add_group(label.get<std::string>(), 0);
        core::require(state.groups_.size() == state.labels_.size(), "a group of its state is there twice");
        state.group_times_ = json.at("group_times").get<std::vector<double>>();
        require_size("group_times", state.group_times_.size(), state.labels_.size());
        for (const double time : state.group_times_)
            core::require(time <= state.clock_, "a group of its state was seen after the clock");
    }
    const Json& list = json.at("sums");
    require_size("sums", list.size(), state.sums_.size());
    for (std::size_t c = 0; c < list.size(); ++c) {
        Sums& sums = state.sums_[c];
        const auto take = [&](const char* entry, std::vector<double>& values) {
            auto given = list[c].at(entry).get<std::vector<double>>();
            require_size(entry, given.size(), values.size());
            values = std::move(given);
        };
        sums.left = list[c].at("left").get<double>();
        sums.log_sigmas = list[c].at("log_sigmas").get<double>();
        sums.loss = list[c].at("loss").get<double>();
        take("products", sums.products);
        take("scores", sums.scores);
        if (!state.options_.group.empty()) take("groups", sums.groups);
        // As sums of squares are: the square of a scale, and of every coefficient's weight, is positive.
        const std::size_t n = state.width();
        for (std::size_t k = 0; k < n; ++k)
            core::require(sums.products[k * (k + 3) / 2] >= 0 && (state.steps_ == 0 || sums.products[0] > 0),
                          "a weight of its state is not positive");
        for (std::size_t g = 0; g < state.labels_.size(); ++g)
            core::require(sums.groups[g * (n + 1)] >= 0, "a weight of a group of its state is negative");
        const Moment last(state, c, state.steps_ > 0 ? state.clock_ : 0);
        core::require(std::isfinite(last.coefficients_[0]) && std::isfinite(last.scale_), "its state gives no numbers");
    }
    return state;
}

}  // namespace accrue
