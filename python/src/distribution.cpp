// The distributions of many rows: figures of an observation each, and factors of sigma for quantiles.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "accrue/model.hpp"
#include "arrays.hpp"
#include "module.hpp"

namespace accrue::python {

namespace {

using SharedShape = std::shared_ptr<const Shape>;

// One figure of every row; the arrays have one shape. A row without a sigma gives NaN.
template <double (Distribution::*figure)(double) const>
nb::object of_rows(nb::handle mean, nb::handle sigma, const SharedShape& shape, nb::handle y) {
    const Numbers means(mean);
    const Numbers sigmas(sigma);
    const Numbers values(y);
    Result result(means.empty_like());
    without_gil([&] {
        Distribution row{0, 1, shape};
        for (std::size_t i = 0; i < result.span().size(); ++i) {
            row.mean = means.span()[i];
            row.sigma = sigmas.span()[i];
            result.span()[i] = (row.*figure)(values.span()[i]);
        }
    });
    return result.take();
}

}  // namespace

void add_distribution(nb::module_& module) {
    nb::class_<Shape>(module, "Shape")
        .def(nb::init<std::vector<double>, std::vector<double>>())
        .def_prop_ro("predicted", [](const Shape& shape) { return shape.predicted(); })
        .def_prop_ro("actual", [](const Shape& shape) { return shape.actual(); });
    const auto add = [&](const char* name, auto function) {
        module.def(name, function, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    };
    add("pdf", of_rows<&Distribution::pdf>);
    add("cdf", of_rows<&Distribution::cdf>);
    add("crps_of_observation", of_rows<&Distribution::crps>);
    // Of mean 0 and sigma 1: the command multiplies sigma with these, and Python rounds as it does.
    module.def(
        "standard_quantile",
        [](const SharedShape& shape, double probability) {
            return Distribution{0, 1, shape}.quantile(probability);
        },
        nb::arg().none(), nb::arg());
    module.def(
        "standard_interval",
        [](const SharedShape& shape, double level) {
            const auto [low, high] = Distribution{0, 1, shape}.interval(level);
            return nb::make_tuple(low, high);
        },
        nb::arg().none(), nb::arg());
    module.def(
        "standard_sample",
        [](const SharedShape& shape, std::size_t count, std::uint64_t seed) {
            return to_array(Distribution{0, 1, shape}.sample(count, seed));
        },
        nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace accrue::python
