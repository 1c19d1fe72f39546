// The loops of core/parallel.hpp in the calling thread, for a library that brings no threads along.
#include "core/parallel.hpp"

namespace accrue {

void with_threads(int, const std::function<void()>& work) {
    work();
}

namespace core {

void for_indices(std::size_t n, Deal, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = 0; i < n; ++i) work(i);
}

void isolate_function(const std::function<void()>& work) {
    work();
}

int thread_count() {
    return 1;
}

}  // namespace core
}  // namespace accrue
