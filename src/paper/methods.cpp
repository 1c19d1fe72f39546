#include "paper/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "accrue/fit.hpp"
#include "accrue/recalibrated.hpp"
#include "accrue/scores.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "fields/average.hpp"
#include "fit/train.hpp"

namespace accrue::paper {

namespace {

constexpr std::size_t kPapersStarts = 5;
constexpr double kValidationShare = 0.2;

Figures figures_of(const Verification& v) {
    return {v.crps, v.calibration_error, v.sd_z};
}
Figures score_gaussian(const Experiment& e, const std::vector<double>& sigmas) {
    return figures_of(verify(e.test_errors, sigmas));
}

// Sigmas of the Gaussians that the family recalibrates.
Figures score_family(const Experiment& e, std::vector<double> sigmas, const SharedFamily& family) {
    std::vector<double> errors = e.test_errors;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        errors[i] -= family->mean({}) * sigmas[i];
        sigmas[i] *= family->sd({});
    }
    return figures_of(verify(errors, sigmas, Families{{family}}));
}

std::vector<double> predictions(const ExperimentRows& rows, const std::vector<double>& errors) {
    std::vector<double> mean = rows.y;
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] -= errors[i];
    return mean;
}

Figures score_model(const Experiment& e, const Model& model, bool mean_is_input = false) {
    const std::vector<double> mean = predictions(e.test, e.test_errors);
    std::vector<std::span<const double>> inputs = e.test.spans();
    if (mean_is_input) inputs.emplace_back(mean);
    const Forecast forecast = model.forecast(inputs, mean);
    std::vector<double> errors = e.test.y;
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= forecast.mean[i];
    return figures_of(verify(errors, forecast.sigma, forecast.families()));
}

// The training rows of the paper's recipe in random order, errors in units of their root mean square: the last fifth
// validates.
struct Arranged {
    ExperimentRows rows;
    std::vector<double> errors;
    double unit = 1;
    std::vector<fields::Range> ranges;
    fitting::Rows view;
    fitting::Division division{};

    explicit Arranged(const Experiment& e) {
        std::vector<std::size_t> order(e.training.count());
        std::iota(order.begin(), order.end(), std::size_t{0});
        core::Random(e.seed, 11).shuffle(std::span(order));
        rows = e.training.some(order);
        double square = 0;
        for (const std::size_t i : order) {
            errors.push_back(e.training_errors[i]);
            square += errors.back() * errors.back();
        }
        unit = std::sqrt(square / static_cast<double>(errors.size()));
        for (double& error : errors) error /= unit;
        for (const auto& column : rows.spans()) {
            const auto [low, high] = std::minmax_element(column.begin(), column.end());
            ranges.push_back({*low, *high});
        }
        view = {rows.columns(), errors, {}, ranges};
        const std::size_t n = rows.count();
        division = {n - static_cast<std::size_t>(std::lround(kValidationShare * static_cast<double>(n))), n, n};
    }

    std::vector<double> sigma_of(const fields::Fitted& member, const ExperimentRows& at) const {
        std::vector<double> values(at.count());
        fields::average(std::span(&member, 1), std::span(&fields::kLogSigmaBounds, 1), at.columns(), 0, at.count(),
                        values.data(), 0);
        for (double& value : values) value = unit * std::exp(value);
        return values;
    }
};

// The best of some starts by validation cost.
fields::Fitted best_start(const Arranged& a, const std::string& score, std::uint64_t seed) {
    const fitting::Score cost{fitting::score_kind(score), balanced_beta(a.errors)};
    const fitting::TrainOptions options{&fields::kind("network"), {normal_family().get()}, 10, 400};
    std::vector<fitting::Trained> trained(kPapersStarts);
    core::for_blocks(kPapersStarts, 1, [&](std::size_t start, std::size_t, std::size_t) {
        core::Random random(seed, 100 + start);
        trained[start] =
            fitting::train(a.view, a.division, cost, options, random, [](int, double) { return true; }).front();
    });
    return std::min_element(
               trained.begin(), trained.end(),
               [](const auto& x, const auto& y) { return x.outcome.validation_cost < y.outcome.validation_cost; })
        ->member;
}

Figures paper_recipe(const Experiment& e, const std::string& score) {
    const Arranged a(e);
    return score_gaussian(e, a.sigma_of(best_start(a, score, e.seed), e.test));
}

// AR, then its probabilities mapped to what the training rows showed.
Figures recalibrated(const Experiment& e) {
    const Arranged a(e);
    const fields::Fitted member = best_start(a, "ar", e.seed);
    std::vector<double> scores = a.sigma_of(member, e.training);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = e.training_errors[i] / scores[i];
    return score_family(e, a.sigma_of(member, e.test), Recalibrated::fitted(scores));
}

enum class Choice { test_calibration, validation };

// One to ten clusters. The paper takes the number that is best calibrated on the test rows.
Figures clusters(const Experiment& e, Choice choice) {
    const Arranged a(e);
    core::Random random(e.seed, 200);
    const fitting::Score cost{fitting::score_kind("ar"), balanced_beta(a.errors)};
    const std::vector<fitting::Trained> all =
        fitting::train(a.view, a.division, cost, {&fields::kind("clusters"), {normal_family().get()}, 0, 0}, random,
                       [](int, double) { return true; });
    if (choice == Choice::validation) {
        const auto best = std::min_element(all.begin(), all.end(), [](const auto& x, const auto& y) {
            return x.outcome.validation_cost < y.outcome.validation_cost;
        });
        return score_gaussian(e, a.sigma_of(best->member, e.test));
    }
    Figures best;
    for (const fitting::Trained& trained : all) {
        const Figures own = score_gaussian(e, a.sigma_of(trained.member, e.test));
        if (&trained == &all.front() || own.calibration_error < best.calibration_error) best = own;
    }
    return best;
}

Figures constant(const Experiment& e) {
    return score_gaussian(e, std::vector<double>(e.test.count(), best_constant_sigma(e.training_errors)));
}

Archive archive_of(const Experiment& e) {
    Archive archive;
    archive.inputs = e.training.spans();
    for (std::size_t k = 0; k < archive.inputs.size(); ++k) archive.input_names.push_back(fmt::format("x{}", k + 1));
    archive.errors = e.training_errors;
    return archive;
}

// Sigma around the mean.
Figures default_recipe(const Experiment& e, const std::string& recalibrate) {
    FitOptions options;
    options.family = normal_family()->name();
    options.bias = "none";
    options.recalibrate = recalibrate;
    options.seed = e.seed;
    return score_model(e, fit(archive_of(e), options).model);
}

// What `accrue fit` does with a table of inputs, predictions and observations: the prediction is an input too.
Figures by_default(const Experiment& e, const std::string& recalibrate) {
    Archive archive = archive_of(e);
    const std::vector<double> mean = predictions(e.training, e.training_errors);
    archive.prediction = mean;
    archive.inputs.emplace_back(mean);
    archive.input_names.emplace_back("mean");
    FitOptions options;
    options.recalibrate = recalibrate;
    options.seed = e.seed;
    return score_model(e, fit(archive, options).model, true);
}

}  // namespace

const std::vector<Method>& methods() {
    static const std::vector<Method> all = {
        {"constant", "constant sigma", true, true, constant},
        {"crps", "CRPS only", true, true, [](const Experiment& e) { return paper_recipe(e, "crps"); }},
        {"nlpd", "NLPD only", true, true, [](const Experiment& e) { return paper_recipe(e, "nlpd"); }},
        {"recal", "RECAL", true, true, recalibrated},
        {"km_test", "KM, k by the test rows", true, true,
         [](const Experiment& e) { return clusters(e, Choice::test_calibration); }},
        {"km", "KM, k by validation", true, true, [](const Experiment& e) { return clusters(e, Choice::validation); }},
        {"ar_paper", "AR, paper recipe", true, true, [](const Experiment& e) { return paper_recipe(e, "ar"); }},
        {"ar_default", "AR, default recipe", true, true, [](const Experiment& e) { return default_recipe(e, "none"); }},
        {"ar_isotonic", "AR, default, isotonic", false, true,
         [](const Experiment& e) { return default_recipe(e, "isotonic"); }},
        {"default", "all defaults", false, true,
         [](const Experiment& e) { return by_default(e, FitOptions().recalibrate); }},
        {"default_plain", "all defaults, no map", false, true,
         [](const Experiment& e) { return by_default(e, "none"); }},
    };
    return all;
}

}  // namespace accrue::paper
