#include "data/file_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/error.hpp"
#include "data/messages.hpp"

namespace accrue::data {

namespace {

// Closes on every way out; standard input is not ours to close.
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number > STDERR_FILENO) ::close(number);
    }
};

[[noreturn]] void refuse_file(const std::string& path, int reason) {
    if (reason == EISDIR) core::refuse("{} is a directory, not a file", display_name(path));
    const std::string message = fmt::format("cannot read {}: {}", display_name(path), core::system_message(reason));
    if (reason == ENOMEM || reason == EMFILE || reason == ENFILE) throw MachineError(message);
    throw InputError(message);
}

std::string read_all(int descriptor, const std::string& path) {
    constexpr std::size_t kStep = std::size_t{1} << 20;
    std::string text;
    std::size_t used = 0;
    for (;;) {
        if (text.size() - used < kStep) text.resize(std::max(2 * text.size(), kStep));
        const ssize_t got = ::read(descriptor, text.data() + used, text.size() - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse_file(path, errno);
        if (got == 0) break;
        used += static_cast<std::size_t>(got);
    }
    text.resize(used);
    return text;
}

}  // namespace

FileText::FileText(const std::string& path) {
    core::require(!path.empty(), "the name of an input file is empty");
    const Descriptor file{path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.number < 0) refuse_file(path, errno);
    struct stat status {};
    if (::fstat(file.number, &status) != 0) refuse_file(path, errno);
    if (S_ISDIR(status.st_mode)) refuse_file(path, EISDIR);
    // Standard input may stand in the middle of its file. Files of /proc are regular, not empty, and say size 0.
    if (path != "-" && S_ISREG(status.st_mode) && status.st_size > 0) {
        const auto size = static_cast<std::size_t>(status.st_size);
        void* place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
        if (place != MAP_FAILED) {
            mapped_ = {static_cast<const char*>(place), size};
            return;
        }
        // Some file systems cannot map; reading works everywhere.
    }
    read_ = read_all(file.number, path);
}

FileText::~FileText() {
    if (!mapped_.empty()) ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
}

}  // namespace accrue::data
