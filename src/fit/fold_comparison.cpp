#include "fit/fold_comparison.hpp"

#include <algorithm>
#include <cmath>

#include "accrue/scores.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

namespace accrue::fitting {

namespace {

constexpr std::size_t kStretches = 5;
constexpr std::size_t kRowsOfStretch = 400;
constexpr std::size_t kMinRows = 200;
constexpr std::size_t kNearest = 10;
constexpr double kMinSpread = 0.05;  // of that of all errors
constexpr std::uint64_t kFoldStream = 2'000'141;

// The mean CRPS of rows whose fold is held out.
double held_out_crps(const Arranged& a, std::size_t inputs, std::span<const std::size_t> rows,
                     std::span<const std::size_t> folds, double spread) {
    const std::size_t stride = a.rows();
    std::vector<double> errors(rows.size());
    std::vector<double> sigmas(rows.size());
    constexpr std::size_t kBlock = 64;
    core::for_blocks(rows.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<std::pair<double, double>> near;  // squared distance, error
        for (std::size_t i = begin; i < end; ++i) {
            near.clear();
            for (std::size_t j = 0; j < rows.size(); ++j) {
                if (folds[j] == folds[i]) continue;
                double distance = 0;
                for (std::size_t k = 0; k < inputs; ++k) {
                    const double apart = a.columns[k * stride + rows[i]] - a.columns[k * stride + rows[j]];
                    distance += a.ranges[k].levels > 0 ? (apart != 0 ? 1 : 0) : apart * apart;
                }
                near.emplace_back(distance, a.errors[rows[j]]);
            }
            std::nth_element(near.begin(), near.begin() + kNearest, near.end());
            double mean = 0;
            for (std::size_t j = 0; j < kNearest; ++j) mean += near[j].second / kNearest;
            double square = 0;
            for (std::size_t j = 0; j < kNearest; ++j) square += std::pow(near[j].second - mean, 2) / (kNearest - 1);
            errors[i] = a.errors[rows[i]] - mean;
            sigmas[i] = std::max(std::sqrt(square * (1 + 1.0 / kNearest)), kMinSpread * spread);
        }
    });
    return mean_crps(errors, sigmas);
}

}  // namespace

std::optional<FoldComparison> compare_folds(const Arranged& arranged, std::size_t inputs, std::uint64_t seed) {
    const std::size_t count = arranged.rows();
    if (count < kMinRows || inputs == 0) return std::nullopt;
    std::vector<std::size_t> place(count);  // of the archive's row among the arranged ones
    for (std::size_t at = 0; at < count; ++at) place[arranged.order[at]] = at;
    const std::size_t length = std::min(kRowsOfStretch, count / kStretches);
    std::vector<std::size_t> rows, stretch;
    double square = 0;
    for (std::size_t s = 0; s < kStretches; ++s)
        for (std::size_t i = 0; i < length; ++i) {
            rows.push_back(place[s * (count / kStretches) + i]);
            stretch.push_back(s);
            square += std::pow(arranged.errors[rows.back()], 2);
        }
    const double spread = std::sqrt(square / static_cast<double>(rows.size()));
    if (!(spread > 0)) return std::nullopt;
    std::vector<std::size_t> random = stretch;
    core::Random(seed, kFoldStream).shuffle(std::span(random));
    return FoldComparison{held_out_crps(arranged, inputs, rows, random, spread),
                          held_out_crps(arranged, inputs, rows, stretch, spread)};
}

}  // namespace accrue::fitting
