// Memory for many numbers that are written before they are read: growing neither fills it nor keeps what was there.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <type_traits>

namespace accrue::core {

// Aligned for vectors; where it is large, on huge pages if the system has some, because rows that are dealt all over it
// would otherwise miss the address translation cache. Freed by std::free. Throws std::bad_alloc.
void* allocate_unfilled(std::size_t bytes);

template <typename T>
class Buffer {
    static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);

public:
    // Room for at least so many.
    void reserve(std::size_t size) {
        if (size <= size_) return;
        memory_.reset();  // first, so that both never exist at once
        size_ = 0;
        memory_.reset(static_cast<T*>(allocate_unfilled(size * sizeof(T))));
        size_ = size;
    }
    T* data() { return memory_.get(); }
    T& operator[](std::size_t i) { return memory_.get()[i]; }

private:
    struct Free {
        void operator()(T* memory) const { std::free(memory); }
    };
    std::unique_ptr<T[], Free> memory_;
    std::size_t size_ = 0;
};

}  // namespace accrue::core
