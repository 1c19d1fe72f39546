#include "accrue/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "accrue/group_maps.hpp"
#include "accrue/messages.hpp"
#include "accrue/state.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "data/times.hpp"
#include "data/transform.hpp"

namespace accrue {

Forecast forecast_rows(const Model& model, std::span<const std::span<const double>> inputs,
                       std::span<const double> prediction, std::size_t rows, std::size_t first) {
    if (!inputs.empty() || !prediction.empty()) return model.forecast(inputs, prediction, first);
    Forecast forecast = model.forecast(inputs, std::vector<double>(rows), first);
    forecast.mean.clear();
    return forecast;
}

Forecast forecast_at(const Model& model, std::span<const std::span<const double>> inputs,
                     std::span<const double> prediction, std::span<const double> times,
                     std::span<const double> groups) {
    core::require(model.state() != nullptr, "the model has no state");
    const State& state = *model.state();
    const Forecast forecast = forecast_rows(model, inputs, prediction, times.size());
    core::require(forecast.sigma.size() == times.size(), "there are {} times, but {} rows", times.size(),
                  forecast.sigma.size());
    const std::vector<std::string> names = model.inputs();
    std::vector<std::size_t> corrected;
    for (const std::string& name : state.options().correct)
        corrected.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
    const auto text = [&](double time) {
        return state.options().dates ? data::iso_time(time) : fmt::format("{}", time);
    };
    std::vector<Moved> moves(times.size());
    std::vector<double> x(corrected.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (std::isnan(times[i]) || std::isnan(forecast.sigma[i])) continue;  // the row has no results
        core::require(
            times[i] > state.clock(),
            "a row has the time {} in column '{}', but the state has seen observations up to {}: forecasts of "
            "the past come from 'accrue replay', those of the model without its state with {}",
            text(times[i]), printable(state.options().time), text(state.clock()), core::option("no-state"));
        std::size_t group = State::kNoGroup;
        if (!groups.empty() && groups[i] >= 0) group = static_cast<std::size_t>(groups[i]);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = model.standardised(corrected[k], inputs[corrected[k]][i]);
        moves[i] = state.at(times[i]).of(forecast.sigma[i], group, x);
    }
    return adapted(forecast, moves, state.options().shape);
}

namespace {

constexpr std::size_t kMaxDraws = 1000;  // a block of rows holds all of its results

std::vector<data::TransformInput> transform_inputs(const Model& model) {
    std::vector<data::TransformInput> inputs;
    for (const Input& input : model.input_columns()) {
        const std::size_t k = inputs.size();
        const ColumnRequest request = input.request();
        inputs.push_back({request.name, request.kind,
                          [&model, k](const std::string& label) { return model.category_code(k, label); },
                          model.takes_missing(k)});
    }
    return inputs;
}

}  // namespace

std::vector<ColumnRequest> input_requests(const Model& model) {
    std::vector<ColumnRequest> requests;
    for (const Input& input : model.input_columns()) {
        requests.push_back(input.request());
        requests.back().may_be_missing = model.takes_missing(requests.size() - 1);
    }
    return requests;
}

std::vector<std::vector<double>> input_codes(const Model& model, const Table& rows) {
    std::vector<std::vector<double>> codes;
    for (const Input& input : model.input_columns()) {
        const std::size_t k = codes.size();
        std::vector<double>& own = codes.emplace_back();
        if (input.kind != InputKind::category) continue;
        const TextColumn& text = rows.text(input.column);
        std::vector<double> places;
        for (const std::string& label : text.labels)
            places.push_back(label.empty() ? std::numeric_limits<double>::quiet_NaN() : model.category_code(k, label));
        for (const std::uint32_t code : text.codes) own.push_back(places[code]);
    }
    return codes;
}

const std::vector<std::string>& off_support_names() {
    static const std::vector<std::string> names = {"flag", "widen", "refuse"};
    return names;
}

void predict_files(const Model& as_fitted, const std::vector<std::string>& files, const std::string& output,
                   const PredictOptions& options) {
    const auto& choices = off_support_names();
    core::require(std::find(choices.begin(), choices.end(), options.off_support) != choices.end(),
                  "{} must be one of {}, but it is '{}'{}", core::option("off_support"), name_list(choices),
                  printable(options.off_support), suggestion(options.off_support, choices));
    const Model model = options.off_support == "widen" ? as_fitted.widened() : as_fitted;
    const bool refuses = options.off_support == "refuse";
    const std::string prediction = options.prediction.empty() ? model.prediction() : options.prediction;
    core::require(prediction.empty() || !model.has_mean(), "the model has a mean of its own: it takes no {}",
                  core::option("prediction"));
    const bool has_mean = model.has_mean() || !prediction.empty();
    core::require(has_mean || (options.quantiles.empty() && options.intervals.empty() && options.exceed.empty() &&
                               options.draws == 0),
                  "quantiles, intervals, probabilities and draws lie around a prediction: name its column with {}",
                  core::option("prediction"));
    core::require(!prediction.empty() || !model.corrects_bias(),
                  "the model corrects the prediction: name its column with {}", core::option("prediction"));

    data::TransformPlan plan;
    plan.inputs = transform_inputs(model);
    plan.header = options.header;
    plan.isolate = options.isolate;
    plan.marks = options.marks;
    plan.history = "accrue predict";
    plan.rows_of = prediction;  // where there is none, the rows have the dimensions of all inputs together
    if (!prediction.empty()) plan.inputs.push_back({prediction});
    const State* state = options.state ? model.state() : nullptr;
    const std::size_t first_of_state = plan.inputs.size();
    if (state != nullptr) {
        core::require(has_mean,
                      "the model has a state, which moves forecasts around a prediction: name its column "
                      "with {}",
                      core::option("prediction"));
        plan.inputs.push_back({state->options().time, state->options().dates ? Kind::time : Kind::number});
        const auto number = [state](const std::string& label) {
            const std::size_t own = state->group(label);
            return own == State::kNoGroup ? -1.0 : static_cast<double>(own);
        };
        if (!state->options().group.empty()) plan.inputs.push_back({state->options().group, Kind::text, number, true});
    }
    if (has_mean) plan.added.push_back({"mean", "mean of the forecast"});
    plan.added.push_back({"sigma", "standard deviation of the forecast"});
    const SharedFamily shared =
        state != nullptr ? adapted_family(model.family(), state->options().shape) : model.family();
    const Family& family = *shared;
    const Recalibrated* recalibrated = common_map(family);
    const bool of_gaussian = recalibrated != nullptr && recalibrated->inner()->is_normal();
    // What is added to the mean in units of sigma, by a row's family; or a probability.
    using Figure = std::function<double(const Standardised& row, double mean, double sigma)>;
    std::vector<Figure> figures;
    const auto add = [&](const std::string& name, const std::string& long_name, Figure figure) -> data::AddedColumn& {
        figures.push_back(std::move(figure));
        plan.added.push_back({name, long_name});
        return plan.added.back();
    };
    // Where rows are alike it is found once. The factor first, so that Distribution rounds as it does here.
    const bool alike = parameters_per_row(family) == 0;
    const Limits limits = family.limits();
    const auto scaled = [&](const std::function<double(const Standardised&)>& factor) -> Figure {
        if (!alike)
            return [factor, limits](const Standardised& row, double mean, double sigma) {
                return limits.hold(mean + factor(row) * sigma, sigma);
            };
        const double own = factor(Standardised(shared));
        return [own](const Standardised&, double mean, double sigma) { return mean + own * sigma; };
    };
    for (const double q : options.quantiles) {
        core::require(q > 0 && q < 1, "{}: {} is not between 0 and 1", core::option("quantiles"), q);
        add(fmt::format("q{}", q), fmt::format("{} quantile of the forecast", q),
            scaled([q](const Standardised& row) { return row.quantile(q); }))
            .probability = q;
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (const double level : options.intervals) {
        core::require(level > 0 && level < 1, "{}: {} is not between 0 and 1", core::option("interval"), level);
        add(fmt::format("lower_{}", level), fmt::format("lower end of the central {} interval", level),
            scaled([level](const Standardised& row) { return row.interval(level).first; }));
        add(fmt::format("upper_{}", level), fmt::format("upper end of the central {} interval", level),
            scaled([level](const Standardised& row) { return row.interval(level).second; }));
    }
    for (std::size_t k = 0; state != nullptr && k < state->tails().size(); ++k) {
        const double level = state->options().levels[k];
        const double tail = state->tails()[k];
        add(fmt::format("adaptive_lower_{}", level),
            fmt::format("lower end of the interval that covers {} in the long run", level),
            scaled([tail](const Standardised& row) { return adaptive_interval(row, tail).first; }));
        add(fmt::format("adaptive_upper_{}", level),
            fmt::format("upper end of the interval that covers {} in the long run", level),
            scaled([tail](const Standardised& row) { return adaptive_interval(row, tail).second; }));
    }
    for (const double threshold : options.exceed) {
        core::require(std::isfinite(threshold), "{}: {} is not a number", core::option("exceed"), threshold);
        add(fmt::format("above_{}", threshold), fmt::format("probability of more than {}", threshold),
            [threshold](const Standardised& row, double mean, double sigma) {
                return row.survival((threshold - mean) / sigma);
            })
            .has_units_of_rows = false;
    }
    core::require(options.draws <= kMaxDraws, "{} is {}, but must be at most {}", core::option("draws"), options.draws,
                  kMaxDraws);
    for (std::size_t k = 1; k <= options.draws; ++k)
        plan.added.push_back({fmt::format("draw_{}", k), fmt::format("random draw {} from the forecast", k)});
    if (of_gaussian) {
        if (has_mean) plan.added.push_back({"gaussian_mean", "mean of the Gaussian forecast before recalibration"});
        plan.added.push_back({"gaussian_sigma", "standard deviation of the Gaussian forecast before recalibration"});
    }
    data::AddedColumn off_support{"off_support",
                                  "1 where an input lies outside the range that the model was fitted on"};
    off_support.flag = true;
    off_support.has_units_of_rows = false;
    plan.added.push_back(off_support);

    const std::size_t inputs = model.inputs().size();
    data::transform_rows(files, output, plan, [&](auto values, auto results, std::size_t first) {
        const auto mu = prediction.empty() ? std::span<const double>{} : values[inputs];
        const bool grouped = state != nullptr && !state->options().group.empty();
        const Forecast forecast = state == nullptr
                                      ? forecast_rows(model, values.first(inputs), mu, results.front().size())
                                      : forecast_at(model, values.first(inputs), mu, values[first_of_state],
                                                    grouped ? std::span<const double>(values[first_of_state + 1])
                                                            : std::span<const double>{});
        for (std::size_t i = 0; refuses && i < forecast.off_support.size(); ++i)
            if (forecast.off_support[i] != 0 && !std::isnan(forecast.sigma[i]))
                core::refuse("{}: row {} lies outside the archive: {}", core::option("off_support", "refuse"),
                             first + i + 1, model.why_off_support(values.first(inputs), i));
        std::size_t column = 0;
        if (has_mean) std::copy(forecast.mean.begin(), forecast.mean.end(), results[column++].begin());
        std::copy(forecast.sigma.begin(), forecast.sigma.end(), results[column++].begin());
        const RowFamilies families(forecast.families(), forecast.sigma.size());
        for (const Figure& figure : figures) {
            const auto result = results[column++];
            for (std::size_t i = 0; i < result.size(); ++i)
                result[i] = std::isnan(forecast.sigma[i]) ? none : families.with(i, [&](const Standardised& row) {
                    return figure(row, forecast.mean[i], forecast.sigma[i]);
                });
        }
        // By a row's number, so that they do not depend on how the files are cut into blocks.
        for (std::size_t i = 0; options.draws > 0 && i < forecast.sigma.size(); ++i) {
            core::Random random(options.seed, first + i);
            for (std::size_t k = 0; k < options.draws; ++k)
                results[column + k][i] =
                    std::isnan(forecast.sigma[i]) ? none : families.with(i, [&](const Standardised& row) {
                        const double score = random.normal();
                        return limits.hold(forecast.mean[i] + row.of_normal_score(score) * forecast.sigma[i],
                                           forecast.sigma[i]);
                    });
        }
        column += options.draws;
        if (of_gaussian) {
            const auto gaussian_mean = has_mean ? results[column++] : std::span<double>{};
            const auto gaussian_sigma = results[column++];
            for (std::size_t i = 0; i < gaussian_sigma.size(); ++i)
                families.with(i, [&](const Standardised& row) {
                    gaussian_sigma[i] = forecast.sigma[i] / row.u_sd();
                    if (has_mean) gaussian_mean[i] = forecast.mean[i] - row.u_mean() * gaussian_sigma[i];
                });
        }
        for (std::size_t i = 0; i < forecast.sigma.size(); ++i)
            results[column][i] = std::isnan(forecast.sigma[i]) ? none : forecast.off_support[i];
    });
}

}  // namespace accrue
