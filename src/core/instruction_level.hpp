// The instruction-set level of x86-64 that the loader has picked this library for, since last digits depend on it.
#pragma once

#include <string_view>

namespace accrue::core {

std::string_view instruction_level();

}  // namespace accrue::core
