#include <gtest/gtest.h>

#include <numeric>

#include "accrue/predict.hpp"
#include "adapt/timed_archive.hpp"

namespace accrue {
namespace {

using test::timed_model;
using test::TimedArchive;

ReplayOptions stations() {
    ReplayOptions options;
    options.time = "t";
    options.group = "station";
    return options;
}

TEST(Replay, EndsInTheStateOfAnUpdate) {
    const TimedArchive archive(40, 3, 0.5, 1.3, 1, true);
    const Replay replayed = replay(timed_model(), archive.rows(), stations());
    EXPECT_EQ(timed_model().with_state(replayed.state).text(),
              update(timed_model(), archive.rows(), stations()).text());
}

// Rows before a time are the same whatever comes at and after it.
TEST(Replay, NeverLooksAhead) {
    const TimedArchive archive(40, 2, 0.5, 1.3, 2);
    TimedArchive other = archive;
    for (std::size_t i = 50; i < other.y.size(); ++i) other.y[i] += 3;
    const Replay a = replay(timed_model(), archive.rows(), stations());
    const Replay b = replay(timed_model(), other.rows(), stations());
    for (std::size_t i = 0; i < 52; ++i) {  // rows 51 and 52 are of the first time that differs
        EXPECT_EQ(a.moves[i].shift, b.moves[i].shift) << i;
        EXPECT_EQ(a.moves[i].scale, b.moves[i].scale) << i;
    }
    EXPECT_NE(a.moves[52].shift, b.moves[52].shift);
}

TEST(Replay, ADelayLeavesOutWhatIsNotKnownYet) {
    const TimedArchive archive(40, 2, 0.5, 1.3, 3);
    TimedArchive other = archive;
    for (std::size_t i = 50; i < other.y.size(); ++i) other.y[i] += 3;
    ReplayOptions options = stations();
    options.delay = "3";
    const Replay a = replay(timed_model(), archive.rows(), options);
    const Replay b = replay(timed_model(), other.rows(), options);
    for (std::size_t i = 0; i < 56; ++i) EXPECT_EQ(a.moves[i].shift, b.moves[i].shift) << i;
    EXPECT_NE(a.moves[56].shift, b.moves[56].shift);
    // A lead does the same.
    ReplayOptions plain = stations();
    TimedRows led = archive.rows();
    const std::vector<double> leads(led.times.size(), 3);
    led.leads = leads;
    const Replay c = replay(timed_model(), led, plain);
    for (std::size_t i = 0; i < a.moves.size(); ++i) EXPECT_EQ(a.moves[i].shift, c.moves[i].shift) << i;
}

TEST(Replay, DoesNotDependOnTheOrderOfStations) {
    const TimedArchive archive(30, 2, 0.5, 1.3, 4);
    TimedArchive by_station = archive;
    std::vector<std::size_t> order;
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t i = s; i < archive.x.size(); i += 2) order.push_back(i);
    for (std::size_t k = 0; k < order.size(); ++k) {
        by_station.x[k] = archive.x[order[k]];
        by_station.mu[k] = archive.mu[order[k]];
        by_station.y[k] = archive.y[order[k]];
        by_station.times[k] = archive.times[order[k]];
        by_station.codes[k] = archive.codes[order[k]];
    }
    const Replay a = replay(timed_model(), archive.rows(), stations());
    const Replay b = replay(timed_model(), by_station.rows(), stations());
    for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(b.moves[k].shift, a.moves[order[k]].shift);
}

// A world that is shifted by half a sigma and half as wide again: 1,200 rows, so the coverage of 90% is right to 0.9%
// (one standard error), and the static one is about 70%.
TEST(Replay, RegainsCalibrationThatAStaticModelLost) {
    const TimedArchive archive(400, 3, 0.5, 1.5, 5);
    const Replay replayed = replay(timed_model(), archive.rows(), stations());
    EXPECT_NEAR(replayed.figures.coverage[2].observed, 0.9, 0.035);
    EXPECT_LT(replayed.fixed_figures.coverage[2].observed, 0.8);
    EXPECT_LT(replayed.figures.crps, 0.97 * replayed.fixed_figures.crps);
    EXPECT_LT(replayed.pinball, replayed.fixed_pinball);
    ASSERT_EQ(replayed.figures.by.size(), 1U);
    EXPECT_EQ(replayed.figures.by[0].values.size(), 10U);
}

TEST(Replay, LeavesAModelThatIsRightNearlyAlone) {
    const TimedArchive archive(400, 3, 0, 1, 6);
    const Replay replayed = replay(timed_model(), archive.rows(), {});
    EXPECT_LT(replayed.figures.crps, 1.01 * replayed.fixed_figures.crps);
}

TEST(Replay, ScoresFromATimeOn) {
    const TimedArchive archive(40, 2, 0.5, 1.3, 7);
    ReplayOptions options = stations();
    options.from = "30";
    const Replay replayed = replay(timed_model(), archive.rows(), options);
    EXPECT_EQ(replayed.figures.rows, 20U);
    EXPECT_EQ(std::accumulate(replayed.scored.begin(), replayed.scored.end(), 0), 20);
    options.from = "99";
    EXPECT_EQ(support::refusal([&] { replay(timed_model(), archive.rows(), options); }),
              "--from: there is no row from 99 on");
}

TEST(Replay, AdaptiveIntervalsCoverInTheLongRun) {
    const TimedArchive archive(1000, 1, 1, 2, 8);
    ReplayOptions options;
    options.levels = {0.8};
    const Replay replayed = replay(timed_model(), archive.rows(), options);
    EXPECT_NEAR(replayed.adaptive[0].observed, 0.8, (0.8 + 0.02) / (0.02 * 1000));
}

}  // namespace
}  // namespace accrue
