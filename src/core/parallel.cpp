#include "core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/handover.hpp"

namespace accrue {

namespace {

// Arenas that nobody is in, by their number of threads. oneTBB 2021.8 keeps the memory of most arenas that end, 7 KiB
// each (its issue 967), so they are used again; there are as many as were ever needed at once.
class Arenas {
public:
    using Arena = std::unique_ptr<tbb::task_arena>;

    Arena take(int threads) {
        {
            const std::lock_guard lock(mutex_);
            std::vector<Arena>& free = free_[threads];
            if (!free.empty()) {
                Arena arena = std::move(free.back());
                free.pop_back();
                return arena;
            }
        }
        return std::make_unique<tbb::task_arena>(threads);
    }
    void give_back(int threads, Arena arena) noexcept {
        try {
            const std::lock_guard lock(mutex_);
            free_[threads].push_back(std::move(arena));
        } catch (...) {  // no memory for the list: then it ends here
        }
    }

private:
    std::mutex mutex_;
    std::map<int, std::vector<Arena>> free_;
};

Arenas& arenas() {
    static Arenas& all = *new Arenas;  // never ended: oneTBB may be gone before
    return all;
}

}  // namespace

void with_threads(int threads, const std::function<void()>& work) {
    // oneTBB prints a warning when an arena asks for more than its limit, which by default is the number of cores; more
    // than these would not make anything faster.
    const std::size_t limit = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int most = static_cast<int>(std::min<std::size_t>(limit, std::numeric_limits<int>::max()));
    const int given = threads > 0 ? std::min(threads, most) : tbb::task_arena::automatic;
    struct Borrowed {
        int threads;
        Arenas::Arena arena = arenas().take(threads);
        ~Borrowed() { arenas().give_back(threads, std::move(arena)); }
    };
    const Borrowed borrowed{given};
    core::Crossing crossing;  // to a thread of the arena, where it is in use
    borrowed.arena->execute([&]() ACCRUE_CALLED_BY_TBB {
        const core::Crossing::Side other(crossing);
        work();
    });
}

namespace core {

void for_indices(std::size_t n, Deal deal, const std::function<void(std::size_t)>& work) {
    Crossing crossing;
    const auto call = [&](std::size_t i) ACCRUE_CALLED_BY_TBB {
        const Crossing::Side other(crossing);
        work(i);
    };
    if (deal == Deal::singly)
        tbb::parallel_for(std::size_t{0}, n, call, tbb::simple_partitioner());
    else
        tbb::parallel_for(std::size_t{0}, n, call, tbb::auto_partitioner());
}

void isolate_function(const std::function<void()>& work) {
    tbb::this_task_arena::isolate([&] { work(); });
}

int thread_count() {
    return tbb::this_task_arena::max_concurrency();
}

}  // namespace core
}  // namespace accrue
