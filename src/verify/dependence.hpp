// What rows that err together are worth: how much more their means vary than those of as many independent rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "accrue/archive.hpp"
#include "accrue/verify.hpp"

namespace accrue::verification {

// Normal scores of the probabilities at which the curve is looked at: 10%, 25%, 50%, 75% and 90%.
constexpr std::array kCurveAt = {-1.2815515655446004, -0.6744897501960817, 0.0, 0.6744897501960817, 1.2815515655446004};

// Normal scores of rows: values, or values over scales.
struct NormalScores {
    std::span<const double> values, scales = {};

    std::size_t size() const { return values.size(); }
    // Beyond this a PIT is 0 or 1 in doubles.
    static constexpr double kFarthest = 38;
    double operator[](std::size_t row) const;  // NaN where it is not known
};

// Design effects: the variance of a mean of clustered rows over that of independent ones, at least 1. Of the normal
// scores z, of their squares, and of the curve of the reliability diagram.
struct DesignEffects {
    double mean = 1, spread = 1, curve = 1;

    bool any() const { return mean > 1 || spread > 1 || curve > 1; }
    void raise_to(const DesignEffects& other);
};

// Rows of one cluster may err together, those of two do not. From the sums over clusters, which vary more than those of
// independent rows where rows of one cluster have something in common.
DesignEffects design_effects(const NormalScores& scores, std::span<const double> weights,
                             std::span<const std::uint32_t> clusters, std::size_t cluster_count);

// The correlation from each row to the next, and what it tells.
struct Neighbours {
    double of_scores = 0, of_squares = 0;
    bool err_together = false;  // by more than chance, and enough to matter
};
// `order` are rows; NaN scores must not be among them.
Neighbours neighbours_in(const NormalScores& scores, std::span<const std::uint32_t> order);

// Rows whose scores are known, in the order of times, or as they come where there are none.
std::vector<std::uint32_t> rows_in_order(const NormalScores& scores, std::span<const double> times);

// Whether rows are sorted by what was observed, or by their errors: neighbours are then alike by the sorting, and not
// because they err together. Rows with times have an order of their own.
bool in_order_of_size(const Archive& rows);

// Blocks of neighbours that are long beside what they have in common: a number for every row; how many there are.
std::size_t neighbour_blocks(std::span<const std::uint32_t> order, std::vector<std::uint32_t>& blocks);

// By blocks, and by the correlation from row to row where that says more.
DesignEffects design_effects(const NormalScores& scores, std::span<const double> weights,
                             std::span<const std::uint32_t> order, const Neighbours& neighbours);

// What rows are worth, and why.
struct Evidence {
    DesignEffects effects = {};
    Dependence dependence = Dependence::none;
    double neighbours = std::numeric_limits<double>::quiet_NaN();

    void tell(Verification& figures, std::span<const double> weights) const;  // which know how many rows they have
};

// By groups and, where rows are ordered, by neighbours. `groups` and `times` are those of these rows.
Evidence evidence_of(const NormalScores& scores, std::span<const double> weights, const Grouping& groups, bool ordered,
                     std::span<const double> times);

}  // namespace accrue::verification
