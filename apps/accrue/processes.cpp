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

// What a launcher says of this process: one of how many, and which.
struct Launched {
    long count = 1;
    long own = 0;
};

Launched launched() {
    struct Names {
        const char* count;
        const char* own;
    };
    // Of Open MPI, of MPICH and its kin, and of Slurm with PMIx, which itself does not say how many there are.
    for (const auto& [count, own] :
         {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, Names{"PMI_SIZE", "PMI_RANK"},
          Names{"SLURM_STEP_NUM_TASKS", "PMIX_RANK"}, Names{"SLURM_NTASKS", "PMIX_RANK"}}) {
        const char* all = std::getenv(count);
        const char* one = std::getenv(own);
        if (all != nullptr && one != nullptr) return {std::strtol(all, nullptr, 10), std::strtol(one, nullptr, 10)};
    }
    return {};
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
    return launched().count > 1;
}

bool is_first_of_all() {
    return launched().own <= 0;
}

const Processes* join_processes() {
    if (!is_one_of_several()) return nullptr;
    const Processes* processes = loaded().start();
    // Each would make the whole fit, and write it.
    const long count = launched().count;
    if (processes->count() != static_cast<std::size_t>(count))
        throw InputError(fmt::format(
            "{} processes were started, but MPI knows of {}: start them by the mpirun of the MPI that accrue "
            "was built with, or by srun --mpi=pmix",
            count, processes->count()));
    joined = processes;
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
