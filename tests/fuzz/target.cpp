#include "fuzz/target.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace accrue::fuzz {

namespace {

// Far above what a library opens for itself.
constexpr int kInput = 500;
constexpr int kOutput = 501;

// Gives the descriptor another number.
void move_to(int descriptor, int number) {
    if (descriptor < 0 || ::dup2(descriptor, number) < 0) fail("no descriptor is left");
    ::close(descriptor);
}

void write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written <= 0) fail("an input could not be written");
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

void fail(const std::string& message) {
    std::fprintf(stderr, "fuzz: %s\n", message.c_str());
    std::fflush(stderr);
    std::abort();
}

InputPath::InputPath(std::string_view text, Kind kind) {
    if (kind == Kind::regular) {
        const int file = ::memfd_create("input", 0);
        write_all(file, text);
        move_to(file, kInput);
        return;
    }
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) fail("no pipe");
    move_to(ends[0], kInput);
    write_all(ends[1], text.substr(0, kLongest));
    ::close(ends[1]);
}

InputPath::~InputPath() {
    ::close(kInput);
}

const std::string& InputPath::path() const {
    static const std::string path = fmt::format("/proc/self/fd/{}", kInput);
    return path;
}

OutputPath::OutputPath() {
    move_to(::memfd_create("output", 0), kOutput);
}

OutputPath::~OutputPath() {
    ::close(kOutput);
}

// Under /dev files are written directly and not replaced.
const std::string& OutputPath::path() const {
    static const std::string path = fmt::format("/dev/fd/{}", kOutput);
    return path;
}

std::string OutputPath::content() const {
    std::string text(static_cast<std::size_t>(::lseek(kOutput, 0, SEEK_END)), '\0');
    const ssize_t got = ::pread(kOutput, text.data(), text.size(), 0);
    if (got != static_cast<ssize_t>(text.size())) fail("an output could not be read back");
    return text;
}

const std::string& scratch_folder() {
    namespace fs = std::filesystem;
    struct Folder {
        // In memory where there is some, but under another name: accrue writes directly to what begins with /dev.
        Folder() {
            std::error_code none;
            own = fs::is_directory("/dev/shm", none) ? "/dev/shm/accrue-fuzz-XXXXXX"
                                                     : (fs::temp_directory_path() / "accrue-fuzz-XXXXXX").string();
            if (::mkdtemp(own.data()) == nullptr) fail("no temporary folder");
            path = own;
            if (!own.starts_with("/dev/")) return;
            path = (fs::temp_directory_path() / fs::path(own).filename()).string();
            fs::create_symlink(own, path);
        }
        ~Folder() {
            std::error_code ignored;
            fs::remove(path, ignored);
            fs::remove_all(own, ignored);
        }
        std::string path, own;
    };
    static const Folder folder;
    return folder.path;
}

std::size_t clear_scratch_folder() {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_folder())) {
        std::filesystem::remove_all(entry.path());
        ++files;
    }
    return files;
}

}  // namespace accrue::fuzz
