// What is built of a model file's text is what nlohmann's parser builds of it.
#include "forecast/json_tree.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/archives.hpp"

namespace accrue {
namespace {

using Json = nlohmann::ordered_json;
using model_file::tree;

bool all(std::string_view) {
    return true;
}

TEST(JsonTree, IsWhatAParserBuilds) {
    const std::string text = R"( { "a" : [ 1, -2 , 0.5, -0, -0.0, 1e-400, -1e-400, 5e-324, 18446744073709551615,
        18446744073709551616, -9223372036854775809, 1e5, 123456789.123456789 ], "b": {"c": null, "d": [true, false],
        "\u00e9\n": "\ud83d\ude00 \"x\" ü", "e": {}, "f": [], "g": [[1, 2], [{"h": [3]}]]}, "i": "text" } )";
    const Json expected = Json::parse(text);
    const Json found = tree(text, all).json;
    EXPECT_EQ(found, expected);
    // Kinds of numbers, signs of zeros and the order of entries too.
    EXPECT_EQ(found.dump(), expected.dump());
}

TEST(JsonTree, HasOnlyTheEntriesThatAreWanted) {
    const std::string text = R"({"a":1,"b":{"a":[{"c":1},2]},"c":[[1,{"d":2}],3],"d":{"b":4},"e":"x"})";
    const auto only = [&](std::string_view names) {
        return tree(text, [&](std::string_view entry) { return names.find(entry) != std::string_view::npos; })
            .json.dump();
    };
    EXPECT_EQ(only(""), "{}");
    EXPECT_EQ(only("ad"), R"({"a":1,"d":{"b":4}})");
    EXPECT_EQ(only("bce"), R"({"b":{"a":[{"c":1},2]},"c":[[1,{"d":2}],3],"e":"x"})");
}

TEST(JsonTree, TakesNoMoreRoomThanItsNumbersNeed) {
    std::string text = R"({"a":[)";
    constexpr std::size_t kCount = (1U << 16U) + 1;  // a list that grows by doubling would be half empty
    for (std::size_t i = 1; i < kCount; ++i) text += "0.5,";
    const Json found = tree(text + "0.5]}", all).json;
    EXPECT_EQ(found["a"].size(), kCount);
    EXPECT_EQ(found["a"].get_ref<const Json::array_t&>().capacity(), kCount);
}

TEST(JsonTree, SaysWhereATextIsNotUtf8) {
    EXPECT_EQ(support::refusal([] { tree("{\"a\":[\"good\",\"b\xff\"]}", all); }),
              "it is not JSON, or cut short (at byte 16)");
    EXPECT_THROW(Json::parse("{\"a\":[\"good\",\"b\xff\"]}"), Json::parse_error);
}

}  // namespace
}  // namespace accrue
