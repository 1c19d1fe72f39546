#include <algorithm>
#include <cmath>
#include <tuple>

#include "accrue/messages.hpp"
#include "accrue/predict.hpp"
#include "adapt/timed_rows.hpp"
#include "core/error.hpp"

namespace accrue {

namespace {

// Throws where two rows of one time are alike in everything that is read of them.
void require_different(const TimedRows& rows, std::span<const std::size_t> step) {
    if (step.size() < 2) return;
    const auto compare = [&](std::size_t a, std::size_t b) {
        const auto one = [&](std::span<const double> values) {
            return values.empty() || values[a] == values[b] ? 0 : values[a] < values[b] ? -1 : 1;
        };
        if (!rows.groups.codes.empty() && rows.groups.codes[a] != rows.groups.codes[b])
            return rows.groups.codes[a] < rows.groups.codes[b] ? -1 : 1;
        for (const auto& values : rows.inputs)
            if (const int order = one(values)) return order;
        if (const int order = one(rows.prediction)) return order;
        return one(rows.observation);
    };
    std::vector<std::size_t> sorted(step.begin(), step.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
    for (std::size_t i = 1; i < sorted.size(); ++i)
        core::require(compare(sorted[i - 1], sorted[i]) != 0,
                      "{} repeats {}: time, inputs, prediction and observation are the same",
                      adapting::place(rows, sorted[i]), adapting::place(rows, sorted[i - 1]));
}

// Of every row and level, whether the observation lies outside the interval that was issued. One without width, as of a
// tail of 1, is missed: otherwise a tail that has nothing to leave out any more would rise without end.
std::vector<std::uint8_t> missed(const TimedRows& rows, std::size_t levels) {
    if (rows.issued.empty()) return {};
    core::require(rows.issued.size() == levels, "there are issued intervals of {} levels, but the state has {}",
                  rows.issued.size(), levels);
    const std::size_t count = rows.times.size();
    std::vector<std::uint8_t> result(count * levels);
    for (std::size_t k = 0; k < levels; ++k) {
        const auto& [lower, upper] = rows.issued[k];
        core::require(lower.size() == count && upper.size() == count,
                      "there are {} and {} ends of issued intervals, but {} times", lower.size(), upper.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
            core::require(lower[i] <= upper[i], "{}: the interval that was issued is from {} to {}",
                          adapting::place(rows, i), lower[i], upper[i]);
            const double y = rows.observation[i];
            result[i * levels + k] = y < lower[i] || y > upper[i] || lower[i] == upper[i] ? 1 : 0;
        }
    }
    return result;
}

}  // namespace

Model update(const Model& model, const TimedRows& rows, const AdaptOptions& options) {
    using adapting::place;
    adapting::require_rows(model, rows);
    State state = adapting::state_of(model, rows, options);
    const std::size_t count = rows.times.size();
    core::require(rows.times[0] > state.clock(),
                  "{} is of {}, but the state has seen observations up to {}: rows already seen are refused",
                  place(rows, 0), time_text(rows.times[0], rows.dates), time_text(state.clock(), rows.dates));
    for (std::size_t i = 1; i < count; ++i)
        if (rows.times[i] < rows.times[i - 1])
            core::refuse("{} is of {}, after a row of {}: sort the rows by time", place(rows, i),
                         time_text(rows.times[i], rows.dates), time_text(rows.times[i - 1], rows.dates));
    // Rows are numbered on, so that observations on a bound have the same scores however the rows are divided.
    const Forecast forecast = forecast_rows(model, rows.inputs, rows.prediction, count, state.rows());
    for (std::size_t i = 0; i < count; ++i)
        core::require(!std::isnan(forecast.sigma[i]), "{} has a missing input, and so no forecast", place(rows, i));
    const std::vector<double> scores = adapting::normal_scores(forecast, rows.observation);
    const std::vector<std::uint8_t> outside = missed(rows, state.options().levels.size());
    adapting::Observations observations(model, rows, state.options(), scores, forecast.sigma, outside);
    std::vector<std::size_t> step;
    for (std::size_t i = 0; i < count; ++i) {
        step.push_back(i);
        if (i + 1 < count && rows.times[i + 1] == rows.times[i]) continue;
        require_different(rows, step);
        observations.add_to(state, step);
        step.clear();
    }
    return model.with_state(std::move(state));
}

}  // namespace accrue
