// Random forecasts for properties that hold for all of them: the same for the same number, every hard kind among them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "accrue/verify.hpp"
#include "core/random.hpp"

namespace accrue::support {

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Rows of a forecast, with a weight for each (or none at all) and a code for each.
struct Case {
    std::string name;
    std::vector<double> errors, sigmas, weights;
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;

    std::size_t rows() const { return errors.size(); }
    double weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }
    Grouping grouping() const { return {codes, labels}; }
};

// The rows with these numbers, in this order.
inline Case picked(const Case& from, std::span<const std::size_t> rows) {
    Case to{from.name, {}, {}, {}, {}, from.labels};
    for (const std::size_t i : rows) {
        to.errors.push_back(from.errors[i]);
        to.sigmas.push_back(from.sigmas[i]);
        if (!from.weights.empty()) to.weights.push_back(from.weights[i]);
        to.codes.push_back(from.codes[i]);
    }
    return to;
}

inline Case shuffled(const Case& from, core::Random& random) {
    std::vector<std::size_t> order(from.rows());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    random.shuffle(std::span(order));
    return picked(from, order);
}

// Errors and sigmas times a factor, as a change of the unit makes them.
inline Case in_unit(Case c, double factor) {
    for (double& e : c.errors) e *= factor;
    for (double& s : c.sigmas) s *= factor;
    return c;
}

enum class Weights { none, any, whole };
// `common` leaves out units at the ends of the doubles.
enum class Units { any, common };

// Kinds of z, of sigma, of weights and of the unit are drawn independently; every sixth case has one or two rows.
// Numbers are such that no product which a score needs leaves the normal doubles: |z| is 0 or from 1e-3 to 1e6 or so,
// and sigmas are within a factor of 1e5 of the unit.
inline Case random_case(std::uint64_t number, Weights weights, Units units = Units::any) {
    core::Random random(number, 17);
    static constexpr std::array<std::size_t, 12> kRows = {1, 2, 3, 5, 8, 20, 50, 64, 65, 130, 300, 1500};
    // Beyond a block of rows in few cases: they take long.
    const std::size_t most = number % (4 * kRows.size()) == kRows.size() - 1 ? kRows.back() : 200;
    const std::size_t n = std::min(kRows[number % kRows.size()], most);
    const auto pick = [&](auto... names) {
        const std::array<const char*, sizeof...(names)> all = {names...};
        return std::string(all[random.below(all.size())]);
    };
    const std::string errors = pick("normal", "biased", "tied", "half zero", "all zero", "equal", "heavy", "small");
    const std::string sigmas = pick("spread", "constant", "wide", "two values");
    const std::string unit = units == Units::any ? pick("1", "1", "1e-300", "1e150", "0.1") : pick("1", "0.1", "1000");
    std::string kind = "none";
    if (weights == Weights::any) kind = pick("even", "spread", "some zero", "extreme", "one for all");
    if (weights == Weights::whole) kind = "whole";
    const double size = std::stod(unit);

    Case c{fmt::format("case {}: {} rows, errors {}, sigmas {}, weights {}, unit {}", number, n, errors, sigmas, kind,
                       unit),
           {},
           {},
           {},
           {},
           {"a", "b", "c", "without rows"}};
    const auto normal = [&] {
        const double z = random.normal();
        return std::copysign(std::max(1e-3, std::fabs(z)), z);
    };
    const double constant = normal();
    for (std::size_t i = 0; i < n; ++i) {
        const double z = errors == "normal"      ? normal()
                         : errors == "biased"    ? 2 + normal()
                         : errors == "tied"      ? std::round(2 * normal()) / 2
                         : errors == "half zero" ? (random.uniform() < 0.5 ? 0.0 : normal())
                         : errors == "all zero"  ? 0.0
                         : errors == "equal"     ? constant
                         : errors == "heavy"     ? normal() * (random.uniform() < 0.1 ? 1e6 : 1)
                                                 : normal() * 1e-3;
        const double s = sigmas == "spread"     ? std::exp(0.6 * random.normal())
                         : sigmas == "constant" ? 1.0
                         : sigmas == "wide"     ? std::pow(10.0, random.uniform(-5, 5))
                                                : (random.uniform() < 0.5 ? 0.5 : 2.0);
        // Multiplied in this order, so that equal z stay equal wherever sigma is a power of two.
        c.sigmas.push_back(s * size);
        c.errors.push_back(z * s * size);
        if (kind == "even") c.weights.push_back(0.3);
        if (kind == "spread") c.weights.push_back(std::exp(random.normal()));
        if (kind == "some zero") c.weights.push_back(random.uniform() < 0.4 ? 0.0 : random.uniform());
        // From 1 on: with errors of 1e-300 the product would lose digits.
        if (kind == "extreme") c.weights.push_back(std::pow(10.0, random.uniform(0, 18)));
        if (kind == "one for all") c.weights.push_back(i == n / 2 ? 1e18 : 1);
        if (kind == "whole") c.weights.push_back(static_cast<double>(random.below(4)));
        c.codes.push_back(static_cast<std::uint32_t>(random.below(3)));
    }
    // Some weight there must be.
    if (kind == "some zero" || kind == "whole") c.weights[n / 2] = 2;
    return c;
}

}  // namespace accrue::support
