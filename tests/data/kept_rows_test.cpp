// Rows that are kept while a file passes.
#include "data/kept_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/random.hpp"

namespace accrue::data {
namespace {

using Numbers = std::vector<double>;

// Row i has the values i and -i and the code i modulo 1000, and comes in slabs of random length up to `longest`.
KeptRows keep(std::size_t rows, std::size_t most, std::uint64_t seed, std::size_t longest = 100) {
    KeptRows kept(2, 2, most, seed);
    core::Random random(rows + longest);
    for (std::size_t begin = 0; begin < rows;) {
        const std::size_t count = std::min(rows - begin, 1 + random.below(longest));
        Numbers values(count);
        std::iota(values.begin(), values.end(), static_cast<double>(begin));
        Numbers negative(count);
        std::vector<std::uint32_t> codes(count);
        for (std::size_t i = 0; i < count; ++i) {
            negative[i] = -values[i];
            codes[i] = static_cast<std::uint32_t>((begin + i) % 1000);
        }
        const std::vector<std::span<const double>> columns = {values, negative};
        std::vector<std::uint32_t> other = codes;
        for (std::uint32_t& code : other) code = 999 - code;
        const std::vector<std::span<const std::uint32_t>> both = {codes, other};
        kept.append(columns, both);
        begin += count;
    }
    kept.finish();
    return kept;
}

Numbers chosen(const KeptRows& kept) {
    const auto values = kept.column(0);
    return {values.begin(), values.end()};
}

TEST(KeptRows, AreAllWhereThereIsRoom) {
    for (const std::size_t rows : {1U, 99U, 5000U}) {
        const KeptRows kept = keep(rows, 5000, 1);
        EXPECT_EQ(kept.seen(), rows);
        Numbers expected(rows);
        std::iota(expected.begin(), expected.end(), 0.0);
        EXPECT_EQ(chosen(kept), expected);
    }
}

TEST(KeptRows, KnowWhichOfThoseSeenTheyAre) {
    for (const std::size_t most : {1U, 100U, 4999U, 5000U, 6000U}) {
        const KeptRows kept = keep(5000, most, 3);
        for (std::size_t row = 0; row < kept.rows(); row += 1 + kept.rows() / 50)
            EXPECT_EQ(static_cast<double>(kept.number(row)), kept.column(0)[row]) << row << " of " << most;
    }
}

TEST(KeptRows, AreExactlyAsManyAsWantedInTheOrderOfTheFile) {
    for (const std::size_t most : {1U, 2U, 100U, 4999U, 5000U, 60000U}) {
        SCOPED_TRACE(most);
        const KeptRows kept = keep(70000, most, 3, 9000);
        EXPECT_EQ(kept.seen(), 70000U);
        ASSERT_EQ(kept.rows(), most);
        const auto first = kept.column(0);
        const auto second = kept.column(1);
        ASSERT_EQ(first.size(), most);
        ASSERT_EQ(kept.codes(0).size(), most);
        for (std::size_t i = 0; i < most; ++i) {
            if (i > 0) {
                EXPECT_LT(first[i - 1], first[i]);
            }
            EXPECT_EQ(second[i], -first[i]);
            EXPECT_EQ(kept.codes(0)[i], static_cast<std::uint32_t>(first[i]) % 1000);
            EXPECT_EQ(kept.codes(1)[i], 999 - kept.codes(0)[i]);
        }
    }
}

TEST(KeptRows, DoNotDependOnHowTheFileIsCut) {
    const Numbers one = chosen(keep(50000, 3000, 5, 50000));
    for (const std::size_t longest : {1U, 17U, 1000U, 7000U}) EXPECT_EQ(chosen(keep(50000, 3000, 5, longest)), one);
}

TEST(KeptRows, DependOnTheSeed) {
    const Numbers one = chosen(keep(50000, 1000, 1));
    const Numbers two = chosen(keep(50000, 1000, 2));
    Numbers both;
    std::set_intersection(one.begin(), one.end(), two.begin(), two.end(), std::back_inserter(both));
    // Hypergeometric: 20 are expected in both, with a standard deviation of 4.4; 50 or more with probability below
    // 1e-8.
    EXPECT_LT(both.size(), 50U);
}

TEST(KeptRows, AreDrawnEvenlyFromTheWholeFile) {
    // 200 samples of 1,000 of 20,000 rows: each twentieth of the file has a share of 10,000 rows with a variance of
    // 200*1000*(1/20)(19/20)(19/20), a little less than binomial. chi^2 of 19 degrees exceeds 60 with probability 4e-6.
    constexpr std::size_t kParts = 20;
    Numbers counts(kParts, 0.0);
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        for (const double row : chosen(keep(20000, 1000, seed, 3000)))
            ++counts[static_cast<std::size_t>(row) / (20000 / kParts)];
    double chi = 0;
    for (const double count : counts) chi += (count - 10000) * (count - 10000) / 10000;
    EXPECT_LT(chi, 60);
    EXPECT_GT(chi, 3);  // too even would be as wrong: below 3 with probability 1e-5
}

}  // namespace
}  // namespace accrue::data
