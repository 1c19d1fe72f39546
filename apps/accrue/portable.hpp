// The same bytes on every x86-64 machine: one level of instructions for all.
#pragma once

namespace accrue::app {

// Starts this program again, with the same arguments, so that the loader gives it the library, and the C library its
// functions, for the instructions that every x86-64 machine has. Returns where that is so already. Nothing may have
// been read or written before. Throws MachineError when the program cannot be started again.
void start_portable(char** argv);

}  // namespace accrue::app
