// Runs a command whose system calls are announced one by one, and decides about each: let it happen, let it fail, or
// kill the command there. Allocations are counted and can fail as well.
#pragma once

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "faults/shim.hpp"
#include "support/run.hpp"

namespace accrue::faults {

inline const char* call_name(long number) {
    for (const Announced& call : kCalls)
        if (call.number == number) return call.name;
    return "?";
}

// What to do with a call: nothing, fail with this errno, or kill.
struct Decision {
    int error = 0;
    bool kill = false;
};

struct Supervision {
    // Called for every announced call, in order; empty: calls are not announced, which is quicker.
    std::function<Decision(std::size_t index, long number)> decide = {};
    bool count_allocations = false;
    long failing_allocation = -1;
    std::function<void()> in_child = {};  // as in RunOptions
};

struct Supervised {
    support::Ended ended;
    long allocations = 0;
};

namespace detail {

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() { reset(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }
    void reset(int number = -1) {
        if (number_ >= 0) ::close(number_);
        number_ = number;
    }

private:
    int number_;
};

// The listener that the shim sends; -1 when the command ended before.
inline int receive_descriptor(int socket) {
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

inline void serve(int listener, const support::Process& process, const Supervision& supervision) {
    std::size_t index = 0;
    for (;;) {
        pollfd waiting{listener, POLLIN, 0};
        if (::poll(&waiting, 1, -1) < 0) continue;
        if ((waiting.revents & POLLIN) == 0) return;  // no process is left that has the filter
        seccomp_notif call{};
        if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
        const Decision decision = supervision.decide(index++, call.data.nr);
        if (decision.kill) {
            process.signal(SIGKILL);
            continue;
        }
        seccomp_notif_resp answer{};
        answer.id = call.id;
        answer.error = -decision.error;
        if (decision.error == 0) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);  // fails where the caller is gone
    }
}

}  // namespace detail

inline Supervised run_supervised(const std::vector<std::string>& command, const Supervision& supervision) {
    int ends[2] = {-1, -1};
    detail::Descriptor memory(::memfd_create("faults", MFD_CLOEXEC));
    if (::ftruncate(memory.get(), sizeof(Shared)) != 0 ||
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw std::runtime_error("cannot supervise");
    detail::Descriptor ours(ends[0]);
    detail::Descriptor theirs(ends[1]);
    void* place = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
    if (place == MAP_FAILED) throw std::runtime_error("cannot supervise");
    auto* shared = new (place) Shared;
    shared->announce_calls = static_cast<bool>(supervision.decide);
    shared->counting = supervision.count_allocations;
    shared->failing_allocation = supervision.failing_allocation;

    support::Process process(command, [&] {
        ::dup2(theirs.get(), kSocket);
        ::dup2(memory.get(), kMemory);
        ::setenv("LD_PRELOAD", ACCRUE_FAULTS_SHIM, 1);
        if (supervision.in_child) supervision.in_child();
    });
    theirs.reset();
    process.close_input();
    if (supervision.decide) {
        const detail::Descriptor listener(detail::receive_descriptor(ours.get()));
        if (listener.get() >= 0) detail::serve(listener.get(), process, supervision);
    }
    Supervised result;
    result.ended = process.wait();
    result.allocations = shared->allocations;
    ::munmap(place, sizeof(Shared));
    return result;
}

}  // namespace accrue::faults
