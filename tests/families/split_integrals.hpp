// Integrals of a forecast's own cdf, split wherever it may bend: what crps, mean and sd are compared with.
#pragma once

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <vector>

#include "accrue/family.hpp"
#include "families/normal.hpp"

namespace accrue::test {

struct SplitIntegrals {
    std::vector<double> crps, distance;  // of every u: the integral of squares, and E|U - u|
};

// `family` is one around `inner`, with `values` and `inner_values` of a row, and `knots` are where it bends, as normal
// scores of `inner`. By 15 nodes of Gauss and Legendre between each two edges, an eighth apart in scores of either
// family and in asinh(u): right to 1e-12.
inline SplitIntegrals split_integrals(const Family& family, Family::Further values, const Family& inner,
                                      Family::Further inner_values, const std::vector<double>& knots,
                                      const std::vector<double>& us) {
    constexpr double kFar = 13;  // squared probabilities beyond are below 1e-76
    constexpr double kStep = 0.125;
    const double low = family.of_normal_score(-kFar, values);
    const double high = family.of_normal_score(kFar, values);
    std::vector<double> edges = us;
    edges.insert(edges.end(), {low, high});
    const auto add = [&](double x) { edges.push_back(std::clamp(x, low, high)); };
    for (const double w : knots) add(inner.of_normal_score(w, inner_values));
    for (const double w : inner.jumps(inner_values)) add(inner.of_normal_score(w, inner_values));
    for (const double z : family.jumps(values)) add(family.of_normal_score(z, values));
    for (double a = -8; a <= 8; a += kStep) add(inner.of_normal_score(std::sinh(a), inner_values));
    for (double z = -kFar; z <= kFar; z += kStep) add(family.of_normal_score(z, values));
    for (double a = std::asinh(low); a < std::asinh(high); a += kStep) add(std::sinh(a));
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

    SplitIntegrals sums{std::vector<double>(us.size()), std::vector<double>(us.size())};
    for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
        const double from = edges[k];
        const double to = edges[k + 1];
        const auto integral = [&](double power, bool below) {
            if (to <= low) return below ? 0 : to - from;
            if (from >= high) return below ? to - from : 0;
            return boost::math::quadrature::gauss<double, 15>::integrate(
                [&](double x) { return std::pow(below ? family.cdf(x, values) : family.survival(x, values), power); },
                from, to);
        };
        const double squares[] = {integral(2, false), integral(2, true)};
        const double sides[] = {integral(1, false), integral(1, true)};
        for (std::size_t i = 0; i < us.size(); ++i) {
            const bool below = from < us[i];
            sums.crps[i] += squares[below];
            sums.distance[i] += sides[below];
        }
    }
    return sums;
}

// Mean and standard deviation by integrals over the normal scores of `family`, which has these jumps there. Out to
// where Phi underflows: tails that fall as a power have their variance far out.
struct SplitMoments {
    double mean, sd;
};
inline SplitMoments split_moments(const Family& family, Family::Further values, const Family& inner,
                                  Family::Further inner_values) {
    constexpr double kFar = 38;
    constexpr double kStep = 0.125;
    std::vector<double> edges = family.jumps(values);
    for (double z = -kFar; z <= kFar; z += kStep) edges.push_back(z);
    for (double a = -8; a <= 8; a += kStep)
        edges.push_back(family.normal_score(inner.of_normal_score(std::sinh(a), inner_values), values));
    std::erase_if(edges, [](double z) { return !(std::fabs(z) <= kFar); });
    std::sort(edges.begin(), edges.end());
    const auto expected = [&](auto value) {
        double sum = 0;
        for (std::size_t k = 0; k + 1 < edges.size(); ++k)
            sum += boost::math::quadrature::gauss<double, 15>::integrate(
                [&](double z) { return families::normal_pdf(z) * value(family.of_normal_score(z, values)); }, edges[k],
                edges[k + 1]);
        return sum;
    };
    const double mean = expected([](double u) { return u; });
    return {mean, std::sqrt(expected([&](double u) { return (u - mean) * (u - mean); }))};
}

}  // namespace accrue::test
