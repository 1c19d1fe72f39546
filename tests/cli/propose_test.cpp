// "accrue fit archive.csv" proposes a command, and that command runs as it stands.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/cli_test.hpp"
#include "core/random.hpp"

namespace accrue::test {
namespace {

class ProposedCommand : public CliTest {
protected:
    // The last line of the proposal.
    std::string proposed(const std::vector<std::string>& arguments) const {
        const Ended run = accrue(arguments);
        EXPECT_EQ(run.status, 2);
        EXPECT_EQ(run.out, "");
        EXPECT_TRUE(run.err.starts_with("accrue: nothing was fitted, since no column was named. ")) << run.err;
        const std::string before = "\nIf that is right, run:\n\n  ";
        const std::size_t at = run.err.find(before);
        if (at == std::string::npos) return "no command: " + run.err;
        return run.err.substr(at + before.size(), run.err.size() - at - before.size() - 1);
    }
    // Runs it in a shell, in the test's folder. One start, and few rows: what it learns does not matter.
    void expect_to_run(const std::string& command) const {
        const std::string bin = std::filesystem::path(support::binary()).parent_path();
        const std::string script = fmt::format("cd '{}' && PATH='{}':$PATH && {} --starts 1 --sample 1000 --quiet",
                                               folder_.folder(), bin, command);
        const Ended run = support::run({"/bin/bash", "-c", script});
        EXPECT_EQ(run.status, 0) << script << "\n" << run.err;
        EXPECT_GT(folder_.content("model.json").size(), 1000U);
        std::filesystem::remove(folder_.path("model.json"));
    }
    std::string generated(const std::string& name) const {
        const std::string file = folder_.path(name + ".csv");
        output({"generate", name, "--rows", "2000", "-o", file});
        return file;
    }
};

TEST_F(ProposedCommand, OfGeneratedSetsRuns) {
    for (const std::string name : {"G", "Y", "W", "5D", "lorenz"}) {
        SCOPED_TRACE(name);
        const std::string file = generated(name);
        const std::string command = proposed({"fit", file});
        if (name == "lorenz") {
            EXPECT_EQ(command, "accrue fit " + file +
                                   " --prediction prediction --observation observation --group start_time --inputs "
                                   "lead_time,site,start_left2,start_left1,start,start_right1,start_right2,prediction "
                                   "-o model.json");
        }
        if (name == "G") {
            EXPECT_EQ(command, "accrue fit " + file + " --prediction f --observation y --inputs x,f -o model.json");
        }
        expect_to_run(command);
    }
}

TEST_F(ProposedCommand, RunsWithNamesThatAShellWouldChangeAndWithGaps) {
    core::Random random(1);
    std::string text = "wind speed;$HOME;'it''s';-x;obs\n";
    for (int i = 0; i < 300; ++i)
        text += fmt::format("{};{};{};{};{}\n", i % 7 == 0 ? "NA" : fmt::format("{}", random.uniform()),
                            random.normal(), random.normal(), random.normal(), 50 + random.normal());
    const std::string file = folder_.file("my archive.csv", text);
    const std::string command = proposed({"fit", file});
    EXPECT_EQ(command, fmt::format("accrue fit '{}' --observation obs --mean network --inputs "
                                   "'wind speed,$HOME,'\\''it'\\'''\\''s'\\'',-x' --missing drop -o model.json",
                                   file));
    expect_to_run(command);
}

TEST_F(ProposedCommand, RunsOnFilesWithoutAHeader) {
    core::Random random(1);
    std::string text;
    for (int i = 0; i < 300; ++i) {
        const double mu = random.normal();
        text += fmt::format("{} {} {}\n", mu + 0.1 * random.normal(), mu, random.uniform());
    }
    const std::string command = proposed({"fit", folder_.file("t.txt", text), "--no-header"});
    EXPECT_NE(command.find(" --no-header --prediction "), std::string::npos) << command;
    expect_to_run(command);
}

TEST_F(ProposedCommand, RunsOnNetcdf) {
    core::Random random(1);
    std::string times, fc, obs;
    for (int t = 0; t < 100; ++t) {
        times += fmt::format("{}{}", t == 0 ? "" : ", ", 6 * t);
        for (int s = 0; s < 3; ++s) {
            const double mu = random.normal();
            fc += fmt::format("{}{}", fc.empty() ? "" : ", ", mu);
            obs += fmt::format("{}{}", obs.empty() ? "" : ", ", mu + 0.3 * random.normal());
        }
    }
    const std::string cdl = folder_.file(
        "source.cdl",
        fmt::format("netcdf source {{\ndimensions: time = 100; station = 3; letters = 2; level = 5;\nvariables: double "
                    "time(time); "
                    "time:units = \"hours since 2024-01-01\"; char name(station, letters); double height(station); "
                    "double level(level); double fc(time, station); double obs(time, station);\n"
                    "data: time = {}; name = \"AA\", \"BB\", \"CC\"; height = 10, 200, 3000; level = 1, 2, 3, 4, 5; fc "
                    "= {}; obs = {};\n}}\n",
                    times, fc, obs));
    const std::string file = folder_.path("archive.nc");
    ASSERT_EQ(std::system(fmt::format("ncgen -o '{}' '{}'", file, cdl).c_str()), 0);
    const std::string command = proposed({"fit", file});
    EXPECT_EQ(command, "accrue fit " + file +
                           " --prediction fc --observation obs --time time --group time --inputs height,fc -o "
                           "model.json");
    expect_to_run(command);
    EXPECT_EQ(proposed({"fit", file, "--isolate"}).find("accrue fit " + file + " --isolate --prediction fc "), 0U);
}

TEST_F(ProposedCommand, IsNotMadeWhereSomethingElseWasSaid) {
    const std::string help = " ('accrue fit --help' explains the options)";
    const std::string file = generated("G");
    EXPECT_EQ(refusal(accrue({"fit", file, "--prediction", "f", "--observation", "y"})), "--output is required" + help);
    EXPECT_EQ(refusal(accrue({"fit", file, "-o", folder_.path("m.json")})),
              "give --prediction and --observation, or --error" + help);
    EXPECT_EQ(refusal(accrue({"fit", "-"})), "--output is required" + help);
    EXPECT_EQ(refusal(accrue({"fit", folder_.path("none.csv")})), "cannot read none.csv: No such file or directory");
}

}  // namespace
}  // namespace accrue::test
