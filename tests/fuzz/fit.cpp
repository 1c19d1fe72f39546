// From rows to a model, to its file and back: nothing but InputError is thrown, the same bytes come out for any number
// of threads, and what was saved forecasts alike.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/fit.hpp"
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

void check_reload(const FitResult& result, const Rows& rows, bool takes_prediction) {
    const std::string text = result.model.text();
    const Model again = Model::parse(text);
    expect(again.text() == text, "a model that was read writes something else");
    const std::vector<std::span<const double>> inputs(rows.inputs.begin(), rows.inputs.end());
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
        expect(own.off_support[i] == 0, "a row of the archive is off support");
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
    Archive archive;
    for (std::size_t k = 0; k < rows.inputs.size(); ++k) {
        archive.input_names.push_back(fmt::format("x{}", k));
        archive.inputs.emplace_back(rows.inputs[k]);
    }
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
    if (rows.impute) archive.recalibrate_groups = archive.groups;
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
            check_reload(result, rows, options.mean == "none");
            const bool plain = result.model.family()->is_normal() && options.bias != "network";
            if (options.recalibrate == "none" && plain) check_verification(result, rows);
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
