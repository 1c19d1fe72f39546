// Forecasts scored, the numbers of a report, and its page.
#include "report.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "accrue/evaluate.hpp"
#include "accrue/files.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "rows.hpp"

namespace accrue::python {

std::string text_of(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ReportText report_text(const std::string& title) {
    ReportText text;
    text.title = title;
    text.command = "accrue in Python";
    return text;
}

namespace {

// Levels of intervals and what else is asked for, by the names of EvaluateOptions.
EvaluateOptions evaluate_options(const std::vector<double>& levels, const nb::dict& given) {
    EvaluateOptions options;
    options.levels = levels;
    const auto take = [&](const char* name, auto& value) {
        if (given.contains(name)) value = nb::cast<std::remove_reference_t<decltype(value)>>(given[name]);
    };
    take("quantile_scores", options.quantile_scores);
    take("exceed", options.exceed);
    take("conditional", options.conditional);
    take("decompose", options.decompose);
    take("baselines", options.baselines);
    return options;
}

// Evaluates forecasts and gives what is made of it as text. Every forecast is (name, what it is of, columns,
// parameters). Of a model: the columns of its inputs. Of a family, or None, sigmas and perhaps means, and as parameters
// columns of those that rows have. "members": those of an ensemble. "quantiles": these, and as parameters their levels.
template <typename Use>
std::string evaluated(const Rows& rows, const nb::list& forecasts, const EvaluateOptions& options, Use&& use) {
    std::deque<Columns> columns;
    std::deque<std::vector<double>> parameters;
    std::vector<RowForecast> all;
    for (const nb::handle forecast : forecasts) {
        RowForecast& next = all.emplace_back();
        next.name = nb::cast<std::string>(forecast[0]);
        const nb::object source(forecast[1]);
        const Columns& values = columns.emplace_back(nb::cast<nb::list>(forecast[2]));
        if (nb::isinstance<nb::str>(source)) {
            const bool members = nb::cast<std::string>(source) == "members";
            (members ? next.members : next.quantiles) = values.spans;
            if (!members) next.quantile_levels = nb::cast<std::vector<double>>(forecast[3]);
        } else if (nb::isinstance<Model>(source)) {
            next.model = nb::cast<const Model*>(source);
            next.inputs = values.spans;
        } else {
            next.sigmas = values.spans.at(0);
            if (values.spans.size() > 1) next.means = values.spans[1];
            if (!source.is_none()) next.family = nb::cast<SharedFamily>(source);
            const Columns own(nb::cast<nb::list>(forecast[3]));
            std::vector<double>& rows_of = parameters.emplace_back();
            for (std::size_t i = 0; i < next.sigmas.size(); ++i)
                for (const std::span<const double> column : own.spans) rows_of.push_back(column[i]);
            next.parameters = rows_of;
        }
    }
    std::string text;
    without_gil([&] { text = text_of(use(evaluate(rows.archive(), all, options))); });
    return text;
}

}  // namespace

void add_report(nb::module_& module) {
    module.def(
        "evaluate",
        [](const Rows& rows, const nb::list& forecasts, const std::vector<double>& levels, std::size_t dropped,
           const nb::dict& options) {
            return evaluated(rows, forecasts, evaluate_options(levels, options), [&](const Evaluation& e) {
                return scores_json(e.forecasts, e.rows.archive.weights, e.rows.archive.groups, dropped, 0,
                                   e.rows.archive.times);
            });
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg("dropped") = 0, nb::arg("options") = nb::dict());
    module.def(
        "report",
        [](const std::string& title, const Rows& rows, const nb::list& forecasts, const std::vector<double>& levels,
           const nb::dict& given) {
            EvaluateOptions options = evaluate_options(levels, given);
            options.conditional = true;
            return evaluated(rows, forecasts, options, [&](const Evaluation& e) {
                return report_data(report_text(title), e.rows.archive, e.forecasts);
            });
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg("options") = nb::dict());
    module.def("write_page", [](const std::string& path, const std::string& data) {
        with_file(path, [&] { write_file(path, report_page(nlohmann::ordered_json::parse(data))); });
    });
}

}  // namespace accrue::python
