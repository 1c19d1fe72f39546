#include "core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>

namespace accrue {

void with_threads(int threads, const std::function<void()>& work) {
    // oneTBB prints a warning when an arena asks for more than its limit, which by default is the number of cores; more
    // than these would not make anything faster.
    const std::size_t limit = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int most = static_cast<int>(std::min<std::size_t>(limit, std::numeric_limits<int>::max()));
    tbb::task_arena arena(threads > 0 ? std::min(threads, most) : tbb::task_arena::automatic);
    arena.execute(work);
}

namespace core {

int thread_count() {
    return tbb::this_task_arena::max_concurrency();
}

}  // namespace core
}  // namespace accrue
