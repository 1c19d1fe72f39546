#include "verify/pits.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/parallel.hpp"
#include "core/sort.hpp"

namespace accrue::verification {

namespace {

constexpr std::size_t kRowsPerCell = 16;
constexpr std::size_t kMaxCells = 4096;
// The distance of a calibrated forecast falls with the root of the rows, and cells as wide as it would all have to be
// looked into.
constexpr double kCellsPerRootRow = 4;
// Every chunk has counts of its own, so there must not be too many.
constexpr std::size_t kMaxChunks = 64;
constexpr std::size_t kMinChunk = std::size_t{1} << 15U;

std::size_t chunk_size(std::size_t rows) {
    return std::max(kMinChunk, core::block_count(rows, kMaxChunks));
}

// Calls use(row, cell, pit) for the rows of [begin, end).
template <typename Use>
void for_cells(const PitSource& pits, double cells, std::size_t begin, std::size_t end, Use&& use) {
    std::array<double, kPitBlock> values;
    std::array<std::uint32_t, kPitBlock> buffer;
    for (std::size_t from = begin; from < end; from += kPitBlock) {
        const std::size_t count = std::min(kPitBlock, end - from);
        pits(from, from + count, values.data());
        const double* __restrict p = values.data();
        std::uint32_t* __restrict cell = buffer.data();
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) cell[i] = cell_of(p[i], cells);
        for (std::size_t i = 0; i < count; ++i) use(from + i, cell[i], p[i]);
    }
}

std::size_t cell_count(std::size_t rows) {
    const auto fine = static_cast<std::size_t>(kCellsPerRootRow * std::sqrt(static_cast<double>(rows)));
    return std::clamp(rows / kRowsPerCell, std::size_t{1}, std::max(kMaxCells, fine));
}

struct Jump {
    double pit;
    double weight;
    auto operator<=>(const Jump&) const = default;
};

}  // namespace

PitCdf::PitCdf(std::span<const double> pits, std::span<const double> weights, std::size_t intervals)
    : PitCdf(
          pits.size(),
          [pits](std::size_t begin, std::size_t end, double* values) {
              std::copy_n(pits.data() + begin, end - begin, values);
          },
          weights, intervals) {}

PitCdf::PitCdf(std::size_t n, PitSource pits, std::span<const double> weights, std::size_t intervals)
    : rows_(n),
      pits_(std::move(pits)),
      weights_(weights),
      cells_per_interval_(core::block_count(cell_count(n), intervals)),
      upto_(intervals * cells_per_interval_ + 1, 0.0) {
    const std::size_t points = upto_.size();
    const std::size_t chunk = chunk_size(n);
    std::vector<double> counts(core::block_count(n, chunk) * points, 0.0);
    core::for_blocks(n, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        double* own = &counts[c * points];
        const auto total = static_cast<double>(cells());
        if (weights.empty())
            for_cells(pits_, total, begin, end, [&](std::size_t, std::uint32_t cell, double) { own[cell] += 1; });
        else
            for_cells(pits_, total, begin, end,
                      [&](std::size_t row, std::uint32_t cell, double) { own[cell] += weights[row]; });
    });
    for (std::size_t at = 0; at < counts.size(); at += points)
        for (std::size_t c = 0; c < points; ++c) upto_[c] += counts[at + c];
    std::partial_sum(upto_.begin(), upto_.end(), upto_.begin());
}

double PitCdf::distance_to_diagonal() const {
    const double total = upto_.back();
    const auto all_cells = static_cast<double>(cells());
    const auto edge = [&](std::size_t c) { return static_cast<double>(c) / all_cells; };
    const auto before = [&](std::size_t c) { return c == 0 ? 0.0 : upto_[c - 1]; };

    // At the edges of cells the distance is known: it is at least the largest of these. Rows in a cell lie between its
    // edges, and their shares between those at the edges.
    double least = 0;
    for (std::size_t c = 0; c < upto_.size(); ++c) least = std::max(least, std::fabs(upto_[c] / total - edge(c)));
    constexpr double kRounding = 1e-12;
    std::vector<char> wanted(upto_.size());
    for (std::size_t c = 0; c < upto_.size(); ++c) {
        const double most = std::max(edge(c) - before(c) / total, upto_[c] / total - edge(c == 0 ? 0 : c - 1));
        wanted[c] = upto_[c] > before(c) && most > least - kRounding ? 1 : 0;
    }

    const std::size_t chunk = chunk_size(rows_);
    std::vector<std::vector<double>> found(core::block_count(rows_, chunk));
    std::vector<std::vector<double>> found_weights(found.size());
    core::for_blocks(rows_, chunk, [&](std::size_t c, std::size_t begin, std::size_t end) {
        for_cells(pits_, all_cells, begin, end, [&](std::size_t row, std::uint32_t cell, double pit) {
            if (wanted[cell] == 0) return;
            found[c].push_back(pit);
            if (!weights_.empty()) found_weights[c].push_back(weights_[row]);
        });
    });

    double largest = 0;
    std::uint32_t cell = 0;
    double sum = 0;
    const auto jump = [&](double pit, double weight) {
        const std::uint32_t own = cell_of(pit, all_cells);
        if (own != cell) {
            cell = own;
            sum = before(own);
        }
        largest = std::max(largest, pit - sum / total);
        sum += weight;
        largest = std::max(largest, sum / total - pit);
    };
    if (weights_.empty()) {
        std::vector<double> values;
        for (const auto& pits : found) values.insert(values.end(), pits.begin(), pits.end());
        core::sort_ascending(values);
        for (const double value : values) jump(value, 1);
    } else {
        std::vector<Jump> jumps;
        for (std::size_t c = 0; c < found.size(); ++c)
            for (std::size_t i = 0; i < found[c].size(); ++i) jumps.push_back({found[c][i], found_weights[c][i]});
        std::sort(jumps.begin(), jumps.end());
        for (const Jump& j : jumps) jump(j.pit, j.weight);
    }
    return largest;
}

}  // namespace accrue::verification
