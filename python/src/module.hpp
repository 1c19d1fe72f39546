// The parts of the extension module, one a file.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "accrue/message.hpp"

namespace accrue::python {

// folds, bias="linear"
std::string in_python(const OptionName& option);

void add_scores(nanobind::module_& module);
void add_verify(nanobind::module_& module);
void add_distribution(nanobind::module_& module);
void add_rows(nanobind::module_& module);
void add_model(nanobind::module_& module);
void add_report(nanobind::module_& module);
void add_time(nanobind::module_& module);

}  // namespace accrue::python
