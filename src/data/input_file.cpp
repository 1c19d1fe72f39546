#include "data/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "accrue/messages.hpp"
#include "core/descriptors.hpp"
#include "core/error.hpp"

namespace accrue::data {

namespace {

[[noreturn]] void refuse_file(const std::string& path, int reason) {
    const std::string message =
        reason == EISDIR ? fmt::format("{} is a directory, not a file", display_name(path))
                         : fmt::format("cannot read {}: {}", display_name(path), core::system_message(reason));
    if (reason == ENOMEM || reason == EMFILE || reason == ENFILE) throw MachineError(message, reason);
    throw InputError(message, reason);
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
    core::require(!path.empty(), "the name of an input file is empty");
    descriptor_ = path == "-" ? STDIN_FILENO : core::open_file(path.c_str(), O_RDONLY);
    if (descriptor_ < 0) refuse_file(path, errno);
    struct stat status {};
    int reason = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
    if (reason == 0 && S_ISDIR(status.st_mode)) reason = EISDIR;
    if (reason != 0) {
        if (path != "-") ::close(descriptor_);
        refuse_file(path, reason);
    }
    regular_ = S_ISREG(status.st_mode);
    if (!regular_) return;
    size_ = static_cast<std::size_t>(status.st_size);
    // Standard input may be read from the middle on.
    if (const off_t at = ::lseek(descriptor_, 0, SEEK_CUR); at > 0) position_ = static_cast<std::size_t>(at);
}

InputFile::~InputFile() {
    if (path_ != "-") ::close(descriptor_);
}

bool InputFile::is_same_file(int other_descriptor) const {
    struct stat own {};
    struct stat other {};
    return ::fstat(descriptor_, &own) == 0 && ::fstat(other_descriptor, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

void InputFile::refuse_shorter() const {
    struct stat now {};
    ::fstat(descriptor_, &now);
    core::refuse("{} changed while it was read: it had {} bytes, and now has {}", display_name(path_), size_,
                 now.st_size);
}

std::size_t InputFile::read(char* place, std::size_t most) {
    // What is appended while it is read is not read. Files of the system (/proc) tell no size.
    const bool has_size = regular_ && size_ > 0;
    if (has_size) most = std::min(most, size_ - std::min(position_, size_));
    for (;;) {
        const ssize_t got = ::read(descriptor_, place, most);
        if (got == 0 && has_size && position_ < size_) refuse_shorter();
        if (got >= 0) {
            position_ += static_cast<std::size_t>(got);
            return static_cast<std::size_t>(got);
        }
        // Someone else may have made standard input non-blocking.
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            wait(std::chrono::milliseconds(-1));
        else if (errno != EINTR)
            refuse_file(path_, errno);
    }
}

void InputFile::read_at(char* place, std::size_t bytes, std::size_t from) const {
    while (bytes > 0) {
        const ssize_t got = ::pread(descriptor_, place, bytes, static_cast<off_t>(from));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse_file(path_, errno);
        if (got == 0) refuse_shorter();
        place += got;
        from += static_cast<std::size_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
}

bool InputFile::wait(std::chrono::milliseconds longest) const {
    if (regular_) return true;
    pollfd waiting{descriptor_, POLLIN, 0};
    // Errors and interruptions are left to read().
    return ::poll(&waiting, 1, static_cast<int>(longest.count())) != 0;
}

}  // namespace accrue::data
