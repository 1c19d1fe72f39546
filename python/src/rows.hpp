// Rows with their roles from Python: arrays that stay where they are.
#pragma once

#include <optional>

#include "accrue/archive.hpp"
#include "arrays.hpp"

namespace accrue::python {

// The roles that a dictionary of names has.
Roles roles_of(const nb::dict& names);

class Rows {
public:
    // Values and names by role, as accrue._model has them; the columns of `by`; whether times are dates. Errors are
    // computed where prediction and observation are given.
    Rows(const nb::dict& values, const nb::dict& names, const nb::list& by, bool times_are_dates);
    Rows(const Rows&) = delete;

    // Names as "station:category"; labels of every input, of which only categories have some, or none at all where all
    // are numbers; whether missing values are filled in.
    void set_inputs(const std::vector<std::string>& names, const nb::list& inputs, const nb::list& labels, bool impute);

    // What messages call a row: a function of its number, counted from 0.
    void set_place(nb::callable place);

    const Archive& archive() const { return archive_; }

private:
    std::optional<Columns> inputs_;
    Numbers errors_, observation_, prediction_, weights_, times_, noise_;
    Groups groups_, fold_groups_, recalibrate_groups_;
    GroupedColumns by_;
    std::vector<double> differences_;
    std::vector<std::vector<std::string>> labels_;  // of the inputs
    Archive archive_;
};

}  // namespace accrue::python
