// The header of a classic NetCDF file, read before the library reads it.
#pragma once

#include <string>

namespace accrue::data {

// Throws InputError when the header of a classic file (CDF-1, -2, -5) is damaged, or when the file is too short for the
// values that it promises. The library takes lengths in the header on trust, and reads zeros behind the end of the
// file.
void check_classic(const std::string& path);

}  // namespace accrue::data
