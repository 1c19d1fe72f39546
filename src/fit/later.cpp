// Rows from after a model was made: its errors there may be larger than in its archive.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "accrue/fit.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/rounded_json.hpp"
#include "fit/importance.hpp"
#include "fit/verdict.hpp"
#include "forecast/content.hpp"
#include "verify/dependence.hpp"

namespace accrue {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxRows = 20'000;  // to find the factor by
constexpr double kFarthest = 3;           // of its logarithm
constexpr double kChance = 2;             // standard errors
constexpr std::size_t kMinRows = 20;

// The same model with so many times the sigma.
Model scaled(const Model& model, double factor) {
    auto content = std::make_shared<Model::Content>(model.content());
    if (!content->learns_location) {
        content->error_scale *= factor;
        return Model(std::move(content));
    }
    // A location has the same unit.
    for (fields::Fitted& member : content->members) member.field->raise(member.parameters, 0, std::log(factor));
    return Model(std::move(content));
}

// What a model says of rows, and the errors about its means.
struct Judged {
    Forecast forecast;
    std::vector<double> errors;
};

// Rows from `begin` to `end`, every `step`-th of them.
struct Part {
    std::size_t begin, end, step = 1;
};

class Later {
public:
    Later(const Model& model, const Archive& rows)
        : rows_(rows), inputs_(model, rows), maps_(fitting::map_numbers(model, rows)) {
        observation_.assign(rows.observation.begin(), rows.observation.end());
        if (observation_.empty()) {
            observation_.assign(rows.errors.begin(), rows.errors.end());
            for (std::size_t i = 0; i < rows.prediction.size(); ++i) observation_[i] += rows.prediction[i];
        }
        if (!model.has_mean()) prediction_.assign(observation_.size(), 0.0);
        if (!model.has_mean() && !rows.prediction.empty())
            prediction_.assign(rows.prediction.begin(), rows.prediction.end());
    }

    std::size_t size() const { return observation_.size(); }

    Judged judged(const Model& model, const Part& part) const {
        const auto taken = [&](std::span<const double> from) {
            std::vector<double> to;
            for (std::size_t i = part.begin; i < part.end && !from.empty(); i += part.step) to.push_back(from[i]);
            return to;
        };
        std::vector<std::vector<double>> columns;
        for (const auto& column : inputs_.all()) columns.push_back(taken(column));
        if (!maps_.empty()) columns.push_back(taken(maps_));
        const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
        Judged own{model.forecast(spans, taken(prediction_), part.begin), taken(observation_)};
        for (std::size_t i = 0; i < own.errors.size(); ++i) own.errors[i] -= own.forecast.mean[i];
        return own;
    }

    double crps(const Model& model, const Part& part) const {
        const Judged own = judged(model, part);
        const RowFamilies families(own.forecast.families(), own.errors.size());
        struct Sum {
            double crps = 0, weight = 0;
            Sum& operator+=(const Sum& other) {
                crps += other.crps;
                weight += other.weight;
                return *this;
            }
        };
        constexpr std::size_t kBlock = 1024;
        const auto sum = core::sum_blocks<Sum>(own.errors.size(), kBlock, [&](std::size_t begin, std::size_t end) {
            Sum of_block;
            for (std::size_t i = begin; i < end; ++i) {
                if (std::isnan(own.forecast.sigma[i])) continue;
                double crps = 0;
                families.with(i, [&](const Standardised& row) {
                    row.crps_block(1, &own.errors[i], &own.forecast.sigma[i], &crps);
                });
                const double weight = rows_.weights.empty() ? 1 : rows_.weights[part.begin + i * part.step];
                of_block += {weight * crps, weight};
            }
            return of_block;
        });
        return sum.crps / sum.weight;
    }

    // The logarithm of the factor of least CRPS, by golden sections.
    double log_factor(const Model& model, Part part) const {
        part.step = (part.end - part.begin) / kMaxRows + 1;
        const double ratio = (std::sqrt(5.0) - 1) / 2;
        double low = -kFarthest;
        double high = kFarthest;
        const auto cost = [&](double at) { return crps(scaled(model, std::exp(at)), part); };
        double left = high - ratio * (high - low);
        double right = low + ratio * (high - low);
        double cost_left = cost(left);
        double cost_right = cost(right);
        constexpr double kNear = 1e-4;
        while (high - low > kNear) {
            if (cost_left <= cost_right) {
                high = right;
                right = left;
                cost_right = cost_left;
                left = high - ratio * (high - low);
                cost_left = cost(left);
            } else {
                low = left;
                left = right;
                cost_left = cost_right;
                right = low + ratio * (high - low);
                cost_right = cost(right);
            }
        }
        return (low + high) / 2;
    }

    // Each half of the rows by its own model.
    std::pair<Verification, ConditionalCalibration> verified(const Model& first, const Model& second) const {
        const std::size_t half = size() / 2;
        Judged own = judged(first, {0, half});
        const Judged rest = judged(second, {half, size()});
        const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        append(own.errors, rest.errors);
        append(own.forecast.sigma, rest.forecast.sigma);
        append(own.forecast.parameters, rest.forecast.parameters);
        VerifyOptions options;
        options.ordered = !verification::in_order_of_size(rows_);
        options.times = rows_.times;
        Verification result = verify(own.errors, own.forecast.sigma, own.forecast.families(), rows_.weights,
                                     rows_.groups, options, rows_.by);
        result.name = "later rows";
        const ArchiveConditions conditions(rows_);
        return {std::move(result),
                conditional_calibration(normal_scores(own.errors, own.forecast.sigma, own.forecast.families()),
                                        conditions.all(), rows_.groups, rows_.times, rows_.weights)};
    }

private:
    const Archive& rows_;
    fitting::ModelInputs inputs_;
    std::vector<double> maps_;  // where groups have recalibrations of their own: the last input
    std::vector<double> observation_, prediction_;
};

}  // namespace

void judge_later(FitResult& result, const Archive& later) {
    const Model& fitted = result.model;
    core::require(fitting::has_inputs_of(later, fitted), "later rows have other inputs than the model");
    core::require(later.observation_error.empty(), "{} does not go with {}", core::option("later"),
                  core::option("observation_error"));
    const Later rows(fitted, later);
    core::require(rows.size() >= kMinRows, "{} has {}, but at least {} are needed to rescale by", core::option("later"),
                  counted(rows.size(), "row"), kMinRows);
    LaterRows own;
    std::tie(own.as_fitted, own.conditional) = rows.verified(fitted, fitted);
    const std::size_t half = rows.size() / 2;
    const double whole = rows.log_factor(fitted, {0, rows.size()});
    // The logarithm of a spread of n rows strays by about 1/sqrt(2n).
    own.rescaled = std::fabs(whole) > kChance / std::sqrt(2 * own.as_fitted.spread_rows());
    own.factor = std::exp(whole);
    own.verification = own.as_fitted;
    if (own.rescaled) {
        // Each half by the factor of the other, so that no row is judged by itself.
        std::tie(own.verification, own.conditional) =
            rows.verified(scaled(fitted, std::exp(rows.log_factor(fitted, {half, rows.size()}))),
                          scaled(fitted, std::exp(rows.log_factor(fitted, {0, half}))));
        result.model = scaled(fitted, own.factor);
    }
    own.verdict = verdict(own.verification);
    add_conditional(own.verdict, own.conditional);
    const std::string count = counted(rows.size(), "later row");
    result.verdict.remarks.insert(
        result.verdict.remarks.begin(),
        own.rescaled
            ? core::message("{}: the best sigma is {:.2f} times that of the archive, and the model has it now{}. {}",
                            count, own.factor,
                            own.factor > 1 ? " (predictions that were trained on the archive's own rows have errors "
                                             "there that are too small)"
                                           : "",
                            own.verdict.summary)
            : core::message("{}: errors are as large as in the archive, and sigma stays as it was. {}", count,
                            own.verdict.summary));

    auto content = std::make_shared<Model::Content>(result.model.content());
    Json figures = to_json(own.verification);
    figures.erase("name");
    figures["conditional"] = fitting::conditional_in_file(own.conditional);
    figures["verdict"] = {{"summary", own.verdict.summary}, {"remarks", own.verdict.remarks}};
    content->fit["later"] = Json::parse(Json{
        {"rows", rows.size()},
        {"factor", core::rounded_json(own.factor, 6)},
        {"rescaled", own.rescaled},
        {"as_fitted",
         {{"crps", core::rounded_json(own.as_fitted.crps, 6)}, {"sd_z", core::rounded_json(own.as_fitted.sd_z, 6)}}},
        {"verification", figures}}.dump(-1, ' ', false, Json::error_handler_t::replace));
    content->verification["verdict"]["remarks"] = result.verdict.remarks;
    result.model = Model(std::move(content));
    result.later = std::move(own);
}

}  // namespace accrue
