#include "data/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.hpp"
#include "data/messages.hpp"

namespace accrue::data {

namespace {

// The names of open temporary files, where a signal handler can read them: no allocation, no locks. A file beyond the
// last slot is written all the same, but a signal leaves it behind.
struct Slot {
    enum State : int { kFree, kFilling, kUsed };
    std::atomic<int> state = kFree;
    std::array<char, PATH_MAX> path = {};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");
constexpr std::size_t kSlots = 16;
std::array<Slot, kSlots> slots;

void remember(const std::string& path) {
    if (path.size() >= PATH_MAX) return;
    for (Slot& slot : slots) {
        int expected = Slot::kFree;
        if (!slot.state.compare_exchange_strong(expected, Slot::kFilling)) continue;
        std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
        slot.state = Slot::kUsed;
        return;
    }
}

void forget(const std::string& path) {
    for (Slot& slot : slots) {
        if (slot.state == Slot::kUsed && path == slot.path.data()) {
            slot.state = Slot::kFree;
            return;
        }
    }
}

// The user chose a place that cannot be written to; anything else is the machine's fault.
bool is_bad_place(int reason) {
    switch (reason) {
        case ENOENT:
        case ENOTDIR:
        case EISDIR:
        case EACCES:
        case EPERM:
        case EROFS:
        case ELOOP:
        case ENAMETOOLONG:
        case ETXTBSY:
        case ENXIO:
            return true;
        default:
            return false;
    }
}

std::string output_name(const std::string& path) {
    return path == "-" ? "standard output" : display_name(path);
}

[[noreturn]] void refuse_place(const std::string& path, int reason) {
    const std::string message = fmt::format("cannot write {}: {}", output_name(path), core::system_message(reason));
    if (is_bad_place(reason)) throw InputError(message);
    throw MachineError(message);
}

[[noreturn]] void fail_writing(const std::string& path, int reason) {
    throw MachineError(fmt::format("cannot write {}: {}", output_name(path), core::system_message(reason)));
}

// The file that a chain of symbolic links leads to, whether it exists or not: that one is replaced, the links stay.
std::string follow_links(const std::string& path) {
    namespace fs = std::filesystem;
    constexpr int kMostLinks = 40;  // as many as the system follows
    fs::path place = path;
    std::error_code error;
    for (int i = 0; i < kMostLinks && fs::is_symlink(place, error); ++i) {
        const fs::path target = fs::read_symlink(place, error);
        if (error) break;
        place = target.is_absolute() ? target : place.parent_path() / target;
    }
    return place.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
    core::require(!path_.empty(), "the name of an output file is empty");
    if (path_ == "-") {
        file_ = stdout;
        return;
    }
    struct stat old {};
    const bool exists = ::stat(path_.c_str(), &old) == 0;
    core::require(!(exists && S_ISDIR(old.st_mode)), "cannot write {}: it is a directory", display_name(path_));
    // Under /dev even a regular file (standard output, redirected) belongs to someone who holds it open.
    if ((exists && !S_ISREG(old.st_mode)) || path_.starts_with("/dev/")) {
        file_ = std::fopen(path_.c_str(), "we");
        if (file_ == nullptr) refuse_place(path_, errno);
        return;
    }
    // Renaming would get past a write-protected file; the protection was meant.
    if (exists && ::access(path_.c_str(), W_OK) != 0) refuse_place(path_, errno);

    target_ = follow_links(path_);
    const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
    int descriptor = -1;
    for (int attempt = 0; descriptor < 0; ++attempt) {
        // The target's name is no part of it, since names may be as long as the file system allows.
        temporary_ = (folder / fmt::format(".accrue-{}-{}.tmp", ::getpid(), attempt)).string();
        descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) {
            const int reason = errno;
            temporary_.clear();
            if (reason == ENOENT || reason == ENOTDIR)
                core::refuse("cannot write {}: there is no folder '{}'", display_name(path_),
                             display_name(folder.string()));
            refuse_place(path_, reason);
        }
    }
    remember(temporary_);
    if (exists) {
        // Only root can give a file away; for others the new file is their own, as it would be for any editor.
        if (::fchown(descriptor, old.st_uid, old.st_gid) == 0 || ::geteuid() == old.st_uid)
            ::fchmod(descriptor, old.st_mode & 0777U);
    }
    file_ = ::fdopen(descriptor, "w");
    if (file_ == nullptr) {
        const int reason = errno;
        ::close(descriptor);
        discard();
        fail_writing(path_, reason);
    }
}

AtomicFile::~AtomicFile() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
    discard();
}

void AtomicFile::discard() noexcept {
    if (temporary_.empty()) return;
    ::unlink(temporary_.c_str());
    forget(temporary_);
    temporary_.clear();
}

void AtomicFile::write(std::string_view text) {
    if (text.empty()) return;
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail_writing(path_, errno);
}

void AtomicFile::flush() {
    if (is_direct() && std::fflush(file_) != 0) fail_writing(path_, errno);
}

void AtomicFile::reserve(std::size_t bytes) {
    if (is_direct() || bytes == 0) return;
    const int reason = ::posix_fallocate(::fileno(file_), 0, static_cast<off_t>(bytes));
    // A file system that cannot do it will tell when it is full.
    if (reason == ENOSPC || reason == EFBIG || reason == EDQUOT) fail_writing(path_, reason);
}

const std::string& AtomicFile::hand_over() {
    core::require(!is_direct(), "cannot write {}: this format needs a file, not a pipe or a device",
                  output_name(path_));
    if (std::fflush(file_) != 0) fail_writing(path_, errno);
    return temporary_;
}

void AtomicFile::commit() {
    if (std::fflush(file_) != 0) fail_writing(path_, errno);
    if (!temporary_.empty() && ::fsync(::fileno(file_)) != 0) fail_writing(path_, errno);
    if (file_ == stdout) return;
    const int closed = std::fclose(std::exchange(file_, nullptr));
    if (closed != 0) fail_writing(path_, errno);
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(path_, errno);
    forget(temporary_);
    temporary_.clear();
}

void remove_temporary_files() noexcept {
    for (Slot& slot : slots)
        if (slot.state == Slot::kUsed) ::unlink(slot.path.data());
}

}  // namespace accrue::data
