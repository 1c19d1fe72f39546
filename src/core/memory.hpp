// How much memory this process may still take.
#pragma once

#include <cstddef>
#include <string>

namespace accrue::core {

// In bytes, the least of: what the machine has available; what control groups (v1 or v2, the process's own and all
// around it) leave, pages of files not counted, since the system takes those back; what the limits on address space and
// data (ulimit -v, ulimit -d) leave. What cannot be found out does not limit. `root` is where /proc and /sys lie.
std::size_t available_memory(const std::string& root = "");

// For a program's main: large buffers go back to the system when they are freed. Left alone, malloc begins to keep them
// after the first, and what the stages of a fit leave behind in different sizes adds up. Where the address space is
// limited, malloc sets no stretches of it apart for every thread either.
void spare_memory();

}  // namespace accrue::core
