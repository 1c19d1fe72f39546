#include "fields/polynomial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace accrue::fields {
namespace {

// T_l(u) = cos(l arccos u).
double plain_value(const std::vector<double>& parameters, double u) {
    double sum = 0;
    for (std::size_t l = 0; l < parameters.size(); ++l)
        sum += parameters[l] * std::cos(static_cast<double>(l) * std::acos(u));
    return sum;
}

double smallest_sampled(const std::vector<double>& parameters) {
    double least = INFINITY;
    for (int i = 0; i <= 4000; ++i)
        least = std::min(least, plain_value(parameters, std::cos(std::numbers::pi * i / 4000)));
    return least;
}

std::vector<double> random_polynomial(core::Random& random, std::size_t order) {
    std::vector<double> parameters(order + 1);
    for (double& p : parameters) p = random.normal();
    return parameters;
}

TEST(Polynomial, AdmissibleIsWhatDenseSamplingSees) {
    core::Random random(90);
    int yes = 0;
    int no = 0;
    for (std::size_t order = 0; order <= Polynomial::kHighestOrder; ++order)
        for (int i = 0; i < 60; ++i) {
            std::vector<double> parameters = random_polynomial(random, order);
            // Lift it so that its least value is anywhere from clearly negative to clearly positive, often very near
            // zero.
            const double wanted = (i % 2 == 0 ? 1 : -1) * std::pow(10.0, -random.uniform(0, 8));
            parameters[0] += wanted - smallest_sampled(parameters);
            const Polynomial polynomial({-2, 5}, order);
            const bool answer = polynomial.admissible(parameters);
            // The samples miss the true minimum by at most p'' h^2/8, about 1e-5 here; the bound is exp(-14), 8e-7.
            if (wanted < 0) {
                EXPECT_FALSE(answer) << "order " << order << ", least value " << wanted;
            } else if (wanted > 1e-4) {
                EXPECT_TRUE(answer) << "order " << order << ", least value " << wanted;
            }
            (answer ? yes : no) += 1;
        }
    EXPECT_GT(yes, 150);
    EXPECT_GT(no, 150);
}

TEST(Polynomial, ADipBetweenTheRowsIsSeen) {
    // 1 - T_10 touches zero inside the range; a little less and it is negative there, though positive at both ends.
    std::vector<double> parameters(11, 0.0);
    parameters[0] = 1;
    parameters[9] = 0.3;
    parameters[10] = -0.8;
    ASSERT_LT(smallest_sampled(parameters), 0);
    EXPECT_FALSE(Polynomial({0, 1}, 10).admissible(parameters));
    parameters[0] = 1.2;
    EXPECT_TRUE(Polynomial({0, 1}, 10).admissible(parameters));
}

TEST(Polynomial, WhatIsNoNumberIsNotAdmissible) {
    EXPECT_FALSE(Polynomial({0, 1}, 2).admissible(std::vector<double>{1, NAN, 0}));
    EXPECT_FALSE(Polynomial({0, 1}, 2).admissible(std::vector<double>{NAN, 0, 0}));
    EXPECT_FALSE(Polynomial({0, 1}, 0).admissible(std::vector<double>{0.0}));
    EXPECT_FALSE(Polynomial({0, 1}, 0).admissible(std::vector<double>{-1.0}));
    EXPECT_TRUE(Polynomial({0, 1}, 0).admissible(std::vector<double>{1.0}));
}

TEST(Polynomial, AgreesWithThePlainFormulaAndIsClampedOutside) {
    core::Random random(91);
    for (std::size_t order = 0; order <= Polynomial::kHighestOrder; ++order) {
        std::vector<double> parameters = random_polynomial(random, order);
        parameters[0] += 0.5 - smallest_sampled(parameters);
        const Polynomial polynomial({-2, 6}, order);
        const std::vector<double> x = {-2, -1, 0, 0.3, 2, 5.9, 6, 6.001, 1e300, -2.5, -1e300};
        std::vector<double> out(x.size());
        polynomial.values(parameters, {x.data(), x.size(), 1}, 0, x.size(), out.data(), 0);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double u = std::clamp((x[i] - 2) / 4, -1.0, 1.0);
            // arccos loses half of the digits at the ends, where cos(l arccos u) gets them back.
            EXPECT_NEAR(out[i], std::log(plain_value(parameters, u)), 1e-13) << "order " << order << ", x " << x[i];
        }
    }
}

TEST(Polynomial, OfAConstantInputIsItsValueInTheMiddle) {
    const Polynomial polynomial({0, 0}, 2);
    const std::vector<double> x = {0, 5};
    std::vector<double> out(2);
    polynomial.values(std::vector<double>{3, 1, 1}, {x.data(), 2, 1}, 0, 2, out.data(), 0);
    EXPECT_DOUBLE_EQ(out[0], std::log(2.0));  // 3 + T_1(0) + T_2(0)
    EXPECT_DOUBLE_EQ(out[1], std::log(2.0));
}

}  // namespace
}  // namespace accrue::fields
