// accrue predict on text tables, and accrue evaluate --model: the same numbers as in C++, whatever way they go.
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "accrue/model.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Predict : public ModelCliTest {
protected:
    static double number(const std::string& cell) { return std::strtod(cell.c_str(), nullptr); }
};

TEST_F(Predict, AddsWhatTheLibraryComputesToTheLastBit) {
    const std::string file = fitted({"--inputs", "x,mu", "--bias", "linear"});
    const std::string new_rows = archive("new.csv", 50, 4);
    output({"predict", file, new_rows, "--quantiles", "0.05,0.5", "--interval", "0.9", "-o", folder_.path("out.csv")});
    const auto before = lines(folder_.content("new.csv"));
    const auto after = lines(folder_.content("out.csv"));
    ASSERT_EQ(after.size(), before.size());
    EXPECT_EQ(after[0], before[0] + ",mean,sigma,q0.05,q0.5,lower_0.9,upper_0.9,off_support");
    const Model model = Model::load(file);
    for (std::size_t i = 1; i < after.size(); ++i) {
        ASSERT_TRUE(after[i].starts_with(before[i] + ",")) << "columns are kept to the letter";
        const auto row = cells(after[i]);
        const double x = number(row[0]);
        const double mu = number(row[1]);
        const std::vector<std::span<const double>> inputs = {{&x, 1}, {&mu, 1}};
        const Forecast forecast = model.forecast(inputs, std::span(&mu, 1));
        const Distribution gaussian = forecast.row(0);
        EXPECT_EQ(number(row[8]), gaussian.mean);
        EXPECT_EQ(number(row[9]), gaussian.sigma);
        EXPECT_EQ(number(row[10]), gaussian.quantile(0.05));
        EXPECT_EQ(number(row[11]), gaussian.quantile(0.5));
        EXPECT_EQ(number(row[12]), gaussian.interval(0.9).low);
        EXPECT_EQ(number(row[13]), gaussian.interval(0.9).high);
        EXPECT_EQ(row[14], forecast.off_support[0] != 0 ? "1" : "0");
    }
}

TEST_F(Predict, KeepsQuotesBlanksAndLineEndsAndFlagsWhatIsOffSupport) {
    const std::string file = fitted();
    const std::string rows =
        "\"name, first\",x,mu\r\n\"a \"\"b\"\"\", 0.5 ,1.0\r\nplain,,1\r\nfar,100,1\r\nnone,0.5,NA\r\n";
    const std::string out = output({"predict", file, "-", "-o", "-"}, {.input = rows});
    const auto after = lines(out);
    ASSERT_EQ(after.size(), 5U);
    EXPECT_EQ(after[0], "\"name, first\",x,mu,mean,sigma,off_support\r");
    EXPECT_TRUE(after[1].starts_with("\"a \"\"b\"\"\", 0.5 ,1.0,1,")) << after[1];
    EXPECT_TRUE(after[1].ends_with(",0\r")) << after[1];
    EXPECT_EQ(after[2], "plain,,1,,,\r") << "a row with a missing input keeps its place";
    EXPECT_TRUE(after[3].ends_with(",1\r")) << "100 is far from the archive's inputs: " << after[3];
    EXPECT_EQ(after[4], "none,0.5,NA,,,\r");
}

TEST_F(Predict, NeedsNoPredictionForAModelOfErrors) {
    const std::string file = folder_.path("m.json");
    output({"fit", archive(), "--error", "e", "--inputs", "x", "--starts", "1", "--quiet", "-o", file});
    const std::string out = output({"predict", file, "-", "-o", "-"}, {.input = "x\n0.5\n"});
    EXPECT_EQ(lines(out)[0], "x,sigma,off_support");
    const std::string around =
        output({"predict", file, "-", "--prediction", "m", "--interval", "0.5", "-o", "-"}, {.input = "x,m\n0.5,3\n"});
    EXPECT_EQ(lines(around)[0], "x,m,mean,sigma,lower_0.5,upper_0.5,off_support");
    EXPECT_EQ(cells(lines(around)[1])[2], "3");
    EXPECT_EQ(
        refusal(accrue({"predict", file, "-", "--interval", "0.5", "-o", "-"}, {.input = "x\n0.5\n"})),
        "quantiles, intervals, probabilities and draws lie around a prediction: name its column with --prediction");
}

TEST_F(Predict, GivesAConstantFittedToErrorsToEveryRow) {
    const std::string file = folder_.path("m.json");
    const std::string rows = archive();
    output({"fit", rows, "--error", "e", "--form", "constant", "--quiet", "-o", file});
    const auto out = lines(output({"predict", file, "-", "-o", "-"}, {.input = "note\nfirst\nsecond\n"}));
    ASSERT_EQ(out.size(), 3U);
    EXPECT_EQ(out[0], "note,sigma,off_support");
    // Errors are 0.3 to 1.3 wide.
    EXPECT_GT(number(cells(out[1])[1]), 0.3) << out[1];
    EXPECT_LT(number(cells(out[1])[1]), 1.3) << out[1];
    EXPECT_EQ(cells(out[1])[1], cells(out[2])[1]);
    EXPECT_EQ(json({"evaluate", rows, "--error", "e", "--model", file})["rows"], 60);
}

TEST_F(Predict, DrawsFromEveryForecast) {
    const std::string file = fitted();
    const std::string rows = archive("new.csv", 4000, 5);
    const auto drawn = [&](const std::vector<std::string>& more) {
        return lines(output(with({"predict", file, rows, "--draws", "5", "-o", "-"}, more)));
    };
    const auto out = drawn({"--seed", "7"});
    ASSERT_EQ(out.size(), 4001U);
    EXPECT_TRUE(out[0].ends_with(",mean,sigma,draw_1,draw_2,draw_3,draw_4,draw_5,off_support")) << out[0];
    double sum = 0;
    double squares = 0;
    double neighbours = 0;  // products with the draw before it, of the row or of the row before
    double before = 0;
    for (std::size_t i = 1; i < out.size(); ++i) {
        const auto row = cells(out[i]);
        for (std::size_t k = 10; k < 15; ++k) {
            const double z = (number(row[k]) - number(row[8])) / number(row[9]);
            sum += z;
            squares += z * z;
            neighbours += z * before;
            before = z;
        }
    }
    // 20,000 independent standard normal numbers: five standard errors of a mean, 1/sqrt(20,000), are 0.035, and
    // sqrt(2) times as much of a variance. A false alarm in 10^6 seeds, and this one is fixed.
    EXPECT_NEAR(sum / 20'000, 0, 0.035);
    EXPECT_NEAR(squares / 20'000, 1, 0.05);
    EXPECT_NEAR(neighbours / 20'000, 0, 0.035);
    EXPECT_EQ(drawn({"--seed", "7", "--threads", "1"}), out);
    EXPECT_NE(drawn({"--seed", "8"}), out);
    EXPECT_NE(drawn({}), out) << "the seed is 1";
    EXPECT_EQ(drawn({}), drawn({"--seed", "1"}));

    // A row's draws are its own, wherever the bytes are cut: through a pipe, and in two files.
    EXPECT_EQ(lines(output({"predict", file, "-", "--draws", "5", "--seed", "7", "-o", "-"},
                           {.input = folder_.content("new.csv")})),
              out);
    const auto all = lines(folder_.content("new.csv"));
    std::string first, second = all[0] + "\n";
    for (std::size_t i = 0; i < all.size(); ++i) (i < 1234 ? first : second) += all[i] + "\n";
    EXPECT_EQ(lines(output({"predict", file, folder_.file("1.csv", first), folder_.file("2.csv", second), "--draws",
                            "5", "--seed", "7", "-o", "-"})),
              out);
    EXPECT_EQ(refusal(accrue({"predict", file, rows, "--draws", "1001", "-o", "-"})),
              "--draws is 1001, but must be at most 1000");
}

TEST_F(Predict, FarBeyondABoundTheForecastIsTheBound) {
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--family", "normal"},
                                                 {"--family", "sinh-arcsinh"},
                                                 {"--family", "normal", "--recalibrate", "isotonic"},
                                                 {"--upper", "1e7"}}) {
        SCOPED_TRACE(more.back());
        const std::string file = fitted(
            with({"--inputs", "x", "--form", "constant", "--bias", "none", "--lower", "-9", "--bound-kind", "censored"},
                 more));
        const auto out = lines(
            output({"predict", file, "-", "--quantiles", "0.05,0.95", "--exceed", "-9,0", "--draws", "1", "-o", "-"},
                   {.input = "x,mu\n0.5,-40\n0.5,-300\n0.5,-1e4\n"}));
        ASSERT_EQ(out.size(), 4U);
        EXPECT_TRUE(out[0].starts_with("x,mu,mean,sigma,q0.05,q0.95,above_-9,above_0,draw_1")) << out[0];
        for (std::size_t i = 1; i < out.size(); ++i) {
            const auto row = cells(out[i]);
            EXPECT_NEAR(number(row[2]), -9, 1e-9) << out[i];
            EXPECT_GT(number(row[3]), 0) << out[i];
            EXPECT_LT(number(row[3]), 1e-9) << out[i];
            EXPECT_NEAR(number(row[4]), -9, 1e-9) << out[i];
            EXPECT_NEAR(number(row[5]), -9, 1e-9) << out[i];
            EXPECT_NEAR(number(row[6]), 0, 1e-9) << out[i];
            EXPECT_NEAR(number(row[7]), 0, 1e-9) << out[i];
            EXPECT_NEAR(number(row[8]), -9, 1e-9) << out[i];
        }
    }
}

TEST_F(Predict, ProbabilitiesOfMoreAreThoseOfTheQuantiles) {
    // Around a normal distribution, a censored one, and maps around either: a quantile is exceeded as often as it says.
    const std::string rows = "x,mu\n0.5,1\n";
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{},
          {"--recalibrate", "isotonic"},
          {"--lower", "-9", "--bound-kind", "censored"},
          {"--lower", "-9", "--bound-kind", "censored", "--family", "sinh-arcsinh", "--recalibrate", "isotonic"}}) {
        const std::string file = fitted(with({"--inputs", "x", "--form", "constant"}, more));
        const auto probabilities = [&](const std::string& thresholds) {
            const auto out = lines(output({"predict", file, "-", "--exceed", thresholds, "-o", "-"}, {.input = rows}));
            std::vector<double> above;
            const auto names = cells(out[0]);
            for (std::size_t k = 0; k < names.size(); ++k)
                if (names[k].starts_with("above_")) above.push_back(number(cells(out[1])[k]));
            return above;
        };
        const auto out =
            lines(output({"predict", file, "-", "--quantiles", "0.1,0.5,0.95", "-o", "-"}, {.input = rows}));
        const auto names = cells(out[0]);
        std::string thresholds;
        for (std::size_t k = 0; k < names.size(); ++k)
            if (names[k].starts_with("q")) thresholds += (thresholds.empty() ? "" : ",") + cells(out[1])[k];
        const std::vector<double> above = probabilities(thresholds);
        ASSERT_EQ(above.size(), 3U) << thresholds;
        EXPECT_NEAR(above[0], 0.9, 1e-9);
        EXPECT_NEAR(above[1], 0.5, 1e-9);
        EXPECT_NEAR(above[2], 0.05, 1e-9);
        const std::vector<double> ends = probabilities("-1000,1000");
        EXPECT_NEAR(ends[0], 1, 1e-6);
        EXPECT_NEAR(ends[1], 0, 1e-6);
    }
}

TEST_F(Predict, DrawsStayWithinBounds) {
    const std::string file = fitted({"--inputs", "x", "--lower", "-100", "--upper", "8", "--bound-kind", "censored"});
    const auto out = lines(output({"predict", file, "-", "--draws", "200", "-o", "-"}, {.input = "x,mu\n0.5,8\n,1\n"}));
    const auto row = cells(out[1]);
    std::size_t on_bound = 0;
    for (std::size_t k = 4; k < 204; ++k) {
        EXPECT_LE(number(row[k]), 8);
        on_bound += number(row[k]) == 8 ? 1 : 0;
    }
    // Half of them, give or take five standard deviations of 7.
    EXPECT_GT(on_bound, 65U);
    EXPECT_LT(on_bound, 135U);
    EXPECT_EQ(out[2], ",1" + std::string(203, ','));
}

TEST_F(Predict, TakesThePredictionFromAnotherColumn) {
    const std::string file = fitted();
    const std::string out =
        output({"predict", file, "-", "--prediction", "other", "-o", "-"}, {.input = "x,other\n0.5,7\n"});
    EXPECT_EQ(cells(lines(out)[1])[2], "7");
}

TEST_F(Predict, PoolsFilesAndMayWriteOverOne) {
    const std::string file = fitted();
    const std::string first = folder_.file("1.csv", "x,mu\n0.1,1\n");
    const std::string second = folder_.file("2.csv", "x,mu\n0.2,2\n");
    output({"predict", file, first, second, "-o", first});
    EXPECT_EQ(lines(folder_.content("1.csv")).size(), 3U);
}

TEST_F(Predict, RefusesNamesThatAreTakenAndColumnsThatAreNotThere) {
    const std::string file = fitted();
    const auto message = [&](const std::string& input, const std::vector<std::string>& more = {}) {
        return refusal(accrue(with({"predict", file, "-", "-o", "-"}, more), {.input = input}));
    };
    EXPECT_EQ(message("x,mu,sigma\n1,2,3\n"), "standard input already has a column 'sigma'; rename it or drop it");
    EXPECT_EQ(message("x,mu,q0.05\n1,2,3\n", {"--quantiles", "0.05"}),
              "standard input already has a column 'q0.05'; rename it or drop it");
    EXPECT_EQ(message("X,mu\n1,2\n"), "standard input has no column 'x'; did you mean 'X'? Columns: X, mu");
    EXPECT_EQ(message("x,m\n1,2\n"), "standard input has no column 'mu'. Columns: x, m");
    EXPECT_EQ(message("x,mu\n1,2\n", {"--quantiles", "0.5,0.5"}), "the column 'q0.5' would be added twice");
    EXPECT_EQ(message("x,mu\n1,2\n", {"--quantiles", "1"}), "--quantiles: 1 is not between 0 and 1");
    EXPECT_EQ(message("x,mu\n1,2\n", {"--interval", "90"}), "--interval: 90 is not between 0 and 1");
}

TEST_F(Predict, EvaluateOfAModelEqualsEvaluateOfItsPredictions) {
    const std::string rows = archive("new.csv", 200, 8);
    for (const char* bias : {"none", "linear"}) {
        const std::string file = fitted({"--inputs", "x,mu", "--bias", bias});
        output({"predict", file, rows, "-o", folder_.path("out.csv")});
        Json direct = json({"evaluate", rows, "--prediction", "mu", "--observation", "y", "--weight", "w", "--group",
                            "station", "--model", file});
        Json by_file = json({"evaluate", folder_.path("out.csv"), "--prediction", "mean", "--observation", "y",
                             "--weight", "w", "--group", "station", "--sigma", "sigma"});
        // The one knows the model, the other the flags that it gave.
        double all = 0, outside = 0;
        const std::vector<std::string> predicted = lines(folder_.content("out.csv"));
        for (std::size_t i = 1; i < predicted.size(); ++i) {
            const std::vector<std::string> row = cells(predicted[i]);
            all += std::stod(row[6]);
            outside += row.back() == "1" ? std::stod(row[6]) : 0;
        }
        ASSERT_GT(outside, 0) << "or the test would see nothing";
        EXPECT_NEAR(direct["off_support_percent"].get<double>(), 100 * outside / all, 1e-12);
        const std::string report = output({"evaluate", rows, "--prediction", "mu", "--observation", "y", "--weight",
                                           "w", "--model", file, "--sigma", "true_sigma"});
        EXPECT_NE(report.find(fmt::format("{:.2f}%", 100 * outside / all)), std::string::npos) << report;
        EXPECT_GT(direct["off_support"]["rows"].get<int>(), 0);
        EXPECT_EQ(direct["verdict"]["summary"], by_file["verdict"]["summary"]);
        for (const char* key : {"name", "off_support_percent", "off_support", "verdict"}) {
            direct.erase(key);
            by_file.erase(key);
        }
        EXPECT_EQ(direct, by_file) << bias;
    }
    const Json both = json({"evaluate", rows, "--prediction", "mu", "--observation", "y", "--model",
                            folder_.path("m.json"), "--model", folder_.path("m.json"), "--sigma", "true_sigma"});
    ASSERT_EQ(both["forecasts"].size(), 3U);
    EXPECT_EQ(both["forecasts"][2]["name"], "true_sigma") << "columns stand where they are given";
    EXPECT_EQ(refusal(accrue({"evaluate", rows, "--error", "e", "--model", folder_.path("m.json")})),
              "m.json corrects the prediction: give --prediction and --observation in place of --error");
}

TEST_F(Predict, StreamsAMillionRowsInLittleMemory) {
    const std::string file = fitted({"--inputs", "x", "--form", "polynomial"});
    support::Process process(command({"predict", file, "-", "-o", "/dev/null", "--threads", "2"}), [] {
        const rlimit limit{80U << 20U, 80U << 20U};  // less than the rows take
        support::limit_data(limit);
    });
    process.write("x,mu,note\n");
    std::string block;
    for (int i = 0; i < 10'000; ++i)
        block += fmt::format(
            "{},{},a note that makes the row one hundred and some bytes long as rows in archives are\n", 0.0001 * i, i);
    for (int i = 0; i < 100; ++i) process.write(block);
    const Ended run = process.wait();
    EXPECT_EQ(run.status, 0) << run.err;
}

}  // namespace
}  // namespace accrue::test
