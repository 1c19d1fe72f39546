#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "accrue/predict.hpp"
#include "adapt/refitting.hpp"
#include "adapt/several.hpp"
#include "adapt/timed_rows.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "families/normal.hpp"
#include "verify/scored_rows.hpp"

namespace accrue {

namespace {

constexpr std::array kLevels = {0.5, 0.8, 0.9, 0.95};
constexpr std::size_t kBlock = 256;

std::span<const double> parameters_of(const Forecast& forecast, std::size_t row) {
    const std::size_t width = forecast.parameters.size() / forecast.sigma.size();
    return std::span(forecast.parameters).subspan(row * width, width);
}

// Of some rows, in this order.
Forecast part(const Forecast& all, std::span<const std::size_t> rows) {
    Forecast some;
    some.family = all.family;
    for (const std::size_t i : rows) {
        some.mean.push_back(all.mean[i]);
        some.sigma.push_back(all.sigma[i]);
        some.off_support.push_back(all.off_support[i]);
        const auto own = parameters_of(all, i);
        some.parameters.insert(some.parameters.end(), own.begin(), own.end());
    }
    return some;
}

// As adapted(), of rows whose families differ: row i has the one with the code codes[i].
Forecast adapted_each(const Forecast& forecast, std::span<const Moved> moves, bool shaped,
                      const std::vector<SharedFamily>& families, std::span<const std::uint32_t> codes) {
    Forecast result = forecast;
    result.parameters.clear();
    std::vector<SharedFamily> moved_families;
    for (std::size_t code = 0; code < families.size(); ++code) {
        std::vector<std::size_t> own;
        std::vector<Moved> own_moves;
        for (std::size_t i = 0; i < codes.size(); ++i)
            if (codes[i] == code) {
                own.push_back(i);
                own_moves.push_back(moves[i]);
            }
        moved_families.push_back(adapted_family(families[code], shaped));
        if (own.empty()) continue;
        Forecast some = part(forecast, own);
        some.family = families[code];
        const Forecast moved = adapted(some, own_moves, shaped);
        const std::size_t width = parameters_per_row(*moved.family);
        result.parameters.resize(codes.size() * (width + 1));
        for (std::size_t k = 0; k < own.size(); ++k) {
            const std::size_t i = own[k];
            result.mean[i] = moved.mean[k];
            result.sigma[i] = moved.sigma[k];
            double* parameters = result.parameters.data() + i * (width + 1);
            std::copy_n(moved.parameters.data() + k * width, width, parameters);
            parameters[width] = static_cast<double>(code);
        }
    }
    result.family = std::make_shared<adapting::Several>(std::move(moved_families));
    return result;
}

double pinball(const Forecast& forecast, std::span<const double> observation) {
    const RowFamilies families(forecast.families(), observation.size());
    std::array<double, 9> deciles{};  // as normal scores
    for (std::size_t k = 0; k < deciles.size(); ++k)
        deciles[k] = families::normal_quantile(static_cast<double>(k + 1) / 10);
    std::vector<std::array<double, deciles.size()>> alike;  // of families of which all rows have the same
    for (const Standardised& family : families.alike()) {
        alike.emplace_back();
        std::transform(deciles.begin(), deciles.end(), alike.back().begin(),
                       [&](double score) { return family.of_normal_score(score); });
    }
    std::vector<double> losses(observation.size());
    core::for_blocks(losses.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::array<double, deciles.size()> own{};
        std::array<double, deciles.size()> slopes{};
        for (std::size_t i = begin; i < end; ++i) {
            if (alike.empty()) {
                const std::span<const double> row = families.parameters(i);
                families.family(families.code(i)).of_normal_scores(deciles, row.subspan(2), own.data(), slopes.data());
                for (double& u : own) u = (u - row[0]) / row[1];
            } else {
                own = alike[families.code(i)];
            }
            for (std::size_t k = 0; k < deciles.size(); ++k) {
                const double p = static_cast<double>(k + 1) / 10;
                const double left = observation[i] - forecast.mean[i] - own[k] * forecast.sigma[i];
                losses[i] += std::max(p * left, (p - 1) * left) / 9;
            }
        }
    });
    return 2 * std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

Verification verified(const Forecast& forecast, std::span<const double> observation, std::span<const double> times,
                      const Grouping& groups, const Grouping& periods, const char* name) {
    std::vector<double> errors(observation.begin(), observation.end());
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= forecast.mean[i];
    VerifyOptions options;
    options.levels.assign(kLevels.begin(), kLevels.end());
    options.ordered = true;
    options.times = times;
    const ColumnGrouping by{"period", periods};
    // Of the normal family scores come faster than they are kept.
    const RowFamilies families(forecast.families(), errors.size());
    Verification figures =
        forecast.family->is_normal()
            ? verify(errors, forecast.sigma, forecast.families(), {}, groups, options, std::span(&by, 1))
            : verification::verify_scored(
                  verification::FamilyScores(errors, forecast.sigma, families, options.levels).rows(), {}, groups,
                  options, std::span(&by, 1));
    figures.name = name;
    const auto outside = std::count(forecast.off_support.begin(), forecast.off_support.end(), 1);
    figures.off_support = static_cast<double>(outside) / static_cast<double>(errors.size());
    return figures;
}

// The intervals of the tails that every row had, at one of the levels; `missed` as the state counts them.
Coverage adaptive_coverage(const Replay& replay, std::span<const std::size_t> rows,
                           std::span<const std::uint8_t> missed, std::size_t level) {
    const std::vector<double>& levels = replay.state.options().levels;
    const RowFamilies families(replay.forecast.families(), replay.forecast.sigma.size());
    Coverage coverage{levels[level], 0, 0, std::numeric_limits<double>::quiet_NaN()};
    for (const std::size_t i : rows) {
        coverage.observed += missed[i * levels.size() + level] != 0 ? 0 : 1;
        families.with(i, [&](const Standardised& row) {
            const auto [lower, upper] = adaptive_interval(row, replay.tails[i * levels.size() + level]);
            coverage.mean_width += replay.forecast.sigma[i] * (upper - lower);
            return 0;
        });
    }
    coverage.observed /= static_cast<double>(rows.size());
    coverage.mean_width /= static_cast<double>(rows.size());
    return coverage;
}

// Ten periods with as many rows each, named by their first time.
struct Periods {
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
    std::vector<double> starts;
};
Periods periods(const TimedRows& rows, std::span<const std::size_t> scored) {
    constexpr std::size_t kPeriods = 10;
    std::vector<double> times;
    for (const std::size_t i : scored) times.push_back(rows.times[i]);
    Periods result;
    result.codes.resize(times.size());
    const std::vector<std::size_t> order = adapting::by_time(times);
    double first = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const double time = times[order[k]];
        // A period begins with a time of its own.
        const bool begins = k == 0 || (k * kPeriods / order.size() >= result.labels.size() && time > first &&
                                       time > times[order[k - 1]]);
        if (begins) {
            result.labels.push_back(fmt::format("from {}", time_text(time, rows.dates)));
            result.starts.push_back(time);
            first = time;
        }
        result.codes[order[k]] = static_cast<std::uint32_t>(result.labels.size() - 1);
    }
    return result;
}

}  // namespace

Replay replay(const Model& model, const TimedRows& rows, const ReplayOptions& options) {
    adapting::require_rows(model, rows);
    Replay result{.fixed = {},
                  .forecast = {},
                  .moves = {},
                  .tails = {},
                  .scored = {},
                  .state = adapting::state_of(model, rows, options),
                  .figures = {},
                  .fixed_figures = {}};
    State& state = result.state;
    const std::size_t count = rows.times.size();
    const double delay = options.delay.empty() ? 0 : duration(options.delay, rows.dates, "delay");
    const double from =
        options.from.empty() ? -std::numeric_limits<double>::infinity() : time_of(options.from, rows.dates, "from");
    const std::vector<std::size_t> arriving = adapting::by_time(rows.times);
    core::require(rows.times[arriving[0]] > state.clock(),
                  "{} is of {}, but the state has seen observations up to {}: a replay begins after them",
                  adapting::place(rows, arriving[0]), time_text(rows.times[arriving[0]], rows.dates),
                  time_text(state.clock(), rows.dates));
    // Bounds number rows as an update with the rows in the order of their times would.
    result.fixed = forecast_rows(model, rows.inputs, rows.prediction, count, state.rows());
    for (std::size_t i = 0; i < count; ++i)
        core::require(!std::isnan(result.fixed.sigma[i]), "{} has a missing input, and so no forecast",
                      adapting::place(rows, i));
    // Of the model in use, which a schedule replaces.
    std::vector<double> scores = adapting::normal_scores(result.fixed, rows.observation);
    std::vector<double> sigmas = result.fixed.sigma;
    // Whether rows fell outside the intervals that were issued for them, which the state learns when they are observed.
    const std::size_t levels = state.options().levels.size();
    std::vector<std::uint8_t> missed(count * levels);
    adapting::Observations observations(model, rows, state.options(), scores, sigmas, missed);
    const bool refitting = !options.refit.empty() || !options.window.empty();
    Forecast base = refitting ? result.fixed : Forecast{};
    std::optional<adapting::Schedule> schedule;
    if (refitting) schedule.emplace(model, rows, options, rows.times[arriving.front()]);
    // Every fit has a map of its own where the model is recalibrated.
    std::vector<SharedFamily> families = {model.family()};
    std::vector<std::uint32_t> family_codes(refitting && model.family()->recalibrated() ? count : 0);

    // A row is forecast `lead` before its time, and knows what was observed at least `delay` earlier. Of rows that are
    // forecast at once those with the shortest lead come first: they may not know what is of their own time.
    const auto lead = [&](std::size_t i) { return rows.leads.empty() ? 0 : rows.leads[i]; };
    const auto issued = [&](std::size_t i) { return rows.times[i] - lead(i); };
    std::vector<std::size_t> issuing(count);
    std::iota(issuing.begin(), issuing.end(), std::size_t{0});
    const auto earlier = [&](std::size_t a, std::size_t b) {
        return issued(a) != issued(b) ? issued(a) < issued(b) : lead(a) < lead(b);
    };
    if (!std::is_sorted(issuing.begin(), issuing.end(), earlier))
        std::stable_sort(issuing.begin(), issuing.end(), earlier);
    const double last = issued(issuing.back());
    result.moves.resize(count);
    result.tails.resize(count * levels);
    std::size_t next = 0;  // of those that arrive
    const auto known_by = [&](double moment, double time) {
        return next < count && rows.times[arriving[next]] + delay <= moment && rows.times[arriving[next]] < time;
    };
    const auto observe_next = [&] {
        std::size_t end = next;
        while (end < count && rows.times[arriving[end]] == rows.times[arriving[next]]) ++end;
        observations.add_to(state, std::span(arriving).subspan(next, end - next));
        next = end;
    };
    for (std::size_t k = 0; k < count;) {
        const std::size_t first = issuing[k];
        while (schedule && schedule->next() <= issued(first)) {
            const double now = schedule->next();
            while (known_by(now, now)) observe_next();
            adapting::Refitted fitted = schedule->fit(std::span(arriving).first(next), state);
            state = std::move(fitted.state);
            result.refits.push_back({now, fitted.rows});
            result.refitted = fitted.model;
            // Until the next one it forecasts what is issued and scores what arrives.
            const double end = schedule->next();
            std::vector<std::size_t> own;
            for (std::size_t j = k; j < count && issued(issuing[j]) < end; ++j) own.push_back(issuing[j]);
            const std::size_t of_own = own.size();
            for (std::size_t j = next; j < count && (rows.times[arriving[j]] + delay <= end || end > last); ++j) {
                const double at = issued(arriving[j]);
                if (at < issued(first) || at >= end) own.push_back(arriving[j]);
            }
            const Forecast theirs = adapting::forecast_some(fitted.model, rows, own);
            adapting::put(theirs, own, of_own, base);
            if (!family_codes.empty()) {
                for (std::size_t j = 0; j < of_own; ++j)
                    family_codes[own[j]] = static_cast<std::uint32_t>(families.size());
                families.push_back(fitted.model.family());
            }
            const std::vector<double> their_scores =
                adapting::normal_scores(theirs, adapting::taken(rows.observation, own));
            for (std::size_t j = 0; j < own.size(); ++j) {
                scores[own[j]] = their_scores[j];
                sigmas[own[j]] = theirs.sigma[j];
            }
        }
        while (known_by(issued(first), rows.times[first])) observe_next();
        // All rows of one time and one moment of issue have the same state.
        const State::Moment now = state.at(std::max(rows.times[first], state.clock()));
        for (; k < count && issued(issuing[k]) == issued(first) && rows.times[issuing[k]] == rows.times[first]; ++k) {
            const std::size_t i = issuing[k];
            result.moves[i] = observations.moved(state, now, i);
            if (levels == 0) continue;
            const double tail = tail_of(scores[i], result.moves[i]);
            for (std::size_t level = 0; level < levels; ++level) {
                result.tails[i * levels + level] = state.tails()[level];
                missed[i * levels + level] = tail < state.tails()[level] ? 1 : 0;
            }
        }
    }
    while (next < count) observe_next();
    core::require(!refitting || !result.refits.empty(),
                  "{} is '{}', which is longer than all rows: the model is never fitted again", core::option("window"),
                  options.window);
    const bool shaped = state.options().shape;
    result.forecast = family_codes.empty() ? adapted(refitting ? base : result.fixed, result.moves, shaped)
                                           : adapted_each(base, result.moves, shaped, families, family_codes);

    std::vector<std::size_t> scored;
    result.scored.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        if (rows.times[i] >= from) {
            scored.push_back(i);
            result.scored[i] = 1;
        }
    core::require(!scored.empty(), "{}: there is no row from {} on", core::option("from"), options.from);
    std::vector<double> observation, times;
    std::vector<std::uint32_t> codes;
    for (const std::size_t i : scored) {
        observation.push_back(rows.observation[i]);
        times.push_back(rows.times[i]);
        if (!rows.groups.codes.empty()) codes.push_back(rows.groups.codes[i]);
    }
    const Grouping groups{codes, rows.groups.labels};
    const Periods along = periods(rows, scored);
    const Grouping grouping{along.codes, along.labels};
    const bool all_scored = scored.size() == count;
    const Forecast some_moving = all_scored ? Forecast{} : part(result.forecast, scored);
    const Forecast some_fixed = all_scored ? Forecast{} : part(result.fixed, scored);
    const Forecast& moving = all_scored ? result.forecast : some_moving;
    const Forecast& fixed = all_scored ? result.fixed : some_fixed;
    result.figures = verified(moving, observation, times, groups, grouping, "adapting");
    result.fixed_figures = verified(fixed, observation, times, groups, grouping, "static");
    result.periods = along.starts;
    result.pinball = pinball(moving, observation);
    result.fixed_pinball = pinball(fixed, observation);
    for (std::size_t k = 0; k < levels; ++k) result.adaptive.push_back(adaptive_coverage(result, scored, missed, k));
    return result;
}

nlohmann::ordered_json to_json(const Replay& replay) {
    const auto figures = [](const Verification& verification, double loss) {
        nlohmann::ordered_json json = to_json(verification);
        json["pinball"] = loss;
        return json;
    };
    const double forget = replay.state.forget();
    nlohmann::ordered_json json = {{"adapting", figures(replay.figures, replay.pinball)},
                                   {"static", figures(replay.fixed_figures, replay.fixed_pinball)},
                                   {"forget", nullptr},
                                   {"clock", time_text(replay.state.clock(), replay.state.options().dates)}};
    if (std::isfinite(forget)) json["forget"] = forget;
    json["shrink"] = replay.state.shrink();
    for (const Refit& one : replay.refits)
        json["refits"].push_back({{"time", time_text(one.time, replay.state.options().dates)}, {"rows", one.rows}});
    if (!replay.adaptive.empty()) json["adaptive"] = nlohmann::ordered_json::array();
    for (const Coverage& one : replay.adaptive)
        json["adaptive"].push_back({{"level", one.level}, {"observed", one.observed}, {"mean_width", one.mean_width}});
    return json;
}

}  // namespace accrue
