// What an input is called, and how its column is read.
#include "accrue/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "accrue/archive.hpp"
#include "support/archives.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

using support::refusal;

TEST(Inputs, AreColumnsWithAKind) {
    EXPECT_EQ(parse_input("lead"), (Input{"lead"}));
    EXPECT_EQ(parse_input("lead:number"), (Input{"lead"}));
    EXPECT_EQ(parse_input("station:category"), (Input{"station", InputKind::category}));
    EXPECT_EQ(parse_input("wdir:cyclic(360)"), (Input{"wdir", InputKind::cyclic, 360}));
    EXPECT_EQ(parse_input("valid time:season"), (Input{"valid time", InputKind::season}));
    EXPECT_EQ(parse_input("a:b:hour"), (Input{"a:b", InputKind::hour}));
}

TEST(Inputs, KeepColonsThatNameNoKind) {
    for (const char* name : {"temp:2m", "a:b", ":category", "x:categories", "http://x"})
        EXPECT_EQ(parse_input(name), (Input{name})) << name;
}

TEST(Inputs, HaveNamesThatAreReadAgain) {
    for (const char* name : {"lead", "station:category", "wdir:cyclic(360)", "w:cyclic(0.5)", "t:season", "t:hour"}) {
        EXPECT_EQ(parse_input(name).name(), name);
        EXPECT_EQ(parse_input(parse_input(name).name()), parse_input(name));
    }
}

TEST(Inputs, RefuseACycleWithoutAPeriod) {
    for (const char* name : {"w:cyclic", "w:cyclic()", "w:cyclic(0)", "w:cyclic(-3)", "w:cyclic(x)", "w:cyclic(inf)"})
        EXPECT_EQ(refusal([&] { parse_input(name); }),
                  std::string("the input '") + name +
                      "' needs a period above 0, after which its values come round again: w:cyclic(360)");
    EXPECT_EQ(refusal([] { parse_input("t:hour(24)"); }), "the input 't:hour(24)': only a cyclic one has a period");
}

TEST(Inputs, OfKnownColumnsLoseQuotesAndHaveOneSpelling) {
    const std::vector<std::string> names = {"zen", "wind speed", "a,b", "t:season", "wdir"};
    const auto written = [&](const std::string& text) { return parse_input(text, names, "a.csv").name(); };
    EXPECT_EQ(written("'wind speed':category"), "wind speed:category");
    EXPECT_EQ(written("\"a,b\":cyclic(360)"), "a,b:cyclic(360)");
    EXPECT_EQ(written("`zen`"), "zen");
    for (const char* text : {"zen+1", "zen + 1", " zen+ 1", "(zen)+1.0"}) EXPECT_EQ(written(text), "zen + 1") << text;
    EXPECT_EQ(written("zen*2:cyclic(360)"), "zen * 2:cyclic(360)");
    EXPECT_EQ(written("w*:cyclic(360)"), "w*:cyclic(360)") << "patterns are written out where the file is known";
    EXPECT_EQ(parse_input("t:season", names, "a.csv"), (Input{"t:season"})) << "a column of that name";
}

TEST(Inputs, RefuseAKindThatThereIsNot) {
    const std::vector<std::string> names = {"station", "wdir", "t", "wind speed", "temp:2m"};
    const auto refused = [&](const std::string& text) { return refusal([&] { parse_input(text, names, "a.csv"); }); };
    const std::string kinds = " Kinds: category, cyclic(PERIOD), season, hour, number";
    EXPECT_EQ(refused("station:categry"),
              "--inputs: a.csv has no column 'station:categry', and 'categry' is not a kind of input; did you mean "
              "'station:category'?" +
                  kinds);
    const auto meant = [&](const std::string& text) {
        const std::string message = refused(text);
        const std::size_t at = message.find("did you mean '");
        return at == std::string::npos ? message : message.substr(at + 14, message.find("'?", at) - at - 14);
    };
    EXPECT_EQ(meant("station:cat"), "station:category");
    EXPECT_EQ(meant("station:factor"), "station:category");
    EXPECT_EQ(meant("wdir:cylic(360)"), "wdir:cyclic(360)");
    EXPECT_EQ(meant("wdir:circular"), "wdir:cyclic(360)");
    EXPECT_EQ(meant("t:Season"), "t:season");
    EXPECT_EQ(meant("'wind speed':catgory"), "'wind speed':category");
    EXPECT_EQ(refused("t:zebra"),
              "--inputs: a.csv has no column 't:zebra', and 'zebra' is not a kind of input." + kinds);
    EXPECT_EQ(refused("temp:2m"), "no refusal");
    EXPECT_EQ(refused("speed:categry"), "no refusal") << "the reader says that there is no such column";
}

TEST(Inputs, AreDirectionsByTheConventionsOfCF) {
    EXPECT_TRUE(is_direction("degrees", "wind_from_direction", ""));
    EXPECT_TRUE(is_direction("degree", "", "10 m wind direction"));
    EXPECT_TRUE(is_direction("Degrees true", "", "Wave Direction"));
    EXPECT_TRUE(is_direction("degree", "solar_azimuth_angle", ""));
    EXPECT_FALSE(is_direction("degrees_north", "latitude", "")) << "it does not come round again";
    EXPECT_FALSE(is_direction("degrees", "solar_zenith_angle", ""));
    EXPECT_FALSE(is_direction("radian", "wind_from_direction", "")) << "a circle has another number of them";
    EXPECT_FALSE(is_direction("", "wind_from_direction", ""));
}

class InputRows : public testing::Test {
protected:
    RowSource source(const std::string& text) const {
        RowSource own;
        own.files = {folder_.file("a.csv", text)};
        own.roles.error = "e";
        return own;
    }
    test::TemporaryFolder folder_;
};

TEST_F(InputRows, HaveCodesForCategoriesAndSecondsForTimes) {
    const ReadRows rows =
        read_archive(source("e,s,t\n1,b,2024-01-01T06:00\n2,a,2024-01-02\n3,b,2024-01-03\n"),
                     parse_inputs(std::vector<std::string>{"s:category", "t:hour", "t:season"}), 0, 1);
    const Archive& archive = rows.archive;
    ASSERT_EQ(archive.inputs.size(), 3U);
    EXPECT_EQ(std::vector<double>(archive.inputs[0].begin(), archive.inputs[0].end()), (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(archive.input_types[0].labels[1], "a");
    EXPECT_EQ(archive.inputs[1][0], 1704088800);
    EXPECT_EQ(archive.inputs[2][1] - archive.inputs[1][0], 18 * 3600);
    EXPECT_EQ(archive.input_names, (std::vector<std::string>{"s:category", "t:hour", "t:season"}));
}

TEST_F(InputRows, MayBeMissingWhereTheyAreImputed) {
    RowSource own = source("e,s,x\n1,b,5\n2,,NA\n,b,7\n4,b,\n");
    own.missing = Missing::impute;
    const ReadRows rows = read_archive(own, parse_inputs(std::vector<std::string>{"s:category", "x"}), 0, 1);
    EXPECT_EQ(rows.dropped, 1U) << "the row without an error";
    ASSERT_EQ(rows.archive.errors.size(), 3U);
    EXPECT_TRUE(rows.archive.impute);
    EXPECT_TRUE(std::isnan(rows.archive.inputs[0][1]));
    EXPECT_TRUE(std::isnan(rows.archive.inputs[1][1]));
    EXPECT_TRUE(std::isnan(rows.archive.inputs[1][2]));
    own.missing = Missing::drop;
    EXPECT_EQ(read_archive(own, parse_inputs(std::vector<std::string>{"s:category", "x"}), 0, 1).dropped, 3U);
}

TEST_F(InputRows, OfOneSpellingAreNamedOnce) {
    RowSource own = source("e,zen,wind speed,k1,k2,t\n1,1,2,a,b,2024-01-01\n2,1,2,a,b,2024-01-01\n");
    const auto expanded = [&](std::vector<std::string> inputs) {
        expand_columns(own, inputs);
        return inputs;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(expanded({"zen+1", "'wind speed':cyclic(9)", "k*:category"}),
              (Names{"zen + 1", "wind speed:cyclic(9)", "k1:category", "k2:category"}));
    EXPECT_EQ(expanded({"wdir:number", "zen:number", "t:season"}), (Names{"wdir:number", "zen:number", "t:season"}));
    EXPECT_EQ(refusal([&] {
                  read_archive(own, named_inputs(own, expanded({"zen+1", "zen + 1"})), 0, 1);
              }),
              "--inputs names 'zen + 1' twice");
    EXPECT_NE(refusal([&] { expanded({"k1:categorical"}); }).find("did you mean 'k1:category'?"), std::string::npos);
}

TEST_F(InputRows, NeedDatesForSeasons) {
    EXPECT_NE(refusal([&] {
                  read_archive(source("e,t\n1,5\n2,6\n"), {{"t", InputKind::season}}, 0, 1);
              }).find("column 't': the input t:season needs dates"),
              std::string::npos);
}

}  // namespace
}  // namespace accrue
