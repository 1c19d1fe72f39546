// Memory that goes from one thread to another by way of oneTBB. Its library is not instrumented, so ThreadSanitizer
// must be told; in other builds this does nothing.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
// A function that oneTBB calls: it reads what it holds before it can take it over.
#define ACCRUE_CALLED_BY_TBB __attribute__((no_sanitize("thread")))
#else
#define ACCRUE_CALLED_BY_TBB
#endif

namespace accrue::core {

// What a thread has written before give() is there for the one that calls take() after it.
class Handover {
public:
#if defined(__SANITIZE_THREAD__)
    void give() noexcept {
        __tsan_release(this);
    }
    void take() noexcept {
        __tsan_acquire(this);
    }

private:
    char place_ = 0;
#else
    void give() noexcept {}
    void take() noexcept {}
#endif
};

// Work that other threads do for one that waits: it sees what was written before it, and its end is seen by who waited.
class Crossing {
public:
    Crossing() noexcept { before_.give(); }
    ~Crossing() { after_.take(); }
    Crossing(const Crossing&) = delete;
    Crossing& operator=(const Crossing&) = delete;

    class Side {
    public:
        explicit Side(Crossing& crossing) noexcept : crossing_(crossing) { crossing_.before_.take(); }
        ~Side() { crossing_.after_.give(); }
        Side(const Side&) = delete;
        Side& operator=(const Side&) = delete;

    private:
        Crossing& crossing_;
    };

private:
    Handover before_, after_;
};

// For a place that threads use in turn.
class Turn {
public:
    explicit Turn(Handover& place) noexcept : place_(place) { place_.take(); }
    ~Turn() { place_.give(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    Handover& place_;
};

}  // namespace accrue::core
