// `accrue reproduce`, small: numbers, not the bytes of pictures.
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "cli/cli_test.hpp"

namespace accrue::test {
namespace {

class Reproduce : public CliTest {
protected:
    std::string folder() const { return folder_.path("paper"); }
    Json numbers(const std::string& item) const {
        std::ifstream file(folder() + "/" + item + ".json");
        return Json::parse(file, nullptr, false);
    }
    std::string text(const std::string& name) const {
        std::ifstream file(folder() + "/" + name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::string made(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "reproduce");
        arguments.insert(arguments.end(), {"-o", folder(), "--quiet"});
        return output(arguments);
    }
};

TEST_F(Reproduce, Figure1HasTheLevelsThatItNames) {
    made({"figure1"});
    // The first row of NLPD = 0: log(sigma) + z^2/2 + log(2 pi)/2 = 0.
    std::ifstream file(folder() + "/figure1.csv");
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "score,level,sigma,error");
    std::size_t checked = 0;
    while (std::getline(file, line)) {
        char score[8];
        double level = 0, sigma = 0, error = 0;
        if (std::sscanf(line.c_str(), "%4s,%lf,%lf,%lf", score, &level, &sigma, &error) != 4) continue;
        const double z = error / sigma;
        const double nlpd = std::log(sigma) + z * z / 2 + 0.91893853320467274;
        const double crps = sigma * (z * std::erf(z / std::sqrt(2.0)) + std::sqrt(2 / M_PI) * std::exp(-z * z / 2) -
                                     1 / std::sqrt(M_PI));
        ASSERT_NEAR(std::string(score) == "NLPD" ? nlpd : crps, level, 1e-9) << line;
        ++checked;
    }
    EXPECT_GT(checked, 500U);
}

TEST_F(Reproduce, Figure2HasEqualNlpdAndUnequalCalibration) {
    EXPECT_NE(made({"figure2"}).find("files written to"), std::string::npos);
    const Json models = numbers("figure2").at("models");
    const auto nlpd = [&](std::size_t m) { return models[m].at("nlpd_without_constant").get<double>(); };
    const auto error = [&](std::size_t m) { return models[m].at("calibration_error_percent").get<double>(); };
    // Expected: the integral of log s over [1/2, 3/2], plus 1/2. A row's nlpd has a standard deviation of about 0.77,
    // so 1,000 rows have a standard error of 0.025; four of them.
    EXPECT_NEAR(nlpd(0), 0.4548, 0.1);
    EXPECT_NEAR(nlpd(1), nlpd(0), 1e-9);
    EXPECT_LT(error(0), 5.5);  // twice the floor
    EXPECT_GT(error(1), 15);
    ASSERT_EQ(models.size(), 7U);
    for (std::size_t m = 3; m < 7; ++m) {
        EXPECT_LT(nlpd(m), nlpd(m - 1));
        EXPECT_GT(error(m), error(m - 1));
    }
    EXPECT_NEAR(nlpd(6), 0.07, 0.1);
}

TEST_F(Reproduce, Figure4GoesOnWhereItStopped) {
    made({"figure4", "--runs", "2"});
    const std::string first = text("figure4.json");
    const std::string kept = folder() + "/runs/figure4/run001.json";
    ASSERT_TRUE(std::filesystem::exists(kept));
    const auto written = std::filesystem::last_write_time(kept);
    std::filesystem::remove(folder() + "/runs/figure4/run002.json");
    made({"figure4", "--runs", "2"});
    EXPECT_EQ(text("figure4.json"), first);
    EXPECT_EQ(std::filesystem::last_write_time(kept), written);
    const Json figure = numbers("figure4");
    for (const Json& variant : figure.at("variants")) {
        EXPECT_GT(variant.at("rmse_of_runs"), 0);
        EXPECT_LT(variant.at("rmse_of_runs"), 0.6);
    }
    // Half a file is no result.
    std::ofstream(kept) << "{\"accrue\":";
    made({"figure4", "--runs", "2"});
    EXPECT_EQ(text("figure4.json"), first);
    // Nor is that of another build, whose numbers may differ.
    Json run = Json::parse(text("runs/figure4/run001.json"));
    ASSERT_FALSE(run.at("origin").at("build").get<std::string>().empty());
    run["origin"]["build"] = "another";
    run["result"]["exact-network"][0] = 99;
    std::ofstream(kept) << run.dump();
    made({"figure4", "--runs", "2"});
    EXPECT_EQ(text("figure4.json"), first);
    // Another seed gives other numbers.
    made({"figure4", "--runs", "2", "--seed", "2"});
    EXPECT_NE(text("figure4.json"), first);
}

TEST_F(Reproduce, Figure3FindsTheRangeOfSigma) {
    made({"figure3"});
    // 0.45*(cos + 1.2): between 0.09 and 0.99.
    EXPECT_NEAR(numbers("figure3").at("5D").at("min_sigma").get<double>(), 0.09, 1e-4);
    EXPECT_NEAR(numbers("figure3").at("5D").at("max_sigma").get<double>(), 0.99, 1e-4);
    for (const char* set : {"G", "Y", "W"})
        EXPECT_LT(numbers("figure3").at(set).at("gp_rmse").get<double>(), 0.35) << set;
}

TEST_F(Reproduce, Table1SaysWhereItsDataComeFrom) {
    const std::string message = refusal(accrue({"reproduce", "table1", "-o", folder(), "--quiet"}));
    EXPECT_NE(message.find("UCI Machine Learning Repository"), std::string::npos);
    EXPECT_NE(message.find("--data"), std::string::npos);
    EXPECT_EQ(refusal(accrue({"reproduce", "all", "-o", folder(), "--quiet"})), message);
    EXPECT_FALSE(std::filesystem::exists(folder())) << "nothing is done before";
    EXPECT_EQ(refusal(accrue({"reproduce", "table1", "--sets", "iris", "-o", folder(), "--quiet"})),
              "there is no set 'iris'; known are boston, concrete, energy, kin8nm, power, protein, wine, yacht");
    std::filesystem::create_directory(folder_.path("uci"));
    folder_.file("uci/bostonHousing.txt", "1 2 3\n");
    EXPECT_NE(refusal(accrue({"reproduce", "table1", "--data", folder_.path("uci"), "-o", folder(), "--quiet"}))
                  .find("bostonHousing.txt"),
              std::string::npos);
}

TEST_F(Reproduce, RefusesWhatIsNotInThePaper) {
    EXPECT_EQ(
        refusal(accrue({"reproduce", "figure8", "-o", folder()})),
        "'figure8' cannot be reproduced; known are figure1, figure2, figure3, figure4, figure5, figure6, figure7, "
        "table1");
}

TEST_F(Reproduce, AFullDiskIsAnError) {
    // Room for the numbers of the figure, but not for the page.
    const RunOptions small{.in_child = [] {
        const rlimit limit{500'000, 500'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }};
    EXPECT_EQ(refusal(accrue({"reproduce", "figure1", "-o", folder(), "--quiet"}, small), 1),
              "cannot write paper/index.html: File too large");
    EXPECT_TRUE(std::filesystem::exists(folder() + "/figure1.json")) << "what was written before stays";
    EXPECT_FALSE(std::filesystem::exists(folder() + "/index.html"));
}

}  // namespace
}  // namespace accrue::test
