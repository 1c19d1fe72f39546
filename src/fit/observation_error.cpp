#include "fit/observation_error.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "data/row_places.hpp"
#include "fit/prepare.hpp"
#include "forecast/content.hpp"

namespace accrue::fitting {

namespace {

constexpr std::size_t kRounds = 4;
// Of the whole variance at least this share is not noise, so that no error shrinks to nothing.
constexpr double kMinShare = 0.01;
constexpr double kMaxShare = 0.8;

void check_noise(const Archive& archive, const FitOptions& options) {
    const OptionName name = core::option("observation_error");
    core::require(options.recipe == "default", "{} goes with {} only", name, core::option("recipe", "default"));
    core::require(options.mean == "none" && !archive.errors.empty(), "{} needs a prediction: it does not go with {}",
                  name, core::option("mean", options.mean));
    core::require(options.family == kAuto || family(options.family)->is_normal(), "{} goes with {} only", name,
                  core::option("family", std::string(normal_family()->name())));
    core::require(options.recalibrate == "none", "{} goes with {} only", name, core::option("recalibrate", "none"));
    core::require(options.balance_front.empty(), "{} does not go with {}", core::option("balance_front"), name);
    // Noise carries an observation beyond the bound, and an error that is drawn back is not that of a bounded one.
    core::require(!options.lower && !options.upper, "{} does not go with {}", name,
                  core::option(options.lower ? "lower" : "upper"));
    const auto noise = archive.observation_error;
    core::require(noise.size() == archive.errors.size(), "there are observation errors for {} rows, but {} errors",
                  noise.size(), archive.errors.size());
    double of_noise = 0, of_errors = 0;
    for (std::size_t i = 0; i < noise.size(); ++i) {
        core::require(std::isfinite(noise[i]) && noise[i] >= 0,
                      "the observation error of {} is {}, but must be finite and not negative",
                      data::RowName{archive.place, i}, noise[i]);
        const double weight = archive.weights.empty() ? 1 : archive.weights[i];
        of_noise += weight * noise[i] * noise[i];
        of_errors += weight * archive.errors[i] * archive.errors[i];
    }
    core::require(of_noise < of_errors,
                  "the observation error '{}' is larger than the errors, by {:.3g} times (root mean squares): is it a "
                  "standard deviation, in the unit of the observation?",
                  archive.roles.observation_error, std::sqrt(of_noise / of_errors));
}

// What part of the whole variance is noise, on average.
double mean_share(const Archive& archive, std::span<const double> variances) {
    double sum = 0, total = 0;
    for (std::size_t i = 0; i < variances.size(); ++i) {
        const double noise = archive.observation_error[i] * archive.observation_error[i];
        const double weight = archive.weights.empty() ? 1 : archive.weights[i];
        sum += weight * noise / (noise + variances[i]);
        total += weight;
    }
    return sum / total;
}

// What a choice by default has come to.
Message normal_remark(const FitOptions& options) {
    const OptionName name = core::option("observation_error");
    return options.bias == kAuto
               ? core::message(
                     "With {} the family is normal and the prediction is not corrected: other families and "
                     "corrections were not tried.",
                     name)
               : core::message("With {} the family is normal: other families were not tried.", name);
}

void add_remark(FitResult& result, Message remark) {
    result.verdict.remarks.push_back(std::move(remark));
    auto content = std::make_shared<Model::Content>(result.model.content());
    content->verification["verdict"]["remarks"] = result.verdict.remarks;
    result.model = Model(content);
}

}  // namespace

FitResult fit_without_noise(const Archive& archive, const FitOptions& options, const Work& work,
                            const std::function<FitResult(const Archive&, const FitOptions&, const Work&)>& fitted) {
    check_noise(archive, options);
    FitOptions own = options;  // rounds are of one and the same kind of forecast
    own.family = normal_family()->name();
    if (own.bias == kAuto) own.bias = "none";
    Archive rows = archive;
    rows.observation_error = {};
    std::vector<double> errors(archive.errors.begin(), archive.errors.end());
    std::vector<double> variances(errors.size());  // sigma^2 of every row, as far as it is known
    std::optional<FitResult> result;
    for (std::size_t round = 0; round < kRounds; ++round) {
        rows.errors = errors;
        FitWatcher watch;
        if (work.watcher)
            watch = [&](FitProgress progress) {
                progress.finished += round * progress.tasks;
                progress.tasks *= kRounds;
                return work.watcher(progress);
            };
        result = fitted(rows, own, work.watched_by(watch));
        if (round + 1 == kRounds) break;
        const double power = round < 2 ? 1 : 1 / (1 - std::min(mean_share(archive, variances), kMaxShare));
        for (std::size_t i = 0; i < errors.size(); ++i) {
            const double noise = archive.observation_error[i] * archive.observation_error[i];
            const double found = result->sigmas[i] * result->sigmas[i];
            variances[i] = round == 0   ? std::max(found - noise, kMinShare * found)
                           : round == 1 ? found
                                        : variances[i] * std::pow(found / variances[i], power);
            const double correction = errors[i] - result->errors[i];
            errors[i] =
                correction + (archive.errors[i] - correction) * std::sqrt(variances[i] / (variances[i] + noise));
        }
    }
    if (options.family == kAuto) add_remark(*result, normal_remark(options));
    return *std::move(result);
}

}  // namespace accrue::fitting
