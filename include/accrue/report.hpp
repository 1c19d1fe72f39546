// A forecast in pictures: one HTML page that needs nothing else, and its charts as files for papers.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accrue/adapt.hpp"
#include "accrue/archive.hpp"
#include "accrue/conditional.hpp"
#include "accrue/figures.hpp"
#include "accrue/fit.hpp"
#include "accrue/model.hpp"
#include "accrue/verify.hpp"

namespace accrue {

// One forecast of the rows. Errors are those that it leaves: y - mean.
struct ReportForecast {
    Verification verification;  // with its name
    std::span<const double> errors;
    std::span<const double> sigmas;
    std::span<const double> means;              // empty when there is no prediction
    const Model* model = nullptr;               // where it comes from one; its family is the forecast's
    SharedFamily own_family = normal_family();  // where there is no model
    std::span<const double> parameters = {};    // of rows whose family has further parameters (Families)
    Families row_families = {};                 // where rows differ: of a recalibrated fit, whose folds have own maps
    // What is of no family has its scores, and perhaps members or quantiles. An ensemble has errors and sigmas too, of
    // its mean and standard deviation; of the others the verification has CRPS and coverage alone.
    std::span<const double> crps = {};
    std::vector<std::span<const double>> members = {}, quantiles = {};
    std::vector<double> quantile_levels = {};
    std::span<const double> observation = {};  // of ensembles and quantile forecasts
    ForecastDetails details = {};
    std::optional<ConditionalCalibration> conditional = {};  // where it was asked for

    std::string kind() const;  // family, members, quantiles, baseline
    bool has_family() const { return crps.empty(); }
    bool is_verified() const { return has_family() || !members.empty(); }
    bool is_drawn() const { return !errors.empty(); }  // along inputs and time, row by row
    std::size_t rows() const { return has_family() ? errors.size() : crps.size(); }
    const SharedFamily& family() const { return model != nullptr ? model->family() : own_family; }
    Families families() const {
        return row_families.list.empty() ? Families{{family()}, {}, parameters} : row_families;
    }
};

// Scores of two forecasts of the same rows, compared row by row: `second` less `first`, so that below 0 the second is
// better. Where neighbours in the order of `times`, or of the rows, err together, as the verification of either has
// found, and there are no groups, blocks of them are what is independent.
struct Comparison {
    std::string first, second;
    PairedDifference crps;
    PairedDifference nlpd;  // NaN where either forecast is recalibrated and has none
    // What counts as such: rows, groups where there are some, or blocks of neighbours where these err together.
    std::string independent;
    // Where one of them is a quantile forecast, whose CRPS is not known: the mean quantile score over the levels that
    // both have. The CRPS is then NaN. No levels: they cannot be compared.
    PairedDifference quantile_score = {};
    std::vector<double> levels = {};
};
Comparison compare(const ReportForecast& first, const ReportForecast& second, std::span<const double> weights = {},
                   const Grouping& groups = {}, std::span<const double> times = {});

// The forecast of lowest CRPS, compared with each of the others (which are `first`), in their order; `sentence` says
// whether it is clearly the best. Baselines are not eligible: they are fitted on these rows. Nor are quantile
// forecasts, whose CRPS is not known; with them quantile scores are compared, and where there are no others the first
// of them with the rest. For two forecasts or more.
struct LowestCrps {
    std::size_t index = 0;
    std::vector<Comparison> comparisons;
    std::string sentence;
};
LowestCrps lowest_crps(std::span<const ReportForecast> forecasts, std::span<const double> weights = {},
                       const Grouping& groups = {}, std::span<const double> times = {});

// The verdict on a forecast: as verdict(verification), or what can be said of one that has scores alone.
Verdict verdict(const ReportForecast& forecast);

// What the page says about where it comes from (docs/report-data.md).
struct ReportText {
    std::string title;          // empty: the name of the forecast, or how many are compared
    std::string subtitle;       // empty: how many rows there are, and what the errors are
    std::string kind = "rows";  // rows, out of fold, test rows, replay, monitor
    std::string command;
    std::vector<std::string> files;
    std::size_t dropped = 0;
    Verdict verdict;  // empty: that of the first forecast
};

// The object that `accrue evaluate --json` prints for these forecasts (docs/evaluate.md): of one, or a list of several
// with comparisons.
nlohmann::ordered_json scores_json(std::span<const ReportForecast> forecasts, std::span<const double> weights,
                                   const Grouping& groups, std::size_t dropped, std::size_t sampled_from = 0,
                                   std::span<const double> times = {});

// Everything that a report draws, as one object; errors are drawn along the inputs of the rows. Throws InputError when
// there is no forecast or a length differs.
nlohmann::ordered_json report_data(const ReportText& text, const Archive& rows,
                                   std::span<const ReportForecast> forecasts);

// The same of a fit: the rows that were held out, each with the error and sigma of models that never saw it. Kind and
// verdict are those of the fit. It takes so many bytes for every row.
nlohmann::ordered_json fit_report_data(ReportText text, const Archive& archive, const FitResult& result);
std::size_t fit_report_bytes_per_row(std::size_t inputs);

// The same of a replay, whose forecasts are 'adapting' and 'static', with their figures along time; and of a monitor:
// the fitted model's forecasts of these rows, with the evidence after every time.
nlohmann::ordered_json replay_report_data(ReportText text, const Model& model, const TimedRows& rows,
                                          const Replay& replay);
nlohmann::ordered_json monitor_report_data(ReportText text, const Model& model, const TimedRows& rows,
                                           const Monitor& monitor);

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
