#include "core/descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace accrue::core {

namespace {

constexpr int kFirstFree = 3;

// What opening /dev/null on the lowest free descriptor gives, if that is a standard one; else -1.
int take_standard(int flags) {
    const int taken = ::open("/dev/null", flags);
    if (taken < kFirstFree) return taken;
    ::close(taken);
    return -1;
}

}  // namespace

int open_file(const char* path, int flags, unsigned mode) noexcept {
    return open_entry(AT_FDCWD, path, flags, mode);
}

int open_entry(int folder, const char* name, int flags, unsigned mode) noexcept {
    const int opened = ::openat(folder, name, flags | O_CLOEXEC, mode);
    if (opened < 0 || opened >= kFirstFree) return opened;
    const int moved = ::fcntl(opened, F_DUPFD_CLOEXEC, kFirstFree);
    const int reason = errno;
    ::close(opened);
    errno = reason;
    return moved;
}

StandardDescriptors::StandardDescriptors() {
    for (int& taken : taken_)
        if ((taken = take_standard(O_RDWR | O_CLOEXEC)) < 0) return;
}

StandardDescriptors::~StandardDescriptors() {
    for (const int taken : taken_)
        if (taken >= 0) ::close(taken);
}

}  // namespace accrue::core
