// The subcommands. Each adds itself to the app; its callback parses, calls the library, prints.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/messages.hpp"

namespace accrue::app {

void add_completion(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_fit(CLI::App& app, char** argv);  // argv: to start this program again for --portable
void add_generate(CLI::App& app);
void add_man(CLI::App& app);
void add_monitor(CLI::App& app);
void add_predict(CLI::App& app);
void add_replay(CLI::App& app);
void add_report(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_show(CLI::App& app);
void add_update(CLI::App& app);

// Writes what belongs into a system's "share" folder: completion for shells, and manual pages.
void write_share(const CLI::App& app, const std::string& folder);

// The subcommand of this name; null where there is none.
const CLI::App* find_command(const CLI::App& app, const std::string& name);
// The same; throws InputError, with the name that was probably meant, where there is none.
const CLI::App& known_command(const CLI::App& app, const std::string& name);

// Throws InputError with the message unless the rule holds.
void require(bool rule, const std::string& message);

// Writes the whole text to standard output at once, so that a failure leaves no part of a result there. Throws
// MachineError when it cannot be written.
void print(std::string_view text);

// Writes to standard error. Nothing can be said about a failure there, so nothing is.
void say(std::string_view text) noexcept;

// The command line as it was given, quoted where a shell would need it.
const std::string& command_line();
std::string shell_quoted(std::string_view argument);

// An option that may be given several times and takes one value each time.
CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                            const std::string& description);

// Text in lines of at most `width` characters where its words allow, all but the first indented.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// An option whose values stand in one argument, separated by commas.
template <typename T>
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<T>& values,
                      const std::string& description) {
    return command.add_option(name, values, description)->delimiter(',')->allow_extra_args(false);
}

// Runs a rule of the library over what the options say: whoever breaks it has used the command wrongly.
template <typename Rule>
void as_usage(Rule&& rule) {
    try {
        rule();
    } catch (const InputError& error) {
        throw CLI::ValidationError(error.what());
    }
}

// Refuses negative numbers, which would become huge counts.
CLI::Validator is_count();

// --threads: how many to use, all of them for 0.
// --isolate, for commands that read NetCDF.
CLI::Option* add_isolate(CLI::App& command, bool& isolate);

CLI::Option* add_threads(CLI::App& command, int& threads);

// An option that takes one of a few words; the value it has now is the default.
template <typename T>
CLI::Option* add_choice(CLI::App& command, const std::string& name, T& value, const std::map<std::string, T>& choices,
                        const std::string& description) {
    std::string words;
    std::string chosen;
    for (const auto& [word, meaning] : choices) {
        words += (words.empty() ? "" : ",") + word;
        if (meaning == value) chosen = word;
    }
    const auto choose = [&value, choices, name, words](const std::string& word) {
        const auto found = choices.find(word);
        if (found == choices.end())
            throw CLI::ValidationError(name, "must be one of {" + words + "}, but it is '" + word + "'" +
                                                 suggestion(word, CLI::detail::split(words, ',')));
        value = found->second;
    };
    return command.add_option_function<std::string>(name, choose, description)
        ->type_name("{" + words + "}")
        ->default_str(chosen);
}

}  // namespace accrue::app
