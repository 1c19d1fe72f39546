// Is a Gaussian forecast accurate and calibrated? Numbers only; drawing and printing happen elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "accrue/shape.hpp"

namespace accrue {

// A central interval of probability `level`: how often it held the observation, how wide it was, and its interval
// score (width plus 2/(1-level) times the distance of an observation outside; lower is better).
struct Coverage {
    double level;
    double observed;
    double mean_width;
    double interval_score;
};

// A band around a curve, a value for every probability of the diagram.
struct Band {
    std::vector<double> low;
    std::vector<double> high;
};

// The empirical cdf of the PITs against the diagonal, on a grid of probabilities. No bins: `observed` is the exact
// share of rows whose PIT is at most `probability`.
struct ReliabilityDiagram {
    std::vector<double> probability;
    std::vector<double> observed;
    // Around the diagonal: where a calibrated forecast of as many independent rows would lie, at each probability with
    // probability 90%, and everywhere at once with probability 90%.
    Band pointwise;
    Band simultaneous;
    // Around the curve, by resampling groups; empty without groups.
    Band group_pointwise;
    Band group_simultaneous;
};

struct Verification {
    std::string name;  // of the forecast, or of the group
    std::size_t rows = 0;
    double effective_rows = 0;  // fewer than rows when weights differ

    double crps = 0;
    double crps_skill = 0;  // 1 - crps/crps of the best constant sigma on the same rows; NaN when that is 0
    double constant_sigma = 0;
    double nlpd = 0;
    double rs = 0;
    double rs_floor = 0;  // mean rs of a calibrated forecast of as many rows
    double ar = 0;
    double beta = 0;

    double calibration_error = 0;    // largest distance between the PITs' cdf and the diagonal, 0..1
    double calibration_floor = 0;    // its median for a calibrated forecast of as many rows
    double calibration_p_value = 0;  // Kolmogorov-Smirnov, for independent rows
    double sign_bound = 0;           // no symmetric forecast has a smaller calibration error: |P(e < 0) - 1/2|
    double mean_z = 0;               // bias, in sigmas
    double sd_z = 0;                 // dispersion: above 1 the forecast is overconfident
    double sharpness = 0;            // root mean square sigma
    double rmse = 0;                 // root mean square error
    std::vector<Coverage> coverage;
    ReliabilityDiagram diagram;        // empty for groups
    std::vector<Verification> groups;  // in the order of the labels
};

// Groups of rows: a code for every row, and a label for every code.
struct Grouping {
    std::span<const std::uint32_t> codes;
    std::span<const std::string> labels;
};

struct VerifyOptions {
    std::vector<double> levels = {0.5, 0.9, 0.95};
    std::size_t diagram_points = 101;
    std::size_t replicates = 1000;  // of the group bootstrap
    std::uint64_t seed = 1;
};

// Verifies N(mu, sigma^2) from errors e = y - mu and spreads. Weights and groups may be empty. Throws InputError for
// spans of different lengths, no rows, a sigma that is not positive, a level outside (0, 1).
Verification verify(std::span<const double> errors, std::span<const double> sigmas,
                    std::span<const double> weights = {}, const Grouping& groups = {},
                    const VerifyOptions& options = {});

// Bytes that verify() needs for every row beyond its arguments, at most: with row weights, groups (the most where one
// holds all rows), shapes.
std::size_t verify_bytes_per_row(bool weights, bool groups, bool shapes);

// The shapes that rows have: one for all, or a code into the list for every row.
struct Shapes {
    std::span<const Shape> list;
    std::span<const std::uint32_t> codes = {};
};

// Verifies forecasts with the cdf H((y - mu)/sigma), H being a row's shape. The nlpd is not defined, and so NaN; z is
// the normal score of the PIT.
Verification verify(std::span<const double> errors, std::span<const double> sigmas, const Shapes& shapes,
                    std::span<const double> weights = {}, const Grouping& groups = {},
                    const VerifyOptions& options = {});

// Probability integral transforms Phi(e/sigma) of all rows.
std::vector<double> pit(std::span<const double> errors, std::span<const double> sigmas);

// Distribution of the largest distance between the empirical cdf of n independent uniform numbers and the diagonal.
// Exact, not asymptotic: the absolute error is at most kKolmogorovError for every whole n up to 100,000 (tests/verify
// reads these bounds), and that of the survival also at most kKolmogorovSurvivalError of itself, however tiny it is.
// For an n between two whole numbers the value lies between theirs.
inline constexpr double kKolmogorovError = 1e-13;
inline constexpr double kKolmogorovSurvivalError = 1e-9;
double kolmogorov_cdf(double n, double distance);
double kolmogorov_survival(double n, double distance);
double kolmogorov_quantile(double n, double probability);

// The result in words: one sentence of verdict, then a sentence for each thing to know.
struct Verdict {
    std::string summary;
    std::vector<std::string> remarks;
};
Verdict verdict(const Verification& verification);

// The object that `accrue evaluate --json` prints for one forecast (docs/evaluate.md). Undefined figures are null.
nlohmann::ordered_json to_json(const Verification& verification);

}  // namespace accrue
