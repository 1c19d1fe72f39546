// The object that `accrue evaluate --json` prints for one forecast.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "accrue/conditional.hpp"
#include "accrue/verify.hpp"
#include "support/samples.hpp"

namespace accrue {
namespace {

using Json = nlohmann::ordered_json;

// The keys that the project promises; `dropped` belongs to the file that was read and is added by the command.
const std::vector<std::string> kFigures = {"rows",
                                           "recalibrated",
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
                                           "z_quantiles",
                                           "sharpness",
                                           "coverage"};

Verification example() {
    const support::Sample sample = support::random_sample(120, 151);
    std::vector<std::uint32_t> codes(120);
    for (std::size_t i = 0; i < 120; ++i) codes[i] = static_cast<std::uint32_t>(i % 3);
    const std::vector<std::string> labels = {"north", "east", "south"};
    const std::vector<ColumnGrouping> by = {{"region", {codes, labels}}};
    Verification v = verify(sample.errors, sample.sigmas, {}, {codes, labels}, {}, by);
    v.name = "sigma";
    return v;
}

TEST(VerificationJson, HasThePromisedKeys) {
    const Json json = to_json(example());
    for (const std::string& key : kFigures) EXPECT_TRUE(json.contains(key)) << key;
    EXPECT_EQ(json["name"], "sigma");
    ASSERT_EQ(json["by"].size(), 1U);
    EXPECT_EQ(json["by"][0]["column"], "region");
    ASSERT_EQ(json["by"][0]["values"].size(), 3U);
    EXPECT_EQ(json["by"][0]["values"][1]["name"], "east");
    for (const Json& value : json["by"][0]["values"])
        for (const std::string& key : kFigures) EXPECT_TRUE(value.contains(key)) << key;
    for (const Json& interval : json["coverage"])
        for (const char* key : {"level", "observed", "mean_width", "interval_score"})
            EXPECT_TRUE(interval.at(key).is_number()) << key;
    EXPECT_TRUE(to_json(verify(std::vector{1.0}, std::vector{1.0}))["by"].empty());
}

TEST(VerificationJson, HasTheShareOffSupportOfModelsOnly) {
    Verification v = example();
    EXPECT_FALSE(to_json(v).contains("off_support_percent"));
    v.off_support = 0.25;
    EXPECT_EQ(to_json(v)["off_support_percent"], 25);
    EXPECT_NE(to_json(v)["verdict"]["remarks"].dump().find("25% of the rows lie outside"), std::string::npos);
    v.off_support = 0.01;
    EXPECT_EQ(to_json(v)["verdict"]["remarks"].dump().find("lie outside"), std::string::npos);
}

TEST(VerificationJson, HoldsTheFigures) {
    const Verification v = example();
    const Json json = to_json(v);
    EXPECT_EQ(json["rows"], 120);
    EXPECT_EQ(json["crps"], v.crps);
    EXPECT_EQ(json["crps_skill"], v.crps_skill);
    EXPECT_EQ(json["nlpd"], v.nlpd);
    EXPECT_EQ(json["rs"], v.rs);
    EXPECT_EQ(json["rs_floor"], v.rs_floor);
    EXPECT_EQ(json["ar"], v.ar);
    EXPECT_EQ(json["beta"], v.beta);
    EXPECT_EQ(json["calibration_error_percent"], 100 * v.calibration_error);
    EXPECT_EQ(json["calibration_floor_percent"], 100 * v.calibration_floor);
    EXPECT_EQ(json["calibration_p_value"], v.calibration_p_value);
    EXPECT_EQ(json["sign_bound_percent"], 100 * v.sign_bound);
    EXPECT_EQ(json["mean_z"], v.mean_z);
    EXPECT_EQ(json["sd_z"], v.sd_z);
    EXPECT_EQ(json["sharpness"], v.sharpness);
    EXPECT_EQ(json["coverage"][2]["level"], 0.95);
    EXPECT_EQ(json["coverage"][2]["observed"], v.coverage[2].observed);
    EXPECT_EQ(json["coverage"][2]["mean_width"], v.coverage[2].mean_width);
    EXPECT_EQ(json["coverage"][2]["interval_score"], v.coverage[2].interval_score);
    const Json& diagram = json["reliability_diagram"];
    EXPECT_EQ(diagram["probability"], v.diagram.probability);
    EXPECT_EQ(diagram["observed"], v.diagram.observed);
    EXPECT_EQ(diagram["band_90_pointwise"]["low"], v.diagram.pointwise.low);
    EXPECT_EQ(diagram["band_90_simultaneous"]["high"], v.diagram.simultaneous.high);
    EXPECT_EQ(diagram["group_band_90_pointwise"]["high"], v.diagram.group_pointwise.high);
    Verdict words = verdict(v);
    say_on_average(words);  // nobody has looked at places
    EXPECT_EQ(json["verdict"]["summary"], words.summary);
}

TEST(VerificationJson, SurvivesBeingWrittenAndRead) {
    const Json json = to_json(example());
    EXPECT_EQ(Json::parse(json.dump()), json);
}

TEST(VerificationJson, UndefinedFiguresAreNull) {
    // Without any error a constant sigma of 0 is perfect, and there is no skill to speak of.
    const Json json = to_json(verify(std::vector{0.0, 0.0}, std::vector{1.0, 2.0}));
    EXPECT_TRUE(json["crps_skill"].is_null());
    EXPECT_TRUE(json["crps"].is_number());
    // An infinite error makes infinite figures.
    const Json infinite = to_json(verify(std::vector{1e200, 1.0}, std::vector{1e-200, 1.0}));
    EXPECT_TRUE(infinite["nlpd"].is_null());
    EXPECT_TRUE(infinite["mean_z"].is_null());
    EXPECT_EQ(Json::parse(infinite.dump()), infinite);
}

TEST(Json, OfVeryManyValuesKeepsTheLargestAndSaysSo) {
    constexpr std::size_t kValues = 10'050;
    Verification v = example();
    v.by[0].values.resize(1);
    v.by[0].values.resize(kValues, v.by[0].values[0]);
    for (std::size_t g = 0; g < kValues; ++g) {
        v.by[0].values[g].name = std::to_string(g);
        v.by[0].values[g].rows = g < 50 ? 1 : 2;
    }
    const Json json = to_json(v);
    EXPECT_EQ(json.at("by")[0].at("values").size(), 10'000U);
    EXPECT_EQ(json.at("by")[0].at("values")[0].at("name"), "50") << "in the order of the labels";
    EXPECT_EQ(json.at("by")[0].at("values_in_all"), kValues);
    EXPECT_FALSE(to_json(example()).at("by")[0].contains("values_in_all"));
}

TEST(Json, ShortensNamesThatNobodyReads) {
    Verification v = example();
    v.by[0].values[0].name = "a" + std::string(100'000, 'b');
    v.by[0].values[1].name = "\xc3\xa9";
    for (int i = 0; i < 9; ++i) v.by[0].values[1].name += v.by[0].values[1].name;  // 1,024 bytes of two-byte letters
    v.by[0].values[1].name.insert(0, "x");
    const Json json = Json::parse(to_json(v).dump());
    EXPECT_EQ(json.at("by")[0].at("values")[0].at("name"), "a" + std::string(999, 'b') + "... (100001 bytes)");
    EXPECT_EQ(json.at("by")[0].at("values")[1].at("name").get<std::string>().size(),
              999 + std::string("... (1025 bytes)").size());
    EXPECT_EQ(json.at("by")[0].at("values")[2].at("name"), "south");
}

}  // namespace
}  // namespace accrue
