// What rows that err together share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "accrue/archive.hpp"

namespace accrue::fitting {

// What rows that err together share: their groups, or blocks of time. Neither: rows are independent.
struct Dependence {
    static constexpr std::size_t kTimeBlocks = 50;  // that count as independent of each other

    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
    Grouping groups;

    explicit Dependence(const Archive& archive) : groups(archive.groups) {
        const std::size_t rows = archive.times.size();
        if (!groups.codes.empty() || archive.times.empty() || rows < 2 * kTimeBlocks) return;
        std::vector<std::size_t> order(rows);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return archive.times[a] < archive.times[b]; });
        codes.resize(rows);
        for (std::size_t at = 0; at < rows; ++at)
            codes[order[at]] = static_cast<std::uint32_t>(at * kTimeBlocks / rows);
        labels.resize(kTimeBlocks);
        groups = {codes, labels};
    }
    Dependence(const Dependence&) = delete;
    Dependence& operator=(const Dependence&) = delete;
};

inline double weighted_mean(std::span<const double> values, std::span<const double> weights) {
    double sum = 0;
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double weight = weights.empty() ? 1 : weights[i];
        sum += weight * values[i];
        total += weight;
    }
    return sum / total;
}

}  // namespace accrue::fitting
