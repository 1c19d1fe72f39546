// The subcommands. Each adds itself to the app; its callback parses, calls the library, prints.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace accrue::app {

void add_evaluate(CLI::App& app);
void add_generate(CLI::App& app);

// Writes the whole text to standard output at once, so that a failure leaves no part of a result there. Throws
// MachineError when it cannot be written.
void print(std::string_view text);

// An option that may be given several times and takes one value each time.
CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                            const std::string& description);

// An option whose values stand in one argument, separated by commas.
template <typename T>
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<T>& values,
                      const std::string& description) {
    return command.add_option(name, values, description)->delimiter(',')->allow_extra_args(false);
}

}  // namespace accrue::app
