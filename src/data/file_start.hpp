// What a file begins with, by which its format is known.
#pragma once

#include <string>
#include <string_view>

namespace accrue::data {

// The first eight bytes, or what there is of them. Empty for standard input and pipes: what was taken of them would be
// gone.
std::string start_of(const std::string& path);

// Whether it is standard input or a pipe, which nobody can look at first.
bool is_read_once(const std::string& path);

// Throws InputError for a format that is known and not read (docs/decisions/0014-arrow.md): Parquet and Arrow files.
// `start` is the beginning of the file, or of what a pipe brings.
void refuse_columnar(std::string_view start, const std::string& path);

}  // namespace accrue::data
