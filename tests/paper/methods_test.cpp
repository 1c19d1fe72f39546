// The compared methods on made-up rows whose sigma is known.
#include "paper/methods.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "accrue/scores.hpp"
#include "core/random.hpp"

namespace accrue::paper {
namespace {

// Two inputs, of which the first sets sigma between 0.3 and 3.
ExperimentRows some_inputs(std::size_t n, core::Random& random) {
    ExperimentRows rows{2, {}, std::vector<double>(n, 0.0)};
    for (std::size_t i = 0; i < 2 * n; ++i) rows.x.push_back(random.uniform(-1.7, 1.7));
    return rows;
}
double true_sigma(double x) {
    return std::exp(0.68 * x);
}

Experiment some_experiment(std::size_t training, std::size_t test, std::uint64_t seed) {
    core::Random random(seed);
    Experiment e;
    e.seed = seed;
    e.training = some_inputs(training, random);
    e.test = some_inputs(test, random);
    // The mean is the second input, and knows nothing of the errors.
    const auto add_errors = [&](ExperimentRows& rows, std::vector<double>& errors) {
        for (std::size_t i = 0; i < rows.count(); ++i) {
            errors.push_back(true_sigma(rows.x[i]) * random.normal());
            rows.y[i] = rows.x[rows.count() + i] + errors[i];
        }
    };
    add_errors(e.training, e.training_errors);
    add_errors(e.test, e.test_errors);
    return e;
}

TEST(Methods, OrderAsTheyShould) {
    const Experiment e = some_experiment(1500, 4000, 1);
    std::vector<double> truth;
    for (std::size_t i = 0; i < e.test.count(); ++i) truth.push_back(true_sigma(e.test.x[i]));
    const double best = mean_crps(e.test_errors, truth);
    std::map<std::string, Figures> of;
    for (const Method& method : methods()) of[method.id] = method.score(e);

    for (const auto& [id, figures] : of) {
        EXPECT_GT(figures.crps, 0.999 * best) << id;  // nothing beats the truth
        EXPECT_GT(figures.sd_z, 0.8) << id;
        EXPECT_LT(figures.sd_z, 1.4) << id;
    }
    // What follows sigma is much better than what does not, and clusters lie between.
    for (const char* id : {"crps", "nlpd", "ar_paper", "ar_default", "recal", "ar_isotonic", "default"})
        EXPECT_LT(of[id].crps, 1.02 * best) << id;
    EXPECT_GT(of["constant"].crps, 1.08 * best);
    EXPECT_LT(of["km"].crps, of["constant"].crps);
    EXPECT_GT(of["km"].crps, of["ar_default"].crps);
    // Looking at the test rows can only help the calibration there.
    EXPECT_LE(of["km_test"].calibration_error, of["km"].calibration_error);
    EXPECT_LT(of["ar_default"].calibration_error, 0.04);
}

TEST(Methods, AreTheSameTwice) {
    const Experiment e = some_experiment(200, 100, 2);
    for (const Method& method : methods()) {
        const Figures first = method.score(e);
        const Figures second = method.score(e);
        EXPECT_EQ(first.crps, second.crps) << method.id;
        EXPECT_EQ(first.calibration_error, second.calibration_error) << method.id;
    }
}

}  // namespace
}  // namespace accrue::paper
