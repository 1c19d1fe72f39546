// What the harness and the shim inside the command agree on.
#pragma once

#include <sys/syscall.h>

#include <atomic>

namespace accrue::faults {

// The descriptors that the command inherits.
inline constexpr int kSocket = 600;
inline constexpr int kMemory = 601;

// Memory of both.
struct Shared {
    bool announce_calls = false;
    bool counting = false;         // allocations
    long failing_allocation = -1;  // this one, counted from 0, and all after it; -1: none
    std::atomic<long> allocations = 0;
};

// The system calls that are announced: those that can fail for reasons that lie outside of the program. Not brk, whose
// failure is no error number.
struct Announced {
    long number;
    const char* name;
};
#define ACCRUE_CALL(name) \
    { SYS_##name, #name }
inline constexpr Announced kCalls[] = {
#ifdef SYS_open
    ACCRUE_CALL(open),
    ACCRUE_CALL(stat),
    ACCRUE_CALL(access),
    ACCRUE_CALL(rename),
    ACCRUE_CALL(unlink),
    ACCRUE_CALL(mkdir),
    ACCRUE_CALL(chmod),
    ACCRUE_CALL(readlink),
    ACCRUE_CALL(poll),
    ACCRUE_CALL(lstat),
    ACCRUE_CALL(rmdir),
    ACCRUE_CALL(pipe),
    ACCRUE_CALL(getdents),
#endif
    ACCRUE_CALL(openat),
    ACCRUE_CALL(read),
    ACCRUE_CALL(pread64),
    ACCRUE_CALL(readv),
    ACCRUE_CALL(write),
    ACCRUE_CALL(pwrite64),
    ACCRUE_CALL(writev),
    ACCRUE_CALL(lseek),
    ACCRUE_CALL(fsync),
    ACCRUE_CALL(fdatasync),
    ACCRUE_CALL(renameat2),
    ACCRUE_CALL(mmap),
    ACCRUE_CALL(mprotect),
    ACCRUE_CALL(fstat),
    ACCRUE_CALL(newfstatat),
    ACCRUE_CALL(statx),
    ACCRUE_CALL(ftruncate),
    ACCRUE_CALL(fallocate),
    ACCRUE_CALL(fchmod),
    ACCRUE_CALL(fchown),
    ACCRUE_CALL(close),
    ACCRUE_CALL(unlinkat),
    ACCRUE_CALL(mkdirat),
    ACCRUE_CALL(clone),
    ACCRUE_CALL(clone3),
    ACCRUE_CALL(pipe2),
    ACCRUE_CALL(ppoll),
    ACCRUE_CALL(getdents64),
    ACCRUE_CALL(faccessat),
    ACCRUE_CALL(faccessat2),
    ACCRUE_CALL(readlinkat),
    ACCRUE_CALL(dup),
    ACCRUE_CALL(fcntl),
    ACCRUE_CALL(ioctl),
    ACCRUE_CALL(flock),
    ACCRUE_CALL(sendfile),
    ACCRUE_CALL(copy_file_range),
    ACCRUE_CALL(renameat),
};
#undef ACCRUE_CALL

}  // namespace accrue::faults
