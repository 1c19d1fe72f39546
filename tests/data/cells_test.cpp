#include "data/cells.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <string>

namespace accrue::data {
namespace {

// Parsing is correctly rounded, so all comparisons are exact.
double good(std::string_view text) {
    const NumberCell cell = parse_number(text);
    EXPECT_EQ(cell.state, CellState::good) << text;
    return cell.value;
}

CellState state(std::string_view text) {
    return parse_number(text).state;
}

TEST(Cells, PlainNumbersAreReadToTheLastBit) {
    EXPECT_EQ(good("1.5"), 1.5);
    EXPECT_EQ(good("-0.1"), -0.1);
    EXPECT_EQ(good(".5"), 0.5);
    EXPECT_EQ(good("5."), 5.0);
    EXPECT_EQ(good("1e3"), 1000.0);
    EXPECT_EQ(good("1E-3"), 0.001);
    EXPECT_EQ(good("1.7976931348623157e308"), std::numeric_limits<double>::max());
    EXPECT_EQ(good("5e-324"), std::numeric_limits<double>::denorm_min());
    EXPECT_EQ(good("1e-400"), 0.0);  // the nearest double
    EXPECT_TRUE(std::signbit(good("-0")));
}

TEST(Cells, BlanksAndQuotesAroundANumberDoNotMatter) {
    EXPECT_EQ(good("  2.5\t"), 2.5);
    EXPECT_EQ(good("\"2.5\""), 2.5);
    EXPECT_EQ(good(" \" 2.5 \" "), 2.5);
}

TEST(Cells, ALeadingPlusIsRead) {
    EXPECT_EQ(good("+2.5"), 2.5);
    EXPECT_EQ(good("+.5e+1"), 5.0);
    EXPECT_EQ(state("+"), CellState::not_a_number);
    EXPECT_EQ(state("++1"), CellState::not_a_number);
    EXPECT_EQ(state("+-1"), CellState::not_a_number);
}

TEST(Cells, FortranExponentsAreRead) {
    EXPECT_EQ(good("1.0D+03"), 1000.0);
    EXPECT_EQ(good("-1.25d-2"), -0.0125);
    EXPECT_EQ(good("+1.D0"), 1.0);
    EXPECT_EQ(good("1D2"), 100.0);
    EXPECT_EQ(state("1.0D"), CellState::not_a_number);
    EXPECT_EQ(state("1.0D+"), CellState::not_a_number);
    EXPECT_EQ(state("1e2D3"), CellState::not_a_number);
    EXPECT_EQ(state("D3"), CellState::not_a_number);
    EXPECT_EQ(state("1.0D+400"), CellState::too_large);
}

TEST(Cells, NumbersBeyondTheDoublesAreToldFromInfinities) {
    EXPECT_EQ(state("1e400"), CellState::too_large);
    EXPECT_EQ(state("-1e400"), CellState::too_large);
    EXPECT_EQ(state("+1e400"), CellState::too_large);
    EXPECT_EQ(state("inf"), CellState::not_finite);
    EXPECT_EQ(state("-Infinity"), CellState::not_finite);
    EXPECT_EQ(state("+inf"), CellState::not_finite);
}

TEST(Cells, EmptyAndTheUsualWordsAreMissing) {
    for (const char* text : {"", "  ", "NA", "NaN", "nan", "null", " NA ", "\"\"", "\"NA\"", "-nan", "NAN"})
        EXPECT_EQ(state(text), CellState::missing) << text;
}

TEST(Cells, OtherTextIsNoNumber) {
    for (const char* text : {"n/a", "abc", "1.5x", "1 2", "1,5", "0x10", "-", ".", "e5", "nand", "\"", "1e", "--1"})
        EXPECT_EQ(state(text), CellState::not_a_number) << text;
}

TEST(Cells, ANumberOfAMillionDigitsIsRead) {
    EXPECT_EQ(good("0." + std::string(1000000, '3')), 1.0 / 3.0);
    EXPECT_EQ(state(std::string(1000000, '3')), CellState::too_large);
}

TEST(Cells, TheLocaleHasNoSay) {
    const std::string before = std::setlocale(LC_ALL, nullptr);
    // Whichever of these is installed writes a decimal comma; with none the test holds trivially.
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"})
        if (std::setlocale(LC_ALL, name) != nullptr) break;
    EXPECT_EQ(good("1.5"), 1.5);
    EXPECT_EQ(state("1,5"), CellState::not_a_number);
    std::setlocale(LC_ALL, before.c_str());
}

TEST(Cells, QuotedTextLosesItsQuotesAndKeepsItsBlanks) {
    std::string buffer;
    EXPECT_EQ(cell_text("  a b ", buffer), "a b");
    EXPECT_EQ(cell_text(" \" a b \" ", buffer), " a b ");
    EXPECT_EQ(cell_text("\"say \"\"hi\"\"\"", buffer), "say \"hi\"");
    EXPECT_EQ(cell_text("\"\"\"\"", buffer), "\"");
    EXPECT_EQ(cell_text("5\" pipe", buffer), "5\" pipe");
    EXPECT_EQ(cell_text("\"", buffer), "\"");
}

TEST(Cells, ADecimalCommaIsRecognisedOnlyInNumbers) {
    EXPECT_EQ(with_decimal_point("1,5"), "1.5");
    EXPECT_EQ(with_decimal_point("-1,5e3"), "-1.5e3");
    EXPECT_EQ(with_decimal_point("a,b"), "");
    EXPECT_EQ(with_decimal_point("1,5,6"), "");
    EXPECT_EQ(with_decimal_point("1.5"), "");
}

}  // namespace
}  // namespace accrue::data
