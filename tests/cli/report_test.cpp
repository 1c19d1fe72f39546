// `accrue report` and `accrue fit --report`, from the outside: the data in the page. What it looks like is tested in a
// browser (tests/browser).
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Report : public ModelCliTest {
protected:
    std::string page() const { return folder_.path("r.html"); }
    static std::string text_of(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // The object between the tags of the page's data.
    static Json data_of(const std::string& path) {
        const std::string text = text_of(path);
        const std::string tag = "id=\"report-data\">";
        const std::size_t begin = text.find(tag);
        if (begin == std::string::npos) return nullptr;
        const std::size_t from = begin + tag.size();
        return Json::parse(text.substr(from, text.find("</script", from) - from));
    }
    std::vector<std::string> arguments(const std::string& file, const std::vector<std::string>& more = {}) const {
        return with({"report", file, "--prediction", "mu", "--observation", "y", "-o", page()}, more);
    }
};

TEST_F(Report, ItsScoresAreThoseOfEvaluate) {
    const std::string model = fitted();
    const std::string file = archive("new.csv", 300, 2);
    const std::vector<std::string> same = {"--model", model,     "--sigma",  "true_sigma",
                                           "--group", "station", "--weight", "w"};
    EXPECT_EQ(output(arguments(file, same)), "Report written to " + page() + ". Open it in a browser.\n");
    Json scores = json(with({"evaluate", file, "--prediction", "mu", "--observation", "y", "--conditional"}, same));
    for (Json& one : scores.at("forecasts")) one.erase("conditional");  // of which more is with the forecasts
    EXPECT_EQ(data_of(page()).at("scores"), scores);
    ASSERT_EQ(scores.at("forecasts").size(), 2U);

    output(arguments(file, {"--model", model}));
    Json one = json({"evaluate", file, "--prediction", "mu", "--observation", "y", "--model", model, "--conditional"});
    one.erase("conditional");
    EXPECT_EQ(data_of(page()).at("scores"), one);
}

TEST_F(Report, DrawsEveryRowOfASmallTableInTheOrderOfTime) {
    const std::string file =
        folder_.file("t.csv", "t,mu,y,s\n2024-01-03,3,3.5,1\n2024-01-01,1,1.25,2\n2024-01-02,2,2,4\n");
    output(arguments(file, {"--sigma", "s", "--time", "t"}));
    const Json forecast = data_of(page()).at("forecasts")[0];
    EXPECT_EQ(forecast.at("rows").at("mean"), Json({1.0, 2.0, 3.0}));
    EXPECT_EQ(forecast.at("rows").at("sigma"), Json({2.0, 4.0, 1.0}));
    EXPECT_EQ(forecast.at("rows").at("observation"), Json({1.25, 2.0, 3.5}));
    EXPECT_EQ(forecast.at("rows").at("time"), Json({1704067200.0, 1704153600.0, 1704240000.0}));
    EXPECT_EQ(forecast.at("time_unit"), "seconds");
    EXPECT_EQ(forecast.at("fit"), nullptr);
    // Without inputs sigma is drawn along the prediction.
    ASSERT_EQ(forecast.at("inputs").size(), 1U);
    EXPECT_EQ(forecast.at("inputs")[0].at("name"), "mu");
}

TEST_F(Report, SaysHowManyRowsWerePutIntoBins) {
    const std::string file = archive("many.csv", 3000);
    output(arguments(file, {"--sigma", "true_sigma"}));
    const Json data = data_of(page());
    EXPECT_EQ(data.at("forecasts")[0].at("rows"), nullptr);
    std::size_t counted = 0;
    for (const Json& rows : data.at("forecasts")[0].at("along_prediction").at("rows"))
        counted += rows.get<std::size_t>();
    EXPECT_EQ(counted, 3000U);
    EXPECT_NE(data.at("notes").dump().find("all 3000 rows"), std::string::npos);
    EXPECT_NE(data.at("notes").dump().find("only up to 1000 rows"), std::string::npos);
}

TEST_F(Report, ComparesForecastsByPairedDifferences) {
    const std::string file = folder_.file("p.csv", "e,a,b\n0,1,2\n0,1,2\n0,1,4\n");
    output({"report", file, "--error", "e", "--sigma", "a", "--sigma", "b", "-o", page()});
    const Json data = data_of(page());
    ASSERT_EQ(data.at("scores").at("comparison").size(), 1U);
    const Json& pair = data.at("scores").at("comparison")[0];
    EXPECT_EQ(pair.at("first"), "a");
    EXPECT_EQ(pair.at("second"), "b");
    EXPECT_EQ(pair.at("independent"), "rows");
    // crps(0, s) = s*crps(0, 1), so the mean difference is crps(0, 1)*(1 + 1 + 3)/3; the file keeps seven digits.
    EXPECT_NEAR(pair.at("crps").at("difference").get<double>(), 0.23369497725510905 * 5 / 3, 1e-7);
    // nlpd(0, s) grows by log s.
    EXPECT_NEAR(pair.at("nlpd").at("difference").get<double>(), (2 * std::log(2) + std::log(4)) / 3, 1e-6);
    // Errors alone: nothing to draw along a prediction.
    EXPECT_EQ(data.at("forecasts")[0].at("along_prediction"), nullptr);
}

TEST_F(Report, OfAFitHasTheRowsThatWereHeldOut) {
    const std::string said =
        output(fit_arguments(archive(), {"--inputs", "x", "--report", page(), "--bias", "constant"}));
    EXPECT_NE(said.find("Report written to " + page()), std::string::npos);
    const Json data = data_of(page());
    EXPECT_EQ(data.at("kind"), "out of fold");
    const Json model = Json::parse(text_of(folder_.path("m.json")));
    EXPECT_EQ(data.at("scores").at("crps"), model.at("verification").at("crps"));
    EXPECT_EQ(data.at("verdict"), model.at("verification").at("verdict"));
    const Json& forecast = data.at("forecasts")[0];
    EXPECT_EQ(forecast.at("rows").at("mean").size(), 60U);
    EXPECT_EQ(forecast.at("fit").at("starts").size(), model.at("fit").at("starts").size());
    EXPECT_EQ(forecast.at("fit").at("iteration_step"), 1);
    EXPECT_EQ(forecast.at("model").at("configuration"), model.at("configuration"));
    // mean + error = observation, whatever the bias correction.
    const std::vector<std::string> rows = lines(text_of(folder_.path("a.csv")));
    for (std::size_t i = 0; i < 60; ++i)
        EXPECT_NEAR(forecast.at("rows").at("observation")[i].get<double>(), std::stod(cells(rows[i + 1])[2]), 2e-6);
}

TEST_F(Report, HasCalibrationInEachPlaceWithWhatChanceMayDo) {
    // Station 'rough' has twice the spread that sigma says.
    core::Random random(11);
    std::string text = "mu,y,s,station,t\n";
    for (int i = 0; i < 2000; ++i) {
        const bool rough = i % 5 == 0;
        const double mu = random.normal();
        text += fmt::format("{},{},1,{},2023-{:02}-{:02}T{:02}:00:00Z\n", mu, mu + (rough ? 2 : 1) * random.normal(),
                            rough ? "rough" : fmt::format("calm {}", i % 5), 1 + i % 12, 1 + i % 28, i % 24);
    }
    const std::string file = folder_.file("s.csv", text);
    output(arguments(file, {"--sigma", "s", "--by", "station", "--time", "t"}));
    const Json data = data_of(page());
    const Json& found = data.at("forecasts")[0].at("conditional");
    EXPECT_EQ(found.at("passes"), false);
    EXPECT_EQ(found.at("worst").get<std::string>().find("where station is 'rough' the 90% interval covers "), 0U);
    EXPECT_NE(data.at("verdict").at("remarks").dump().find(found.at("worst").get<std::string>()), std::string::npos);
    std::vector<std::string> names;
    for (const Json& column : found.at("columns")) {
        names.push_back(column.at("name"));
        const std::size_t places = column.at("label").size();
        EXPECT_EQ(column.at("all_places"), places);
        EXPECT_EQ(column.contains("x"), column.at("name") == "mu");
        for (const auto& [key, values] : column.items())
            EXPECT_TRUE(!values.is_array() || values.size() == places) << key;
        for (std::size_t i = 0; i < places; ++i) {
            const auto at = [&](const char* key) { return column.at(key)[i].get<double>(); };
            EXPECT_LT(at("mean_z_low"), at("mean_z_pointwise_low"));
            EXPECT_LT(at("sd_z_low"), at("sd_z_pointwise_low"));
            // Only bias or spread beyond chance makes a place one that is off; the file keeps four digits.
            const bool beyond = at("mean_z") < at("mean_z_low") || at("mean_z") > at("mean_z_high") ||
                                at("sd_z") < at("sd_z_low") || at("sd_z") > at("sd_z_high");
            EXPECT_EQ(beyond, at("off") > 1) << column.at("name") << ' ' << column.at("label")[i];
            // Calm stations may be unlike the whole, which has the rough one in it; months and hours are like it.
            if (column.at("name") != "station" || column.at("label")[i] == "rough") {
                EXPECT_EQ(beyond, column.at("label")[i] == "rough");
            }
        }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"mu", "station", "month", "hour"}));
    EXPECT_FALSE(data.at("scores").contains("conditional"));
}

TEST_F(Report, OfManyPlacesHasThoseThatAreFurthestOff) {
    core::Random random(12);
    std::string text = "e,s,g\n";
    for (int i = 0; i < 4400; ++i)
        text += fmt::format("{},1,g{}\n", random.normal() + (i % 110 == 77 ? 2 : 0), i % 110);
    output({"report", folder_.file("m.csv", text), "--error", "e", "--sigma", "s", "--by", "g", "-o", page()});
    const Json data = data_of(page());
    const Json& column = data.at("forecasts")[0].at("conditional").at("columns")[0];
    EXPECT_EQ(column.at("all_places"), 110);
    ASSERT_EQ(column.at("label").size(), 24U);
    EXPECT_NE(column.at("label").dump().find("\"g77\""), std::string::npos);
    EXPECT_NE(data.at("notes").dump().find("Of 110 places of g the 24 that are furthest off"), std::string::npos);
}

TEST_F(Report, PicksRowsFromTheSmallestSigmaToTheLargestWithTheirDensity) {
    const std::string model = fitted();
    const std::string file = archive("new.csv", 300, 2);
    output(arguments(file, {"--sigma", "true_sigma", "--model", model}));
    const Json data = data_of(page());
    const std::vector<std::string> rows = lines(text_of(file));
    for (const Json& forecast : data.at("forecasts")) {
        const Json& densities = forecast.at("densities");
        ASSERT_EQ(densities.size(), 12U);
        for (std::size_t k = 0; k < densities.size(); ++k) {
            const Json& row = densities[k];
            EXPECT_EQ(row.at("row"), data.at("forecasts")[0].at("densities")[k].at("row"));
            const auto at = [&](const char* key) { return row.at(key).get<double>(); };
            EXPECT_NEAR(at("observation"), std::stod(cells(rows[row.at("row").get<std::size_t>()])[2]), 2e-6);
            double mass = 0;
            for (const Json& density : row.at("density")) mass += density.get<double>();
            // All but the tails of one in a thousand; densities have four digits.
            EXPECT_NEAR(mass * (at("to") - at("from")) / 60, 0.999, 0.0015);
            EXPECT_GE(at("observation"), at("from"));
            EXPECT_LE(at("observation"), at("to"));
        }
    }
    const Json& first = data.at("forecasts")[0].at("densities");
    for (std::size_t k = 1; k < first.size(); ++k)
        EXPECT_LE(first[k - 1].at("sigma").get<double>(), first[k].at("sigma").get<double>());
    // Of a normal distribution: the density in the middle is that of N(mean, sigma^2), to the width of a cell.
    const double sigma = first[5].at("sigma").get<double>();
    double most = 0;
    for (const Json& density : first[5].at("density")) most = std::max(most, density.get<double>());
    EXPECT_NEAR(most * sigma, 0.3989, 0.002);
}

TEST_F(Report, OfAFitSaysWhyThisCandidateWasTaken) {
    output(fit_arguments(archive("a.csv", 600), {"--inputs", "x", "--folds", "2", "--report", page()}));
    const Json data = data_of(page());
    const Json& fit = data.at("forecasts")[0].at("fit");
    const Json model = Json::parse(text_of(folder_.path("m.json")));
    EXPECT_EQ(fit.at("candidates"), model.at("fit").at("candidates"));
    EXPECT_GE(fit.at("candidates").size(), 2U);
    EXPECT_EQ(fit.at("choice"), data.at("verdict").at("remarks")[0]);
    EXPECT_EQ(data.at("forecasts")[0].at("conditional").at("worst"),
              model.at("verification").at("conditional").at("worst"));
}

TEST_F(Report, OfAFitHasTheMeansThatItChoseBetween) {
    const std::string file = archive("a.csv", 200);
    output({"fit", file, "--observation", "y", "--inputs", "x,mu", "--mean", "auto", "--folds", "2", "--starts", "1",
            "--quiet", "-o", folder_.path("m.json"), "--report", page()});
    const Json fit = data_of(page()).at("forecasts")[0].at("fit");
    const Json model = Json::parse(text_of(folder_.path("m.json")));
    ASSERT_GE(fit.at("means").size(), 2U);
    EXPECT_EQ(fit.at("means"), model.at("fit").at("means"));
}

TEST_F(Report, OfAPaperRecipeHasTheTestRows) {
    output(fit_arguments(archive(), {"--inputs", "x", "--recipe", "paper", "--report", page()}));
    const Json data = data_of(page());
    EXPECT_EQ(data.at("kind"), "test rows");
    EXPECT_EQ(data.at("scores").at("rows"), 20);
    EXPECT_EQ(data.at("forecasts")[0].at("rows").at("mean").size(), 20U);
}

TEST_F(Report, StaysSmallEnoughToMail) {
    // Many values with long names, two forecasts, more folds than anybody needs.
    std::string text = "x,mu,y,s,g\n";
    core::Random random(3);
    for (int i = 0; i < 3000; ++i)
        text += fmt::format("{},{},{},{},station number {} of the long list\n", random.uniform(), random.normal(),
                            random.normal(), 0.5 + random.uniform(), i % 1500);
    const std::string file = folder_.file("g.csv", text);
    output({"fit", file, "--prediction", "mu", "--observation", "y", "--inputs", "x", "--form", "polynomial", "--folds",
            "40", "--quiet", "-o", folder_.path("m.json")});
    output(arguments(file, {"--sigma", "s", "--model", folder_.path("m.json"), "--by", "g"}));
    EXPECT_LT(std::filesystem::file_size(page()), 1'500'000U);
    const Json data = data_of(page());
    EXPECT_GT(data.at("forecasts")[1].at("fit").at("iteration_step"), 1);
    EXPECT_EQ(data.at("scores").at("forecasts")[1].at("by")[0].at("values").size(), 200U);
    EXPECT_NE(data.at("notes").dump().find("Of 1500 values of g this page keeps the 200"), std::string::npos);
}

TEST_F(Report, OfTenForecastsAndManyInputsIsStillSmallEnoughToMail) {
    core::Random random(5);
    constexpr int kForecasts = 10;
    constexpr int kInputs = 24;
    std::string text = "mu,y,g,h";
    std::string inputs;
    for (int k = 0; k < kForecasts; ++k) text += fmt::format(",s{}", k);
    for (int k = 0; k < kInputs; ++k) {
        text += fmt::format(",x{}", k);
        inputs += fmt::format("{}x{}", k == 0 ? "" : ",", k);
    }
    for (int i = 0; i < 8000; ++i) {
        text += fmt::format("\n{},{},station number {} of the long list,other name {}", random.normal(),
                            random.normal(), i % 300, i % 200);
        for (int k = 0; k < kForecasts; ++k) text += fmt::format(",{}", 1 + 0.1 * k + 0.01 * random.uniform());
        for (int k = 0; k < kInputs; ++k) text += fmt::format(",{}", random.normal());
    }
    std::vector<std::string> more = {"--by", "g", "--by", "h", "--inputs", inputs};
    for (int k = 0; k < kForecasts; ++k) more = with(more, {"--sigma", fmt::format("s{}", k)});
    output(arguments(folder_.file("w.csv", text + "\n"), more));
    EXPECT_LT(std::filesystem::file_size(page()), 1'500'000U);
    const Json data = data_of(page());
    EXPECT_EQ(data.at("forecasts")[9].at("inputs").size(), 4U);
    EXPECT_EQ(data.at("forecasts")[9].at("conditional").at("columns").size(), 4U);
    EXPECT_NE(data.at("notes").dump().find("Of 24 inputs the first 4 are drawn"), std::string::npos);
}

TEST_F(Report, HoldsNamesThatLookLikeHtml) {
    const std::string file = folder_.file("h.csv", "e,</script><b>\n1,2\n-1,2\n");
    output({"report", file, "--error", "e", "--sigma", "</script><b>", "--title", "a < b & c", "-o", page()});
    const std::string text = text_of(page());
    EXPECT_EQ(text.find("</script><b>"), std::string::npos);
    EXPECT_NE(text.find("a &lt; b &amp; c</title>"), std::string::npos);
    EXPECT_EQ(data_of(page()).at("scores").at("name"), "</script><b>");
    EXPECT_EQ(data_of(page()).at("title"), "a < b & c");
}

TEST_F(Report, IsTheSameForAnyNumberOfThreads) {
    const std::string file = archive("many.csv", 3000);
    const auto page_of = [&](const std::string& threads) {
        output(arguments(file, {"--sigma", "true_sigma", "--threads", threads}));
        Json data = data_of(page());
        data.erase("command");
        return data;
    };
    EXPECT_EQ(page_of("1"), page_of("2"));
}

TEST_F(Report, GoesToStandardOutputAlone) {
    const Ended run =
        accrue({"report", archive(), "--prediction", "mu", "--observation", "y", "--sigma", "true_sigma", "-o", "-"});
    EXPECT_EQ(run.status, 0);
    EXPECT_TRUE(run.out.starts_with("<!doctype html>")) << run.out.substr(0, 100);
    EXPECT_NE(run.out.find("</html>"), std::string::npos);
}

TEST_F(Report, WritesFiguresForPapers) {
    const std::string folder = folder_.path("figures");
    const std::string said = output({"report", archive(), "--prediction", "mu", "--observation", "y", "--sigma",
                                     "true_sigma", "--figures", folder});
    EXPECT_NE(said.find("figures written to " + folder), std::string::npos);
    for (const char* name : {"reliability", "pit", "predictions", "input-1", "spread-skill"}) {
        const std::string picture = text_of(folder + "/" + name + ".svg");
        EXPECT_NE(picture.find("<svg"), std::string::npos) << name;
        EXPECT_NE(picture.find("<path"), std::string::npos) << name;
        EXPECT_EQ(text_of(folder + "/" + name + ".png").substr(1, 3), "PNG") << name;
    }
}

TEST_F(Report, WithoutTheProgramsThatDrawSaysWhatToInstall) {
    RunOptions options;
    options.in_child = [] { ::setenv("PATH", "/nowhere", 1); };
    const Ended run = accrue({"report", archive(), "--prediction", "mu", "--observation", "y", "--sigma", "true_sigma",
                              "--figures", folder_.path("figures")},
                             options);
    EXPECT_EQ(refusal(run, 1), "node is missing, which draws the figures: install Node.js (Debian's package nodejs)");
    EXPECT_FALSE(std::filesystem::exists(folder_.path("figures")));
}

TEST_F(Report, RefusesWhatItCannotDraw) {
    const std::string file = archive();
    const std::string help = " ('accrue report --help' explains the options)";
    EXPECT_EQ(refusal(accrue({"report", file, "--error", "e", "-o", page()})),
              "--sigma, --model, --members or --quantile-columns is required" + help);
    EXPECT_EQ(refusal(accrue({"report", file, "--error", "e", "--sigma", "w"})),
              "-o FILE or --figures FOLDER is required" + help);
    EXPECT_EQ(refusal(accrue({"report", file, "--error", "e", "--sigma", "w", "-o", file})),
              "a.csv is a file to read: write the report to another one");
    const std::string model = fitted();
    EXPECT_EQ(
        refusal(accrue({"report", file, "--prediction", "mu", "--observation", "y", "--model", model, "-o", model})),
        "m.json is a file to read: write the report to another one");
    EXPECT_EQ(refusal(accrue(fit_arguments(file, {"--report", model}))),
              "-o and --report name the same file, m.json: give them one each");
    EXPECT_EQ(refusal(accrue({"predict", model, file, "-o", model})),
              "m.json is a file to read: write the result to another one");
    EXPECT_EQ(refusal(accrue({"report", file, "--error", "e", "--sigma", "w", "-o", folder_.path("no/r.html")})),
              "cannot write no/r.html: there is no folder 'no'");
    EXPECT_EQ(refusal(accrue({"report", file, "--error", "e", "--sigma", "e", "-o", page()})).substr(0, 16),
              "a.csv row 1 (lin");
    std::vector<std::string> many = {"report", file, "--error", "e", "-o", page()};
    for (int i = 0; i < 11; ++i) many.insert(many.end(), {"--sigma", "w"});
    EXPECT_EQ(refusal(accrue(many)), "11 forecasts are more than the 10 that one report can show");
    EXPECT_FALSE(std::filesystem::exists(page()));
}

// Programs that stand in for those that draw: two pictures, the same text in each.
class Drawing : public Report {
protected:
    // `node` is a shell script: what it does when it is asked to draw into the folder $2.
    RunOptions with_node(const std::string& node) const {
        std::filesystem::create_directory(folder_.path("bin"));
        std::filesystem::create_directory(folder_.path("tmp"));
        folder_.file("bin/node", "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n" + node + "\n");
        folder_.file("bin/rsvg-convert", "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\ncp \"$9\" \"$8\"\n");
        for (const char* name : {"bin/node", "bin/rsvg-convert"})
            std::filesystem::permissions(folder_.path(name), std::filesystem::perms::owner_all);
        const std::string path = folder_.path("bin") + ":/usr/bin:/bin";
        const std::string temporary = folder_.path("tmp");
        return {.in_child = [path, temporary] {
            ::setenv("PATH", path.c_str(), 1);
            ::setenv("TMPDIR", temporary.c_str(), 1);
        }};
    }
    std::vector<std::string> drawing() const {
        return {"report", archive(), "--prediction", "mu",        "--observation",
                "y",      "--sigma", "true_sigma",   "--figures", folder_.path("figures")};
    }
    std::size_t entries(const char* name) const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path(name)))
            ++count;
        return count;
    }
};

TEST_F(Drawing, ASignalLeavesNothingBehind) {
    const RunOptions options =
        with_node("echo half > \"$2/a.svg\"; echo > \"" + folder_.path("drawing") + "\"; exec sleep 100");
    for (const int signal : {SIGINT, SIGTERM}) {
        support::Process process(command(drawing()), options.in_child);
        for (int i = 0; i < 3000 && !std::filesystem::exists(folder_.path("drawing")); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_TRUE(std::filesystem::exists(folder_.path("drawing")));
        EXPECT_GT(entries("tmp"), 3U);
        process.signal(signal);
        EXPECT_EQ(process.wait().status, 128 + signal);
        EXPECT_EQ(entries("tmp"), 0U);
        EXPECT_EQ(entries("figures"), 0U);
        std::filesystem::remove(folder_.path("drawing"));
    }
}

TEST_F(Drawing, FiguresAreReplacedTogetherOrNotAtAll) {
    const RunOptions options = with_node("for i in a b; do echo new > \"$2/$i.svg\"; done");
    const auto figure = [&](const char* name) { return folder_.content(std::string("figures/") + name); };
    output(drawing(), options);
    EXPECT_EQ(figure("a.svg") + figure("a.png") + figure("b.svg") + figure("b.png"), "new\nnew\nnew\nnew\n");
    for (const char* name : {"a.svg", "a.png", "b.png"}) folder_.file(std::string("figures/") + name, "old");
    std::filesystem::remove(folder_.path("figures/b.svg"));
    std::filesystem::create_directory(folder_.path("figures/b.svg"));
    EXPECT_EQ(refusal(accrue(drawing(), options)), "cannot write figures/b.svg: it is a directory");
    EXPECT_EQ(figure("a.svg") + figure("a.png") + figure("b.png"), "oldoldold");
    EXPECT_EQ(entries("figures"), 4U);
    EXPECT_EQ(entries("tmp"), 0U);
}

TEST_F(Drawing, PicturesOfAnEarlierReportGoWithIt) {
    const std::string figures = folder_.path("figures");
    // Every chart that there is.
    output(fit_arguments(archive(),
                         {"--inputs", "x,w", "--time", "day", "--by", "station", "--by", "day", "--figures", figures}));
    EXPECT_GT(entries("figures"), 20U);
    folder_.file("figures/input-7.svg", "of the user, who has no picture beside it");
    folder_.file("figures/notes.txt", "of the user");
    output(drawing(), with_node("echo new > \"$2/reliability.svg\""));
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(figures)) names.insert(entry.path().filename());
    EXPECT_EQ(names, (std::set<std::string>{"input-7.svg", "notes.txt", "reliability.png", "reliability.svg"}));
}

TEST_F(Drawing, AFolderThatNothingIsDrawnIntoIsNotMade) {
    const RunOptions options = with_node("exit 3");
    auto arguments = drawing();
    arguments.back() = folder_.path("new/figures");
    EXPECT_EQ(accrue(arguments, options).status, 1);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("new")));
}

TEST_F(Report, NamesThatMeanSomethingToAScriptAreDrawn) {
    std::string text = "mu,y,s,g\n";
    core::Random random(5);
    for (int i = 0; i < 200; ++i)
        text +=
            fmt::format("{},{},1,{}\n", random.normal(), random.normal(),
                        std::vector{"__proto__", "constructor", "plain", "toString"}[static_cast<std::size_t>(i % 4)]);
    output({"report", folder_.file("t.csv", text), "--prediction", "mu", "--observation", "y", "--sigma", "s", "--by",
            "g", "--figures", folder_.path("figures")});
    const std::string picture = text_of(folder_.path("figures/by-calibration.svg"));
    for (const char* name : {"__proto__", "constructor", "plain", "toString"})
        EXPECT_NE(picture.find(name), std::string::npos) << name;
    EXPECT_TRUE(picture.ends_with("</svg>") || picture.ends_with("</svg>\n"));
}

TEST_F(Report, LabelsOfAnyLengthMakeAPageOfAMegabyte) {
    std::string text = "mu,y,s,g\n";
    for (int i = 0; i < 300; ++i) text += fmt::format("0,{},1,{}{}\n", i % 7 - 3, i, std::string(100'000, 'g'));
    output({"report", folder_.file("t.csv", text), "--prediction", "mu", "--observation", "y", "--sigma", "s", "--by",
            "g", "-o", page()});
    EXPECT_LT(std::filesystem::file_size(page()), 3'000'000U);
}

}  // namespace
}  // namespace accrue::test
