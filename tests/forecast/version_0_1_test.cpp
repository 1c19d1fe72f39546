// Model files of version 0.1, and what that version predicted from them: version-0.1/NAME.json and NAME.csv.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "accrue/model.hpp"
#include "support/places.hpp"

namespace accrue {
namespace {

using Columns = std::map<std::string, std::vector<double>>;

Columns read(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::vector<std::string> names;
    std::istringstream header(line);
    for (std::string name; std::getline(header, name, ',');) names.push_back(name);
    Columns columns;
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::string cell;
        for (const std::string& name : names) {
            std::getline(cells, cell, ',');
            columns[name].push_back(std::strtod(cell.c_str(), nullptr));
        }
    }
    return columns;
}

class Version01 : public testing::TestWithParam<const char*> {};

TEST_P(Version01, FilesPredictTheSameQuantiles) {
    const std::string path = support::in_source("tests/forecast/version-0.1/") + GetParam();
    const Model model = Model::load(path + ".json");
    const Columns old = read(path + ".csv");
    const std::vector<double>& x = old.at("x");
    ASSERT_EQ(x.size(), 20U);
    const std::vector<std::span<const double>> inputs = {x};
    const Forecast forecast =
        model.forecast(inputs, model.has_mean() ? std::span<const double>{} : std::span(old.at("mu")));
    std::size_t compared = 0;
    for (const auto& [name, values] : old) {
        if (name[0] != 'q') continue;
        const double probability = std::strtod(name.c_str() + 1, nullptr);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double scale = std::fabs(values[i]) + forecast.sigma[i];
            EXPECT_NEAR(forecast.row(i).quantile(probability), values[i], 1e-12 * scale) << name << ", row " << i;
            ++compared;
        }
    }
    EXPECT_GE(compared, 40U);
    for (std::size_t i = 0; i < x.size(); ++i) {
        // What that version called mean and sigma is the Gaussian before recalibration.
        EXPECT_NEAR(forecast.row(i).scale(), old.at("sigma")[i], 1e-12 * old.at("sigma")[i]);
        EXPECT_NEAR(forecast.row(i).location(), old.at("mean")[i],
                    1e-12 * (std::fabs(old.at("mean")[i]) + forecast.sigma[i]));
    }
}

TEST_P(Version01, FilesAreWrittenAsTheyWereRead) {
    const std::string path = support::in_source("tests/forecast/version-0.1/") + GetParam() + ".json";
    std::ifstream file(path, std::ios::binary);
    auto old = nlohmann::ordered_json::parse(file);
    auto own = Model::load(path).json();
    // Their last digits depend on the processor.
    for (auto* json : {&old, &own})
        for (const char* key : {"test_vectors", "checksum"}) json->erase(key);
    EXPECT_TRUE(own == old);
}

INSTANTIATE_TEST_SUITE_P(Files, Version01, testing::Values("network", "mean", "recalibrated"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
}  // namespace accrue
