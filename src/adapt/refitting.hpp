// Fits on a schedule, from what is known at the time.
#pragma once

#include <span>
#include <vector>

#include "accrue/adapt.hpp"

namespace accrue::adapting {

struct Refitted {
    Model model;
    State state;  // of the rows that it was fitted to, by starts that never saw them
    std::size_t rows;
};

class Schedule {
public:
    // `first` is the first time of the rows. Throws InputError where the model cannot be fitted to these rows alone.
    Schedule(const Model& model, const TimedRows& rows, const ReplayOptions& options, double first);

    double next() const { return first_ + window_ + static_cast<double>(fits_) * every_; }  // time of a fit
    // The fit of that time, from where the last one ended. `known` are rows in the order of their times; `state` is
    // that of the model until now, whose record of intervals goes on.
    Refitted fit(std::span<const std::size_t> known, const State& state);

private:
    Model model_;  // the last one
    const TimedRows& rows_;
    double first_, every_ = 0, window_ = 0;
    std::size_t fits_ = 0;
};

// The values of some rows; none where there are no values at all.
std::vector<double> taken(std::span<const double> values, std::span<const std::size_t> some);
// What a model says of some rows, and that of the first `count` of them put into their places.
Forecast forecast_some(const Model& model, const TimedRows& rows, std::span<const std::size_t> some);
void put(const Forecast& own, std::span<const std::size_t> some, std::size_t count, Forecast& all);

}  // namespace accrue::adapting
