#include "core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

namespace accrue {

void with_threads(int threads, const std::function<void()>& work) {
    tbb::task_arena arena(threads > 0 ? threads : tbb::task_arena::automatic);
    arena.execute(work);
}

namespace core {

int thread_count() { return tbb::this_task_arena::max_concurrency(); }

}  // namespace core
}  // namespace accrue
