// The numbers of a report, and its page.
#include "accrue/report.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <nlohmann/json.hpp>

#include "arrays.hpp"
#include "module.hpp"

namespace accrue::python {

namespace {

// Every forecast is (verification, errors, sigmas, means or None, model or None).
std::string drawn_data(const std::string& title, const std::string& subtitle, const std::string& kind,
                       const std::vector<std::pair<std::string, std::string>>& columns, nb::handle weights,
                       nb::handle groups, nb::handle times, bool times_are_dates,
                       const std::vector<std::string>& input_names, const nb::list& inputs, const nb::list& forecasts) {
    ReportText text;
    text.title = title;
    text.subtitle = subtitle;
    text.kind = kind;
    text.columns = columns;
    text.command = "accrue in Python";
    const Numbers w(weights);
    const Numbers t(times);
    const Groups g(groups);
    const Columns drawn(inputs);
    ReportRows rows;
    rows.weights = w;
    rows.groups = g.grouping();
    rows.times = t;
    rows.times_are_dates = times_are_dates;
    rows.input_names = input_names;
    rows.inputs = drawn.spans;
    std::deque<Numbers> own;
    std::vector<ReportForecast> all;
    for (const nb::handle forecast : forecasts) {
        ReportForecast& next = all.emplace_back();
        next.verification = nb::cast<const Verification&>(forecast[0]);
        next.errors = own.emplace_back(forecast[1]);
        next.sigmas = own.emplace_back(forecast[2]);
        next.means = own.emplace_back(forecast[3]);
        if (!nb::object(forecast[4]).is_none()) next.model = nb::cast<const Model*>(forecast[4]);
    }
    std::string data;
    without_gil([&] {
        if (!all.empty()) text.verdict = verdict(all.front().verification);
        data = report_data(text, rows, all).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    });
    return data;
}

}  // namespace

void add_report(nb::module_& module) {
    module.def("report_data", drawn_data, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
               nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
    module.def("report_page", [](const std::string& data) {
        std::string page;
        without_gil([&] { page = report_page(nlohmann::ordered_json::parse(data)); });
        return page;
    });
}

}  // namespace accrue::python
