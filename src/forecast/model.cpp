// From inputs to forecasts.
#include "accrue/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/exp.hpp"
#include "core/parallel.hpp"
#include "forecast/content.hpp"

namespace accrue {

namespace {

constexpr std::size_t kBlock = 1024;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<sigma::Range> standardised_ranges(const Model::Content& content) {
    std::vector<sigma::Range> ranges;
    for (std::size_t k = 0; k < content.input_ranges.size(); ++k) {
        const Scaling& scaling = content.input_scaling[k];
        ranges.push_back({scaling(content.input_ranges[k].low), scaling(content.input_ranges[k].high)});
    }
    return ranges;
}

Distribution Forecast::row(std::size_t i) const {
    core::require(!mean.empty(), "the forecast has no mean: no prediction was given");
    return {mean.at(i), sigma.at(i), shape};
}

Model::Model(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

const std::vector<std::string>& Model::inputs() const {
    return content_->input_names;
}
std::string Model::prediction() const {
    return content_->prediction_name;
}
bool Model::corrects_bias() const {
    return content_->bias.kind != mean::BiasKind::none;
}

bool Model::has_mean() const {
    return content_->regression != nullptr;
}
std::shared_ptr<const Shape> Model::shape() const {
    return content_->shape;
}

Forecast Model::forecast(std::span<const std::span<const double>> inputs, std::span<const double> prediction) const {
    const Content& c = *content_;
    const std::size_t count = c.input_names.size();
    core::require(inputs.size() == count, "the model has {} inputs, but {} were given", count, inputs.size());
    const std::size_t rows = !inputs.empty() ? inputs[0].size() : prediction.size();
    for (std::size_t k = 0; k < count; ++k)
        core::require(inputs[k].size() == rows, "input '{}' has {} rows, but there are {}", c.input_names[k],
                      inputs[k].size(), rows);
    core::require(prediction.empty() || prediction.size() == rows, "there are {} predictions, but {} rows",
                  prediction.size(), rows);

    core::require(prediction.empty() || !has_mean(), "the model has a mean of its own: it takes no prediction");
    Forecast result;
    result.shape = c.shape;
    result.sigma.resize(rows);
    result.off_support.resize(rows);
    const bool gives_mean = has_mean() || !prediction.empty();
    if (gives_mean) result.mean.resize(rows);
    core::for_blocks(rows, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        const std::size_t size = end - begin;
        std::vector<double> standardised((count + 1) * size);
        std::vector<std::span<const double>> regressors;
        for (std::size_t k = 0; k < count; ++k) {
            const Scaling scaling = c.input_scaling[k];
            const sigma::Range range = c.input_ranges[k];
            double* column = &standardised[k * size];
            for (std::size_t i = 0; i < size; ++i) {
                const double value = inputs[k][begin + i];
                column[i] = scaling(value);
                if (value < range.low || value > range.high) result.off_support[begin + i] = 1;
            }
            regressors.emplace_back(column, size);
        }
        sigma::log_sigma(c.members, {standardised.data(), size, count}, 0, size, &result.sigma[begin]);
        for (std::size_t i = begin; i < end; ++i) result.sigma[i] = c.error_scale * core::vector_exp(result.sigma[i]);
        if (c.regression) {
            c.regression->predict({standardised.data(), size, count}, 0, size, &result.mean[begin]);
            for (std::size_t i = begin; i < end; ++i)
                result.mean[i] = c.target_scaling.centre + c.target_scaling.scale * result.mean[i];
        }
        if (!prediction.empty()) {
            double* column = &standardised[count * size];
            for (std::size_t i = 0; i < size; ++i) column[i] = c.prediction_scaling(prediction[begin + i]);
            regressors.emplace_back(column, size);
            for (std::size_t i = 0; i < size; ++i)
                result.mean[begin + i] = prediction[begin + i] + mean::correction(c.bias, regressors, i);
        }
        for (std::size_t i = begin; i < end; ++i) {
            bool missing = !prediction.empty() && !std::isfinite(prediction[i]);
            for (std::size_t k = 0; k < count; ++k) missing = missing || !std::isfinite(inputs[k][i]);
            if (!missing) continue;
            result.sigma[i] = kMissing;
            result.off_support[i] = 0;
            if (gives_mean) result.mean[i] = kMissing;
        }
    });
    return result;
}

}  // namespace accrue
