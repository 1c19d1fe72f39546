// Fit, model file, forecast.
#include "accrue/model.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "accrue/fit.hpp"
#include "accrue/options.hpp"
#include "accrue/predict.hpp"
#include "accrue/state.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "report.hpp"
#include "rows.hpp"

namespace accrue::python {

namespace {

using Json = nlohmann::ordered_json;

// A thread that is used again: oneTBB keeps some 8 KiB for every thread that ever called it, to the end of the process.
class Worker {
public:
    // One that has nothing to do, or a new one.
    static Worker& idle() {
        Idle& all = list();
        const std::lock_guard lock(all.mutex);
        // The threads of a process do not come along with its copy.
        if (all.process != ::getpid()) all.workers.clear();
        all.process = ::getpid();
        if (all.workers.empty()) return *new Worker;  // it lasts as long as the process
        Worker* worker = all.workers.back();
        all.workers.pop_back();
        return *worker;
    }

    void start(std::function<void()> job) {
        const std::lock_guard lock(mutex_);
        job_ = std::move(job);
        changed_.notify_all();
    }
    // Waits for the end of the job; once it has ended the worker belongs to others again.
    bool has_finished(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [this] { return !job_; })) return false;
        lock.unlock();
        Idle& all = list();
        const std::lock_guard others(all.mutex);
        all.workers.push_back(this);
        return true;
    }

private:
    struct Idle {
        std::mutex mutex;
        std::vector<Worker*> workers;
        pid_t process = 0;
    };
    static Idle& list() {
        static Idle& all = *new Idle;  // never destroyed: at exit the workers still wait
        return all;
    }

    Worker() {
        std::thread([this] { work(); }).detach();
    }
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return static_cast<bool>(job_); });
            lock.unlock();
            job_();
            lock.lock();
            job_ = nullptr;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> job_;  // empty: nothing to do
};

// A fit on another thread, while the caller's sleeps and wakes: Python delivers Ctrl-C to its main thread only, and
// progress bars want to be drawn by the thread that made them. The fit's threads never need the GIL.
class WatchedFit {
public:
    WatchedFit(const Archive& archive, const FitOptions& options, int threads) : worker_(Worker::idle()) {
        worker_.start([this, &archive, &options, threads] { run(archive, options, threads); });
    }

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
    }

    // Whether the fit has ended; if not, seen_ is how far it is.
    bool sleep() {
        constexpr std::chrono::milliseconds kNap{50};
        const nb::gil_scoped_release release;
        const bool done = worker_.has_finished(kNap);
        const std::lock_guard lock(mutex_);
        seen_ = latest_;
        return done;
    }

    Worker& worker_;
    std::mutex mutex_;
    FitProgress latest_, seen_;
    bool stop_ = false;
    std::optional<FitResult> result_;
    std::exception_ptr failure_;
};

Json json_of(nb::handle value) {
    if (value.is_none()) return nullptr;
    if (PyBool_Check(value.ptr())) return nb::cast<bool>(value);
    if (PyFloat_Check(value.ptr())) return nb::cast<double>(value);
    if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
    if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
        Json list = Json::array();
        for (const nb::handle item : nb::iter(value)) list.push_back(json_of(item));
        return list;
    }
    if (!PyLong_Check(value.ptr())) return nb::cast<std::string>(nb::repr(value));
    if (std::int64_t number = 0; nb::try_cast(value, number) && number < 0) return number;
    if (std::uint64_t number = 0; nb::try_cast(value, number)) return number;
    return nb::cast<double>(nb::float_(value));  // too large for any
}

// Throws TypeError for a name that is no option, or a value of another type.
FitOptions options_of(const nb::dict& given) {
    FitOptions options;
    for (const auto& [key, value] : given) {
        const Json json = json_of(value);
        const FitOption* option = nullptr;
        try {
            option = &fit_option(nb::cast<std::string>(key));
            option->set(options, json);
        } catch (const InputError& error) {
            if (option != nullptr && option->is_of_type(json)) throw;
            throw nb::type_error(error.message().text(in_python).c_str());
        }
    }
    return options;
}

nb::object option_value(const FitOptions& options, const std::string& name) {
    Json value;
    try {
        value = fit_option(name).get(options);
    } catch (const InputError& error) {
        throw nb::attribute_error(error.what());
    }
    if (value.is_null()) return nb::none();
    if (value.is_string()) return nb::cast(value.get<std::string>());
    if (value.is_boolean()) return nb::cast(value.get<bool>());
    if (value.is_array()) {
        nb::list list;
        for (const Json& item : value) list.append(item.get<double>());
        return list;
    }
    return value.is_number_float() ? nb::cast(value.get<double>()) : nb::cast(value.get<std::uint64_t>());
}

// A fit, and the rows that it had.
struct Fit {
    FitResult result;
    nb::object rows;

    const Archive& archive() const { return nb::cast<const Rows&>(rows).archive(); }
};

Fit fitted(const nb::object& rows, const FitOptions& options, const nb::object& progress) {
    const Archive& archive = nb::cast<const Rows&>(rows).archive();
    require_roles(archive.roles, options);
    return {WatchedFit(archive, options, thread_limit).wait(progress), rows};
}

nb::tuple forecasts(const Model& model, const nb::list& inputs, nb::handle prediction, std::size_t rows) {
    const Columns columns(inputs);
    const Numbers mu(prediction);
    Forecast forecast;
    without_gil([&] { forecast = forecast_rows(model, columns.spans, mu, rows); });
    const nb::object mean = forecast.mean.empty() ? nb::none() : to_array(forecast.mean);
    const nb::bytes off_support(forecast.off_support.data(), forecast.off_support.size());
    return nb::make_tuple(mean, to_array(forecast.sigma), off_support, to_array(forecast.parameters));
}

}  // namespace

void add_model(nb::module_& module) {
    nb::class_<FitOptions>(module, "FitOptions").def(nb::new_(&options_of)).def("__getattr__", option_value);
    nb::class_<Model>(module, "Model")
        .def_static("load",
                    [](const std::string& path) {
                        std::optional<Model> model;
                        with_file(path, [&] { model = Model::load(path); });
                        return *model;
                    })
        .def_static("parse", &Model::parse, nb::call_guard<nb::gil_scoped_release>())
        .def("save", [](const Model& model, const std::string& path) { with_file(path, [&] { model.save(path); }); })
        .def("text", &Model::text, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("inputs", [](const Model& model) { return model.inputs(); })
        // Column and kind of every input.
        .def_prop_ro(
            "input_columns",
            [](const Model& model) {
                nb::list list;
                for (const Input& input : model.input_columns())
                    list.append(nb::make_tuple(input.column, input_kind_names()[static_cast<std::size_t>(input.kind)]));
                return list;
            })
        .def("widened", &Model::widened)
        // Of the first row that lies off support; None where none does.
        .def("why_off_support",
             [](const Model& model, const nb::list& inputs, const nb::bytes& off_support) -> nb::object {
                 const Columns columns(inputs);
                 const auto* flags = static_cast<const std::uint8_t*>(off_support.data());
                 for (std::size_t row = 0; row < off_support.size(); ++row)
                     if (flags[row] != 0) return nb::make_tuple(row, model.why_off_support(columns.spans, row));
                 return nb::none();
             })
        .def("category_code", &Model::category_code)
        .def("takes_missing", &Model::takes_missing)
        .def_prop_ro("prediction", &Model::prediction)
        .def_prop_ro("has_mean", &Model::has_mean)
        .def_prop_ro("corrects_bias", &Model::corrects_bias)
        .def_prop_ro("learns_location", &Model::learns_location)
        .def_prop_ro("family", [](const Model& model) { return model.family(); })
        // Columns of times and groups of its state; None where it has none.
        .def_prop_ro("state_columns",
                     [](const Model& model) -> nb::object {
                         if (model.state() == nullptr) return nb::none();
                         const StateOptions& options = model.state()->options();
                         return nb::make_tuple(options.time, options.group);
                     })
        .def("forecast", forecasts, nb::arg(), nb::arg().none(), nb::arg());
    nb::class_<Fit>(module, "Fit")
        .def_prop_ro("model", [](const Fit& fit) { return fit.result.model; })
        .def_prop_ro("remarks",
                     [](const Fit& fit) {
                         std::vector<std::string> remarks;
                         for (const Message& remark : fit.result.verdict.remarks)
                             remarks.push_back(remark.text(in_python));
                         return remarks;
                     })
        .def("judge_later",
             [](Fit& fit, const nb::object& rows) {
                 const Archive& later = nb::cast<const Rows&>(rows).archive();
                 without_gil([&] { judge_later(fit.result, later); });
             })
        .def_prop_ro("errors", [](const Fit& fit) { return to_array(fit.result.errors); })
        .def_prop_ro("sigmas", [](const Fit& fit) { return to_array(fit.result.sigmas); })
        .def("report", [](const Fit& fit, const std::string& title) {
            const Archive& archive = fit.archive();
            std::string data;
            without_gil([&] { data = text_of(fit_report_data(report_text(title), archive, fit.result)); });
            return data;
        });
    module.def("needs_inputs", needs_inputs);
    module.def("fit", fitted, nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace accrue::python
