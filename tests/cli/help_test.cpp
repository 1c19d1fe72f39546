// Every example that a help text shows is run as it stands, on files with the columns that the examples name. An
// example with a new file or column needs it here.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "cli/cli_test.hpp"
#include "core/random.hpp"

namespace accrue::test {
namespace {

class HelpExamples : public CliTest {
protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_.path("world/bin"));
        for (const char* name :
             {"archive.csv", "forecasts.csv", "2023.csv", "2024.csv", "january.csv", "since_the_fit.csv"})
            folder_.file(std::string("world/") + name, table(true));
        folder_.file("world/later.csv", with_members(table(true)));
        folder_.file("world/new.csv", table(false));
        folder_.file("world/ensemble.csv", "y,P1,P2\n1,0,2\n0,0,1\n12,9,15\n");
        folder_.file("world/quantiles.csv", "y,q05,q50,q95\n1,0,2,3\n0,0,1,2\n12,9,15,20\n");
        folder_.file("world/yesterday.csv", table(true, 2025));
        for (const char* name : {"a", "b"}) write_netcdf(name);
        std::filesystem::create_directory(folder_.path("world/uci"));
        folder_.file("world/uci/yacht.txt", numbers(308, 7));
        // What an example pipes from and to.
        for (const auto& [name, script] : {std::pair{"produce", "cat new.csv"}, {"consume", "cat > /dev/null"}}) {
            folder_.file(std::string("world/bin/") + name, std::string("#!/bin/sh\n") + script + "\n");
            std::filesystem::permissions(folder_.path(std::string("world/bin/") + name),
                                         std::filesystem::perms::owner_all);
        }
        std::filesystem::create_symlink(support::binary(), folder_.path("world/bin/accrue"));
        const Ended fit =
            accrue({"fit", folder_.path("world/archive.csv"), "--inputs", "lead_time,wind", "--prediction", "mu",
                    "--observation", "y", "--starts", "1", "--quiet", "-o", folder_.path("world/model.json")});
        ASSERT_EQ(fit.status, 0) << fit.err;
    }

    // The examples of a help text, each one line.
    static std::vector<std::string> examples(const std::string& help) {
        std::vector<std::string> found;
        std::istringstream lines(help);
        bool inside = false;
        bool goes_on = false;
        for (std::string line; std::getline(lines, line);) {
            if (inside && line.starts_with("  ")) {
                const bool more = line.ends_with("\\");
                if (more) line.pop_back();
                if (goes_on)
                    found.back() += line;
                else
                    found.push_back(line.substr(2));
                goes_on = more;
            } else {
                inside = line.starts_with("Example") && line.ends_with(":");
            }
        }
        return found;
    }

    // Runs the examples one after another, as someone would who reads them.
    void expect_to_work(const std::string& command, const std::vector<std::string>& lines) const {
        ASSERT_FALSE(lines.empty()) << command << " shows no example";
        const std::string folder = folder_.path("in");
        std::filesystem::copy(folder_.path("world"), folder,
                              std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
        for (const std::string& line : lines) {
            SCOPED_TRACE(line);
            EXPECT_NE(line.find("accrue "), std::string::npos);
            // 141: whoever reads, such as head, had enough.
            const std::string script = fmt::format(
                "cd '{}' || exit 1\nPATH=\"$PWD/bin:$PATH\"\n{}\n"
                "for status in \"${{PIPESTATUS[@]}}\"; do [ $status = 0 ] || [ $status = 141 ] || exit 1; done",
                folder, line);
            const Ended run = support::run({"/bin/bash", "-c", script});
            EXPECT_EQ(run.status, 0) << run.err;
            EXPECT_EQ(run.err.find("accrue: "), std::string::npos) << run.err;
            std::istringstream words(line);
            for (std::string word, last; words >> word; last = word) {
                if ((last != "-o" && last != "--report" && last != "--figures") || word == "-") continue;
                const std::string path = folder + "/" + word;
                EXPECT_TRUE(std::filesystem::exists(path) && !std::filesystem::is_empty(path)) << word;
            }
        }
        std::filesystem::remove_all(folder);
    }

private:
    // Rows of forecasts; new ones have neither observations nor what `accrue predict` adds.
    static std::string table(bool observed, int year = 2024) {
        core::Random random(1);
        std::string text = "lead_time,wind,station,storm,season,date,mu";
        text += observed ? ",y,e,sigma,raw,tuned,usual\n" : "\n";
        for (int i = 0; i < 300; ++i) {
            const double lead = 1 + i % 5;
            const double wind = 10 * random.uniform();
            const double mu = random.normal();
            const double sigma = 0.2 * lead + 0.05 * wind;
            const double e = sigma * random.normal();
            text += fmt::format("{},{},s{},{},q{},{}-{:02}-{:02},{}", lead, wind, i % 4, i / 10, i / 75, year,
                                1 + i / 28, 1 + i % 28, mu);
            if (observed) text += fmt::format(",{},{},{},{},{},1", mu + e, e, sigma, 1.5 * sigma, 1.1 * sigma);
            text += '\n';
        }
        return text;
    }
    // With an ensemble of two beside each row.
    static std::string with_members(const std::string& rows) {
        std::istringstream lines(rows);
        core::Random random(5);
        std::string text;
        for (std::string line; std::getline(lines, line);)
            text += line + (text.empty() ? ",P1,P2\n" : fmt::format(",{},{}\n", random.normal(), random.normal()));
        return text;
    }
    static std::string numbers(int rows, int columns) {
        core::Random random(2);
        std::string text;
        for (int i = 0; i < rows; ++i)
            for (int k = 0; k < columns; ++k)
                text += fmt::format("{}{}", random.normal(), k + 1 < columns ? " " : "\n");
        return text;
    }
    // Errors at three stations that all span the period, with a CF time coordinate.
    void write_netcdf(const std::string& name) const {
        core::Random random(name == "a" ? 3 : 4);
        std::string times, wind, e;
        for (int t = 0; t < 60; ++t) {
            times += fmt::format("{}{}", t == 0 ? "" : ", ", 6 * t + (name == "a" ? 0 : 360));
            for (int s = 0; s < 3; ++s) {
                const double w = random.uniform();
                wind += fmt::format("{}{}", wind.empty() ? "" : ", ", w);
                e += fmt::format("{}{}", e.empty() ? "" : ", ", (0.3 + w) * random.normal());
            }
        }
        const std::string cdl =
            folder_.file("source.cdl",
                         "netcdf source {\ndimensions: time = 60; station = 3;\nvariables: double time(time); "
                         "time:units = \"hours since 2024-01-01\"; int station(station); double wind(time, station); "
                         "double e(time, station);\ndata: time = " +
                             times + "; station = 1, 2, 3; wind = " + wind + "; e = " + e + ";\n}\n");
        ASSERT_EQ(std::system(fmt::format("ncgen -o '{}/{}.nc' '{}'", folder_.path("world"), name, cdl).c_str()), 0);
    }
};

TEST_F(HelpExamples, OfEveryCommandWorkAsTheyStand) {
    const std::string help = output({"--help"});
    expect_to_work("accrue", examples(help));
    std::istringstream lines(help.substr(help.find("Subcommands:\n")));
    std::string line;
    std::getline(lines, line);
    std::size_t commands = 0;
    while (std::getline(lines, line) && line.starts_with("  ")) {
        std::string command;
        std::istringstream(line) >> command;
        // A description that goes on in the next line is indented further.
        if (line[2] == ' ') continue;
        SCOPED_TRACE(command);
        expect_to_work(command, examples(output({command, "--help"})));
        ++commands;
    }
    EXPECT_GE(commands, 7U);
}

}  // namespace
}  // namespace accrue::test
