#include "rows.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "accrue/expression.hpp"
#include "accrue/fit.hpp"
#include "accrue/propose.hpp"
#include "module.hpp"

namespace accrue::python {

namespace {

nb::object value_of(const nb::dict& values, const char* role) {
    return values.contains(role) ? nb::object(values[role]) : nb::none();
}

}  // namespace

Roles roles_of(const nb::dict& names) {
    const auto name = [&](const char* role) {
        return names.contains(role) ? nb::cast<std::string>(names[role]) : std::string();
    };
    return {name("prediction"),
            name("observation"),
            name("error"),
            name("weight"),
            name("group"),
            name("fold_group"),
            name("time"),
            name("observation_error"),
            name("recalibrate_group")};
}

Rows::Rows(const nb::dict& values, const nb::dict& names, const nb::list& by, bool times_are_dates)
    : errors_(value_of(values, "error")),
      observation_(value_of(values, "observation")),
      prediction_(value_of(values, "prediction")),
      weights_(value_of(values, "weight")),
      times_(value_of(values, "time")),
      noise_(value_of(values, "observation_error")),
      groups_(value_of(values, "group")),
      fold_groups_(value_of(values, "fold_group")),
      recalibrate_groups_(value_of(values, "recalibrate_group")),
      by_(by) {
    std::vector<std::string> by_names;
    for (const ColumnGrouping& column : by_.list) by_names.push_back(column.name);
    require_once("by", by_names);
    archive_.errors = errors_;
    archive_.observation = observation_;
    archive_.prediction = prediction_;
    archive_.weights = weights_;
    archive_.observation_error = noise_;
    archive_.groups = groups_.grouping();
    archive_.fold_groups = fold_groups_.grouping();
    archive_.recalibrate_groups = recalibrate_groups_.grouping();
    archive_.by = by_.list;
    archive_.times = times_;
    archive_.times_are_dates = times_are_dates;
    archive_.roles = roles_of(names);
    if (!errors_.is_none() || prediction_.is_none() || observation_.is_none()) return;
    differences_ = errors_of(archive_);
    archive_.errors = differences_;
}

void Rows::set_inputs(const std::vector<std::string>& names, const nb::list& inputs, const nb::list& labels,
                      bool impute) {
    archive_.input_names = names;
    archive_.inputs = inputs_.emplace(inputs).spans;
    archive_.impute = impute;
    archive_.input_types.clear();
    labels_.clear();
    for (const nb::handle own : labels) labels_.push_back(nb::cast<std::vector<std::string>>(own));
    for (std::size_t k = 0; k < labels_.size(); ++k) {
        const Input input = parse_input(names[k]);
        archive_.input_types.push_back({input.kind, input.period, labels_[k]});
    }
}

void Rows::set_place(nb::callable place) {
    // Archives are copied without the lock, so that what they share must not be Python's to count.
    const auto shared = std::make_shared<nb::callable>(std::move(place));
    archive_.place = [shared](std::size_t row) {
        const nb::gil_scoped_acquire lock;
        return nb::cast<std::string>((*shared)(row));
    };
}

void add_rows(nb::module_& module) {
    nb::class_<Rows>(module, "Rows")
        .def(nb::init<const nb::dict&, const nb::dict&, const nb::list&, bool>())
        .def("set_inputs", &Rows::set_inputs, nb::arg(), nb::arg(), nb::arg() = nb::list(), nb::arg() = false)
        .def("set_place", &Rows::set_place);
    module.def("default_inputs",
               [](const std::vector<std::string>& numeric, const nb::dict& names, const FitOptions& options) {
                   const Roles roles = roles_of(names);
                   return default_fit_inputs(default_inputs(numeric, roles), roles, options);
               });
    // Column and kind; with the columns of the table also as a model calls the input.
    module.def("parse_input", [](const std::string& text) {
        const Input input = parse_input(text);
        return nb::make_tuple(input.column, input_kind_names()[static_cast<std::size_t>(input.kind)]);
    });
    module.def("written_input", [](const std::string& text, const std::vector<std::string>& names) {
        return parse_input(text, names, "the table").name();
    });
    module.def("is_direction", &is_direction);
    module.def("takes_categories", &takes_categories);
    module.def("category_offer", &category_offer);
    module.def("time_offer", &time_offer);
    module.def("require_inputs", [](const std::vector<std::string>& inputs, const nb::dict& names,
                                    const std::vector<std::string>& columns) {
        require_inputs(parse_inputs(inputs), roles_of(names), columns);
    });
    nb::class_<Expression>(module, "Expression")
        .def_prop_ro("text", &Expression::text)
        .def_prop_ro("is_column", &Expression::is_column)
        .def_prop_ro("columns", &Expression::columns)
        .def("values", [](const Expression& expression, const nb::list& columns) {
            const Columns operands(columns);
            std::vector<double> values;
            without_gil([&] { values = expression.values(operands.spans); });
            return to_array(values);
        });
    module.def("computed_column", [](const std::string& name, const std::vector<std::string>& names) {
        return computed_column(name, names, "the table");
    });
    module.def("matching_columns", [](const std::string& text, const std::vector<std::string>& names) {
        return matching_columns(text, names);
    });
}

}  // namespace accrue::python
