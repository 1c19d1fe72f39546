// Descriptors 0, 1 and 2 belong to the standard streams, even where these are closed: a file that got one of them would
// receive whatever the process prints.
#pragma once

namespace accrue::core {

// As open(2) with O_CLOEXEC, but never returns 0, 1 or 2; -1 and errno on failure. Allowed in a signal handler.
int open_file(const char* path, int flags, unsigned mode = 0) noexcept;
// The same of an entry of an open folder, as openat(2).
int open_entry(int folder, const char* name, int flags, unsigned mode = 0) noexcept;

// While it lives, none of 0, 1 and 2 is free: for libraries that open files themselves.
class StandardDescriptors {
public:
    StandardDescriptors();
    ~StandardDescriptors();
    StandardDescriptors(const StandardDescriptors&) = delete;
    StandardDescriptors& operator=(const StandardDescriptors&) = delete;

private:
    int taken_[3] = {-1, -1, -1};
};

}  // namespace accrue::core
