// Fit, model file, forecast.
#include "accrue/model.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "accrue/fit.hpp"
#include "arrays.hpp"
#include "module.hpp"

namespace accrue::python {

namespace {

// A fit on a thread of its own, while the caller's sleeps and wakes: Python delivers Ctrl-C to its main thread only,
// and progress bars want to be drawn by the thread that made them. The fit's threads never need the GIL.
class WatchedFit {
public:
    WatchedFit(const Archive& archive, const FitOptions& options, int threads)
        : worker_([this, &archive, &options, threads] { run(archive, options, threads); }) {}

    FitResult wait(const nb::object& progress) {
        std::optional<nb::python_error> raised;
        while (!sleep()) {
            if (raised) continue;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                if (!progress.is_none()) progress(seen_.finished, seen_.tasks, seen_.cost);
            } catch (nb::python_error& error) {
                raised.emplace(std::move(error));
                const std::lock_guard lock(mutex_);
                stop_ = true;
            }
        }
        if (raised) throw nb::python_error(std::move(*raised));
        if (failure_) std::rethrow_exception(failure_);
        return std::move(*result_);
    }

private:
    void run(const Archive& archive, const FitOptions& options, int threads) {
        try {
            with_threads(threads, [&] {
                result_ = fit(archive, options, [this](const FitProgress& progress) {
                    const std::lock_guard lock(mutex_);
                    latest_ = progress;
                    return !stop_;
                });
            });
        } catch (...) {
            failure_ = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        changed_.notify_one();
    }

    // Whether the fit has ended; if not, seen_ is how far it is.
    bool sleep() {
        constexpr std::chrono::milliseconds kNap{50};
        const nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        const bool done = changed_.wait_for(lock, kNap, [this] { return done_; });
        seen_ = latest_;
        lock.unlock();
        if (done) worker_.join();
        return done;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    FitProgress latest_, seen_;
    bool stop_ = false;
    bool done_ = false;
    std::optional<FitResult> result_;
    std::exception_ptr failure_;
    std::thread worker_;  // last: it uses all others
};

std::string name_of(const nb::dict& names, const char* role) {
    return names.contains(role) ? nb::cast<std::string>(names[role]) : std::string();
}

nb::tuple fitted(const std::vector<std::string>& input_names, const nb::list& inputs, const nb::dict& rows,
                 const nb::dict& names, const FitOptions& options, const nb::object& progress) {
    const auto given = [&](const char* role) {
        return Numbers(rows.contains(role) ? nb::object(rows[role]) : nb::none());
    };
    const Columns columns(inputs);
    const Numbers errors = given("error");
    const Numbers observation = given("observation");
    const Numbers prediction = given("prediction");
    const Numbers weights = given("weight");
    const Numbers times = given("time");
    const Groups groups(rows.contains("group") ? nb::object(rows["group"]) : nb::none());
    Archive archive;
    archive.input_names = input_names;
    archive.inputs = columns.spans;
    archive.errors = errors;
    archive.observation = observation;
    archive.prediction = prediction;
    archive.weights = weights;
    archive.groups = groups.grouping();
    archive.times = times;
    archive.prediction_name = name_of(names, "prediction");
    archive.observation_name = name_of(names, "observation");
    archive.error_name = name_of(names, "error");
    archive.weight_name = name_of(names, "weight");
    archive.group_name = name_of(names, "group");
    archive.time_name = name_of(names, "time");
    FitResult result = WatchedFit(archive, options, thread_limit).wait(progress);
    return nb::make_tuple(result.model, result.verification, to_array(result.errors), to_array(result.sigmas));
}

nb::tuple forecasts(const Model& model, const nb::list& inputs, nb::handle prediction) {
    const Columns columns(inputs);
    const Numbers mu(prediction);
    Forecast forecast;
    without_gil([&] { forecast = model.forecast(columns.spans, mu); });
    const nb::object mean = forecast.mean.empty() ? nb::none() : to_array(forecast.mean);
    const nb::bytes off_support(forecast.off_support.data(), forecast.off_support.size());
    return nb::make_tuple(mean, to_array(forecast.sigma), off_support);
}

}  // namespace

void add_model(nb::module_& module) {
    nb::class_<FitOptions>(module, "FitOptions")
        .def(nb::init<>())
        .def_rw("form", &FitOptions::form)
        .def_rw("recipe", &FitOptions::recipe)
        .def_rw("score", &FitOptions::score)
        .def_rw("mean", &FitOptions::mean)
        .def_rw("balance", &FitOptions::balance)
        .def_rw("bias", &FitOptions::bias)
        .def_rw("recalibrate", &FitOptions::recalibrate)
        .def_rw("folds", &FitOptions::folds)
        .def_rw("starts", &FitOptions::starts)
        .def_rw("training_share", &FitOptions::training_share)
        .def_rw("validation_share", &FitOptions::validation_share)
        .def_rw("patience", &FitOptions::patience)
        .def_rw("most_iterations", &FitOptions::most_iterations)
        .def_rw("stages", &FitOptions::stages)
        .def_rw("seed", &FitOptions::seed);
    nb::class_<Model>(module, "Model")
        .def_static("load", &Model::load)
        .def_static("parse", &Model::parse)
        .def("save", &Model::save)
        .def("text", &Model::text)
        .def_prop_ro("inputs", [](const Model& model) { return model.inputs(); })
        .def_prop_ro("prediction", &Model::prediction)
        .def_prop_ro("has_mean", &Model::has_mean)
        .def_prop_ro("corrects_bias", &Model::corrects_bias)
        .def_prop_ro("shape", &Model::shape)
        .def("forecast", forecasts, nb::arg(), nb::arg().none());
    module.def("fit", fitted, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace accrue::python
