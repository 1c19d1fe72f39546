// accrue fit and accrue show on good archives: what they print and what they write.
#include <string>

#include "accrue/model.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Fit : public ModelCliTest {
protected:
    // The model that a fit with these further arguments writes.
    Json model(const std::vector<std::string>& more) const {
        output(fit_arguments(archive(), more));
        return Json::parse(folder_.content("m.json"));
    }
};

TEST_F(Fit, WritesAModelAndPrintsAReport) {
    const std::string text = output(fit_arguments(archive(), {"--inputs", "x"}));
    EXPECT_TRUE(text.starts_with("60 rows of " + folder_.path("a.csv") + "; error = y - mu\n") ||
                text.starts_with("60 rows of a.csv; error = y - mu\n"))
        << text;
    for (const char* part : {" of x; default recipe", "out of fold", "skill over a constant sigma", "floor",
                             "90% interval coverage", "Model written to "})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_NE(text.find("With 60 rows a network learns little"), std::string::npos) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos);
    const Model model = Model::load(folder_.path("m.json"));
    EXPECT_EQ(model.inputs(), std::vector<std::string>{"x"});
    EXPECT_EQ(model.prediction(), "mu");
    EXPECT_EQ(folder_.files(), 2U) << "the archive, the model, and no temporary file";
}

TEST_F(Fit, NamesADozenInputsAndCountsTheRest) {
    std::string header = "e";
    std::string row;
    for (int k = 1; k <= 40; ++k) {
        header += fmt::format(",x{}", k);
        row += fmt::format(",{}", k);
    }
    std::string text = header + "\n";
    for (int i = 0; i < 60; ++i) text += fmt::format("{}{}\n", i % 7 - 3, row);
    folder_.file("wide.csv", text);
    const auto printed = [&](const std::string& inputs) {
        return output({"fit", folder_.path("wide.csv"), "--error", "e", "--inputs", inputs, "--form", "constant",
                       "--quiet", "-o", folder_.path("m.json")});
    };
    const std::string dozen = " of x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12";
    const std::string wide = printed("x*");
    EXPECT_NE(wide.find(dozen + " and 28 more; default recipe"), std::string::npos) << wide;
    EXPECT_EQ(Model::load(folder_.path("m.json")).inputs().size(), 40U);
    const std::string narrow = printed("x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11,x12");
    EXPECT_NE(narrow.find(dozen + "; default recipe"), std::string::npos) << narrow;
}

// Where y is below 0 it is minus the number of its row.
TEST_F(Fit, ABoundThatIsBrokenNamesFileRowAndLine) {
    const auto file = [&](const char* name, int rows, int missing, int first_broken) {
        std::string text = "# made by a test\nx,mu,y\n";
        for (int row = 1; row <= rows; ++row) {
            const int y = row >= first_broken && row % 10 == 9 ? -row : 1 + row % 3;
            text += fmt::format("{},{},{}\n", row % 7, row == missing ? "NA" : "2", y);
        }
        return folder_.file(name, text);
    };
    const auto refused = [&](const std::vector<std::string>& files, const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"fit"};
        arguments.insert(arguments.end(), files.begin(), files.end());
        for (const char* own : {"--prediction", "mu", "--observation", "y", "--lower", "0", "--missing", "drop", "-o"})
            arguments.emplace_back(own);
        arguments.push_back(folder_.path("m.json"));
        return refusal(accrue(with(arguments, more)));
    };
    const std::string a = file("a.csv", 300, 7, 19);
    const std::string b = file("b.csv", 300, 3, 1000);
    const std::string first = "the observation of a.csv row 19 (line 21) is -19, but --lower is 0";
    EXPECT_EQ(refused({a}, {}), first);
    EXPECT_EQ(refused({b, a}, {}), first);
    for (const char* seed : {"1", "2", "3"}) {
        const std::string said = refused({b, a}, {"--sample", "150", "--seed", seed});
        int row = 0, line = 0, value = 0;
        ASSERT_EQ(std::sscanf(said.c_str(), "the observation of a.csv row %d (line %d) is %d,", &row, &line, &value), 3)
            << said;
        EXPECT_EQ(line, row + 2);
        EXPECT_EQ(value, -row);
    }
}

TEST_F(Fit, PrintsOneObjectWithJson) {
    const Json result = json(fit_arguments(archive(), {"--inputs", "x"}));
    for (const char* key : {"rows",
                            "dropped",
                            "crps",
                            "crps_skill",
                            "nlpd",
                            "rs",
                            "rs_floor",
                            "ar",
                            "beta",
                            "calibration_error_percent",
                            "calibration_floor_percent",
                            "calibration_p_value",
                            "sign_bound_percent",
                            "mean_z",
                            "sd_z",
                            "sharpness",
                            "coverage",
                            "verdict",
                            "model",
                            "inputs",
                            "fit"})
        EXPECT_TRUE(result.contains(key)) << key;
    EXPECT_EQ(result["rows"], 60);
    EXPECT_EQ(result["fit"]["starts"].size(), 60U) << "five folds, in each a network and eleven polynomials";
    EXPECT_EQ(result["model"], folder_.path("m.json"));
}

TEST_F(Fit, ChoosesEveryNumericColumnWithoutARole) {
    // Text and times are no numbers, and w has a role. No name is special.
    EXPECT_EQ(json(fit_arguments(archive(), {"--weight", "w"}))["inputs"], Json({"mu", "x", "e", "true_sigma"}));
    const std::string text = output(fit_arguments(archive(), {"--weight", "w"}));
    EXPECT_NE(text.find("network of mu, x, e, true_sigma;"), std::string::npos) << text;
    for (const char* role : {"--group", "--fold-group"})
        EXPECT_EQ(json(fit_arguments(archive(), {role, "w", "--folds", "3", "--by", "x"}))["inputs"],
                  Json({"mu", "x", "e", "true_sigma"}))
            << "an input may also be what figures are given by";
}

TEST_F(Fit, TakesThePredictionWhereThereIsNoOtherColumn) {
    std::string text = "mu,y,site\n";
    core::Random random(3);
    for (int i = 0; i < 30; ++i) text += fmt::format("{},{},a\n", random.normal(), random.normal());
    EXPECT_EQ(json(fit_arguments(folder_.file("two.csv", text)))["inputs"], Json({"mu"}));
    const std::string out = output({"predict", folder_.path("m.json"), folder_.path("two.csv"), "-o", "-"});
    EXPECT_EQ(lines(out)[0], "mu,y,site,mean,sigma,off_support");
}

TEST_F(Fit, TakesThePredictionAsOneInputAmongOthers) {
    EXPECT_EQ(model({"--inputs", "mu,x"})["columns"]["inputs"], Json({"mu", "x"}));
}

TEST_F(Fit, TakesErrorsInPlaceOfPredictionAndObservation) {
    output(
        {"fit", archive(), "--error", "e", "--inputs", "x", "--starts", "1", "--quiet", "-o", folder_.path("m.json")});
    const Model model = Model::load(folder_.path("m.json"));
    EXPECT_EQ(model.prediction(), "");
    EXPECT_EQ(model.json()["columns"]["error"], "e");
}

TEST_F(Fit, StoresTheConfigurationThatWasAskedFor) {
    const Json polynomial = model({"--inputs", "x", "--form", "polynomial"});
    EXPECT_EQ(polynomial["configuration"]["form"], "polynomial");
    EXPECT_EQ(polynomial["sigma"]["members"][0]["form"], "polynomial");
    const Json constant = model({"--form", "constant"});
    EXPECT_EQ(constant["columns"]["inputs"], Json::array());
    const Json paper = model({"--inputs", "x", "--recipe", "paper", "--split", "0.5,0.25", "--score", "crps"});
    EXPECT_EQ(paper["configuration"]["training_share"], 0.5);
    EXPECT_EQ(paper["configuration"]["validation_share"], 0.25);
    EXPECT_EQ(paper["configuration"]["score"], "crps");
    EXPECT_EQ(paper["verification"]["kind"], "test rows");
    EXPECT_EQ(paper["verification"]["rows"], 15);
    const Json nlpd = model({"--inputs", "x", "--score", "nlpd", "--balance", "0.25", "--seed", "7", "--folds", "3"});
    EXPECT_EQ(nlpd["configuration"]["score"], "nlpd");
    EXPECT_EQ(nlpd["configuration"]["balance"], 0.25);
    EXPECT_EQ(nlpd["configuration"]["seed"], 7);
    EXPECT_EQ(nlpd["configuration"]["folds"], 3);
}

TEST_F(Fit, CorrectsBiasAndSaysWhenItShould) {
    // Predictions too low by two.
    core::Random random(9);
    std::string text = "x,mu,y\n";
    for (int i = 0; i < 120; ++i) text += fmt::format("{},0,{}\n", random.uniform(), 2 + random.normal());
    const std::string file = folder_.file("biased.csv", text);
    const std::string report = output(fit_arguments(file, {"--bias", "none"}));
    EXPECT_NE(report.find("--bias constant would lower the CRPS"), std::string::npos) << report;
    const Json corrected = json(fit_arguments(file, {"--bias", "constant"}));
    // The mean of 120 errors is within 4/sqrt(120) of 2 but for a chance of 6e-5.
    EXPECT_NEAR(corrected["mean_z"].get<double>(), 0, 0.37);
    EXPECT_EQ(corrected["verdict"]["remarks"].dump().find("--bias constant"), std::string::npos);
    EXPECT_TRUE(Model::load(folder_.path("m.json")).corrects_bias());
    output(fit_arguments(file, {"--bias", "linear"}));
    EXPECT_TRUE(Model::load(folder_.path("m.json")).corrects_bias());
}

TEST_F(Fit, SaysWhenSigmaIsNoBetterThanAConstant) {
    core::Random random(5);
    std::string text = "x,mu,y\n";
    for (int i = 0; i < 100; ++i) text += fmt::format("{},0,{}\n", random.uniform(), random.normal());
    const std::string report = output(fit_arguments(folder_.file("flat.csv", text), {"--form", "polynomial"}));
    EXPECT_NE(report.find("sigma(x) is no better than a constant here"), std::string::npos) << report;
}

TEST_F(Fit, MakesFoldsByGroupByTimeAndByBoth) {
    EXPECT_EQ(model({"--inputs", "x", "--group", "station"})["configuration"]["folds_by"], "group");
    EXPECT_EQ(model({"--inputs", "x", "--fold-group", "station"})["configuration"]["folds_by"], "group");
    EXPECT_EQ(model({"--inputs", "x", "--time", "day"})["configuration"]["folds_by"], "time");
    // Stations span the period: blocks of time split them, and they are what is resampled.
    const Json spanned = model({"--inputs", "x", "--time", "day", "--group", "station"});
    EXPECT_EQ(spanned["configuration"]["folds_by"], "time");
    EXPECT_TRUE(spanned["verification"]["reliability_diagram"].contains("group_band_90_pointwise"));
    EXPECT_EQ(refusal(accrue(
                  fit_arguments(folder_.path("a.csv"), {"--inputs", "x", "--time", "day", "--fold-group", "station"}))),
              "column 'day' allows a single block of time without splitting a 'station', which cannot be held out; use "
              "another column, or no --fold-group");
    std::string text = "x,mu,y,event,day\n";
    core::Random random(2);
    for (int i = 0; i < 60; ++i)
        text +=
            fmt::format("{},0,{},event {},2024-01-{:02}T06:00Z\n", random.uniform(), random.normal(), i / 6, 1 + i / 2);
    output(
        fit_arguments(folder_.file("events.csv", text), {"--inputs", "x", "--fold-group", "event", "--time", "day"}));
    const Json both = Json::parse(folder_.content("m.json"));
    EXPECT_EQ(both["columns"]["time"], "day");
    EXPECT_EQ(both["columns"]["fold_group"], "event");
    EXPECT_FALSE(both["verification"]["reliability_diagram"].contains("group_band_90_pointwise"));
}

TEST_F(Fit, GivesFiguresForEachValueOfAColumn) {
    const std::vector<std::string> by = {"--inputs", "x", "--by", "station", "--by", "w"};
    const Json result = json(fit_arguments(archive(), by));
    ASSERT_EQ(result["by"].size(), 2U);
    EXPECT_EQ(result["by"][0]["column"], "station");
    EXPECT_EQ(result["by"][0]["values"].size(), 7U);
    EXPECT_EQ(result["by"][1]["values"].size(), 3U);
    EXPECT_EQ(model(by)["verification"]["by"], result["by"]);
    EXPECT_EQ(model(by)["columns"]["by"], Json({"station", "w"}));
    EXPECT_NE(output(fit_arguments(archive(), by)).find("out of fold by station, the worst calibrated first"),
              std::string::npos);
    // Of a test set the figures are of its rows.
    const Json paper = json(fit_arguments(archive(), with(by, {"--recipe", "paper"})));
    std::size_t rows = 0;
    for (const Json& value : paper["by"][0]["values"]) rows += value["rows"].get<std::size_t>();
    EXPECT_EQ(rows, paper["rows"].get<std::size_t>());
}

TEST_F(Fit, TakesLabelsThatAreNotUtf8) {
    core::Random random(2);
    std::string text = "x,mu,y,station\n";
    for (int i = 0; i < 60; ++i)
        text += fmt::format("{},0,{},M\xfcnchen {}\n", random.uniform(), random.normal(), i % 6);
    const std::string file = folder_.file("latin1.csv", text);
    EXPECT_EQ(json(fit_arguments(file, {"--inputs", "x", "--by", "station"}))["by"][0]["values"].size(), 6U);
    EXPECT_EQ(accrue({"show", folder_.path("m.json")}).status, 0);
}

TEST_F(Fit, WeighsAndDropsRows) {
    const std::string all = folder_.content(model({"--inputs", "x"}).empty() ? "" : "m.json");
    EXPECT_NE(model({"--inputs", "x", "--weight", "w"})["error_scale"], Json::parse(all)["error_scale"]);
    const std::string holes = folder_.file("holes.csv", folder_.content("a.csv") + "NA,1,2,1,s1,2024-01-01,1,1\n");
    const Json dropped = json(fit_arguments(holes, {"--inputs", "x", "--missing", "drop"}));
    EXPECT_EQ(dropped["dropped"], 1);
    EXPECT_EQ(dropped["rows"], 60);
    EXPECT_EQ(folder_.content("m.json"), all) << "the row that was dropped leaves no trace";
}

TEST_F(Fit, PoolsSeveralArchives) {
    const std::string first = archive("a.csv", 40, 1);
    const std::string second = archive("b.csv", 30, 2);
    EXPECT_EQ(json(fit_arguments(first, {second, "--inputs", "x"}))["rows"], 70);
}

TEST_F(Fit, ReadsStandardInputWhenInputsAreNamed) {
    output(fit_arguments(archive(), {"--inputs", "x"}));
    const std::string model = folder_.content("m.json");
    output(fit_arguments("-", {"--inputs", "x"}), {.input = folder_.content("a.csv")});
    EXPECT_EQ(folder_.content("m.json"), model);
}

TEST_F(Fit, WritesTheSameBytesForAnyNumberOfThreads) {
    const std::string file = archive();
    std::string first;
    for (const char* threads : {"1", "2", "3", "1"}) {
        output({"fit", file, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--starts", "2", "--quiet",
                "--threads", threads, "-o", folder_.path("m.json")});
        const std::string model = folder_.content("m.json");
        if (first.empty()) first = model;
        EXPECT_EQ(model, first) << threads << " threads";
    }
    for (const std::string& secret :
         {folder_.folder(), std::string("a.csv"), std::string("thread"), std::string("host")})
        EXPECT_EQ(first.find(secret), std::string::npos) << secret << " is nobody's business";
    EXPECT_EQ(output({"fit", file, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--starts", "2",
                      "--quiet", "-o", "-"}),
              first);
}

TEST_F(Fit, PrintsPlainLinesOfProgressIntoAPipe) {
    const Ended run = accrue({"fit", archive("a.csv", 4000), "--inputs", "x", "--prediction", "mu", "--observation",
                              "y", "--threads", "1", "-o", folder_.path("m.json")});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err.find_first_of("\r\033"), std::string::npos) << run.err;
    for (const std::string& line : lines(run.err)) EXPECT_TRUE(line.starts_with("accrue fit: fold ")) << line;
}

TEST_F(Fit, ShowDescribesAModel) {
    const std::string file = fitted({"--inputs", "x", "--group", "station", "--bias", "linear"});
    const std::string text = output({"show", file});
    for (const char* part : {"accrue model, format 4", "observation   y", "group         station", "Inputs",
                             "bias correction: linear", "Verification, out of fold, 60 rows"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(json({"show", file}), Json::parse(folder_.content("m.json")));
}

TEST_F(Fit, TakesTheObservationErrorOutOfTheSpread) {
    core::Random random(9);
    std::string text = "x,mu,y,sd\n";
    for (int i = 0; i < 400; ++i) {
        const double mu = random.normal();
        text += fmt::format("{},{},{},1\n", random.uniform(), mu, mu + random.normal() + random.normal());
    }
    const std::string rows = folder_.file("noisy.csv", text);
    const auto sigma = [&](const std::vector<std::string>& more) {
        output(fit_arguments(rows, with({"--inputs", "x", "--form", "constant"}, more)));
        const std::string new_rows = folder_.file("new.csv", "x,mu\n0.5,0\n");
        return std::stod(cells(lines(output({"predict", folder_.path("m.json"), new_rows, "-o", "-"}))[1])[3]);
    };
    // Errors of sd sqrt(2), of which 1 is noise; the standard error of such an sd is 0.05, of what is left 0.1.
    EXPECT_NEAR(sigma({}), std::sqrt(2.0), 0.25);
    const double without = sigma({"--observation-error", "1"});
    EXPECT_NEAR(without, 1, 0.4);
    EXPECT_EQ(Json::parse(folder_.content("m.json"))["columns"]["observation_error"], "1");
    EXPECT_EQ(sigma({"--observation-error", "sd"}), without);
    EXPECT_EQ(sigma({"--observation-error", "sqrt(sd)"}), without);
    EXPECT_NE(output(fit_arguments(rows, {"--observation-error", "sd"}))
                  .find("Note: sigma and all figures are without the observation error 'sd'"),
              std::string::npos);
    const auto refused = [&](const std::string& value) {
        return refusal(accrue(fit_arguments(rows, {"--observation-error", value})));
    };
    EXPECT_EQ(refused("-1"), "--observation-error is -1, but must be a standard deviation: finite and not negative");
    EXPECT_NE(refused("sdd").find("did you mean 'sd'?"), std::string::npos) << refused("sdd");
    EXPECT_NE(refused("mu").find("column 'mu'"), std::string::npos) << refused("mu");
}

}  // namespace
}  // namespace accrue::test
