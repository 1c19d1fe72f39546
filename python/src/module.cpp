// accrue._core: the library for Python, as plain as it is in C++. What people call is in python/accrue.
#include "module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "accrue/error.hpp"
#include "accrue/fit.hpp"
#include "accrue/generate.hpp"
#include "accrue/messages.hpp"
#include "accrue/version.hpp"
#include "arrays.hpp"

namespace accrue::python {

std::string in_python(const OptionName& option) {
    // Arguments that are called otherwise than the option.
    static const std::map<std::string, std::string> arguments = {{"inputs", "columns"}, {"weight", "sample_weight"},
                                                                 {"group", "groups"},   {"fold_group", "fold_groups"},
                                                                 {"time", "times"},     {"no-state", "state=False"}};
    const auto other = arguments.find(option.name);
    const std::string& name = other == arguments.end() ? option.name : other->second;
    if (option.value.empty()) return name;
    return option.is_word ? name + "=\"" + option.value + '"' : name + '=' + option.value;
}

namespace {

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const InputError& error) {
        PyErr_SetString(PyExc_ValueError, error.message().text(in_python).c_str());
    } catch (const MachineError& error) {
        PyErr_SetString(PyExc_OSError, error.what());
    } catch (const Error& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (const Interrupted&) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const nlohmann::json::exception& error) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
    }
}

nb::dict generated(const std::string& name, std::size_t rows, std::uint64_t seed) {
    GeneratedData data;
    without_gil([&] { data = generate(name, rows, seed); });
    nb::dict columns;
    for (std::size_t k = 0; k < data.names.size(); ++k)
        columns[nb::str(data.names[k].c_str())] = to_array(data.columns[k]);
    return columns;
}

}  // namespace

}  // namespace accrue::python

NB_MODULE(_core, module) {
    using namespace accrue::python;
    // Models and constants that a script still holds when Python ends are not leaks; what calls leave behind is tested.
    nb::set_leak_warnings(false);
    nb::register_exception_translator(translate, nullptr);
    module.attr("version") = accrue::kVersion;
    module.def("set_threads", [](int threads) {
        if (threads < 0) throw accrue::InputError("the number of threads must not be negative; 0 is all of them");
        thread_limit = threads;
    });
    module.def("threads", [] { return thread_limit; });
    module.def("generate", generated);
    module.def("nearest_name", accrue::nearest_name);
    module.def("name_list", [](const std::vector<std::string>& names) { return accrue::name_list(names); });
    add_scores(module);
    add_verify(module);
    add_distribution(module);
    add_rows(module);
    add_model(module);
    add_report(module);
    add_time(module);
}
