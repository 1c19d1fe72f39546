#include "fields/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "accrue/error.hpp"
#include "fields/target_rows.hpp"
#include "support/gradient.hpp"
#include "support/threads.hpp"

namespace accrue::fields {
namespace {

double plain_kernel(const LogHyperparameters& logs, const TargetRows& rows, std::size_t a, std::size_t b) {
    const std::size_t lengths = logs.size() - 2;
    double sum = 0;
    for (std::size_t k = 0; k < rows.inputs; ++k) {
        const double difference = rows.x[k * rows.rows + a] - rows.x[k * rows.rows + b];
        sum += difference * difference / std::exp(2 * logs[lengths == 1 ? 0 : k]);
    }
    return std::exp(2 * logs[lengths] - sum / 2);
}

struct PlainSolution {
    std::vector<double> alpha;
    double log_determinant = 0;
};

// K alpha = y by plain elimination, which also gives the determinant; K is symmetric and positive.
PlainSolution plain_solution(const LogHyperparameters& logs, const TargetRows& rows) {
    const std::size_t n = rows.rows;
    std::vector<std::vector<double>> k(n, std::vector<double>(n));
    double mean_weight = 0;
    for (std::size_t i = 0; i < n; ++i) mean_weight += rows.targets().weight(i) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            k[i][j] = plain_kernel(logs, rows, i, j);
            // 1e-8 keeps repeated rows apart.
            if (i == j) k[i][j] += std::exp(2 * logs.back()) * mean_weight / rows.targets().weight(i) + 1e-8;
        }
    PlainSolution solution{rows.y, 0};
    std::vector<double>& y = solution.alpha;
    for (std::size_t c = 0; c < n; ++c) {
        solution.log_determinant += std::log(k[c][c]);
        for (std::size_t r = c + 1; r < n; ++r) {
            const double factor = k[r][c] / k[c][c];
            for (std::size_t j = c; j < n; ++j) k[r][j] -= factor * k[c][j];
            y[r] -= factor * y[c];
        }
    }
    for (std::size_t c = n; c-- > 0;) {
        for (std::size_t j = c + 1; j < n; ++j) y[c] -= k[c][j] * y[j];
        y[c] /= k[c][c];
    }
    return solution;
}

const LogHyperparameters& logs_of(const Fitted& fitted) {
    return dynamic_cast<const GaussianProcess&>(*fitted.field).log_hyperparameters();
}

Fitted fitted_process(const LogHyperparameters& logs, const MarginalLikelihood& likelihood, std::size_t inputs) {
    return {std::make_shared<GaussianProcess>(inputs, logs, likelihood.points()),
            {likelihood.alpha().begin(), likelihood.alpha().end()}};
}

std::vector<double> predictions(const Fitted& fitted, const TargetRows& rows) {
    return average_of_all(std::span(&fitted, 1), rows.columns(), rows.rows);
}

TEST(GaussianProcess, LikelihoodAndPosteriorAreThoseOfTheDirectFormula) {
    for (const std::size_t n : {1, 2, 3, 63, 64, 65, 150})
        for (const bool weighted : {false, true}) {
            TargetRows rows(n, 2, 300);
            if (weighted) rows.set_random_weights(301);
            const LogHyperparameters logs = {0.1, -0.4, 0.2, -0.9};
            MarginalLikelihood likelihood(rows.targets(), row_numbers(0, n));
            double value = 0;
            ASSERT_TRUE(likelihood(logs, value, {}));
            const PlainSolution plain = plain_solution(logs, rows);
            double product = 0;
            for (std::size_t i = 0; i < n; ++i) product += rows.y[i] * plain.alpha[i];
            const double expected =
                (product + plain.log_determinant) / 2 / static_cast<double>(n) + std::log(2 * std::numbers::pi) / 2;
            // The matrix has a condition of about 1e4: that many times rounding.
            EXPECT_NEAR(value, expected, 1e-11);
            for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(likelihood.alpha()[i], plain.alpha[i], 1e-10);

            const Fitted process = fitted_process(logs, likelihood, rows.inputs);
            const std::vector<double> out = predictions(process, rows);
            for (std::size_t i = 0; i < n; ++i) {
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) sum += plain.alpha[j] * plain_kernel(logs, rows, i, j);
                EXPECT_NEAR(out[i], sum, 1e-10);
            }
        }
}

TEST(GaussianProcess, GradientAgreesWithCentralDifferences) {
    for (const std::size_t inputs : {1, 3})
        for (const bool each : {false, true})
            for (const std::size_t n : {2, 40, 130}) {
                TargetRows rows(n, inputs, 302);
                rows.set_random_weights(303);
                LogHyperparameters at(each ? inputs : 1, -0.2);
                at[0] = 0.3;
                at.push_back(0.4);
                at.push_back(-0.8);
                MarginalLikelihood likelihood(rows.targets(), row_numbers(0, n));
                std::vector<double> gradient(at.size());
                double value = 0;
                ASSERT_TRUE(likelihood(at, value, gradient));
                const auto only_value = [&](std::span<const double> logs) {
                    double own = 0;
                    EXPECT_TRUE(likelihood(logs, own, {}));
                    return own;
                };
                // A step of 1e-3 leaves out terms of about 1e-12; rounding, times the condition of the matrix, stays
                // below 1e-12/1e-3.
                support::expect_gradient(only_value, gradient, at, 1e-7, {.relative = 1e-3, .least = 1});
            }
}

// Targets drawn from a process with these hyperparameters: f is a sum of random waves, whose covariance is the kernel.
TargetRows drawn_from_a_process(std::size_t n, double length, double signal, double noise, std::uint64_t seed) {
    TargetRows rows(n, 1, seed);
    core::Random random(seed, 1);
    for (double& x : rows.x) x = random.uniform(-1.7, 1.7);
    constexpr int kWaves = 2000;
    std::fill(rows.y.begin(), rows.y.end(), 0.0);
    for (int w = 0; w < kWaves; ++w) {
        const double frequency = random.normal() / length;
        const double phase = random.uniform(0, 2 * std::numbers::pi);
        for (std::size_t i = 0; i < n; ++i)
            rows.y[i] += signal * std::sqrt(2.0 / kWaves) * std::cos(frequency * rows.x[i] + phase);
    }
    for (double& y : rows.y) y += noise * random.normal();
    return rows;
}

TEST(GaussianProcess, FindsTheHyperparametersOfItsOwnDraws) {
    // 10 draws of 300 rows. Over 60 other draws the logs had sds of 0.11, 0.24, 0.04 and biases of at most 0.02: the
    // bounds on the means of 10 lie at four standard errors beyond that, a false alarm in 1 of 5,000.
    constexpr int kDraws = 10;
    double length = 0;
    double signal = 0;
    double noise = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
        const TargetRows rows = drawn_from_a_process(300, 0.3, 1, 0.2, 310 + static_cast<std::uint64_t>(draw));
        core::Random random(304);
        ProcessOptions options;
        options.starts = 2;
        const auto logs = logs_of(fit_gaussian_process(rows.targets(), row_numbers(0, 300), random, options));
        length += (logs.at(0) - std::log(0.3)) / kDraws;
        signal += logs.at(1) / kDraws;
        noise += (logs.at(2) - std::log(0.2)) / kDraws;
    }
    EXPECT_NEAR(length, 0, 0.16);
    EXPECT_NEAR(signal, 0, 0.32);
    EXPECT_NEAR(noise, 0, 0.06);
}

TEST(GaussianProcess, AnInputThatDoesNotMatterGetsAGreatLength) {
    const TargetRows rows(150, 2, 305);  // the target depends on the first input alone
    core::Random random(306);
    const auto process = fit_gaussian_process(rows.targets(), row_numbers(0, 150), random);
    EXPECT_LT(logs_of(process)[0], 1);
    EXPECT_GT(logs_of(process)[1], 2);
}

TEST(GaussianProcess, RepeatedRowsAndConstantTargetsSurvive) {
    for (const std::size_t n : {1, 2, 3, 30})
        for (const double y : {0.0, 0.5, 5.0}) {
            TargetRows rows(n, 2, 307);
            std::fill(rows.y.begin(), rows.y.end(), y);
            core::Random random(308);
            const auto process = fit_gaussian_process(rows.targets(), row_numbers(0, n), random);
            // At the rows themselves: the noise explains none of a target that never changes, where rows are many.
            const double tolerance = n == 30 ? 1e-3 : y + 1e-12;
            for (const double out : predictions(process, rows)) EXPECT_NEAR(out, y, tolerance) << n << " rows";
        }
    TargetRows rows(60, 2, 309);
    for (std::size_t i = 1; i < 60; ++i) rows.copy_row(i / 10 * 10, i);  // ten copies of six rows, noise and all
    core::Random random(310);
    const auto process = fit_gaussian_process(rows.targets(), row_numbers(0, 60), random);
    const std::vector<double> out = predictions(process, rows);
    for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(out[i], rows.y[i], 0.01);
}

TEST(GaussianProcess, AWholeWeightIsARepeatedRow) {
    // Ten rows, of which the first is there three times or weighs three. The noise of equal weights is relative to
    // their mean, 12/10.
    TargetRows weighted(10, 1, 311);
    weighted.weights.assign(10, 1.0);
    weighted.weights[0] = 3;
    TargetRows repeated(12, 1, 311);
    for (std::size_t i = 0; i < 12; ++i) {
        repeated.x[i] = weighted.x[i < 10 ? i : 0];
        repeated.y[i] = weighted.y[i < 10 ? i : 0];
    }
    const LogHyperparameters logs = {-0.3, 0.1, -0.7};
    LogHyperparameters scaled = logs;
    scaled[2] -= std::log(1.2) / 2;
    const auto posterior = [&](const TargetRows& rows, const LogHyperparameters& own) {
        MarginalLikelihood likelihood(rows.targets(), row_numbers(0, rows.rows));
        double value = 0;
        EXPECT_TRUE(likelihood(own, value, {}));
        const Fitted process = fitted_process(own, likelihood, rows.inputs);
        return predictions(process, weighted);
    };
    const std::vector<double> a = posterior(weighted, scaled);
    const std::vector<double> b = posterior(repeated, logs);
    // But for the 1e-8 on the diagonal, which is not shared out over copies.
    for (std::size_t i = 0; i < 10; ++i) EXPECT_NEAR(a[i], b[i], 1e-7);
}

TEST(GaussianProcess, ARowWithoutWeightIsNotThere) {
    TargetRows rows(40, 1, 312);
    rows.weights.assign(40, 1.0);
    std::fill(rows.weights.begin() + 30, rows.weights.end(), 0.0);
    std::fill(rows.y.begin() + 30, rows.y.end(), 1e6);
    core::Random first(313);
    core::Random second(313);
    EXPECT_TRUE(
        support::same_bytes(predictions(fit_gaussian_process(rows.targets(), row_numbers(0, 40), first), rows),
                            predictions(fit_gaussian_process(rows.targets(), row_numbers(0, 30), second), rows)));
    EXPECT_THROW(fit_gaussian_process(rows.targets(), row_numbers(30, 40), first), InputError);
    // Not even among the few that starts are tried on.
    std::fill(rows.weights.begin() + 3, rows.weights.end(), 0.0);
    ProcessOptions few;
    few.rows_for_starts = 2;
    EXPECT_NO_THROW(fit_gaussian_process(rows.targets(), row_numbers(0, 40), first, few));
}

TEST(GaussianProcess, ManyRowsAreStartedOnSomeOfThem) {
    const TargetRows rows = drawn_from_a_process(300, 0.5, 1, 0.3, 314);
    ProcessOptions some;
    some.rows_for_starts = 100;
    core::Random first(315);
    core::Random second(315);
    const auto quick = logs_of(fit_gaussian_process(rows.targets(), row_numbers(0, 300), first, some));
    const auto slow = logs_of(fit_gaussian_process(rows.targets(), row_numbers(0, 300), second));
    // The same maximum by another way: descents end when the likelihood of a row changes by less than 1e-8 of itself,
    // or its slope is below 1e-6, where the hyperparameters are within some 1e-3.
    for (std::size_t i = 0; i < slow.size(); ++i) EXPECT_NEAR(quick[i], slow[i], 0.01);
}

TEST(GaussianProcess, TooManyRowsAreRefusedWithTheLimit) {
    const TargetRows rows(5001, 1, 316);
    core::Random random(317);
    try {
        fit_gaussian_process(rows.targets(), row_numbers(0, 5001), random);
        FAIL() << "no refusal";
    } catch (const InputError& error) {
        EXPECT_STREQ(
            error.what(),
            "a Gaussian process takes at most 5000 rows; there are 5001: take the network as the mean function");
    }
}

TEST(GaussianProcess, FarAwayItReturnsToZero) {
    const TargetRows rows(50, 1, 318);
    core::Random random(319);
    const auto process = fit_gaussian_process(rows.targets(), row_numbers(0, 50), random);
    const std::vector<double> x = {1e6, -1e300, 1e5};
    std::vector<double> out(3);
    process.values({x.data(), 3, 1}, 0, 3, out.data());
    for (const double value : out) EXPECT_NEAR(value, 0, 1e-290);
}

TEST(GaussianProcess, ResultsDoNotDependOnTheThreads) {
    const TargetRows rows(140, 2, 320);
    support::expect_same_for_any_threads([&] {
        core::Random random(321);
        ProcessOptions options;
        options.starts = 2;
        const auto process = fit_gaussian_process(rows.targets(), row_numbers(0, 140), random, options);
        std::vector<double> all = predictions(process, rows);
        all.insert(all.end(), logs_of(process).begin(), logs_of(process).end());
        return all;
    });
}

TEST(GaussianProcess, ARowIsPredictedTheSameWhereverItLies) {
    const TargetRows rows(300, 2, 322);
    core::Random random(323);
    const auto process = fit_gaussian_process(rows.targets(), row_numbers(0, 40), random);
    const std::vector<double> all = predictions(process, rows);
    for (const std::size_t begin : {1, 63, 64, 200}) {
        std::vector<double> some(300 - begin);
        process.values(rows.columns(), begin, 300, some.data());
        EXPECT_TRUE(support::same_bytes(some, {all.begin() + static_cast<std::ptrdiff_t>(begin), all.end()}));
    }
}

}  // namespace
}  // namespace accrue::fields
