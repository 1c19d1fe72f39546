// The options of a fit, described one by one. The command's options, Python's arguments, the configuration in a model
// file, docs/options.md and the names in messages come from this table.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/fit.hpp"
#include "accrue/message.hpp"

namespace accrue {

enum class OptionType { choice, number, optional_number, numbers, count, flag };

struct OptionChoice {
    std::string name;
    std::string help = {};
};

// A member of FitOptions.
struct OptionMember {
    OptionType type;
    void (*get)(const FitOptions& options, nlohmann::ordered_json& value);
    void (*set)(FitOptions& options, const nlohmann::ordered_json& value);
};

struct FitOption {
    std::string name;     // of the member of FitOptions, of Python's argument and of the entry in a configuration
    std::string command;  // --folds; a flag turns it off; some with one name are a list, with commas; empty: none
    OptionMember member;
    std::vector<OptionChoice> (*choices)() = nullptr;  // as they are registered now
    std::optional<double> min = {}, max = {};          // of numbers, each of several, and counts
    bool ends_excluded = false;                        // min and max themselves are not allowed
    std::string placeholder = {};                      // for its value, in help
    std::string recipe = {};                           // the only one that uses it; empty: all do
    Message help;                                      // in one line
    Message more;                                      // what else there is to know

    OptionType type() const { return member.type; }
    std::vector<std::string> choice_names() const;
    // The one line, and what there is to know about each choice.
    Message full_help() const;
    // In messages: "--folds", or "patience", which the command does not have.
    OptionName in_message() const { return {name, "", false, command.empty() ? name : command}; }

    nlohmann::ordered_json get(const FitOptions& options) const;
    // These throw InputError "--balance is 2, but must be between 0 and 1".
    void set(FitOptions& options, const nlohmann::ordered_json& value) const;
    void set_text(FitOptions& options, std::string_view text) const;
    void check(const nlohmann::ordered_json& value) const;
    // Whether the value is of the option's type, in its range or not.
    bool is_of_type(const nlohmann::ordered_json& value) const;
};

// All of them, in the order of a configuration.
const std::vector<FitOption>& fit_options();
const FitOption& fit_option(std::string_view name);  // throws InputError with all names

}  // namespace accrue
