#include "core/sort.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <functional>
#include <limits>

namespace accrue::core {

namespace {

// Up to here the vectorised sort's set-up costs more than it saves.
constexpr std::size_t kSmallSort = 64;

template <typename T>
void sort(std::span<T> values) {
    if (values.size() <= kSmallSort) {
        std::sort(values.begin(), values.end());
        return;
    }
    thread_local const hwy::Sorter sorter;
    sorter(values.data(), values.size(), hwy::SortAscending());
}

}  // namespace

void sort_ascending(std::span<double> values) {
    if (!hwy::Sorter::HaveFloat64()) return std::sort(values.begin(), values.end());
    // Highway 1.0.3 turns +infinity into the largest finite double: keep it away.
    const auto infinite = [](double value) { return value == std::numeric_limits<double>::infinity(); };
    const auto end = std::partition(values.begin(), values.end(), std::not_fn(infinite));
    sort(values.first(static_cast<std::size_t>(end - values.begin())));
}

void sort_ascending(std::span<std::uint64_t> values) {
    sort(values);
}

}  // namespace accrue::core
