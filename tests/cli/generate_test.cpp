// `accrue generate`, from the outside.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "cli/cli_test.hpp"

namespace accrue::test {
namespace {

class GenerateCommand : public CliTest {
protected:
    // The header of the generated file and the number of its rows.
    std::string generated(const std::string& name) {
        EXPECT_EQ(output({"generate", name, "--rows", "50", "--seed", "7", "-o", folder_.path(name + ".csv")}), "");
        const std::string text = folder_.content(name + ".csv");
        return fmt::format("{} {}", text.substr(0, text.find('\n')), std::count(text.begin(), text.end(), '\n') - 1);
    }
};

TEST_F(GenerateCommand, EverySetHasItsColumnsAndRows) {
    for (const char* name : {"G", "Y", "W"}) EXPECT_EQ(generated(name), "x,f,true_sigma,y 50") << name;
    EXPECT_EQ(generated("5D"), "x1,x2,x3,x4,x5,f,true_sigma,y 50");
    EXPECT_EQ(
        generated("lorenz"),
        "start_time,lead_time,site,start_left2,start_left1,start,start_right1,start_right2,prediction,observation "
        "50");
}

TEST_F(GenerateCommand, TheSeedDecidesAndStandardOutputGetsTheSameBytes) {
    const std::vector<std::string> start = {"generate", "W", "--rows", "20"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), start.begin(), start.end());
        return output(more);
    };
    const std::string once = with({"--seed", "3", "-o", "-"});
    EXPECT_EQ(with({"--seed", "3", "--output", "-"}), once);
    EXPECT_NE(with({"--seed", "4", "-o", "-"}), once);
    EXPECT_EQ(with({"--seed", "3", "-o", folder_.path("w.csv")}), "");
    EXPECT_EQ(folder_.content("w.csv"), once);
    EXPECT_EQ(folder_.files(), 1U) << "no temporary file is left";
}

TEST_F(GenerateCommand, WhatItWritesCanBeEvaluated) {
    output({"generate", "G", "--rows", "2000", "-o", folder_.path("g.csv")});
    const Json result =
        json({"evaluate", folder_.path("g.csv"), "--prediction", "f", "--observation", "y", "--sigma", "true_sigma"});
    EXPECT_EQ(result["rows"], 2000);
    // The true sigma: by chance it fails once in 10^6 seeds, and the seed is fixed.
    EXPECT_GT(result["calibration_p_value"], 1e-6);
}

TEST_F(GenerateCommand, BadUsageIsRefused) {
    const auto message = [&](const std::vector<std::string>& arguments) { return refusal(accrue(arguments)); };
    EXPECT_EQ(message({"generate", "Q", "-o", folder_.path("q.csv")}),
              "there is no data set 'Q'; the names are G, Y, W, 5D, lorenz");
    EXPECT_EQ(message({"generate", "G", "--rows", "0", "-o", folder_.path("q.csv")}),
              "generate G: 0 rows asked for, but it must be at least 1");
    const std::string help = " ('accrue generate --help' explains the options)";
    EXPECT_EQ(message({"generate", "G"}), "--output is required" + help);
    EXPECT_EQ(message({"generate", "-o", "-"}), "NAME is required" + help);
    EXPECT_EQ(message({"generate", "G", "-o", "-", "--colour=red"}), "there is no option '--colour'" + help);
    for (const char* rows : {"-1", "ten", "1.5", "99999999999999999999999"})
        EXPECT_EQ(message({"generate", "G", "-o", "-", "--rows", rows}),
                  "--rows: '" + std::string(rows) + "' is not a count" + help);
    EXPECT_EQ(message({"generate", "G", "-o", "-", "--seed", "-1"}), "--seed: '-1' is not a count" + help);
    EXPECT_EQ(folder_.files(), 0U) << "no file is left";
}

TEST_F(GenerateCommand, MoreRowsThanMemoryIsAFailureOfTheMachine) {
    const std::string rows = std::to_string(std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(refusal(accrue({"generate", "G", "--rows", rows, "-o", folder_.path("g.csv")}), 1),
              "generate G: no memory for " + rows + " rows");
    EXPECT_EQ(folder_.files(), 0U);
}

TEST_F(GenerateCommand, PlacesThatCannotBeWrittenToAreRefused) {
    const auto message = [&](const std::string& place) { return refusal(accrue({"generate", "G", "-o", place})); };
    EXPECT_EQ(message(folder_.path("none/g.csv")),
              "cannot write none/g.csv: there is no folder '" + std::string("none'"));
    EXPECT_EQ(message(folder_.path(".")), "cannot write .: it is a directory");
    EXPECT_EQ(message(""), "the name of an output file is empty");
}

}  // namespace
}  // namespace accrue::test
