#include "verify/ensembles.hpp"

#include <algorithm>
#include <cmath>

#include "accrue/bounded.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "families/normal.hpp"
#include "verify/reliability_diagram.hpp"
#include "verify/scored_rows.hpp"

namespace accrue::verification {

namespace {

constexpr std::size_t kBlock = 1024;

void check(MemberColumns members, std::span<const double> y) {
    core::require(!members.empty(), "an ensemble needs at least one member");
    for (std::size_t k = 0; k < members.size(); ++k) {
        core::require(members[k].size() == y.size(), "member {} has {} rows, but there are {} observations", k + 1,
                      members[k].size(), y.size());
        for (std::size_t i = 0; i < y.size(); ++i)
            core::require(std::isfinite(members[k][i]), "member {} of row {} is {}, but must be finite", k + 1, i + 1,
                          members[k][i]);
    }
    for (std::size_t i = 0; i < y.size(); ++i)
        core::require(std::isfinite(y[i]), "the observation of row {} is {}, but must be finite", i + 1, y[i]);
}

}  // namespace

VerifiedEnsemble verify_ensemble(MemberColumns members, std::span<const double> y, std::span<const double> weights,
                                 const Grouping& groups, const VerifyOptions& options,
                                 std::span<const ColumnGrouping> by) {
    check(members, y);
    const std::size_t n = y.size();
    const auto count = static_cast<double>(members.size());
    VerifiedEnsemble result;
    result.means.resize(n);
    result.crps.resize(n);
    std::vector<double> errors(n), sigmas(n), scores(n), fair(n);
    std::vector<std::uint32_t> ranks(n);
    std::vector<std::vector<double>> low(options.levels.size()), high(options.levels.size());
    for (std::size_t k = 0; k < options.levels.size(); ++k) {
        if ((count + 1) * (1 - options.levels[k]) / 2 < 1 - 1e-9)
            continue;  // 19 members do for 90%, however it is rounded
        low[k].resize(n);
        high[k].resize(n);
    }
    core::for_blocks(n, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<double> sorted;
        for (std::size_t i = begin; i < end; ++i) {
            sorted_members(members, i, sorted);
            // About the first, so that a mean of equal members is their value.
            double sum = 0;
            for (const double member : sorted) sum += member - sorted.front();
            const double mean = sorted.front() + sum / count;
            double squares = 0;
            for (const double member : sorted) squares += (member - mean) * (member - mean);
            result.means[i] = mean;
            errors[i] = y[i] - mean;
            sigmas[i] = std::sqrt(squares / std::max(count - 1, 1.0));
            const EnsembleCrps crps = ensemble_crps(sorted, y[i]);
            result.crps[i] = crps.plain;
            fair[i] = crps.fair;
            const auto equal = std::equal_range(sorted.begin(), sorted.end(), y[i]);
            const auto below = static_cast<double>(equal.first - sorted.begin());
            const auto equals = static_cast<double>(equal.second - equal.first);
            const double place = (equals + 1) * Bounded::uniform_of_row(i, options.seed);
            ranks[i] = static_cast<std::uint32_t>(below + std::min(std::floor(place), equals));
            // Of the smaller side, which has the digits.
            scores[i] =
                families::normal_score_of((below + place) / (count + 1), (count + 1 - below - place) / (count + 1));
            for (std::size_t k = 0; k < low.size(); ++k) {
                if (low[k].empty()) continue;
                low[k][i] = ensemble_quantile(sorted, (1 - options.levels[k]) / 2) - mean;
                high[k][i] = ensemble_quantile(sorted, (1 + options.levels[k]) / 2) - mean;
            }
        }
    });
    ScoredRows rows{errors, sigmas, scores, result.crps};
    rows.low.assign(low.begin(), low.end());
    rows.high.assign(high.begin(), high.end());
    result.verification = verify_scored(rows, weights, groups, options, by);

    EnsembleFigures& figures = result.figures;
    figures.members = members.size();
    figures.rank_share.resize(members.size() + 1);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double weight = weights.empty() ? 1 : weights[i];
        total += weight;
        figures.fair_crps += weight * fair[i];
        figures.rank_share[ranks[i]] += weight;
    }
    figures.fair_crps /= total;
    for (double& share : figures.rank_share) share /= total;
    std::tie(figures.low, figures.high) = binomial_band(result.verification.effective_rows, 1 / (count + 1));
    result.errors = std::move(errors);
    result.sigmas = std::move(sigmas);
    result.scores = std::move(scores);
    return result;
}

}  // namespace accrue::verification
