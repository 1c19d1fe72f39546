// Archives without predictions: `accrue fit --mean`, and what the other commands make of such a model.
#include <cmath>
#include <fstream>

#include "cli/model_cli_test.hpp"
#include "support/archives.hpp"

namespace accrue::test {
namespace {

class Mean : public ModelCliTest {
protected:
    // x and y = sin(x) + noise.
    std::string curve(const std::string& name, int rows, std::uint64_t seed) const {
        core::Random random(seed);
        std::string text = "x,y\n";
        for (int i = 0; i < rows; ++i) {
            const double x = random.uniform(0, 6);
            text += fmt::format("{},{}\n", x, std::sin(x) + 0.1 * random.normal());
        }
        return folder_.file(name, text);
    }
    std::string learned(const std::string& kind) const {
        output({"fit", curve("a.csv", 100, 1), "--inputs", "x", "--observation", "y", "--mean", kind, "--form",
                "constant", "--quiet", "-o", folder_.path("m.json")});
        return folder_.path("m.json");
    }
};

TEST_F(Mean, TakesABoundOfTheObservations) {
    output({"fit", curve("a.csv", 100, 1), "--inputs", "x", "--observation", "y", "--mean", "network", "--form",
            "constant", "--lower", "-6", "--quiet", "-o", folder_.path("m.json")});
    EXPECT_EQ(Json::parse(folder_.content("m.json"))["bounds"]["lower"], -6);
}

TEST_F(Mean, IsLearnedUsedAndJudged) {
    for (const std::string& kind : support::learned_means()) {
        SCOPED_TRACE(kind);
        const std::string model = learned(kind);
        const std::string later = curve("later.csv", 500, 2);
        const Json scores = json({"evaluate", later, "--observation", "y", "--model", model});
        EXPECT_NEAR(scores.at("rmse").get<double>(), 0.1, 0.03);
        EXPECT_NEAR(scores.at("coverage")[1].at("observed").get<double>(), 0.9, 0.06);

        output({"predict", model, later, "--interval", "0.9", "-o", folder_.path("out.csv")});
        std::ifstream file(folder_.path("out.csv"));
        std::string line;
        std::getline(file, line);
        EXPECT_EQ(line, "x,y,mean,sigma,lower_0.9,upper_0.9,off_support");
        std::getline(file, line);
        EXPECT_NEAR(std::stod(cells(line)[2]), std::sin(std::stod(cells(line)[0])), 0.2);
        EXPECT_NE(output({"show", model}).find("mean"), std::string::npos);
    }
}

TEST_F(Mean, IsLearnedTogetherWithTheScaleFromAConstant) {
    const std::string model = folder_.path("m.json");
    const std::string later = curve("later.csv", 500, 2);
    output({"fit", curve("a.csv", 600, 1), "--inputs", "x", "--observation", "y", "--mean", "constant", "--bias",
            "network", "--starts", "1", "--quiet", "-o", model});
    EXPECT_NEAR(json({"evaluate", later, "--observation", "y", "--model", model}).at("rmse").get<double>(), 0.1, 0.03);
    output({"predict", model, later, "-o", folder_.path("out.csv")});
    const std::vector<std::string> rows = lines(folder_.content("out.csv"));
    EXPECT_EQ(rows[0], "x,y,mean,sigma,off_support");
    EXPECT_NEAR(std::stod(cells(rows[1])[2]), std::sin(std::stod(cells(rows[1])[0])), 0.2);
    EXPECT_NE(output({"show", model}).find("mean              constant"), std::string::npos);
}

TEST_F(Mean, AndPredictionsExcludeEachOther) {
    const std::string model = learned("gp");
    const std::string file = archive("b.csv");
    EXPECT_EQ(refusal(accrue({"evaluate", file, "--prediction", "mu", "--observation", "y", "--model", model})),
              "m.json has a mean of its own: give --observation alone");
    EXPECT_EQ(refusal(accrue({"predict", model, file, "--prediction", "mu", "-o", "-"})),
              "the model has a mean of its own: it takes no --prediction");
    EXPECT_EQ(refusal(accrue({"evaluate", file, "--observation", "y", "--sigma", "true_sigma"})),
              "--sigma lies around a prediction: give --prediction");
    EXPECT_EQ(refusal(accrue({"evaluate", file, "--observation", "y", "--model", fitted()})),
              "m.json has no mean of its own: give --prediction");
    const std::string help = " ('accrue fit --help' explains the options)";
    EXPECT_EQ(refusal(accrue({"fit", file, "--observation", "y", "-o", model})),
              "give a --prediction, or --mean auto to learn one" + help);
    EXPECT_EQ(refusal(accrue({"fit", file, "--error", "e", "--mean", "gp", "-o", model})),
              "--mean gp learns the mean from the observations: give --observation alone" + help);
}

TEST_F(Mean, OfTooManyRowsWantsTheNetwork) {
    const std::string message = refusal(accrue({"fit", curve("many.csv", 6300, 3), "--inputs", "x", "--observation",
                                                "y", "--mean", "gp", "--quiet", "-o", folder_.path("m.json")}));
    EXPECT_NE(message.find("5000"), std::string::npos) << message;
    EXPECT_NE(message.find("network"), std::string::npos) << message;
}

}  // namespace
}  // namespace accrue::test
