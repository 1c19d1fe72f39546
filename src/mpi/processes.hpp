// What accrue_mpi, a module that is loaded while a program runs, gives to it.
#pragma once

#include "accrue/context.hpp"

namespace accrue::mpi {

inline constexpr const char* kModule = "libaccrue_mpi.so";
inline constexpr const char* kEntry = "accrue_mpi_entry";

struct Entry {
    const Processes* (*start)();  // joins the others; throws MachineError
    void (*finish)();             // waits for the others
    void (*abort)(int status);    // ends them all; does not return
    std::size_t (*on_this_host)();
};

}  // namespace accrue::mpi
