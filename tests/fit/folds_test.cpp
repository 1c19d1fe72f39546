#include "fit/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/archives.hpp"

namespace accrue::fitting {
namespace {

using support::add_groups;
using support::refusal;
using support::Rows;
using support::some_rows;
using Folds = std::vector<std::size_t>;

std::vector<std::size_t> sizes(const Folds& fold, std::size_t folds) {
    std::vector<std::size_t> count(folds, 0);
    for (const std::size_t f : fold) ++count.at(f);
    return count;
}

// Fails unless rows of equal key are in one fold.
template <typename Keys>
void expect_unsplit(const Folds& fold, const Keys& keys) {
    std::map<double, std::size_t> first;
    for (std::size_t i = 0; i < fold.size(); ++i) {
        const auto [at, is_new] = first.emplace(static_cast<double>(keys[i]), fold[i]);
        ASSERT_EQ(at->second, fold[i]) << "row " << i << " splits " << keys[i];
    }
}

void expect_contiguous(const Folds& fold, const std::vector<double>& times, std::size_t folds) {
    std::vector<std::pair<double, double>> spans(folds, {INFINITY, -INFINITY});
    for (std::size_t i = 0; i < fold.size(); ++i) {
        auto& [low, high] = spans[fold[i]];
        low = std::min(low, times[i]);
        high = std::max(high, times[i]);
    }
    for (std::size_t f = 0; f < folds; ++f) {
        EXPECT_LE(spans[f].first, spans[f].second) << "fold " << f << " is empty";
        if (f > 0) {
            EXPECT_GT(spans[f].first, spans[f - 1].second) << "fold " << f << " begins before the last one ends";
        }
    }
}

TEST(Folds, OfRowsAreOfEqualSizeAndDependOnTheSeedOnly) {
    for (const std::size_t rows : {3, 10, 101, 1000})
        for (const std::size_t folds : {2, 3, 5, 7}) {
            if (folds > rows) continue;
            const Rows data = some_rows(rows, 120);
            const Folds fold = make_folds(data.archive(), folds, 1);
            const auto count = sizes(fold, folds);
            EXPECT_LE(*std::max_element(count.begin(), count.end()) - *std::min_element(count.begin(), count.end()),
                      1U);
            EXPECT_EQ(fold, make_folds(data.archive(), folds, 1));
            if (rows > 100) {
                EXPECT_NE(fold, make_folds(data.archive(), folds, 2));
            }
        }
}

TEST(Folds, NeverSplitAGroup) {
    core::Random random(121);
    for (int repeat = 0; repeat < 30; ++repeat) {
        Rows data = some_rows(200 + random.below(200), 122);
        const std::size_t groups = 5 + random.below(40);
        add_groups(data, groups + 3, false);  // three labels that no row has
        std::size_t largest = 0;
        std::vector<std::size_t> of_group(groups, 0);
        for (auto& code : data.codes) {
            // Sizes that differ a lot.
            const double u = random.uniform();
            code = static_cast<std::uint32_t>(static_cast<double>(groups) * u * u);
            largest = std::max(largest, ++of_group[code]);
        }
        if (std::count(of_group.begin(), of_group.end(), 0U) > static_cast<std::ptrdiff_t>(groups) - 5) continue;
        const Folds fold = make_folds(data.archive(), 5, 3);
        expect_unsplit(fold, data.codes);
        const auto count = sizes(fold, 5);
        EXPECT_GT(*std::min_element(count.begin(), count.end()), 0U);
        // The largest first into the emptiest: no fold is ahead of another by more than one group.
        EXPECT_LE(*std::max_element(count.begin(), count.end()) - *std::min_element(count.begin(), count.end()),
                  largest);
        EXPECT_EQ(fold, make_folds(data.archive(), 5, 3));
    }
}

TEST(Folds, OfTimeAreContiguousAndNeverSplitAStamp) {
    core::Random random(123);
    for (int repeat = 0; repeat < 50; ++repeat) {
        Rows data = some_rows(20 + random.below(300), 124);
        const std::size_t stamps = 5 + random.below(60);
        for (std::size_t i = 0; i < data.errors.size(); ++i)  // in no order, and the first five are all there
            data.times.push_back(static_cast<double>(i < 5 ? i : random.below(stamps)) * 3600 - 7000);
        for (const std::size_t folds : {2, 5}) {
            const Folds fold = make_folds(data.archive(), folds, 1);
            expect_unsplit(fold, data.times);
            expect_contiguous(fold, data.times, folds);
            EXPECT_EQ(fold, make_folds(data.archive(), folds, 99)) << "time leaves nothing to chance";
        }
    }
}

TEST(Folds, OfDistinctTimesAreOfEqualSize) {
    Rows data = some_rows(103, 125);
    for (std::size_t i = 0; i < 103; ++i) data.times.push_back(static_cast<double>((i * 37) % 103));
    const auto count = sizes(make_folds(data.archive(), 5, 1), 5);
    for (const std::size_t c : count) EXPECT_NEAR(static_cast<double>(c), 103.0 / 5, 1);
}

// The groups of the rows as those that folds never split.
Archive with_fold_groups(const Rows& data) {
    Archive archive = data.archive();
    std::swap(archive.groups, archive.fold_groups);
    std::swap(archive.roles.group, archive.roles.fold_group);
    return archive;
}

TEST(Folds, OfFoldGroupsSplitTheseAndNotTheGroups) {
    Rows data = some_rows(120, 135);
    add_groups(data, 6, false);
    EXPECT_EQ(make_folds(with_fold_groups(data), 3, 1), make_folds(data.archive(), 3, 1));
    std::vector<std::uint32_t> storms;
    const std::vector<std::string> labels(20, "storm");
    for (std::size_t i = 0; i < 120; ++i) storms.push_back(static_cast<std::uint32_t>(i / 6));
    Archive archive = data.archive();
    archive.fold_groups = {storms, labels};
    expect_unsplit(make_folds(archive, 5, 1), storms);
}

TEST(Folds, OfTimeSplitGroupsThatSpanThePeriod) {
    Rows data = some_rows(100, 136);
    for (std::size_t i = 0; i < 100; ++i) data.times.push_back(static_cast<double>(i));
    const Folds without = make_folds(data.archive(), 5, 1);
    add_groups(data, 4, false);
    EXPECT_EQ(make_folds(data.archive(), 5, 1), without) << "blocks of time alone decide";
}

TEST(Folds, OfTimeAndFoldGroupSplitNeither) {
    core::Random random(126);
    int made = 0;
    for (int repeat = 0; repeat < 60; ++repeat) {
        Rows data = some_rows(300, 127);
        add_groups(data, 30, true);
        for (std::size_t i = 0; i < 300; ++i)  // groups follow one another and often overlap
            data.times.push_back(std::floor(static_cast<double>(i) + random.uniform(0, 12)));
        const std::string words = refusal([&] {
            const Folds fold = make_folds(with_fold_groups(data), 4, 1);
            expect_unsplit(fold, data.times);
            expect_unsplit(fold, data.codes);
            expect_contiguous(fold, data.times, 4);
            ++made;
        });
        if (words != "no refusal") {
            EXPECT_NE(words.find("without splitting a 'site'"), std::string::npos) << words;
        }
    }
    EXPECT_GT(made, 0);
    // Groups that all last from the first to the last time leave no cut.
    Rows data = some_rows(100, 128);
    add_groups(data, 4, false);
    for (std::size_t i = 0; i < 100; ++i) data.times.push_back(static_cast<double>(i));
    EXPECT_EQ(refusal([&] { make_folds(with_fold_groups(data), 5, 1); }),
              "column 't' allows a single block of time without splitting a 'site', which cannot be held out; use "
              "another column, or no --fold-group");
}

TEST(Folds, AsManyAsTimesOrGroupsArePossible) {
    Rows by_time = some_rows(12, 129);
    for (std::size_t i = 0; i < 12; ++i) by_time.times.push_back(i < 8 ? 0 : static_cast<double>(i / 2));
    EXPECT_EQ(sizes(make_folds(by_time.archive(), 3, 1), 3), (std::vector<std::size_t>{8, 2, 2}));
    Rows by_group = some_rows(12, 130);
    add_groups(by_group, 3, false);
    EXPECT_EQ(sizes(make_folds(by_group.archive(), 3, 1), 3), (std::vector<std::size_t>{4, 4, 4}));
}

TEST(Folds, ImpossibleOnesAreRefusedWithTheRule) {
    Rows data = some_rows(4, 131);
    EXPECT_EQ(refusal([&] { make_folds(data.archive(), 5, 1); }),
              "4 rows cannot make 5 folds; use more rows or fewer --folds");
    Rows grouped = some_rows(20, 132);
    add_groups(grouped, 3, false);
    EXPECT_EQ(refusal([&] { make_folds(grouped.archive(), 5, 1); }),
              "column 'site' has 3 groups, which cannot make 5 folds of whole groups; use --folds 3 or another column");
    Rows single = some_rows(20, 133);
    add_groups(single, 1, false);
    EXPECT_EQ(refusal([&] { make_folds(single.archive(), 5, 1); }),
              "column 'site' has a single group, which cannot be held out; use another column");
    Rows timed = some_rows(20, 134);
    timed.times.assign(20, 7.0);
    EXPECT_EQ(refusal([&] { make_folds(timed.archive(), 5, 1); }),
              "column 't' allows a single block of time, which cannot be held out; use another column");
    for (std::size_t i = 0; i < 20; ++i) timed.times[i] = static_cast<double>(i % 3);
    EXPECT_EQ(refusal([&] { make_folds(timed.archive(), 5, 1); }),
              "column 't' allows 3 blocks of time, which cannot make 5 folds; use --folds 3 or another column");
}

}  // namespace
}  // namespace accrue::fitting
