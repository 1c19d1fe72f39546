// Forecasts scored in memory and in files: the same figures.
#include "accrue/evaluate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "accrue/predict.hpp"
#include "data/temporary_folder.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

using support::refusal;
using Numbers = std::vector<double>;

class Evaluations : public testing::Test {
protected:
    Evaluations() {
        core::Random random(5);
        std::string text = "x,mu,y,e,sd,w,site\n";
        for (int i = 0; i < 300; ++i) {
            x.push_back(random.uniform(-0.5, 0.5));
            mu.push_back(random.normal());
            sd.push_back(std::exp(x.back()));
            y.push_back(mu.back() + 0.25 + sd.back() * random.normal());
            e.push_back(y.back() - mu.back());
            w.push_back(1 + i % 3);
            codes.push_back(static_cast<std::uint32_t>(i % 2));
            text += fmt::format("{},{},{},{},{},{},{}\n", x.back(), mu.back(), y.back(), e.back(), sd.back(), w.back(),
                                labels[codes.back()]);
        }
        file = folder.file("rows.csv", text);
    }

    // A model of half of the range of x, in a file.
    Model model(const std::string& name, const FitOptions& options, bool learns_mean = false) const {
        support::Rows half;
        half.inputs.resize(1);
        Numbers observation;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (x[i] > 0) continue;
            half.inputs[0].push_back(x[i]);
            observation.push_back(y[i]);
            if (learns_mean) continue;
            half.errors.push_back(e[i]);
            half.prediction.push_back(mu[i]);
        }
        Archive archive = half.archive();
        archive.input_names = {"x"};
        if (learns_mean) archive.observation = observation;
        const Model fitted = fit(archive, options).model;
        fitted.save(folder.path(name));
        return fitted;
    }
    static FitOptions options(const char* bias, const char* recalibrate) {
        FitOptions chosen;
        chosen.form = "polynomial";
        chosen.bias = bias;
        chosen.recalibrate = recalibrate;
        return chosen;
    }

    Archive pairs() const {
        Archive rows;
        rows.observation = y;
        rows.prediction = mu;
        rows.weights = w;
        rows.groups = {codes, labels};
        rows.by = {{"site", {codes, labels}}};
        rows.roles.observation = "y";
        rows.roles.prediction = "mu";
        rows.roles.weight = "w";
        rows.roles.group = "site";
        return rows;
    }
    RowSource source(const Roles& roles) const {
        RowSource from;
        from.files = {file};
        from.roles = roles;
        from.by = {"site"};
        return from;
    }
    static std::string scores(const Evaluation& evaluation) {
        const Archive& rows = evaluation.rows.archive;
        return scores_json(evaluation.forecasts, rows.weights, rows.groups, 0).dump();
    }

    test::TemporaryFolder folder;
    std::string file;
    Numbers x, mu, y, e, sd, w;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels = {"a", "b"};
};

TEST_F(Evaluations, AreTheSameInMemoryAndInFiles) {
    const Model biased = model("biased.json", options("linear", "none"));
    const Model shaped = model("shaped.json", options("none", "isotonic"));
    const std::vector<FileForecast> in_file = {
        {folder.path("biased.json"), true}, {"sd", false}, {folder.path("shaped.json"), true}};
    const std::vector<RowForecast> in_memory = {
        {in_file[0].name, &biased, {x}}, {"sd", nullptr, {}, sd}, {in_file[2].name, &shaped, {x}}};
    EvaluateOptions options;
    options.draw = true;
    const Evaluation read = evaluate(source(pairs().roles), in_file, options);
    const Evaluation given = evaluate(pairs(), in_memory, options);
    EXPECT_EQ(scores(read), scores(given));
    ASSERT_EQ(read.forecasts.size(), 3U);
    // What is left of the errors is about the mean of each forecast.
    for (const Evaluation* evaluation : {&read, &given})
        for (const ReportForecast& forecast : evaluation->forecasts)
            for (std::size_t i = 0; i < y.size(); ++i)
                ASSERT_NEAR(forecast.errors[i] + forecast.means[i], y[i], 1e-14 * (1 + std::fabs(y[i])));
    EXPECT_NE(read.forecasts[0].errors[0], read.forecasts[1].errors[0]);
    // Of what may be drawn along: the inputs of the models.
    EXPECT_EQ(read.rows.archive.input_names, std::vector<std::string>{"x"});
}

TEST_F(Evaluations, OfEnsemblesAndQuantilesAreTheSameInMemoryAndInFiles) {
    const Model biased = model("biased.json", options("linear", "none"));
    const std::vector<FileForecast> in_file = {{folder.path("biased.json"), true},
                                               {"sd"},
                                               {"ensemble", false, {"mu", "x", "e"}},
                                               {"quantiles", false, {}, {"mu", "mu + sd"}, {0.3, 0.8}}};
    Numbers upper;
    for (std::size_t i = 0; i < mu.size(); ++i) upper.push_back(mu[i] + sd[i]);
    std::vector<RowForecast> in_memory(4);
    in_memory[0] = {in_file[0].name, &biased, {x}};
    in_memory[1] = {"sd", nullptr, {}, sd};
    in_memory[2].name = "ensemble";
    in_memory[2].members = {mu, x, e};
    in_memory[3].name = "quantiles";
    in_memory[3].quantiles = {mu, upper};
    in_memory[3].quantile_levels = {0.3, 0.8};
    EvaluateOptions asked;
    asked.exceed = {0, 1};
    asked.quantile_scores = {0.1};
    asked.decompose = true;
    asked.baselines = baseline_names();
    const Evaluation read = evaluate(source(pairs().roles), in_file, asked);
    const Evaluation given = evaluate(pairs(), in_memory, asked);
    EXPECT_EQ(scores(read), scores(given));
    ASSERT_EQ(read.forecasts.size(), 7U);
    EXPECT_EQ(read.forecasts[2].verification.by[0].values.size(), 2U);
    // Where the model has a mean of its own, thresholds are seen from there.
    const ScoreParts& parts = *read.forecasts[0].details.crps_parts;
    EXPECT_NEAR(parts.score, read.forecasts[0].verification.crps, 1e-12);
}

TEST_F(Evaluations, ReportsDrawEnsemblesAndShowTheScoresOfQuantiles) {
    const Model biased = model("biased.json", options("linear", "none"));
    std::vector<RowForecast> forecasts(3);
    forecasts[0].name = "quantiles";
    forecasts[0].quantiles = {mu};
    forecasts[0].quantile_levels = {0.5};
    forecasts[1].name = "ensemble";
    forecasts[1].members = {mu, x, e};
    forecasts[2] = {"biased", &biased, {x}};
    EvaluateOptions asked;
    asked.conditional = true;
    asked.exceed = {0.5};
    asked.baselines = {"climatology"};
    const Evaluation judged = evaluate(pairs(), forecasts, asked);
    const auto data = report_data({}, judged.rows.archive, judged.forecasts);
    const auto& drawn = data.at("forecasts");
    const auto& scored = data.at("scores").at("forecasts");
    ASSERT_EQ(drawn.size(), 4U);
    for (const std::size_t alone : {0U, 3U}) {  // scores, and nothing that is drawn row by row
        for (const char* key : {"pit", "rows", "along_prediction", "spread_skill", "conditional"})
            EXPECT_TRUE(drawn[alone].at(key).is_null()) << key;
        EXPECT_TRUE(drawn[alone].at("inputs").empty());
        EXPECT_TRUE(drawn[alone].at("densities").empty());
        EXPECT_GT(scored[alone].at("crps").get<double>(), 0);
    }
    EXPECT_EQ(scored[0].at("quantile_scores")[0].at("level"), 0.5);
    const auto& ensemble = drawn[1];
    double share = 0;
    for (const auto& bar : ensemble.at("pit").at("share")) share += bar.get<double>();
    EXPECT_NEAR(share, 1, 1e-5);  // of seven digits each
    EXPECT_FALSE(ensemble.at("conditional").is_null());
    EXPECT_EQ(scored[1].at("rank_histogram").at("share").size(), 4U);
    EXPECT_EQ(scored[1].at("exceed")[0].at("threshold"), 0.5);
    EXPECT_FALSE(ensemble.at("along_prediction").at("x").empty());
    EXPECT_FALSE(drawn[2].at("densities").empty());
    // Each row with the mean and quantiles of its own members.
    const auto alone = report_data({}, judged.rows.archive, std::span(judged.forecasts).subspan(1, 1));
    const auto& rows = alone.at("forecasts")[0].at("rows");
    ASSERT_EQ(rows.at("mean").size(), mu.size());
    for (std::size_t i = 0; i < mu.size(); ++i) {
        std::vector<double> own = {mu[i], x[i], e[i]};
        std::sort(own.begin(), own.end());
        const double mean = (own[0] + own[1] + own[2]) / 3;
        EXPECT_NEAR(rows.at("mean")[i].get<double>(), mean, 1e-6 * std::fabs(mean) + 1e-12);
        EXPECT_NEAR(rows.at("q05")[i].get<double>(), own[0], 1e-6 * std::fabs(own[0]) + 1e-12);
        EXPECT_NEAR(rows.at("q25")[i].get<double>(), own[0], 1e-6 * std::fabs(own[0]) + 1e-12);  // of rank 1 of 0 to 4
        EXPECT_NEAR(rows.at("q95")[i].get<double>(), own[2], 1e-6 * std::fabs(own[2]) + 1e-12);
        EXPECT_NEAR(rows.at("observation")[i].get<double>(), mu[i] + e[i], 1e-5);
    }
}

TEST_F(Evaluations, CountRowsOffSupportByTheirWeight) {
    const Model half = model("half.json", options("none", "none"));
    double all = 0, outside = 0;
    const Forecast forecast = forecast_rows(half, std::vector<std::span<const double>>{x}, mu, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        all += w[i];
        outside += forecast.off_support[i] != 0 ? w[i] : 0;
    }
    const std::vector<RowForecast> forecasts = {{"half", &half, {x}}, {"sd", nullptr, {}, sd}};
    const Evaluation evaluation = evaluate(pairs(), forecasts);
    EXPECT_EQ(evaluation.forecasts[0].verification.off_support, outside / all);
    EXPECT_TRUE(std::isnan(evaluation.forecasts[1].verification.off_support));
}

TEST_F(Evaluations, OfErrorsShiftThemByTheRecalibration) {
    const Model shaped = model("shaped.json", options("none", "isotonic"));
    Roles roles;
    roles.error = "e";
    const Evaluation evaluation =
        evaluate(source(roles), std::vector<FileForecast>{{folder.path("shaped.json"), true}});
    const ReportForecast& forecast = evaluation.forecasts[0];
    for (std::size_t i = 0; i < e.size(); ++i)
        ASSERT_EQ(forecast.errors[i], e[i] - Standardised(shaped.family()).mean_shift(forecast.sigmas[i]));
    EXPECT_TRUE(forecast.means.empty());
}

TEST_F(Evaluations, RefuseForecastsThatDoNotGoWithTheRoles) {
    const Model biased = model("biased.json", options("constant", "none"));
    FitOptions mean;
    mean.form = "constant";
    mean.mean = "gp";
    model("mean.json", mean, true);
    const auto said = [&](const Roles& roles, const std::string& name, bool is_model) {
        return refusal([&] {
            evaluate(source(roles), std::vector<FileForecast>{{is_model ? folder.path(name) : name, is_model}});
        });
    };
    Roles errors, observations;
    errors.error = "e";
    observations.observation = "y";
    const std::string in = folder.folder() + "/";
    EXPECT_EQ(said(errors, "biased.json", true),
              in + "biased.json corrects the prediction: give --prediction and --observation in place of --error");
    EXPECT_EQ(said(errors, "mean.json", true), in + "mean.json has a mean of its own: give --observation alone");
    EXPECT_EQ(said(observations, "biased.json", true), in + "biased.json has no mean of its own: give --prediction");
    EXPECT_EQ(said(observations, "sd", false), "--sigma lies around a prediction: give --prediction");
    EXPECT_EQ(said({}, "sd", false), "give --prediction and --observation, or --error");
    EXPECT_EQ(said(observations, "mean.json", true), "no refusal");
}

TEST_F(Evaluations, ReportsHaveATitleAndTheirColumns) {
    const std::vector<RowForecast> forecasts = {{"sd", nullptr, {}, sd}, {"w", nullptr, {}, w}};
    const Evaluation evaluation = evaluate(pairs(), forecasts);
    const auto report = [&](std::size_t count) {
        return report_data({}, evaluation.rows.archive, std::span(evaluation.forecasts).first(count));
    };
    EXPECT_EQ(report(1)["title"], "Forecast report: sd");
    EXPECT_EQ(report(2)["title"], "2 forecasts compared");
    EXPECT_EQ(report(1)["subtitle"], "300 rows; error = y - mu");
    EXPECT_EQ(report(1)["columns"].dump(), R"({"prediction":"mu","observation":"y","weight":"w","group":"site"})");
    EXPECT_EQ(report(1)["verdict"]["summary"], verdict(evaluation.forecasts[0].verification).summary);
}

TEST(FitReport, DrawsTheRowsThatWereHeldOut) {
    support::Rows rows = support::some_rows(120, 3);
    rows.prediction.assign(120, 2.0);
    const Archive archive = rows.archive();
    FitOptions options;
    options.form = "polynomial";
    options.recipe = "paper";
    const FitResult result = fit(archive, options);
    std::size_t held_out = 0;
    for (const double sigma : result.sigmas) held_out += std::isnan(sigma) ? 0 : 1;
    ASSERT_LT(held_out, 120U);
    const nlohmann::ordered_json data = fit_report_data({}, archive, result);
    EXPECT_EQ(data["kind"], result.verification.name);
    EXPECT_EQ(data["scores"]["rows"], held_out);
    EXPECT_EQ(data["forecasts"][0]["rows"]["mean"].size(), held_out);
    EXPECT_EQ(data["verdict"]["summary"], result.verdict.summary);
}

TEST(FitReport, DrawsEveryFoldWithTheMapThatItWasJudgedBy) {
    // One gross outlier: the map of its fold has never seen it, those of the others have, and so has the model's.
    support::Rows rows = support::some_rows(1200, 5);
    core::Random random(6);
    for (double& e : rows.errors) e = random.normal();
    rows.errors[7] = 300;
    rows.prediction.assign(1200, 2.0);
    const Archive archive = rows.archive();
    FitOptions options;
    options.form = "constant";
    options.recalibrate = "isotonic";
    const FitResult result = fit(archive, options);
    ASSERT_EQ(result.families.size(), options.folds);
    const nlohmann::ordered_json data = fit_report_data({}, archive, result);
    const nlohmann::ordered_json& forecast = data["forecasts"][0];
    // A bin has 60 rows or more, whose middle 90% is known to 0.88/sqrt(60) of itself, and the maps add a little.
    for (const auto* bins : {&forecast["spread_skill"], &forecast["inputs"][0]["bins"]})
        for (std::size_t b = 0; b < (*bins)["width"].size(); ++b) {
            const double width = (*bins)["width"][b];
            EXPECT_NEAR(width / (*bins)["observed_width"][b].get<double>(), 1, 0.4) << b;
            EXPECT_NEAR(width, 3.29, 0.4) << b;
        }
    EXPECT_NE(data["notes"].dump().find("each fold with a recalibration from the other folds"), std::string::npos);
}

TEST(RolesOfAFit, FollowFromItsOptions) {
    FitOptions options;
    EXPECT_TRUE(needs_inputs(options));
    options.form = "constant";
    EXPECT_FALSE(needs_inputs(options));
    options.bias = "linear";
    EXPECT_TRUE(needs_inputs(options));
    options.bias = "none";
    Roles roles;
    roles.observation = "y";
    EXPECT_EQ(refusal([&] { require_roles(roles, options); }), "give a --prediction, or --mean auto to learn one");
    options.mean = "gp";
    EXPECT_TRUE(needs_inputs(options));
    EXPECT_NO_THROW(require_roles(roles, options));
    const std::string alone = "--mean gp learns the mean from the observations: give --observation alone";
    EXPECT_EQ(refusal([&] { require_roles({}, options); }), alone);
    roles.prediction = "mu";
    EXPECT_EQ(refusal([&] { require_roles(roles, options); }), alone);
}

TEST_F(Evaluations, PredictedFilesHaveTheFiguresOfTheForecast) {
    const Model shaped = model("shaped.json", options("none", "isotonic"));
    PredictOptions wanted;
    wanted.prediction = "mu";
    wanted.quantiles = {0.1};
    wanted.intervals = {0.5};
    predict_files(shaped, {file}, folder.path("out.csv"), wanted);
    const Table table = read_table({folder.path("out.csv")}, {{"mean"},
                                                              {"sigma"},
                                                              {"q0.1"},
                                                              {"lower_0.5"},
                                                              {"upper_0.5"},
                                                              {"gaussian_mean"},
                                                              {"gaussian_sigma"},
                                                              {"off_support"}});
    const Forecast forecast = shaped.forecast(std::vector<std::span<const double>>{x}, mu);
    ASSERT_EQ(table.rows(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Distribution row = forecast.row(i);
        EXPECT_EQ(table.numbers("mean")[i], row.mean);
        EXPECT_EQ(table.numbers("sigma")[i], row.sigma);
        // Multiplied out in another order.
        const double tolerance = 1e-13 * (std::fabs(row.mean) + row.sigma);
        EXPECT_NEAR(table.numbers("q0.1")[i], row.quantile(0.1), tolerance);
        EXPECT_NEAR(table.numbers("lower_0.5")[i], row.interval(0.5).low, tolerance);
        EXPECT_NEAR(table.numbers("upper_0.5")[i], row.interval(0.5).high, tolerance);
        EXPECT_NEAR(table.numbers("gaussian_mean")[i], row.location(), tolerance);
        EXPECT_NEAR(table.numbers("gaussian_sigma")[i], row.scale(), tolerance);
        EXPECT_EQ(table.numbers("off_support")[i], forecast.off_support[i]);
    }
    wanted.quantiles = {1.5};
    EXPECT_EQ(refusal([&] { predict_files(shaped, {file}, folder.path("no.csv"), wanted); }),
              "--quantiles: 1.5 is not between 0 and 1");
}

TEST_F(Evaluations, ForecastsWithMeansOfTheirOwnAreScoredAboutThem) {
    Archive rows = pairs();
    rows.prediction = {};
    rows.roles.prediction.clear();
    const std::vector<RowForecast> own = {{.name = "own", .sigmas = sd, .means = mu}};
    const Evaluation result = evaluate(rows, own);
    const std::vector<RowForecast> about_prediction = {{.name = "own", .sigmas = sd}};
    const Evaluation expected = evaluate(pairs(), about_prediction);
    EXPECT_EQ(nlohmann::ordered_json(to_json(result.forecasts[0].verification)),
              nlohmann::ordered_json(to_json(expected.forecasts[0].verification)));

    rows.observation = {};
    rows.errors = e;
    rows.roles.observation.clear();
    rows.roles.error = "e";
    EXPECT_EQ(refusal([&] { evaluate(rows, own); }), "own has a mean of its own: give --observation");
    const std::vector<RowForecast> few = {{.name = "few", .sigmas = sd, .means = std::span(mu).first(7)}};
    EXPECT_EQ(refusal([&] { evaluate(pairs(), few); }), "few has 7 rows, but observation 300");
}

}  // namespace
}  // namespace accrue
