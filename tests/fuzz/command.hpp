// The command inside this process: main() of apps/accrue under another name, its streams caught.
#pragma once

#include <string>
#include <vector>

namespace accrue::fuzz {

struct CommandResult {
    int status = 0;
    std::string out;
    std::string err;
};

CommandResult run_command(const std::vector<std::string>& arguments);

// What `accrue show` prints, without building all other commands; exceptions pass.
std::string shown_model(const std::string& path, bool json);

}  // namespace accrue::fuzz
