#include "core/log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace accrue::core {
namespace {

TEST(VectorLog, KeepsItsBoundOverItsDomain) {
    Random random(112);
    double worst = 0;
    const auto look = [&](double x) {
        // 64 bits of precision: the reference is right to 1e-19.
        const long double exact = std::log(static_cast<long double>(x));
        const long double error = std::fabs(static_cast<long double>(vector_log(x)) - exact);
        worst = std::max(worst, static_cast<double>(error / (1 + std::fabs(exact))));
    };
    for (int i = 0; i < 500000; ++i) look(std::exp(random.uniform(-700, 700)));
    for (int i = 0; i < 500000; ++i) look(random.uniform(0.4, 3));
    // On both sides of every place where the exponent changes.
    for (int k = -1021; k <= 1023; ++k)
        for (const double m : {std::sqrt(0.5), 1.0})
            for (const double to : {0.0, 1e308}) {
                look(std::ldexp(m, k));
                look(std::nextafter(std::ldexp(m, k), to));
            }
    for (const double x : {std::numeric_limits<double>::max(), 0x1p-1021}) look(x);
    RecordProperty("worst_error", std::to_string(worst * 1e16) + "e-16");
    EXPECT_LE(worst, kLogError);
}

TEST(VectorLog, IsExactAtOne) {
    EXPECT_EQ(vector_log(1.0), 0);
}

}  // namespace
}  // namespace accrue::core
