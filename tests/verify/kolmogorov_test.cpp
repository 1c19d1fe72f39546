// The distribution of the largest distance between an empirical cdf and the diagonal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/verify.hpp"
#include "core/random.hpp"
#include "support/reference.hpp"

namespace accrue {
namespace {

double rounded(long double x) {
    return static_cast<double>(x);
}

TEST(Kolmogorov, CdfAndSurvivalAgreeWithTheTable) {
    double worst = 0;
    double worst_relative = 0;
    for (const support::KolmogorovRow& row : support::read_kolmogorov()) {
        SCOPED_TRACE(testing::Message() << "n " << row.n << ", d " << row.d);
        const auto n = static_cast<double>(row.n);
        const double cdf = kolmogorov_cdf(n, row.d);
        const double survival = kolmogorov_survival(n, row.d);
        EXPECT_NEAR(cdf, rounded(row.probability), kKolmogorovError);
        EXPECT_NEAR(survival, rounded(row.complement), kKolmogorovError);
        EXPECT_NEAR(survival, rounded(row.complement), kKolmogorovSurvivalError * rounded(row.complement));
        worst =
            std::max({worst, rounded(std::fabs(cdf - row.probability)), rounded(std::fabs(survival - row.complement))});
        if (row.complement > 0)
            worst_relative = std::max(worst_relative, rounded(std::fabs(survival / row.complement - 1)));
    }
    RecordProperty("worst_error", std::to_string(worst * 1e16) + "e-16");
    RecordProperty("worst_relative_error_of_survival", std::to_string(worst_relative * 1e12) + "e-12");
}

TEST(Kolmogorov, MediansAgreeWithTheTable) {
    // The root is searched to 40 bits, 1e-12.
    for (const support::KolmogorovMedian& row : support::read_kolmogorov_medians())
        EXPECT_NEAR(kolmogorov_quantile(static_cast<double>(row.n), 0.5), rounded(row.median),
                    2e-12 * rounded(row.median))
            << row.n;
}

TEST(Kolmogorov, KnownFormulasHoldForOneAndTwoRows) {
    for (double d = 0.01; d < 1; d += 0.01) {
        EXPECT_NEAR(kolmogorov_cdf(1, d), std::max(0.0, 2 * d - 1), 1e-15) << d;
        // Two rows: 2(2d - 1/2)^2 from 1/4 to 1/2, then 1 - 2(1 - d)^2.
        const double two = d <= 0.25 ? 0 : d <= 0.5 ? 2 * (2 * d - 0.5) * (2 * d - 0.5) : 1 - 2 * (1 - d) * (1 - d);
        EXPECT_NEAR(kolmogorov_cdf(2, d), two, 1e-15) << d;
    }
}

TEST(Kolmogorov, NothingBreaksWhereOneMethodHandsOverToTheNext) {
    // Around n*d = 14, around n*d^2 = 6.5 and around d = 1/2 the two sides come from different formulas.
    for (const double n : {30.0, 60.0, 141.0, 400.0, 3000.0, 100000.0})
        for (const double d : {14 / n, std::sqrt(6.5 / n), 0.5}) {
            if (d > 0.5) continue;
            const double below = d * (1 - 1e-9);
            const double above = d * (1 + 1e-9);
            SCOPED_TRACE(testing::Message() << "n " << n << ", d " << d);
            // Two evaluations; the distribution itself moves by less than 4e-9 of the survival times n*d^2.
            const double moved = 1e-8 * std::max(1.0, n * d * d);
            EXPECT_NEAR(kolmogorov_survival(n, above), kolmogorov_survival(n, below),
                        2 * kKolmogorovError + moved * kolmogorov_survival(n, below));
            EXPECT_NEAR(kolmogorov_cdf(n, above), kolmogorov_cdf(n, below),
                        2 * kKolmogorovError + moved * kolmogorov_survival(n, below) + 1e-7 * kolmogorov_cdf(n, below));
        }
}

TEST(Kolmogorov, CdfRisesAndIsTheComplementOfSurvival) {
    for (const double n : {1.0, 1.5, 2.0, 3.7, 20.0, 139.5, 140.0, 141.0, 5000.25, 1e7}) {
        double last = 0;
        double last_survival = 1;
        for (double z = 0.05; z < 6; z += 0.05) {
            const double d = std::min(1.0, z / std::sqrt(n));
            const double cdf = kolmogorov_cdf(n, d);
            const double survival = kolmogorov_survival(n, d);
            EXPECT_NEAR(cdf + survival, 1, 1e-15) << n << " " << d;
            EXPECT_GE(cdf, last - kKolmogorovError) << n << " " << d;
            EXPECT_LE(survival, last_survival * (1 + kKolmogorovSurvivalError) + 1e-300) << n << " " << d;
            last = cdf;
            last_survival = survival;
        }
        EXPECT_GT(last, 1 - 1e-9);
    }
}

TEST(Kolmogorov, ManyRowsApproachTheLimitLaw) {
    // K(z) = 1 - 2 sum (-1)^(k-1) exp(-2 k^2 z^2); the first correction is K'(z)/(6 sqrt n), and K' < 2.
    const double n = 1e7;
    for (const double z : {0.5, 0.8, 1.2, 2.0, 3.0}) {
        double limit = 1;
        for (int k = 1; k < 30; ++k) limit -= (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * z * z);
        EXPECT_NEAR(kolmogorov_cdf(n, z / std::sqrt(n)), limit, 2 / (6 * std::sqrt(n)));
    }
}

TEST(Kolmogorov, BetweenWholeNumbersTheValueLiesBetween) {
    for (const double whole : {1.0, 2.0, 5.0, 50.0, 139.0, 140.0, 1000.0})
        for (const double p : {0.1, 0.5, 0.9}) {
            const double low = kolmogorov_quantile(whole + 1, p);
            const double high = kolmogorov_quantile(whole, p);
            const double middle = kolmogorov_quantile(whole + 0.5, p);
            EXPECT_LT(low, middle);
            EXPECT_LT(middle, high);
            // Continuous: what weights that are equal but for rounding give.
            EXPECT_NEAR(kolmogorov_quantile(whole + 1e-11, p), high, 1e-10 * high);
            EXPECT_NEAR(kolmogorov_quantile(whole + 1 - 1e-11, p), low, 1e-10 * low);
        }
}

TEST(Kolmogorov, QuantileInvertsTheCdf) {
    for (const double n : {1.0, 3.0, 12.5, 100.0, 150.0, 12345.0})
        for (const double p : {1e-6, 0.05, 0.5, 0.9, 0.999})
            // 40 bits of d; the density of sqrt(n)*d is below 2.
            EXPECT_NEAR(kolmogorov_cdf(n, kolmogorov_quantile(n, p)), p, 1e-11 * std::max(1.0, std::sqrt(n)))
                << n << " " << p;
}

TEST(Kolmogorov, AgreesWithSimulation) {
    // 20,000 samples of 30 uniform numbers: the share below a distance has a standard deviation of at most 0.0036.
    // Five of them, at three distances: false alarm 2e-6.
    constexpr std::size_t kRuns = 20000;
    constexpr std::size_t kRows = 30;
    core::Random random(81);
    std::vector<double> p(kRows);
    std::vector<double> distances;
    for (std::size_t run = 0; run < kRuns; ++run) {
        for (double& x : p) x = random.uniform();
        std::sort(p.begin(), p.end());
        double d = 0;
        for (std::size_t i = 0; i < kRows; ++i)
            d = std::max({d, p[i] - static_cast<double>(i) / kRows, static_cast<double>(i + 1) / kRows - p[i]});
        distances.push_back(d);
    }
    for (const double d : {0.11, 0.15, 0.22}) {
        const auto below = std::count_if(distances.begin(), distances.end(), [&](double x) { return x <= d; });
        EXPECT_NEAR(static_cast<double>(below) / kRuns, kolmogorov_cdf(kRows, d), 5 * 0.0036);
    }
}

TEST(Kolmogorov, RefusesWhatMakesNoSense) {
    EXPECT_THROW(kolmogorov_cdf(0.5, 0.1), InputError);
    EXPECT_THROW(kolmogorov_survival(std::nan(""), 0.1), InputError);
    EXPECT_THROW(kolmogorov_quantile(10, 0), InputError);
    EXPECT_THROW(kolmogorov_quantile(10, 1), InputError);
    EXPECT_EQ(kolmogorov_cdf(10, -1), 0);
    EXPECT_EQ(kolmogorov_survival(10, 2), 0);
}

}  // namespace
}  // namespace accrue
