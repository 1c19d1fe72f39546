// Fits of observations that have bounds.
#include <gtest/gtest.h>

#include <cmath>

#include "accrue/bounded.hpp"
#include "accrue/error.hpp"
#include "accrue/fit.hpp"
#include "core/random.hpp"
#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using Kind = Bounded::Kind;

// y = mu + (0.3 + x) * normal, kept above 0 by either kind of bound, and below `upper`.
struct Bent {
    std::vector<double> x, prediction, observation, errors;

    Bent(std::size_t rows, Kind kind, double upper = 1e9, std::uint64_t seed = 1) {
        core::Random random(seed);
        while (x.size() < rows) {
            const double at = random.uniform();
            const double mu = 2 * random.uniform();
            double y = mu + (0.3 + at) * random.normal();
            if (kind == Kind::truncated && (y < 0 || y > upper)) continue;
            y = std::clamp(y, 0.0, upper);
            x.push_back(at);
            prediction.push_back(mu);
            observation.push_back(y);
            errors.push_back(y - mu);
        }
    }
    Archive archive() const {
        Archive own;
        own.inputs = {x};
        own.input_names = {"x"};
        own.errors = errors;
        own.prediction = prediction;
        own.roles.prediction = "mu";
        own.roles.observation = "y";
        return own;
    }
};

FitOptions quick(double lower) {
    FitOptions options;
    options.lower = lower;
    options.folds = 3;
    options.starts = 1;
    return options;
}

const Bounded& bounded(const FitResult& fit) {
    return dynamic_cast<const Bounded&>(*fit.model.family());
}

bool says(const FitResult& fit, const std::string& words) {
    for (const Message& remark : fit.verdict.remarks)
        if (remark.text().find(words) != std::string::npos) return true;
    return false;
}

TEST(FitBounds, FindTheKindAndAreCalibrated) {
    for (const auto& [kind, family] : {std::pair{Kind::censored, "normal"}, std::pair{Kind::censored, "sinh-arcsinh"},
                                       std::pair{Kind::truncated, "normal"}}) {
        SCOPED_TRACE(family);
        const Bent rows(800, kind);
        FitOptions options = quick(0);
        options.family = family;
        const FitResult fit = accrue::fit(rows.archive(), options);
        EXPECT_EQ(bounded(fit).kind(), kind);
        // The floor of so many rows is 2.6%.
        EXPECT_LT(fit.verification.calibration_error, 0.05);
        // An interval that ends on an atom holds all of it, so it covers more than its level, and never less by more
        // than chance: three standard errors are 3%.
        EXPECT_GT(fit.verification.coverage[1].observed, 0.87);
        EXPECT_LT(fit.verification.coverage[1].observed, kind == Kind::censored ? 0.97 : 0.93);
        FitOptions without = options;
        without.lower.reset();
        const FitResult plain = accrue::fit(rows.archive(), without);
        EXPECT_LT(fit.verification.crps, plain.verification.crps);
        EXPECT_TRUE(says(plain, "--lower 0")) << "the fit names the bound";
        EXPECT_FALSE(says(fit, "--lower"));
    }
}

TEST(FitBounds, ForecastsKeepThem) {
    const Bent rows(600, Kind::censored, 2.5);
    FitOptions options = quick(0);
    options.upper = 2.5;
    for (const char* map : {"none", "isotonic"}) {
        SCOPED_TRACE(map);
        options.recalibrate = map;
        const Model fitted = accrue::fit(rows.archive(), options).model;
        const Model model = Model::parse(fitted.text());
        EXPECT_EQ(model.text(), fitted.text());
        const std::vector<std::span<const double>> inputs = {rows.x};
        const Forecast forecast = model.forecast(inputs, rows.prediction);
        std::size_t on_lower = 0, on_upper = 0;
        for (std::size_t i = 0; i < 200; ++i) {
            const Distribution row = forecast.row(i);
            EXPECT_GE(row.mean, 0);
            EXPECT_LE(row.mean, 2.5);
            // An atom has all quantiles up to its probability, and is not exceeded by itself.
            const double low = row.quantile(0.001);
            EXPECT_GE(low, 0);
            on_lower += low == 0 ? 1 : 0;
            on_upper += row.quantile(0.999) == 2.5 ? 1 : 0;
            EXPECT_EQ(row.cdf(-1e-6), 0);
            EXPECT_EQ(row.cdf(2.5), 1);
            EXPECT_NEAR(row.cdf(0) + row.exceeding(0), 1, 1e-12);
            EXPECT_GT(row.cdf(0), low == 0 ? 0.001 : 0);
            for (const double draw : row.sample(20, i)) EXPECT_TRUE(draw >= 0 && draw <= 2.5) << draw;
            const Distribution::Interval interval = row.interval(0.9);
            EXPECT_TRUE(interval.low >= 0 && interval.high <= 2.5);
        }
        EXPECT_GT(on_lower, 50U);
        EXPECT_GT(on_upper, 20U);
    }
}

TEST(FitBounds, GiveTheSameBytesForAnyThreads) {
    const Bent rows(300, Kind::censored);
    FitOptions options = quick(0);
    options.family = "sinh-arcsinh";
    options.bias = "network";
    options.max_iterations = 5;
    support::expect_same_for_any_threads([&] { return accrue::fit(rows.archive(), options).model.text(); });
}

TEST(FitBounds, AreRefusedWhereTheyMakeNoSense) {
    const Bent rows(100, Kind::censored);
    const auto said = [&](const FitOptions& options, const Archive& archive) {
        return support::refusal([&] { accrue::fit(archive, options); });
    };
    FitOptions options = quick(0.1);
    Bent broken = rows;
    broken.observation[41] = 0.05;
    for (std::size_t i = 0; i < 100; ++i) {
        if (i != 41) broken.observation[i] = std::max(broken.observation[i], 0.2);
        broken.errors[i] = broken.observation[i] - broken.prediction[i];
    }
    const std::string of_row = said(options, broken.archive());
    EXPECT_TRUE(of_row.starts_with("the observation of row 42 is 0.05")) << of_row;
    EXPECT_TRUE(of_row.ends_with("but --lower is 0.1")) << of_row;
    options = quick(0);
    options.upper = 0;
    EXPECT_EQ(said(options, rows.archive()), "--lower is 0, but must be below --upper, which is 0");
    options = quick(0);
    Archive errors_alone = rows.archive();
    errors_alone.prediction = {};
    errors_alone.roles.prediction = "";
    EXPECT_NE(said(options, errors_alone).find("errors alone do not tell it"), std::string::npos);
    options = {};
    options.bound_kind = "censored";
    EXPECT_NE(said(options, rows.archive()).find("needs a bound"), std::string::npos);
}

// Of 100 observations `count` are on the bound, and the others beyond it.
Bent on_a_bound(std::size_t count, double bound, double others) {
    Bent rows(100, Kind::truncated);
    for (std::size_t i = 0; i < rows.x.size(); ++i) {
        rows.observation[i] = i < count ? bound : others + 0.1 * std::sin(static_cast<double>(i));
        rows.prediction[i] = rows.observation[i] + 0.5 * std::cos(static_cast<double>(i));
        rows.errors[i] = rows.observation[i] - rows.prediction[i];
    }
    return rows;
}

TEST(FitBounds, TruncatedOnesAreRefusedWhereManyObservationsSitOnThem) {
    FitOptions options = quick(0);
    options.max_iterations = 5;
    options.bound_kind = "truncated";
    const auto said = [&](std::size_t count, double bound, double others) {
        return support::refusal([&] { accrue::fit(on_a_bound(count, bound, others).archive(), options); });
    };
    EXPECT_EQ(said(50, 0, 1),
              "50 of 100 observations are 0, which is --lower, and --bound-kind truncated gives that no probability: "
              "use --bound-kind censored");
    options.upper = 2;
    EXPECT_EQ(said(20, 2, 1),
              "20 of 100 observations are 2, which is --upper, and --bound-kind truncated gives that no probability: "
              "use --bound-kind censored");
    EXPECT_EQ(said(19, 2, 1), "no refusal") << "fewer may have been rounded";
    options.bound_kind = "auto";
    EXPECT_EQ(said(50, 0, 1), "no refusal");
}

TEST(FitBounds, TruncatedOnesAreMentionedWhereSomeObservationsSitOnThem) {
    Bent rows(300, Kind::truncated);
    for (std::size_t i = 0; i < 300; i += 10) {
        rows.observation[i] = 0;
        rows.errors[i] = -rows.prediction[i];
    }
    FitOptions options = quick(0);
    options.max_iterations = 5;
    options.bound_kind = "truncated";
    const std::string words = "10.0% of the observations are 0, which is --lower, and a truncated forecast";
    EXPECT_TRUE(says(accrue::fit(rows.archive(), options), words));
    options.bound_kind = "censored";
    EXPECT_FALSE(says(accrue::fit(rows.archive(), options), words));
}

TEST(FitBounds, AtomsElsewhereAreMentioned) {
    Bent rows(300, Kind::truncated);
    for (std::size_t i = 0; i < 300; i += 4) rows.errors[i] = 1 - rows.prediction[i];
    FitOptions options = quick(0);
    options.max_iterations = 5;
    const FitResult fit = accrue::fit(rows.archive(), options);
    EXPECT_TRUE(says(fit, "25% of the observations are 1: "));
}

}  // namespace
}  // namespace accrue
