#include "core/instruction_level.hpp"

namespace accrue::core {

std::string_view instruction_level() {
#if defined(__AVX512F__)
    return "x86-64-v4";
#elif defined(__AVX2__)
    return "x86-64-v3";
#else
    return "baseline";
#endif
}

}  // namespace accrue::core
