// Temporary folders, and what else of accrue/files.hpp is not for everyone.
#pragma once

#include <string>

#include "accrue/files.hpp"

namespace accrue::data {

// A folder of one's own for temporary files, which goes away with its content. What killed runs of the same user left
// goes away with the next. Throws MachineError.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string operator/(const std::string& name) const;

private:
    std::string path_;
    int descriptor_ = -1;
};

// What a process leaves of the output `path` when it ends before its time; the next AtomicFile would remove it too, and
// remove_temporary_files() does while there is one of these.
class Leftovers {
public:
    explicit Leftovers(const std::string& path);
    ~Leftovers();
    Leftovers(const Leftovers&) = delete;
    Leftovers& operator=(const Leftovers&) = delete;
    // When the process is gone. Needs no memory.
    void remove() const noexcept;

private:
    std::string prefix_;
    int folder_ = -1;
};

// Names the child process that remove_temporary_files() ends; 0: none.
void set_running_child(int process) noexcept;

}  // namespace accrue::data
