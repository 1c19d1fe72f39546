// `accrue fit --recalibrate-group`, and what the other commands make of such a model.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class GroupRecalibrated : public ModelCliTest {
protected:
    // Errors are skewed to the right at station east, to the left at west; some rows are of rare, some of none.
    std::string stations(const std::string& name, int rows, std::uint64_t seed) const {
        core::Random random(seed);
        std::string text = "x,mu,y,e,station,day\n";
        for (int i = 0; i < rows; ++i) {
            const double x = random.uniform();
            const double exponential = -std::log(1 - random.uniform());
            const std::string station = i % 50 == 0 ? "" : i % 50 == 1 ? "rare" : i % 2 == 0 ? "east" : "west";
            const double e = station == "west" ? 1 - exponential : exponential - 1;
            const int day = 336 * i / rows;
            text += fmt::format("{},{},{},{},{},2024-{:02}-{:02}\n", x, 10 * x, 10 * x + e, e, station, 1 + day / 28,
                                1 + day % 28);
        }
        return folder_.file(name, text);
    }
    std::vector<std::string> fit(const std::string& archive, const std::vector<std::string>& more = {}) const {
        return with({"fit", archive, "--inputs", "x", "--prediction", "mu", "--observation", "y", "--form", "constant",
                     "--family", "normal", "--recalibrate-group", "station", "--quiet", "-o", folder_.path("m.json")},
                    more);
    }
    const std::vector<std::string> isotonic_ = {"--recalibrate", "isotonic"};
};

TEST_F(GroupRecalibrated, IsFittedPredictedAndEvaluated) {
    const std::string text = output(fit(stations("a.csv", 2000, 1), isotonic_));
    EXPECT_NE(text.find("2 values of 'station' have a recalibration of their own"), std::string::npos) << text;
    const std::string model = folder_.path("m.json");
    const std::string shown = output({"show", model});
    EXPECT_NE(shown.find("Recalibration: 2 values of station have a map of their own, other rows have a common one"),
              std::string::npos)
        << shown;
    EXPECT_NE(shown.find("format 7"), std::string::npos);

    const std::string rows = folder_.file(
        "new.csv", "x,mu,station\n0.5,0,east\n0.5,0,west\n0.5,0,rare\n0.5,0,\n0.5,0,elsewhere\n0.5,0,east\n");
    const std::vector<std::string> out =
        lines(output({"predict", model, rows, "--quantiles", "0.05,0.95", "--interval", "0.9", "-o", "-"}));
    ASSERT_EQ(out.size(), 7U);
    EXPECT_EQ(out[0],
              "x,mu,station,mean,sigma,q0.05,q0.95,lower_0.9,upper_0.9,gaussian_mean,gaussian_sigma,off_support");
    const auto figures = [&](std::size_t row) { return out[row].substr(out[row].find(',', 6)); };
    const auto cell = [&](std::size_t row, std::size_t k) { return std::stod(cells(out[row])[k]); };
    // The quantiles of 5% and 95% are -0.95 and 2.0 in the east, -2.0 and 0.95 in the west. 960 rows tell them to 0.14
    // (one standard error of the far one).
    EXPECT_NEAR(cell(1, 5), -0.95, 0.1);
    EXPECT_NEAR(cell(1, 6), 2.0, 0.6);
    EXPECT_NEAR(cell(2, 5), -2.0, 0.6);
    EXPECT_NEAR(cell(2, 6), 0.95, 0.1);
    EXPECT_EQ(figures(1), figures(6));
    EXPECT_EQ(figures(3), figures(4));
    EXPECT_EQ(figures(3), figures(5));
    EXPECT_NE(figures(3), figures(1));
    // Divided by what it was multiplied with, it is the same but for rounding.
    for (std::size_t row = 1; row <= 6; ++row)
        EXPECT_NEAR(cell(row, 10), cell(1, 10), 1e-14) << "one Gaussian for all rows";

    const std::string later = stations("later.csv", 2000, 2);
    const std::vector<std::string> evaluate = {"evaluate",      later, "--prediction", "mu",
                                               "--observation", "y",   "--model"};
    const Json own = json(with(evaluate, {model}));
    EXPECT_LT(own["calibration_error_percent"].get<double>(), 5);
    output({"fit", folder_.path("a.csv"), "--inputs", "x", "--prediction", "mu", "--observation", "y", "--form",
            "constant", "--family", "normal", "--recalibrate", "isotonic", "--quiet", "-o", folder_.path("one.json")});
    const Json one = json(with(evaluate, {folder_.path("one.json")}));
    EXPECT_LT(own["crps"].get<double>(), one["crps"].get<double>());
    const Json looked_at = json(with(evaluate, {model, "--conditional"}))["conditional"]["columns"][1];
    EXPECT_EQ(looked_at["name"], "station:category");
    std::vector<std::string> places;
    for (const Json& place : looked_at["places"]) places.push_back(place["label"]);
    std::sort(places.begin(), places.end());
    EXPECT_EQ(places, (std::vector<std::string>{"east", "missing", "rare", "west"}));
    // Two models of one pass over the file, one with groups.
    const Json both = json(with(evaluate, {model, "--model", folder_.path("one.json")}));
    EXPECT_EQ(both["forecasts"][0]["crps"], own["crps"]);
}

TEST_F(GroupRecalibrated, NeedsItsColumnInNewRows) {
    output(fit(stations("a.csv", 600, 3), isotonic_));
    const std::string rows = folder_.file("new.csv", "x,mu,y\n0.5,0,0\n0.6,0,1\n");
    const std::string words = refusal(accrue({"predict", folder_.path("m.json"), rows, "-o", "-"}));
    EXPECT_NE(words.find("station"), std::string::npos) << words;
    EXPECT_NE(refusal(accrue({"evaluate", rows, "--prediction", "mu", "--observation", "y", "--model",
                              folder_.path("m.json")}))
                  .find("station"),
              std::string::npos);
}

TEST_F(GroupRecalibrated, StatesWhatItPromisesInEachGroup) {
    const Json summary =
        json(fit(stations("a.csv", 400, 4), {"--recalibrate", "conformal", "--calibration-share", "0.5"}));
    const Json& own = summary["fit"]["recalibration"];
    EXPECT_EQ(own["finite_sample_guarantee"], true);
    EXPECT_EQ(own["by_group"]["column"], "station");
    EXPECT_EQ(own["by_group"]["groups"], 2);
    EXPECT_GE(own["by_group"]["values"][0]["rows"], 19);
}

TEST_F(GroupRecalibrated, MovesWithAState) {
    output(fit(stations("a.csv", 600, 5), with(isotonic_, {"--time", "day"})));
    const std::string archive = folder_.path("a.csv");
    const std::string moved = folder_.path("moved.json");
    output({"update", folder_.path("m.json"), archive, "-o", moved});
    const std::string rows =
        folder_.file("new.csv", "x,mu,station,day\n0.5,0,east,2025-02-01\n0.5,0,west,2025-02-01\n");
    const std::vector<std::string> out = lines(output({"predict", moved, rows, "--quantiles", "0.95", "-o", "-"}));
    ASSERT_EQ(out.size(), 3U);
    EXPECT_GT(std::stod(cells(out[1])[6]), std::stod(cells(out[2])[6]) + 0.5);
    EXPECT_EQ(accrue({"replay", archive, "--model", folder_.path("m.json")}).status, 0);
    EXPECT_EQ(accrue({"monitor", folder_.path("m.json"), archive}).status, 0);
    const std::string words =
        refusal(accrue({"replay", archive, "--model", folder_.path("m.json"), "--refit", "30d", "--window", "90d"}));
    EXPECT_EQ(words.substr(0, 47), "--refit: the model was fitted with --recalibrat") << words;
}

TEST_F(GroupRecalibrated, RefusesAColumnThatIsNotThereOrTellsNothing) {
    const std::string archive = stations("a.csv", 300, 6);
    std::vector<std::string> arguments = fit(archive, isotonic_);
    *(std::find(arguments.begin(), arguments.end(), "station")) = "statoin";
    const std::string words = refusal(accrue(arguments));
    EXPECT_NE(words.find("'statoin'"), std::string::npos) << words;
    *(std::find(arguments.begin(), arguments.end(), "statoin")) = "e";
    EXPECT_EQ(refusal(accrue(arguments)),
              "--recalibrate-group e: no value has the 50 rows that a map of its own needs; the most frequent of 300 "
              "values has 1");
    EXPECT_EQ(refusal(accrue(fit(archive, {"--recalibrate", "none"}))),
              "--recalibrate-group is for a recalibration, but there is none: give --recalibrate auto");
}

}  // namespace
}  // namespace accrue::test
