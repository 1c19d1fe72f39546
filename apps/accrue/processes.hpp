// Processes that mpirun has started with this one.
#pragma once

#include <cstddef>
#include <string>

#include "accrue/context.hpp"

namespace accrue::app {

// Whether a launcher of MPI says that there are several.
bool is_one_of_several();
// Only this one prints, and writes files. True without a launcher.
bool is_first_of_all();

// Joins the others; null where there are none. Throws InputError where accrue was built without MPI.
const Processes* join_processes();
// How many of them are on this host.
std::size_t processes_here();
// Waits for the others, after the work.
void leave_processes();
// After a failure: ends them all with this status. The first one speaks; another waits whether that one fails too,
// and then says why it ends them. Does nothing where no process was joined.
void end_processes(int status, const std::string& message) noexcept;

}  // namespace accrue::app
