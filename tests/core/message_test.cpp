// Messages that name options, in the words of the command and in those of another face.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.hpp"

namespace accrue {
namespace {

// As Python would.
std::string called(const OptionName& option) {
    if (option.value.empty()) return option.name;
    return option.name + "=" + (option.is_word ? '"' + option.value + '"' : option.value);
}

TEST(Message, WritesOptionsAsTheFaceDoes) {
    const Message message =
        core::message("{} and {:.1f}%: use {} with {}, or fewer {}.", "words", 2.25, core::option("bias", "linear"),
                      core::option("folds", 3), core::option("fold_group"));
    EXPECT_EQ(message.text(), "words and 2.2%: use --bias linear with --folds 3, or fewer --fold-group.");
    EXPECT_EQ(message.text(called), "words and 2.2%: use bias=\"linear\" with folds=3, or fewer fold_group.");
}

TEST(Message, TakesTheCommandsOwnNameWhereThereIsOne) {
    const Message message = core::message("try {}", OptionName{"stages", "", false, "--no-stages"});
    EXPECT_EQ(message.text(), "try --no-stages");
    EXPECT_EQ(message.text(called), "try stages");
}

TEST(Message, LeavesWordsAloneThatLookLikeOptions) {
    const Message message = core::message("column '{}': use {}", "--bias {} linear", core::option("bias"));
    EXPECT_EQ(message.text(), "column '--bias {} linear': use --bias");
    EXPECT_EQ(message.text(called), "column '--bias {} linear': use bias");
}

TEST(Message, MayHoldAnother) {
    const Message inner = core::message("use {}", core::option("folds", 2));
    EXPECT_EQ(core::message("{} rows: {}{}", 7, inner, Message()).text(called), "7 rows: use folds=2");
}

TEST(Message, IsATextInJson) {
    const std::vector<Message> remarks = {"plain", core::message("{} helps", core::option("form", "constant"))};
    EXPECT_EQ(nlohmann::ordered_json(remarks).dump(), R"(["plain","--form constant helps"])");
}

TEST(InputError, KeepsItsMessageForOtherFaces) {
    try {
        core::refuse("{} is {}, but must be positive", core::option("max_iterations"), 0);
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "--max-iterations is 0, but must be positive");
        EXPECT_EQ(error.message().text(called), "max_iterations is 0, but must be positive");
    }
    EXPECT_EQ(InputError("of words alone").message().text(called), "of words alone");
}

}  // namespace
}  // namespace accrue
