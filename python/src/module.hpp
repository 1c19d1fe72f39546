// The parts of the extension module, one a file.
#pragma once

#include <nanobind/nanobind.h>

namespace accrue::python {

void add_scores(nanobind::module_& module);
void add_verify(nanobind::module_& module);
void add_distribution(nanobind::module_& module);
void add_model(nanobind::module_& module);
void add_report(nanobind::module_& module);

}  // namespace accrue::python
