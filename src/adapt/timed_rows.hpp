// What update, replay and monitor have in common.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "accrue/adapt.hpp"
#include "data/row_places.hpp"

namespace accrue::adapting {

// Throws InputError unless every row has a value of each kind, all finite.
void require_rows(const Model& model, const TimedRows& rows);

// Normal scores of the observations by these forecasts, their rows being those of `rows`.
std::vector<double> normal_scores(const Forecast& forecast, std::span<const double> observation);

// The state that the model has, or that these options make.
State state_of(const Model& model, const TimedRows& rows, const AdaptOptions& options);

// "new.csv row 17 (line 18)"
data::RowName place(const TimedRows& rows, std::size_t row);

// Rows in the order of their times, those of one time in the order in which they came.
std::vector<std::size_t> by_time(std::span<const double> times);

// Rows as a state takes them.
class Observations {
public:
    // With the normal scores and sigmas of the fitted model. `missed`: of every row and level, as State::Observation
    // has it; or empty.
    Observations(const Model& model, const TimedRows& rows, const StateOptions& options, std::span<const double> scores,
                 std::span<const double> sigmas, std::span<const std::uint8_t> missed = {});
    Moved moved(const State& state, const State::Moment& now, std::size_t row) const;
    // All those in `rows`, which are of one time.
    void add_to(State& state, std::span<const std::size_t> rows);

private:
    std::span<const double> x(std::size_t row) const { return std::span(x_).subspan(row * width_, width_); }

    const TimedRows& rows_;
    std::span<const double> scores_, sigmas_;
    std::span<const std::uint8_t> missed_;
    std::size_t levels_;
    std::size_t width_;
    std::vector<double> x_;
    std::vector<State::Observation> step_;
};

}  // namespace accrue::adapting
