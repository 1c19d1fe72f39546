// Kinds of inputs from the shell.
#include <string>

#include "accrue/model.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Kinds : public ModelCliTest {
protected:
    static std::vector<std::string> kinds() {
        return {"--inputs", "x,station:category,day:season,w:cyclic(3)", "--missing", "impute"};
    }
};

TEST_F(Kinds, FitPredictAndEvaluateTakeThem) {
    const std::string rows = archive("a.csv", 200);
    const std::string text = output(fit_arguments(rows, kinds()));
    EXPECT_NE(text.find("network of x, station:category, day:season, w:cyclic(3); default"), std::string::npos) << text;
    const std::string model = folder_.path("m.json");
    EXPECT_EQ(Model::load(model).input_columns()[1].column, "station");

    const std::string header = "x,mu,y,e,station,day,w,true_sigma\n";
    const std::string some = folder_.file("new.csv", header +
                                                         "0.5,1,,,s3,2024-05-01,1,\n0.5,1,,,elsewhere,2024-05-01,1,\n"
                                                         ",1,,,s3,2024-05-01,1,\n0.5,1,,,s3,2024-05-01,1,\n");
    const std::vector<std::string> out = lines(output({"predict", model, some, "-o", "-"}));
    ASSERT_EQ(out.size(), 5U);
    const auto sigma = [&](std::size_t row) { return cells(out[row])[9]; };
    const auto off = [&](std::size_t row) { return cells(out[row]).back(); };
    EXPECT_EQ(sigma(1), sigma(4));
    EXPECT_NE(sigma(1), sigma(2));
    EXPECT_EQ(off(1), "0");
    EXPECT_EQ(off(2), "1") << "no station of the archive";
    EXPECT_FALSE(sigma(3).empty()) << "a gap is filled in";
    EXPECT_EQ(off(3), "1") << "the archive had no gaps";

    const Json judged =
        json({"evaluate", rows, "--prediction", "mu", "--observation", "y", "--model", model, "--json"});
    EXPECT_EQ(judged["rows"], 200);
    EXPECT_EQ(judged["off_support_percent"], 0);
}

TEST_F(Kinds, MarkedNumbersAreMissingAmongLabelsToo) {
    output(fit_arguments(archive("a.csv", 200),
                         {"--inputs", "w:category", "--missing", "impute", "--missing-value", "w=3"}));
    EXPECT_EQ(Json::parse(folder_.content("m.json"))["inputs"][0]["labels"], Json({"1", "2"}));
}

TEST_F(Kinds, AColumnOfThatNameIsThatColumn) {
    std::string text = "x:category,mu,y\n";
    core::Random random(3);
    for (int i = 0; i < 60; ++i) text += fmt::format("{},{},{}\n", random.uniform(), random.normal(), random.normal());
    const std::string file = folder_.file("odd.csv", text);
    EXPECT_EQ(json(fit_arguments(file))["inputs"], Json({"mu", "x:category"}));
    EXPECT_EQ(json(fit_arguments(file, {"--inputs", "x:category"}))["inputs"], Json({"x:category"}));
    EXPECT_EQ(accrue({"predict", folder_.path("m.json"), file, "-o", "-"}).status, 0);
    EXPECT_EQ(refusal(accrue(fit_arguments(file, {"--inputs", "mu,,y"}))), "--inputs names a column without a name");
}

TEST_F(Kinds, APredictionIsAnInputByDefault) {
    const auto inputs = [&](const std::vector<std::string>& more) {
        output(fit_arguments(archive(), more));
        return Model::load(folder_.path("m.json")).inputs();
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(inputs({}), (Names{"mu", "x", "e", "w", "true_sigma"}));
    EXPECT_EQ(inputs({"--recipe", "paper"}), (Names{"x", "e", "w", "true_sigma"}));
    EXPECT_EQ(inputs({"--inputs", "x"}), Names{"x"}) << "what is named is what is used";
}

TEST_F(Kinds, ColumnsThatCouldBeInputsAreMentioned) {
    const std::string rows = archive("a.csv", 200);
    const std::string said = output(fit_arguments(rows, {"--inputs", "x"}));
    EXPECT_NE(said.find("\nNote: station (text, 7 values) could be an input: station:category\n"
                        "Note: day (time) could give an input: day:season\n"),
              std::string::npos)
        << said;
    EXPECT_EQ(json(fit_arguments(rows, {"--inputs", "x,station:category"}))["notes"],
              Json({"day (time) could give an input: day:season"}));
    EXPECT_EQ(output(fit_arguments(rows, {"--inputs", "x", "--form", "clusters"})).find("could"), std::string::npos)
        << "clusters take no categories";
}

TEST_F(Kinds, AreLookedAtAsTheyAre) {
    output(fit_arguments(archive("a.csv", 300), {"--inputs", "x,station:category,day:season", "--family", "normal"}));
    // Later rows in which observations of one place lie a sigma higher.
    const auto judged = [&](const std::string& station, int month, const std::vector<std::string>& more) {
        core::Random random(7);
        std::string text = "x,mu,y,station,day\n";
        for (int i = 0; i < 2400; ++i) {
            const double x = random.uniform();
            const std::string own = i % 7 == 6 ? "elsewhere" : fmt::format("s{}", i % 7);
            const double shift = own == station || 1 + i % 12 == month ? 1 : 0;
            text += fmt::format("{},0,{},{},2025-{:02}-{:02}\n", x, (0.3 + x) * (random.normal() + shift), own,
                                1 + i % 12, 1 + i % 28);
        }
        const std::string file = folder_.file("later.csv", text);
        return json(with({"evaluate", file, "--prediction", "mu", "--observation", "y", "--model",
                          folder_.path("m.json"), "--conditional"},
                         more));
    };
    const auto worst = [](const Json& one) { return one["conditional"]["worst"].get<std::string>(); };
    const auto names = [](const Json& one) {
        std::vector<std::string> all;
        for (const Json& column : one["conditional"]["columns"]) all.push_back(column["name"]);
        return all;
    };
    using Names = std::vector<std::string>;
    const Json station = judged("s1", 0, {});
    EXPECT_TRUE(worst(station).starts_with("where station is 's1' observations lie ")) << worst(station);
    EXPECT_NE(station["verdict"].dump().find("where station is 's1'"), std::string::npos);
    EXPECT_NE(station["verdict"].dump().find("The model has station:category among its inputs: a new fit with rows "
                                             "such as these in its archive may help."),
              std::string::npos);
    EXPECT_EQ(names(station), (Names{"x", "station:category", "day:season"}));
    EXPECT_TRUE(worst(judged("elsewhere", 0, {})).starts_with("where station is 'elsewhere' observations lie "))
        << "a value that the model does not know is one like the others";
    const Json month = judged("", 7, {});
    EXPECT_TRUE(worst(month).starts_with("in July observations lie ")) << worst(month);
    EXPECT_EQ(names(judged("", 7, {"--time", "day"})), (Names{"x", "station:category", "month"}))
        << "each month once, and midnight is the only hour";
}

TEST_F(Kinds, QuotesAndSpellingsDoNotMatter) {
    std::string text = "wind speed,zen,mu,y\n";
    core::Random random(3);
    for (int i = 0; i < 60; ++i)
        text += fmt::format("{},{},{},{}\n", i % 3, random.uniform(), random.normal(), random.normal());
    const std::string file = folder_.file("odd.csv", text);
    EXPECT_EQ(json(fit_arguments(file, {"--inputs", "'wind speed':category,zen+1"}))["inputs"],
              Json({"wind speed:category", "zen + 1"}));
    EXPECT_EQ(accrue({"predict", folder_.path("m.json"), file, "-o", "-"}).status, 0);
    EXPECT_EQ(refusal(accrue(fit_arguments(file, {"--inputs", "zen+1,zen + 1"}))), "--inputs names 'zen + 1' twice");
    EXPECT_NE(accrue(fit_arguments(file, {"--inputs", "zen:cyclc(1)"})).err.find("did you mean 'zen:cyclic(1)'?"),
              std::string::npos);
}

TEST_F(Kinds, ReportsAreDrawnAlongNumbers) {
    const std::string rows = archive("a.csv", 200);
    output(fit_arguments(rows, kinds()));
    const auto report = [&](const std::string& inputs) {
        return accrue({"report", rows, "--prediction", "mu", "--observation", "y", "--model", folder_.path("m.json"),
                       "--inputs", inputs, "-o", folder_.path("page.html")});
    };
    EXPECT_EQ(report("x,w:cyclic(3)").status, 0) << "as the model calls it";
    EXPECT_EQ(refusal(report("day:season")),
              "--inputs of a report are columns of numbers, along which errors are drawn, but 'day:season' is the "
              "season of dates: --time day draws the forecasts along them");
    EXPECT_EQ(refusal(report("station:category")),
              "--inputs of a report are columns of numbers, along which errors are drawn, but 'station:category' is a "
              "category: --by station gives figures for each of its values");
}

TEST_F(Kinds, WhatMakesNoSenseIsRefused) {
    const std::string rows = archive();
    for (const auto& [input, part] : std::vector<std::pair<std::string, std::string>>{
             {"w:cyclic", "needs a period above 0"},
             {"x:season", "column 'x': the input x:season needs dates"},
             {"x:category", "'x' is not a category: each of its 60 values stands in fewer than 10 rows"},
             {"y:category", "which is what the errors are made of"}}) {
        const auto run = accrue(fit_arguments(rows, {"--inputs", input}));
        EXPECT_EQ(run.status, 2) << input;
        EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
    }
}

}  // namespace
}  // namespace accrue::test
