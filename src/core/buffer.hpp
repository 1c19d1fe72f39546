// Memory for many numbers that are written before they are read: growing neither fills it nor keeps what was there.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace accrue::core {

// Aligned for vectors; where it is large, on huge pages if the system has some, because rows that are dealt all over it
// would otherwise miss the address translation cache. Throws std::bad_alloc.
void* allocate_unfilled(std::size_t bytes);
void free_unfilled(void* memory, std::size_t bytes) noexcept;

template <typename T>
class Buffer {
    static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>);

public:
    // Room for at least so many.
    void reserve(std::size_t size) {
        if (size <= memory_.get_deleter().size) return;
        memory_ = {};  // first, so that both never exist at once
        memory_ = {static_cast<T*>(allocate_unfilled(size * sizeof(T))), Free{size}};
    }
    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }
    T& operator[](std::size_t i) { return memory_.get()[i]; }

private:
    struct Free {
        std::size_t size = 0;
        void operator()(T* memory) const { free_unfilled(memory, size * sizeof(T)); }
    };
    std::unique_ptr<T[], Free> memory_;
};

}  // namespace accrue::core
