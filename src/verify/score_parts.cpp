#include "verify/score_parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "accrue/bounded.hpp"
#include "accrue/scores.hpp"
#include "core/parallel.hpp"
#include "core/sort.hpp"
#include "verify/pooling.hpp"
#include "verify/reliability_diagram.hpp"

namespace accrue::verification {

namespace {

constexpr std::size_t kBlock = 1024;

double weight_of(std::span<const double> weights, std::size_t row) {
    return weights.empty() ? 1 : weights[row];
}

double total_weight(std::span<const double> weights, std::size_t rows) {
    return weights.empty() ? static_cast<double>(rows) : core::ordered_sum(weights.data(), rows);
}

// The weighted mean of value(row).
template <typename Value>
double mean_of(std::size_t rows, std::span<const double> weights, Value&& value) {
    return core::sum_blocks<double>(rows, kBlock,
                                    [&](std::size_t begin, std::size_t end) {
                                        double sum = 0;
                                        for (std::size_t i = begin; i < end; ++i)
                                            if (weight_of(weights, i) > 0) sum += weight_of(weights, i) * value(i);
                                        return sum;
                                    }) /
           total_weight(weights, rows);
}

// Of the distribution of all observations: the integral of share*(1 - share), share being that of those below.
double climatology_crps(std::span<const double> y, std::span<const double> weights) {
    std::vector<std::size_t> order(y.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return y[a] < y[b]; });
    const double total = total_weight(weights, y.size());
    double below = 0;
    double sum = 0;
    for (std::size_t k = 0; k + 1 < order.size(); ++k) {
        below += weight_of(weights, order[k]);
        const double share = below / total;
        sum += (y[order[k + 1]] - y[order[k]]) * share * std::max(0.0, 1 - share);
    }
    return sum;
}

// A row with a probability of something, and whether it happened.
struct Outcome {
    double probability, weight;
    bool happened;
};

// The probabilities that y is at most some threshold, against what happened: the mean Brier score and its parts.
class BrierAt {
public:
    BrierAt(const RowDistributions& forecast, std::span<const double> y, std::span<const double> weights)
        : forecast_(forecast), y_(y), weights_(weights), total_(total_weight(weights, y.size())) {}

    ScoreParts operator()(double threshold) { return weights_.empty() ? unweighted(threshold) : weighted(threshold); }

private:
    // Rows without weights are sorted as numbers: the bits of the probability, the last of which says what happened.
    ScoreParts unweighted(double threshold) {
        const std::size_t n = y_.size();
        keys_.resize(n);
        double sum = 0;
        for_probabilities(threshold, [&](std::size_t i, double p, bool happened) {
            sum += squared(p, happened);
            keys_[i] = (std::bit_cast<std::uint64_t>(p) & ~std::uint64_t{1}) | (happened ? 1U : 0U);
        });
        core::sort_ascending(std::span(keys_));
        pooling_.clear();
        for (const std::uint64_t key : keys_)
            pooling_.add(std::bit_cast<double>(key & ~std::uint64_t{1}), 1, static_cast<double>(key & 1U));
        return brier_parts(sum / total_, pooling_.blocks());
    }

    ScoreParts weighted(double threshold) {
        outcomes_.clear();
        double sum = 0;
        for_probabilities(threshold, [&](std::size_t i, double p, bool happened) {
            sum += weights_[i] * squared(p, happened);
            if (weights_[i] > 0) outcomes_.push_back({p, weights_[i], happened});
        });
        std::sort(outcomes_.begin(), outcomes_.end(),
                  [](const Outcome& a, const Outcome& b) { return a.probability < b.probability; });
        pooling_.clear();
        for (const Outcome& one : outcomes_) pooling_.add(one.probability, one.weight, one.happened ? one.weight : 0);
        return brier_parts(sum / total_, pooling_.blocks());
    }

    static double squared(double p, bool happened) { return happened ? (1 - p) * (1 - p) : p * p; }

    template <typename Use>
    void for_probabilities(double threshold, Use&& use) {
        probabilities_.resize(kBlock);
        for (std::size_t begin = 0; begin < y_.size(); begin += kBlock) {
            const std::size_t end = std::min(y_.size(), begin + kBlock);
            forecast_.cdf(threshold, begin, end, probabilities_.data());
            for (std::size_t i = begin; i < end; ++i)
                use(i, std::clamp(probabilities_[i - begin], 0.0, 1.0), y_[i] <= threshold);
        }
    }

    const RowDistributions& forecast_;
    std::span<const double> y_, weights_;
    double total_;
    std::vector<double> probabilities_;
    std::vector<std::uint64_t> keys_;
    std::vector<Outcome> outcomes_;
    Pooling pooling_;
};

// As many rows as all of them are worth, drawn at random: at least one.
class DrawnRows {
public:
    DrawnRows(std::size_t rows, double row_worth, std::uint64_t seed)
        : worth_(row_worth), seed_(seed), always_(seed % rows) {}
    bool has(std::size_t row) const {
        return worth_ >= 1 || row == always_ || Bounded::uniform_of_row(row, seed_) < worth_;
    }

private:
    double worth_;
    std::uint64_t seed_;
    std::size_t always_;
};

// Where the fit of a calibrated forecast lies, from outcomes drawn with the probabilities of the rows.
Band consistency_band(std::span<const Outcome> sorted, std::span<const double> grid, double row_worth,
                      std::uint64_t seed) {
    constexpr std::size_t kReplicates = 200;
    constexpr double kLevel = 0.9;
    std::vector<double> fits(grid.size() * kReplicates);
    core::for_tasks(kReplicates, [&](std::size_t r) {
        Pooling pooling;
        const DrawnRows drawn(sorted.size(), row_worth, r + kReplicates + seed);
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            if (!drawn.has(i)) continue;
            const bool happens = Bounded::uniform_of_row(i, r + seed) < sorted[i].probability;
            pooling.add(sorted[i].probability, sorted[i].weight, happens ? sorted[i].weight : 0);
        }
        const auto& blocks = pooling.blocks();
        for (std::size_t k = 0; k < grid.size(); ++k) fits[k * kReplicates + r] = fit_at(blocks, grid[k]);
    });
    Band band;
    for (std::size_t k = 0; k < grid.size(); ++k) {
        const std::span<double> own = std::span(fits).subspan(k * kReplicates, kReplicates);
        core::sort_ascending(own);
        band.low.push_back(sorted_quantile(own, (1 - kLevel) / 2));
        band.high.push_back(sorted_quantile(own, (1 + kLevel) / 2));
    }
    return band;
}

}  // namespace

double weighted_mean(std::span<const double> values, std::span<const double> weights) {
    return mean_of(values.size(), weights, [&](std::size_t i) { return values[i]; });
}

double fit_at(const std::vector<Pooling::Block>& blocks, double probability) {
    const auto next = std::partition_point(blocks.begin(), blocks.end(),
                                           [&](const Pooling::Block& block) { return block.last < probability; });
    if (next == blocks.end()) return blocks.back().fit();
    if (next == blocks.begin() || next->first <= probability) return next->fit();
    const Pooling::Block& before = *(next - 1);
    const double share = (probability - before.last) / (next->first - before.last);
    return before.fit() + share * (next->fit() - before.fit());
}

ScoreParts brier_parts(double score, const std::vector<Pooling::Block>& blocks) {
    double weight = 0;
    double happened = 0;
    double best = 0;  // the score of the fit
    for (const Pooling::Block& block : blocks) {
        weight += block.weight;
        happened += block.happened;
        best += block.happened * (1 - block.fit());
    }
    const double share = happened / weight;
    best /= weight;
    const double uncertainty = share * (1 - share);
    // Rounding must not make a part negative.
    return {score, std::max(0.0, score - best), std::max(0.0, uncertainty - best), uncertainty};
}

QuantileFigures quantile_figures(double level, std::span<const double> y, std::span<const double> weights,
                                 double effective_rows, const std::function<double(std::size_t)>& quantile) {
    struct Sums {
        double score = 0, below = 0, at_or_below = 0;
        Sums& operator+=(const Sums& other) {
            score += other.score;
            below += other.below;
            at_or_below += other.at_or_below;
            return *this;
        }
    };
    const std::size_t n = y.size();
    const auto sums = core::sum_blocks<Sums>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        Sums own;
        for (std::size_t i = begin; i < end; ++i) {
            const double q = quantile(i);
            const double w = weight_of(weights, i);
            own.score += w * quantile_score(y[i], q, level);
            own.below += y[i] < q ? w : 0;
            own.at_or_below += y[i] <= q ? w : 0;
        }
        return own;
    });
    const double total = total_weight(weights, n);
    QuantileFigures figures{level, sums.score / total, std::min(1.0, sums.below / total),
                            std::min(1.0, sums.at_or_below / total)};
    std::tie(figures.low, figures.high) = binomial_band(effective_rows, level);
    figures.standard_error = std::sqrt(level * (1 - level) / effective_rows);
    return figures;
}

Coverage interval_figures(double level, std::span<const double> y, std::span<const double> weights,
                          std::span<const double> low, std::span<const double> high) {
    const std::size_t n = y.size();
    const double observed =
        mean_of(n, weights, [&](std::size_t i) { return y[i] >= low[i] && y[i] <= high[i] ? 1.0 : 0.0; });
    const double width = mean_of(n, weights, [&](std::size_t i) { return high[i] - low[i]; });
    const double outside = mean_of(n, weights, [&](std::size_t i) {
        return std::max({low[i] - y[i], y[i] - high[i], 0.0});
    });
    return {level, std::min(1.0, observed), width, width + 2 / (1 - level) * outside};
}

ExceedanceFigures exceedance(const RowDistributions& forecast, double threshold, std::span<const double> y,
                             std::span<const double> weights, double row_worth, std::uint64_t seed) {
    const std::size_t n = y.size();
    ExceedanceFigures figures;
    figures.threshold = threshold;
    std::vector<Outcome> outcomes(n);
    core::for_blocks(n, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<double> below(end - begin);
        forecast.cdf(threshold, begin, end, below.data());
        for (std::size_t i = begin; i < end; ++i)
            outcomes[i] = {std::clamp(1 - below[i - begin], 0.0, 1.0), weight_of(weights, i), y[i] > threshold};
    });
    figures.weighted_crps = mean_of(n, weights, [&](std::size_t i) { return forecast.crps_above(threshold, y[i], i); });
    figures.observed =
        std::min(1.0, mean_of(n, weights, [&](std::size_t i) { return outcomes[i].happened ? 1.0 : 0.0; }));
    figures.forecast = mean_of(n, weights, [&](std::size_t i) { return outcomes[i].probability; });
    const double brier = mean_of(n, weights, [&](std::size_t i) {
        const double apart = outcomes[i].probability - (outcomes[i].happened ? 1 : 0);
        return apart * apart;
    });
    std::erase_if(outcomes, [](const Outcome& one) { return !(one.weight > 0); });
    std::stable_sort(outcomes.begin(), outcomes.end(),
                     [](const Outcome& a, const Outcome& b) { return a.probability < b.probability; });
    Pooling pooling;
    for (const Outcome& one : outcomes) pooling.add(one.probability, one.weight, one.happened ? one.weight : 0);
    const auto& blocks = pooling.blocks();
    figures.brier = brier_parts(brier, blocks);

    constexpr std::size_t kPoints = 21;
    const double first = outcomes.front().probability;
    const double last = outcomes.back().probability;
    for (std::size_t k = 0; k < (first < last ? kPoints : 1); ++k) {
        const double p = k + 1 == kPoints ? last : first + (last - first) * (static_cast<double>(k) / (kPoints - 1));
        figures.probability.push_back(p);
        figures.happened.push_back(fit_at(blocks, p));
    }
    figures.band = consistency_band(outcomes, figures.probability, row_worth, seed);
    return figures;
}

std::vector<ThresholdNode> threshold_nodes(std::span<const double> y, std::span<const double> breakpoints) {
    constexpr std::size_t kQuantiles = 256;
    constexpr std::size_t kEven = 64;
    constexpr std::size_t kAll = 1024;  // so many observations are the edges themselves
    std::vector<double> sorted(y.begin(), y.end());
    std::sort(sorted.begin(), sorted.end());
    const double first = sorted.front();
    const double last = sorted.back();
    std::vector<double> edges;
    if (sorted.size() <= kAll) {
        edges = sorted;
    } else {
        for (std::size_t k = 0; k <= kQuantiles; ++k) edges.push_back(sorted[k * (sorted.size() - 1) / kQuantiles]);
        // Where observations are far apart forecasts still change.
        for (std::size_t k = 1; k < kEven; ++k)
            edges.push_back(first + (last - first) * (static_cast<double>(k) / kEven));
    }
    for (const double point : breakpoints)
        if (point > first && point < last) edges.push_back(point);
    std::sort(edges.begin(), edges.end());
    const double root = std::sqrt(1.0 / 3);
    std::vector<ThresholdNode> nodes;
    for (std::size_t k = 1; k < edges.size(); ++k) {
        const double half = (edges[k] - edges[k - 1]) / 2;
        const double middle = edges[k - 1] + half;
        if (!(half > 0)) continue;
        nodes.push_back({middle - root * half, half});
        nodes.push_back({middle + root * half, half});
    }
    return nodes;
}

ScoreParts crps_parts(const RowDistributions& forecast, std::span<const double> y, std::span<const double> weights) {
    const std::size_t n = y.size();
    const std::vector<ThresholdNode> nodes = threshold_nodes(y, forecast.breakpoints());
    const std::size_t per_task = 8;  // so that a task keeps its memory for some nodes
    std::vector<ScoreParts> parts(nodes.size());
    core::for_tasks(core::block_count(nodes.size(), per_task), [&](std::size_t task) {
        BrierAt brier(forecast, y, weights);
        for (std::size_t k = task * per_task; k < std::min(nodes.size(), (task + 1) * per_task); ++k)
            parts[k] = brier(nodes[k].y);
    });
    double best = 0;  // the score of the best increasing map of the probabilities, which alone is a sum over nodes
    for (std::size_t k = 0; k < nodes.size(); ++k)
        best += nodes[k].weight * (parts[k].uncertainty - parts[k].discrimination);
    // Where nothing, or everything, is observed below the threshold the best probability is known.
    const auto ends = std::minmax_element(y.begin(), y.end());
    const double first = *ends.first;
    const double last = *ends.second;
    const double beyond = mean_of(n, weights, [&](std::size_t i) {
        const double below = forecast.crps(y[i], i) - forecast.crps_above(first, y[i], i);
        return std::max(0.0, below) + forecast.crps_above(last, y[i], i);
    });
    const double between = mean_of(n, weights, [&](std::size_t i) { return forecast.crps(y[i], i); }) - beyond;
    const double uncertainty = climatology_crps(y, weights);
    best = std::max(0.0, std::min({best, between, uncertainty}));
    ScoreParts sum{0, beyond + std::max(0.0, between - best), uncertainty - best, uncertainty};
    sum.score = sum.miscalibration - sum.discrimination + sum.uncertainty;
    return sum;
}

double miscalibration_floor(const RowDistributions& forecast, std::span<const double> weights, double row_worth,
                            std::uint64_t seed) {
    std::vector<double> y(forecast.rows());
    core::for_blocks(y.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) y[i] = forecast.draw(Bounded::uniform_of_row(i, seed), i);
    });
    if (row_worth >= 1) return crps_parts(forecast, y, weights).miscalibration;
    const DrawnRows drawn(y.size(), row_worth, seed + 1);
    std::vector<double> of_drawn(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) of_drawn[i] = drawn.has(i) ? weight_of(weights, i) : 0;
    if (!(total_weight(of_drawn, y.size()) > 0)) of_drawn.assign(weights.begin(), weights.end());
    return crps_parts(forecast, y, of_drawn).miscalibration;
}

}  // namespace accrue::verification
