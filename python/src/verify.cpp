// Probability integral transforms, and the distribution of their largest distance.
#include "accrue/verify.hpp"

#include "arrays.hpp"
#include "module.hpp"

namespace accrue::python {

void add_verify(nb::module_& module) {
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
