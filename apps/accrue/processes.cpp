#include "processes.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include "commands.hpp"
#include "mpi/processes.hpp"

namespace accrue::app {

namespace {

const mpi::Entry* entry = nullptr;  // once it is loaded
const Processes* joined = nullptr;

// A number that a launcher gave, or -1: of Open MPI, and of MPICH and its kin.
long launched(const char* open_mpi, const char* pmi) {
    for (const char* name : {open_mpi, pmi})
        if (const char* value = std::getenv(name)) return std::strtol(value, nullptr, 10);
    return -1;
}

const mpi::Entry& loaded() {
    if (entry != nullptr) return *entry;
    std::error_code error;
    const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
    // In the build, installed, and where the loader looks.
    void* module = nullptr;
    for (const auto& place : {here / "../lib" / mpi::kModule, std::filesystem::path(mpi::kModule)})
        if (module == nullptr) module = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module == nullptr)
        throw InputError(
            fmt::format("several processes were started, but accrue cannot use MPI: {}. Build it where MPI "
                        "is installed, or start it without mpirun",
                        ::dlerror()));
    entry = static_cast<const mpi::Entry*>(::dlsym(module, mpi::kEntry));
    if (entry == nullptr) throw InputError(fmt::format("{} is of another version of accrue", mpi::kModule));
    return *entry;
}

}  // namespace

bool is_one_of_several() {
    return launched("OMPI_COMM_WORLD_SIZE", "PMI_SIZE") > 1;
}

bool is_first_of_all() {
    return launched("OMPI_COMM_WORLD_RANK", "PMI_RANK") <= 0;
}

const Processes* join_processes() {
    if (!is_one_of_several()) return nullptr;
    joined = loaded().start();
    return joined;
}

std::size_t processes_here() {
    return joined == nullptr ? 1 : entry->on_this_host();
}

void leave_processes() {
    if (joined != nullptr) entry->finish();
    joined = nullptr;
}

void end_processes(int status, const std::string& message) noexcept {
    if (joined == nullptr) return;
    if (joined->own() > 0) {
        constexpr auto kForTheFirst = std::chrono::seconds(3);
        std::this_thread::sleep_for(kForTheFirst);
        say(fmt::format("accrue (process {} of {}): {}\n", joined->own() + 1, joined->count(), message));
    }
    entry->abort(status);
}

}  // namespace accrue::app
