// Rows whose scores are known already: since their forecasts are not of a family, or since finding them takes long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "accrue/verify.hpp"

namespace accrue::verification {

struct ScoredRows {
    std::span<const double> errors;  // about the mean of the forecast
    std::span<const double> sigmas;  // its standard deviations, which may be 0
    std::span<const double> scores;  // normal scores of the PITs
    std::span<const double> crps;
    // For each level the ends of the central interval less the mean; empty where the forecast has no such interval.
    std::vector<std::span<const double>> low = {}, high = {};
    // Of forecasts that are of families, whose intervals are in units of sigma.
    const RowFamilies* families = nullptr;
    std::span<const double> located = {};  // errors about the location
    std::span<const double> nlpd = {};     // where all of them have a density

    // Scores and intervals of some of the rows, which `values` then holds.
    ScoredRows some(std::span<const std::uint32_t> rows, std::vector<std::vector<double>>& values) const {
        values.assign(2 + 2 * low.size(), {});
        auto next = values.begin();
        const auto take = [&](std::span<const double> from) {
            std::vector<double>& to = *next++;
            if (!from.empty())
                for (const std::uint32_t row : rows) to.push_back(from[row]);
            return std::span<const double>(to);
        };
        ScoredRows own{{}, {}, {}, take(crps)};
        for (std::size_t k = 0; k < low.size(); ++k) {
            own.low.push_back(take(low[k]));
            own.high.push_back(take(high[k]));
        }
        own.families = families;
        own.nlpd = take(nlpd);
        return own;
    }
};

Verification verify_scored(const ScoredRows& scored, std::span<const double> weights, const Grouping& groups,
                           const VerifyOptions& options, std::span<const ColumnGrouping> by);

// Scores of rows of families, each row looked at once.
class FamilyScores {
public:
    FamilyScores(std::span<const double> errors, std::span<const double> sigmas, const RowFamilies& families,
                 std::span<const double> levels);
    // The object, errors and sigmas must outlive it.
    ScoredRows rows() const;

private:
    std::span<const double> errors_, sigmas_;
    const RowFamilies& families_;
    std::vector<double> scores_, crps_, nlpd_, located_;
    std::vector<std::vector<double>> low_, high_;  // by level
};

}  // namespace accrue::verification
