#include "scores/gauss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"

namespace accrue::scores {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Everywhere that the kernel could go wrong: a dense grid beyond both ends of the table, the points half-way between
// table points with their neighbours, tiny numbers, the table's end, numbers at random.
std::vector<double> dense_grid() {
    std::vector<double> grid;
    const auto both_signs = [&](double t) {
        grid.push_back(t);
        grid.push_back(-t);
    };
    for (int i = 0; i <= 70000; ++i) both_signs(i * 1e-4);
    for (int i = 0; i <= 128 * 7; ++i) {
        const double between = i / 128.0;
        both_signs(between);
        both_signs(std::nextafter(between, 10.0));
        both_signs(std::nextafter(between, -10.0));
    }
    for (int power = -320; power <= 308; ++power) both_signs(std::pow(10.0, power));
    for (const double t : {kGridEnd, 6.6, 27.0, 1e9, std::numeric_limits<double>::max(), kInfinity}) both_signs(t);
    core::Random random(21);
    for (int i = 0; i < 100000; ++i) grid.push_back(random.uniform(-7, 7));
    return grid;
}

// The worst absolute error of both functions over the grid.
double worst_error(const std::vector<double>& grid, const std::vector<double>& erf, const std::vector<double>& gauss) {
    double worst = 0;
    for (std::size_t i = 0; i < grid.size(); ++i) {
        const long double t = grid[i];
        const auto erf_error = static_cast<double>(std::fabs(erf[i] - std::erf(t)));
        const auto gauss_error = static_cast<double>(std::fabs(gauss[i] - std::exp(-t * t)));
        EXPECT_LE(erf_error, kErfGaussError) << "erf at " << grid[i];
        EXPECT_LE(gauss_error, kErfGaussError) << "exp(-t^2) at " << grid[i];
        worst = std::max({worst, erf_error, gauss_error});
    }
    return worst;
}

TEST(Gauss, TheLibrarysKernelKeepsItsStatedError) {
    const std::vector<double> grid = dense_grid();
    std::vector<double> erf(grid.size());
    std::vector<double> gauss(grid.size());
    erf_gauss_block(grid.size(), grid.data(), erf.data(), gauss.data());
    const double worst = worst_error(grid, erf, gauss);
    RecordProperty("worst_error", std::to_string(worst * 1e16) + "e-16");
    // A stated bound that is far from the truth would be as useless as a wrong one.
    EXPECT_GT(worst, kErfGaussError / 4);
}

TEST(Gauss, TheKernelCompiledHereKeepsItsStatedError) {
    const std::vector<double> grid = dense_grid();
    std::vector<double> erf;
    std::vector<double> gauss;
    for (const double t : grid) {
        const ErfGauss g = erf_gauss(t);
        erf.push_back(g.erf);
        gauss.push_back(g.gauss);
    }
    worst_error(grid, erf, gauss);
}

TEST(Gauss, ErfKeepsItsRelativeAccuracyAtZero) {
    for (double t = 1.0 / 128; t > 1e-300; t *= 0.7) {
        const long double exact = std::erf(static_cast<long double>(t));
        // Four roundings: the constant, the series' two products, the result.
        EXPECT_LE(std::fabs(erf_gauss(t).erf - exact), 4 * 1.2e-16L * exact) << t;
        EXPECT_EQ(erf_gauss(-t).erf, -erf_gauss(t).erf);
    }
    EXPECT_EQ(erf_gauss(0.0).erf, 0);
    EXPECT_EQ(erf_gauss(0.0).gauss, 1);
}

TEST(Gauss, InfinityAndNanGiveTheLimits) {
    for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(erf_gauss(sign * kInfinity).erf, sign);
        EXPECT_EQ(erf_gauss(sign * kInfinity).gauss, 0);
        const ErfGauss nan = erf_gauss(std::copysign(std::numeric_limits<double>::quiet_NaN(), sign));
        EXPECT_EQ(nan.erf, sign);
        EXPECT_EQ(nan.gauss, 0);
    }
}

}  // namespace
}  // namespace accrue::scores
