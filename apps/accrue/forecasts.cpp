#include "forecasts.hpp"

#include "core/error.hpp"

namespace accrue::app {

void add_forecast_options(CLI::App& command, ForecastOptions& options) {
    add_repeatable(command, "--sigma", options.sigmas,
                   "Column of the forecast's standard deviation; repeat it to compare forecasts of the same rows")
        ->type_name("COLUMN");
    add_repeatable(
        command, "--model", options.models,
        "Model file whose forecast of these rows is scored, in place of a column or beside it; may be repeated")
        ->type_name("FILE");
    add_list(command, "--levels", options.levels, "Central intervals to check")
        ->type_name("P,P,...")
        ->default_str("0.5,0.9,0.95");
}

void require_forecasts(const CLI::App& command, ForecastOptions& options) {
    if (options.sigmas.empty() && options.models.empty()) throw CLI::RequiredError("--sigma or --model");
    for (const double level : options.levels)
        core::require(level > 0 && level < 1, "--levels: {} is not between 0 and 1", level);
    for (const CLI::Option* given : command.parse_order())
        if (given->get_name() == "--sigma" || given->get_name() == "--model")
            options.is_model.push_back(given->get_name() == "--model");
}

ScoredForecasts::ScoredForecasts(const RowOptions& row_options, const ForecastOptions& options,
                                 std::vector<ColumnRequest> more) {
    const bool only_observations = row_options.error.empty() && row_options.prediction.empty();
    core::require(!only_observations || options.sigmas.empty(), "--sigma lies around a prediction: give --prediction");
    for (const std::string& sigma : options.sigmas) more.push_back({sigma, Kind::number, Rule::positive});
    for (const std::string& path : options.models) {
        const Model& model = models_.emplace_back(Model::load(path));
        core::require(!model.corrects_bias() || row_options.error.empty(),
                      "{} corrects the prediction: give --prediction and --observation in place of --error", path);
        core::require(!model.has_mean() || (row_options.error.empty() && row_options.prediction.empty()),
                      "{} has a mean of its own: give --observation alone", path);
        core::require(model.has_mean() || !only_observations, "{} has no mean of its own: give --prediction", path);
        for (const std::string& input : model.inputs()) more.push_back({input});
    }
    rows_.emplace(row_options, std::move(more));

    VerifyOptions verify_options;
    verify_options.levels = options.levels;
    std::size_t models = 0;
    std::size_t columns = 0;
    for (const bool is_model : options.is_model) {
        if (is_model) {
            score_model(models_[models], row_options, verify_options);
            forecasts_.back().verification.name = options.models[models++];
            continue;
        }
        const std::string& name = options.sigmas[columns++];
        const auto sigmas = rows_->table().numbers(name);
        forecasts_.push_back({verify(rows_->errors(), sigmas, rows_->weights(), rows_->groups(), verify_options),
                              rows_->errors(), sigmas, rows_->prediction()});
        forecasts_.back().verification.name = name;
    }
}

// The errors of a model are those that its bias correction leaves.
void ScoredForecasts::score_model(const Model& model, const RowOptions& roles, const VerifyOptions& options) {
    std::vector<std::span<const double>> inputs;
    for (const std::string& input : model.inputs()) inputs.push_back(rows_->table().numbers(input));
    Forecast forecast = forecast_rows(model, inputs, rows_->prediction(), rows_->table().rows());
    ScoredForecast scored;
    scored.model = &model;
    scored.errors = rows_->errors();
    scored.means = rows_->prediction();
    scored.sigmas = own_.emplace_back(std::move(forecast.sigma));
    if (model.corrects_bias() || model.has_mean()) {
        const auto y = rows_->table().numbers(roles.observation);
        std::vector<double>& errors = own_.emplace_back(y.begin(), y.end());
        for (std::size_t i = 0; i < y.size(); ++i) errors[i] -= forecast.mean[i];
        scored.errors = errors;
        scored.means = own_.emplace_back(std::move(forecast.mean));
    }
    if (const auto shape = model.shape())
        scored.verification = verify(scored.errors, scored.sigmas, {std::span(shape.get(), 1)}, rows_->weights(),
                                     rows_->groups(), options);
    else
        scored.verification = verify(scored.errors, scored.sigmas, rows_->weights(), rows_->groups(), options);
    forecasts_.push_back(std::move(scored));
}

std::vector<Verification> ScoredForecasts::verifications() const {
    std::vector<Verification> all;
    for (const ScoredForecast& forecast : forecasts_) all.push_back(forecast.verification);
    return all;
}

}  // namespace accrue::app
