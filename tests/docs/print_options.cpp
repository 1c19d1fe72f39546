// Prints the table of options as JSON, for scripts/option-docs. Help names options as `bias` and `bias="linear"`.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "accrue/options.hpp"

using Json = nlohmann::ordered_json;

static std::string in_page(const accrue::OptionName& option) {
    const std::string value = option.is_word ? '"' + option.value + '"' : option.value;
    return '`' + option.name + (value.empty() ? "" : "=") + value + '`';
}

int main() {
    constexpr const char* kTypes[] = {"choice", "number", "optional_number", "numbers", "count", "flag"};
    Json table = Json::array();
    for (const accrue::FitOption& option : accrue::fit_options()) {
        Json choices = Json::object();
        if (option.choices != nullptr)
            for (const accrue::OptionChoice& choice : option.choices()) choices[choice.name] = choice.help;
        table.push_back({{"name", option.name},
                         {"command", option.command},
                         {"type", kTypes[static_cast<int>(option.type())]},
                         {"default", option.get({})},
                         {"choices", choices},
                         {"min", option.min ? Json(*option.min) : Json()},
                         {"max", option.max ? Json(*option.max) : Json()},
                         {"ends_excluded", option.ends_excluded},
                         {"help", option.help.text(in_page)},
                         {"more", option.more.text(in_page)}});
    }
    std::puts(table.dump(2).c_str());
}
