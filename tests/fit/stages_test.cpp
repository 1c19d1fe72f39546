// Start small, finish big: fits of many rows train on growing samples first.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::Rows;
using support::some_rows;

constexpr std::size_t kManyRows = 100'000;  // two stages, the first with a third of them

FitOptions short_fit() {
    FitOptions options;
    options.folds = 2;
    options.starts = 1;
    options.max_iterations = 6;
    return options;
}

TEST(Stages, EndOnAllRowsWithTheCostOfADirectFit) {
    const Rows rows = some_rows(kManyRows, 160, 2);
    FitOptions options = short_fit();
    options.max_iterations = 40;
    const FitResult staged = fit(rows.archive(), options);
    options.stages = false;
    const FitResult direct = fit(rows.archive(), options);
    EXPECT_NE(staged.model.text(), direct.model.text());
    EXPECT_EQ(staged.verification.rows, kManyRows);
    // With few iterations stages get further, since each of them has so many; the bound is what is asked of long fits.
    EXPECT_LT(staged.verification.ar, direct.verification.ar * (1 + 1e-4));
    // Iterations of all its stages, and a cost for each of them and for each stage's beginning.
    for (const StartOutcome& start : staged.starts)
        EXPECT_EQ(start.validation_curve.size(), static_cast<std::size_t>(start.iterations) + (start.kept ? 2 : 1));
}

TEST(Stages, BeginWithMoreStartsAndCarryOnTheBestOfEachFold) {
    const Rows rows = some_rows(kManyRows, 164, 1);
    FitOptions options = short_fit();
    options.starts = 3;
    const FitResult result = fit(rows.archive(), options);
    ASSERT_EQ(result.starts.size(), 10U) << "five in each of two folds";
    for (std::size_t fold = 0; fold < 2; ++fold) {
        // Cost at the end of the first stage: the last of its seven, where the start got six iterations.
        double worst_carried = 0;
        double best_dropped = 1e9;
        int dropped = 0;
        for (std::size_t r = 0; r < 5; ++r) {
            const StartOutcome& start = result.starts[5 * fold + r];
            EXPECT_EQ(start.fold, fold);
            EXPECT_EQ(start.start, r);
            const auto first = start.validation_curve.begin();
            const double cost = *std::min_element(first, first + 7);
            if (start.dropped_because.starts_with("on the first sample")) {
                ++dropped;
                best_dropped = std::min(best_dropped, cost);
                EXPECT_FALSE(start.kept);
                EXPECT_EQ(start.iterations, 6);
            } else {
                worst_carried = std::max(worst_carried, cost);
                EXPECT_GT(start.iterations, 6);
            }
        }
        EXPECT_EQ(dropped, 2);
        EXPECT_LE(worst_carried, best_dropped);
    }
}

TEST(Stages, BytesDoNotDependOnThreads) {
    Rows rows = some_rows(kManyRows, 161, 1);
    core::Random random(162);
    for (std::size_t i = 0; i < kManyRows; ++i) rows.weights.push_back(random.uniform(0.5, 2));
    support::expect_same_for_any_threads([&] { return fit(rows.archive(), short_fit()).model.text(); });
}

TEST(Stages, CanBeInterruptedInEachOfThem) {
    const Rows rows = some_rows(kManyRows, 163, 1);
    std::size_t tasks = 0;
    // Two folds with a start and a spare one: the fifth task is the first of the second stage.
    const auto in_second_stage = [&](const FitProgress& progress) {
        tasks = progress.tasks;
        return progress.finished < 4;
    };
    EXPECT_THROW(fit(rows.archive(), short_fit(), in_second_stage), Interrupted);
    EXPECT_EQ(tasks, 8U);
}

}  // namespace
}  // namespace accrue
