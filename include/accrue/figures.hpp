// Figures beyond a Verification: of ensembles and quantile forecasts, at thresholds, and what a CRPS is made of.
// Formulas, ranges and floors: docs/scores.md.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accrue/verify.hpp"

namespace accrue {

// An ensemble of M members.
struct EnsembleFigures {
    std::size_t members = 0;
    double fair_crps = 0;  // what the CRPS would be on average with endless members; NaN for one member
    // Shares of the rows, by weight, whose observation has k members below it, k = 0..M, with a random place among
    // members that equal it; and where each share of a calibrated ensemble of as many rows lies with probability 90%.
    std::vector<double> rank_share;
    double low = 0;
    double high = 0;
};

// The quantile of one level: its mean score, and how often observations lie below it.
struct QuantileFigures {
    double level = 0;
    double score = 0;        // mean of (y - q)(level - [y < q]), the quantile or pinball score
    double below = 0;        // share of y < q
    double at_or_below = 0;  // share of y <= q; the level lies between the two where the forecast is calibrated
    double low = 0;          // where a share of as many rows lies with probability 90% if the level is right
    double high = 0;
    double standard_error = 0;  // of such a share
    // Whether both shares lie on one side of the level, by more than three standard errors.
    bool is_off() const { return below - level > 3 * standard_error || level - at_or_below > 3 * standard_error; }
};

// A score and its parts: score = miscalibration - discrimination + uncertainty, none of them negative.
struct ScoreParts {
    double score = 0;
    double miscalibration = 0;
    double discrimination = 0;
    double uncertainty = 0;
};

// Observations above a threshold, and their probabilities.
struct ExceedanceFigures {
    double threshold = 0;
    double observed = 0;       // share of y > threshold
    double forecast = 0;       // mean probability of that
    double weighted_crps = 0;  // mean of the integral of the CRPS from the threshold on
    ScoreParts brier;          // by isotonic regression of what happened on the probabilities
    // The share that happened, by that regression, along probabilities from the smallest to the largest; and where it
    // lies with probability 90%, at each of them, if the probabilities are right and rows independent.
    std::vector<double> probability;
    std::vector<double> happened;
    Band band;
};

// What was asked for of one forecast, and what only some forecasts have.
struct ForecastDetails {
    std::optional<EnsembleFigures> ensemble;
    std::vector<QuantileFigures> quantiles;
    std::vector<Coverage> quantile_intervals;  // of quantile forecasts: the central intervals that they form
    std::vector<ExceedanceFigures> exceed;
    std::optional<ScoreParts> crps_parts;
    double miscalibration_floor = 0;  // of crps_parts: what the same forecasts show of observations drawn from them
    bool approximate_crps = false;    // of quantile forecasts: twice the mean quantile score over their levels
    bool fitted_here = false;         // on the very rows that it is judged by
    std::string words = {};  // a sentence on what kind of forecast this is; empty where there is nothing to say
};

// What `accrue evaluate --json` has of them; an empty object where there are none.
nlohmann::ordered_json to_json(const ForecastDetails& details);

}  // namespace accrue
