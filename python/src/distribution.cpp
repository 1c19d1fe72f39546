// The distributions of many rows: figures of an observation each, and factors of sigma for quantiles.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <tuple>

#include "accrue/adapted.hpp"
#include "accrue/bounded.hpp"
#include "accrue/group_maps.hpp"
#include "accrue/model.hpp"
#include "arrays.hpp"
#include "module.hpp"

namespace accrue::python {

namespace {

// One figure of every value. Mean, sigma, y and the row that a value belongs to have one shape; `parameters` are those
// of all rows (Families), none where rows are alike. A row without a sigma gives NaN.
template <typename Figure>
nb::object of_rows(nb::handle mean, nb::handle sigma, const SharedFamily& family, nb::handle parameters,
                   nb::handle rows, nb::handle y, Figure&& figure) {
    const Numbers means(mean);
    const Numbers sigmas(sigma);
    const Numbers values(y);
    const Numbers own(parameters);
    const Numbers places(rows);
    Result result(means.empty_like());
    without_gil([&] {
        const std::size_t width = parameters_per_row(*family);
        const RowFamilies families(Families{{family}, {}, own.span()}, width > 0 ? own.span().size() / width : 0);
        for (std::size_t i = 0; i < result.span().size(); ++i) {
            const double s = sigmas.span()[i];
            const double error = values.span()[i] - means.span()[i];
            const auto row = static_cast<std::size_t>(places.span()[i]);
            result.span()[i] = std::isnan(s) ? s : families.with(row, [&](const Standardised& standardised) {
                return figure(standardised, error, s);
            });
        }
    });
    return result.take();
}

// A factor of sigma for every row, or one for all where rows are alike.
template <typename Factor>
std::vector<double> factors_of(const SharedFamily& family, std::span<const double> parameters, Factor&& factor) {
    const std::size_t width = parameters_per_row(*family);
    const std::size_t rows = width > 0 ? parameters.size() / width : 1;
    const RowFamilies families(Families{{family}, {}, parameters}, width > 0 ? rows : 0);
    std::vector<double> factors;
    for (std::size_t i = 0; i < rows; ++i) {
        const bool missing = width > 0 && std::isnan(parameters[i * width]);
        factors.push_back(missing ? parameters[i * width] : families.with(i, factor));
    }
    return factors;
}

// What a family is made of: its name; the knots of a recalibration as (are scores, predicted, actual, are conformal);
// its bounds as (are censored, lower, upper), infinite where there is none. And where a state has moved it, whether it
// has a shape too.
using Knots = std::tuple<bool, std::vector<double>, std::vector<double>, bool>;
using BoundsOf = std::tuple<bool, double, double>;

// Of the maps of groups, which are of the kind of the common one: predicted and actual.
using GroupKnots = std::vector<std::pair<std::vector<double>, std::vector<double>>>;

SharedFamily fitted_family(const std::string& name, const std::optional<Knots>& knots,
                           const std::optional<BoundsOf>& bounds, const GroupKnots& groups) {
    SharedFamily own = family(name);
    if (bounds) {
        const auto& [censored, lower, upper] = *bounds;
        const auto kind = censored ? Bounded::Kind::censored : Bounded::Kind::truncated;
        own = std::make_shared<Bounded>(kind, Limits{lower, upper}, own);
    }
    if (!knots) return own;
    const auto& [scores, predicted, actual, conformal] = *knots;
    const auto own_knots = scores ? Recalibrated::Knots::scores : Recalibrated::Knots::probabilities;
    const auto kind = conformal ? Recalibrated::Kind::conformal : Recalibrated::Kind::isotonic;
    auto common = std::make_shared<Recalibrated>(own_knots, predicted, actual, own, kind);
    if (groups.empty()) return common;
    std::vector<std::shared_ptr<const Recalibrated>> maps;
    for (const auto& [from, to] : groups)
        maps.push_back(std::make_shared<Recalibrated>(own_knots, from, to, own, kind));
    return std::make_shared<GroupMaps>(std::move(common), std::move(maps));
}

SharedFamily made_family(const std::string& name, const std::optional<Knots>& knots,
                         const std::optional<BoundsOf>& bounds, const GroupKnots& groups, std::optional<bool> moved) {
    SharedFamily own = fitted_family(name, knots, bounds, groups);
    return moved ? std::make_shared<Adapted>(std::move(own), *moved) : own;
}

std::optional<bool> moved_of(const Family& family) {
    const auto* moved = dynamic_cast<const Adapted*>(&family);
    return moved == nullptr ? std::nullopt : std::optional(moved->shaped());
}

// The family before a state moved it.
const Family& fitted_of(const Family& family) {
    const auto* moved = dynamic_cast<const Adapted*>(&family);
    return moved == nullptr ? family : *moved->inner();
}

GroupKnots group_knots_of(const Family& family) {
    GroupKnots knots;
    if (const auto* groups = dynamic_cast<const GroupMaps*>(&fitted_of(family)))
        for (const auto& map : groups->maps()) knots.emplace_back(map->predicted(), map->actual());
    return knots;
}

std::optional<BoundsOf> bounds_of(const Family& all) {
    const Family& family = fitted_of(all);
    const auto* map = common_map(family);
    const auto* bounded = dynamic_cast<const Bounded*>(map != nullptr ? map->inner().get() : &family);
    if (bounded == nullptr) return std::nullopt;
    return BoundsOf{bounded->kind() == Bounded::Kind::censored, bounded->limits().lower, bounded->limits().upper};
}

std::optional<Knots> knots_of(const Family& family) {
    const auto* map = common_map(fitted_of(family));
    if (map == nullptr) return std::nullopt;
    return Knots{map->knots() == Recalibrated::Knots::scores, map->predicted(), map->actual(),
                 map->kind() == Recalibrated::Kind::conformal};
}

}  // namespace

void add_distribution(nb::module_& module) {
    nb::class_<Family>(module, "Family")
        .def_prop_ro("name", [](const Family& family) { return std::string(family.name()); })
        .def_prop_ro("is_normal", &Family::is_normal)
        .def_prop_ro("recalibrated", &Family::recalibrated)
        .def_prop_ro("u_mean", [](const SharedFamily& family) { return Standardised(family).u_mean(); })
        .def_prop_ro("u_sd", [](const SharedFamily& family) { return Standardised(family).u_sd(); })
        .def_prop_ro("width", [](const Family& family) { return parameters_per_row(family); })
        .def_prop_ro("knots", knots_of)
        .def_prop_ro("group_knots", group_knots_of)
        .def_prop_ro("bounds", bounds_of)
        .def_prop_ro("moved", moved_of);
    module.def("family", made_family, nb::arg(), nb::arg().none() = nb::none(), nb::arg().none() = nb::none(),
               nb::arg() = GroupKnots{}, nb::arg().none() = nb::none());
    module.def("family_names", family_names);
    const auto add = [&](const char* name, auto figure) {
        module.def(name, [figure](nb::handle mean, nb::handle sigma, const SharedFamily& family, nb::handle parameters,
                                  nb::handle rows,
                                  nb::handle y) { return of_rows(mean, sigma, family, parameters, rows, y, figure); });
    };
    add("pdf",
        [](const Standardised& family, double error, double sigma) { return family.pdf(error / sigma) / sigma; });
    add("cdf", [](const Standardised& family, double error, double sigma) { return family.cdf(error / sigma); });
    add("crps_of_observation", [](const Standardised& family, double error, double sigma) {
        double value = 0;
        family.crps_block(1, &error, &sigma, &value);
        return value;
    });
    add("exceeding",
        [](const Standardised& family, double error, double sigma) { return family.survival(error / sigma); });
    // Of mean 0 and sigma 1, of every row or of all: the command multiplies sigma with these, and Python rounds as it
    // does.
    module.def("standard_quantile", [](const SharedFamily& family, nb::handle parameters, double probability) {
        const Numbers own(parameters);
        return to_array(
            factors_of(family, own.span(), [&](const Standardised& row) { return row.quantile(probability); }));
    });
    module.def("standard_interval", [](const SharedFamily& family, nb::handle parameters, double level) {
        const Numbers own(parameters);
        const auto low =
            factors_of(family, own.span(), [&](const Standardised& row) { return row.interval(level).first; });
        const auto high =
            factors_of(family, own.span(), [&](const Standardised& row) { return row.interval(level).second; });
        return nb::make_tuple(to_array(low), to_array(high));
    });
    // `count` draws of every row, row after row.
    module.def("standard_sample", [](const SharedFamily& family, nb::handle parameters, std::size_t rows,
                                     std::size_t count, std::uint64_t seed) {
        const Numbers own(parameters);
        const std::size_t width = parameters_per_row(*family);
        std::vector<double> z = Distribution{0, 1}.sample(rows * count, seed);
        const RowFamilies families(Families{{family}, {}, own.span()}, width > 0 ? rows : 0);
        for (std::size_t i = 0; i < rows; ++i) {
            if (width > 0 && std::isnan(own.span()[i * width])) continue;
            families.with(i, [&](const Standardised& row) {
                for (std::size_t k = i * count; k < (i + 1) * count; ++k) z[k] = row.of_normal_score(z[k]);
            });
        }
        return to_array(z);
    });
}

}  // namespace accrue::python
