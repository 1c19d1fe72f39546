// A conformal test martingale: one e-value per time, multiplied up.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "accrue/messages.hpp"
#include "accrue/predict.hpp"
#include "adapt/betting.hpp"
#include "adapt/timed_rows.hpp"
#include "core/error.hpp"
#include "families/normal.hpp"
#include "forecast/content.hpp"

namespace accrue {

namespace adapting {

Ranks::Ranks(std::vector<double> ends, std::vector<double> counts)
    : ends_(std::move(ends)),
      counts_(std::move(counts)),
      total_(std::accumulate(counts_.begin(), counts_.end(), 0.0)) {}

std::size_t Ranks::bin(double value) const {
    const auto at = std::lower_bound(ends_.begin(), ends_.end(), value);
    return std::min(static_cast<std::size_t>(at - ends_.begin()), ends_.size() - 1);
}

double Ranks::p_value(double value, double uniform) const {
    const std::size_t own = bin(value);
    const double below = std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(own), 0.0);
    return (below + uniform * (counts_[own] + 1)) / (total_ + 1);
}

void Ranks::add(double value) {
    counts_[bin(value)] += 1;
    total_ += 1;
}

namespace {

// What bets are on: normal scores of p-values that have become N(shift, scale^2). The first is no change, on which
// nothing is won or lost.
struct Alternative {
    double shift, scale;
};
constexpr std::array kAlternatives = {
    Alternative{0, 1},   Alternative{-1.5, 1},   Alternative{-0.75, 1},  Alternative{0.75, 1}, Alternative{1.5, 1},
    Alternative{0, 0.6}, Alternative{-0.5, 0.6}, Alternative{0.5, 0.6},  Alternative{0, 1.6},  Alternative{-1, 1.6},
    Alternative{1, 1.6}, Alternative{0, 2.5},    Alternative{-0.3, 0.9}, Alternative{0.3, 0.9}};
constexpr double kNoBet = 0.5;                          // share of the capital that starts without a bet
constexpr std::array kSwitching = {0.001, 0.01, 0.05};  // share of the capital that is dealt anew at every step

double gain(const Alternative& on, double z) {
    const double own = (z - on.shift) / on.scale;
    return std::exp((z - own) * (z + own) / 2) / on.scale;
}

double starting_share(std::size_t alternative) {
    return alternative == 0 ? kNoBet : (1 - kNoBet) / (kAlternatives.size() - 1);
}

}  // namespace

Bets::Bets() {
    for (std::size_t s = 0; s < kSwitching.size(); ++s)
        for (std::size_t a = 0; a < kAlternatives.size(); ++a)
            capital_.push_back(starting_share(a) / static_cast<double>(kSwitching.size()));
}

double Bets::step(std::span<const double> p_values) {
    std::array<double, kAlternatives.size()> gains{};
    for (const double p : p_values) {
        const double z = families::normal_score_of(p, 1 - p);
        for (std::size_t a = 0; a < gains.size(); ++a)
            gains[a] += gain(kAlternatives[a], z) / static_cast<double>(p_values.size());
    }
    double all = 0;
    for (std::size_t s = 0; s < kSwitching.size(); ++s) {
        const std::span<double> own = std::span(capital_).subspan(s * gains.size(), gains.size());
        double sum = 0;
        for (std::size_t a = 0; a < gains.size(); ++a) sum += own[a] *= gains[a];
        for (std::size_t a = 0; a < gains.size(); ++a)
            own[a] = (1 - kSwitching[s]) * own[a] + kSwitching[s] * sum * starting_share(a);
        all += sum;
    }
    // Beyond this nothing more is to be said, and numbers stay finite.
    constexpr double kMaxCapital = 1e100;
    if (all > kMaxCapital)
        for (double& part : capital_) part *= kMaxCapital / all;
    return std::min(all, kMaxCapital);
}

}  // namespace adapting

namespace {

// The out-of-fold PITs as counts between the probabilities of the model's reliability diagram.
adapting::Ranks archive_ranks(const Model& model) {
    const auto& verification = model.content().verification;
    const bool has = verification.contains("reliability_diagram") && verification.contains("rows");
    core::require(has, "the model keeps no reliability diagram of its verification: fit it again");
    const auto& diagram = verification.at("reliability_diagram");
    const auto rows = verification.at("rows").get<double>();
    std::vector<double> ends;
    std::vector<double> counts;
    double before = 0;
    const auto& probabilities = diagram.at("probability");
    const auto& observed = diagram.at("observed");
    core::require(probabilities.size() == observed.size() && probabilities.size() > 1,
                  "the model keeps no reliability diagram of its verification: fit it again");
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
        const bool numbers = probabilities[k].is_number() && observed[k].is_number();
        core::require(numbers, "the model's reliability diagram has gaps: fit it again");
        ends.push_back(probabilities[k].get<double>());
        const double share = observed[k].get<double>();
        counts.push_back(std::max(0.0, std::round(rows * (share - before))));
        before = share;
    }
    return {std::move(ends), std::move(counts)};
}

}  // namespace

Monitor monitor(const Model& model, const TimedRows& rows, const MonitorOptions& options) {
    core::require(options.alpha > 0 && options.alpha < 1, "{}: {} is not between 0 and 1", core::option("alpha"),
                  options.alpha);
    adapting::require_rows(model, rows);
    const std::size_t count = rows.times.size();
    const Forecast forecast = forecast_rows(model, rows.inputs, rows.prediction, count);
    for (std::size_t i = 0; i < count; ++i)
        core::require(!std::isnan(forecast.sigma[i]), "{} has a missing input, and so no forecast",
                      adapting::place(rows, i));
    const std::vector<double> scores = adapting::normal_scores(forecast, rows.observation);
    adapting::Ranks ranks = archive_ranks(model);
    adapting::Bets bets;
    core::Random random(1);

    Monitor result;
    result.rows = count;
    result.threshold = 1 / options.alpha;
    result.dates = rows.dates;
    const std::vector<std::size_t> order = adapting::by_time(rows.times);
    std::vector<double> p_values;
    for (std::size_t k = 0; k < count;) {
        const std::size_t begin = k;
        const double time = rows.times[order[begin]];
        p_values.clear();
        // All against what came before this time: rows of one time err together.
        for (; k < count && rows.times[order[k]] == time; ++k)
            p_values.push_back(ranks.p_value(families::normal_cdf(scores[order[k]]), random.uniform()));
        for (std::size_t i = begin; i < k; ++i) ranks.add(families::normal_cdf(scores[order[i]]));
        result.times.push_back(time);
        result.evidence.push_back(bets.step(p_values));
        if (!result.alarm && result.evidence.back() >= result.threshold) {
            result.alarm = true;
            result.alarm_step = result.times.size();
            result.alarm_time = time;
        }
    }
    result.steps = result.times.size();
    result.off_support = static_cast<double>(std::count(forecast.off_support.begin(), forecast.off_support.end(), 1)) /
                         static_cast<double>(count);
    const std::string range =
        fmt::format("{:.1f}% of the rows lie outside the range of the archive.", 100 * result.off_support);
    if (result.alarm)
        result.sentence = fmt::format(
            "Alarm at {} ({} of {} times): the forecasts no longer err as they did when the model was verified "
            "(evidence {:.3g}, and {:.3g} is reached without a change in at most {:.3g}% of cases). {}",
            time_text(result.alarm_time, rows.dates), result.alarm_step, result.steps,
            *std::max_element(result.evidence.begin(), result.evidence.end()), result.threshold, 100 * options.alpha,
            range);
    else
        result.sentence = fmt::format(
            "No alarm in {}: the forecasts err as they did when the model was verified, as far as these rows tell "
            "(evidence {:.3g}, an alarm needs {:.3g}). {}",
            counted(result.steps, "time"), *std::max_element(result.evidence.begin(), result.evidence.end()),
            result.threshold, range);
    return result;
}

nlohmann::ordered_json to_json(const Monitor& monitor) {
    nlohmann::ordered_json through = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < monitor.steps; ++k)
        through.push_back({{"time", time_text(monitor.times[k], monitor.dates)}, {"evidence", monitor.evidence[k]}});
    nlohmann::ordered_json json = {{"alarm", monitor.alarm}, {"sentence", monitor.sentence}};
    json["alarm_time"] = nullptr;
    if (monitor.alarm) json["alarm_time"] = time_text(monitor.alarm_time, monitor.dates);
    json["rows"] = monitor.rows;
    json["times"] = monitor.steps;
    json["threshold"] = monitor.threshold;
    json["off_support_percent"] = 100 * monitor.off_support;
    json["through_time"] = std::move(through);
    return json;
}

}  // namespace accrue
