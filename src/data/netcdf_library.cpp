#include "data/netcdf_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "accrue/error.hpp"

namespace accrue::data {

namespace {

// The version that the header came with, then whatever the system calls current.
constexpr std::array kNames = {ACCRUE_NETCDF_SONAME, "libnetcdf.so"};

// A thread-safe HDF5 prints errors, expected ones too, from every thread but the one that NetCDF told it not to.
using SetErrorPrinting = int (*)(std::int64_t stack, void* print, void* data);
SetErrorPrinting set_error_printing = nullptr;

bool be_quiet() {
    const std::lock_guard guard(netcdf_lock());
    constexpr std::int64_t kThisThread = 0;  // H5E_DEFAULT
    if (set_error_printing != nullptr) (void)set_error_printing(kThisThread, nullptr, nullptr);
    return true;
}

NetcdfLibrary load() {
    void* handle = nullptr;
    for (const char* name : kNames)
        if (handle == nullptr) handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        throw MachineError(fmt::format(
            "NetCDF files need the NetCDF library, {}, which is not installed (Debian: libnetcdf19)", kNames.front()));
    // It stays loaded to the end: HDF5 has clean-up of its own at exit.
    NetcdfLibrary library;
    const char* absent = nullptr;
    const auto find = [&](auto& call, const char* symbol) {
        void* address = ::dlsym(handle, symbol);
        if (address == nullptr) absent = symbol;
        call.set(address);
    };
#define ACCRUE_NETCDF_FIND(name) find(library.name, "nc_" #name);
    ACCRUE_NETCDF_FUNCTIONS(ACCRUE_NETCDF_FIND)
#undef ACCRUE_NETCDF_FIND
    set_error_printing = reinterpret_cast<SetErrorPrinting>(::dlsym(handle, "H5Eset_auto2"));
    if (absent != nullptr)
        throw MachineError(fmt::format("the NetCDF library {} lacks '{}': it was built without NetCDF-4 or is too old",
                                       kNames.front(), absent));
    return library;
}

}  // namespace

std::mutex& netcdf_lock() {
    static std::mutex lock;
    return lock;
}

const NetcdfLibrary& netcdf() {
    static const NetcdfLibrary library = load();
    [[maybe_unused]] static thread_local const bool quiet = be_quiet();
    return library;
}

}  // namespace accrue::data
