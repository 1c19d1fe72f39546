#include "adapt/refitting.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "accrue/fit.hpp"
#include "accrue/messages.hpp"
#include "accrue/predict.hpp"
#include "adapt/timed_rows.hpp"
#include "core/error.hpp"
#include "forecast/content.hpp"

namespace accrue::adapting {

std::vector<double> taken(std::span<const double> values, std::span<const std::size_t> some) {
    std::vector<double> own;
    if (values.empty()) return own;
    own.reserve(some.size());
    for (const std::size_t i : some) own.push_back(values[i]);
    return own;
}

namespace {

// Some rows with what an archive points to.
struct Window {
    Archive archive;
    std::deque<std::vector<double>> numbers;
    std::deque<std::vector<std::string>> labels;

    Window(const Model& model, const TimedRows& rows, std::span<const std::size_t> some) {
        const auto take = [&](std::span<const double> values) -> std::span<const double> {
            return numbers.emplace_back(taken(values, some));
        };
        const Model::Content& content = model.content();
        archive.input_names = model.inputs();
        for (std::size_t k = 0; k < rows.inputs.size(); ++k) {
            const encodings::Encoding& encoding = content.inputs[k];
            InputType type{encoding.input.kind, encoding.input.period};
            archive.inputs.push_back(take(rows.inputs[k]));
            archive.impute = archive.impute || encoding.imputed;
            if (encoding.is_category()) {
                // What the model does not know has a label that is none.
                labels.push_back(encoding.labels());
                labels.back().emplace_back();
                type.labels = labels.back();
                for (double& code : numbers.back())
                    if (code < 0) code = static_cast<double>(encoding.labels().size());
            }
            archive.input_types.push_back(type);
        }
        if (model.has_mean()) {
            archive.observation = take(rows.observation);
        } else {
            std::vector<double> errors = taken(rows.observation, some);
            for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= rows.prediction[some[i]];
            archive.errors = numbers.emplace_back(std::move(errors));
            if (!content.prediction_name.empty()) archive.prediction = take(rows.prediction);
        }
        archive.times = take(rows.times);
        archive.times_are_dates = rows.dates;
        const auto name = [&](const char* role) {
            return content.columns.contains(role) ? content.columns.at(role).get<std::string>() : std::string();
        };
        archive.roles.prediction = name("prediction");
        archive.roles.observation = name("observation");
        archive.roles.error = name("error");
        archive.roles.time = name("time");
    }
};

}  // namespace

Schedule::Schedule(const Model& model, const TimedRows& rows, const ReplayOptions& options, double first)
    : model_(model), rows_(rows), first_(first) {
    const auto length = [&](const std::string& text, const char* name, const char* other) {
        core::require(!text.empty(), "{} needs {}", core::option(other), core::option(name));
        const double own = duration(text, rows.dates, name);
        core::require(own > 0, "{}: {} is not more than 0", core::option(name), printable(text));
        return own;
    };
    every_ = length(options.refit, "refit", "window");
    window_ = length(options.window, "window", "refit");
    const Model::Content& content = model.content();
    for (const char* role : {"weight", "fold_group", "observation_error", "recalibrate_group"})
        core::require(!content.columns.contains(role), "{}: the model was fitted with {}, which a replay does not read",
                      core::option("refit"), core::option(role));
}

Refitted Schedule::fit(std::span<const std::size_t> known, const State& state) {
    const double begin = next() - window_;
    const auto first = std::find_if(known.begin(), known.end(), [&](std::size_t i) { return rows_.times[i] >= begin; });
    const std::vector<std::size_t> window(first, known.end());
    core::require(!window.empty(), "{}: no observation of the {} before {} is known", core::option("refit"),
                  core::option("window"), time_text(next(), rows_.dates));
    const Window own(model_, rows_, window);
    const FitResult fitted = refit(model_, own.archive);
    model_ = fitted.model;
    ++fits_;
    State fresh(state.options());
    // What members that never saw a row say of it.
    std::vector<double> scores(rows_.times.size());
    std::vector<double> sigmas(rows_.times.size(), 1.0);
    const auto take = [&](std::span<const std::size_t> some, std::span<const double> own_scores,
                          std::span<const double> own_sigmas) {
        for (std::size_t k = 0; k < some.size(); ++k) {
            scores[some[k]] = own_scores[k];
            sigmas[some[k]] = own_sigmas[k];
        }
    };
    // Rows that were set apart for a map have no figures out of fold: they have those of the model, which knows nothing
    // of them but through the map.
    std::vector<std::size_t> learned, apart;
    std::vector<double> errors, own_sigmas, parameters;
    std::vector<std::uint32_t> parts;
    for (std::size_t k = 0; k < window.size(); ++k) {
        if (std::isnan(fitted.sigmas[k])) {
            apart.push_back(window[k]);
            continue;
        }
        learned.push_back(window[k]);
        errors.push_back(fitted.errors[k]);
        own_sigmas.push_back(fitted.sigmas[k]);
        const std::span<const double> own_parameters = fitted.parameters_of(k);
        parameters.insert(parameters.end(), own_parameters.begin(), own_parameters.end());
        if (!fitted.families.empty()) parts.push_back(fitted.parts[k]);
    }
    const Families families = fitted.families.empty() ? Families{{model_.family()}, {}, parameters}
                                                      : Families{fitted.families, parts, parameters};
    take(learned, accrue::normal_scores(errors, own_sigmas, families), own_sigmas);
    if (!apart.empty()) {
        const Forecast forecast = forecast_some(model_, rows_, apart);
        take(apart, adapting::normal_scores(forecast, taken(rows_.observation, apart)), forecast.sigma);
    }
    Observations observations(model_, rows_, fresh.options(), scores, sigmas);
    for (std::size_t k = 0; k < window.size();) {
        const std::size_t from = k;
        while (k < window.size() && rows_.times[window[k]] == rows_.times[window[from]]) ++k;
        observations.add_to(fresh, std::span(window).subspan(from, k - from));
    }
    fresh.continue_tails(state);
    return {model_, std::move(fresh), window.size()};
}

Forecast forecast_some(const Model& model, const TimedRows& rows, std::span<const std::size_t> some) {
    if (some.empty()) return {};
    std::vector<std::vector<double>> inputs;
    for (const auto& values : rows.inputs) inputs.push_back(taken(values, some));
    const std::vector<std::span<const double>> spans(inputs.begin(), inputs.end());
    return forecast_rows(model, spans, taken(rows.prediction, some), some.size());
}

void put(const Forecast& own, std::span<const std::size_t> some, std::size_t count, Forecast& all) {
    const std::size_t width = some.empty() ? 0 : own.parameters.size() / some.size();
    for (std::size_t k = 0; k < count; ++k) {
        const std::size_t i = some[k];
        all.mean[i] = own.mean[k];
        all.sigma[i] = own.sigma[k];
        all.off_support[i] = own.off_support[k];
        std::copy_n(own.parameters.begin() + static_cast<std::ptrdiff_t>(k * width), width,
                    all.parameters.begin() + static_cast<std::ptrdiff_t>(i * width));
    }
}

}  // namespace accrue::adapting
