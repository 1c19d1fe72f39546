#include "accrue/state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/random.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

StateOptions options_of(double forget, const std::string& group = "") {
    StateOptions options;
    options.time = "t";
    options.group = group;
    options.forget = {forget};
    options.trust = {1};
    return options;
}

TEST(State, SaysNothingBeforeTheFirstObservation) {
    const State state(options_of(10));
    const Moved moved = state.at(0).of(1, State::kNoGroup, {});
    EXPECT_EQ(moved.shift, 0);
    EXPECT_EQ(moved.scale, 1);
}

// Rows one day apart that are all 0.5: the weights are powers of e^(-1/10), and 4 observations speak for 0.
TEST(State, ShiftIsTheWeightedMeanShrunk) {
    State state(options_of(10));
    double weight = 0;
    for (int day = 0; day < 30; ++day) {
        const State::Observation row{0.5, 1, "", {}};
        state.observe(day, std::span(&row, 1));
        weight = weight * std::exp(-0.1) + 1;
    }
    const double faded = weight * std::exp(-0.1);
    // 30 products and sums of positive numbers.
    EXPECT_NEAR(state.at(30).of(1, State::kNoGroup, {}).shift, 0.5 * faded / (faded + 4), 1e-14);
}

TEST(State, FindsShiftAndScaleOfManyNormalScores) {
    State state(options_of(std::numeric_limits<double>::infinity()));
    core::Random random(3);
    for (int day = 0; day < 4000; ++day) {
        const State::Observation row{0.7 + 1.5 * random.normal(), 1, "", {}};
        state.observe(day, std::span(&row, 1));
    }
    const Moved moved = state.at(4000).of(1, State::kNoGroup, {});
    // Five standard errors: 1.5/sqrt(4000) and a little more for rows that are cut, and 1.5/sqrt(8000).
    EXPECT_NEAR(moved.shift, 0.7, 0.13);
    EXPECT_NEAR(moved.scale, 1.5, 0.1);
}

TEST(State, AGroupHasItsOwnShiftAndAnUnseenOneTheCommon) {
    State state(options_of(20, "station"));
    for (int day = 0; day < 100; ++day) {
        const std::vector<State::Observation> rows = {{1, 1, "high", {}}, {-1, 1, "low", {}}};
        state.observe(day, rows);
    }
    const State::Moment now = state.at(100);
    EXPECT_GT(now.of(1, state.group("high"), {}).shift, 0.7);
    EXPECT_LT(now.of(1, state.group("low"), {}).shift, -0.7);
    EXPECT_EQ(state.group("other"), State::kNoGroup);
    EXPECT_NEAR(now.of(1, state.group("other"), {}).shift, 0, 1e-12);
}

TEST(State, FindsALinearCorrection) {
    StateOptions options = options_of(std::numeric_limits<double>::infinity());
    options.correct = {"x"};
    State state(options);
    core::Random random(5);
    for (int day = 0; day < 2000; ++day) {
        const double x = random.normal();
        const State::Observation row{0.8 * x + 0.5 * random.normal(), 1, "", std::span(&x, 1)};
        state.observe(day, std::span(&row, 1));
    }
    const double x = 1;
    // 16 of 2,000 observations speak for no correction; five standard errors of 0.5/sqrt(2000) beside.
    EXPECT_NEAR(state.at(2000).of(1, State::kNoGroup, std::span(&x, 1)).shift, 0.8, 0.08);
}

TEST(State, TrustTellsRowsApartBySigma) {
    StateOptions options = options_of(std::numeric_limits<double>::infinity());
    options.trust = {0};
    State state(options);
    core::Random random(9);
    for (int day = 0; day < 3000; ++day) {
        const double sigma = std::exp(random.uniform(-1, 1));
        // The errors have one scale, whatever sigma says.
        const State::Observation row{random.normal() / sigma, sigma, "", {}};
        state.observe(day, std::span(&row, 1));
    }
    const State::Moment now = state.at(3000);
    for (const double sigma : {0.5, 1.0, 2.0})
        EXPECT_NEAR(sigma * now.of(sigma, State::kNoGroup, {}).scale, 1, 0.08);  // five standard errors
}

TEST(State, OneGrossOutlierMovesLittle) {
    State state(options_of(30));
    for (int day = 0; day < 60; ++day) {
        const State::Observation row{day % 2 == 0 ? 0.8 : -0.8, 1, "", {}};
        state.observe(day, std::span(&row, 1));
    }
    const Moved before = state.at(60).of(1, State::kNoGroup, {});
    const State::Observation row{1e300, 1, "", {}};
    state.observe(60, std::span(&row, 1));
    const Moved after = state.at(61).of(1, State::kNoGroup, {});
    EXPECT_LT(std::fabs(after.shift - before.shift), 0.1);
    EXPECT_LT(after.scale, 1.2 * before.scale);
}

TEST(State, ReturnsToTheFittedModelWhenNothingComes) {
    State state(options_of(5));
    for (int day = 0; day < 20; ++day) {
        const State::Observation row{2, 1, "", {}};
        state.observe(day, std::span(&row, 1));
    }
    const Moved later = state.at(200).of(1, State::kNoGroup, {});
    EXPECT_NEAR(later.shift, 0, 1e-12);
    EXPECT_NEAR(later.scale, 1, 1e-12);
}

// 40 groups of which each is seen once in ten days: what one says of itself has to be taken from few observations.
State of_groups(double apart, double spread) {
    StateOptions options = options_of(50, "station");
    options.shrink = shrink_candidates();
    State state(options);
    core::Random random(21);
    std::vector<double> offsets(40);
    for (double& offset : offsets) offset = apart * random.normal();
    for (int day = 0; day < 400; ++day) {
        const std::string label = std::to_string(day % 40);
        const double score = offsets[static_cast<std::size_t>(day % 40)] + spread * random.normal();
        const State::Observation row{score, 1, label, {}};
        state.observe(day, std::span(&row, 1));
    }
    return state;
}

TEST(State, ShrinksLittleWhereGroupsDifferAndMuchWhereTheyDoNot) {
    EXPECT_EQ(of_groups(1.5, 0.2).shrink(), 1);
    EXPECT_EQ(of_groups(0, 1).shrink(), 64);
}

TEST(State, ShrinksAsTheDefaultBeforeTheFirstObservation) {
    StateOptions options = options_of(10);
    options.shrink = shrink_candidates();
    EXPECT_EQ(State(options).shrink(), StateOptions{"t"}.shrink[0]);
}

// Scores that are exponential: shift and scale leave a shape, and the map of it makes them normal.
TEST(State, LearnsAShape) {
    StateOptions options = options_of(std::numeric_limits<double>::infinity());
    options.shape = true;
    State state(options);
    core::Random random(22);
    const auto draw = [&] { return -std::log(random.uniform()) - 1; };
    EXPECT_EQ(state.at(0).of(1, State::kNoGroup, {}).shape, nullptr);
    for (int day = 0; day < 6000; ++day) {
        const State::Observation row{draw(), 1, "", {}};
        state.observe(day, std::span(&row, 1));
    }
    const Moved moved = state.at(6000).of(1, State::kNoGroup, {});
    ASSERT_NE(moved.shape, nullptr);
    Moved unshaped = moved;
    unshaped.shape = nullptr;
    // Share of rows beyond the central 50 and 75%, which end at knots: five standard errors of 20,000 rows and of the
    // 6,000 that it learned from.
    const auto beyond = [&](double tail, const Moved& by) {
        core::Random rows(24);
        double share = 0;
        constexpr int kRows = 20'000;
        for (int k = 0; k < kRows; ++k) share += tail_of(-std::log(rows.uniform()) - 1, by) < tail ? 1.0 / kRows : 0;
        return share;
    };
    EXPECT_NEAR(beyond(0.5, moved), 0.5, 0.04);
    EXPECT_NEAR(beyond(0.25, moved), 0.25, 0.035);
    EXPECT_GT(std::fabs(beyond(0.25, unshaped) - 0.25), 0.04);
}

TEST(State, KeepsTheShapeThatTheFamilyHasWhereItIsRight) {
    StateOptions options = options_of(20);
    options.shape = true;
    State state(options);
    core::Random random(23);
    for (int day = 0; day < 3000; ++day) {
        const State::Observation row{random.normal(), 1, "", {}};
        state.observe(day, std::span(&row, 1));
    }
    EXPECT_EQ(state.at(3000).of(1, State::kNoGroup, {}).shape, nullptr);
}

TEST(State, RefusesAShapeThatIsNone) {
    StateOptions options = options_of(20);
    options.shape = true;
    State state(options);
    const State::Observation row{0.3, 1, "", {}};
    state.observe(1, std::span(&row, 1));
    nlohmann::ordered_json json = state.json();
    json["shape"]["counts"][0][3] = -1;
    EXPECT_EQ(support::refusal([&] { State::from_json(json); }), "a count of its state is negative");
    json = state.json();
    json["shape"]["counts"][0][3] = 1e300;
    EXPECT_EQ(support::refusal([&] { State::from_json(json); }), "the shape of its state does not rise");
    json = state.json();
    json["shape"]["loss"].push_back(0);
    EXPECT_EQ(support::refusal([&] { State::from_json(json); }), "'loss' of its state has 3 values in place of 2");
}

TEST(State, ReadsWhatItWrote) {
    StateOptions options = options_of(7, "station");
    options.forget = {7, std::numeric_limits<double>::infinity()};
    options.trust = {1, 0.5};
    options.correct = {"x"};
    options.levels = {0.9};
    options.shrink = {4, 1};
    options.shape = true;
    State state(options);
    core::Random random(2);
    for (int day = 0; day < 9; ++day) {
        const double x = random.normal();
        const std::vector<State::Observation> rows = {{random.normal(), 0.7, "a", std::span(&x, 1)},
                                                      {random.normal(), 1.4, "b", std::span(&x, 1)}};
        state.observe(day, rows);
    }
    const std::string text = state.json().dump();
    EXPECT_EQ(State::from_json(nlohmann::ordered_json::parse(text)).json().dump(), text);
}

TEST(State, RefusesWhatItHasSeenAndBadOptions) {
    State state(options_of(7));
    const State::Observation row{0, 1, "", {}};
    state.observe(3, std::span(&row, 1));
    EXPECT_THROW(state.observe(3, std::span(&row, 1)), InputError);
    EXPECT_EQ(support::refusal([] { State(options_of(-1)); }), "--forget: -1 is not more than 0");
    State grouped(options_of(7, "station"));
    const State::Observation odd{0, 1, "caf\xe9", {}};
    EXPECT_THROW(grouped.observe(3, std::span(&odd, 1)), InputError);
    StateOptions options = options_of(1);
    options.shrink = {0};
    EXPECT_EQ(support::refusal([&] { State{options}; }), "--shrink: 0 is not more than 0");
}

// A world that sees what is issued pushes the tail as far as it can: out of every interval that is finite, then into
// all that are not the median. D days lie between an interval and its observation.
TEST(State, TailsKeepTheirBoundAgainstAnyWorldHoweverLate) {
    for (const int later : {0, 4, 9, 19}) {
        StateOptions options = options_of(20);
        options.levels = {0.9};
        State state(options);
        constexpr int kDays = 5000;
        constexpr double kSlack = 1e-9;  // rounding of as many sums
        const double more = options.rate * (later + 1);
        std::vector<std::uint8_t> missed;
        std::vector<double> tails;
        for (int day = 0; day < kDays + later; ++day) {
            if (day >= later) {
                const auto arriving = static_cast<std::size_t>(day - later);
                if (arriving > 0) {
                    const State::Observation row{0.1, 1, "", {}, std::span(missed).subspan(arriving - 1, 1)};
                    state.observe(static_cast<double>(arriving), std::span(&row, 1));
                }
            }
            const double tail = state.tails()[0];
            tails.push_back(tail);
            missed.push_back(day / 1000 % 2 == 0 ? tail > 0 : tail > 1);
        }
        const auto [least, most] = std::minmax_element(tails.begin(), tails.end());
        EXPECT_GT(*least, -more * 0.9 - kSlack);
        EXPECT_LE(*most, 1 + more * 0.1 + kSlack);
        // The bounds are attained but for a step.
        EXPECT_LT(*least, -(more - 1.01 * options.rate) * 0.9);
        EXPECT_GT(*most, 1 + (more - 1.01 * options.rate) * 0.1);
        std::vector<int> covered = {0};
        for (int day = 0; day < kDays; ++day)
            covered.push_back(covered.back() + (missed[static_cast<std::size_t>(day)] == 0 ? 1 : 0));
        const auto mean = [&](int begin, int end) {
            return static_cast<double>(covered[static_cast<std::size_t>(end)] -
                                       covered[static_cast<std::size_t>(begin)]) /
                   (end - begin);
        };
        for (int end = 1; end < kDays; ++end)
            ASSERT_LE(std::fabs(mean(0, end) - 0.9), (0.9 + more) / (options.rate * end) + kSlack)
                << later << ' ' << end;
        for (int begin = 0; begin < kDays; begin += 50)
            for (int end = begin + 50; end < kDays; end += 50)
                ASSERT_LE(std::fabs(mean(begin, end) - 0.9), (1 + more) / (options.rate * (end - begin)) + kSlack)
                    << later << ' ' << begin << ' ' << end;
    }
}

// The long-run coverage of adaptive intervals, for scores that are worse than any state expects.
TEST(State, TailsKeepTheirBoundWhateverComes) {
    StateOptions options = options_of(20);
    options.levels = {0.9};
    State state(options);
    core::Random random(4);
    constexpr int kDays = 2000;
    double covered = 0;
    for (int day = 0; day < kDays; ++day) {
        const double score = std::pow(1 + day % 50, 1.5) * random.normal();
        const Moved moved = state.at(day).of(1, State::kNoGroup, {});
        const double tail = state.tails()[0];
        const double z = std::fabs((score - moved.shift) / moved.scale);
        covered += std::erfc(z / std::sqrt(2.0)) >= tail ? 1 : 0;
        const State::Observation row{score, 1, "", {}};
        state.observe(day, std::span(&row, 1));
    }
    EXPECT_NEAR(covered / kDays, 0.9, (0.9 + options.rate) / (options.rate * kDays));
}

}  // namespace
}  // namespace accrue
