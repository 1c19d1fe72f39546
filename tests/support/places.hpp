// Where this checkout and this build lie.
#pragma once

#include <string>

namespace accrue::support {

// A file of the checkout by its path from the project's root.
std::string in_source(const std::string& path);

// The command.
std::string binary();

}  // namespace accrue::support
