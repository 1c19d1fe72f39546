// Columns of times.
#include "data/times.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

constexpr double kDay = 86400;
// 2021-03-04T05:06:07Z, from `date -u -d 2021-03-04T05:06:07Z +%s`.
constexpr double kMoment = 1614834367;

// All values here are whole or halves and quarters of seconds, which doubles hold exactly.
void expect_time(std::string_view text, double seconds) {
    SCOPED_TRACE(std::string(text));
    const data::TimeText time = data::parse_iso_time(text);
    EXPECT_EQ(time.state, data::TimeState::good);
    EXPECT_EQ(time.seconds, seconds);
}

TEST(IsoTime, DaysAreCountedFrom1970) {
    expect_time("1970-01-01", 0);
    expect_time("1970-01-02", kDay);
    expect_time("1969-12-31", -kDay);
    expect_time("2000-02-29", 11016 * kDay);
    expect_time("2000-03-01", 11017 * kDay);
    expect_time("2021-03", 18687 * kDay);
    expect_time("2021-03-01", 18687 * kDay);
    expect_time("0000-01-01", -719528 * kDay);
    expect_time("9999-12-31", 2932896 * kDay);
}

TEST(IsoTime, TheTimeOfDayMayBeCutAnywhere) {
    expect_time("2021-03-04T05:06:07", kMoment);
    expect_time("2021-03-04 05:06:07", kMoment);
    expect_time("2021-03-04t05:06:07z", kMoment);
    expect_time("2021-03-04T05:06", kMoment - 7);
    expect_time("2021-03-04T05", kMoment - 7 - 6 * 60);
    expect_time("2021-03-04T05:06:07.5", kMoment + 0.5);
    expect_time("2021-03-04T05:06:07.250000000000000000000Z", kMoment + 0.25);
    expect_time("2021-03-04T05:06:07,75Z", kMoment + 0.75);
}

TEST(IsoTime, AFractionBefore1970CountsForward) {
    expect_time("1969-12-31T23:59:59.5Z", -0.5);
}

TEST(IsoTime, OffsetsLeadBackToUtc) {
    expect_time("2021-03-04T05:06:07Z", kMoment);
    expect_time("2021-03-04T05:06:07+00:00", kMoment);
    expect_time("2021-03-04T06:06:07+01:00", kMoment);
    expect_time("2021-03-04 06:06:07+01", kMoment);
    expect_time("2021-03-04T06:06:07+0100", kMoment);
    expect_time("2021-03-03T22:36:07-06:30", kMoment);
    expect_time("2021-03-04T06:06+01:00", kMoment - 7);
}

TEST(IsoTime, TheLastMomentOfADayIsTheFirstOfTheNext) {
    expect_time("2021-03-04T24:00:00Z", 18691 * kDay);
    expect_time("2016-12-31T23:59:60Z", 17167 * kDay);  // a leap second
}

TEST(IsoTime, OtherTextsAreNoTimes) {
    for (const char* text : {"",
                             "x",
                             "2021",
                             "2021-",
                             "2021-3-4",
                             "21-03-04",
                             "2021-03-04T",
                             "2021-03-04T5:06",
                             "2021-03-04T05:06:",
                             "2021-03-04T05:06:07.",
                             "2021-03-04T05:06:07.Z",
                             "2021-03-04T05:06:07+",
                             "2021-03-04T05:06:07+1",
                             "2021-03-04T05:06:07+01:0",
                             "2021-03-04T05:06:07ZZ",
                             "2021-03-04Z",
                             "2021/03/04",
                             "04.03.2021",
                             "20210304T05",
                             "-2021-03-04",
                             "+2021-03-04",
                             "2021-03-04  05:06:07",
                             "2021-03-04T05:06:07 Z"})
        EXPECT_EQ(data::parse_iso_time(text).state, data::TimeState::not_a_time) << text;
}

TEST(IsoTime, DaysAndHoursThatDoNotExistAreNoticed) {
    for (const char* text : {"2021-13", "2021-00-01", "2021-02-29", "1900-02-29", "2021-04-31", "2021-04-00",
                             "2021-03-04T25:00", "2021-03-04T24:00:01", "2021-03-04T05:60", "2021-03-04T05:06:61",
                             "2021-03-04T05:06:07+24:00", "2021-03-04T05:06:07+01:60"})
        EXPECT_EQ(data::parse_iso_time(text).state, data::TimeState::no_such_time) << text;
}

class Times : public testing::Test {
protected:
    Numbers read(const std::vector<std::string>& files, const ReadOptions& options = {}) {
        const Table table = read_table(files, {{"t", Kind::time}}, options);
        const auto values = table.numbers("t");
        return {values.begin(), values.end()};
    }
    std::string message(const std::vector<std::string>& files, const ReadOptions& options = {}) {
        try {
            read(files, options);
        } catch (const InputError& error) {
            std::string text = error.what();
            for (std::size_t at; (at = text.find(folder_.folder() + "/")) != std::string::npos;)
                text.erase(at, folder_.folder().size() + 1);
            return text;
        }
        return "no error";
    }
    std::string message_for(std::string_view text) { return message({folder_.file("t.csv", text)}); }

    test::TemporaryFolder folder_;
};

TEST_F(Times, NumbersStayTheNumbersTheyAre) {
    EXPECT_EQ(read({folder_.file("t.csv", "t\n-1.5\n2021\n20210304\n1e9\n")}), (Numbers{-1.5, 2021, 20210304, 1e9}));
}

TEST_F(Times, IsoTextsBecomeSeconds) {
    EXPECT_EQ(read({folder_.file("t.csv", "t,x\n 2021-03-04T05:06:07Z ,1\n\"2021-03-04 05:06:07.5\",2\n1970-01,3\n")}),
              (Numbers{kMoment, kMoment + 0.5, 0}));
}

TEST_F(Times, MissingTimesAreLikeMissingNumbers) {
    const std::string file = folder_.file("t.csv", "t,x\nNA,1\n1970-01-02,2\n,3\n");
    EXPECT_EQ(read({file}, {.missing = Missing::drop}), Numbers{kDay});
    const Numbers kept = read({file}, {.missing = Missing::keep});
    ASSERT_EQ(kept.size(), 3U);
    EXPECT_TRUE(std::isnan(kept[0]));
    EXPECT_EQ(kept[1], kDay);
    EXPECT_EQ(message({file}),
              "t.csv row 1 (line 2), column 't': value is missing; use --missing drop to skip such rows");
}

TEST_F(Times, OtherTextsAreRefusedWithTheirPlace) {
    EXPECT_EQ(
        message_for("t\n1970-01-01\n01/02/1970\n"),
        "t.csv row 2 (line 3), column 't': '01/02/1970' is not a time; write a number, or ISO 8601 like 2021-03-04 or "
        "2021-03-04T05:06:07Z");
    EXPECT_EQ(message_for("t\n2021-02-30\n"),
              "t.csv row 1 (line 2), column 't': there is no time '2021-02-30': a part of it is out of range");
    EXPECT_EQ(message_for("t\ninf\n"), "t.csv row 1 (line 2), column 't': 'inf' is not finite");
}

TEST_F(Times, NumbersAndTextsInOneColumnAreRefused) {
    EXPECT_EQ(message_for("t\n1\nNA\n"), message_for("t\n1970-01-01\nNA\n")) << "a missing value has no form";
    EXPECT_EQ(message_for("t\n1\n1970-01-01\n"),
              "t.csv row 2 (line 3), column 't': '1970-01-01' is an ISO 8601 time, but the rows before have numbers");
    EXPECT_EQ(message_for("t\n1970-01-01\n1970-01-02\n3\n"),
              "t.csv row 3 (line 4), column 't': '3' is a number, but the rows before have ISO 8601 times");
}

TEST_F(Times, WhatDroppedRowsHoldDoesNotMatter) {
    const std::string file = folder_.file("t.csv", "t,y\n1,\n1970-01-02,1\n");
    const Table table = read_table({file}, {{"t", Kind::time}, {"y"}}, {.missing = Missing::drop});
    EXPECT_EQ(table.numbers("t")[0], kDay);
}

TEST_F(Times, FormsAreComparedBetweenFiles) {
    const std::string one = folder_.file("one.csv", "t\n1\n");
    const std::string two = folder_.file("two.csv", "t\n\n1970-01-01\n");
    EXPECT_EQ(message({one, two}),
              "two.csv row 1 (line 3), column 't': '1970-01-01' is an ISO 8601 time, but the rows before have numbers");
}

TEST_F(Times, TheFirstPlaceOfAnotherFormIsNamedInLongFiles) {
    // Several chunks: the form changes in a late one, and another fault follows in the same chunk.
    std::string text = "t,x\n";
    int row = 0;
    for (; text.size() < (std::size_t{3} << 20); ++row) text += fmt::format("{},0\n", row);
    const int first = row + 1;
    for (; text.size() < (std::size_t{6} << 20); ++row) text += "1970-01-01,0\n";
    const std::string expected = fmt::format(
        "t.csv row {} (line {}), column 't': '1970-01-01' is an ISO 8601 time, but the rows before have numbers", first,
        first + 1);
    for (const int threads : {1, 2})
        with_threads(threads, [&] {
            EXPECT_EQ(message_for(text), expected);
            EXPECT_EQ(message_for(text + "rubbish,0\n"), expected);
        });
    // A change that falls on the cut between two chunks is seen by neither of them alone.
    std::string cut = "t\n";
    while (cut.size() < (std::size_t{1} << 20) + 2) cut += "1234567\n";
    const std::size_t rows = (cut.size() - 2) / 8;
    for (std::size_t extra = 0; extra < 3; ++extra) {
        EXPECT_EQ(
            message_for(cut + "1970-01-01\n"),
            fmt::format("t.csv row {} (line {}), column 't': '1970-01-01' is an ISO 8601 time, but the rows before "
                        "have numbers",
                        rows + extra + 1, rows + extra + 2));
        cut += "1234567\n";
    }
}

TEST_F(Times, AColumnAskedForAsNumberAndTimeHoldsNumbers) {
    const std::string file = folder_.file("t.csv", "t\n1970-01-01\n");
    EXPECT_THROW(read_table({file}, {{"t", Kind::time}, {"t"}}), InputError);
    EXPECT_THROW(read_table({file}, {{"t"}, {"t", Kind::time}}), InputError);
}

TEST_F(Times, RulesHoldForTimesToo) {
    const std::string file = folder_.file("t.csv", "t\n1969-12-31\n");
    EXPECT_THROW(read_table({file}, {{"t", Kind::time, Rule::positive}}), InputError);
}

TEST_F(Times, NumericColumnsAreThoseWithoutText) {
    const std::string file = folder_.file("t.csv",
                                          "id,day,x,empty,y,mixed,inf,\n"
                                          "a,1970-01-01,1,,NA,1,inf,1\n"
                                          "b,1970-01-02,2.5,NA,\"3\",b,1,2\n");
    EXPECT_EQ(numeric_columns(file), (std::vector<std::string>{"x", "y", "inf"}));
    EXPECT_EQ(numeric_columns(folder_.file("n.csv", "1 a 2\n3 b 4\n"), {.header = false}),
              (std::vector<std::string>{"1", "3"}));
    EXPECT_TRUE(numeric_columns(folder_.file("h.csv", "a,b\n")).empty());
}

TEST_F(Times, NumericColumnsLookAtTheFirstThousandRows) {
    std::string text = "late,later\n";
    for (int i = 1; i <= 1001; ++i) text += fmt::format("{},{}\n", i == 1000 ? "x" : "1", i == 1001 ? "x" : "1");
    EXPECT_EQ(numeric_columns(folder_.file("t.csv", text)), std::vector<std::string>{"later"});
}

}  // namespace
}  // namespace accrue
