// From inputs to forecasts.
#include "accrue/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accrue/group_maps.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "core/exp.hpp"
#include "core/parallel.hpp"
#include "forecast/content.hpp"
#include "forecast/row_parameters.hpp"

namespace accrue {

using encodings::Encoding;

namespace {

constexpr std::size_t kBlock = 1024;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<fields::Range> Model::Content::regressor_ranges() const {
    std::vector<fields::Range> ranges = encodings::column_ranges(inputs);
    constexpr double kAny = std::numeric_limits<double>::infinity();
    if (!prediction_name.empty()) ranges.push_back({-kAny, kAny});
    return ranges;
}

Distribution Forecast::row(std::size_t i) const {
    core::require(!mean.empty(), "the forecast has no mean: no prediction was given");
    const std::size_t width = parameters_per_row(*family);
    const auto from = parameters.begin() + static_cast<std::ptrdiff_t>(i * width);
    return {mean.at(i), sigma.at(i), family, {from, from + static_cast<std::ptrdiff_t>(width)}};
}

Model::Model(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

double Model::Content::map_of(const std::string& label) const {
    const auto found = map_codes.find(label);
    return found == map_codes.end() ? GroupMaps::kCommon : found->second;
}

void Model::Content::set_maps(std::string column, std::vector<std::string> labels, SharedFamily maps) {
    map_column = std::move(column);
    map_labels = std::move(labels);
    map_codes.clear();
    for (const std::string& label : map_labels) map_codes.emplace(label, static_cast<double>(map_codes.size()));
    core::require(map_codes.size() == map_labels.size(), "two recalibrations are of the same group");
    family = std::move(maps);
}

std::vector<std::string> Model::inputs() const {
    std::vector<std::string> names;
    for (const Encoding& encoding : content_->inputs) names.push_back(encoding.name);
    if (content_->has_group_maps()) names.push_back(content_->map_column);
    return names;
}
std::vector<Input> Model::input_columns() const {
    std::vector<Input> inputs;
    for (const Encoding& encoding : content_->inputs) inputs.push_back(encoding.input);
    if (content_->has_group_maps()) inputs.push_back({content_->map_column, InputKind::category});
    return inputs;
}
double Model::category_code(std::size_t input, const std::string& label) const {
    if (content_->is_map_input(input)) return content_->map_of(label);
    return content_->inputs.at(input).code(label);
}
bool Model::takes_missing(std::size_t input) const {
    return content_->is_map_input(input) || content_->inputs.at(input).imputed;
}
std::string Model::prediction() const {
    return content_->prediction_name;
}
bool Model::corrects_bias() const {
    return content_->bias.field != nullptr && !has_mean();
}

bool Model::has_mean() const {
    return !content_->mean.empty();
}
const SharedFamily& Model::family() const {
    return content_->family;
}

bool Model::learns_location() const {
    return content_->learns_location;
}

const State* Model::state() const {
    return content_->state ? &*content_->state : nullptr;
}

Model Model::with_state(State state) const {
    auto content = std::make_shared<Content>(*content_);
    content->state = std::move(state);
    return Model(std::move(content));
}

double Model::standardised(std::size_t input, double value) const {
    // A value far outside the archive must not move what is learned for good.
    constexpr double kFarthest = 5;
    return std::isnan(value) ? 0 : std::clamp(content_->inputs.at(input).scaling(value), -kFarthest, kFarthest);
}

Model Model::widened() const {
    auto content = std::make_shared<Content>(*content_);
    content->widens_off_support = true;
    return Model(std::move(content));
}

std::string Model::why_off_support(std::span<const std::span<const double>> inputs, std::size_t row) const {
    const std::vector<Encoding>& all = content_->inputs;
    std::size_t farthest = 0;
    for (std::size_t k = 1; k < all.size(); ++k)
        if (all[k].distance(inputs[k][row]) > all[farthest].distance(inputs[farthest][row])) farthest = k;
    return all.empty() ? "" : all[farthest].why_off_support(inputs[farthest][row]);
}

namespace {

// Where a forecast is off support its standard deviation becomes hypot(sigma, C*g(d)).
double growth(double distance) {
    return std::hypot(std::sqrt(-std::expm1(-2 * distance)), std::log1p(distance));
}

// Of a row, over all inputs.
double distance_of(std::span<const Encoding> encodings, std::span<const std::span<const double>> inputs,
                   std::size_t row) {
    double squares = 0;
    for (std::size_t k = 0; k < encodings.size(); ++k) squares += std::pow(encodings[k].distance(inputs[k][row]), 2);
    return std::sqrt(squares);
}

}  // namespace

Forecast Model::forecast(std::span<const std::span<const double>> inputs, std::span<const double> prediction,
                         std::size_t first) const {
    const Content& c = *content_;
    std::span<const double> maps;
    if (c.has_group_maps()) {
        core::require(inputs.size() == c.inputs.size() + 1,
                      "the model has {}, but {} were given; the last is the column '{}', for whose values it has "
                      "recalibrations of their own",
                      counted(c.inputs.size() + 1, "input"), inputs.size(), printable(c.map_column));
        maps = inputs.back();
    }
    Forecast result = before_recalibration(inputs, prediction);
    core::require(!c.family->limits().any() || !result.mean.empty(),
                  "the model has bounds, which lie around a prediction: give one");
    result.family = c.family;
    const forecasts::RowParameters complete(*c.family);
    const std::size_t rows = result.sigma.size();
    const std::size_t width = complete.width();
    const std::size_t count = c.outputs().further();
    const double climatology = c.mean.empty() ? c.error_scale : c.target_scaling.scale;
    const std::vector<double> further = std::move(result.parameters);
    result.parameters.assign(width * rows, kMissing);
    core::for_blocks(rows, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            if (std::isnan(result.sigma[i])) continue;
            const double centre = result.mean.empty() ? 0 : result.mean[i];
            const double scale = result.sigma[i];
            // Location and scale become mean and standard deviation.
            const auto complete_with = [&](double wider) {
                double location = centre;
                result.sigma[i] = wider * scale;
                complete(location, result.sigma[i], std::span(further).subspan(i * count, count), first + i,
                         maps.empty() ? GroupMaps::kCommon : maps[i],
                         std::span(result.parameters).subspan(i * width, width));
                if (!result.mean.empty()) result.mean[i] = location;
            };
            complete_with(1);
            if (!c.widens_off_support || result.off_support[i] == 0) continue;
            const double beyond = climatology * growth(distance_of(c.inputs, inputs, i));
            complete_with(std::hypot(1, beyond / result.sigma[i]));
        }
    });
    return result;
}

Forecast Model::before_recalibration(std::span<const std::span<const double>> inputs,
                                     std::span<const double> prediction) const {
    const Content& c = *content_;
    const std::size_t count = c.inputs.size();
    // The column of groups plays no part before recalibration.
    core::require(inputs.size() == count || (c.has_group_maps() && inputs.size() == count + 1),
                  "the model has {} inputs, but {} were given", count, inputs.size());
    const std::size_t rows = !inputs.empty() ? inputs[0].size() : prediction.size();
    for (std::size_t k = 0; k < inputs.size(); ++k)
        core::require(inputs[k].size() == rows, "input '{}' has {} rows, but there are {}",
                      k < count ? c.inputs[k].name : c.map_column, inputs[k].size(), rows);
    core::require(prediction.empty() || prediction.size() == rows, "there are {} predictions, but {} rows",
                  prediction.size(), rows);

    core::require(prediction.empty() || !has_mean(), "the model has a mean of its own: it takes no prediction");
    Forecast result;
    result.sigma.resize(rows);
    result.off_support.resize(rows);
    const bool gives_mean = has_mean() || !prediction.empty();
    if (gives_mean) result.mean.resize(rows);
    const std::size_t columns = encodings::column_count(c.inputs);
    const fields::Outputs outputs = c.outputs();
    const std::vector<fields::Bounds> bounds = outputs.bounds();
    const std::size_t further = outputs.further();
    result.parameters.resize(further * rows);
    core::for_blocks(rows, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        const std::size_t size = end - begin;
        std::vector<double> standardised((columns + 1) * size);
        std::vector<std::uint8_t> missing(size);
        encodings::encode(c.inputs, inputs, begin, size, standardised.data(), size, &result.off_support[begin],
                          missing.data());
        const fields::Columns x{standardised.data(), size, columns};
        std::vector<double> values(bounds.size() * size);
        fields::average(c.members, bounds, x, 0, size, values.data(), size);
        for (std::size_t i = 0; i < size; ++i) result.sigma[begin + i] = c.error_scale * core::vector_exp(values[i]);
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t k = 0; k < further; ++k)
                result.parameters[(begin + i) * further + k] = values[(1 + k) * size + i];
        if (has_mean()) {
            constexpr fields::Bounds kNone;
            fields::average(c.mean, std::span(&kNone, 1), x, 0, size, &result.mean[begin], 0);
            for (std::size_t i = begin; i < end; ++i)
                result.mean[i] = c.target_scaling.centre + c.target_scaling.scale * result.mean[i];
            if (c.bias.field) {
                std::vector<double> correction(size);
                c.bias.values(x, 0, size, correction.data());
                for (std::size_t i = 0; i < size; ++i) result.mean[begin + i] += correction[i];
            }
        }
        if (!prediction.empty()) {
            double* column = &standardised[columns * size];
            for (std::size_t i = 0; i < size; ++i) column[i] = c.prediction_scaling(prediction[begin + i]);
            double* mean = &result.mean[begin];
            if (c.bias.field) c.bias.values({standardised.data(), size, columns + 1}, 0, size, mean);
            for (std::size_t i = 0; i < size; ++i) mean[i] += prediction[begin + i];
        }
        if (c.learns_location && gives_mean) {
            const double* location = &values[(bounds.size() - 1) * size];
            for (std::size_t i = 0; i < size; ++i) result.mean[begin + i] += c.error_scale * location[i];
        }
        for (std::size_t i = begin; i < end; ++i) {
            if (missing[i - begin] == 0 && (prediction.empty() || std::isfinite(prediction[i]))) continue;
            result.sigma[i] = kMissing;
            result.off_support[i] = 0;
            if (gives_mean) result.mean[i] = kMissing;
        }
    });
    return result;
}

}  // namespace accrue
