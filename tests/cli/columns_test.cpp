// Columns from columns, patterns and missing values through the whole command: the same as columns made by hand.
#include <cmath>
#include <string>

#include "accrue/model.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Columns : public ModelCliTest {
protected:
    // An ensemble of three members, and its mean and spread as columns of their own.
    std::string ensemble(const std::string& name, int rows, std::uint64_t seed) const {
        core::Random random(seed);
        std::string text = "f1,f2,f3,y,centre,width,x\n";
        for (int i = 0; i < rows; ++i) {
            const double width = 0.2 + random.uniform();
            const double f1 = width * random.normal();
            const double f2 = width * random.normal();
            const double f3 = width * random.normal();
            const double mean = (f1 + f2 + f3) / 3;
            const auto square = [](double d) { return d * d; };
            const double spread = std::sqrt((square(f1 - mean) + square(f2 - mean) + square(f3 - mean)) / 2);
            text += fmt::format("{},{},{},{},{},{},{}\n", f1, f2, f3, width * random.normal(), mean, spread, width);
        }
        return folder_.file(name, text);
    }
    std::vector<std::string> fit(const std::string& file, const std::string& prediction, const std::string& inputs,
                                 const std::string& model) const {
        return {"fit",      file, "--prediction", prediction, "--observation", "y",  "--inputs",         inputs,
                "--starts", "1",  "--threads",    "1",        "--quiet",       "-o", folder_.path(model)};
    }
};

TEST_F(Columns, AFitOfComputedColumnsForecastsLikeOneOfColumnsMadeByHand) {
    const std::string file = ensemble("a.csv", 80, 1);
    output(fit(file, "mean(f*)", "spread(f?),x", "computed.json"));
    output(fit(file, "centre", "width,x", "by_hand.json"));
    const Model model = Model::load(folder_.path("computed.json"));
    EXPECT_EQ(model.prediction(), "mean(f1, f2, f3)");
    EXPECT_EQ(model.inputs(), (std::vector<std::string>{"spread(f1, f2, f3)", "x"}));
    const std::string new_rows = ensemble("new.csv", 40, 2);
    output({"predict", folder_.path("computed.json"), new_rows, "-o", folder_.path("c.csv")});
    output({"predict", folder_.path("by_hand.json"), new_rows, "-o", folder_.path("h.csv")});
    EXPECT_EQ(folder_.content("c.csv"), folder_.content("h.csv"));
    const std::string piped =
        output({"predict", folder_.path("computed.json"), "-", "-o", "-"}, {.input = folder_.content("new.csv")});
    EXPECT_EQ(piped, folder_.content("c.csv"));
    output({"evaluate", new_rows, "--prediction", "mean(f*)", "--observation", "y", "--model",
            folder_.path("computed.json"), "--sigma", "2 * spread(f*)"});
}

TEST_F(Columns, PatternsOfInputsAreWrittenOut) {
    output(fit(ensemble("a.csv", 60, 1), "centre", "f*,x", "m.json"));
    EXPECT_EQ(Model::load(folder_.path("m.json")).inputs(), (std::vector<std::string>{"f1", "f2", "f3", "x"}));
}

TEST_F(Columns, MissingValuesAreMarkedByNumbersAndTexts) {
    std::string text = "x,mu,y\n";
    for (int i = 0; i < 200; ++i)
        text += fmt::format("{},{},{}\n", i % 40 == 3 ? "-" : std::to_string(i % 23), i % 11,
                            i % 50 == 7 ? "-9999" : std::to_string(i % 13));
    const std::string file = folder_.file("a.csv", text);
    const std::vector<std::string> drop = {"--inputs", "x", "--missing", "drop", "--na", "-,n/a"};
    const std::string noted = output(fit_arguments(file, drop));
    EXPECT_NE(noted.find("Note: column 'y' is -9999 in 2.1% of the rows, far from all other values (0 to 12); if that "
                         "means a missing value, use --missing-value y=-9999\n"),
              std::string::npos)
        << noted;
    const std::string marked = output(fit_arguments(file, with(drop, {"--missing-value", "-9999"})));
    EXPECT_EQ(marked.find("Note:"), std::string::npos) << marked;
    EXPECT_NE(marked.find("191 rows of"), std::string::npos) << marked;
    EXPECT_NE(marked.find("9 dropped"), std::string::npos) << marked;
    const std::string predicted =
        output({"predict", folder_.path("m.json"), "-", "--missing-value", "x=-9999", "-o", "-"},
               {.input = "x,mu\n1,2\n-9999,2\n"});
    EXPECT_NE(predicted.find("\n-9999,2,,,\n"), std::string::npos) << predicted;
}

}  // namespace
}  // namespace accrue::test
