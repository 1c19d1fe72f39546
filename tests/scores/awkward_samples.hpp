// Samples of t that are hard to rank, at sizes around the limits of src/scores/ranks.cpp: the vectorised sort, one
// bucket or two, one chunk or two, many of both.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace accrue::scores {

struct AwkwardSample {
    std::string name;
    std::vector<double> t;
    bool finite = true;  // so that sums over rows are, too
};

inline std::vector<std::size_t> awkward_sizes() {
    return {1, 2, 3, 64, 65, 1025, 2047, 2049, 4095, 4096, 4097, 6144, 16384, 16385, 40000, 100003};
}

inline std::vector<AwkwardSample> awkward_samples(std::size_t n) {
    core::Random random(n);
    std::vector<AwkwardSample> samples;
    const auto add = [&](const char* name, const std::function<double(std::size_t)>& t, bool finite = true) {
        AwkwardSample sample{name, std::vector<double>(n), finite};
        for (std::size_t i = 0; i < n; ++i) sample.t[i] = t(i);
        samples.push_back(std::move(sample));
    };
    const double infinity = std::numeric_limits<double>::infinity();
    const double least = std::numeric_limits<double>::denorm_min();
    add("normal", [&](auto) { return random.normal(); });
    add("all equal", [](auto) { return 0.25; });
    add("all zero, of both signs", [](std::size_t i) { return i % 2 == 0 ? 0.0 : -0.0; });
    add("two values", [&](auto) { return random.uniform() < 0.3 ? -0.5 : 0.7; });
    add("two neighbouring doubles", [&](auto) { return random.uniform() < 0.5 ? 1.0 : std::nextafter(1.0, 2.0); });
    add("a few values", [&](auto) { return std::round(2 * random.normal()) / 2; });
    add("Cauchy", [&](auto) { return std::tan(std::numbers::pi * (random.uniform() - 0.5)); });
    add("one of 1e300 among normal ones", [&](std::size_t i) { return i == n / 3 ? 1e300 : random.normal(); });
    add("up to 1e300 either way",
        [&](auto) { return (random.uniform() < 0.5 ? -1 : 1) * std::pow(10.0, 300 * random.uniform()); });
    add("within 1e-12 of one value", [&](auto) { return 0.7 + 1e-12 * random.uniform(); });
    add("denormal", [&](auto) { return least * std::round(100 * random.normal()); });
    add("one float for many doubles", [&](auto) { return 1 + 1e-9 * random.uniform(); });
    add("ascending", [&](std::size_t i) { return -3 + 6 * static_cast<double>(i) / static_cast<double>(n); });
    add("descending", [&](std::size_t i) { return 3 - 6 * static_cast<double>(i) / static_cast<double>(n); });
    add("zero and one infinitely often", [](std::size_t i) { return static_cast<double>(i % 2); });
    // The buckets are laid out from a sample of the rows: here that sample misleads.
    add("calm where the sample looks",
        [&](std::size_t i) { return n > 1024 && i % (n / 1024) == 0 ? 0.1 : 50 * random.normal(); });
    add(
        "infinities of both signs",
        [&](std::size_t i) { return i % 7 == 0    ? infinity
                                    : i % 11 == 0 ? -infinity
                                                  : random.normal(); }, false);
    add(
        "all infinite", [&](std::size_t i) { return i % 3 == 0 ? -infinity : infinity; }, false);
    return samples;
}

}  // namespace accrue::scores
