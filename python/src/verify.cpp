// Verification: an opaque object that the report takes, and its figures as JSON.
#include "accrue/verify.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "accrue/report.hpp"
#include "arrays.hpp"
#include "module.hpp"

namespace accrue::python {

namespace {

Verification verified(nb::handle error, nb::handle sigma, const std::shared_ptr<const Shape>& shape, nb::handle weights,
                      nb::handle groups, std::vector<double> levels, const std::string& name) {
    const Numbers e(error);
    const Numbers s(sigma);
    const Numbers w(weights);
    const Groups g(groups);
    VerifyOptions options;
    options.levels = std::move(levels);
    Verification result;
    without_gil([&] {
        result = shape ? verify(e, s, Shapes{std::span(shape.get(), 1)}, w, g.grouping(), options)
                       : verify(e, s, w, g.grouping(), options);
    });
    result.name = name;
    return result;
}

}  // namespace

void add_verify(nb::module_& module) {
    nb::class_<Verification>(module, "Verification");
    module.def("verify", verified, nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
               nb::arg(), nb::arg());
    // Names may hold any bytes: odd ones become U+FFFD.
    module.def("scores_json", [](const std::vector<Verification>& forecasts) {
        return scores_json(forecasts, 0).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    });
    module.def("pit", [](nb::handle error, nb::handle sigma) {
        const Numbers e(error);
        const Numbers s(sigma);
        std::vector<double> values;
        without_gil([&] { values = pit(e, s); });
        return to_array(values);
    });
    module.def("kolmogorov_cdf", kolmogorov_cdf);
    module.def("kolmogorov_survival", kolmogorov_survival);
    module.def("kolmogorov_quantile", kolmogorov_quantile);
}

}  // namespace accrue::python
