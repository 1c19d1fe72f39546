// The forecasts of some rows that a command is told about, scored: columns of sigmas and model files.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/verify.hpp"
#include "rows.hpp"

namespace accrue::app {

struct ForecastOptions {
    std::vector<std::string> sigmas;
    std::vector<std::string> models;
    std::vector<double> levels = {0.5, 0.9, 0.95};
    std::vector<bool> is_model = {};  // of the forecasts in the order in which they were given
};

// Adds --sigma, --model and --levels.
void add_forecast_options(CLI::App& command, ForecastOptions& options);

// Throws unless there is a forecast, and notes their order. Called before anything is read.
void require_forecasts(const CLI::App& command, ForecastOptions& options);

struct ScoredForecast {
    Verification verification;
    std::span<const double> errors;  // what the forecast leaves: after its bias correction
    std::span<const double> sigmas;
    std::span<const double> means;  // empty when errors were given
    const Model* model = nullptr;
};

class ScoredForecasts {
public:
    // Scores alone, or also what it takes to draw the forecasts: means, and the inputs of the models beside `drawn`,
    // further columns.
    enum class Purpose { score, draw };
    ScoredForecasts(const RowOptions& row_options, const ForecastOptions& options, Purpose purpose = Purpose::score,
                    const std::vector<std::string>& drawn = {});
    ScoredForecasts(const ScoredForecasts&) = delete;

    const RoleTable& rows() const { return *rows_; }
    const std::vector<ScoredForecast>& forecasts() const { return forecasts_; }
    const std::deque<Model>& models() const { return models_; }
    std::vector<Verification> verifications() const;

private:
    // The places of a model's figures among the computed columns.
    struct Columns {
        std::size_t sigmas;
        std::optional<std::size_t> errors, means;  // where they are not those of the archive
    };

    Columns plan_model(const Model& model, const std::string& path, const RowOptions& roles, Purpose purpose,
                       RowPlan& plan) const;
    static void compute(const Model& model, const Columns& places, const RowOptions& roles, const RoleSlab& slab,
                        std::span<std::vector<double>> columns);

    std::deque<Model> models_;
    std::optional<RoleTable> rows_;
    std::vector<ScoredForecast> forecasts_;
};

}  // namespace accrue::app
