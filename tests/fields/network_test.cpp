#include "fields/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fields/rows.hpp"

namespace accrue::fields {
namespace {

// The network as method and header describe it, one row at a time.
double plain_network(const std::vector<double>& parameters, const std::vector<double>& x) {
    auto next = parameters.begin();
    std::vector<std::vector<double>> first_weights(50, std::vector<double>(x.size()));
    for (auto& row : first_weights)
        for (double& w : row) w = *next++;
    std::vector<double> first(50);
    for (std::size_t u = 0; u < 50; ++u) {
        double sum = *next++;
        for (std::size_t k = 0; k < x.size(); ++k) sum += first_weights[u][k] * x[k];
        first[u] = std::max(sum, 0.0);
    }
    std::vector<std::vector<double>> second_weights(10, std::vector<double>(50));
    for (auto& row : second_weights)
        for (double& w : row) w = *next++;
    std::vector<double> second(10);
    for (std::size_t u = 0; u < 10; ++u) {
        double sum = *next++;
        for (std::size_t k = 0; k < 50; ++k) sum += second_weights[u][k] * first[k];
        second[u] = std::clamp(sum, -1.0, 1.0);
    }
    double sum = 0;
    for (std::size_t u = 0; u < 10; ++u) sum += *next++ * second[u];
    sum += *next++;
    EXPECT_EQ(next, parameters.end());
    return sum;
}

TEST(Network, AgreesWithThePlainFormula) {
    for (const std::size_t inputs : {1, 2, 5, 13})
        for (const double scale : {1.0, 100.0}) {  // 100: most second-layer units are clipped
            SCOPED_TRACE(testing::Message() << inputs << " inputs, scale " << scale);
            const Network network(inputs);
            EXPECT_EQ(network.parameters(), 50 * inputs + 50 + 500 + 10 + 10 + 1);
            const std::vector<double> parameters = some_parameters(network, 80 + inputs);
            const TestRows rows(300, inputs, 81, 0, scale);
            std::vector<double> out(300);
            network.values(parameters, rows.columns(), 0, 300, out.data(), 0);
            for (std::size_t i = 0; i < 300; ++i) {
                std::vector<double> x;
                for (std::size_t k = 0; k < inputs; ++k) x.push_back(rows.at(k, i));
                // Sums of 50 terms of about 1 before the clip, in another order or with fused products.
                ASSERT_NEAR(out[i], plain_network(parameters, x), 1e-13 * scale) << i;
            }
        }
}

TEST(Network, RoughlyIsTheSameInSinglePrecision) {
    for (const std::size_t inputs : {1, 5, 13}) {
        SCOPED_TRACE(testing::Message() << inputs << " inputs");
        const Network network(inputs);
        const auto rough = network.rough();
        const std::vector<double> parameters = some_parameters(network, 80 + inputs);
        constexpr std::size_t kRows = 1000;  // not a multiple of a block
        const TestRows rows(kRows, inputs, 81, 0, 1);
        std::vector<double> full_out(kRows);
        std::vector<double> rough_out(kRows);
        network.values(parameters, rows.columns(), 0, kRows, full_out.data(), 0);
        rough->values(parameters, rows.columns(), 0, kRows, rough_out.data(), 0);
        EXPECT_NE(full_out, rough_out);
        // Sums of 50 terms of about 1, each rounded to 6e-8 of itself, through two layers.
        for (std::size_t i = 0; i < kRows; ++i) ASSERT_NEAR(full_out[i], rough_out[i], 2e-5) << i;

        std::vector<double> full_gradient(network.parameters());
        std::vector<double> rough_gradient(network.parameters());
        const std::vector<double> slopes(kRows, 1.0 / kRows);
        network.add_gradient(parameters, rows.columns(), 0, kRows, slopes.data(), 0, full_gradient.data());
        rough->add_gradient(parameters, rows.columns(), 0, kRows, slopes.data(), 0, rough_gradient.data());
        double largest = 0;
        for (const double g : full_gradient) largest = std::max(largest, std::fabs(g));
        // A row whose unit is at its kink to seven digits may fall on the other side, one row in 1,000.
        for (std::size_t p = 0; p < full_gradient.size(); ++p)
            ASSERT_NEAR(full_gradient[p], rough_gradient[p], 2e-3 * largest) << p;
    }
}

TEST(Network, IsBoundedByItsOutputWeights) {
    const Network network(2);
    const std::vector<double> parameters = some_parameters(network, 82);
    double bound = std::fabs(parameters.back());
    for (std::size_t u = 0; u < 10; ++u) bound += std::fabs(parameters[parameters.size() - 2 - u]);
    const TestRows rows(500, 2, 83, 0, 1e9);
    std::vector<double> out(500);
    network.values(parameters, rows.columns(), 0, 500, out.data(), 0);
    for (const double value : out) EXPECT_LE(std::fabs(value), bound * (1 + 1e-15));
}

TEST(Network, StartsDifferAndRepeat) {
    const Network network(3);
    const auto start = [&](std::uint64_t stream) {
        core::Random random(1, stream);
        return network.start(random, std::vector<double>{0});
    };
    EXPECT_EQ(start(4), start(4));
    EXPECT_NE(start(4), start(5));
}

}  // namespace
}  // namespace accrue::fields
