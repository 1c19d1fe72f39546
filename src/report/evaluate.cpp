#include "accrue/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "accrue/messages.hpp"
#include "accrue/predict.hpp"
#include "core/error.hpp"
#include "data/role_table.hpp"
#include "forecast/content.hpp"
#include "report/judged.hpp"
#include "verify/dependence.hpp"

namespace accrue {

namespace {

using Values = std::span<const double>;

// Weights of rows, those that a sample leaves out too, and of those among them that lie off support.
struct OffSupport {
    double all = 0, outside = 0;
};

// What a model says of some rows. Errors and means are empty where they are those of the rows.
struct Figures {
    std::vector<double> sigmas, errors, means;
    std::vector<double> parameters;  // Families::parameters
    std::vector<double> outside;     // 1 where a row lies off support
};

bool has_own_errors(const Model& model) {
    return model.corrects_bias() || model.learns_location() || model.has_mean() || !model.family()->is_normal();
}

void require_model(const Model& model, const std::string& name, const Roles& roles) {
    core::require(!model.corrects_bias() || roles.error.empty(),
                  "{} corrects the prediction: give {} and {} in place of {}", name, core::option("prediction"),
                  core::option("observation"), core::option("error"));
    core::require(!model.has_mean() || !roles.have_errors(), "{} has a mean of its own: give {} alone", name,
                  core::option("observation"));
    core::require(model.has_mean() || roles.have_errors(), "{} has no mean of its own: give {}", name,
                  core::option("prediction"));
}

// The errors of a forecast that has its own means.
std::vector<double> errors_about(Values means, Values observation, const std::string& name) {
    core::require(!observation.empty(), "{} has a mean of its own: give {}", name, core::option("observation"));
    core::require(means.size() == observation.size(), "{} has {}, but observation {}", name,
                  counted(means.size(), "row"), observation.size());
    std::vector<double> errors(observation.begin(), observation.end());
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= means[i];
    return errors;
}

void require_sigmas(const Roles& roles) {
    core::require(roles.have_errors(), "{} lies around a prediction: give {}", core::option("sigma"),
                  core::option("prediction"));
}

// The errors of a model are those about the mean of its forecast: what its bias correction and recalibration leave.
// `errors` are those given; observations, where there are any, come first.
// `first` is the number of the first of these rows.
Figures figures_of(const Model& model, std::span<const Values> inputs, std::size_t rows, Values errors,
                   Values prediction, Values observation, Values weights, std::size_t first, OffSupport& off_support) {
    // Errors alone are those of a prediction of zero.
    std::vector<double> zeros;
    if (has_own_errors(model) && observation.empty()) {
        zeros.resize(rows);
        prediction = zeros;
    }
    Forecast forecast = forecast_rows(model, inputs, prediction, rows, first);
    for (std::size_t i = 0; i < forecast.off_support.size(); ++i) {
        const double weight = weights.empty() ? 1 : weights[i];
        off_support.all += weight;
        off_support.outside += forecast.off_support[i] != 0 ? weight : 0;
    }
    Figures figures;
    figures.outside.assign(forecast.off_support.begin(), forecast.off_support.end());
    if (has_own_errors(model)) {
        const Values from = observation.empty() ? errors : observation;
        figures.errors.assign(from.begin(), from.end());
        for (std::size_t i = 0; i < from.size(); ++i) figures.errors[i] -= forecast.mean[i];
        if (!observation.empty()) figures.means = std::move(forecast.mean);
    }
    figures.sigmas = std::move(forecast.sigma);
    figures.parameters = std::move(forecast.parameters);
    return figures;
}

// The largest spread of z in any place of the archive, out of fold, as the model is now.
double archive_sd_z(const Model& model) {
    using Json = nlohmann::ordered_json;
    const Json& fit = model.content().fit;
    const Json& figures = model.content().verification;
    double largest = std::numeric_limits<double>::quiet_NaN();
    const auto look = [&](const Json& own) {
        if (!own.is_object() || !own.contains("sd_z") || !own["sd_z"].is_number()) return;
        largest = std::fmax(largest, own["sd_z"].get<double>());
    };
    look(figures);
    if (figures.contains("conditional"))
        for (const Json& column : figures["conditional"]["columns"])
            for (const Json& place : column["places"]) look(place);
    if (!fit.contains("later") || !fit["later"].is_object()) return largest;
    const Json& later = fit["later"];
    if (later.value("rescaled", Json()) == true && later.contains("factor") && later["factor"].is_number())
        largest /= later["factor"].get<double>();
    if (later.contains("verification")) look(later["verification"]);
    return largest;
}

// Figures of the rows off a model's support alone; none where there are none.
std::vector<Verification> verify_outside(const ReportForecast& forecast, Values outside, const Archive& rows,
                                         const VerifyOptions& options) {
    const std::size_t width = parameters_per_row(*forecast.model->family());
    std::vector<double> errors, sigmas, weights, parameters;
    std::vector<std::uint32_t> groups;
    double weight = 0;
    for (std::size_t i = 0; i < outside.size(); ++i) {
        if (outside[i] == 0) continue;
        errors.push_back(forecast.errors[i]);
        sigmas.push_back(forecast.sigmas[i]);
        const auto own = forecast.parameters.subspan(i * width, width);
        parameters.insert(parameters.end(), own.begin(), own.end());
        if (!rows.weights.empty()) weights.push_back(rows.weights[i]);
        if (!rows.groups.codes.empty()) groups.push_back(rows.groups.codes[i]);
        weight += rows.weights.empty() ? 1 : rows.weights[i];
    }
    if (!(weight > 0)) return {};
    const Grouping together{groups, groups.empty() ? std::span<const std::string>{} : rows.groups.labels};
    VerifyOptions own_options = options;
    own_options.ordered = false;
    own_options.times = {};
    Verification own =
        verify(errors, sigmas, Families{{forecast.model->family()}, {}, parameters}, weights, together, own_options);
    own.name = "off support";
    own.diagram = {};
    return {std::move(own)};
}

void add_verification(ReportForecast& forecast, const std::string& name, const OffSupport& off_support, Values outside,
                      const Archive& rows, const EvaluateOptions& options) {
    VerifyOptions verify_options;
    verify_options.levels = options.levels;
    verify_options.ordered = !verification::in_order_of_size(rows);
    verify_options.times = rows.times;
    forecast.verification = verify(forecast.errors, forecast.sigmas, forecast.families(), rows.weights, rows.groups,
                                   verify_options, rows.by);
    forecast.verification.name = name;
    if (forecast.model != nullptr) {
        forecast.verification.off_support = off_support.outside / off_support.all;
        forecast.verification.archive_sd_z = archive_sd_z(*forecast.model);
        forecast.verification.outside = verify_outside(forecast, outside, rows, verify_options);
    }
    judged::add_details(forecast, rows, options);
    if (!options.conditional) return;
    const ArchiveConditions conditions(rows);
    forecast.conditional = conditional_calibration(normal_scores(forecast.errors, forecast.sigmas, forecast.families()),
                                                   conditions.all(), rows.groups, rows.times, rows.weights);
}

// Whether scores need observations, and the means of forecasts, beside errors.
bool needs_observation(const EvaluateOptions& options) {
    return options.decompose || !options.exceed.empty() || !options.quantile_scores.empty() ||
           !options.baselines.empty();
}
template <typename Forecasts>
bool needs_observation(const EvaluateOptions& options, const Forecasts& forecasts) {
    return needs_observation(options) || std::any_of(forecasts.begin(), forecasts.end(), [](const auto& forecast) {
               return !forecast.members.empty() || !forecast.quantiles.empty();
           });
}

// Of an ensemble or a quantile forecast; false for others.
bool judge_columns(ReportForecast& forecast, const std::string& name, const Archive& rows,
                   const EvaluateOptions& options, judged::Memory& memory) {
    forecast.verification.name = name;
    if (!forecast.members.empty()) judged::judge_members(forecast, rows, options, memory);
    if (!forecast.quantiles.empty()) judged::judge_quantiles(forecast, rows, options, memory);
    if (forecast.has_family()) return false;
    if (!forecast.members.empty()) judged::add_details(forecast, rows, options);
    return true;
}

// The columns of numbers that errors are drawn along. A model's name for an input will do: wdir:cyclic(360).
std::vector<std::string> drawn_columns(const RowSource& source, std::span<const std::string> texts) {
    std::vector<std::string> columns;
    for (const Input& input : named_inputs(source, texts)) {
        if (input.kind == InputKind::category)
            core::refuse(
                "{} of a report are columns of numbers, along which errors are drawn, but '{}' is a category: "
                "{} gives figures for each of its values",
                core::option("inputs"), printable(input.name()), core::option("by", printable(input.column)));
        core::require(
            input.kind == InputKind::number || input.kind == InputKind::cyclic,
            "{} of a report are columns of numbers, along which errors are drawn, but '{}' is {} of dates: {} "
            "draws the forecasts along them",
            core::option("inputs"), printable(input.name()), input.kind == InputKind::hour ? "the hour" : "the season",
            core::option("time", printable(input.column)));
        columns.push_back(input.column);
    }
    return columns;
}

}  // namespace

Evaluation evaluate(const Archive& rows, std::span<const RowForecast> forecasts, const EvaluateOptions& options) {
    require_errors(rows.roles);
    judged::require_options(options, rows.roles, needs_observation(options, forecasts));
    struct Memory : judged::Memory {
        std::vector<double> errors;
        std::deque<Figures> figures;
    };
    const auto memory = std::make_shared<Memory>();
    Evaluation result;
    result.memory = memory;
    result.rows.archive = rows;
    Archive& archive = result.rows.archive;
    if (archive.errors.empty() && archive.roles.have_errors()) {
        memory->errors = errors_of(archive);
        archive.errors = memory->errors;
    }
    const std::size_t count = std::max(archive.errors.size(), archive.observation.size());
    for (const RowForecast& given : forecasts) {
        ReportForecast& forecast = result.forecasts.emplace_back();
        forecast.members = given.members;
        forecast.quantiles = given.quantiles;
        forecast.quantile_levels = given.quantile_levels;
        if (!given.quantiles.empty()) {
            std::vector<std::string> columns;
            for (const double level : given.quantile_levels) columns.push_back(fmt::format("{}", level));
            judged::require_levels(columns, given.quantile_levels);
            judged::require_no_crossing(columns, given.quantile_levels, given.quantiles,
                                        [](std::size_t row) { return fmt::format("row {}", row + 1); });
        }
        if (judge_columns(forecast, given.name, archive, options, *memory)) continue;
        forecast.errors = archive.errors;
        forecast.sigmas = given.sigmas;
        forecast.means = archive.prediction;
        forecast.model = given.model;
        forecast.own_family = given.family;
        forecast.parameters = given.parameters;
        OffSupport off_support;
        Values outside;
        if (!given.means.empty()) {
            Figures& own = memory->figures.emplace_back();
            own.errors = errors_about(given.means, archive.observation, given.name);
            forecast.errors = own.errors;
            forecast.means = given.means;
        } else if (given.model == nullptr) {
            require_sigmas(archive.roles);
        } else {
            require_model(*given.model, given.name, archive.roles);
            const Figures& own = memory->figures.emplace_back(
                figures_of(*given.model, given.inputs, count, archive.errors, archive.prediction, archive.observation,
                           archive.weights, 0, off_support));
            forecast.sigmas = own.sigmas;
            forecast.parameters = own.parameters;
            if (!own.errors.empty()) forecast.errors = own.errors;
            if (!own.means.empty()) forecast.means = own.means;
            outside = own.outside;
        }
        add_verification(forecast, given.name, off_support, outside, archive, options);
    }
    judged::add_baselines(result.forecasts, archive, options, *memory);
    return result;
}

Evaluation evaluate(const RowSource& source, std::span<const FileForecast> forecasts, const EvaluateOptions& options) {
    const Roles& roles = source.roles;
    require_errors(roles);
    const bool keep_observation = needs_observation(options, forecasts);
    judged::require_options(options, roles, keep_observation);
    // A model, and the places of its figures among the computed columns.
    struct Loaded {
        Model model;
        std::size_t sigmas = 0, outside = 0;
        std::optional<std::size_t> errors = {}, means = {};  // where they are not those of the rows
        OffSupport off_support = {};
        std::size_t rows = 0;                 // that were read
        std::size_t first_parameter = 0;      // their columns
        std::vector<double> parameters = {};  // row after row
    };
    const auto models = std::make_shared<std::deque<Loaded>>();
    data::RowPlan plan;
    const auto read = [&](const std::string& name, Rule rule, bool keep) {
        plan.read.push_back({name, Kind::number, rule});
        if (keep) plan.kept.push_back(name);
    };
    // What errors are drawn along, and where calibration is looked at.
    std::vector<Input> along;
    const auto look_along = [&](const Input& input) {
        if (std::count(along.begin(), along.end(), input) > 0) return;
        along.push_back(input);
        (input.kind == InputKind::category ? plan.categories : plan.kept).push_back(input.column);
    };
    for (const std::string& name : drawn_columns(source, options.drawn)) {
        read(name, Rule::any, false);
        look_along({name});
    }
    const bool draw = options.draw || options.conditional;
    if (draw || keep_observation) plan.kept.push_back(roles.prediction);
    if (keep_observation) plan.kept.push_back(roles.observation);
    std::vector<std::vector<std::string>> members;  // columns, of each forecast that has some
    for (const FileForecast& forecast : forecasts) {
        if (forecast.is_model) continue;
        if (!forecast.members.empty()) {
            RowSource own = source;
            expand_columns(own, members.emplace_back(forecast.members), "members");
            for (const std::string& name : members.back()) read(name, Rule::any, true);
            continue;
        }
        if (!forecast.quantiles.empty()) {
            judged::require_levels(forecast.quantiles, forecast.quantile_levels);
            for (const std::string& name : forecast.quantiles) read(name, Rule::any, true);
            continue;
        }
        require_sigmas(roles);
        read(forecast.name, Rule::positive, true);
    }
    bool normal = true;
    for (const FileForecast& forecast : forecasts) {
        if (!forecast.is_model) continue;
        Loaded& loaded = models->emplace_back(Loaded{Model::load(forecast.name)});
        const Model& model = loaded.model;
        require_model(model, forecast.name, roles);
        for (const ColumnRequest& request : input_requests(model)) plan.read.push_back(request);
        if (draw && options.drawn.empty())
            for (const Input& input : model.input_columns())
                look_along(input.kind == InputKind::cyclic ? Input{input.column} : input);
        loaded.sigmas = plan.computed++;
        loaded.outside = plan.computed++;
        if (has_own_errors(model)) loaded.errors = plan.computed++;
        if (has_own_errors(model) && (draw || keep_observation) && roles.error.empty()) loaded.means = plan.computed++;
        normal = normal && model.family()->is_normal();
        loaded.first_parameter = plan.computed;
        plan.computed += parameters_per_row(*model.family());
    }
    if (draw && along.empty() && !roles.prediction.empty()) look_along({roles.prediction});
    std::size_t rows_before = 0;
    plan.compute = [&](const data::RoleSlab& slab, std::span<std::vector<double>> columns) {
        for (const FileForecast& forecast : forecasts) {
            if (forecast.quantiles.empty()) continue;
            std::vector<Values> values;
            for (const std::string& name : forecast.quantiles) values.push_back(slab.table.numbers(name));
            judged::require_no_crossing(forecast.quantiles, forecast.quantile_levels, values, [&](std::size_t row) {
                return data::row_name(source, slab.table, rows_before + row);
            });
        }
        rows_before += slab.table.rows();
        for (Loaded& loaded : *models) {
            std::vector<Values> inputs;
            const std::vector<std::vector<double>> codes = input_codes(loaded.model, slab.table);
            for (const Input& input : loaded.model.input_columns())
                inputs.push_back(input.kind == InputKind::category ? Values(codes[inputs.size()])
                                                                   : slab.table.numbers(input.column));
            Figures own = figures_of(loaded.model, inputs, slab.table.rows(), slab.errors, slab.prediction,
                                     slab.observation, slab.weights, loaded.rows, loaded.off_support);
            loaded.rows += slab.table.rows();
            const std::size_t width = parameters_per_row(*loaded.model.family());
            for (std::size_t k = 0; k < width; ++k) {
                std::vector<double>& column = columns[loaded.first_parameter + k];
                column.clear();
                for (std::size_t at = k; at < own.parameters.size(); at += width) column.push_back(own.parameters[at]);
            }
            columns[loaded.sigmas] = std::move(own.sigmas);
            columns[loaded.outside] = std::move(own.outside);
            if (loaded.errors) columns[*loaded.errors] = std::move(own.errors);
            if (loaded.means) columns[*loaded.means] = std::move(own.means);
        }
    };
    plan.work_bytes = verify_bytes_per_row(!roles.weight.empty(), !source.by.empty(), normal);
    for (const Loaded& loaded : *models)  // row after row
        plan.work_bytes += parameters_per_row(*loaded.model.family()) * sizeof(double);
    // Errors, sigmas and weights of rows off support, which may be all of them.
    if (!models->empty()) plan.work_bytes += (roles.weight.empty() ? 2 : 3) * sizeof(double);
    plan.work_bytes += judged::bytes_per_row(forecasts, options);
    if (options.conditional) plan.work_bytes += 5 * sizeof(double);  // scores, PITs and places of rows
    const auto table = std::make_shared<const data::RoleTable>(source, plan);

    Evaluation result;
    result.rows = data::read_rows(table, draw ? along : std::vector<Input>{});
    const auto memory = std::make_shared<judged::Memory>();
    memory->other = models;
    result.memory = memory;
    auto next = models->begin();
    auto next_members = members.begin();
    for (const FileForecast& given : forecasts) {
        ReportForecast& forecast = result.forecasts.emplace_back();
        if (!given.members.empty())
            for (const std::string& name : *next_members++) forecast.members.push_back(table->numbers(name));
        for (const std::string& name : given.quantiles) forecast.quantiles.push_back(table->numbers(name));
        forecast.quantile_levels = given.quantile_levels;
        if (judge_columns(forecast, given.name, result.rows.archive, options, *memory)) continue;
        forecast.errors = result.rows.archive.errors;
        forecast.means = result.rows.archive.prediction;
        OffSupport off_support;
        Values outside;
        if (given.is_model) {
            Loaded& loaded = *next++;
            forecast.model = &loaded.model;
            forecast.sigmas = table->computed(loaded.sigmas);
            const std::size_t width = parameters_per_row(*loaded.model.family());
            loaded.parameters.resize(width * forecast.sigmas.size());
            for (std::size_t k = 0; k < width; ++k) {
                const Values column = table->computed(loaded.first_parameter + k);
                for (std::size_t i = 0; i < column.size(); ++i) loaded.parameters[i * width + k] = column[i];
            }
            forecast.parameters = loaded.parameters;
            if (loaded.errors) forecast.errors = table->computed(*loaded.errors);
            if (loaded.means) forecast.means = table->computed(*loaded.means);
            off_support = loaded.off_support;
            outside = table->computed(loaded.outside);
        } else {
            forecast.sigmas = table->numbers(given.name);
        }
        add_verification(forecast, given.name, off_support, outside, result.rows.archive, options);
    }
    judged::add_baselines(result.forecasts, result.rows.archive, options, *memory);
    return result;
}

}  // namespace accrue
