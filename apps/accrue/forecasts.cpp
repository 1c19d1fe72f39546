#include "forecasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "accrue/expression.hpp"

namespace accrue::app {

namespace {

// "q05=0.05,q50=0.5"
FileForecast quantile_forecast(const std::string& text) {
    FileForecast forecast;
    for (const std::string& part : split_columns(text)) {
        const std::size_t equals = part.rfind('=');
        double level = 0;
        const char* end = part.data() + part.size();
        const auto read = std::from_chars(part.data() + std::min(equals, part.size() - 1) + 1, end, level);
        if (equals == std::string::npos || equals == 0 || read.ec != std::errc{} || read.ptr != end)
            throw CLI::ValidationError("--quantile-columns",
                                       fmt::format("'{}' is not a column with its level; write q05=0.05", part));
        forecast.quantiles.push_back(part.substr(0, equals));
        forecast.quantile_levels.push_back(level);
    }
    if (forecast.quantiles.empty()) throw CLI::ValidationError("--quantile-columns", "names no column");
    forecast.name = forecast.quantiles.front();
    if (forecast.quantiles.size() > 1) forecast.name += " to " + forecast.quantiles.back();
    return forecast;
}

FileForecast member_forecast(const std::string& text) {
    FileForecast forecast;
    forecast.name = text;
    forecast.members = split_columns(text);
    if (forecast.members.empty()) throw CLI::ValidationError("--members", "names no column");
    return forecast;
}

}  // namespace

void add_forecast_options(CLI::App& command, ForecastOptions& options) {
    add_repeatable(command, "--sigma", options.sigmas,
                   "Column of the forecast's standard deviation; repeat it to compare forecasts of the same rows")
        ->type_name("COLUMN");
    add_repeatable(
        command, "--model", options.models,
        "Model file whose forecast of these rows is scored, in place of a column or beside it; may be repeated")
        ->type_name("FILE");
    add_list(command, "--levels", options.evaluate.levels, "Central intervals to check")
        ->type_name("P,P,...")
        ->default_str("0.5,0.9,0.95");
    add_repeatable(command, "--members", options.members,
                   "Columns of the members of an ensemble, or a pattern such as 'P*'; repeat it for another ensemble")
        ->type_name("COLUMN,...");
    add_repeatable(command, "--quantile-columns", options.quantiles,
                   "Columns of quantiles with their levels, such as q05=0.05,q50=0.5,q95=0.95; repeat it for another "
                   "quantile forecast")
        ->type_name("COLUMN=P,...");
    add_list(command, "--baselines", options.evaluate.baselines,
             "Forecasts to compare with, fitted on these rows: constant (sigma), climatology (all observations), "
             "isotonic (distributional regression on the prediction)")
        ->type_name("NAME,...");
    add_list(command, "--exceed", options.evaluate.exceed,
             "Thresholds, for example 0,10: Brier score and reliability of the probability of more than each, and the "
             "CRPS above it")
        ->type_name("Y,Y,...");
    add_list(command, "--quantile-scores", options.evaluate.quantile_scores,
             "Levels of quantiles whose scores are wanted, for example 0.05,0.5,0.95")
        ->type_name("P,P,...");
    command.add_flag("--decompose", options.evaluate.decompose,
                     "Also what the CRPS is made of: miscalibration, discrimination, uncertainty; takes seconds for "
                     "100,000 rows");
}

void require_forecasts(const CLI::App& command, ForecastOptions& options) {
    if (options.sigmas.empty() && options.models.empty() && options.members.empty() && options.quantiles.empty())
        throw CLI::RequiredError("--sigma, --model, --members or --quantile-columns");
    for (const double level : options.evaluate.levels)
        require(level > 0 && level < 1, fmt::format("--levels: {} is not between 0 and 1", level));
    auto sigma = options.sigmas.begin();
    auto model = options.models.begin();
    auto members = options.members.begin();
    auto quantiles = options.quantiles.begin();
    for (const CLI::Option* given : command.parse_order()) {
        if (given->get_name() == "--sigma") options.all.push_back({*sigma++, false});
        if (given->get_name() == "--model") options.all.push_back({*model++, true});
        if (given->get_name() == "--members") options.all.push_back(member_forecast(*members++));
        if (given->get_name() == "--quantile-columns") options.all.push_back(quantile_forecast(*quantiles++));
    }
}

}  // namespace accrue::app
