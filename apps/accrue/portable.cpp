#include "portable.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "accrue/error.hpp"

namespace accrue::app {

void start_portable(char** argv) {
    // What glibc chooses by: its loader the level of the library, its mathematics with or without fused products.
    constexpr std::string_view kBaseline = "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F";
    const char* given = std::getenv("GLIBC_TUNABLES");
    std::string tunables = given == nullptr ? "" : given;
    if (tunables.ends_with(kBaseline)) return;
    if (!tunables.empty()) tunables += ':';
    tunables += kBaseline;
    ::setenv("GLIBC_TUNABLES", tunables.c_str(), 1);
    ::execv("/proc/self/exe", argv);
    throw MachineError("--portable has to start accrue again, and cannot: " + std::generic_category().message(errno));
}

}  // namespace accrue::app
