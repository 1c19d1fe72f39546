#include "core/buffer.hpp"

#include <sys/mman.h>

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

}  // namespace accrue::core
