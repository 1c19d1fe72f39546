#include "fit/importance.hpp"

#include <algorithm>
#include <cmath>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "forecast/content.hpp"

namespace accrue::fitting {

namespace {

constexpr std::size_t kMaxRows = 1000;
constexpr std::size_t kMinRows = 100;
constexpr std::size_t kMaxInputs = 100;  // more would take longer than anybody reads about them
constexpr std::size_t kWork = 100'000;   // rows times inputs times inputs
constexpr std::uint64_t kPermutationStream = 2'000'081;

}  // namespace

ModelInputs::ModelInputs(const Model& model, const Archive& archive) {
    codes_.resize(archive.inputs.size());
    for (std::size_t k = 0; k < archive.inputs.size(); ++k) {
        inputs_.push_back(archive.inputs[k]);
        if (archive.input_types.empty() || archive.input_types[k].kind != InputKind::category) continue;
        std::vector<double> places;
        for (const std::string& label : archive.input_types[k].labels) places.push_back(model.category_code(k, label));
        for (const double code : archive.inputs[k])
            codes_[k].push_back(std::isnan(code) ? code : places[static_cast<std::size_t>(code)]);
        inputs_[k] = codes_[k];
    }
}

bool has_inputs_of(const Archive& archive, const Model& model) {
    std::vector<std::string> names;
    for (const encodings::Encoding& encoding : model.content().inputs) names.push_back(encoding.name);
    return archive.input_names == names;
}

std::vector<double> map_numbers(const Model& model, const Archive& archive) {
    const Model::Content& content = model.content();
    if (!content.has_group_maps()) return {};
    core::require(!archive.recalibrate_groups.codes.empty(),
                  "the model has recalibrations of its own for values of '{}': give that column",
                  printable(content.map_column));
    std::vector<double> of_labels;
    for (const std::string& label : archive.recalibrate_groups.labels) of_labels.push_back(content.map_of(label));
    std::vector<double> numbers;
    for (const std::uint32_t code : archive.recalibrate_groups.codes) numbers.push_back(of_labels[code]);
    return numbers;
}

std::vector<InputImportance> input_importance(const Model& model, const Archive& archive, std::uint64_t seed) {
    const std::size_t count = archive.errors.size();
    const std::size_t inputs = archive.inputs.size();
    if (count < 2 || inputs == 0 || inputs > kMaxInputs) return {};
    const ModelInputs values(model, archive);
    // Rows in random order: each takes the value of the next, so that none keeps its own.
    std::vector<std::uint32_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(i);
    core::Random(seed, kPermutationStream).shuffle(std::span(order));
    order.resize(std::min(count, std::clamp(kWork / (inputs * inputs), kMinRows, kMaxRows)));
    const auto taken = [&](std::span<const double> from) {
        std::vector<double> to;
        for (const std::uint32_t row : order) to.push_back(from[row]);
        return to;
    };
    std::vector<std::vector<double>> columns;
    for (const auto& column : values.all()) columns.push_back(taken(column));
    std::vector<double> prediction(model.has_mean() ? 0 : order.size(), 0.0);
    if (!model.has_mean() && !archive.prediction.empty()) prediction = taken(archive.prediction);

    const auto forecast = [&] {
        const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
        Forecast own = model.before_recalibration(spans, prediction);
        for (std::size_t i = 0; i < prediction.size(); ++i) own.mean[i] -= prediction[i];
        return own;
    };
    const Forecast plain = forecast();
    const std::size_t further = plain.parameters.size() / order.size();
    const auto permute = [](std::vector<double>& column) {
        std::rotate(column.begin(), column.begin() + 1, column.end());
    };
    std::vector<InputImportance> result;
    const auto add = [&](const std::string& name, std::vector<double>* input, std::vector<double>* as_prediction) {
        const auto kept_input = input == nullptr ? std::vector<double>() : *input;
        const auto kept_prediction = prediction;
        if (input != nullptr) permute(*input);
        if (as_prediction != nullptr) permute(*as_prediction);
        const Forecast changed = forecast();
        if (input != nullptr) *input = kept_input;
        prediction = kept_prediction;
        InputImportance own{name};
        double rows = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (std::isnan(plain.sigma[i]) || std::isnan(changed.sigma[i])) continue;
            rows += 1;
            own.location += std::fabs(changed.mean[i] - plain.mean[i]) / plain.sigma[i];
            own.scale += std::fabs(std::log(changed.sigma[i] / plain.sigma[i]));
            for (std::size_t k = 0; k < further; ++k)
                own.shape += std::fabs(changed.parameters[i * further + k] - plain.parameters[i * further + k]);
        }
        for (double* figure : {&own.location, &own.scale, &own.shape}) *figure = rows > 0 ? *figure / rows : 0;
        result.push_back(std::move(own));
    };
    const std::vector<std::string> names = model.inputs();
    bool prediction_is_input = false;
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const bool same = model.corrects_bias() && names[k] == model.prediction();
        prediction_is_input = prediction_is_input || same;
        add(names[k], &columns[k], same ? &prediction : nullptr);
    }
    if (model.corrects_bias() && !prediction_is_input && !archive.prediction.empty())
        add(model.prediction(), nullptr, &prediction);
    return result;
}

}  // namespace accrue::fitting
