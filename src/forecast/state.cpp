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
#include "families/shape.hpp"

namespace accrue {

using Json = nlohmann::ordered_json;

SharedFamily adapted_family(const SharedFamily& family, bool shaped) {
    return family->is_normal() && !shaped ? family : std::make_shared<Adapted>(family, shaped);
}

Forecast adapted(const Forecast& forecast, std::span<const Moved> moves, bool shaped) {
    const std::size_t rows = forecast.sigma.size();
    core::require(moves.size() == rows, "there are {} moves, but {} rows", moves.size(), rows);
    core::require(!forecast.mean.empty(), "a state moves forecasts around a prediction: give one");
    if (forecast.family->is_normal() && !shaped) {
        // Of another mean and another sigma it is still normal.
        Forecast result = forecast;
        for (std::size_t i = 0; i < rows; ++i) {
            result.mean[i] += moves[i].shift * forecast.sigma[i];
            result.sigma[i] *= moves[i].scale;
        }
        return result;
    }
    const auto family = std::make_shared<Adapted>(forecast.family, shaped);
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
            double* own_move = values.data() + (before > 0 ? before - 2 : 0);
            own_move[0] = moves[i].shift;
            own_move[1] = moves[i].scale;
            if (shaped) {
                if (moves[i].shape != nullptr)
                    std::copy(moves[i].shape->begin(), moves[i].shape->end(), own_move + 2);
                else
                    std::fill_n(own_move + 2, Adapted::kShapeValues, 0.0);
            }
            const double scale = forecast.sigma[i] / (before > 0 ? old[1] : alike.u_sd());
            const double location = forecast.mean[i] - scale * (before > 0 ? old[0] : alike.u_mean());
            const Adapted::Moments moments = family->moments(values);
            own[0] = moments.mean;
            own[1] = moments.sd;
            result.mean[i] = location + own[0] * scale;
            result.sigma[i] = own[1] * scale;
        }
    });
    return result;
}

std::pair<double, double> adaptive_interval(const Standardised& row, double tail) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (tail <= 0) return {-kInfinity, kInfinity};
    const double half = -families::normal_quantile(std::min(tail, 1.0) / 2);
    return {row.of_normal_score(-half), row.of_normal_score(half)};
}

double tail_of(double score, const Moved& moved) {
    const families::Shape shape(moved.shape != nullptr ? std::span<const double>(*moved.shape)
                                                       : std::span<const double>());
    return 2 * families::normal_cdf(-std::fabs(shape.of((score - moved.shift) / moved.scale)));
}

std::vector<double> forget_candidates(bool dates) {
    const double day = dates ? 86400 : 1;
    // The longest first: of equals the first is taken.
    std::vector<double> all = {std::numeric_limits<double>::infinity()};
    for (double days = 160; days >= 5; days /= 2) all.push_back(days * day);
    return all;
}

std::vector<double> shrink_candidates() {
    return {4, 1, 16, 64};
}

State::State(StateOptions options) : options_(std::move(options)) {
    core::require(!options_.time.empty(), "a state needs times: name their column with {}", core::option("time"));
    if (options_.forget.empty()) options_.forget = forget_candidates(options_.dates);
    for (const double forget : options_.forget)
        core::require(forget > 0, "{}: {} is not more than 0", core::option("forget"), forget);
    core::require(!options_.shrink.empty(), "a state needs a shrink");
    for (const double shrink : options_.shrink)
        core::require(shrink > 0 && std::isfinite(shrink), "{}: {} is not more than 0", core::option("shrink"), shrink);
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
    for (auto* values : {&sums_.left, &sums_.loss}) values->resize(candidates());
    sums_.log_sigmas.resize(pairs());
    sums_.products.resize(width() * (width() + 1) / 2 * pairs());
    sums_.scores.resize(width() * pairs());
    if (!options_.shape) return;
    sums_.shape_counts.resize(options_.forget.size() * families::kShapeBins);
    sums_.shape_loss.resize(options_.forget.size() + 1);
}

std::size_t State::group(const std::string& label) const {
    const auto found = groups_.find(label);
    return found == groups_.end() ? kNoGroup : found->second;
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
    sums_.groups.resize(labels_.size() * (width() + 1) * pairs());
}

void State::continue_tails(const State& before) {
    core::require(before.options_.levels == options_.levels, "the states have other levels");
    tails_ = before.tails_;
}

std::size_t State::best_of(std::size_t pair) const {
    std::size_t best = pair;
    for (std::size_t c = pair; c < candidates(); c += pairs())
        if (sums_.loss[c] < sums_.loss[best]) best = c;
    return best;
}

namespace {

// A list of one is written as that one.
Json one_or_all(const std::vector<double>& values) {
    return values.size() == 1 ? Json(values[0]) : Json(values);
}
std::vector<double> all_of(const Json& json) {
    return json.is_number() ? std::vector{json.get<double>()} : json.get<std::vector<double>>();
}

}  // namespace

Json State::json() const {
    Json forget = Json::array();
    for (const double one : options_.forget) forget.push_back(std::isinf(one) ? Json(nullptr) : Json(one));
    Json json = {{"time", options_.time},
                 {"dates", options_.dates},
                 {"forget", std::move(forget)},
                 {"trust", options_.trust},
                 {"shrink", one_or_all(options_.shrink)}};
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
    for (std::size_t p = 0; p < pairs(); ++p) {
        const auto own = [&](const std::vector<double>& values) {
            std::vector<double> some;
            for (std::size_t k = p; k < values.size(); k += pairs()) some.push_back(values[k]);
            return some;
        };
        Json one = {{"left", one_or_all(own(sums_.left))},
                    {"log_sigmas", sums_.log_sigmas[p]},
                    {"products", own(sums_.products)},
                    {"scores", own(sums_.scores)},
                    {"loss", one_or_all(own(sums_.loss))}};
        if (!options_.group.empty()) one["groups"] = own(sums_.groups);
        list.push_back(std::move(one));
    }
    json["sums"] = std::move(list);
    if (options_.shape) {
        Json counts = Json::array();
        for (auto at = sums_.shape_counts.begin(); at != sums_.shape_counts.end(); at += families::kShapeBins)
            counts.push_back(std::vector<double>(at, at + families::kShapeBins));
        json["shape"] = {{"counts", std::move(counts)}, {"loss", sums_.shape_loss}};
    }
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
    options.shrink = all_of(json.at("shrink"));
    options.correct = json.value("correct", std::vector<std::string>{});
    options.ridge = json.value("ridge", options.ridge);
    options.levels = json.value("levels", std::vector<double>{});
    options.rate = json.value("rate", options.rate);
    options.shape = json.contains("shape");
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
    core::require(state.best_ < state.candidates(), "'candidate' of its state is {}, but there are {}", state.best_,
                  state.candidates());
    const std::size_t pairs = state.pairs();
    if (!state.options_.group.empty()) {
        for (const Json& label : json.at("groups")) state.add_group(label.get<std::string>(), 0);
        core::require(state.groups_.size() == state.labels_.size(), "a group of its state is there twice");
        state.group_times_ = json.at("group_times").get<std::vector<double>>();
        require_size("group_times", state.group_times_.size(), state.labels_.size());
        for (const double time : state.group_times_)
            core::require(time <= state.clock_, "a group of its state was seen after the clock");
    }
    const Json& list = json.at("sums");
    require_size("sums", list.size(), pairs);
    Sums& sums = state.sums_;
    const std::size_t n = state.width();
    for (std::size_t p = 0; p < pairs; ++p) {
        const auto take = [&](const char* entry, std::vector<double>& values) {
            const auto given = all_of(list[p].at(entry));
            require_size(entry, given.size(), values.size() / pairs);
            for (std::size_t k = 0; k < given.size(); ++k) values[k * pairs + p] = given[k];
        };
        take("left", sums.left);
        take("log_sigmas", sums.log_sigmas);
        take("loss", sums.loss);
        take("products", sums.products);
        take("scores", sums.scores);
        if (!state.options_.group.empty()) take("groups", sums.groups);
        // As sums of squares are: the square of a scale, and of every coefficient's weight, is positive.
        for (std::size_t k = 0; k < n; ++k)
            core::require(
                sums.products[k * (k + 3) / 2 * pairs + p] >= 0 && (state.steps_ == 0 || sums.products[p] > 0),
                "a weight of its state is not positive");
        for (std::size_t g = 0; g < state.labels_.size(); ++g)
            core::require(sums.groups[g * (n + 1) * pairs + p] >= 0, "a weight of a group of its state is negative");
        for (std::size_t c = p; c < state.candidates(); c += pairs) {
            const Moment last(state, c, state.steps_ > 0 ? state.clock_ : 0);
            core::require(std::isfinite(last.coefficients_[0]) && std::isfinite(last.scale_),
                          "its state gives no numbers");
        }
    }
    if (state.options_.shape) {
        const Json& shape = json.at("shape");
        const Json& counts = shape.at("counts");
        require_size("counts", counts.size(), state.options_.forget.size());
        sums.shape_counts.clear();
        for (const Json& one : counts) {
            const auto own = one.get<std::vector<double>>();
            require_size("counts", own.size(), families::kShapeBins);
            for (const double weight : own) core::require(weight >= 0, "a count of its state is negative");
            sums.shape_counts.insert(sums.shape_counts.end(), own.begin(), own.end());
        }
        sums.shape_loss = shape.at("loss").get<std::vector<double>>();
        require_size("loss", sums.shape_loss.size(), state.options_.forget.size() + 1);
        (void)Moment(state, state.best_, state.steps_ > 0 ? state.clock_ : 0);
        for (std::size_t f = 0; f < state.options_.forget.size(); ++f) {
            const std::vector<double> rises = state.shape(f, 0);
            const std::vector<double> knots = families::Shape(rises).knots();
            for (std::size_t k = 0; k < knots.size(); ++k)
                core::require(std::isfinite(knots[k]) && (k == 0 || knots[k - 1] < knots[k]),
                              "the shape of its state does not rise");
        }
    }
    return state;
}

}  // namespace accrue
