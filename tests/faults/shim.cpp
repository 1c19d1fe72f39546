// Loaded into the command by LD_PRELOAD. When main() begins it asks the kernel to announce system calls to the harness
// (seccomp's user notification), and from then on it counts allocations and lets them fail from a given one on. What
// happens before main(), in the loader and in initialisers, is not the command's to handle.
//
// Why both: an overridden read() or write() would not see those of stdio and iostreams, which call the kernel from
// inside libc, and the kernel cannot make malloc() fail, which asks it only now and then.
#include "faults/shim.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

using accrue::faults::Shared;

Shared* shared = nullptr;

thread_local bool loading = false;

bool fails() {
    if (shared == nullptr || !shared->counting || loading) return false;
    const long index = shared->allocations++;
    if (shared->failing_allocation < 0 || index < shared->failing_allocation) return false;
    errno = ENOMEM;
    return true;
}

int install_filter() {
    constexpr std::size_t kCalls = std::size(accrue::faults::kCalls);
    sock_filter program[kCalls + 3];
    program[0] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (std::size_t i = 0; i < kCalls; ++i)
        program[i + 1] =
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(accrue::faults::kCalls[i].number),
                     static_cast<std::uint8_t>(kCalls - i), 0);
    program[kCalls + 1] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program[kCalls + 2] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    sock_fprog filter{static_cast<unsigned short>(kCalls + 3), program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
}

void send_descriptor(int socket, int descriptor) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    ::sendmsg(socket, &message, 0);
}

void begin() {
    // Programs that the command starts are not of interest.
    ::unsetenv("LD_PRELOAD");
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, accrue::faults::kMemory, 0);
    if (memory == MAP_FAILED) ::_exit(125);
    const bool calls = static_cast<Shared*>(memory)->announce_calls;
    const int socket = accrue::faults::kSocket;
    ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    ::fcntl(accrue::faults::kMemory, F_SETFD, FD_CLOEXEC);
    if (calls) {
        const int listener = install_filter();
        if (listener < 0) ::_exit(125);
        // Out of the way of the command's own descriptors; these calls are not among the announced ones.
        send_descriptor(socket, listener);
        ::syscall(SYS_close_range, listener, listener, 0);
    }
    shared = static_cast<Shared*>(memory);
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int main_after_begin(int argc, char** argv, char** environment) {
    begin();
    return real_main(argc, argv, environment);
}

}  // namespace

extern "C" {

// What a program's first instructions call, with its main().
__attribute__((visibility("default"))) int __libc_start_main(Main main, int argc, char** argv, void (*init)(),
                                                             void (*fini)(), void (*loader_fini)(), void* stack_end) {
    using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
    const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
    real_main = main;
    return start(main_after_begin, argc, argv, init, fini, loader_fini, stack_end);
}

// The C library's loader crashes where it has no memory for the text of an error (oneTBB calls it); nobody can mend
// that from outside.
__attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
    using Open = void* (*)(const char*, int);
    static const auto open = reinterpret_cast<Open>(::dlsym(RTLD_NEXT, "dlopen"));
    loading = true;
    void* library = open(file, mode);
    loading = false;
    return library;
}

__attribute__((visibility("default"))) void* malloc(std::size_t size) {
    return fails() ? nullptr : __libc_malloc(size);
}
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t size) {
    return fails() ? nullptr : __libc_calloc(count, size);
}
__attribute__((visibility("default"))) void* realloc(void* old, std::size_t size) {
    return fails() ? nullptr : __libc_realloc(old, size);
}
__attribute__((visibility("default"))) void* memalign(std::size_t alignment, std::size_t size) {
    return fails() ? nullptr : __libc_memalign(alignment, size);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails() ? nullptr : __libc_memalign(alignment, size);
}
__attribute__((visibility("default"))) int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
    void* memory = fails() ? nullptr : __libc_memalign(alignment, size);
    if (memory == nullptr) return ENOMEM;
    *place = memory;
    return 0;
}

}  // extern "C"
