// From rows to a model, to its file and back: nothing but InputError is thrown, the same bytes come out for any number
// of threads, and what was saved forecasts alike.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/fit.hpp"
#include "accrue/options.hpp"
#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

double any_number(Bytes& input) {
    const std::uint8_t kind = input.byte();
    if (kind < 236) return (kind - 118) / 16.0;
    if (kind < 250) return std::ldexp(1 + input.byte() / 256.0, 4 * (static_cast<int>(input.byte() % 128) - 64));
    return input.number();
}

template <std::size_t kCount>
std::string choice(Bytes& input, const std::array<const char*, kCount>& words) {
    return words[input.below(kCount)];
}

FitOptions any_options(Bytes& input) {
    FitOptions options;
    options.form = choice<8>(
        input, {"constant", "polynomial", "clusters", "network", "constant", "polynomial", "clusters", "constant"});
    options.recipe = choice<4>(input, {"default", "default", "default", "paper"});
    options.score = choice<3>(input, {"ar", "crps", "nlpd"});
    options.mean = choice<8>(input, {"none", "none", "none", "none", "none", "none", "gp", "network"});
    options.bias = choice<3>(input, {"none", "constant", "linear"});
    options.recalibrate = choice<6>(input, {"none", "none", "isotonic", "conformal", "auto", "isotonic"});
    options.balance = input.byte() / 250.0;  // a little beyond 1 at the end
    options.folds = input.below(5);
    options.starts = 1 + input.below(2);
    options.max_iterations = static_cast<int>(input.below(4));
    options.patience = static_cast<int>(input.below(3));
    options.training_share = input.byte() / 200.0;
    options.validation_share = input.byte() / 200.0;
    options.seed = input.byte();
    return options;
}

// What came later is read after the rows, so that older inputs mean what they meant.
void any_later_options(Bytes& input, FitOptions& options) {
    if (input.empty()) return;
    const std::size_t family = input.below(family_names().size() + 1);
    options.family = family == 0 ? "auto" : family_names()[family - 1];
    if (input.flag()) options.bias = choice<2>(input, {"network", "auto"});
    if (input.flag()) options.form = choice<2>(input, {"auto", "network"});
    if (input.flag()) options.lower = any_number(input);
    if (input.flag()) options.upper = any_number(input);
    options.bound_kind = choice<3>(input, {"auto", "censored", "truncated"});
    if (input.flag()) options.calibration_share = input.byte() / 200.0;
    if (input.flag()) options.balance_front = {input.byte() / 250.0};
}

// And what came after that: every form and mean, kinds of inputs, the noise of observations, groups with maps.
struct Extras {
    std::vector<InputKind> kinds;  // of the inputs
    std::vector<double> noise;
    bool by_group = false;
};
const std::vector<std::string> kCategoryLabels = {"u", "v", "w"};
constexpr double kPeriod = 360;

Extras any_extras(Bytes& input, FitOptions& options, std::vector<std::vector<double>>& columns, std::size_t rows) {
    Extras extras;
    extras.kinds.resize(columns.size(), InputKind::number);
    if (input.empty()) return extras;
    if (input.flag()) options.form = form_names()[input.below(form_names().size())];
    if (input.flag()) {
        const std::vector<std::string> means = fit_option("mean").choice_names();
        options.mean = means[input.below(means.size())];
    }
    for (std::size_t k = 0; k < columns.size(); ++k) {
        constexpr std::array kKinds = {InputKind::number, InputKind::category, InputKind::cyclic, InputKind::season,
                                       InputKind::hour};
        extras.kinds[k] = kKinds[input.below(kKinds.size())];
        if (extras.kinds[k] == InputKind::category)
            for (double& value : columns[k]) value = static_cast<double>(input.below(kCategoryLabels.size()));
    }
    if (input.flag())
        for (std::size_t i = 0; i < rows; ++i) extras.noise.push_back(input.byte() / 100.0);
    extras.by_group = input.flag();
    return extras;
}

struct Rows {
    std::vector<std::vector<double>> inputs;
    std::vector<double> errors, prediction, observation, weights, times;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
    bool impute = false;
};

Rows any_rows(Bytes& input) {
    Rows rows;
    const std::size_t count = 2 + input.below(18);  // few, for speed
    const std::uint8_t has = input.byte();
    rows.inputs.resize(has % 4);
    if (has >= 128) rows.labels = {"a", "b", "c"};
    for (std::size_t i = 0; i < count; ++i) {
        for (auto& column : rows.inputs) column.push_back(any_number(input));
        rows.errors.push_back(any_number(input));
        if ((has & 4U) != 0) rows.prediction.push_back(any_number(input));
        if ((has & 8U) != 0) rows.weights.push_back(std::fabs(any_number(input)));
        if ((has & 16U) != 0) rows.times.push_back(any_number(input));
        if (has >= 128) rows.codes.push_back(static_cast<std::uint32_t>(input.below(3)));
    }
    return rows;
}

// Until groups have the rows that maps of their own need.
void repeat(Rows& rows) {
    const auto repeated = [](auto& values) {
        const auto once = values;
        for (int copies = 1; copies < 32; ++copies) values.insert(values.end(), once.begin(), once.end());
    };
    for (auto& column : rows.inputs) repeated(column);
    repeated(rows.errors);
    repeated(rows.prediction);
    repeated(rows.weights);
    repeated(rows.times);
    repeated(rows.codes);
}

void check_reload(const FitResult& result, const Rows& rows, bool takes_prediction, bool labels) {
    const std::string text = result.model.text();
    const Model again = Model::parse(text);
    expect(again.text() == text, "a model that was read writes something else");
    std::vector<std::span<const double>> inputs(rows.inputs.begin(), rows.inputs.end());
    const std::vector<double> maps(rows.errors.size(), 1.0);  // numbers of groups' maps, where there are some
    if (result.model.inputs().size() > inputs.size()) inputs.emplace_back(maps);
    std::span<const double> prediction;
    std::vector<double> zeros(rows.errors.size(), 0.0);
    if (takes_prediction) prediction = rows.prediction.empty() ? zeros : rows.prediction;
    const Forecast own = result.model.forecast(inputs, prediction);
    const Forecast read = again.forecast(inputs, prediction);
    for (std::size_t i = 0; i < own.sigma.size(); ++i) {
        expect(same_bits(own.sigma[i], read.sigma[i]), "sigma {} comes back as {}", own.sigma[i], read.sigma[i]);
        expect(own.sigma[i] > 0 && std::isfinite(own.sigma[i]), "a sigma is {}", own.sigma[i]);
        expect(own.mean.empty() || same_bits(own.mean[i], read.mean[i]), "mean {} comes back as {}", own.mean[i],
               read.mean[i]);
        // Values of categories in few rows have no label, and some groups no map.
        expect(own.off_support[i] == 0 || labels || inputs.size() > rows.inputs.size(),
               "a row of the archive is off support");
    }
}

// The figures of the fit are those of its out-of-fold errors and sigmas.
void check_verification(const FitResult& result, const Rows& rows) {
    std::vector<double> errors;
    std::vector<double> sigmas;
    std::vector<double> weights;
    double size = 0;
    for (std::size_t i = 0; i < result.sigmas.size(); ++i) {
        if (std::isnan(result.sigmas[i])) continue;
        errors.push_back(result.errors[i]);
        sigmas.push_back(result.sigmas[i]);
        if (!rows.weights.empty()) weights.push_back(rows.weights[i]);
        size = std::max(size, std::fabs(errors.back()) + sigmas.back());
    }
    const double plain = reference::accuracy_reliability(errors, sigmas, 1, weights).crps;
    expect(!std::isfinite(plain) || std::fabs(plain - result.verification.crps) <= 1e-13 * size,
           "the verification's crps is {}, not {}", result.verification.crps, plain);
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input);
    FitOptions options = any_options(bytes);
    Rows rows = any_rows(bytes);
    any_later_options(bytes, options);
    if (!bytes.empty()) rows.impute = bytes.flag();
    const Extras extras = any_extras(bytes, options, rows.inputs, rows.errors.size());
    if (extras.by_group) repeat(rows);
    Archive archive;
    for (std::size_t k = 0; k < rows.inputs.size(); ++k) {
        archive.input_names.push_back(fmt::format("x{}", k));
        archive.inputs.emplace_back(rows.inputs[k]);
        InputType type{extras.kinds[k]};
        if (type.kind == InputKind::cyclic) type.period = kPeriod;
        if (type.kind == InputKind::category) type.labels = kCategoryLabels;
        archive.input_types.push_back(type);
        if (type.kind != InputKind::number)
            archive.input_names.back() = Input{archive.input_names.back(), type.kind, type.period}.name();
    }
    std::vector<double> noise = extras.noise;
    if (!noise.empty()) noise.resize(rows.errors.size(), noise.front());
    archive.observation_error = noise;
    if (options.mean == "none")
        archive.errors = rows.errors;
    else
        archive.observation = rows.errors;
    if (options.mean == "none" && !rows.prediction.empty()) {
        archive.prediction = rows.prediction;
        archive.roles.prediction = "mu";
    }
    archive.weights = rows.weights;
    archive.times = rows.times;
    archive.groups = {rows.codes, rows.labels};
    archive.impute = rows.impute;
    if (rows.impute || extras.by_group) {
        archive.recalibrate_groups = archive.groups;
        archive.roles.recalibrate_group = "station";
    }
    std::vector<double> observation;
    if (!archive.prediction.empty() && (options.lower || options.upper)) {
        for (std::size_t i = 0; i < rows.errors.size(); ++i) observation.push_back(rows.prediction[i] + rows.errors[i]);
        archive.observation = observation;
        archive.roles.observation = "y";
    }

    std::string text;
    try {
        with_threads(1, [&] {
            const FitResult result = fit(archive, options);
            text = result.model.text();
            const bool labels = std::any_of(extras.kinds.begin(), extras.kinds.end(),
                                            [](InputKind kind) { return kind == InputKind::category; });
            check_reload(result, rows, options.mean == "none", labels);
            const bool plain = result.model.family()->is_normal() && options.bias != "network";
            if (options.recalibrate == "none" && plain && extras.noise.empty()) check_verification(result, rows);
        });
    } catch (const InputError& error) {
        const std::string message = error.what();
        expect(!message.empty() && message.find('\n') == std::string::npos, "not one message: '{}'", message);
    }
    if (options.seed % 8 == 0) {
        std::string other;
        try {
            with_threads(2, [&] { other = fit(archive, options).model.text(); });
        } catch (const InputError&) {
        }
        expect(other == text, "two threads fit another model");
    }
}

}  // namespace accrue::fuzz
