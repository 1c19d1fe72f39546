#include "core/exp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace accrue::core {
namespace {

double relative_error(double x) {
    // 64 bits of precision: the reference is right to 1e-19.
    const long double exact = std::exp(static_cast<long double>(x));
    return static_cast<double>(std::fabs((static_cast<long double>(vector_exp(x)) - exact) / exact));
}

TEST(VectorExp, KeepsItsBoundOverItsDomain) {
    Random random(110);
    double worst = 0;
    const auto look = [&](double x) { worst = std::max(worst, relative_error(x)); };
    for (int i = 0; i < 1000000; ++i) look(random.uniform(-700, 700));
    for (int i = 0; i < 1000000; ++i) look(random.uniform(-14, 8));  // where log sigma lies
    // On both sides of every place where the reduction changes its whole number.
    for (int k = -1009; k <= 1009; ++k) {
        const double x = (k + 0.5) * 0.69314718055994530942;
        for (const double y : {x, std::nextafter(x, 1000.0), std::nextafter(x, -1000.0)}) look(y);
    }
    for (const double x : {-700.0, 700.0, 1e-300, -1e-300, 1e-17, -1e-17, 5e-324}) look(x);
    RecordProperty("worst_error", std::to_string(worst * 1e16) + "e-16");
    EXPECT_LE(worst, kExpError);
}

TEST(VectorExp, IsExactAtZero) {
    EXPECT_EQ(vector_exp(0.0), 1);
    EXPECT_EQ(vector_exp(-0.0), 1);
}

TEST(VectorExp, OfALoopIsThatOfARow) {
    Random random(111);
    std::vector<double> x(1003);
    for (double& value : x) value = random.uniform(-14, 8);
    std::vector<double> all(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) all[i] = vector_exp(x[i]);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const volatile double own = x[i];
        ASSERT_EQ(all[i], vector_exp(own)) << x[i];
    }
}

}  // namespace
}  // namespace accrue::core
