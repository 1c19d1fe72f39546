// For the main function of a program that uses the library.
#pragma once

#include <string_view>

namespace accrue {

// Before anything else: opens /dev/null on those of the descriptors 0, 1 and 2 that are closed, so that no file gets
// one of them. Reading the one and printing to the other still fails, as on a closed descriptor: what was to be printed
// must not be lost silently.
void fill_standard_descriptors();

// Large buffers go back to the system when they are freed. Left alone, malloc begins to keep them after the first, and
// what the stages of a fit leave behind in different sizes adds up. Where the address space is limited, malloc sets no
// stretches of it apart for every thread either.
void spare_memory();

// Writes all of the text, and waits where the descriptor is non-blocking; false and errno on failure.
bool write_all(int descriptor, std::string_view text) noexcept;

}  // namespace accrue
