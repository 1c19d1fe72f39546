// Pieces of messages for people: text from files made fit for one line, and the name that was probably meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/message.hpp"

namespace accrue {

// The text with everything that would disturb a terminal (control characters, broken UTF-8) written as \xNN, and cut
// with "..." after `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = 40);

// A file as messages name it: its path, or "standard input" for "-".
std::string display_name(const std::string& path);

// Of a cell that must have a value, and what to do about it.
Message value_is_missing();

// "5 fields", "1 field".
std::string counted(std::size_t count, const char* noun);

// The name nearest to `wanted` in letters exchanged, left out, added or swapped, upper and lower case alike; or one
// that begins with it. Empty when none is near enough to be a likely slip.
std::string nearest_name(const std::string& wanted, const std::vector<std::string>& names);

// The same for the end of a message: "; did you mean 'wind'?", or "" where no name is near enough.
std::string suggestion(const std::string& wanted, const std::vector<std::string>& names);

// "a, b, c" with at most `most` names, then ", ... (50 in all)".
std::string name_list(const std::vector<std::string>& names, std::size_t most = 20);

}  // namespace accrue
