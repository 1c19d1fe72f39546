// Is a forecast calibrated everywhere, not only on average: in each group, along each input, through the year?
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "accrue/archive.hpp"
#include "accrue/family.hpp"
#include "accrue/verify.hpp"

namespace accrue {

// What rows are told apart by: numbers, in bins of about as many rows, or the values of a column.
struct Condition {
    std::string name;
    std::span<const double> numbers;  // or
    Grouping values = {};             // codes and labels
    enum class Role { input, prediction, group, time } role = Role::input;
};

// The rows of one bin or value. z are the normal scores of the PITs: standard normal where the forecast is right.
struct ConditionalPlace {
    // What can be wrong: the mean of z, its standard deviation, the coverage, or the distribution as a whole.
    enum class Fault { bias, spread, coverage, shape };
    static constexpr std::array kFaults = {Fault::bias, Fault::spread, Fault::coverage, Fault::shape};

    std::string label;
    std::size_t rows = 0;
    double mean_z = 0, sd_z = 0;
    double calibration_error = 0, calibration_floor = 0;  // the floor of as many rows as these are worth
    double coverage = 0;                                  // of the central 90% interval
    // How far the mean of z, its variance, the coverage and the curve of the reliability diagram are from those of all
    // rows, in standard errors (of the last two: the standard normal quantile with the same probability beyond it), by
    // what rows of one group have in common. NaN where there is too little to tell by.
    double bias_t = 0, spread_t = 0, coverage_t = 0, calibration_t = 0;
    // One standard error, if the place is like all rows, of mean_z, and of the variance of z as a share of that of all
    // rows; as many independent rows as have the standard error of the coverage; and the largest distance between the
    // curves of the place and of all rows. NaN as above.
    double mean_error = 0, variance_error = 0, coverage_rows = 0, calibration_apart = 0;
    // Of bins of numbers: their range in these rows, and their mean; else NaN.
    double low = 0, high = 0, x = 0;

    double t(Fault fault) const;
    double furthest_t() const;  // the one of largest size; 0 where there is too little to tell by
};

struct ConditionalColumn {
    std::string name;
    Condition::Role role = Condition::Role::input;
    std::vector<ConditionalPlace> places;
    std::string group = {};  // the column whose values the places are; empty: bins, months or hours
};

struct ConditionalCalibration {
    std::vector<ConditionalColumn> columns;
    // A calibrated forecast of independent rows (or groups) fails anywhere at all with at most this probability.
    double error_rate = 0.02;
    double critical = 0;    // what |t| must not exceed
    std::size_t tests = 0;  // up to four in each place; 0: there was none to look at
    bool passes = true;
    double mean_z = 0, sd_z = 0, coverage = 0;  // of all rows, with which places are compared
    // Of z from one row to the next, in the order of time or of the rows; and what so many rows are worth.
    double neighbours = 0;
    double effective_rows = 0;
    bool neighbours_err_together = false;

    // The place that is furthest off, in words; empty where none is.
    std::string worst;
    std::optional<Condition::Role> worst_role;
    ConditionalPlace::Fault worst_fault = ConditionalPlace::Fault::bias;
    // What mean and spread do not show.
    bool is_of_shape() const {
        return worst_fault == ConditionalPlace::Fault::coverage || worst_fault == ConditionalPlace::Fault::shape;
    }
    std::string worst_column = {};
    std::string worst_group = {};  // the same, where that place is a value of a column
};

// `scores` are the normal scores of the PITs of all rows. Groups, or blocks of neighbours where these err together, are
// what counts as independent. NaN scores and rows whose weight is 0 are left out; otherwise weights do not count.
ConditionalCalibration conditional_calibration(std::span<const double> scores, std::span<const Condition> conditions,
                                               const Grouping& groups = {}, std::span<const double> times = {},
                                               std::span<const double> weights = {});

// Where the figures of a place lie by chance if it is like all rows: within `t` standard errors.
struct ChanceRange {
    double low, high;
};
struct PlaceByChance {
    ChanceRange mean_z, sd_z, coverage;
};
PlaceByChance by_chance(const ConditionalCalibration& conditional, const ConditionalPlace& place, double t);

// The inputs of an archive (those that are a season or an hour as months and hours), its prediction, columns of `by`,
// groups (of a recalibration too) and times (months and hours where they are dates). The memory that they need is kept
// beside them.
class ArchiveConditions {
public:
    explicit ArchiveConditions(const Archive& archive);
    std::span<const Condition> all() const { return conditions_; }

private:
    void add_values(std::string name, Condition::Role role, std::vector<std::uint32_t> codes,
                    std::vector<std::string> labels);
    void add_months(std::string name, Condition::Role role, std::span<const double> times);
    void add_hours(std::string name, Condition::Role role, std::span<const double> times);

    std::vector<Condition> conditions_;
    std::vector<std::vector<std::uint32_t>> codes_;
    std::vector<std::vector<std::string>> labels_;
};

// Normal scores of the PITs of rows, from errors y - mean and standard deviations; NaN where sigma is.
std::vector<double> normal_scores(std::span<const double> errors, std::span<const double> sigmas,
                                  const Families& families);

// A forecast that is right on average only is not called calibrated, and a remark names the worst place; where there
// was no place to look at it is called calibrated on average.
void add_conditional(Verdict& verdict, const ConditionalCalibration& conditional);

// A forecast of which nobody looked at the places is called calibrated on average.
void say_on_average(Verdict& verdict);

nlohmann::ordered_json to_json(const ConditionalCalibration& conditional);

}  // namespace accrue
