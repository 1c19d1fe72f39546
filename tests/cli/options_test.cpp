// The command has every option of the table that the table says it has: with its help, its default and its messages.
#include "accrue/options.hpp"

#include "accrue/error.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Options : public ModelCliTest {
protected:
    std::vector<std::string> arguments(const std::string& file, const std::vector<std::string>& more) const {
        return with({"fit", file, "--inputs", "x", "--observation", "y", "--quiet", "-o", folder_.path("m.json")},
                    more);
    }
    // Words of help, whatever the lines they stand in.
    static std::string in_a_line(const std::string& text) {
        std::istringstream words(text);
        std::string line;
        for (std::string word; words >> word;) line += word + ' ';
        return line;
    }
};

TEST_F(Options, AreInTheHelp) {
    const std::string help = in_a_line(output({"fit", "--help"}));
    for (const FitOption& option : fit_options()) {
        if (option.command.empty()) continue;
        EXPECT_NE(help.find(' ' + option.command + ' '), std::string::npos) << option.name;
        // All but the first letter, which is small where two options share one sentence.
        const std::string words = option.full_help().text().substr(1);
        EXPECT_NE(help.find(in_a_line(words).substr(0, words.size())), std::string::npos) << option.name;
    }
    EXPECT_NE(help.find("--bias {auto,none,constant,linear,network} "), std::string::npos);
    EXPECT_NE(help.find("--split SHARE,SHARE "), std::string::npos);
    EXPECT_NE(help.find("[0.33,0.33]"), std::string::npos);
}

TEST_F(Options, ArriveInTheModel) {
    const std::string file = archive("a.csv", 100);
    for (const FitOption& option : fit_options()) {
        if (option.command.empty()) continue;
        SCOPED_TRACE(option.name);
        std::vector<std::string> more;
        Json value = option.choices == nullptr ? Json() : Json(option.choice_names().back());
        if (option.type() == OptionType::flag) {
            value = false;
            more = {option.command};
        } else if (option.type() == OptionType::optional_number) {
            value = option.name == "lower" ? -1e6 : 1e6;
            more = {option.command, value.dump()};
        } else if (option.type() == OptionType::numbers) {
            value = Json::array({0.25, 0.75});
            more = {option.command, "0.25,0.75"};
        } else if (option.type() == OptionType::number) {
            value = 0.25;
            more = {option.command, option.command == "--split" ? "0.25,0.25" : "0.25"};
        } else {
            if (option.type() == OptionType::count) value = 3;
            more = {option.command, value.is_string() ? value.get<std::string>() : value.dump()};
        }
        if (option.name != "mean") more = with(more, {"--prediction", "mu"});
        if (option.name == "calibration_share") more = with(more, {"--recalibrate", "conformal"});
        if (option.name == "bound_kind") more = with(more, {"--lower", "-1000000"});
        if (option.recipe == "paper") more = with(more, {"--recipe", "paper"});
        if (option.name != "starts") more = with(more, {"--starts", "1"});
        output(arguments(file, more));
        EXPECT_EQ(Json::parse(folder_.content("m.json"))["configuration"][option.name], value);
    }
}

TEST_F(Options, AreRefusedInTheWordsOfTheTable) {
    const std::string file = archive();
    for (const FitOption& option : fit_options()) {
        if (option.command.empty() || option.type() == OptionType::flag) continue;
        SCOPED_TRACE(option.name);
        for (const std::string bad : {"lin", "-1", "1e9x"}) {
            if (option.type() == OptionType::optional_number && bad == "-1") continue;  // a number like others
            std::string expected;
            try {
                FitOptions options;
                option.set_text(options, bad);
            } catch (const InputError& error) {
                expected = error.what();
            }
            const std::string value = option.name == "training_share"     ? bad + ",0.5"
                                      : option.name == "validation_share" ? "0.5," + bad
                                                                          : bad;
            EXPECT_EQ(refusal(accrue(arguments(file, {"--prediction", "mu", option.command, value}))),
                      expected + " ('accrue fit --help' explains the options)");
        }
    }
}

}  // namespace
}  // namespace accrue::test
