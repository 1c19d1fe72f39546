#include "fit/cross_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "accrue/error.hpp"
#include "fields/gaussian_process.hpp"
#include "fields/target_rows.hpp"
#include "support/threads.hpp"

namespace accrue::fitting {
namespace {

using fields::row_numbers;
using fields::TargetRows;

const fields::MeanKind& gp = fields::mean_kind("gp");
const fields::MeanKind& network = fields::mean_kind("network");
const fields::MeanKind* const kKinds[] = {&gp, &network};

std::vector<double> predictions(std::span<const fields::Fitted> members, const TargetRows& rows) {
    return fields::average_of_all(members, rows.columns(), rows.rows);
}

std::vector<Folds> random_folds(std::size_t rows, std::size_t folds, std::size_t rounds, std::uint64_t seed) {
    core::Random random(seed);
    std::vector<Folds> all(rounds, Folds(rows));
    for (Folds& own : all) {
        for (std::size_t i = 0; i < rows; ++i) own[i] = i % folds;
        random.shuffle(std::span(own));
    }
    return all;
}

double mean_square(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum / static_cast<double>(a.size());
}

TEST(CrossFit, ARowsOwnTargetDoesNotMoveItsPredictionByAProcess) {
    TargetRows rows(60, 1, 400);
    const auto rounds = random_folds(60, 4, 2, 401);
    const auto before = cross_fit(gp, rows.targets(), rounds, 1).held_out;
    rows.y[7] += 3;
    const auto after = cross_fit(gp, rows.targets(), rounds, 1).held_out;
    EXPECT_EQ(before[7], after[7]);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < 60; ++i) {
        const bool together = rounds[0][i] == rounds[0][7] && rounds[1][i] == rounds[1][7];
        if (together) {
            EXPECT_EQ(before[i], after[i]) << i;
        }
        moved += before[i] != after[i] ? 1 : 0;
    }
    EXPECT_GT(moved, 30U) << "the other folds do see it";
}

TEST(CrossFit, ARowsOwnTargetOnlyStopsItsNetwork) {
    // A change too small to alter which iteration is the best moves nothing in the row's own fold, to the last bit:
    // the target is not trained on there. The other folds train on it and move.
    TargetRows rows(80, 1, 402);
    const auto rounds = random_folds(80, 4, 1, 403);
    const auto before = cross_fit(network, rows.targets(), rounds, 1).held_out;
    rows.y[7] += 1e-9;
    const auto after = cross_fit(network, rows.targets(), rounds, 1).held_out;
    for (std::size_t i = 0; i < 80; ++i) {
        if (rounds[0][i] == rounds[0][7]) {
            EXPECT_EQ(before[i], after[i]) << i;
        } else {
            EXPECT_NE(before[i], after[i]) << i;
        }
    }
}

TEST(CrossFit, HeldOutErrorsAreHonestAndThoseOfTheFitAreTooSmall) {
    // 80 rows with noise 0.3 in 3 inputs: whoever saw a row fits part of its noise.
    const TargetRows rows(80, 3, 404);
    const TargetRows fresh(5000, 3, 405);
    const auto rounds = random_folds(80, 5, 3, 406);
    for (const fields::MeanKind* kind : kKinds) {
        const CrossFit fit = cross_fit(*kind, rows.targets(), rounds, 1);
        const double held_out = mean_square(fit.held_out, rows.y);
        const double seen = mean_square(predictions(fit.members, rows), rows.y);
        const double truth = mean_square(predictions(fit.members, fresh), fresh.y);
        EXPECT_LT(seen, 0.85 * truth) << kind->name();
        // The mean of 80 squares is known to 16%, and the folds' fits have a fifth of the rows less: three errors.
        EXPECT_GT(held_out, 0.5 * truth) << kind->name();
        EXPECT_LT(held_out, 2 * truth) << kind->name();
        EXPECT_GT(held_out, seen) << kind->name();
    }
}

TEST(CrossFit, TheFinalNetworkIsTheAverageOfAllAndItsRoundsAreAveraged) {
    const TargetRows rows(60, 1, 407);
    const auto rounds = random_folds(60, 3, 2, 408);
    const CrossFit fit = cross_fit(network, rows.targets(), rounds, 1);
    ASSERT_EQ(fit.members.size(), 6U);
    // By hand, from the members in the order of rounds and folds.
    std::vector<double> average(60, 0.0);
    std::vector<double> held_out(60, 0.0);
    for (std::size_t m = 0; m < 6; ++m) {
        const auto out = predictions(std::span(&fit.members[m], 1), rows);
        for (std::size_t i = 0; i < 60; ++i) {
            average[i] += out[i] / 6;
            if (rounds[m / 3][i] == m % 3) held_out[i] += out[i] / 2;
        }
    }
    const auto all = predictions(fit.members, rows);
    for (std::size_t i = 0; i < 60; ++i) {
        EXPECT_NEAR(all[i], average[i], 1e-14);
        EXPECT_NEAR(fit.held_out[i], held_out[i], 1e-14);
    }
}

TEST(CrossFit, TheFinalProcessIsThatOfAllRows) {
    const TargetRows rows(60, 1, 409);
    const CrossFit fit = cross_fit(gp, rows.targets(), random_folds(60, 3, 2, 410), 1);
    const fields::Fitted alone = fit_mean(gp, rows.targets(), row_numbers(0, 50), row_numbers(50, 60), 5);
    const auto& all = dynamic_cast<const fields::GaussianProcess&>(*fit.members.at(0).field).log_hyperparameters();
    const auto& plain = dynamic_cast<const fields::GaussianProcess&>(*alone.field).log_hyperparameters();
    // The same maximum from other starts.
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], plain[i], 0.01);
}

TEST(CrossFit, RepeatedRowsAndConstantTargetsSurvive) {
    for (const fields::MeanKind* kind : kKinds)
        for (const double y : {0.0, 1.0}) {
            TargetRows rows(12, 2, 411);
            for (std::size_t i = 1; i < 12; ++i) rows.copy_row(0, i);
            std::fill(rows.y.begin(), rows.y.end(), y);
            const CrossFit fit = cross_fit(*kind, rows.targets(), random_folds(12, 3, 1, 412), 1);
            for (const double value : fit.held_out) EXPECT_NEAR(value, y, 0.01) << kind->name();
        }
}

TEST(CrossFit, TwoRowsAreEnough) {
    const TargetRows rows(2, 1, 413);
    const std::vector<Folds> rounds = {{0, 1}};
    for (const fields::MeanKind* kind : kKinds)
        for (const double value : cross_fit(*kind, rows.targets(), rounds, 1).held_out)
            EXPECT_TRUE(std::isfinite(value));
}

TEST(CrossFit, BadFoldsAreRefused) {
    const TargetRows rows(10, 1, 414);
    for (const fields::MeanKind* kind : kKinds) {
        EXPECT_THROW(cross_fit(*kind, rows.targets(), {}, 1), InputError);
        EXPECT_THROW(cross_fit(*kind, rows.targets(), std::vector<Folds>{Folds(10, 0)}, 1), InputError);
        EXPECT_THROW(cross_fit(*kind, rows.targets(), std::vector<Folds>{Folds(9, 1)}, 1), InputError);
        EXPECT_THROW(cross_fit(*kind, rows.targets(), std::vector<Folds>{Folds(10, 1)}, 1), InputError)
            << "fold 0 is all that trains fold 1, and it is empty";
    }
}

TEST(CrossFit, TellsItsWatcherAndStopsForIt) {
    const TargetRows rows(60, 1, 415);
    const auto rounds = random_folds(60, 3, 2, 416);
    for (const fields::MeanKind* kind : kKinds) {
        std::set<std::size_t> tasks;
        std::size_t of = 0;
        cross_fit(*kind, rows.targets(), rounds, 1, [&](const FitProgress& progress) {
            tasks.insert(progress.task);
            of = progress.tasks;
            EXPECT_LE(progress.finished, progress.tasks);
            return true;
        });
        EXPECT_EQ(of, kind == &gp ? 7U : 6U);
        EXPECT_EQ(tasks.size(), of);
        int calls = 0;
        const auto stop = [&](const FitProgress&) { return ++calls < 5; };
        EXPECT_THROW(cross_fit(*kind, rows.targets(), rounds, 1, stop), Interrupted);
        EXPECT_EQ(calls, 5);
    }
}

TEST(CrossFit, ResultsDoNotDependOnTheThreads) {
    TargetRows rows(90, 2, 417);
    rows.set_random_weights(418);
    const auto rounds = random_folds(90, 3, 2, 419);
    for (const fields::MeanKind* kind : kKinds)
        support::expect_same_for_any_threads([&] {
            const CrossFit fit = cross_fit(*kind, rows.targets(), rounds, 1);
            std::vector<double> all = fit.held_out;
            const std::vector<double> last = predictions(fit.members, rows);
            all.insert(all.end(), last.begin(), last.end());
            return all;
        });
}

TEST(CrossFit, AnotherSeedIsAnotherNetwork) {
    const TargetRows rows(60, 1, 420);
    const auto fit = [&](std::uint64_t seed) {
        const fields::Fitted one = fit_mean(network, rows.targets(), row_numbers(0, 48), row_numbers(48, 60), seed);
        return predictions(std::span(&one, 1), rows);
    };
    EXPECT_TRUE(support::same_bytes(fit(1), fit(1)));
    EXPECT_FALSE(support::same_bytes(fit(1), fit(2)));
}

}  // namespace
}  // namespace accrue::fitting
