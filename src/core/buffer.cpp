#include "core/buffer.hpp"

#include <sys/mman.h>

#include <new>

namespace accrue::core {

void* allocate_unfilled(std::size_t bytes) {
    constexpr std::size_t kVector = 64;
    constexpr std::size_t kHugePage = std::size_t{1} << 21U;
    const bool large = bytes >= 2 * kHugePage;
    const std::size_t alignment = large ? kHugePage : kVector;
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    if (size < bytes) throw std::bad_alloc();
    void* memory = std::aligned_alloc(alignment, size);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    // A wish: without huge pages it is only slower.
    if (large) (void)madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memory;
}

}  // namespace accrue::core
