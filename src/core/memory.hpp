// How much memory this process may still take.
#pragma once

#include <cstddef>
#include <string>

namespace accrue::core {

// In bytes, the least of: what the machine has available; what control groups (v1 or v2, the process's own and all
// around it) leave, pages of files not counted, since the system takes those back; what the limits on address space and
// data (ulimit -v, ulimit -d) leave. What cannot be found out does not limit. `root` is where /proc and /sys lie.
std::size_t available_memory(const std::string& root = "");

}  // namespace accrue::core
