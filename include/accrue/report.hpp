// A forecast in pictures: one HTML page that needs nothing else, and its charts as files for papers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/verify.hpp"

namespace accrue {

// One forecast of the rows. Errors are those that it leaves: y - mean.
struct ReportForecast {
    Verification verification;  // with its name
    std::span<const double> errors;
    std::span<const double> sigmas;
    std::span<const double> means;  // empty when there is no prediction
    const Model* model = nullptr;   // where it comes from one; its shape is the forecast's
};

// The rows and what is known about them. Every span has a value for each row, or is empty.
struct ReportRows {
    std::span<const double> weights;
    Grouping groups;
    std::span<const double> times;
    bool times_are_dates = false;  // seconds since 1970, not plain numbers
    std::vector<std::string> input_names;
    std::vector<std::span<const double>> inputs;  // sigma is drawn along these
};

// What the page says about where it comes from (docs/report-data.md).
struct ReportText {
    std::string title;
    std::string subtitle;
    std::string kind = "rows";  // rows, out of fold, test rows
    std::string command;
    std::vector<std::string> files;
    std::vector<std::pair<std::string, std::string>> columns;  // role and name
    std::size_t dropped = 0;
    std::size_t sampled_from = 0;  // rows, of which those given are a random sample; 0: they are all
    Verdict verdict;
};

// The object that `accrue evaluate --json` prints for these forecasts: of one, or a list of several.
nlohmann::ordered_json scores_json(std::span<const Verification> forecasts, std::size_t dropped,
                                   std::size_t sampled_from = 0);

// Everything that a report draws, as one object. Throws InputError when there is no forecast or a length differs.
nlohmann::ordered_json report_data(const ReportText& text, const ReportRows& rows,
                                   std::span<const ReportForecast> forecasts);

// The page that draws it. Throws MachineError when accrue was built without npm, which makes it; require_report_page()
// throws the same before any work.
std::string report_page(const nlohmann::ordered_json& data);
void require_report_page();

// Writes every chart as SVG and PNG into a folder, which is made when it is missing, and returns their paths. Node.js
// draws and rsvg-convert makes the PNGs: throws MachineError, with nothing written, when either is missing or fails.
// require_figure_programs() throws the same before any work.
void require_figure_programs();
std::vector<std::string> write_figures(const nlohmann::ordered_json& data, const std::string& folder);

}  // namespace accrue
