#include "accrue/messages.hpp"

#include <gtest/gtest.h>

namespace accrue::data {
namespace {

TEST(Messages, TextFromFilesStaysOnOneLine) {
    EXPECT_EQ(printable("a\nb\x1b[31m"), "a\\x0ab\\x1b[31m");
    EXPECT_EQ(printable("temp\xC3\xA9rature"), "temp\xC3\xA9rature");
    EXPECT_EQ(printable("latin\xE9!"), "latin\\xe9!");
    EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b");  // a control character in UTF-8
    EXPECT_EQ(printable("\xE2\x82"), "\\xe2\\x82");  // cut in the middle
}

TEST(Messages, LongTextIsCut) {
    EXPECT_EQ(printable(std::string(100, 'x'), 10), std::string(10, 'x') + "...");
    EXPECT_EQ(printable(std::string(10, 'x'), 10), std::string(10, 'x'));
}

TEST(Messages, TheNearestNameIsSuggestedWhenItIsNear) {
    const std::vector<std::string> names = {"prediction", "Observation", "sigma", "y"};
    EXPECT_EQ(nearest_name("sigm", names), "sigma");
    EXPECT_EQ(nearest_name("SIGMA", names), "sigma");
    EXPECT_EQ(nearest_name("sgima", names), "sigma");
    EXPECT_EQ(nearest_name("predicted", names), "prediction");
    EXPECT_EQ(nearest_name("obs", names), "Observation");
    EXPECT_EQ(nearest_name("mu", names), "");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name("Y", names), "y");
}

TEST(Messages, ListsOfNamesAreCapped) {
    EXPECT_EQ(name_list({"a", "b"}), "a, b");
    EXPECT_EQ(name_list({"a", "b", "c"}, 2), "a, b, ... (3 in all)");
}

}  // namespace
}  // namespace accrue::data
