#include <gtest/gtest.h>

#include <numbers>

#include "accrue/predict.hpp"
#include "adapt/timed_archive.hpp"

namespace accrue {
namespace {

using support::refusal;
using test::timed_model;
using test::TimedArchive;

AdaptOptions stations() {
    AdaptOptions options;
    options.time = "t";
    options.group = "station";
    return options;
}

TEST(Update, DayByDayIsTheSameFileAsInOneGo) {
    const TimedArchive archive(30, 4, 0.5, 1.3, 1, true);
    const Model once = update(timed_model(), archive.rows(), stations());
    Model daily = timed_model();
    for (std::size_t at = 0; at < archive.x.size(); at += 4) {
        daily = update(daily, archive.rows(at, at + 4), at == 0 ? stations() : AdaptOptions{});
        daily = Model::parse(daily.text());
    }
    EXPECT_EQ(daily.text(), once.text());
    EXPECT_EQ(once.state()->rows(), 120U);
    EXPECT_EQ(once.state()->steps(), 30U);
    EXPECT_EQ(once.state()->clock(), 29);
}

TEST(Update, DayByDayIsTheSameFileWithAllThatCanBeChosen) {
    const TimedArchive archive(60, 4, 0.5, 1.3, 1, true);
    ReplayOptions options;
    static_cast<AdaptOptions&>(options) = stations();
    options.shrink = "auto";
    options.shape = true;
    options.levels = {0.9};
    const Model once = update(timed_model(), archive.rows(), options);
    Model daily = timed_model();
    for (std::size_t at = 0; at < archive.x.size(); at += 4) {
        daily = update(daily, archive.rows(at, at + 4), at == 0 ? static_cast<AdaptOptions>(options) : AdaptOptions{});
        daily = Model::parse(daily.text());
    }
    EXPECT_EQ(daily.text(), once.text());
    EXPECT_NE(once.text().find("\"format_version\": 8"), std::string::npos);
    const Replay replayed = replay(timed_model(), archive.rows(), options);
    EXPECT_EQ(timed_model().with_state(replayed.state).text(), once.text());
    // What predict says of the next day is what a replay that goes on says.
    const TimedArchive next(1, 4, 0.5, 1, 16, true, 60);
    const TimedRows rows = next.rows();
    std::vector<double> groups;
    for (const std::uint32_t code : rows.groups.codes)
        groups.push_back(static_cast<double>(once.state()->group(rows.groups.labels[code])));
    const Forecast ahead = forecast_at(once, rows.inputs, rows.prediction, rows.times, groups);
    const Replay on = replay(once, rows, {});
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(ahead.mean[i], on.forecast.mean[i]);
        EXPECT_EQ(ahead.sigma[i], on.forecast.sigma[i]);
        EXPECT_EQ(ahead.row(i).quantile(0.1), on.forecast.row(i).quantile(0.1));
    }
}

TEST(Update, AStateWithOneShrinkHasTheFormatThatItHad) {
    const TimedArchive archive(5, 2, 0.5, 1.3, 1);
    AdaptOptions options;
    options.shrink = "7.5";
    const Model model = update(timed_model(), archive.rows(), options);
    EXPECT_NE(model.text().find("\"format_version\": 5"), std::string::npos);
    EXPECT_EQ(model.state()->shrink(), 7.5);
    options.shrink = "lots";
    EXPECT_EQ(refusal([&] { update(timed_model(), archive.rows(), options); }),
              "--shrink is 'lots', which is neither a number nor auto");
}

// Forecasts of a day are issued together, and its observations come together: 24 times whose intervals knew nothing of
// each other.
TEST(Update, AdaptiveIntervalsThatWereIssuedCoverInTheLongRun) {
    constexpr std::size_t kHours = 24;
    TimedArchive archive(200 * kHours, 1, 0, 0.5, 18);
    for (std::size_t i = 0; i < archive.y.size(); ++i)
        archive.y[i] += 2 * std::sin(static_cast<double>(i) * std::numbers::pi / 20);
    AdaptOptions options;
    options.forget = "20";
    options.levels = {0.9};
    Model daily = update(timed_model(), archive.rows(0, kHours), options);
    const double first = daily.state()->tails()[0];
    std::vector<double> lower(archive.y.size()), upper(archive.y.size());
    double covered = 0;
    for (std::size_t at = kHours; at < archive.y.size(); at += kHours) {
        TimedRows rows = archive.rows(at, at + kHours);
        const Forecast forecast = forecast_at(daily, rows.inputs, rows.prediction, rows.times);
        for (std::size_t i = 0; i < kHours; ++i) {
            const Distribution own = forecast.row(i);
            const auto [below, above] = adaptive_interval(Standardised(own.family), daily.state()->tails()[0]);
            lower[at + i] = own.mean + below * own.sigma;
            upper[at + i] = own.mean + above * own.sigma;
            covered += lower[at + i] <= rows.observation[i] && rows.observation[i] <= upper[at + i] ? 1 : 0;
        }
        rows.issued = {{std::span(lower).subspan(at, kHours), std::span(upper).subspan(at, kHours)}};
        daily = Model::parse(update(daily, rows).text());
    }
    const auto times = static_cast<double>(archive.y.size() - kHours);
    EXPECT_NEAR(daily.state()->tails()[0], first + 0.02 * (covered - 0.9 * times), 1e-9);  // rounding of as many sums
    EXPECT_NEAR(covered / times, 0.9, (1 + 0.02 * kHours) / (0.02 * times));
    // All days in one go give the same file.
    TimedRows rest = archive.rows(kHours);
    const std::size_t count = rest.times.size();
    rest.issued = {{std::span(lower).subspan(kHours, count), std::span(upper).subspan(kHours, count)}};
    EXPECT_EQ(update(update(timed_model(), archive.rows(0, kHours), options), rest).text(), daily.text());
}

TEST(Update, AnIssuedIntervalWithoutWidthIsMissed) {
    const TimedArchive archive(3, 1, 0, 1, 19);
    AdaptOptions options;
    options.levels = {0.9};
    TimedRows rows = archive.rows();
    rows.issued = {{archive.y, archive.y}};
    EXPECT_NEAR(update(timed_model(), rows, options).state()->tails()[0], 0.1 + 3 * 0.02 * (0.1 - 1), 1e-15);
}

TEST(Update, RefusesIssuedIntervalsThatAreNone) {
    const TimedArchive archive(3, 1, 0, 1, 19);
    AdaptOptions options;
    TimedRows rows = archive.rows();
    rows.issued = {{archive.y, archive.y}};
    EXPECT_EQ(refusal([&] { update(timed_model(), rows, options); }),
              "there are issued intervals of 1 levels, but the state has 0");
    options.levels = {0.9};
    std::vector<double> turned = archive.y;
    turned[1] -= 1;
    rows.issued = {{archive.y, turned}};
    EXPECT_EQ(refusal([&] { update(timed_model(), rows, options); }),
              fmt::format("row 2: the interval that was issued is from {} to {}", archive.y[1], turned[1]));
    rows.issued = {{std::span(turned).first(2), turned}};
    EXPECT_EQ(refusal([&] { update(timed_model(), rows, options); }),
              "there are 2 and 3 ends of issued intervals, but 3 times");
}

TEST(Update, RefusesRowsThatItHasSeen) {
    const TimedArchive archive(10, 1, 0, 1, 2);
    const Model model = update(timed_model(), archive.rows(), {});
    EXPECT_EQ(refusal([&] { update(model, archive.rows(9)); }),
              "row 1 is of 9, but the state has seen observations up to 9: rows already seen are refused");
}

TEST(Update, RefusesTimesThatGoBackAndRowsThatAreThereTwice) {
    TimedArchive archive(10, 2, 0, 1, 3);
    std::swap(archive.times[3], archive.times[8]);
    EXPECT_EQ(refusal([&] { update(timed_model(), archive.rows()); }),
              "row 5 is of 2, after a row of 4: sort the rows by time");
    TimedArchive twice(10, 2, 0, 1, 3);
    for (auto* column : {&twice.x, &twice.mu, &twice.y}) (*column)[7] = (*column)[6];
    // Of two stations: a row each.
    EXPECT_NO_THROW(update(timed_model(), twice.rows(), stations()));
    twice.codes[7] = twice.codes[6];
    EXPECT_EQ(refusal([&] { update(timed_model(), twice.rows(), stations()); }),
              "row 8 repeats row 7: time, inputs, prediction and observation are the same");
}

TEST(Update, RefusesAnotherClockAndOtherOptions) {
    const TimedArchive archive(10, 2, 0, 1, 4);
    const Model model = update(timed_model(), archive.rows(0, 10), stations());
    TimedRows dates = archive.rows(10);
    dates.dates = true;
    EXPECT_EQ(refusal([&] { update(model, dates); }),
              "the state has a clock of plain numbers, but the times of the rows are dates");
    AdaptOptions other;
    other.shrink = "7";
    EXPECT_EQ(
        refusal([&] { update(model, archive.rows(10), other); }),
        "the model has a state, which was made with another --shrink: leave it out, or begin with a model without "
        "a state");
    AdaptOptions unknown;
    unknown.correct = {"x2"};
    EXPECT_EQ(refusal([&] { update(timed_model(), archive.rows(), unknown); }),
              "--correct: 'x2' is not an input of the model");
}

TEST(Update, RefusesMissingValues) {
    TimedArchive archive(3, 1, 0, 1, 4);
    archive.y[1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(refusal([&] { update(timed_model(), archive.rows()); }),
              "row 2: observation is nan, which is not a finite number");
}

TEST(Update, ANewGroupJoinsLater) {
    const TimedArchive archive(20, 3, 0.5, 1, 5);
    TimedRows two = archive.rows(0, 30);
    std::vector<std::uint32_t> codes(two.groups.codes.begin(), two.groups.codes.end());
    for (std::uint32_t& code : codes) code %= 2;
    two.groups.codes = codes;
    const Model model = update(update(timed_model(), two, stations()), archive.rows(30));
    EXPECT_NE(model.state()->group("s2"), State::kNoGroup);
    EXPECT_EQ(Model::parse(model.text()).text(), model.text());
}

TEST(Update, DurationsHaveUnitsWhereTimesAreDates) {
    EXPECT_EQ(duration("2d", true, "delay"), 172800);
    EXPECT_EQ(duration("1.5h", true, "delay"), 5400);
    EXPECT_EQ(duration("12", false, "delay"), 12);
    EXPECT_EQ(refusal([] { duration("12", true, "delay"); }),
              "--delay is '12', which is not a duration; write 2d, 12h or 30m, for example");
    EXPECT_EQ(refusal([] { duration("2d", false, "delay"); }),
              "--delay is '2d', but the times are plain numbers: give it as one of them");
    EXPECT_EQ(time_text(time_of("2023-01-05T06:00", true, "from"), true), "2023-01-05T06:00:00Z");
    EXPECT_EQ(time_text(time_of("2023-01-05", true, "from"), true), "2023-01-05");
}

}  // namespace
}  // namespace accrue
