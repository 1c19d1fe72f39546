#include "core/parallel.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#if defined(ACCRUE_SANITIZE_THREAD)
#include <sanitizer/tsan_interface.h>
#endif

namespace accrue {

namespace {

// Memory goes from one thread to another by way of oneTBB, whose library is not instrumented, so ThreadSanitizer must
// be told; in other builds this does nothing. This file, the only one where oneTBB's templates become code, is not
// instrumented either: what they do with their own objects is their business.

// What a thread has written before give() is there for the one that calls take() after it.
class Handover {
public:
#if defined(ACCRUE_SANITIZE_THREAD)
    void give() noexcept {
        __tsan_release(this);
    }
    void take() noexcept {
        __tsan_acquire(this);
    }

private:
    char place_ = 0;
#else
    void give() noexcept {}
    void take() noexcept {}
#endif
};

// Work that other threads do for one that waits: it sees what was written before it, and its end is seen by who waited.
class Crossing {
public:
    Crossing() noexcept { before_.give(); }
    ~Crossing() { after_.take(); }
    Crossing(const Crossing&) = delete;
    Crossing& operator=(const Crossing&) = delete;

    class Side {
    public:
        explicit Side(Crossing& crossing) noexcept : crossing_(crossing) { crossing_.before_.take(); }
        ~Side() { crossing_.after_.give(); }
        Side(const Side&) = delete;
        Side& operator=(const Side&) = delete;

    private:
        Crossing& crossing_;
    };

private:
    Handover before_, after_;
};

// For a place that threads use in turn.
class Turn {
public:
    explicit Turn(Handover& place) noexcept : place_(place) { place_.take(); }
    ~Turn() { place_.give(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    Handover& place_;
};

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

// There before any thread asks; never ended, as oneTBB may be gone before.
Arenas& arenas = *new Arenas;

}  // namespace

void with_threads(int threads, const std::function<void()>& work) {
    // oneTBB prints a warning when an arena asks for more than its limit, which by default is the number of cores; more
    // than these would not make anything faster.
    const std::size_t limit = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    const int most = static_cast<int>(std::min<std::size_t>(limit, std::numeric_limits<int>::max()));
    const int given = threads > 0 ? std::min(threads, most) : tbb::task_arena::automatic;
    struct Borrowed {
        int threads;
        Arenas::Arena arena = arenas.take(threads);
        ~Borrowed() { arenas.give_back(threads, std::move(arena)); }
    };
    const Borrowed borrowed{given};
    Crossing crossing;  // to a thread of the arena, where it is in use
    borrowed.arena->execute([&]() {
        const Crossing::Side other(crossing);
        work();
    });
}

namespace core {

void for_indices(std::size_t n, Deal deal, const std::function<void(std::size_t)>& work) {
    Crossing crossing;
    const auto call = [&](std::size_t i) {
        const Crossing::Side other(crossing);
        work(i);
    };
    if (deal == Deal::singly)
        tbb::parallel_for(std::size_t{0}, n, call, tbb::simple_partitioner());
    else
        tbb::parallel_for(std::size_t{0}, n, call, tbb::auto_partitioner());
}

void pass_through(std::size_t places, const std::function<bool(std::size_t)>& enter, const std::vector<Stage>& stages) {
    using tbb::filter_mode;
    // The last stage is in order, so when an item enters, the one before it by `places` is out.
    struct Belt {
        Belt(std::size_t places, std::size_t stages) : of_place(places), of_stage(stages) {
            for (Handover& handover : of_stage) handover.give();
            entrance.give();
        }
        ~Belt() {  // the threads are done
            for (Handover& handover : of_place) handover.take();
            for (Handover& handover : of_stage) handover.take();
            entrance.take();
        }
        std::vector<Handover> of_place, of_stage;
        Handover entrance;
    } belt(places, stages.size());
    std::size_t entered = 0;
    tbb::filter<void, std::size_t> way =
        tbb::make_filter<void, std::size_t>(filter_mode::serial_in_order, [&](tbb::flow_control& control) {
            const Turn entering(belt.entrance);
            const std::size_t place = entered++ % places;
            const Turn own(belt.of_place[place]);
            if (!enter(place)) control.stop();
            return place;
        });
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const filter_mode mode = stages[s].in_order ? filter_mode::serial_in_order : filter_mode::parallel;
        way = way & tbb::make_filter<std::size_t, std::size_t>(mode, [&, s](std::size_t place) {
                  const Turn own(belt.of_place[place]);
                  std::optional<Turn> one_after_another;
                  if (stages[s].in_order) one_after_another.emplace(belt.of_stage[s]);
                  stages[s].work(place);
                  return place;
              });
    }
    tbb::parallel_pipeline(places,
                           way & tbb::make_filter<std::size_t, void>(filter_mode::parallel, [](std::size_t) {}));
}

void isolate_function(const std::function<void()>& work) {
    tbb::this_task_arena::isolate([&] { work(); });
}

int thread_count() {
    return tbb::this_task_arena::max_concurrency();
}

}  // namespace core
}  // namespace accrue
