// What the pages of a replay and of a monitor are drawn from.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "accrue/report.hpp"
#include "adapt/timed_archive.hpp"

namespace accrue {
namespace {

using Json = nlohmann::ordered_json;
using test::timed_model;
using test::TimedArchive;

TEST(ReplayPage, HasTheFiguresOfThePeriodsOfBothForecasts) {
    const TimedArchive archive(100, 3, 0.8, 1.5, 3, false, 1000);
    const TimedRows rows = archive.rows();
    ReplayOptions options;
    options.from = "1020";
    const Replay replayed = replay(timed_model(), rows, options);
    const Json data = replay_report_data({}, timed_model(), rows, replayed);
    EXPECT_EQ(data.at("kind"), "replay");
    EXPECT_EQ(data.at("subtitle"), "240 rows from 1020 to 1099; error = observation - prediction");
    const Json& through = data.at("through_time");
    ASSERT_EQ(through.at("from").size(), replayed.figures.by[0].values.size());
    EXPECT_EQ(through.at("from")[0], 1020.0);
    EXPECT_EQ(through.at("to").back(), 1099.0);
    EXPECT_EQ(through.at("to")[0], through.at("from")[1]);
    const std::array<const Verification*, 2> both = {&replayed.figures, &replayed.fixed_figures};
    for (std::size_t f = 0; f < both.size(); ++f) {
        const Json& own = through.at("forecasts")[f];
        EXPECT_EQ(own.at("name"), f == 0 ? "adapting" : "static");
        EXPECT_EQ(data.at("forecasts")[f].at("name"), own.at("name"));
        std::size_t counted = 0;
        for (std::size_t k = 0; k < own.at("crps").size(); ++k) {
            const Verification& period = both[f]->by[0].values[k];
            // Seven digits are kept.
            EXPECT_NEAR(own.at("crps")[k].get<double>(), period.crps, 1e-6 * period.crps);
            EXPECT_NEAR(own.at("coverage")[k].get<double>(), period.coverage[2].observed, 1e-6);
            EXPECT_NEAR(own.at("calibration_error")[k].get<double>(), period.calibration_error, 1e-6);
            counted += own.at("rows")[k].get<std::size_t>();
        }
        EXPECT_EQ(counted, 240U);
        // The same rows and figures as those of the replay.
        EXPECT_NEAR(data.at("scores").at("forecasts")[f].at("crps").get<double>(), both[f]->crps, 1e-6);
    }
    // The shift is learned: what the replay says, the page's comparison, static less adapting, says too.
    const Json& difference = data.at("scores").at("comparison")[0].at("crps");
    EXPECT_NEAR(difference.at("difference").get<double>(), replayed.fixed_figures.crps - replayed.figures.crps, 1e-6);
    EXPECT_GT(difference.at("low").get<double>(), 0);
    EXPECT_NE(data.at("scores").at("lowest_crps").at("sentence").get<std::string>().find("adapting"),
              std::string::npos);
}

// Each of 200 stations has an x, and an offset that the static model knows nothing of. A bin of x has 400 rows, whose
// mean would be right to 0.07 if they did not err together, and 20 stations, whose mean is right to 0.2.
TEST(ReplayPage, PlacesCountRowsThatErrTogether) {
    TimedArchive archive(20, 200, 0, 1, 16);
    core::Random random(17);
    std::vector<double> offsets(200);
    for (double& offset : offsets) offset = random.normal();
    for (std::size_t i = 0; i < archive.y.size(); ++i) {
        archive.x[i] = archive.codes[i] / 200.0 - 0.5;
        archive.y[i] = archive.mu[i] + std::exp(archive.x[i]) * (offsets[archive.codes[i]] + random.normal());
    }
    const auto width = [&](const TimedRows& rows) {
        const Json data = replay_report_data({}, timed_model(), rows, replay(timed_model(), rows, {}));
        const Json& fixed = data.at("forecasts")[1];
        EXPECT_EQ(fixed.at("name"), "static");
        for (const Json& column : fixed.at("conditional").at("columns"))
            if (column.at("role") == "input")
                return column.at("mean_z_pointwise_high")[3].get<double>() -
                       column.at("mean_z_pointwise_low")[3].get<double>();
        return 0.0;
    };
    TimedRows alone = archive.rows();
    alone.groups = {};
    EXPECT_GT(width(alone), 0);
    EXPECT_GT(width(archive.rows()), 2 * width(alone));
}

TEST(MonitorPage, HasTheEvidenceWithTheAlarm) {
    const TimedArchive archive(60, 3, 1.5, 2, 4, false, 1000);
    const TimedRows rows = archive.rows();
    const Monitor watched = monitor(timed_model(), rows);
    ASSERT_TRUE(watched.alarm);
    const Json data = monitor_report_data({}, timed_model(), rows, watched);
    EXPECT_EQ(data.at("kind"), "monitor");
    EXPECT_EQ(data.at("verdict").at("summary"), watched.sentence);
    const Json& shown = data.at("monitor");
    ASSERT_EQ(shown.at("times").size(), 60U);
    EXPECT_EQ(shown.at("alarm_time"), watched.alarm_time);
    EXPECT_EQ(shown.at("threshold"), 1 / MonitorOptions().alpha);
    for (std::size_t k = 0; k < watched.steps; ++k)
        EXPECT_NEAR(shown.at("evidence")[k].get<double>(), watched.evidence[k], 1e-6 * watched.evidence[k]);
    EXPECT_EQ(data.at("scores").at("rows"), 180);
}

TEST(MonitorPage, OfVeryManyTimesKeepsTheAlarmAndTheStrongestEvidence) {
    const TimedArchive archive(5000, 1, 0.5, 1.2, 5);
    const TimedRows rows = archive.rows();
    const Monitor watched = monitor(timed_model(), rows);
    ASSERT_TRUE(watched.alarm);
    const Json data = monitor_report_data({}, timed_model(), rows, watched);
    const Json& shown = data.at("monitor");
    EXPECT_EQ(shown.at("steps"), 5000);
    EXPECT_EQ(shown.at("times").size(), 1667U);  // every three together
    bool found = false;
    for (std::size_t k = 0; k < shown.at("times").size(); ++k)
        found = found || shown.at("times")[k] == shown.at("alarm_time");
    EXPECT_TRUE(found);
    for (const Json& value : shown.at("evidence")) EXPECT_LE(value.get<double>(), 1e99);
    EXPECT_NE(data.at("notes").dump().find("every 3 times together"), std::string::npos);
}

}  // namespace
}  // namespace accrue
