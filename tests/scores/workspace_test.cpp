// A workspace that is handed in spares every allocation. This program counts its calls of operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "support/samples.hpp"

namespace {
std::atomic<long> allocations{0};

void* counted(std::size_t size, std::size_t alignment = 0) {
    ++allocations;
    void* memory = alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                                  : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
}  // namespace

// GCC sees the deletes below inlined into their callers, but not that new is replaced too.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
    return counted(size);
}
void* operator new[](std::size_t size) {
    return counted(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace accrue {
namespace {

long allocations_of(const std::function<void()>& work) {
    const long before = allocations;
    work();
    return allocations - before;
}

TEST(Workspace, TheCountSeesTheLibrarysAllocations) {
    const support::Sample sample = support::random_sample(1000, 71);
    EXPECT_GT(allocations_of([&] { reliability_score(sample.errors, sample.sigmas); }), 0);
}

TEST(Workspace, CallsWithAsManyRowsOrFewerAllocateNothing) {
    // One block of rows; several; one bucket and many. TBB keeps its own memory outside of operator new.
    for (const std::size_t rows : {1U, 500U, 3000U, 4096U, 100000U})
        for (const bool weighted : {false, true}) {
            SCOPED_TRACE(testing::Message() << rows << " rows" << (weighted ? ", weighted" : ""));
            const support::Sample sample = support::random_sample(rows, 72);
            const std::vector<double> weights = support::random_weights(rows, 73);
            std::vector<double> gradient(rows);
            ScoreWorkspace workspace;
            const auto score = [&](std::size_t n) {
                const std::span<const double> w = weighted ? std::span(weights).first(n) : std::span<const double>();
                accuracy_reliability(std::span(sample.errors).first(n), std::span(sample.sigmas).first(n), 0.4, w,
                                     std::span(gradient).first(n), &workspace);
                reliability_score(std::span(sample.errors).first(n), std::span(sample.sigmas).first(n), w, {},
                                  &workspace);
            };
            with_threads(1, [&] {
                EXPECT_GT(allocations_of([&] { score(rows); }), 0);
                for (const std::size_t n : {rows, rows - rows / 3, rows / 2 + 1, std::size_t{1}, rows})
                    EXPECT_EQ(allocations_of([&] { score(n); }), 0) << n << " rows again";
            });
        }
}

TEST(Workspace, WhatItHeldBeforeDoesNotMatter) {
    ScoreWorkspace workspace;
    for (const std::size_t rows : {50000U, 10U, 7000U, 3U, 60000U}) {
        const support::Sample sample = support::random_sample(rows, rows);
        std::vector<double> gradient(rows), fresh_gradient(rows);
        const double value = accuracy_reliability(sample.errors, sample.sigmas, 0.4, {}, gradient, &workspace).value;
        EXPECT_EQ(value, accuracy_reliability(sample.errors, sample.sigmas, 0.4, {}, fresh_gradient).value);
        EXPECT_EQ(gradient, fresh_gradient);
    }
}

TEST(Workspace, CanBeMoved) {
    const support::Sample sample = support::random_sample(100, 74);
    ScoreWorkspace first;
    const double value = reliability_score(sample.errors, sample.sigmas, {}, {}, &first);
    ScoreWorkspace second = std::move(first);
    EXPECT_EQ(reliability_score(sample.errors, sample.sigmas, {}, {}, &second), value);
}

}  // namespace
}  // namespace accrue
