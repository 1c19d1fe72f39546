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

TEST_F(Fit, writes_a_model_and_prints_a_report) {
    const std::string text = output(fit_arguments(archive(), {"--inputs", "x"}));
    EXPECT_TRUE(text.starts_with("60 rows of " + folder_.path("a.csv") + "; error = y - mu\n") ||
                text.starts_with("60 rows of a.csv; error = y - mu\n"))
        << text;
    for (const char* part : {"network of x; default recipe", "out of fold", "skill over a constant sigma", "floor",
                             "90% interval holds", "Model written to "})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_NE(text.find("With 60 rows a network learns little"), std::string::npos) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos);
    const Model model = Model::load(folder_.path("m.json"));
    EXPECT_EQ(model.inputs(), std::vector<std::string>{"x"});
    EXPECT_EQ(model.prediction(), "mu");
    EXPECT_EQ(folder_.files(), 2U) << "the archive, the model, and no temporary file";
}

TEST_F(Fit, prints_one_object_with_json) {
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
    EXPECT_EQ(result["fit"]["starts"].size(), 5U) << "five folds of one start";
    EXPECT_EQ(result["model"], folder_.path("m.json"));
}

TEST_F(Fit, chooses_every_numeric_column_without_a_role) {
    // Text and times are no numbers; true_sigma is the answer, and w has a role.
    EXPECT_EQ(json(fit_arguments(archive(), {"--weight", "w"}))["inputs"], Json({"x", "e"}));
    const std::string text = output(fit_arguments(archive(), {"--weight", "w"}));
    EXPECT_NE(text.find("network of x, e;"), std::string::npos) << text;
}

TEST_F(Fit, takes_the_prediction_where_there_is_no_other_column) {
    std::string text = "mu,y,true_sigma\n";
    core::Random random(3);
    for (int i = 0; i < 30; ++i) text += fmt::format("{},{},1\n", random.normal(), random.normal());
    EXPECT_EQ(json(fit_arguments(folder_.file("two.csv", text)))["inputs"], Json({"mu"}));
    const std::string out = output({"predict", folder_.path("m.json"), folder_.path("two.csv"), "-o", "-"});
    EXPECT_EQ(lines(out)[0], "mu,y,true_sigma,mean,sigma,off_support");
}

TEST_F(Fit, takes_the_prediction_as_one_input_among_others) {
    EXPECT_EQ(model({"--inputs", "mu,x"})["columns"]["inputs"], Json({"mu", "x"}));
}

TEST_F(Fit, takes_errors_in_place_of_prediction_and_observation) {
    output(
        {"fit", archive(), "--error", "e", "--inputs", "x", "--starts", "1", "--quiet", "-o", folder_.path("m.json")});
    const Model model = Model::load(folder_.path("m.json"));
    EXPECT_EQ(model.prediction(), "");
    EXPECT_EQ(model.json()["columns"]["error"], "e");
}

TEST_F(Fit, stores_the_configuration_that_was_asked_for) {
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

TEST_F(Fit, corrects_bias_and_says_when_it_should) {
    // Predictions too low by two.
    core::Random random(9);
    std::string text = "x,mu,y\n";
    for (int i = 0; i < 120; ++i) text += fmt::format("{},0,{}\n", random.uniform(), 2 + random.normal());
    const std::string file = folder_.file("biased.csv", text);
    const std::string report = output(fit_arguments(file));
    EXPECT_NE(report.find("--bias constant would lower the CRPS"), std::string::npos) << report;
    const Json corrected = json(fit_arguments(file, {"--bias", "constant"}));
    // The mean of 120 errors is within 4/sqrt(120) of 2 but for a chance of 6e-5.
    EXPECT_NEAR(corrected["mean_z"].get<double>(), 0, 0.37);
    EXPECT_EQ(corrected["verdict"]["remarks"].dump().find("--bias constant"), std::string::npos);
    EXPECT_TRUE(Model::load(folder_.path("m.json")).corrects_bias());
    output(fit_arguments(file, {"--bias", "linear"}));
    EXPECT_TRUE(Model::load(folder_.path("m.json")).corrects_bias());
}

TEST_F(Fit, says_when_sigma_is_no_better_than_a_constant) {
    core::Random random(5);
    std::string text = "x,mu,y\n";
    for (int i = 0; i < 100; ++i) text += fmt::format("{},0,{}\n", random.uniform(), random.normal());
    const std::string report = output(fit_arguments(folder_.file("flat.csv", text), {"--form", "polynomial"}));
    EXPECT_NE(report.find("sigma(x) is no better than a constant here"), std::string::npos) << report;
}

TEST_F(Fit, makes_folds_by_group_by_time_and_by_both) {
    EXPECT_EQ(model({"--inputs", "x", "--group", "station"})["configuration"]["folds_by"], "group");
    EXPECT_EQ(model({"--inputs", "x", "--time", "day"})["configuration"]["folds_by"], "time");
    std::string text = "x,mu,y,event,day\n";
    core::Random random(2);
    for (int i = 0; i < 60; ++i)
        text +=
            fmt::format("{},0,{},event {},2024-01-{:02}T06:00Z\n", random.uniform(), random.normal(), i / 6, 1 + i / 2);
    output(fit_arguments(folder_.file("events.csv", text), {"--inputs", "x", "--group", "event", "--time", "day"}));
    EXPECT_EQ(Json::parse(folder_.content("m.json"))["columns"]["time"], "day");
}

TEST_F(Fit, takes_labels_that_are_not_utf8) {
    core::Random random(2);
    std::string text = "x,mu,y,station\n";
    for (int i = 0; i < 60; ++i)
        text += fmt::format("{},0,{},M\xfcnchen {}\n", random.uniform(), random.normal(), i % 6);
    const std::string file = folder_.file("latin1.csv", text);
    EXPECT_EQ(json(fit_arguments(file, {"--inputs", "x", "--group", "station"}))["groups"].size(), 6U);
    EXPECT_EQ(accrue({"show", folder_.path("m.json")}).status, 0);
}

TEST_F(Fit, weighs_and_drops_rows) {
    const std::string all = folder_.content(model({"--inputs", "x"}).empty() ? "" : "m.json");
    EXPECT_NE(model({"--inputs", "x", "--weight", "w"})["error_scale"], Json::parse(all)["error_scale"]);
    const std::string holes = folder_.file("holes.csv", folder_.content("a.csv") + "NA,1,2,1,s1,2024-01-01,1,1\n");
    const Json dropped = json(fit_arguments(holes, {"--inputs", "x", "--missing", "drop"}));
    EXPECT_EQ(dropped["dropped"], 1);
    EXPECT_EQ(dropped["rows"], 60);
    EXPECT_EQ(folder_.content("m.json"), all) << "the row that was dropped leaves no trace";
}

TEST_F(Fit, pools_several_archives) {
    const std::string first = archive("a.csv", 40, 1);
    const std::string second = archive("b.csv", 30, 2);
    EXPECT_EQ(json(fit_arguments(first, {second, "--inputs", "x"}))["rows"], 70);
}

TEST_F(Fit, reads_standard_input_when_inputs_are_named) {
    output(fit_arguments(archive(), {"--inputs", "x"}));
    const std::string model = folder_.content("m.json");
    output(fit_arguments("-", {"--inputs", "x"}), {.input = folder_.content("a.csv")});
    EXPECT_EQ(folder_.content("m.json"), model);
}

TEST_F(Fit, writes_the_same_bytes_for_any_number_of_threads) {
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

TEST_F(Fit, prints_plain_lines_of_progress_into_a_pipe) {
    const Ended run = accrue({"fit", archive("a.csv", 4000), "--inputs", "x", "--prediction", "mu", "--observation",
                              "y", "--threads", "1", "-o", folder_.path("m.json")});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.err.find_first_of("\r\033"), std::string::npos) << run.err;
    for (const std::string& line : lines(run.err)) EXPECT_TRUE(line.starts_with("accrue fit: fold ")) << line;
}

TEST_F(Fit, show_describes_a_model) {
    const std::string file = fitted({"--inputs", "x", "--group", "station", "--bias", "linear"});
    const std::string text = output({"show", file});
    for (const char* part : {"accrue model, format 1", "observation   y", "group         station", "Inputs",
                             "bias correction: linear", "Verification, out of fold, 60 rows"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_EQ(json({"show", file}), Json::parse(folder_.content("m.json")));
}

}  // namespace
}  // namespace accrue::test
