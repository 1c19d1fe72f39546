// Every family against values of 50 digits (reference/families.py), the bounds of its parameters and u = 1e300
// included.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "accrue/family.hpp"
#include "support/reference.hpp"

namespace accrue {
namespace {

// Relative where a value is larger than its unit, since it has no more than its 16 digits.
void expect_near(double value, double expected, double unit, double tolerance, const char* what) {
    if (std::isnan(expected)) return;  // no double holds it
    EXPECT_NEAR(value, expected, tolerance * std::max(unit, std::fabs(expected))) << what;
}

TEST(FamilyTables, FunctionsAndSlopesAreRight) {
    std::size_t rows = 0;
    for (const support::FamilyRow& row : support::read_families()) {
        SCOPED_TRACE(testing::Message() << row.family << ", u = " << row.u << testing::PrintToString(row.further));
        const Family& own = *family(row.family);
        ASSERT_EQ(own.further().size(), row.further.size());
        const double sd = own.sd(row.further);
        // Of the scale, or where the parameters make it so, of the spread: 1e-12, which the quadratures reach too.
        constexpr double kRight = 1e-12;
        const auto& f = row.further;
        expect_near(own.cdf(row.u, f), row.cdf, 1, kRight, "cdf");
        // Tails keep their digits: z of them are lost to the square of the argument.
        const double far = std::isnan(row.normal_score) ? 0 : row.normal_score;
        const double digits = kRight * (1 + far * far / 100);
        if (row.cdf > 1e-290) expect_near(own.cdf(row.u, f) / row.cdf, 1, 1, digits, "cdf");
        if (row.survival > 1e-290) expect_near(own.survival(row.u, f) / row.survival, 1, 1, digits, "survival");
        expect_near(own.log_pdf(row.u, f), row.log_pdf, 1, kRight, "log pdf");
        expect_near(own.crps(row.u, f), row.crps, std::max(1.0, sd), kRight, "crps");
        expect_near(own.normal_score(row.u, f), row.normal_score, 1, kRight, "normal score");
        if (!std::isnan(row.normal_score))
            expect_near(own.normal_score_slope(row.u, f), row.score_slope, 1e-3, 1e-10, "its slope");
        std::vector<double> score(f.size()), crps(f.size()), log_pdf(f.size());
        own.further_slopes(row.u, f, {score, crps, log_pdf});
        for (std::size_t k = 0; k < f.size(); ++k) {
            expect_near(score[k], row.score_slopes[k], 1, 1e-10, "score by a parameter");
            expect_near(crps[k], row.crps_slopes[k], std::max(1.0, sd), 1e-10, "crps by a parameter");
            expect_near(log_pdf[k], row.log_pdf_slopes[k], 1, 1e-10, "log pdf by a parameter");
        }
        ++rows;
    }
    EXPECT_GT(rows, 250U);
}

TEST(FamilyTables, MomentsAreRight) {
    for (const support::FamilyMoments& row : support::read_family_moments()) {
        SCOPED_TRACE(testing::Message() << row.family << testing::PrintToString(row.further));
        const Family& own = *family(row.family);
        EXPECT_NEAR(own.sd(row.further), row.sd, 1e-12 * row.sd);
        EXPECT_NEAR(own.mean(row.further), row.mean, 1e-12 * row.sd);
    }
}

}  // namespace
}  // namespace accrue
