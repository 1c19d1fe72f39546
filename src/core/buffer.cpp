#include "core/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace accrue::core {

namespace {

constexpr std::size_t kVector = 64;
constexpr std::size_t kHugePage = std::size_t{1} << 21U;

bool is_large(std::size_t bytes) {
    return bytes >= 2 * kHugePage;
}
std::align_val_t alignment_of(std::size_t bytes) {
    return std::align_val_t{is_large(bytes) ? kHugePage : kVector};
}

}  // namespace

void* allocate_unfilled(std::size_t bytes) {
    void* memory = ::operator new(bytes, alignment_of(bytes));
#ifdef MADV_HUGEPAGE
    // A wish: without huge pages it is only slower. Whole pages, so that nobody else's memory is touched.
    if (is_large(bytes)) (void)madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
    return memory;
}

void free_unfilled(void* memory, std::size_t bytes) noexcept {
    ::operator delete(memory, alignment_of(bytes));
}

void* resize_pages(void* memory, std::size_t old_bytes, std::size_t& bytes) {
    static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes = (bytes + page - 1) / page * page;
    if (bytes == old_bytes) return memory;
    void* place = nullptr;
    if (bytes > 0) {
#ifdef MREMAP_MAYMOVE
        if (memory != nullptr) {
            place = ::mremap(memory, old_bytes, bytes, MREMAP_MAYMOVE);
            if (place == MAP_FAILED) throw std::bad_alloc();
            return place;
        }
#endif
        place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED) throw std::bad_alloc();
    }
    if (memory != nullptr) {
        if (place != nullptr) std::memcpy(place, memory, std::min(bytes, old_bytes));
        ::munmap(memory, old_bytes);
    }
    return place;
}

}  // namespace accrue::core
