// Files whole or not at all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace accrue::data {

// A file that appears under its name only when commit() has succeeded: it is written beside its place under a temporary
// name, flushed to disk and renamed. Without commit() the old file, or none, stays. "-" is standard output, and
// a place that is no regular file (a pipe, /dev/null) is written directly.
// A replaced file keeps its permissions, and a symbolic link goes on pointing to the file, which is replaced.
// Throws InputError when the place cannot be written to (no such folder, a directory, no permission) and
// MachineError when writing fails (disk full). Signals are the program's to decide about: a program that wants errors
// in place of SIGPIPE (the reader of a pipe went away) and SIGXFSZ (file size limit) ignores these two.
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
    int descriptor() const { return ::fileno(file_); }

private:
    void discard() noexcept;

    std::string path_;
    std::string target_;     // what path_ leads to through symbolic links
    std::string temporary_;  // empty when the file is written directly
    std::FILE* file_ = nullptr;
};

// Removes the temporary files of all AtomicFiles that are open; only calls that are allowed in a signal handler.
void remove_temporary_files() noexcept;

}  // namespace accrue::data
