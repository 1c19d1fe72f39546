// The table of options: every test runs over all of them.
#include "accrue/options.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "support/archives.hpp"

namespace accrue {

// For the names of tests, which would have its bytes.
void PrintTo(const FitOption& option, std::ostream* out);
void PrintTo(const FitOption& option, std::ostream* out) {
    *out << option.name;
}

namespace {

using Json = nlohmann::ordered_json;
using support::refusal;

// Values that the option takes, none of them its default.
std::vector<Json> other_values(const FitOption& option) {
    std::vector<Json> values;
    const Json standard = option.get({});
    switch (option.type()) {
        case OptionType::choice:
            for (const std::string& name : option.choice_names()) values.emplace_back(name);
            break;
        case OptionType::number:
            values = {0.25};
            if (!option.ends_excluded) values.insert(values.end(), {*option.min, *option.max});
            break;
        case OptionType::optional_number:
            values = {-0.25, 1e5};
            break;
        case OptionType::numbers:
            values = {Json::array({*option.min, 0.25, *option.max}), Json::array({0.5})};
            break;
        case OptionType::count:
            values = {static_cast<std::uint64_t>(*option.min), 7U};
            if (option.max) values.emplace_back(static_cast<std::uint64_t>(*option.max));
            break;
        case OptionType::flag:
            values = {true, false};
    }
    std::erase(values, standard);
    return values;
}

// Values that it does not take, and what is said of them.
std::vector<std::pair<Json, std::string>> bad_values(const FitOption& option) {
    switch (option.type()) {
        case OptionType::choice:
            return {{"lin", "is 'lin', but must be one of "},
                    {"", "is '', but must be one of "},
                    {3, "is 3, but must be one of "}};
        case OptionType::number:
            return {{*option.max + 1, "but must be "},
                    {*option.min - 1, "but must be "},
                    {NAN, "is nan, but must be "},
                    {"half", "is 'half', but must be a number"},
                    {true, "is true, but must be a number"}};
        case OptionType::optional_number:
            return {{NAN, "is nan, but must be a number or none"},
                    {"half", "is 'half', but must be a number or none"},
                    {true, "is true, but must be a number or none"}};
        case OptionType::numbers:
            return {{Json::array({0.5, *option.max + 1}), "is 2, but must be between 0 and 1"},
                    {Json::array({NAN}), "is nan, but must be between 0 and 1"},
                    {Json::array({0.5, "half"}), "but must be a list of numbers"},
                    {0.5, "is 0.5, but must be a list of numbers"}};
        case OptionType::count:
            return {{static_cast<std::int64_t>(*option.min) - 1, "but must be "},
                    {2.5, "is 2.5, but must be a whole number"},
                    {"many", "is 'many', but must be a whole number"},
                    {Json(), "is null, but must be a whole number"}};
        case OptionType::flag:
            break;
    }
    return {{"no", "is 'no', but must be true or false"}, {0, "is 0, but must be true or false"}};
}

class EveryOption : public testing::TestWithParam<FitOption> {};

TEST_P(EveryOption, HasADefaultThatItTakes) {
    FitOptions options;
    EXPECT_NO_THROW(GetParam().set(options, GetParam().get(options)));
}

TEST_P(EveryOption, IsExplained) {
    const auto is_text = [](const Message& text) { return text.text().size() > 10 && text.text().back() != ' '; };
    EXPECT_TRUE(is_text(GetParam().help)) << GetParam().help.text();
    EXPECT_TRUE(is_text(GetParam().more)) << GetParam().more.text();
    EXPECT_NE(GetParam().help.text().back(), '.') << "the help of the command has none";
    EXPECT_EQ(GetParam().more.text().back(), '.');
    EXPECT_EQ(GetParam().choices == nullptr, GetParam().type() != OptionType::choice);
    for (const std::string& name : GetParam().choice_names()) EXPECT_FALSE(name.empty());
    const bool is_number = GetParam().type() == OptionType::number || GetParam().type() == OptionType::numbers ||
                           GetParam().type() == OptionType::count;
    EXPECT_EQ(GetParam().min.has_value(), is_number);
    EXPECT_EQ(GetParam().placeholder.empty(), !is_number && GetParam().type() != OptionType::optional_number);
}

TEST_P(EveryOption, IsFoundByItsName) {
    EXPECT_EQ(&fit_option(GetParam().name), &fit_option(GetParam().name));
    EXPECT_EQ(fit_option(GetParam().name).name, GetParam().name);
}

TEST_P(EveryOption, TakesValuesAndGivesThemBack) {
    ASSERT_FALSE(other_values(GetParam()).empty());
    for (const Json& value : other_values(GetParam())) {
        FitOptions options;
        GetParam().set(options, value);
        EXPECT_EQ(GetParam().get(options), value);
        FitOptions by_text;
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_array()) text = text.substr(1, text.size() - 2);
        GetParam().set_text(by_text, text);
        EXPECT_EQ(GetParam().get(by_text), value);
        for (const FitOption& other : fit_options())
            EXPECT_TRUE(other.name == GetParam().name || other.get(options) == other.get({})) << other.name;
    }
}

TEST_P(EveryOption, RefusesOtherValuesByItsName) {
    FitOptions options;
    const std::string name = GetParam().command.empty() ? GetParam().name : GetParam().command;
    for (const auto& [value, words] : bad_values(GetParam())) {
        const std::string said = refusal([&] { GetParam().set(options, value); });
        EXPECT_TRUE(said.starts_with(name + " is ")) << said;
        EXPECT_NE(said.find(words), std::string::npos) << said;
        try {
            GetParam().set(options, value);
        } catch (const InputError& error) {
            const std::string plain = error.message().text([](const OptionName& option) { return option.name; });
            EXPECT_TRUE(plain.starts_with(GetParam().name + " is ")) << plain;
        }
    }
    EXPECT_EQ(GetParam().get(options), GetParam().get({})) << "a refusal changes nothing";
}

// What a model file says of its fit makes the same options again.
TEST_P(EveryOption, GoesThroughTheConfigurationOfAModel) {
    support::Rows rows = support::some_rows(100, 1);
    const std::vector<double> observation = rows.errors;
    for (const Json& value : other_values(GetParam())) {
        FitOptions options;
        options.max_iterations = 3;
        options.family = "normal";  // of what is left to the fit the file has what was taken
        options.bias = "none";
        options.form = "network";
        options.recalibrate = "none";
        options.recipe = GetParam().recipe.empty() ? "default" : GetParam().recipe;
        options.starts = 2;  // of 0 the file has the number that was used
        options.patience = 5;
        const bool is_bound = GetParam().type() == OptionType::optional_number || GetParam().name == "bound_kind";
        if (value == 0 || (value.is_number() && value > 1e3 && !is_bound)) continue;
        if (value == "auto") continue;  // the file has what was taken
        GetParam().set(options, value);
        Archive archive = rows.archive();
        if (is_bound) {
            rows.prediction.assign(rows.errors.size(), 10);
            archive = rows.archive();
            options.bound_kind = "truncated";
            if (!options.lower) options.lower = -1e3;
            if (options.upper) options.upper = 1e3;
            if (options.lower > 0) options.lower = -2e3;
        }
        if (options.calibration_share > 0) options.recalibrate = "conformal";
        if (options.mean != "none") {
            archive.observation = observation;
            archive.errors = {};
            archive.roles.observation = "y";
            archive.roles.error.clear();
        }
        const Json configuration = fit(archive, options).model.json()["configuration"];
        FitOptions again;
        for (const FitOption& option : fit_options())
            if (configuration.contains(option.name)) option.set(again, configuration[option.name]);
        ASSERT_TRUE(configuration.contains(GetParam().name));
        for (const FitOption& option : fit_options()) {
            if (option.name == "starts" && options.form != "network") continue;  // one is enough
            EXPECT_EQ(option.get(again), option.get(options)) << option.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Options, EveryOption, testing::ValuesIn(fit_options()),
                         [](const auto& tested) { return "of_" + tested.param.name; });

TEST(OptionTable, HasEveryNameOnce) {
    std::set<std::string> names;
    for (const FitOption& option : fit_options()) EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(refusal([] {
                    fit_option("fold");
                }).starts_with("a fit has no option 'fold'; did you mean 'folds'? Options: form, "));
}

TEST(OptionTable, TakesItsChoicesFromWhereTheyAre) {
    std::vector<std::string> forms = form_names();
    forms.insert(forms.begin(), "auto");
    EXPECT_EQ(fit_option("form").choice_names(), forms);
    std::vector<std::string> families = family_names();  // those that a program registered too
    families.insert(families.begin(), "auto");
    EXPECT_EQ(fit_option("family").choice_names(), families);
    EXPECT_NE(fit_option("family").full_help().text().find("normal: a Gaussian"), std::string::npos);
    EXPECT_EQ(refusal([] {
                  FitOptions options;
                  fit_option("bias").set_text(options, "lin");
              }),
              "--bias is 'lin', but must be one of auto, none, constant, linear, network; did you mean 'linear'?");
    EXPECT_EQ(refusal([] {
                  FitOptions options;
                  fit_option("max_iterations").set_text(options, "0");
              }),
              "max_iterations is 0, but must be between 1 and 2147483647");
}

TEST(OptionTable, ReadsTextAsPeopleWriteIt) {
    const auto set = [](const char* name, const char* text) {
        FitOptions options;
        fit_option(name).set_text(options, text);
        return fit_option(name).get(options).dump();
    };
    EXPECT_EQ(set("balance", "+0.25"), "0.25");
    EXPECT_EQ(set("balance", "1e-1"), "0.1");
    EXPECT_EQ(set("seed", "18446744073709551615"), "18446744073709551615");
    EXPECT_EQ(refusal([&] { set("folds", "010"); }), "--folds is '010', but must be a whole number");
    EXPECT_EQ(refusal([&] { set("folds", "5x"); }), "--folds is '5x', but must be a whole number");
    EXPECT_EQ(refusal([&] { set("folds", ""); }), "--folds is '', but must be a whole number");
    EXPECT_EQ(refusal([&] { set("folds", "-1"); }), "--folds is -1, but must be at least 2");
    EXPECT_EQ(refusal([&] { set("balance", "0,5"); }), "--balance is '0,5', but must be a number");
    EXPECT_EQ(refusal([&] { set("training_share", "1"); }), "--split is 1, but must be more than 0 and less than 1");
    EXPECT_EQ(set("stages", "false"), "false");
}

}  // namespace
}  // namespace accrue
