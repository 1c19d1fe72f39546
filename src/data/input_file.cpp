#include "data/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"
#include "data/messages.hpp"

namespace accrue::data {

namespace {

[[noreturn]] void refuse_file(const std::string& path, int reason) {
    if (reason == EISDIR) core::refuse("{} is a directory, not a file", display_name(path));
    const std::string message = fmt::format("cannot read {}: {}", display_name(path), core::system_message(reason));
    if (reason == ENOMEM || reason == EMFILE || reason == ENFILE) throw MachineError(message);
    throw InputError(message);
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
    core::require(!path.empty(), "the name of an input file is empty");
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) refuse_file(path, errno);
    struct stat status {};
    int reason = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
    if (reason == 0 && S_ISDIR(status.st_mode)) reason = EISDIR;
    if (reason != 0) {
        if (path != "-") ::close(descriptor_);
        refuse_file(path, reason);
    }
    regular_ = S_ISREG(status.st_mode);
    if (regular_) size_ = static_cast<std::size_t>(status.st_size);
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

std::size_t InputFile::read(char* place, std::size_t most) {
    for (;;) {
        const ssize_t got = ::read(descriptor_, place, most);
        if (got >= 0) return static_cast<std::size_t>(got);
        // Someone else may have made standard input non-blocking.
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            wait(std::chrono::milliseconds(-1));
        else if (errno != EINTR)
            refuse_file(path_, errno);
    }
}

bool InputFile::wait(std::chrono::milliseconds longest) const {
    if (regular_) return true;
    pollfd waiting{descriptor_, POLLIN, 0};
    // Errors and interruptions are left to read().
    return ::poll(&waiting, 1, static_cast<int>(longest.count())) != 0;
}

}  // namespace accrue::data
