// Files whole or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "accrue/error.hpp"

namespace accrue {

// The reader of a pipe went away. That may be what its user wants (`| head`): a program decides whether to complain.
class BrokenPipe : public MachineError {
public:
    using MachineError::MachineError;
};

// A file that appears under its name only when commit() has succeeded: it is written beside its place under a temporary
// name, flushed to disk and renamed. Without commit() the old file, or none, stays. "-" is standard output, and
// a place that is no regular file (a pipe, /dev/null) is written directly; where that is non-blocking, writing waits.
// What an earlier run left behind because it was killed is removed when a later one opens the same output; a lock on
// each temporary file tells whose owner lives.
// A replaced file keeps its permissions, and a symbolic link goes on pointing to the file, which is replaced.
// Throws InputError when the place cannot be written to (no such folder, a directory, no permission) and
// MachineError when writing fails (disk full; BrokenPipe where nobody reads a pipe any more). Signals are the program's
// to decide about: a program that wants errors in place of SIGPIPE (the reader of a pipe went away) and SIGXFSZ (file
// size limit) ignores these two.
class AtomicFile {
public:
    explicit AtomicFile(std::string path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::string_view text);
    // Hands on what was written so far where the file is written directly; readers of a pipe wait for it.
    void flush();
    void commit();
    // Takes the room for `bytes` on disk now, so that a full disk is found before a library that could not bear it
    // writes. Whoever writes the file cuts it to its length.
    void reserve(std::size_t bytes);
    // For libraries that write by name: the temporary file, with all that was written so far in it. The library closes
    // it before commit(). Throws InputError where the file is written directly.
    const std::string& hand_over();
    // Whether readers see the file while it is written.
    bool is_direct() const { return temporary_.empty(); }
    int descriptor() const { return descriptor_; }

private:
    friend void commit_together(std::span<const std::unique_ptr<AtomicFile>> files, std::span<const std::string> gone);

    void write_buffer();
    void finish_writing();
    void publish();
    int close() noexcept;
    void discard() noexcept;

    std::string path_;
    std::string target_;     // what path_ leads to through symbolic links
    std::string temporary_;  // empty when the file is written directly
    std::string buffer_;
    int descriptor_ = -1;
};

// Commits all of them, or none: nothing takes its name before everything is on disk, and where one then fails those
// before it get their old files back. Files of an earlier set that are `gone` from this one are removed with it. Throws
// as commit().
void commit_together(std::span<const std::unique_ptr<AtomicFile>> files, std::span<const std::string> gone = {});

// One file with this text. Throws as AtomicFile.
void write_file(const std::string& path, std::string_view text);

// For the signal handler of a program. remove_temporary_files() removes the temporary files and folders of all that is
// open, and ends the child process that accrue runs. signal_must_wait() tells that a set of files is taking its
// names: the signal is then raised again as soon as that is done. Both make only calls that are allowed in a handler.
void remove_temporary_files() noexcept;
bool signal_must_wait(int signal) noexcept;

}  // namespace accrue
