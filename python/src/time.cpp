// A model through time.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "accrue/adapt.hpp"
#include "accrue/predict.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "report.hpp"
#include "rows.hpp"

namespace accrue::python {

namespace {

// Errors alone are those of a prediction of zero.
TimedRows timed_rows(const Model& model, const Archive& archive, std::vector<double>& zeros) {
    TimedRows rows;
    rows.inputs = archive.inputs;
    rows.prediction = archive.prediction;
    rows.observation = archive.observation.empty() ? archive.errors : archive.observation;
    if (rows.prediction.empty() && !model.has_mean()) {
        zeros.resize(rows.observation.size());
        rows.prediction = zeros;
    }
    rows.times = archive.times;
    rows.dates = archive.times_are_dates;
    rows.groups = archive.groups;
    rows.place = archive.place;
    return rows;
}

// Lower and upper ends of the adaptive intervals of every row, of each level. Rows have a tail of every level each, or
// all rows the same.
nb::list adaptive_ends(const Forecast& forecast, const State& state, std::span<const double> tails) {
    const std::vector<double>& levels = state.options().levels;
    const std::size_t rows = forecast.sigma.size();
    const RowFamilies families(forecast.families(), rows);
    const Limits limits = forecast.family->limits();
    nb::list result;
    for (std::size_t k = 0; k < levels.size(); ++k) {
        std::vector<double> lower(rows, std::numeric_limits<double>::quiet_NaN());
        std::vector<double> upper = lower;
        for (std::size_t i = 0; i < rows; ++i) {
            const double mean = forecast.mean[i];
            const double sigma = forecast.sigma[i];
            if (std::isnan(sigma)) continue;
            const double tail = tails.size() == levels.size() ? tails[k] : tails[i * levels.size() + k];
            const auto [below, above] =
                families.with(i, [&](const Standardised& row) { return adaptive_interval(row, tail); });
            lower[i] = limits.hold(mean + below * sigma, sigma);
            upper[i] = limits.hold(mean + above * sigma, sigma);
        }
        result.append(nb::make_tuple(levels[k], to_array(lower), to_array(upper)));
    }
    return result;
}

// time, group, forget, shrink, correct, shape, adaptive, delay, from, refit, window: those that were given.
ReplayOptions options_of(const nb::dict& given) {
    ReplayOptions options;
    const auto take = [&](const char* name, auto& value) {
        if (given.contains(name)) value = nb::cast<std::remove_reference_t<decltype(value)>>(given[name]);
    };
    take("time", options.time);
    take("group", options.group);
    take("forget", options.forget);
    take("shape", options.shape);
    take("shrink", options.shrink);
    take("correct", options.correct);
    take("adaptive", options.levels);
    take("delay", options.delay);
    take("from", options.from);
    take("refit", options.refit);
    take("window", options.window);
    return options;
}

nb::tuple figures_of(const Forecast& forecast) {
    const nb::bytes off_support(forecast.off_support.data(), forecast.off_support.size());
    return nb::make_tuple(to_array(forecast.mean), to_array(forecast.sigma), off_support, to_array(forecast.parameters),
                          forecast.family);
}

nb::tuple replayed(const Model& model, const Rows& rows, const nb::dict& given, nb::handle leads) {
    const Archive& archive = rows.archive();
    const ReplayOptions options = options_of(given);
    const Numbers before(leads);
    std::optional<Replay> result;
    without_gil([&] {
        std::vector<double> zeros;
        TimedRows timed = timed_rows(model, archive, zeros);
        timed.leads = before;
        result = replay(model, timed, options);
    });
    std::vector<double> shifts;
    std::vector<double> scales;
    for (const Moved& moved : result->moves) {
        shifts.push_back(moved.shift);
        scales.push_back(moved.scale);
    }
    return nb::make_tuple(figures_of(result->forecast), to_array(shifts), to_array(scales), text_of(to_json(*result)),
                          result->refitted.value_or(model).with_state(result->state),
                          adaptive_ends(result->forecast, result->state, result->tails));
}

// Groups are as accrue._arrays.codes makes them, or None.
nb::tuple forecasts_at(const Model& model, const nb::list& inputs, nb::handle prediction, nb::handle times,
                       nb::handle groups) {
    const Columns columns(inputs);
    const Numbers mu(prediction);
    const Numbers at(times);
    const Groups labelled(groups);
    Forecast forecast;
    without_gil([&] {
        std::vector<double> numbers;
        for (const std::uint32_t code : labelled.codes) {
            const std::size_t own = model.state()->group(labelled.labels[code]);
            numbers.push_back(own == State::kNoGroup ? -1 : static_cast<double>(own));
        }
        forecast = forecast_at(model, columns.spans, mu, at, numbers);
    });
    return nb::make_tuple(figures_of(forecast), adaptive_ends(forecast, *model.state(), model.state()->tails()));
}

}  // namespace

void add_time(nb::module_& module) {
    // `issued`: lower and upper ends of adaptive intervals, of one level after the other; or none.
    module.def("update", [](const Model& model, const Rows& rows, const nb::dict& given, const nb::list& issued) {
        const Archive& archive = rows.archive();
        const ReplayOptions options = options_of(given);
        const Columns ends(issued);
        std::optional<Model> moved;
        without_gil([&] {
            std::vector<double> zeros;
            TimedRows timed = timed_rows(model, archive, zeros);
            for (std::size_t k = 0; k + 1 < ends.spans.size(); k += 2)
                timed.issued.emplace_back(ends.spans[k], ends.spans[k + 1]);
            moved = update(model, timed, options);
        });
        return *moved;
    });
    module.def("replay", replayed, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
    module.def("monitor", [](const Model& model, const Rows& rows, double alpha) {
        const Archive& archive = rows.archive();
        std::optional<Monitor> result;
        without_gil([&] {
            std::vector<double> zeros;
            result = monitor(model, timed_rows(model, archive, zeros), {alpha});
        });
        return text_of(to_json(*result));
    });
    module.def("forecast_at", forecasts_at, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace accrue::python
