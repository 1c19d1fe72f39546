#include "mpi/processes.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>

#include "accrue/error.hpp"

namespace accrue::mpi {

namespace {

void require_success(int result, const char* what) {
    if (result == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw MachineError(fmt::format("MPI cannot {}: {}", what, text));
}

// MPI waits by asking again and again, which takes a core from those that still work.
void wait(MPI_Request& request, const char* what) {
    constexpr auto kShort = std::chrono::microseconds(50);
    constexpr auto kLong = std::chrono::milliseconds(2);
    auto pause = kShort;
    for (int done = 0; done == 0;) {
        require_success(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        if (done != 0) break;
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::microseconds>(2 * pause, kLong);
    }
}

class MpiProcesses final : public Processes {
public:
    MpiProcesses() {
        int given = 0;
        require_success(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given), "start");
        if (given < MPI_THREAD_SERIALIZED) throw MachineError("this MPI cannot be called from a program with threads");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int value = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &value);
        count_ = static_cast<std::size_t>(value);
        MPI_Comm_rank(MPI_COMM_WORLD, &value);
        own_ = static_cast<std::size_t>(value);
    }

    std::size_t count() const override { return count_; }
    std::size_t own() const override { return own_; }
    bool end_together() const override { return true; }  // by abort()

    std::vector<std::string> exchange(const std::string& text) const override {
        MPI_Request request = MPI_REQUEST_NULL;
        const std::uint64_t size = text.size();
        std::vector<std::uint64_t> sizes(count_);
        require_success(MPI_Iallgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD, &request),
                        "share");
        wait(request, "share");
        const std::uint64_t total = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
        if (total > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
            throw MachineError(fmt::format("the starts of this fit have {} bytes, too many for one message", total));
        std::vector<int> lengths(sizes.begin(), sizes.end());
        std::vector<int> begins(count_);
        std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
        std::string all(total, '\0');
        require_success(MPI_Iallgatherv(text.data(), lengths[own_], MPI_BYTE, all.data(), lengths.data(), begins.data(),
                                        MPI_BYTE, MPI_COMM_WORLD, &request),
                        "share");
        wait(request, "share");
        std::vector<std::string> texts;
        for (std::size_t p = 0; p < count_; ++p)
            texts.push_back(all.substr(static_cast<std::size_t>(begins[p]), static_cast<std::size_t>(lengths[p])));
        return texts;
    }

private:
    std::size_t count_ = 1;
    std::size_t own_ = 0;
};

const Processes* start() {
    static const MpiProcesses processes;
    return &processes;
}

void finish() {
    MPI_Request request = MPI_REQUEST_NULL;
    require_success(MPI_Ibarrier(MPI_COMM_WORLD, &request), "end");
    wait(request, "end");
    MPI_Finalize();
}

void abort(int status) {
    MPI_Abort(MPI_COMM_WORLD, status);
}

std::size_t on_this_host() {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int count = 1;
    MPI_Comm_size(host, &count);
    MPI_Comm_free(&host);
    return static_cast<std::size_t>(count);
}

}  // namespace

}  // namespace accrue::mpi

// The command looks for this name.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" [[gnu::visibility("default")]] const accrue::mpi::Entry accrue_mpi_entry;
extern "C" const accrue::mpi::Entry accrue_mpi_entry = {accrue::mpi::start, accrue::mpi::finish, accrue::mpi::abort,
                                                        accrue::mpi::on_this_host};
// NOLINTEND(readability-identifier-naming)
