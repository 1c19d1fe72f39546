// Manual pages, made of the same definitions as the help.
#pragma once

#include <string>

#include "commands.hpp"

namespace accrue::app {

// The page of the app itself, or of one of its commands, for man(1).
std::string manual_page(const CLI::App& app, const CLI::App& page);

// "accrue", "accrue-fit"
std::string manual_name(const CLI::App& app, const CLI::App& page);

}  // namespace accrue::app
