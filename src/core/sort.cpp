#include "core/sort.hpp"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>

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
    if (hwy::Sorter::HaveFloat64()) return sort(values);
    std::sort(values.begin(), values.end());
}

void sort_ascending(std::span<std::uint64_t> values) { sort(values); }

}  // namespace accrue::core
