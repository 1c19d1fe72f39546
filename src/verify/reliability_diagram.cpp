#include "verify/reliability_diagram.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/sort.hpp"

namespace accrue::verification {

namespace {

constexpr double kBandLevel = 0.9;
// More groups are pooled at random into this many: a bootstrap of the pools has the same spread.
constexpr std::size_t kMaxBootstrapGroups = 1000;

// Weight of every group up to every grid point: counts[g*points + k], the last point holding the group's total.
std::vector<double> group_counts(const PitSource& pits, std::span<const double> weights, const Grouping& groups,
                                 std::span<const double> grid, std::size_t& group_count, std::uint64_t seed) {
    const std::size_t points = grid.size();
    // Only groups that have rows are drawn.
    std::vector<std::size_t> pool(groups.labels.size(), 0);
    for (const std::uint32_t code : groups.codes) pool[code] = 1;
    group_count = static_cast<std::size_t>(std::count(pool.begin(), pool.end(), 1U));
    std::vector<std::size_t> drawn(group_count);
    std::iota(drawn.begin(), drawn.end(), std::size_t{0});
    if (group_count > kMaxBootstrapGroups) {
        core::Random(seed, 1).shuffle(std::span(drawn));
        for (std::size_t& index : drawn) index %= kMaxBootstrapGroups;
        group_count = kMaxBootstrapGroups;
    }
    std::size_t next = 0;
    for (std::size_t& index : pool)
        if (index == 1) index = drawn[next++];
    std::vector<double> counts(group_count * points, 0.0);
    const double intervals = static_cast<double>(points - 1);
    std::array<double, kPitBlock> block;
    const std::size_t rows = groups.codes.size();
    for (std::size_t begin = 0; begin < rows; begin += kPitBlock) {
        const std::size_t end = std::min(rows, begin + kPitBlock);
        pits(begin, end, block.data());
        for (std::size_t i = begin; i < end; ++i)
            counts[pool[groups.codes[i]] * points + cell_of(block[i - begin], intervals)] +=
                weights.empty() ? 1 : weights[i];
    }
    for (std::size_t g = 0; g < group_count; ++g)
        std::partial_sum(&counts[g * points], &counts[(g + 1) * points - 1] + 1, &counts[g * points]);
    return counts;
}

// Bands around the curve from resampling whole groups.
void group_bands(ReliabilityDiagram& diagram, const PitSource& pits, std::span<const double> weights,
                 const Grouping& groups, const VerifyOptions& options) {
    const std::size_t points = diagram.probability.size();
    std::size_t group_count = 0;
    const std::vector<double> counts =
        group_counts(pits, weights, groups, diagram.probability, group_count, options.seed);
    const std::size_t replicates = options.replicates;
    // curves[k*replicates + r]: the cdf of replicate r at point k.
    std::vector<double> curves(points * replicates);
    std::vector<double> largest(replicates);
    core::for_blocks(replicates, 8, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<double> curve(points);
        for (std::size_t r = begin; r < end; ++r) {
            core::Random random(options.seed, 2 + r);
            double total = 0;
            // Groups whose weights are all zero do not make a curve by themselves.
            while (total <= 0) {
                std::fill(curve.begin(), curve.end(), 0.0);
                for (std::size_t draw = 0; draw < group_count; ++draw) {
                    const double* own = &counts[random.below(group_count) * points];
                    for (std::size_t k = 0; k < points; ++k) curve[k] += own[k];
                }
                total = curve[points - 1];
            }
            for (std::size_t k = 0; k < points; ++k) {
                const double value = curve[k] / total;
                curves[k * replicates + r] = value;
                largest[r] = std::max(largest[r], std::fabs(value - diagram.observed[k]));
            }
        }
    });
    core::sort_ascending(largest);
    const double distance = sorted_quantile(largest, kBandLevel);
    for (std::size_t k = 0; k < points; ++k) {
        const std::span<double> values(&curves[k * replicates], replicates);
        core::sort_ascending(values);
        diagram.group_pointwise.low.push_back(sorted_quantile(values, (1 - kBandLevel) / 2));
        diagram.group_pointwise.high.push_back(sorted_quantile(values, (1 + kBandLevel) / 2));
        diagram.group_simultaneous.low.push_back(std::max(0.0, diagram.observed[k] - distance));
        diagram.group_simultaneous.high.push_back(std::min(1.0, diagram.observed[k] + distance));
    }
}

}  // namespace

double sorted_quantile(std::span<const double> sorted, double probability) {
    const double position = probability * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::pair<double, double> binomial_band(double n, double p) {
    if (p <= 0 || p >= 1) return {p, p};
    using Policy = boost::math::policies::policy<
        boost::math::policies::discrete_quantile<boost::math::policies::integer_round_up>>;
    const boost::math::binomial_distribution<double, Policy> count(std::max(1.0, std::round(n)), p);
    // A hair less, so that a count exactly at the limit lies inside on both sides, however the binomial is rounded.
    const double tail = (1 - kBandLevel) / 2 - 1e-9;
    const double trials = count.trials();
    return {boost::math::quantile(count, tail) / trials, boost::math::quantile(complement(count, tail)) / trials};
}

ReliabilityDiagram reliability_diagram(const PitCdf& cdf, double effective_rows, const PitSource& pits,
                                       std::span<const double> weights, const Grouping& groups,
                                       const VerifyOptions& options) {
    ReliabilityDiagram diagram;
    const std::size_t points = options.diagram_points;
    const double distance = kolmogorov_quantile(effective_rows, kBandLevel);
    for (std::size_t k = 0; k < points; ++k) {
        const double p = static_cast<double>(k) / static_cast<double>(points - 1);
        const auto [low, high] = binomial_band(effective_rows, p);
        diagram.probability.push_back(p);
        diagram.observed.push_back(cdf.at(k));
        diagram.pointwise.low.push_back(low);
        diagram.pointwise.high.push_back(high);
        diagram.simultaneous.low.push_back(std::max(0.0, p - distance));
        diagram.simultaneous.high.push_back(std::min(1.0, p + distance));
    }
    if (groups.labels.size() > 1) group_bands(diagram, pits, weights, groups, options);
    return diagram;
}

}  // namespace accrue::verification
