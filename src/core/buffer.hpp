// Memory for many numbers: one that is written before it is read, and one that numbers are added to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace accrue::core {

// Aligned for vectors; where it is large, on huge pages if the system has some, because rows that are dealt all over it
// would otherwise miss the address translation cache. Throws std::bad_alloc.
void* allocate_unfilled(std::size_t bytes);
void free_unfilled(void* memory, std::size_t bytes) noexcept;

// Growing neither fills it nor keeps what was there.
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

// Whole pages of the system's memory, apart from malloc's: `bytes` is rounded up to them. Growing moves the pages, not
// what is in them, so that memory never holds it twice, and shrinking gives them back. Throws std::bad_alloc.
void* resize_pages(void* memory, std::size_t old_bytes, std::size_t& bytes);

// Numbers that keep coming, nobody knows how many.
template <typename T>
class Growing {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Growing() = default;
    ~Growing() { resize_room(0); }
    Growing(Growing&& other) noexcept
        : memory_(std::exchange(other.memory_, nullptr)),
          bytes_(std::exchange(other.bytes_, 0)),
          size_(std::exchange(other.size_, 0)) {}
    Growing& operator=(Growing&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        return *this;
    }

    std::size_t size() const { return size_; }
    T* data() { return memory_; }
    const T* data() const { return memory_; }
    T& operator[](std::size_t i) { return memory_[i]; }
    const T& operator[](std::size_t i) const { return memory_[i]; }
    std::span<const T> span() const { return {data(), size_}; }

    // Adds places whose values are for the caller to write; gives the first of them.
    T* extend(std::size_t count) {
        const std::size_t needed = size_ + count;
        const std::size_t room = bytes_ / sizeof(T);
        if (needed > room) resize_room(std::max(needed, room + room / kShareToGrow));
        T* first = data() + size_;
        size_ = needed;
        return first;
    }
    void append(std::span<const T> values) { std::copy(values.begin(), values.end(), extend(values.size())); }
    // Keeps the first `count`.
    void cut(std::size_t count) { size_ = std::min(size_, count); }
    // Gives back what is not used.
    void shrink() { resize_room(size_); }

private:
    static constexpr std::size_t kShareToGrow = 8;

    void resize_room(std::size_t room) {
        std::size_t bytes = room * sizeof(T);
        memory_ = static_cast<T*>(resize_pages(memory_, bytes_, bytes));
        bytes_ = bytes;
    }

    T* memory_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t size_ = 0;
};

}  // namespace accrue::core
