// replay, update and monitor as users run them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class TimeCli : public ModelCliTest {
protected:
    // Days of 2024 or later with a row of each of three stations; errors are `wide` times what the model learns.
    std::string later(const std::string& name, int days, double shift, double wide, int first_day = 0) const {
        core::Random random(static_cast<std::uint64_t>(5 + first_day));
        std::string text = "x,mu,y,station,day\n";
        for (int day = first_day; day < first_day + days; ++day)
            for (int station = 0; station < 3; ++station) {
                const double x = random.uniform();
                const double mu = random.normal();
                text += fmt::format("{},{},{},s{},20{:02}-{:02}-{:02}\n", x, mu,
                                    mu + (0.3 + x) * (shift + wide * random.normal()), station, 25 + day / 336,
                                    1 + day / 28 % 12, 1 + day % 28);
            }
        return folder_.file(name, text);
    }
    std::string model() const { return folder_.path("m.json"); }
    void fit_model() const {
        output(fit_arguments(archive("a.csv", 300), {"--inputs", "x", "--form", "polynomial", "--time", "day"}));
    }
    // The first lines of a text file in a file of its own.
    std::string cut(const std::string& file, std::size_t from, std::size_t to, const std::string& name) const {
        std::istringstream lines(folder_.content(file));
        std::string text;
        std::string line;
        for (std::size_t k = 0; std::getline(lines, line); ++k)
            if (k == 0 || (k >= from && k < to)) text += line + "\n";
        return folder_.file(name, text);
    }
};

TEST_F(TimeCli, UpdatesAtOnceAndInPartsGiveTheSameFile) {
    fit_model();
    const std::string rows = later("new.csv", 10, 0.5, 1.2);
    const std::string once = folder_.path("once.json");
    output({"update", model(), rows, "--group", "station", "-o", once});
    const std::string parts = folder_.path("parts.json");
    output({"update", model(), cut(rows, 1, 13, "1.csv"), "--group", "station", "-o", parts});
    output({"update", parts, cut(rows, 13, 31, "2.csv"), "-o", parts});
    EXPECT_EQ(folder_.content(parts), folder_.content(once));
}

TEST_F(TimeCli, ARefusedUpdateLeavesTheModelAsItWas) {
    fit_model();
    const std::string rows = later("new.csv", 10, 0.5, 1.2);
    output({"update", model(), rows, "-o", model()});
    const std::string before = folder_.content(model());
    EXPECT_EQ(refusal(accrue({"update", model(), rows, "-o", model()})),
              "new.csv row 1 (line 2) is of 2025-01-01, but the state has seen observations up to 2025-01-10: rows "
              "already seen "
              "are refused");
    const std::string text = folder_.content(later("more.csv", 5, 0, 1, 20));
    const std::string half = folder_.file("half.csv", text.substr(0, text.size() - 20));
    EXPECT_NE(refusal(accrue({"update", model(), half, "-o", model()})).find("half.csv row 15"), std::string::npos);
    EXPECT_EQ(folder_.content(model()), before);
}

TEST_F(TimeCli, BadRowsAreRefusedInOneMessageAndChangeNothing) {
    fit_model();
    output({"update", model(), later("new.csv", 10, 0.5, 1.2), "--group", "station", "-o", model()});
    const std::string before = folder_.content(model());
    const std::vector<std::string> good = lines(folder_.content(later("more.csv", 3, 0, 1, 20)));
    const auto refused = [&](const std::string& name, std::vector<std::string> rows) {
        std::string text;
        for (const std::string& row : rows) text += row + "\n";
        const std::string said = refusal(accrue({"update", model(), folder_.file(name, text), "-o", model()}));
        EXPECT_EQ(folder_.content(model()), before) << name;
        return said;
    };
    std::vector<std::string> back = good;
    std::swap(back[3], back[7]);
    EXPECT_EQ(refused("back.csv", back),
              "back.csv row 4 (line 5) is of 2025-01-22, after a row of 2025-01-23: sort the rows by time");
    std::vector<std::string> twice = good;
    twice.insert(twice.begin() + 5, good[4]);
    EXPECT_EQ(refused("twice.csv", twice),
              "twice.csv row 5 (line 6) repeats twice.csv row 4 (line 5): time, inputs, prediction and observation are "
              "the same");
    std::vector<std::string> numbers = good;
    for (std::size_t i = 1; i < numbers.size(); ++i)
        numbers[i] = numbers[i].substr(0, numbers[i].rfind(',')) + ",20250" + std::to_string(130 + i);
    EXPECT_EQ(refused("numbers.csv", numbers),
              "the state has a clock of dates, but the times of numbers.csv are plain numbers");
    std::vector<std::string> cut = good;
    cut.back().resize(cut.back().find(',') + 3);
    EXPECT_EQ(refused("cut.csv", cut).find("cut.csv row 9"), 0U);
    std::vector<std::string> untimed = good;
    untimed[0] = "x,mu,y,station,date";
    EXPECT_EQ(refused("untimed.csv", untimed).find("untimed.csv has no column 'day'"), 0U);
    EXPECT_EQ(refused("empty.csv", {good[0]}), "empty.csv has a header but no rows");
}

TEST_F(TimeCli, AStationThatWasNeverSeenHasWhatAllHaveInCommon) {
    fit_model();
    output({"update", model(), later("new.csv", 30, 0.5, 1.2), "--group", "station", "-o", model()});
    const auto forecast = [&](const std::string& station) {
        const std::string rows =
            folder_.file("next.csv", "x,mu,station,day\n0.5,1," + station + ",2025-02-15\n0.5,1,s1,2025-02-15\n");
        return lines(output({"predict", model(), rows, "-o", "-"}));
    };
    const std::vector<std::string> a = forecast("new_one");
    const std::vector<std::string> b = forecast("other_one");
    EXPECT_EQ(cells(a[1])[4], cells(b[1])[4]);
    EXPECT_NE(cells(a[1])[4], cells(a[2])[4]) << "s1 has a shift of its own";
    EXPECT_NE(cells(a[1])[4], "1") << "the common shift";
    // It joins with the next update, and the clock goes on.
    const std::string rows =
        folder_.file("next.csv", "x,mu,y,station,day\n0.5,1,2,new_one,2025-02-15\n0.5,1,1.5,s1,2025-02-15\n");
    output({"update", model(), rows, "-o", model()});
    EXPECT_NE(folder_.content(model()).find("new_one"), std::string::npos);
}

TEST_F(TimeCli, ReplayFitsAgainOnASchedule) {
    fit_model();
    const std::string rows = later("new.csv", 200, 1, 1.6);
    const std::vector<std::string> schedule = {"replay", rows,       "--model", model(), "--refit",
                                               "60d",    "--window", "90d",     "--json"};
    const auto json = nlohmann::json::parse(output(schedule));
    // The rows are of 28 days of each month up to August: fits on April 1, May 31 and July 30.
    ASSERT_EQ(json.at("refits").size(), 3U);
    EXPECT_EQ(json.at("refits").at(0).at("time"), "2025-04-01");
    const std::string words = output({"replay", rows, "--model", model(), "--refit", "60d", "--window", "90d"});
    EXPECT_NE(words.find("Fitted again 3 times, last at 2025-07-30"), std::string::npos) << words;
    EXPECT_EQ(refusal(accrue({"replay", rows, "--model", model(), "--refit", "60d"})), "--refit needs --window");
}

// The interval that was issued is what counts, also where it is infinite.
TEST_F(TimeCli, UpdateGoesByTheAdaptiveIntervalsThatPredictWrote) {
    fit_model();
    const std::string rows = later("new.csv", 8, 0.5, 1.2);
    const std::string first = cut(rows, 1, 13, "1.csv");
    EXPECT_NE(
        output({"update", model(), first, "--adaptive", "0.9", "-o", model()}).find("are taken to have been made"),
        std::string::npos);
    const auto tail = [](const std::string& text) {
        return nlohmann::json::parse(text)["state"]["tails"][0].get<double>();
    };
    const double before = tail(folder_.content(model()));
    const std::string predicted = folder_.path("predicted.csv");
    output({"predict", model(), cut(rows, 13, 25, "2.csv"), "-o", predicted});
    const std::vector<std::string> table = lines(folder_.content(predicted));
    ASSERT_EQ(table[0], "x,mu,y,station,day,mean,sigma,adaptive_lower_0.9,adaptive_upper_0.9,off_support");
    int missed = 0;
    std::string infinite = table[0] + "\n";
    for (std::size_t row = 1; row <= 12; ++row) {
        std::vector<std::string> own = cells(table[row]);
        const double y = std::stod(own[2]);
        missed += y < std::stod(own[7]) || y > std::stod(own[8]) ? 1 : 0;
        own[7] = "-inf";
        own[8] = "inf";
        infinite += fmt::format("{}\n", fmt::join(own, ","));
    }
    const std::string moved = folder_.path("moved.json");
    EXPECT_NE(output({"update", model(), predicted, "-o", moved}).find("are those that the rows have"),
              std::string::npos);
    EXPECT_NEAR(tail(folder_.content(moved)), before + 0.02 * (4 * 0.1 - missed / 3.0), 1e-12);  // three rows a time
    output({"update", model(), folder_.file("infinite.csv", infinite), "-o", moved});
    EXPECT_NEAR(tail(folder_.content(moved)), before + 0.02 * 4 * 0.1, 1e-12);
    infinite.replace(infinite.rfind(",inf,"), 5, ",wide,");
    EXPECT_EQ(refusal(accrue({"update", model(), folder_.file("wide.csv", infinite), "-o", moved})),
              "wide.csv row 12 (line 13), column 'adaptive_upper_0.9': 'wide' must be a number, -inf or inf: it is an "
              "end of an interval");
}

TEST_F(TimeCli, AModelWithoutATimeSaysSo) {
    output(fit_arguments(archive("a.csv", 100), {"--inputs", "x", "--form", "polynomial"}));
    const std::string rows = later("new.csv", 4, 0.5, 1.2);
    EXPECT_EQ(refusal(accrue({"update", model(), rows, "-o", model()})),
              "the model has no time: name the column of the times with --time");
    output({"update", model(), rows, "--time", "day", "-o", model()});
}

TEST_F(TimeCli, PredictForecastsAsReplayDid) {
    fit_model();
    const std::string rows = later("new.csv", 12, 0.8, 1.5);
    const std::string forecasts = folder_.path("f.csv");
    output({"replay", rows, "--model", model(), "--group", "station", "-o", forecasts, "--json"});
    // The last day's rows are the same from an update with the days before.
    output({"update", model(), cut(rows, 1, 34, "1.csv"), "--group", "station", "-o", model()});
    const std::string predicted =
        output({"predict", model(), cut(rows, 34, 37, "2.csv"), "--interval", "0.9", "-o", "-"});
    const std::vector<std::string> replayed = lines(folder_.content(forecasts));
    const std::vector<std::string> own = lines(predicted);
    for (std::size_t row = 0; row < 3; ++row)
        // mean, sigma, lower and upper stand side by side in both, behind 3 and 5 columns.
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_EQ(cells(replayed[34 + row])[3 + k], cells(own[1 + row])[5 + k]) << row << ", " << k;
    EXPECT_NE(refusal(accrue({"predict", model(), rows, "-o", "-"})).find("forecasts of the past come from"),
              std::string::npos);
    output({"predict", model(), rows, "--no-state", "-o", "-"});
}

TEST_F(TimeCli, ARecalibratedModelLearnsForecastsAndIsFittedAgain) {
    output(fit_arguments(archive("a.csv", 300),
                         {"--inputs", "x", "--form", "polynomial", "--time", "day", "--recalibrate", "isotonic"}));
    const std::string rows = later("new.csv", 12, 0.8, 1.5);
    const std::string forecasts = folder_.path("f.csv");
    output({"replay", rows, "--model", model(), "-o", forecasts, "--json"});
    const std::string moved = folder_.path("moved.json");
    output({"update", model(), cut(rows, 1, 34, "1.csv"), "-o", moved});
    const std::vector<std::string> own =
        lines(output({"predict", moved, cut(rows, 34, 37, "2.csv"), "--interval", "0.9", "-o", "-"}));
    const std::vector<std::string> replayed = lines(folder_.content(forecasts));
    for (std::size_t row = 0; row < 3; ++row)
        // mean, sigma, lower and upper stand side by side in both, behind 2 and 5 columns.
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_EQ(cells(replayed[34 + row])[2 + k], cells(own[1 + row])[5 + k]) << row << ", " << k;
    const auto json = nlohmann::json::parse(output(
        {"replay", later("long.csv", 200, 1, 1.6), "--model", model(), "--refit", "60d", "--window", "90d", "--json"}));
    EXPECT_EQ(json.at("refits").size(), 3U);
    EXPECT_LT(json.at("adapting").at("crps"), json.at("static").at("crps"));
}

TEST_F(TimeCli, PredictTakesTimesThatArePlainNumbers) {
    output(fit_arguments(archive("a.csv", 100), {"--inputs", "x", "--form", "polynomial"}));
    const std::string seen = folder_.file("seen.csv", "x,mu,y,t\n0.5,1,1.5,7\n0.2,1,1.4,7.5\n");
    output({"update", model(), seen, "--time", "t", "--forget", "5", "-o", model()});
    const std::string rows = folder_.file("next.csv", "x,mu,t\n0.5,1,7.75\n0.5,1,1e300\n");
    const std::vector<std::string> out = lines(output({"predict", model(), rows, "-o", "-"}));
    EXPECT_NE(cells(out[1])[3], "1") << "moved by what was seen";
    EXPECT_EQ(cells(out[2])[3], "1") << "forgotten by then";
    const std::string late = folder_.file("late.csv", "x,mu,t\n0.5,1,7.5\n");
    EXPECT_NE(refusal(accrue({"predict", model(), late, "-o", "-"})).find("observations up to 7.5"), std::string::npos);
}

TEST_F(TimeCli, ReplayShowsWhatLearningBrings) {
    fit_model();
    const std::string rows = later("new.csv", 200, 1, 1.6);
    const auto json = nlohmann::json::parse(output({"replay", rows, "--model", model(), "--json"}));
    EXPECT_LT(json.at("adapting").at("crps"), json.at("static").at("crps"));
    EXPECT_LT(json.at("adapting").at("calibration_error_percent"), json.at("static").at("calibration_error_percent"));
    EXPECT_EQ(json.at("adapting").at("by").at(0).at("column"), "period");
    const std::string words = output({"replay", rows, "--model", model(), "--delay", "2d", "--forget", "10d"});
    EXPECT_NE(words.find("80% interval coverage"), std::string::npos);
    EXPECT_NE(words.find("forgotten over 10 days"), std::string::npos);
    EXPECT_EQ(refusal(accrue({"replay", rows, "--model", model(), "--delay", "2"})),
              "--delay is '2', which is not a duration; write 2d, 12h or 30m, for example");
}

TEST_F(TimeCli, MonitorEndsWithThreeWhereItAlarms) {
    fit_model();
    const Ended quiet = accrue({"monitor", model(), later("same.csv", 60, 0, 1)});
    EXPECT_EQ(quiet.status, 0) << quiet.err;
    EXPECT_EQ(quiet.out.find("No alarm in 60 times"), 0U) << quiet.out;
    const Ended loud = accrue({"monitor", model(), later("other.csv", 60, 1.5, 1), "--json"});
    EXPECT_EQ(loud.status, 3) << loud.err;
    EXPECT_EQ(nlohmann::json::parse(loud.out).at("alarm"), true);
}

TEST_F(TimeCli, ReplayAndMonitorDrawPages) {
    fit_model();
    const std::string rows = later("new.csv", 100, 1.5, 1.6);
    const std::string page = folder_.path("page.html");
    const auto data = [&] {
        const std::string text = folder_.content(page);
        const std::string tag = "id=\"report-data\">";
        const std::size_t from = text.find(tag) + tag.size();
        return Json::parse(text.substr(from, text.find("</script", from) - from));
    };
    const std::string said =
        output({"replay", rows, "--model", model(), "--group", "station", "--from", "2025-02-01", "--report", page});
    EXPECT_NE(said.find("Report written to " + page), std::string::npos);
    const Json replayed = data();
    EXPECT_EQ(replayed.at("kind"), "replay");
    EXPECT_EQ(replayed.at("subtitle"), "216 rows from 2025-02-01 to 2025-04-16; error = y - mu");
    EXPECT_EQ(replayed.at("columns").at("time"), "day");
    EXPECT_EQ(replayed.at("through_time").at("time_unit"), "seconds");
    EXPECT_EQ(replayed.at("through_time").at("from")[0], 1738368000.0);  // 2025-02-01
    const Json figures = json(
        {"replay", rows, "--model", model(), "--group", "station", "--from", "2025-02-01", "--json", "--report", page});
    EXPECT_EQ(replayed.at("scores").at("forecasts")[0].at("crps"), figures.at("adapting").at("crps"));
    EXPECT_EQ(replayed.at("scores").at("forecasts")[1].at("crps"), figures.at("static").at("crps"));

    const Ended loud = accrue({"monitor", model(), rows, "--report", page});
    EXPECT_EQ(loud.status, 3) << loud.err;
    EXPECT_NE(loud.out.find("Report written to " + page), std::string::npos);
    const Json watched = data();
    EXPECT_EQ(watched.at("kind"), "monitor");
    EXPECT_EQ(loud.out.find(watched.at("verdict").at("summary").get<std::string>()), 0U);
    EXPECT_EQ(watched.at("monitor").at("times").size(), 100U);
    EXPECT_EQ(watched.at("monitor").at("alarm"), true);
    // Refused before anything is written.
    EXPECT_NE(refusal(accrue({"monitor", model(), rows, "--report", rows})).find("new.csv"), std::string::npos);
    EXPECT_NE(refusal(accrue({"replay", rows, "--model", model(), "--report", model()})).find("m.json"),
              std::string::npos);
    EXPECT_NE(refusal(accrue({"replay", rows, "--model", model(), "-o", page, "--report", page})).find("same file"),
              std::string::npos);
}

TEST_F(TimeCli, PagesShowTheValuesOfCategories) {
    // The archive has no s2; new.csv has s0, s1 and s2.
    std::string text = folder_.content(archive("all.csv", 300));
    for (std::size_t at; (at = text.find(",s2,")) != std::string::npos;) text.replace(at, 4, ",s3,");
    output(fit_arguments(folder_.file("a.csv", text),
                         {"--inputs", "x,station:category", "--family", "normal", "--time", "day"}));
    const std::string page = folder_.path("page.html");
    output({"replay", later("new.csv", 100, 0, 1), "--model", model(), "--report", page});
    const std::string html = folder_.content(page);
    const std::string tag = "id=\"report-data\">";
    const std::size_t from = html.find(tag) + tag.size();
    const Json data = Json::parse(html.substr(from, html.find("</script", from) - from));
    const Json& forecast = data.at("forecasts")[0];
    const Json& column = forecast.at("conditional").at("columns")[1];
    EXPECT_EQ(column.at("name"), "station:category");
    EXPECT_EQ(column.at("label"), Json({"s0", "s1", "none of the archive's"}));
    EXPECT_EQ(column.at("rows"), Json({100, 100, 100}));
    ASSERT_EQ(forecast.at("inputs").size(), 1U) << "errors are drawn along numbers";
    EXPECT_EQ(forecast.at("inputs")[0].at("name"), "x");
}

TEST_F(TimeCli, GeneratesAModelThatChanges) {
    const std::string plain = output({"generate", "lorenz", "--rows", "160", "-o", "-"});
    const std::string changing = output({"generate", "lorenz", "--rows", "160", "--change-at", "0.5", "-o", "-"});
    EXPECT_EQ(lines(changing)[80], lines(plain)[80]);
    EXPECT_NE(lines(changing)[81], lines(plain)[81]);
    EXPECT_EQ(refusal(accrue({"generate", "G", "--change-at", "0.5", "-o", "-"})),
              "generate G: nothing in it can change, so --change-at has no use");
}

}  // namespace
}  // namespace accrue::test
