// `accrue fit --recalibrate`, and what the other commands make of such a model.
#include <cmath>
#include <fstream>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Recalibrated : public ModelCliTest {
protected:
    // Normal errors, 3% of them replaced by 12 times an exponential: one side has a heavy tail.
    std::string heavy(const std::string& name, int rows, std::uint64_t seed) const {
        core::Random random(seed);
        std::string text = "x,mu,y,e\n";
        for (int i = 0; i < rows; ++i) {
            const double x = random.uniform();
            const double e = random.uniform() < 0.03 ? -12 * std::log(1 - random.uniform()) : random.normal();
            text += fmt::format("{},{},{},{}\n", x, 10 * x, 10 * x + e, e);
        }
        return folder_.file(name, text);
    }
    std::string model() const {
        const std::string path = folder_.path("m.json");
        output({"fit", heavy("a.csv", 5000, 1), "--inputs", "x", "--prediction", "mu", "--observation", "y",
                "--recalibrate", "isotonic", "--form", "constant", "--quiet", "-o", path});
        return path;
    }
};

TEST_F(Recalibrated, ForecastsOfHeavyTailsAreScoredAsTheyAre) {
    const std::string later = heavy("later.csv", 5000, 2);
    const std::string path = model();
    const Json scores = json({"evaluate", later, "--prediction", "mu", "--observation", "y", "--model", path});
    // A CRPS lies between 0 and the mean distance to the median, here 1.13.
    EXPECT_GT(scores.at("crps").get<double>(), 0.5);
    EXPECT_LT(scores.at("crps").get<double>(), 1.1);
    EXPECT_GT(scores.at("crps_skill").get<double>(), 0);
    EXPECT_LT(scores.at("crps_skill").get<double>(), 1);
    // Map and rows deviate by a floor of 1.2% each.
    EXPECT_LT(scores.at("calibration_error_percent").get<double>(), 4);
    EXPECT_NEAR(scores.at("coverage")[1].at("observed").get<double>(), 0.9, 0.02);
    // The forecast's own spread is that of errors about its own mean; heavy tails make both rough.
    EXPECT_NEAR(scores.at("sharpness").get<double>() / scores.at("rmse").get<double>(), 1, 0.25);
    // z is no longer e/sigma.
    const std::string words = output({"evaluate", later, "--error", "e", "--model", path});
    EXPECT_NE(words.find("Mean of z (0: no bias)"), std::string::npos) << words;
    EXPECT_EQ(words.find("e/sigma"), std::string::npos) << words;
    // Errors alone tell the same.
    const Json errors = json({"evaluate", later, "--error", "e", "--model", path});
    for (const char* figure : {"crps", "crps_skill", "calibration_error_percent", "rmse", "sharpness", "mean_z"})
        EXPECT_NEAR(errors.at(figure).get<double>(), scores.at(figure).get<double>(), 1e-9) << figure;
}

TEST_F(Recalibrated, MeanAndSigmaAreTheForecastsOwn) {
    const std::string later = heavy("later.csv", 3, 2);
    const std::string path = model();
    output({"predict", path, later, "--quantiles", "0.5", "-o", folder_.path("out.csv")});
    std::ifstream file(folder_.path("out.csv"));
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "x,mu,y,e,mean,sigma,q0.5,gaussian_mean,gaussian_sigma,off_support");
    while (std::getline(file, line)) {
        const auto cell = [&](std::size_t k) { return std::stod(cells(line)[k]); };
        // Of the errors the mean is 0.03*12 = 0.36, the median 0.04, the standard deviation 3.0.
        EXPECT_NEAR(cell(4) - cell(1), 0.36, 0.2);
        EXPECT_NEAR(cell(6) - cell(1), 0.04, 0.1);
        EXPECT_NEAR(cell(5), 3.0, 0.6);
        EXPECT_NEAR(cell(7), cell(1), 1e-9);
        EXPECT_GT(cell(8), 0);
        EXPECT_GT(std::fabs(cell(8) / cell(5) - 1), 0.05);
    }
}

TEST_F(Recalibrated, ConformalIntervalsAreStatedAndPredicted) {
    const std::string archive = heavy("c.csv", 400, 3);
    const std::string path = folder_.path("c.json");
    const std::vector<std::string> fit = {
        "fit",    archive,    "--inputs",      "x",         "--prediction",        "mu",   "--observation", "y",
        "--form", "constant", "--recalibrate", "conformal", "--calibration-share", "0.25", "--quiet",       "-o",
        path};
    const std::string words = output(fit);
    // 100 rows set apart: 91 of 101 parts between the fifth from either end.
    EXPECT_NE(words.find("Guarantee:"), std::string::npos) << words;
    EXPECT_NE(words.find("90.1%"), std::string::npos) << words;
    EXPECT_NE(output({"show", path}).find("recalibration: conformal"), std::string::npos);
    const Json outcome = json(fit).at("fit").at("recalibration");
    EXPECT_EQ(outcome.at("kind"), "conformal");
    EXPECT_EQ(outcome.at("rows"), 100);
    EXPECT_EQ(outcome.at("finite_sample_guarantee"), true);
    // What is predicted is what evaluation counts, row by row.
    const std::string later = heavy("later.csv", 500, 4);
    output({"predict", path, later, "--interval", "0.9", "-o", folder_.path("out.csv")});
    std::ifstream file(folder_.path("out.csv"));
    std::string line;
    std::getline(file, line);
    ASSERT_EQ(line, "x,mu,y,e,mean,sigma,lower_0.9,upper_0.9,gaussian_mean,gaussian_sigma,off_support");
    int inside = 0;
    while (std::getline(file, line)) {
        const auto cell = [&](std::size_t k) { return std::stod(cells(line)[k]); };
        inside += cell(2) >= cell(6) && cell(2) <= cell(7) ? 1 : 0;
    }
    const Json scores = json({"evaluate", later, "--prediction", "mu", "--observation", "y", "--model", path});
    EXPECT_NEAR(scores.at("coverage")[1].at("observed").get<double>(), inside / 500.0, 1e-12);
    // 100 rows leave 3 points, 500 more 1.3: three standard errors.
    EXPECT_NEAR(inside / 500.0, 0.901, 0.1);
}

TEST_F(Recalibrated, SharesThatServeNothingAreRefused) {
    const std::string archive = heavy("r.csv", 100, 5);
    const auto refused = [&](const std::vector<std::string>& more) {
        return refusal(accrue(with({"fit", archive, "--inputs", "x", "--error", "e", "--form", "constant", "--quiet",
                                    "-o", folder_.path("r.json")},
                                   more)));
    };
    EXPECT_EQ(refused({"--calibration-share", "0.25", "--recalibrate", "none"}),
              "--calibration-share sets rows apart for a recalibration, but there is none: give --recalibrate "
              "conformal, or no share");
    EXPECT_EQ(refused({"--calibration-share", "0.1", "--recalibrate", "conformal"}),
              "--calibration-share 0.1 of 100 rows sets 10 apart, but a central 90% interval needs at least 19: give a "
              "larger share, or none to calibrate by rows out of fold");
    EXPECT_NE(refused({"--calibration-share", "1", "--recalibrate", "conformal"})
                  .find("--calibration-share is 1, but must be between 0 and 0.9"),
              std::string::npos);
}

}  // namespace
}  // namespace accrue::test
