// The scores as they stand in docs/notation.md, a row at a time. Not for speed.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "accrue/scores.hpp"
#include "scores/checks.hpp"

namespace accrue::reference {

namespace {
const double kRootPi = std::sqrt(std::numbers::pi);
const double kRootTwoOverPi = std::sqrt(2 / std::numbers::pi);
}  // namespace

ValueAndSlope crps(double error, double sigma) {
    const double t = error / (std::numbers::sqrt2 * sigma);
    const double slope = kRootTwoOverPi * std::exp(-t * t) - 1 / kRootPi;
    return {error * std::erf(t) + sigma * slope, slope};
}

ValueAndSlope nlpd(double error, double sigma) {
    const double z = error / sigma;
    return {std::log(sigma) + z * z / 2 + std::log(2 * std::numbers::pi) / 2, (1 - z * z) / sigma};
}

AccuracyReliability accuracy_reliability(std::span<const double> errors, std::span<const double> sigmas, double beta,
                                         std::span<const double> weights, std::span<double> gradient) {
    const std::size_t n = errors.size();
    const double total = scores::total_weight(n, weights);
    std::vector<std::pair<double, std::size_t>> sorted(n);
    for (std::size_t i = 0; i < n; ++i) sorted[i] = {errors[i] / (std::numbers::sqrt2 * sigmas[i]), i};
    std::sort(sorted.begin(), sorted.end());

    double mean_crps = 0;
    double rs = 0;
    double before = 0;
    for (std::size_t first = 0; first < n;) {
        // Rows of equal t share their mean rank.
        std::size_t last = first;
        double tied_weight = 0;
        while (last < n && sorted[last].first == sorted[first].first) {
            tied_weight += weights.empty() ? 1 : weights[sorted[last].second];
            ++last;
        }
        const double mid_rank = (2 * before + tied_weight) / total;
        before += tied_weight;
        for (; first < last; ++first) {
            const auto [t, i] = sorted[first];
            const double w = (weights.empty() ? 1 : weights[i]) / total;
            const double erf = std::erf(t);
            const double gauss = std::exp(-t * t);
            const double crps_slope = kRootTwoOverPi * gauss - 1 / kRootPi;
            mean_crps += w * (errors[i] * erf + sigmas[i] * crps_slope);
            rs += w * (t * (erf + 1 - mid_rank) + gauss / kRootPi);
            if (!gradient.empty())
                gradient[i] = w * (beta * crps_slope - (1 - beta) * (erf + 1 - mid_rank) * t / sigmas[i]);
        }
    }
    rs -= kReliabilityConstant;
    return {beta * mean_crps + (1 - beta) * rs, mean_crps, rs};
}

}  // namespace accrue::reference
