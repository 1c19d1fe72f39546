#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "adapt/betting.hpp"
#include "adapt/timed_archive.hpp"

namespace accrue {
namespace {

using adapting::Bets;
using adapting::Ranks;
using test::timed_model;
using test::TimedArchive;

// 300 values that are known by counts of 20 bins, and 300 more of the same distribution, which need not be uniform.
double highest_evidence(std::uint64_t seed, double shift) {
    core::Random random(seed);
    std::vector<double> ends;
    std::vector<double> counts(20);
    for (std::size_t k = 1; k <= counts.size(); ++k) ends.push_back(static_cast<double>(k) / 20);
    const auto value = [&] { return std::pow(random.uniform(), 1.3); };
    for (int i = 0; i < 300; ++i) counts[std::min<std::size_t>(19, static_cast<std::size_t>(20 * value()))] += 1;
    Ranks ranks(ends, counts);
    Bets bets;
    double highest = 0;
    for (int i = 0; i < 300; ++i) {
        const double own = std::min(1.0, value() + shift);
        const double p = ranks.p_value(own, random.uniform());
        ranks.add(own);
        highest = std::max(highest, bets.step(std::span(&p, 1)));
    }
    return highest;
}

// Ville's inequality: at most 2% of runs reach 50. 1,000 runs: with 2% the number has a standard deviation of 4.4, so
// that more than 38 would come by chance with a probability below 1e-4.
TEST(Monitor, RarelyAlarmsWithoutAChange) {
    int alarms = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) alarms += highest_evidence(seed, 0) >= 50 ? 1 : 0;
    EXPECT_LE(alarms, 38);
}

TEST(Monitor, FindsAChange) {
    int alarms = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) alarms += highest_evidence(seed, 0.3) >= 50 ? 1 : 0;
    EXPECT_GE(alarms, 48);
}

TEST(Monitor, PValuesAreBetweenZeroAndOne) {
    const Ranks ranks({0.5, 1}, {3, 5});
    EXPECT_EQ(ranks.p_value(0.2, 0), 0);
    EXPECT_DOUBLE_EQ(ranks.p_value(0.2, 0.5), 2.0 / 9);
    EXPECT_DOUBLE_EQ(ranks.p_value(0.9, 0.5), (3 + 3.0) / 9);
    EXPECT_LT(ranks.p_value(1, 0.999), 1);
}

TEST(Monitor, TellsTheModelAboutANewWorld) {
    const TimedArchive same(100, 2, 0, 1, 1);
    const Monitor quiet = monitor(timed_model(), same.rows());
    EXPECT_FALSE(quiet.alarm);
    EXPECT_EQ(quiet.steps, 100U);
    EXPECT_EQ(quiet.threshold, 50);
    const TimedArchive moved(100, 2, 1, 1.5, 2);
    const Monitor loud = monitor(timed_model(), moved.rows());
    EXPECT_TRUE(loud.alarm);
    EXPECT_LE(loud.alarm_step, 30U);
    EXPECT_NE(loud.sentence.find("Alarm at"), std::string::npos);
    EXPECT_EQ(to_json(loud).at("through_time").size(), 100U);
    EXPECT_EQ(to_json(loud).at("alarm"), true);
}

TEST(Monitor, RefusesABadProbability) {
    const TimedArchive rows(5, 1, 0, 1, 1);
    MonitorOptions options;
    options.alpha = 0;
    EXPECT_EQ(support::refusal([&] { monitor(timed_model(), rows.rows(), options); }),
              "--alpha: 0 is not between 0 and 1");
}

}  // namespace
}  // namespace accrue
