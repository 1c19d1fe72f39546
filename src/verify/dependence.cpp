#include "verify/dependence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "accrue/scores.hpp"

namespace accrue::verification {

namespace {

constexpr std::size_t kMinRows = 100;   // fewer do not show what neighbours have in common
constexpr double kMinNeighbours = 0.1;  // a correlation that matters
constexpr double kChance = 4;           // standard errors
constexpr std::size_t kMaxBlocks = 100;
constexpr std::size_t kMinBlocks = 10;
constexpr std::size_t kRowsOfBlock = 20;

constexpr std::size_t kFigures = 2 + kCurveAt.size();  // of a row: z, its square, and where on the curve it is
using RowFigures = std::array<double, kFigures>;

RowFigures figures_of(double z) {
    RowFigures own{z, z * z};
    for (std::size_t k = 0; k < kCurveAt.size(); ++k) own[2 + k] = z <= kCurveAt[k] ? 1 : 0;
    return own;
}

}  // namespace

double NormalScores::operator[](std::size_t row) const {
    const double z = scales.empty() ? values[row] : values[row] / scales[row];
    return std::isnan(z) ? z : std::clamp(z, -kFarthest, kFarthest);
}

void DesignEffects::raise_to(const DesignEffects& other) {
    mean = std::max(mean, other.mean);
    spread = std::max(spread, other.spread);
    curve = std::max(curve, other.curve);
}

DesignEffects design_effects(const NormalScores& scores, std::span<const double> weights,
                             std::span<const std::uint32_t> clusters, std::size_t cluster_count) {
    RowFigures means{};
    double total = 0;
    double rows = 0;
    const auto for_rows = [&](auto&& work) {
        for (std::size_t i = 0; i < scores.size(); ++i)
            if (const double z = scores[i], w = weights.empty() ? 1 : weights[i]; !std::isnan(z) && w > 0)
                work(i, figures_of(z), w);
    };
    for_rows([&](std::size_t, const RowFigures& own, double w) {
        for (std::size_t k = 0; k < kFigures; ++k) means[k] += w * own[k];
        total += w;
        rows += 1;
    });
    if (rows < 2) return {};
    for (double& mean : means) mean /= total;
    const double unit = rows / total;  // only ratios of weights matter, and squares of tiny ones are none
    std::vector<RowFigures> sums(cluster_count, RowFigures{});
    std::vector<std::uint8_t> used(cluster_count, 0);
    RowFigures independent{};
    for_rows([&](std::size_t i, const RowFigures& own, double w) {
        used[clusters[i]] = 1;
        for (std::size_t k = 0; k < kFigures; ++k) {
            const double d = w * unit * (own[k] - means[k]);
            sums[clusters[i]][k] += d;
            independent[k] += d * d;
        }
    });
    const auto count = static_cast<double>(std::count(used.begin(), used.end(), 1));
    if (count < 2) return {};
    RowFigures clustered{};
    for (const RowFigures& own : sums)
        for (std::size_t k = 0; k < kFigures; ++k) clustered[k] += own[k] * own[k];
    // Their mean takes a degree of freedom from clusters as from rows.
    const double freedom = count / (count - 1) * ((rows - 1) / rows);
    const auto effect = [&](std::size_t from, std::size_t to) {
        constexpr double kRounding = 1e-20;  // of the square of a mean: rows that are all alike
        constexpr double kSteps = 1U << 30U;
        double of_clusters = 0;
        double of_rows = 0;
        double alike = 0;
        for (std::size_t k = from; k < to; ++k) {
            of_clusters += clustered[k];
            of_rows += independent[k];
            alike += rows * means[k] * means[k];
        }
        if (!(of_rows > kRounding * alike)) return 1.0;
        // In steps, so that it does not depend on the order of the rows.
        return std::nearbyint(kSteps * std::clamp(freedom * of_clusters / of_rows, 1.0, rows)) / kSteps;
    };
    return {effect(0, 1), effect(1, 2), effect(2, kFigures)};
}

Neighbours neighbours_in(const NormalScores& scores, std::span<const std::uint32_t> order) {
    Neighbours result;
    if (order.size() < kMinRows) return result;
    const auto count = static_cast<double>(order.size());
    double mean = 0;
    double square = 0;
    bool rises = true;
    bool falls = true;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const double z = scores[order[k]];
        mean += z;
        square += z * z;
        if (k == 0) continue;
        rises = rises && z >= scores[order[k - 1]];
        falls = falls && z <= scores[order[k - 1]];
    }
    if (rises || falls) return result;  // sorted by the very scores
    mean /= count;
    square /= count;
    double variance = 0, product = 0, square_variance = 0, square_product = 0;
    double last = 0, last_square = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        const double z = scores[order[k]];
        const double here = z - mean;
        const double here_square = z * z - square;
        variance += here * here;
        square_variance += here_square * here_square;
        if (k > 0) {
            product += here * last;
            square_product += here_square * last_square;
        }
        last = here;
        last_square = here_square;
    }
    if (variance > 0) result.of_scores = product / variance;
    if (square_variance > 0) result.of_squares = square_product / square_variance;
    const double least = std::max(kMinNeighbours, kChance / std::sqrt(count));
    result.err_together =
        (result.of_scores > least && result.of_scores < 1) || (result.of_squares > least && result.of_squares < 1);
    return result;
}

std::vector<std::uint32_t> rows_in_order(const NormalScores& scores, std::span<const double> times) {
    std::vector<std::uint32_t> order;
    order.reserve(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (!std::isnan(scores[i])) order.push_back(static_cast<std::uint32_t>(i));
    if (!times.empty())
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return times[a] < times[b]; });
    return order;
}

bool in_order_of_size(const Archive& rows) {
    if (!rows.times.empty()) return false;
    const auto is_sorted = [](std::size_t count, auto value) {
        bool rises = true;
        bool falls = true;
        for (std::size_t i = 1; i < count && (rises || falls); ++i) {
            rises = rises && value(i) >= value(i - 1);
            falls = falls && value(i) <= value(i - 1);
        }
        return rises || falls;
    };
    if (!rows.errors.empty() && is_sorted(rows.errors.size(), [&](std::size_t i) { return rows.errors[i]; }))
        return true;
    if (!rows.observation.empty())
        return is_sorted(rows.observation.size(), [&](std::size_t i) { return rows.observation[i]; });
    return !rows.prediction.empty() && is_sorted(std::min(rows.prediction.size(), rows.errors.size()),
                                                 [&](std::size_t i) { return rows.prediction[i] + rows.errors[i]; });
}

std::size_t neighbour_blocks(std::span<const std::uint32_t> order, std::vector<std::uint32_t>& blocks) {
    const std::size_t count = std::clamp(order.size() / kRowsOfBlock, kMinBlocks, kMaxBlocks);
    for (std::size_t k = 0; k < order.size(); ++k)
        blocks[order[k]] = static_cast<std::uint32_t>(k * count / order.size());
    return count;
}

DesignEffects design_effects(const NormalScores& scores, std::span<const double> weights,
                             std::span<const std::uint32_t> order, const Neighbours& neighbours) {
    if (!neighbours.err_together) return {};
    std::vector<std::uint32_t> blocks(scores.size(), 0);
    const std::size_t count = neighbour_blocks(order, blocks);
    DesignEffects effects = design_effects(scores, weights, blocks, count);
    // As of an autoregressive sequence of the first order.
    const auto of_correlation = [](double r) { return r > 0 && r < 1 ? (1 + r) / (1 - r) : 1.0; };
    effects.raise_to({of_correlation(neighbours.of_scores), of_correlation(neighbours.of_squares), 1});
    return effects;
}

Evidence evidence_of(const NormalScores& scores, std::span<const double> weights, const Grouping& groups, bool ordered,
                     std::span<const double> times) {
    Evidence own;
    if (groups.labels.size() > 1) {
        own.effects = design_effects(scores, weights, groups.codes, groups.labels.size());
        if (own.effects.any()) own.dependence = Dependence::groups;
    }
    if (!ordered || scores.size() >= (std::size_t{1} << 32U)) return own;
    const std::vector<std::uint32_t> order = rows_in_order(scores, times);
    const Neighbours neighbours = neighbours_in(scores, order);
    own.neighbours = neighbours.of_scores;
    const DesignEffects by_groups = own.effects;
    own.effects.raise_to(design_effects(scores, weights, order, neighbours));
    // Named where they tell more than groups do.
    constexpr double kMore = 1.25;
    const auto more = [](double all, double of_groups) { return all > kMore * of_groups; };
    if (own.effects.any() && (own.dependence == Dependence::none || more(own.effects.mean, by_groups.mean) ||
                              more(own.effects.spread, by_groups.spread) || more(own.effects.curve, by_groups.curve)))
        own.dependence = Dependence::neighbours;
    return own;
}

void Evidence::tell(Verification& v, std::span<const double> weights) const {
    const double weighted = effective_rows(v.rows, weights);
    const auto worth = [&](double effect) { return std::max(1.0, weighted / effect); };
    v.effective_rows = worth(effects.curve);
    v.effective_rows_of_mean = worth(effects.mean);
    v.effective_rows_of_spread = worth(effects.spread);
    v.dependence = dependence;
    v.neighbours = neighbours;
}

}  // namespace accrue::verification
