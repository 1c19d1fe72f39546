// Recalibrated Gaussians against numerical integration and their own definitions.
#include "accrue/shape.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "accrue/error.hpp"
#include "accrue/scores.hpp"
#include "core/random.hpp"

namespace accrue {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double normal_cdf(double z) {
    return std::erfc(-z / std::numbers::sqrt2) / 2;
}

// A skewed map with one very flat and one very steep piece.
Shape skewed() {
    return {{0.01, 0.2, 0.5, 0.51, 0.9}, {0.05, 0.4, 0.6, 0.9, 0.95}};
}

TEST(Shape, WithoutKnotsIsGaussian) {
    const Shape shape;
    for (const double z : {-9.0, -3.0, -0.5, 0.0, 1e-9, 0.7, 2.0, 8.0}) {
        EXPECT_DOUBLE_EQ(shape.cdf(z), normal_cdf(z));
        EXPECT_NEAR(shape.crps(z), crps(z, 1).value, 4e-15 * std::max(1.0, std::fabs(z)));
        EXPECT_NEAR(shape.normal_score(z), z, 1e-9);
    }
}

TEST(Shape, CdfRisesAndQuantileUndoesIt) {
    const Shape shape = skewed();
    double last = 0;
    for (double z = -8; z <= 5; z += 0.01) {
        const double p = shape.cdf(z);
        EXPECT_GT(p, last) << z;
        last = p;
        // Near 1 a double has few digits left of what lies beyond; the density there divides the rounding.
        EXPECT_NEAR(shape.quantile(p), z, 1e-15 / shape.pdf(z) + 1e-13) << z;
    }
    for (std::size_t k = 0; k < shape.predicted().size(); ++k) {
        // The cdf at the normal quantile of a knot is the knot's actual probability.
        const double z = Shape().quantile(shape.predicted()[k]);
        EXPECT_NEAR(shape.cdf(z), shape.actual()[k], 1e-14);
    }
}

TEST(Shape, NormalScoreGoesOnWherePhiUnderflows) {
    const Shape shape = skewed();
    for (const double sign : {-1.0, 1.0}) {
        // Across the change of formula, and on to where the probability is far below the smallest double.
        const double near = shape.normal_score(sign * 36.999);
        const double far = shape.normal_score(sign * 37.001);
        EXPECT_NEAR(far - near, sign * 0.002, 1e-5);
        EXPECT_NEAR(shape.normal_score(sign * 1e3), sign * 1e3, 0.01);
        EXPECT_DOUBLE_EQ(Shape().normal_score(sign * 50), sign * 50);
        EXPECT_EQ(shape.normal_score(sign * kInfinity), sign * kInfinity);
    }
}

TEST(Shape, PdfIsTheSlopeOfTheCdf) {
    const Shape shape = skewed();
    for (const double z : {-3.0, -1.5, -0.3, 0.01, 0.5, 2.5}) {
        const double h = 1e-5;
        EXPECT_NEAR(shape.pdf(z), (shape.cdf(z + h) - shape.cdf(z - h)) / (2 * h), 1e-8);
    }
}

TEST(Shape, CrpsIsItsIntegral) {
    const Shape shape = skewed();
    boost::math::quadrature::tanh_sinh<double> integrator;
    for (const double z : {-6.0, -2.0, -0.84, 0.0, 0.012, 0.3, 1.7, 5.0}) {
        // Piece by piece, because the integrand has kinks at the knots and a jump at z.
        std::vector<double> edges = {-40, z, 40};
        for (const double p : shape.predicted()) edges.push_back(Shape().quantile(p));
        std::sort(edges.begin(), edges.end());
        double integral = 0;
        for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
            if (edges[i + 1] <= edges[i]) continue;
            const bool above = (edges[i] + edges[i + 1]) / 2 > z;
            integral += integrator.integrate(
                [&](double u) {
                    const double p = above ? 1 - shape.cdf(u) : shape.cdf(u);
                    return p * p;
                },
                edges[i], edges[i + 1]);
        }
        EXPECT_NEAR(shape.crps(z), integral, 1e-12 * std::max(1.0, integral)) << z;
    }
}

TEST(Shape, OfUniformPitsIsNearlyTheIdentity) {
    std::vector<double> pits;
    for (int i = 0; i < 1000; ++i) pits.push_back((i + 0.5) / 1000);
    const Shape shape = Shape::of_pits(pits);
    EXPECT_LE(shape.predicted().size(), Shape::kMostKnots);
    for (std::size_t k = 0; k < shape.predicted().size(); ++k)
        EXPECT_NEAR(shape.predicted()[k], shape.actual()[k], 1e-12);
}

TEST(Shape, OfPitsMakesThemUniform) {
    core::Random random(1);
    for (const std::size_t n : {50U, 200U, 5000U}) {
        std::vector<double> pits(n);
        for (double& p : pits) p = std::pow(random.uniform(), 2);
        const Shape shape = Shape::of_pits(pits);
        double farthest = 0;
        std::sort(pits.begin(), pits.end());
        for (std::size_t i = 0; i < n; ++i) {
            const double z = Shape().quantile(pits[i]);
            farthest =
                std::max(farthest, std::fabs(shape.cdf(z) - (static_cast<double>(i) + 0.5) / static_cast<double>(n)));
        }
        // Up to 200 rows every row is a knot; beyond, a knot stands for half a percent.
        EXPECT_LE(farthest, n <= 200 ? 1e-9 : 0.006) << n;
    }
}

TEST(Shape, OfPitsBearsTiesEndsAndWeights) {
    EXPECT_TRUE(Shape::of_pits(std::vector<double>{0, 1, 1}).predicted().empty());
    const Shape one = Shape::of_pits(std::vector<double>{0.3});
    EXPECT_EQ(one.actual(), std::vector<double>{0.5});
    const Shape ties = Shape::of_pits(std::vector<double>{0.3, 0.3, 0.3, 0.6});
    EXPECT_EQ(ties.predicted(), (std::vector<double>{0.3, 0.6}));
    EXPECT_EQ(ties.actual(), (std::vector<double>{0.375, 0.875}));
    const Shape weighted = Shape::of_pits(std::vector<double>{0.6, 0.3, 0.9}, std::vector<double>{1, 3, 0});
    EXPECT_EQ(weighted.actual(), ties.actual());
    EXPECT_EQ(weighted.predicted(), ties.predicted());
}

TEST(Shape, RefusesWhatIsNoMap) {
    EXPECT_THROW(Shape({0.5}, {}), InputError);
    EXPECT_THROW(Shape({0.5, 0.5}, {0.2, 0.3}), InputError);
    EXPECT_THROW(Shape({0.4, 0.5}, {0.3, 0.3}), InputError);
    EXPECT_THROW(Shape({0.0}, {0.5}), InputError);
    EXPECT_THROW(Shape({0.5}, {1.0}), InputError);
    EXPECT_THROW(Shape({std::nan("")}, {0.5}), InputError);
    EXPECT_THROW(Shape().quantile(0), InputError);
}

}  // namespace
}  // namespace accrue
