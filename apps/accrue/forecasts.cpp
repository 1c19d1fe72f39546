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

ScoredForecasts::ScoredForecasts(const RowOptions& row_options, const ForecastOptions& options, Purpose purpose,
                                 const std::vector<std::string>& drawn) {
    const bool only_observations = row_options.error.empty() && row_options.prediction.empty();
    core::require(!only_observations || options.sigmas.empty(), "--sigma lies around a prediction: give --prediction");
    RowPlan plan;
    for (const std::string& name : drawn) {
        plan.read.push_back({name});
        plan.kept.push_back(name);
    }
    if (purpose == Purpose::draw && !row_options.prediction.empty()) plan.kept.push_back(row_options.prediction);
    for (const std::string& sigma : options.sigmas) {
        plan.read.push_back({sigma, Kind::number, Rule::positive});
        plan.kept.push_back(sigma);
    }
    std::vector<Columns> of_models;
    bool shaped = false;
    for (const std::string& path : options.models) {
        const Model& model = models_.emplace_back(Model::load(path));
        of_models.push_back(plan_model(model, path, row_options, purpose, plan));
        shaped = shaped || model.shape() != nullptr;
    }
    plan.compute = [&](const RoleSlab& slab, std::span<std::vector<double>> columns) {
        for (std::size_t m = 0; m < models_.size(); ++m) compute(models_[m], of_models[m], row_options, slab, columns);
    };
    plan.work_bytes = verify_bytes_per_row(!row_options.weight.empty(), !row_options.group.empty(), shaped);
    rows_.emplace(row_options, plan);

    VerifyOptions verify_options;
    verify_options.levels = options.levels;
    std::size_t models = 0;
    std::size_t columns = 0;
    for (const bool is_model : options.is_model) {
        ScoredForecast& scored = forecasts_.emplace_back();
        scored.errors = rows_->errors();
        scored.means = rows_->prediction();
        std::string name;
        if (is_model) {
            const Columns& own = of_models[models];
            scored.model = &models_[models];
            scored.sigmas = rows_->computed(own.sigmas);
            if (own.errors) scored.errors = rows_->computed(*own.errors);
            if (own.means) scored.means = rows_->computed(*own.means);
            name = options.models[models++];
        } else {
            name = options.sigmas[columns++];
            scored.sigmas = rows_->numbers(name);
        }
        const auto shape = is_model ? scored.model->shape() : nullptr;
        scored.verification =
            shape ? verify(scored.errors, scored.sigmas, {std::span(shape.get(), 1)}, rows_->weights(), rows_->groups(),
                           verify_options)
                  : verify(scored.errors, scored.sigmas, rows_->weights(), rows_->groups(), verify_options);
        scored.verification.name = name;
    }
}

ScoredForecasts::Columns ScoredForecasts::plan_model(const Model& model, const std::string& path,
                                                     const RowOptions& roles, Purpose purpose, RowPlan& plan) const {
    const bool only_observations = roles.error.empty() && roles.prediction.empty();
    core::require(!model.corrects_bias() || roles.error.empty(),
                  "{} corrects the prediction: give --prediction and --observation in place of --error", path);
    core::require(!model.has_mean() || only_observations, "{} has a mean of its own: give --observation alone", path);
    core::require(model.has_mean() || !only_observations, "{} has no mean of its own: give --prediction", path);
    for (const std::string& input : model.inputs()) {
        plan.read.push_back({input});
        if (purpose == Purpose::draw) plan.kept.push_back(input);
    }
    Columns places{plan.computed++, {}, {}};
    if (model.corrects_bias() || model.has_mean()) {
        places.errors = plan.computed++;
        if (purpose == Purpose::draw) places.means = plan.computed++;
    }
    return places;
}

// The errors of a model are those that its bias correction leaves.
void ScoredForecasts::compute(const Model& model, const Columns& places, const RowOptions& roles, const RoleSlab& slab,
                              std::span<std::vector<double>> columns) {
    std::vector<std::span<const double>> inputs;
    for (const std::string& input : model.inputs()) inputs.push_back(slab.table.numbers(input));
    Forecast forecast = forecast_rows(model, inputs, slab.prediction, slab.table.rows());
    columns[places.sigmas] = std::move(forecast.sigma);
    if (places.errors) {
        const auto y = slab.table.numbers(roles.observation);
        std::vector<double>& errors = columns[*places.errors];
        errors.assign(y.begin(), y.end());
        for (std::size_t i = 0; i < y.size(); ++i) errors[i] -= forecast.mean[i];
    }
    if (places.means) columns[*places.means] = std::move(forecast.mean);
}

std::vector<Verification> ScoredForecasts::verifications() const {
    std::vector<Verification> all;
    for (const ScoredForecast& forecast : forecasts_) all.push_back(forecast.verification);
    return all;
}

}  // namespace accrue::app
