// Guards that throw accrue::InputError with a formatted message.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "accrue/error.hpp"

namespace accrue::core {

// Throws InputError with the formatted message.
template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
    throw InputError(fmt::format(text, std::forward<Args>(args)...));
}

// Throws InputError with the formatted message unless the rule holds.
template <typename... Args>
void require(bool rule, fmt::format_string<Args...> text, Args&&... args) {
    if (!rule) [[unlikely]]
        refuse(text, std::forward<Args>(args)...);
}

// The text of the current errno value, thread safe: "No such file or directory".
std::string system_message(int error_number);

}  // namespace accrue::core
