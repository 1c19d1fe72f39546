// Is a forecast accurate and calibrated? Numbers only; drawing and printing happen elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "accrue/family.hpp"
#include "accrue/groups.hpp"
#include "accrue/message.hpp"

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

// The shares that Verification::z_quantiles are for.
inline constexpr std::array<double, 5> kZShares = {0.05, 0.25, 0.5, 0.75, 0.95};

// What makes rows worth less than as many independent ones: groups, or neighbours.
enum class Dependence { none, groups, neighbours };

struct Verification {
    // The figures of the rows with each value of a column, in the order of the labels; values without rows, or whose
    // rows have no weight, are left out.
    struct Breakdown {
        std::string column;
        std::vector<Verification> values;
    };

    std::string name;           // of the forecast, or the value of a column
    bool recalibrated = false;  // then it has no nlpd
    bool ensemble = false;      // z is the normal score of the rank among members; no nlpd, no sign bound
    std::size_t rows = 0;
    // So many independent rows of equal weight would tell as much: of the reliability diagram (for floors, bands and
    // p-values), the mean of z, and its spread. Fewer than rows where weights differ or rows err together.
    double effective_rows = 0;
    double effective_rows_of_mean = 0, effective_rows_of_spread = 0;  // 0: as many as of the diagram
    double mean_rows() const { return effective_rows_of_mean > 0 ? effective_rows_of_mean : effective_rows; }
    double spread_rows() const { return effective_rows_of_spread > 0 ? effective_rows_of_spread : effective_rows; }
    Dependence dependence = Dependence::none;                      // by what
    double neighbours = std::numeric_limits<double>::quiet_NaN();  // correlation of z from row to row, if looked at

    double crps = 0;
    double crps_skill = 0;  // 1 - crps/crps of the best constant sigma on the same rows; NaN when that is 0
    double constant_sigma = 0;
    double nlpd = 0;
    double rs = 0;
    double rs_floor = 0;  // mean rs of a calibrated forecast of as many rows
    double ar = 0;
    double beta = 0;

    double calibration_error = 0;     // largest distance between the PITs' cdf and the diagonal, 0..1
    double calibration_floor = 0;     // its median for a calibrated forecast of as many rows
    double calibration_p_value = 0;   // Kolmogorov-Smirnov, for the effective number of rows
    double sign_bound = 0;            // no symmetric forecast has a smaller calibration error: |P(e < 0) - 1/2|
    double mean_z = 0;                // bias, in sigmas
    double sd_z = 0;                  // dispersion: above 1 the forecast is overconfident, or its tails are too light
    std::vector<double> z_quantiles;  // of z, for kZShares: dispersion and bias that no single row can change
    double sharpness = 0;             // root mean square sigma
    double rmse = 0;                  // root mean square error
    // Share of the rows, by weight, that lie outside the range of the archive that the model was fitted on, in one
    // input at least. NaN where there is no model; verify() does not know of one.
    double off_support = std::numeric_limits<double>::quiet_NaN();
    // Of a model: the largest spread of z that any place of its archive showed, out of fold; NaN where it is not known.
    double archive_sd_z = std::numeric_limits<double>::quiet_NaN();
    std::vector<Verification> outside = {};  // of these rows alone; none where there are none
    std::vector<Coverage> coverage;
    ReliabilityDiagram diagram;  // these two: empty for the values of a column
    std::vector<Breakdown> by;
};

struct VerifyOptions {
    std::vector<double> levels = {0.5, 0.9, 0.95};
    std::size_t diagram_points = 101;
    std::size_t replicates = 1000;  // of the group bootstrap
    std::uint64_t seed = 1;
    // Whether rows come in an order in which neighbours may err together: as they are, or by these times. It is then
    // measured, and what they have in common counts in the effective number of rows.
    bool ordered = false;
    std::span<const double> times = {};
};

// Verifies N(mu, sigma^2) from errors e = y - mu and spreads. Weights, groups and `by` may be empty. Groups are what
// rows that err together share: whole groups are resampled for the bands, and their sums tell what rows are worth. Each
// column of `by` gives figures per value (docs/groups.md). Throws InputError for spans of different lengths, no rows, a
// sigma that is not positive, a level outside (0, 1).
Verification verify(std::span<const double> errors, std::span<const double> sigmas,
                    std::span<const double> weights = {}, const Grouping& groups = {},
                    const VerifyOptions& options = {}, std::span<const ColumnGrouping> by = {});

// Bytes that verify() needs for every row beyond its arguments, at most: with row weights, figures per value of a
// column (the most where one value holds all rows), and for the normal family alone.
std::size_t verify_bytes_per_row(bool weights, bool by, bool normal);

// Verifies forecasts of these families from errors y - mean and standard deviations. z is the normal score of the PIT;
// the nlpd is NaN where a family has no density to compare. A constant sigma, and the balance, are those of a Gaussian
// about the location.
Verification verify(std::span<const double> errors, std::span<const double> sigmas, const Families& families,
                    std::span<const double> weights = {}, const Grouping& groups = {},
                    const VerifyOptions& options = {}, std::span<const ColumnGrouping> by = {});

// The mean of per-row differences of a score with its 90% interval and the p-value of none, by Student's t for
// independent rows, or for independent groups where there are some. Interval and p-value are NaN where there are fewer
// than two of them, and all are where the score of a row is not finite.
struct PairedDifference {
    double difference = 0;
    double low = 0;
    double high = 0;
    double p_value = 0;
    // Zero lies outside the interval: the scores can be told apart.
    bool clear() const { return low > 0 || high < 0; }
};

// Probability integral transforms Phi(e/sigma) of all rows; NaN where e/sigma is.
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
    std::vector<Message> remarks;
};
Verdict verdict(const Verification& verification);

// The object that `accrue evaluate --json` prints for one forecast (docs/evaluate.md). Undefined figures are null.
nlohmann::ordered_json to_json(const Verification& verification);

}  // namespace accrue
