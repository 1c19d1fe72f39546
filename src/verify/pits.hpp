// The empirical cdf of a forecast's PITs.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace accrue::verification {

// The first c with p <= c/cells, for p in [0, 1].
inline std::uint32_t cell_of(double p, double cells) {
    double c = std::ceil(p * cells);
    // The product is rounded, so c may be one off.
    c -= (c - 1) / cells >= p ? 1 : 0;
    c += c / cells < p ? 1 : 0;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(c));
}

// The PITs of rows [begin, end): where they come from, so that nobody has to keep all of them. Called from several
// threads at once, for at most kPitBlock rows.
inline constexpr std::size_t kPitBlock = 512;
using PitSource = std::function<void(std::size_t begin, std::size_t end, double* pits)>;

// Counts on a grid are exact, and so is the largest distance to the diagonal: only rows in cells of the grid that may
// hold it are sorted. Weights, and PITs or what their source uses, must outlive it.
class PitCdf {
public:
    // The grid has the points k/intervals, and more between them as rows allow.
    PitCdf(std::size_t rows, PitSource pits, std::span<const double> weights, std::size_t intervals);
    PitCdf(std::span<const double> pits, std::span<const double> weights, std::size_t intervals);

    // The share of weight whose PIT is at most k/intervals.
    double at(std::size_t k) const { return upto_[k * cells_per_interval_] / upto_.back(); }

    // The largest distance between the cdf and the diagonal, on either side of every jump.
    double distance_to_diagonal() const;

private:
    std::size_t cells() const { return upto_.size() - 1; }

    std::size_t rows_;
    PitSource pits_;
    std::span<const double> weights_;
    std::size_t cells_per_interval_;
    std::vector<double> upto_;  // weight of the rows whose PIT is at most c/cells
};

}  // namespace accrue::verification
