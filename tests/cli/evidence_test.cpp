// Rows outside of the archive, later rows, and what rows are worth, through the command.
#include <fmt/format.h>

#include <string>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Evidence : public ModelCliTest {
protected:
    // Rows whose errors are `factor` times as large as those of archive(), which begin at x = `from`.
    std::string rows(const std::string& name, int count, double factor, double from = 0) const {
        core::Random random(77);
        std::string text = "x,mu,y,storm\n";
        for (int i = 0; i < count; ++i) {
            const double x = from + random.uniform();
            const double mu = random.normal();
            text += fmt::format("{},{},{},s{}\n", x, mu, mu + factor * (0.3 + x) * random.normal(), i / 10);
        }
        return folder_.file(name, text);
    }
    Json evaluated(const std::string& file, const std::vector<std::string>& more = {}) const {
        return Json::parse(output(with(
            {"evaluate", file, "--prediction", "mu", "--observation", "y", "--model", folder_.path("m.json"), "--json"},
            more)));
    }
};

TEST_F(Evidence, PredictWidensOrRefusesRowsOffSupportWhereItIsToldTo) {
    const std::string model = fitted();
    const std::string file = folder_.file("new.csv", "x,mu\n0.5,1\n2,1\n9,1\n");
    const auto sigma = [&](const std::vector<std::string>& more, std::size_t row) {
        const auto text = lines(output(with({"predict", model, file, "-o", "-"}, more)));
        return std::stod(cells(text[row])[3]);
    };
    EXPECT_EQ(sigma({}, 2), sigma({"--off-support", "flag"}, 2));
    EXPECT_EQ(sigma({"--off-support", "widen"}, 1), sigma({}, 1)) << "inside nothing changes";
    EXPECT_GT(sigma({"--off-support", "widen"}, 2), sigma({}, 2));
    EXPECT_GT(sigma({"--off-support", "widen"}, 3), sigma({"--off-support", "widen"}, 2));
    EXPECT_TRUE(refusal(accrue({"predict", model, file, "-o", folder_.path("out.csv"), "--off-support", "refuse"}))
                    .starts_with("--off-support refuse: row 2 lies outside the archive: x is "));
    EXPECT_EQ(refusal(accrue({"predict", model, file, "-o", "-", "--off-support", "wide"}))
                  .find("--off-support: must be one of {flag,refuse,widen}, but it is 'wide'"),
              0U);
}

TEST_F(Evidence, EvaluateScoresRowsOffSupportApart) {
    fitted();
    const Json half = evaluated(rows("half.csv", 200, 1, 0.5));
    ASSERT_TRUE(half.contains("off_support")) << half.dump(2);
    const Json& outside = half["off_support"];
    EXPECT_GT(outside["rows"], 50);
    EXPECT_NEAR(outside["rows"].get<double>() / 2, half["off_support_percent"].get<double>(), 1e-9);
    EXPECT_TRUE(outside.contains("crps") && outside.contains("coverage") && outside.contains("sd_z"));
    EXPECT_FALSE(outside.contains("reliability_diagram"));
    const std::string text = output({"evaluate", folder_.path("half.csv"), "--prediction", "mu", "--observation", "y",
                                     "--model", folder_.path("m.json")});
    EXPECT_NE(text.find("  CRPS there"), std::string::npos) << text;
    EXPECT_NE(text.find("90% interval coverage there"), std::string::npos) << text;
}

TEST_F(Evidence, EvaluateSaysWhenErrorsAreLargerThanAnyOfTheArchive) {
    output(fit_arguments(archive("a.csv", 400), {"--inputs", "x"}));
    const auto warned = [](const Json& figures) {
        return figures["verdict"]["remarks"].dump().find("nowhere in its archive were they more than") !=
               std::string::npos;
    };
    EXPECT_FALSE(warned(evaluated(rows("same.csv", 400, 1))));
    EXPECT_TRUE(warned(evaluated(rows("twice.csv", 400, 2.2))));
}

TEST_F(Evidence, LaterRowsRescaleTheModelOfAFit) {
    const std::string later = rows("later.csv", 300, 2);
    const auto arguments = fit_arguments(archive("a.csv", 400), {"--inputs", "x", "--later", later});
    const std::string text = output(arguments);
    EXPECT_NE(text.find("300 later rows: the best sigma is "), std::string::npos) << text;
    EXPECT_NE(text.find("\nLater rows:\n"), std::string::npos) << text;
    const Json model = Json::parse(folder_.content("m.json"));
    EXPECT_EQ(model["fit"]["later"]["rows"], 300);
    // The spread of 300 rows is known to 4%, that of the fit to 4%: six of these together.
    EXPECT_NEAR(model["fit"]["later"]["factor"].get<double>(), 2, 0.7);
    const Json figures = evaluated(rows("after.csv", 300, 2));
    EXPECT_NEAR(figures["sd_z"].get<double>(), 1, 0.2);
    const Json json = Json::parse(output(with(arguments, {"--json"})));
    EXPECT_EQ(json["fit"]["later"], model["fit"]["later"]);
}

TEST_F(Evidence, GroupsAndWhatDrivesTheForecastAreShown) {
    fitted();
    const Json alone = evaluated(rows("g.csv", 200, 1));
    const Json grouped = evaluated(folder_.path("g.csv"), {"--group", "storm"});
    EXPECT_EQ(alone["effective_rows"], 200);
    EXPECT_LE(grouped["effective_rows"], 200);
    EXPECT_TRUE(alone.contains("neighbour_correlation"));
    const std::string text = output({"show", folder_.path("m.json")});
    EXPECT_NE(text.find("What drives the forecast"), std::string::npos) << text;
    EXPECT_NE(text.find("location (sigmas)"), std::string::npos) << text;
}

}  // namespace
}  // namespace accrue::test
