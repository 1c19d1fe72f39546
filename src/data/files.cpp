#include "data/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

#include "accrue/messages.hpp"
#include "accrue/program.hpp"
#include "core/descriptors.hpp"
#include "core/error.hpp"

namespace accrue {

namespace {

namespace fs = std::filesystem;

// The names of what is temporary, where a signal handler can read them: no allocation, no locks. A file beyond the last
// slot is written all the same, but a signal leaves it behind. Threads that write them take turns; the handler reads a
// path only where its state says that it is whole.
struct Slot {
    enum State : int { free, file, folder };
    std::atomic<int> state = free;
    std::array<char, PATH_MAX> path = {};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");
constexpr std::size_t kSlots = 64;
std::array<Slot, kSlots> slots;
std::mutex slots_written;
std::atomic<int> running_child = 0;
std::atomic<const data::Leftovers*> leftovers = nullptr;  // of that process

// While files take their names, a signal waits: all of a set are replaced, or none; and a temporary file that is there
// is remembered.
std::atomic<int> publishing = 0;
std::atomic<int> waiting_signal = 0;

// Signals wait until the last of these is gone.
class SignalsWait {
public:
    SignalsWait() { ++publishing; }
    ~SignalsWait() {
        if (--publishing > 0) return;
        if (const int signal = waiting_signal.exchange(0)) ::raise(signal);
    }
    SignalsWait(const SignalsWait&) = delete;
    SignalsWait& operator=(const SignalsWait&) = delete;
};

void remember(const std::string& path, Slot::State kind) {
    if (path.size() >= PATH_MAX) return;
    const std::lock_guard turn(slots_written);
    for (Slot& slot : slots) {
        if (slot.state != Slot::free) continue;
        std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
        slot.state = kind;
        return;
    }
}

void forget(const std::string& path) {
    const std::lock_guard turn(slots_written);
    for (Slot& slot : slots) {
        if (slot.state != Slot::free && path == slot.path.data()) {
            slot.state = Slot::free;
            return;
        }
    }
}

// Of a folder: ".accrue-" and a hash of the name that will be taken, which may itself be as long as the file system
// allows. What a killed run left is found by it.
std::string temporary_prefix(const std::string& name) {
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    for (const char c : name) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return fmt::format(".accrue-{:016x}-", sum);
}

// Never the same twice in a process: what one thread has just let go is not mistaken for what another one has made.
std::string temporary_name(const std::string& prefix) {
    static std::atomic<unsigned> names = 0;
    return fmt::format("{}{}-{}.tmp", prefix, ::getpid(), names++);
}

// Locks tell whether the owner of a temporary file lives. Network file systems emulate them in ways that get in the way
// of HDF5's own; there nothing is locked, and nothing is collected.
bool has_locks(int descriptor) {
    struct statfs system {};
    if (::fstatfs(descriptor, &system) != 0) return false;
    constexpr std::array<std::uint32_t, 8> kLocal = {
        0xEF53U,      // ext2 to ext4
        0x58465342U,  // XFS
        0x9123683EU,  // Btrfs
        0x01021994U,  // tmpfs
        0x794C7630U,  // overlay
        0x2FC12FC1U,  // ZFS
        0xF2F52010U,  // F2FS
        0xCA451A4EU,  // bcachefs
    };
    return std::find(kLocal.begin(), kLocal.end(), static_cast<std::uint32_t>(system.f_type)) != kLocal.end();
}

// Held until the descriptor is closed, by whatever end of the process. HDF5 locks files by flock(), which open file
// description locks do not meet; folders can be locked by flock() only.
bool lock(int descriptor, bool is_folder) {
    if (is_folder) return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = off_t{1} << 62U;
    range.l_len = 1;
    return ::fcntl(descriptor, F_OFD_SETLK, &range) == 0;
}

// Whether the open file has this name in the folder. What cannot be looked at is taken to be there.
bool is_at(int descriptor, int folder, const char* name) noexcept {
    struct stat own {};
    struct stat there {};
    if (::fstat(descriptor, &own) != 0) return true;
    if (::fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) != 0) return errno != ENOENT;
    return own.st_ino == there.st_ino && own.st_dev == there.st_dev;
}

// Whether what was just made at `path` is ours: another run may have taken it for a leftover before it was locked.
bool take(int descriptor, const std::string& path, bool is_folder) {
    if (!has_locks(descriptor)) return true;
    if (lock(descriptor, is_folder)) return is_at(descriptor, AT_FDCWD, path.c_str());
    return errno != EAGAIN;  // no locks here, or none left: do without
}

// Calls use(name) for the entries of an open folder, so many at the most. Neither takes memory nor anything else that
// is not allowed in a signal handler. What `use` removes may hide others from it, as may a folder that others write to.
template <typename Use>
void for_entries(int folder, long most, Use&& use) noexcept {
    struct Entry {  // linux_dirent64
        std::uint64_t inode;
        std::int64_t offset;
        std::uint16_t length;
        std::uint8_t type;
        char name[1];
    };
    alignas(Entry) std::array<char, 4096> entries{};
    ::lseek(folder, 0, SEEK_SET);
    for (long bytes; (bytes = ::syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0;)
        for (long at = 0; at < bytes;) {
            if (most-- == 0) return;
            const auto* entry = reinterpret_cast<const Entry*>(&entries[static_cast<std::size_t>(at)]);
            at += entry->length;
            use(static_cast<const char*>(entry->name));
        }
}

// Everything in a folder, and the folder; only calls that are allowed in a signal handler.
void remove_tree(int parent, const char* name, int depth) noexcept {
    constexpr int kDeepest = 4;
    if (depth > kDeepest) return;
    const int folder = core::open_entry(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (folder < 0) return;
    for (bool removed = true; removed;) {
        removed = false;
        for_entries(folder, std::numeric_limits<long>::max(), [&](const char* entry) {
            if (std::strcmp(entry, ".") == 0 || std::strcmp(entry, "..") == 0) return;
            if (::unlinkat(folder, entry, 0) == 0)
                removed = true;
            else if (errno == EISDIR || errno == EPERM)
                remove_tree(folder, entry, depth + 1);
        });
    }
    ::close(folder);
    ::unlinkat(parent, name, AT_REMOVEDIR);
}

int open_folder(const fs::path& folder) {
    return core::open_file(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
}

// Removes what killed runs left of the same output; nothing that a living process has locked. Takes no memory: there
// may be none left.
void collect_leftovers(int folder, std::string_view prefix) noexcept {
    constexpr long kMaxEntries = 100'000;  // of a folder that are looked at
    for_entries(folder, kMaxEntries, [&](const char* entry) {
        const std::string_view name = entry;
        struct stat status {};
        if (!name.starts_with(prefix) || !name.ends_with(".tmp") ||
            ::fstatat(folder, entry, &status, AT_SYMLINK_NOFOLLOW) != 0)
            return;
        const bool is_folder = S_ISDIR(status.st_mode);
        const int flags = is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_NONBLOCK;
        const int descriptor = core::open_entry(folder, entry, flags | O_NOFOLLOW);
        if (descriptor < 0) return;
        // Its owner may have ended since it was opened, and the name may be another's by now: processes in different
        // containers have the same numbers.
        if (has_locks(descriptor) && lock(descriptor, is_folder) && is_at(descriptor, folder, entry)) {
            if (is_folder)
                remove_tree(folder, entry, 0);
            else
                ::unlinkat(folder, entry, 0);
        }
        ::close(descriptor);
    });
}

void collect_leftovers(const fs::path& folder, const std::string& prefix) {
    const int descriptor = open_folder(folder);
    if (descriptor < 0) return;
    collect_leftovers(descriptor, prefix);
    ::close(descriptor);
}

// The names of renamed files are on disk once their folder is. A folder that cannot be opened, or a file system that
// cannot do it, is left alone.
int sync_folder(const fs::path& folder) {
    const int descriptor = open_folder(folder);
    if (descriptor < 0) return 0;
    const int failed = ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
    ::close(descriptor);
    return failed;
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
    if (is_bad_place(reason)) throw InputError(message, reason);
    throw MachineError(message, reason);
}

[[noreturn]] void fail_writing(const std::string& path, int reason) {
    if (reason == EPIPE) throw BrokenPipe(fmt::format("nobody reads {} any more", output_name(path)), reason);
    throw MachineError(fmt::format("cannot write {}: {}", output_name(path), core::system_message(reason)), reason);
}

// The file that a chain of symbolic links leads to, whether it exists or not: that one is replaced, the links stay.
std::string follow_links(const std::string& path) {
    constexpr int kMaxLinks = 40;  // as many as the system follows
    fs::path place = path;
    std::error_code error;
    for (int i = 0; i < kMaxLinks && fs::is_symlink(place, error); ++i) {
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
        descriptor_ = STDOUT_FILENO;
        return;
    }
    struct stat old {};
    const bool exists = ::stat(path_.c_str(), &old) == 0;
    if (exists && S_ISDIR(old.st_mode))
        throw InputError(fmt::format("cannot write {}: it is a directory", display_name(path_)), EISDIR);
    // Under /dev even a regular file (standard output, redirected) belongs to someone who holds it open.
    if ((exists && !S_ISREG(old.st_mode)) || path_.starts_with("/dev/")) {
        descriptor_ = core::open_file(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (descriptor_ < 0) refuse_place(path_, errno);
        return;
    }
    // Renaming would get past a write-protected file; the protection was meant.
    if (exists && ::access(path_.c_str(), W_OK) != 0) refuse_place(path_, errno);

    target_ = follow_links(path_);
    const fs::path folder = fs::path(target_).parent_path();
    const std::string prefix = temporary_prefix(fs::path(target_).filename().string());
    collect_leftovers(folder, prefix);
    const SignalsWait until_remembered;
    while (descriptor_ < 0) {
        temporary_ = (folder / temporary_name(prefix)).string();
        const int opened = core::open_file(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
        const int reason = errno;
        if (opened >= 0 && take(opened, temporary_, false)) {
            descriptor_ = opened;
        } else if (opened >= 0) {
            ::close(opened);
        } else if (reason != EEXIST) {
            temporary_.clear();
            if (reason == ENOENT || reason == ENOTDIR)
                throw InputError(fmt::format("cannot write {}: there is no folder '{}'", display_name(path_),
                                             display_name(folder.string())),
                                 reason);
            refuse_place(path_, reason);
        }
    }
    remember(temporary_, Slot::file);
    if (exists) {
        // Only root can give a file away; for others the new file is their own, as it would be for any editor.
        if (::fchown(descriptor_, old.st_uid, old.st_gid) == 0 || ::geteuid() == old.st_uid)
            ::fchmod(descriptor_, old.st_mode & 0777U);
    }
}

AtomicFile::~AtomicFile() {
    close();
    discard();
}

int AtomicFile::close() noexcept {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || path_ == "-" || ::close(descriptor) == 0 ? 0 : errno;
}

void AtomicFile::discard() noexcept {
    if (temporary_.empty()) return;
    ::unlink(temporary_.c_str());
    forget(temporary_);
    temporary_.clear();
}

void AtomicFile::write(std::string_view text) {
    constexpr std::size_t kBuffer = std::size_t{1} << 16U;
    if (buffer_.size() + text.size() > kBuffer) write_buffer();
    if (text.size() <= kBuffer) {
        buffer_ += text;
        return;
    }
    if (!write_all(descriptor_, text)) fail_writing(path_, errno);
}

void AtomicFile::write_buffer() {
    if (!write_all(descriptor_, buffer_)) fail_writing(path_, errno);
    buffer_.clear();
}

void AtomicFile::flush() {
    if (is_direct()) write_buffer();
}

void AtomicFile::reserve(std::size_t bytes) {
    if (is_direct() || bytes == 0) return;
    const int reason = ::posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes));
    // A file system that cannot do it will tell when it is full.
    if (reason == ENOSPC || reason == EFBIG || reason == EDQUOT) fail_writing(path_, reason);
}

const std::string& AtomicFile::hand_over() {
    core::require(!is_direct(), "cannot write {}: this format needs a file, not a pipe or a device",
                  output_name(path_));
    write_buffer();
    return temporary_;
}

void AtomicFile::commit() {
    finish_writing();
    if (is_direct()) return;
    publish();
    if (const int failed = sync_folder(fs::path(target_).parent_path())) fail_writing(path_, failed);
}

// All that was written is on disk.
void AtomicFile::finish_writing() {
    write_buffer();
    if (!is_direct() && ::fsync(descriptor_) != 0) fail_writing(path_, errno);
    if (!is_direct()) return;
    if (const int failed = close()) fail_writing(path_, failed);
}

// Closed after it has its name: until then its lock says that it is no leftover.
void AtomicFile::publish() {
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(path_, errno);
    forget(temporary_);
    temporary_.clear();
    close();
}

void write_file(const std::string& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

void commit_together(std::span<const std::unique_ptr<AtomicFile>> files, std::span<const std::string> gone) {
    for (const auto& file : files) file->finish_writing();
    // The files that will be replaced get a second name, by which they can come back.
    struct Old {
        std::string target;
        std::string backup;   // empty: there was none, or files cannot have two names there
        bool is_new = false;  // there was none
        bool published = false;
    };
    std::vector<Old> replaced;
    std::set<fs::path> folders;
    const SignalsWait now;
    const auto drop_backups = [&] {
        for (const Old& old : replaced) {
            if (old.backup.empty()) continue;
            ::unlink(old.backup.c_str());
            forget(old.backup);
        }
    };
    try {
        for (const auto& file : files) {
            if (file->is_direct()) continue;
            // Named after the temporary file, so that a later run collects it as well.
            std::string backup = file->temporary_.substr(0, file->temporary_.size() - 4) + "-old.tmp";
            if (::link(file->target_.c_str(), backup.c_str()) == 0)
                remember(backup, Slot::file);
            else
                backup.clear();
            struct stat old {};
            const bool is_new = ::lstat(file->target_.c_str(), &old) != 0;
            replaced.push_back({file->target_, backup, is_new});
            file->publish();
            replaced.back().published = true;
            folders.insert(fs::path(file->target_).parent_path());
        }
        for (const std::string& path : gone) {
            const fs::path place = path;
            const std::string name =
                fmt::format("{}{}-old.tmp", temporary_prefix(place.filename().string()), ::getpid());
            std::string backup = (place.parent_path() / name).string();
            if (::link(path.c_str(), backup.c_str()) == 0)
                remember(backup, Slot::file);
            else
                backup.clear();
            replaced.push_back({path, backup});
            if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_writing(path, errno);
            folders.insert(place.parent_path());
        }
    } catch (...) {
        for (const Old& old : replaced) {
            if (!old.backup.empty())
                std::rename(old.backup.c_str(), old.target.c_str());
            else if (old.is_new && old.published)
                ::unlink(old.target.c_str());
        }
        drop_backups();
        throw;
    }
    drop_backups();
    for (const fs::path& folder : folders)
        if (const int failed = sync_folder(folder)) fail_writing(folder.string(), failed);
}

data::TemporaryFolder::TemporaryFolder() {
    std::error_code failed;
    const fs::path parent = fs::temp_directory_path(failed);
    if (failed) throw MachineError(fmt::format("there is no folder for temporary files: {}", failed.message()));
    const std::string prefix = temporary_prefix(fmt::format("folder of user {}", ::geteuid()));
    collect_leftovers(parent, prefix);
    const SignalsWait until_remembered;
    while (descriptor_ < 0) {
        path_ = (parent / temporary_name(prefix)).string();
        if (::mkdir(path_.c_str(), 0700) != 0) {
            if (errno == EEXIST) continue;
            throw MachineError(fmt::format("no temporary folder {}: {}", path_, core::system_message(errno)));
        }
        descriptor_ = core::open_file(path_.c_str(), O_RDONLY | O_DIRECTORY);
        if (descriptor_ < 0) {
            const int reason = errno;
            if (reason == ENOENT) continue;  // another run took it for a leftover already
            ::rmdir(path_.c_str());
            throw MachineError(fmt::format("no temporary folder {}: {}", path_, core::system_message(reason)));
        }
        if (!take(descriptor_, path_, true)) ::close(std::exchange(descriptor_, -1));
    }
    remember(path_, Slot::folder);
}

data::TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    forget(path_);
    ::close(descriptor_);
}

std::string data::TemporaryFolder::operator/(const std::string& name) const {
    return (fs::path(path_) / name).string();
}

data::Leftovers::Leftovers(const std::string& path) {
    const fs::path target = follow_links(path);
    prefix_ = temporary_prefix(target.filename().string());
    folder_ = open_folder(target.parent_path());
    leftovers = this;
}

data::Leftovers::~Leftovers() {
    leftovers = nullptr;
    if (folder_ >= 0) ::close(folder_);
}

void data::Leftovers::remove() const noexcept {
    if (folder_ >= 0) collect_leftovers(folder_, prefix_);
}

void data::set_running_child(int process) noexcept {
    running_child = process;
}

void remove_temporary_files() noexcept {
    // It would go on filling a folder that is about to be removed.
    if (const int child = running_child.exchange(0); child > 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    if (const data::Leftovers* known = leftovers) known->remove();
    for (Slot& slot : slots) {
        if (slot.state == Slot::file) ::unlink(slot.path.data());
        if (slot.state == Slot::folder) remove_tree(AT_FDCWD, slot.path.data(), 0);
    }
}

bool signal_must_wait(int signal) noexcept {
    if (publishing == 0) return false;
    waiting_signal = signal;
    return true;
}

}  // namespace accrue
