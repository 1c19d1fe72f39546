// A model through time.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

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

// time, group, forget, shrink, correct, adaptive, delay, from, refit, window: those that were given.
ReplayOptions options_of(const nb::dict& given) {
    ReplayOptions options;
    const auto take = [&](const char* name, auto& value) {
        if (given.contains(name)) value = nb::cast<std::remove_reference_t<decltype(value)>>(given[name]);
    };
    take("time", options.time);
    take("group", options.group);
    take("forget", options.forget);
    take("correct", options.correct);
    take("adaptive", options.levels);
    take("delay", options.delay);
    take("from", options.from);
    take("refit", options.refit);
    take("window", options.window);
    if (given.contains("shrink")) options.shrink = nb::cast<double>(given["shrink"]);
    return options;
}

nb::tuple figures_of(const Forecast& forecast) {
    const nb::bytes off_support(forecast.off_support.data(), forecast.off_support.size());
    return nb::make_tuple(to_array(forecast.mean), to_array(forecast.sigma), off_support, to_array(forecast.parameters),
                          forecast.family);
}

nb::tuple replayed(const Model& model, const Rows& rows, const nb::dict& given) {
    const Archive& archive = rows.archive();
    const ReplayOptions options = options_of(given);
    std::optional<Replay> result;
    without_gil([&] {
        std::vector<double> zeros;
        result = replay(model, timed_rows(model, archive, zeros), options);
    });
    std::vector<double> shifts;
    std::vector<double> scales;
    for (const Moved& moved : result->moves) {
        shifts.push_back(moved.shift);
        scales.push_back(moved.scale);
    }
    return nb::make_tuple(figures_of(result->forecast), to_array(shifts), to_array(scales), text_of(to_json(*result)),
                          result->refitted.value_or(model).with_state(result->state));
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
    return figures_of(forecast);
}

}  // namespace

void add_time(nb::module_& module) {
    module.def("update", [](const Model& model, const Rows& rows, const nb::dict& given) {
        const Archive& archive = rows.archive();
        const ReplayOptions options = options_of(given);
        std::optional<Model> moved;
        without_gil([&] {
            std::vector<double> zeros;
            moved = update(model, timed_rows(model, archive, zeros), options);
        });
        return *moved;
    });
    module.def("replay", replayed);
    module.def("forecast_at", forecasts_at, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
}

}  // namespace accrue::python
