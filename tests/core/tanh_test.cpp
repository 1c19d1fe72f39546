#include "core/tanh.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/random.hpp"

namespace accrue::core {
namespace {

double relative_error(double x) {
    // 64 bits of precision: the reference is right to 1e-19.
    const long double exact = std::tanh(static_cast<long double>(x));
    return static_cast<double>(std::fabs((static_cast<long double>(vector_tanh(x)) - exact) / exact));
}

TEST(VectorTanh, KeepsItsBoundEverywhere) {
    Random random(120);
    double worst = 0;
    const auto look = [&](double x) { worst = std::max({worst, relative_error(x), relative_error(-x)}); };
    for (int i = 0; i < 500000; ++i) look(random.uniform(0, 25));
    for (int i = 0; i < 500000; ++i) look(random.uniform(0, 1));
    for (int i = 0; i < 200000; ++i) look(std::exp(random.uniform(-700, 700)));
    // On both sides of every place where the reduction changes its whole number.
    for (int k = 0; k <= 60; ++k) {
        const double x = (k + 0.5) * 0.34657359027997265471;
        for (const double y : {x, std::nextafter(x, 1000.0), std::nextafter(x, -1000.0)}) look(y);
    }
    for (const double x : {1e-300, 1e-17, 20.0, 1e300, std::numeric_limits<double>::infinity()}) look(x);
    RecordProperty("worst_error", std::to_string(worst * 1e16) + "e-16");
    EXPECT_LE(worst, kTanhError);
}

TEST(VectorTanh, IsZeroAtZeroAndOneFarOut) {
    EXPECT_EQ(vector_tanh(0.0), 0);
    EXPECT_EQ(vector_tanh(1e308), 1);
    EXPECT_EQ(vector_tanh(-1e308), -1);
    EXPECT_TRUE(std::isnan(vector_tanh(std::numeric_limits<double>::quiet_NaN())));
}

TEST(VectorTanh, OfAVectorIsThatOfItsNumbers) {
    using Pair [[gnu::vector_size(16)]] = double;
    Random random(121);
    for (int i = 0; i < 1000; ++i) {
        const Pair x{random.uniform(-25, 25), random.normal()};
        const Pair y = vector_tanh(x);
        ASSERT_EQ(y[0], vector_tanh(x[0])) << x[0];
        ASSERT_EQ(y[1], vector_tanh(x[1])) << x[1];
    }
}

}  // namespace
}  // namespace accrue::core
