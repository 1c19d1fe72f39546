// Parallel loops whose results do not depend on the number of threads: work is cut into blocks of a fixed
// size, every block writes its own place, and sums are taken over blocks in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "accrue/threads.hpp"

namespace accrue::core {

// The number of blocks that `n` items make.
constexpr std::size_t block_count(std::size_t n, std::size_t block) {
    return (n + block - 1) / block;
}

// The number of threads that a parallel loop started here may use.
int thread_count();

// Calls work(i) for every i below n, as threads come free: one i at a time to each, or runs of them.
enum class Deal { singly, in_runs };
void for_indices(std::size_t n, Deal deal, const std::function<void(std::size_t)>& work);

// Items on their way through stages, at most `places` of them at a time, each in a place of its own, numbered from 0.
// enter(place) is called for one item after another until it returns false; then work(place) of every stage, in order:
// one item at a time, in the order in which they entered, or side by side. The last stage must be in order.
struct Stage {
    bool in_order = true;
    std::function<void(std::size_t)> work;
};
void pass_through(std::size_t places, const std::function<bool(std::size_t)>& enter, const std::vector<Stage>& stages);

// Calls work(). A thread that waits in it takes up no work from outside it, whose memory would come on top.
void isolate_function(const std::function<void()>& work);
template <typename Work>
void isolate(Work&& work) {
    isolate_function(std::ref(work));
}

// Calls work(task) for every task, one at a time to each thread.
template <typename Work>
void for_tasks(std::size_t tasks, Work&& work) {
    for_indices(tasks, Deal::singly, std::ref(work));  // by reference: nothing is allocated
}

// Calls work(block_index, begin, end) for every block of [0, n). A single block runs in the caller.
template <typename Work>
void for_blocks(std::size_t n, std::size_t block, Work&& work) {
    const std::size_t blocks = block_count(n, block);
    if (blocks == 0) return;
    if (blocks == 1) {
        work(std::size_t{0}, std::size_t{0}, n);
        return;
    }
    const auto work_at = [&](std::size_t b) { work(b, b * block, std::min(n, (b + 1) * block)); };
    for_indices(blocks, Deal::in_runs, std::ref(work_at));
}

// The sum of partial results in their order, by pairs, so that rounding grows with log n.
template <typename T>
T ordered_sum(const T* parts, std::size_t count) {
    if (count == 0) return T{};
    if (count <= 8) {
        T total = parts[0];
        for (std::size_t i = 1; i < count; ++i) total += parts[i];
        return total;
    }
    const std::size_t half = count / 2;
    T total = ordered_sum(parts, half);
    total += ordered_sum(parts + half, count - half);
    return total;
}

template <typename T>
T ordered_sum(const std::vector<T>& parts) {
    return ordered_sum(parts.data(), parts.size());
}

// The sum of part(begin, end) over all blocks of [0, n); T needs a zero value and +=. `parts` is room for the blocks'
// sums: it grows when it is too small, and a caller that keeps it spares the allocation.
template <typename T, typename Part>
T sum_blocks(std::size_t n, std::size_t block, Part&& part, std::vector<T>& parts) {
    if (n <= block) return n == 0 ? T{} : part(std::size_t{0}, n);
    const std::size_t blocks = block_count(n, block);
    if (parts.size() < blocks) parts.resize(blocks);
    for_blocks(n, block, [&](std::size_t b, std::size_t begin, std::size_t end) { parts[b] = part(begin, end); });
    return ordered_sum(parts.data(), blocks);
}

template <typename T, typename Part>
T sum_blocks(std::size_t n, std::size_t block, Part&& part) {
    std::vector<T> parts;
    return sum_blocks<T>(n, block, part, parts);
}

}  // namespace accrue::core
