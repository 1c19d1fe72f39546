// The options by which a command is told which forecasts of its rows to score.
#pragma once

#include <string>
#include <vector>

#include "accrue/evaluate.hpp"
#include "commands.hpp"

namespace accrue::app {

struct ForecastOptions {
    std::vector<std::string> sigmas;
    std::vector<std::string> models;
    std::vector<std::string> members = {};    // "P*" or "P1,P2", an ensemble each
    std::vector<std::string> quantiles = {};  // "q05=0.05,q95=0.95", a quantile forecast each
    std::vector<FileForecast> all = {};       // in the order in which they were given
    EvaluateOptions evaluate = {};
};

// Adds --sigma, --model, --levels, --members, --quantile-columns, --baselines, --exceed, --quantile-scores and
// --decompose.
void add_forecast_options(CLI::App& command, ForecastOptions& options);

// Throws unless there is a forecast, and notes their order. Called before anything is read.
void require_forecasts(const CLI::App& command, ForecastOptions& options);

}  // namespace accrue::app
