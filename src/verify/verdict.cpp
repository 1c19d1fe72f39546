// Figures to words. Every threshold is a multiple of what chance alone would show for as many rows, with a least
// effect below which nobody would act.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cctype>
#include <cmath>
#include <limits>

#include "accrue/verify.hpp"
#include "core/error.hpp"

namespace accrue {

namespace {

constexpr double kTooMuch = 10;     // beyond, a percentage is no help
constexpr double kTooFewRows = 10;  // nearly every forecast would pass
constexpr double kFewRows = 100;
constexpr double kShapeRows = 20;  // fewer do not show the shape of their distribution
constexpr double kCalibrated = 2;  // times the floor, which chance exceeds about once in 130 times
// A recalibrated fit has the mean calibration error of its folds, which strays less than that of one set of rows.
constexpr double kMinPValue = 0.005;
constexpr double kNearly = 0.03;   // a calibration error that most uses can live with
constexpr double kMinBias = 0.05;  // in sigmas
constexpr double kMinSpread = 0.05;
constexpr double kMinTail = 0.1;           // of the sd of z beyond what its 5% and 95% quantiles make of it
constexpr double kMinMiddle = 0.1;         // the same of those quantiles and the quartiles
constexpr double kMinTailOfSkewed = 0.25;  // both: one long tail is what skew is
constexpr double kMinSkew = 0.1;
constexpr double kMinLoss = 0.005;     // of CRPS against a constant sigma
constexpr double kChance = 3;          // standard errors
constexpr double kMuchLarger = 0.25;   // than any place of the archive showed
constexpr double kClearlyAlike = 0.1;  // a correlation
constexpr double kMuchFewer = 0.8;     // of the rows: what they are worth is then said
constexpr double kManyOffSupport = 0.05;
// Where the calibration error shows already that something is wrong, this many are enough to say what.
constexpr double kChanceOfCause = 2;

// Standard errors, times sqrt(n), of statistics of n normal numbers, from the joint normal distribution of their order
// statistics: the median, the distance of the 5% and 95% quantiles over that of a standard normal, the sd over it, it
// over the same of the quartiles, and the two measures of skew below.
constexpr double kErrorOfMedian = 1.2533;
constexpr double kErrorOfSpread90 = 0.884;
constexpr double kErrorOfTail = 0.530;
constexpr double kErrorOfMiddle = 1.205;
constexpr double kErrorOfSkew = 1.0;
constexpr double kErrorOfMiddleSkew = 1.356;

std::string percent(double share) {
    const double p = 100 * share;
    return p < 9.95 ? fmt::format("{:.1f}%", p) : fmt::format("{:.0f}%", p);
}

std::string times(double factor) {
    return factor > 1 / kTooMuch && factor < kTooMuch ? fmt::format("{:.2f}", factor) : fmt::format("{:.2g}", factor);
}

// How far the mean of n numbers of standard deviation `sd` (about their own mean) is from zero by chance: `chance`
// standard errors, or for few rows, whose sd is itself a matter of chance, as many as are equally rare for Student's t.
double chance_of_mean(double n, double sd, double chance) {
    if (n < 1.5) return std::numeric_limits<double>::infinity();
    const double rare = boost::math::cdf(complement(boost::math::normal(), chance));
    const double errors = boost::math::quantile(complement(boost::math::students_t(n - 1), rare));
    return errors * sd / std::sqrt(n - 1);
}

// How z is distributed, by quantiles, which a few large errors leave alone.
struct ZShape {
    double median = 0;
    double spread_90 = 0;       // distance of the 5% and 95% quantiles, over that of a standard normal
    double spread_50 = 0;       // the same of the quartiles
    bool known = false;         // there are enough rows
    bool heavy_tails = false;   // the sd is larger than spread_90 by more than chance
    bool heavy_middle = false;  // spread_90 is larger than the same of the quartiles
    bool skewed = false;

    bool heavy() const { return heavy_tails || heavy_middle; }
    bool gaussian() const { return !heavy() && !skewed; }
};

ZShape shape_of_z(const Verification& v, double chance) {
    constexpr double kWidth90 = 3.2897072539029444;  // of a standard normal
    constexpr double kWidth50 = 1.3489795003921634;
    ZShape shape;
    const double n = std::min(v.effective_rows, v.spread_rows());
    if (v.z_quantiles.size() != kZShares.size()) return shape;
    const double low = v.z_quantiles[0];
    const double high = v.z_quantiles[4];
    const double low_quartile = v.z_quantiles[1];
    const double high_quartile = v.z_quantiles[3];
    const auto noise = [&](double least, double error) { return std::max(least, chance * error / std::sqrt(n)); };
    shape.median = v.z_quantiles[2];
    shape.spread_90 = (high - low) / kWidth90;
    shape.known = n >= kShapeRows && std::isfinite(shape.spread_90);
    if (!shape.known) return shape;
    shape.spread_50 = (high_quartile - low_quartile) / kWidth50;
    // In the tails by more than chance, and in the middle to the same side: tails alone stray far where they are heavy.
    const double skew = high + low - 2 * shape.median;
    const double middle_skew = high_quartile + low_quartile - 2 * shape.median;
    shape.skewed = std::fabs(skew) > noise(kMinSkew, kErrorOfSkew) * (high - low) && (skew > 0) == (middle_skew > 0) &&
                   std::fabs(middle_skew) > kErrorOfMiddleSkew / std::sqrt(n) * (high_quartile - low_quartile);
    const double least_tail = shape.skewed ? kMinTailOfSkewed : kMinTail;
    const double least_middle = shape.skewed ? kMinTailOfSkewed : kMinMiddle;
    // Errors that keep to their two ends, as bounded ones may, have a large sd and larger quartiles.
    shape.heavy_tails = !std::isfinite(v.sd_z) ||
                        (v.sd_z > (1 + noise(least_tail, kErrorOfTail)) * shape.spread_90 && v.sd_z > shape.spread_50);
    // The quartiles of fewer rows stray further than their standard error says.
    shape.heavy_middle = n >= kFewRows && shape.spread_90 > (1 + noise(least_middle, kErrorOfMiddle)) * shape.spread_50;
    // Or one tail that alone is heavy: it moves the mean, and the median stays.
    const double apart = std::fabs(v.mean_z - shape.median);
    const double mean_rows = v.mean_rows();
    if (shape.heavy() && apart > std::max(kMinSkew * shape.spread_90, chance_of_mean(mean_rows, v.sd_z, chance)))
        shape.skewed = true;
    return shape;
}

// "the 90% interval covers 90.6%", for the level nearest to `wanted`; empty where none is near.
std::string covered(const Verification& v, double wanted) {
    constexpr double kNear = 0.1;
    const Coverage* nearest = nullptr;
    for (const Coverage& c : v.coverage)
        if (nearest == nullptr || std::fabs(c.level - wanted) < std::fabs(nearest->level - wanted)) nearest = &c;
    if (nearest == nullptr || std::fabs(nearest->level - wanted) > kNear) return "";
    return fmt::format("the {:g}% interval covers {:.1f}%", 100 * nearest->level, 100 * nearest->observed);
}

// ", where the 90% interval covers 61.0% and the sd of z is 1.93"
std::string outside_figures(const Verification& v) {
    if (v.outside.empty()) return "";
    const Verification& own = v.outside.front();
    const std::string coverage = covered(own, 0.9);
    return fmt::format(", where {}{}the sd of z is {}", coverage, coverage.empty() ? "" : " and ", times(own.sd_z));
}

// Two digits after the point, and no sign of zero.
std::string in_sigmas(double value) {
    const std::string text = fmt::format("{:.2f}", value);
    return text == "-0.00" ? "0.00" : text;
}

// What is wrong with a forecast: names for a headline, and how each shows.
struct Faults {
    std::vector<std::string> names, shapes, signs;
    bool biased = false;
};

void add_spread(Faults& faults, double factor, bool of_middle, const std::string& what) {
    const std::string errors = of_middle ? "the middle 90% of the errors is" : "errors are";
    const std::string large = of_middle ? "wide" : "large";
    if (factor > 1) {
        faults.names.push_back(factor > kTooMuch ? std::string("overconfident by far")
                                                 : fmt::format("overconfident by about {:.0f}%", 100 * (factor - 1)));
        faults.signs.push_back(fmt::format("{} {} times as {} as {} says", errors, times(factor), large, what));
    } else {
        faults.names.push_back(factor < 1 / kTooMuch
                                   ? std::string("underconfident by far")
                                   : fmt::format("underconfident by about {:.0f}%", 100 * (1 / factor - 1)));
        faults.signs.push_back(fmt::format("{} only {} times as {} as {} says", errors, times(factor), large, what));
    }
}

// `close`: the calibration error leaves little to be explained. What counts is beyond `chance` standard errors.
Faults faults_of(const Verification& v, bool close, double chance) {
    ZShape shape = shape_of_z(v, chance);
    const double mean_rows = v.mean_rows();
    const double spread_rows = v.spread_rows();
    Faults faults;
    const std::string what = v.ensemble ? "the ensemble" : v.recalibrated ? "the forecast" : "sigma";
    const bool has_moments = std::isfinite(v.mean_z) && std::isfinite(v.sd_z);
    if (!has_moments && !shape.known) {
        // An error too many sigmas large for a double: mean and spread of z say nothing else any more.
        faults.names.emplace_back("overconfident beyond measure");
        faults.signs.emplace_back("an error is too many sigmas large for a number");
        return faults;
    }

    // The sd of z answers for the spread where z looks normal, and the middle 90% shows at least half of it. Elsewhere
    // a few rows or one side can make it what it is, and the quantiles have to agree.
    const double sd_noise = std::max(kMinSpread, chance / std::sqrt(2 * spread_rows));
    const double spread_noise = std::max(kMinSpread, chance * kErrorOfSpread90 / std::sqrt(spread_rows));
    const bool wide = !(v.sd_z <= 1 + sd_noise);
    const bool narrow = v.sd_z < 1 - sd_noise;
    const double half = 1 + (v.sd_z - 1) / 2;
    const bool agrees = !shape.known || (wide ? shape.spread_90 > half : shape.spread_90 < half);
    if (shape.gaussian() && wide && !agrees) shape.heavy_tails = v.sd_z > shape.spread_50;
    if (shape.gaussian()) {
        if ((wide || narrow) && agrees) add_spread(faults, v.sd_z, false, what);
    } else if ((wide && shape.spread_90 > 1 + spread_noise) || (narrow && shape.spread_90 < 1 - spread_noise)) {
        add_spread(faults, shape.spread_90, true, what);
    }

    // A mean of z away from zero is a bias unless it is the work of a long tail; the median tells.
    const double median_noise = std::max(kMinBias, chance * kErrorOfMedian * shape.spread_90 / std::sqrt(mean_rows));
    const bool mean_off =
        has_moments && std::fabs(v.mean_z) > std::max(kMinBias, chance_of_mean(mean_rows, v.sd_z, chance));
    const bool median_off = shape.known && std::fabs(shape.median) > median_noise;
    if (shape.skewed)
        faults.biased = mean_off && median_off && (v.mean_z > 0) == (shape.median > 0);
    else
        faults.biased = shape.heavy() ? median_off : mean_off;
    if (faults.biased) {
        const bool by_median = shape.heavy() && !shape.skewed;
        const double off = by_median ? shape.median : v.mean_z;
        faults.names.emplace_back("biased");
        faults.signs.push_back(by_median ? fmt::format("the median observation lies {:.2f} sigma {} the prediction",
                                                       std::fabs(off), off > 0 ? "above" : "below")
                                         : fmt::format("observations lie on average {:.2f} sigma {} the predictions",
                                                       std::fabs(off), off > 0 ? "above" : "below"));
    }

    // A shape is named where it matters: the probabilities are off, or the sd of z is and nothing else tells why.
    if (shape.heavy() && (!close || (wide && shape.heavy_tails))) {
        faults.shapes.emplace_back(v.recalibrated ? "heavier tails than the recalibration allows for" : "heavy tails");
        // Tails show as a sd that the 90% interval knows nothing of, or as a middle that is narrow for its sd.
        const bool by_tails = wide && shape.heavy_tails;
        const std::string coverage = covered(v, by_tails ? 0.9 : 0.5);
        const std::string figure = has_moments ? fmt::format("the sd of z is {}", times(v.sd_z))
                                               : "an error is too many sigmas large for a number";
        faults.signs.push_back(
            coverage.empty() ? figure : fmt::format("{} {} {}", coverage, by_tails ? "but" : "though", figure));
    }
    if (shape.skewed && !close) {
        faults.shapes.emplace_back(v.recalibrated ? "skew that the recalibration misses" : "skewed errors");
        // The mean has been told where it is a bias.
        const std::string median = in_sigmas(shape.median);
        faults.signs.push_back(has_moments && !faults.biased
                                   ? fmt::format("the mean of z is {} and its median {}", in_sigmas(v.mean_z), median)
                                   : fmt::format("the median of z is {}", median));
    }
    return faults;
}

}  // namespace

Verdict verdict(const Verification& v) {
    const double n = v.effective_rows;
    const bool by_chance = !v.recalibrated || v.calibration_p_value >= kMinPValue;
    const bool calibrated = v.calibration_error <= kCalibrated * v.calibration_floor && by_chance;
    const bool nearly = v.calibration_error <= kNearly;
    const bool close = calibrated || nearly;
    Faults faults = faults_of(v, close, kChance);
    if (faults.signs.empty() && !close) faults = faults_of(v, close, kChanceOfCause);

    Verdict result;
    const double worth = std::min({n, v.mean_rows(), v.spread_rows()});
    const bool together = v.dependence != Dependence::none && worth < kMuchFewer * static_cast<double>(v.rows);
    const std::string rows =
        fmt::format("{} row{}", v.rows, v.rows == 1 ? "" : "s") + (together ? fmt::format(" worth {:.0f}", n) : "");
    const std::string figures = fmt::format("calibration error {}, floor {} for {}", percent(v.calibration_error),
                                            percent(v.calibration_floor), rows);
    if (!faults.signs.empty()) {
        std::string name = fmt::format("{}", fmt::join(faults.names, " and "));
        if (!faults.names.empty() && !faults.shapes.empty()) name += ", with ";
        name += fmt::format("{}", fmt::join(faults.shapes, " and "));
        name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        std::string signs = faults.signs.front();
        for (std::size_t i = 1; i < faults.signs.size(); ++i)
            signs += (i + 1 < faults.signs.size() ? ", " : ", and ") + faults.signs[i];
        result.summary = fmt::format("{}: {}; {}.", name, signs, figures);
    } else if (calibrated && n < kTooFewRows) {
        result.summary = fmt::format("Too few rows to tell: {}.", figures);
    } else if (calibrated) {
        result.summary = fmt::format("Calibrated: {}.", figures);
    } else if (nearly) {
        result.summary = fmt::format("Nearly calibrated: {}.", figures);
    } else {
        result.summary = fmt::format("Not calibrated, though spread and mean are right: {}; {}.",
                                     v.ensemble       ? "ranks among the members are not uniform"
                                     : v.recalibrated ? "the recalibration does not fit these rows"
                                                      : "the errors are not Gaussian around the prediction",
                                     figures);
    }

    if (n < kFewRows)
        result.remarks.emplace_back(fmt::format("Only {}: a calibration error below {} cannot be told from chance.",
                                                rows, percent(v.calibration_floor)));
    if (v.crps_skill < -kMinLoss)
        result.remarks.emplace_back(fmt::format("One constant sigma of {:.4g}{} would do better: its CRPS is {} lower.",
                                                v.constant_sigma, v.ensemble ? " around the mean of the members" : "",
                                                percent(1 - 1 / (1 - v.crps_skill))));
    // Half the rows below or above zero: off by two floors, or 3.3 standard errors, is not chance.
    if (!calibrated && !nearly && v.sign_bound > std::max(2 * v.calibration_floor, 0.5 * v.calibration_error))
        result.remarks.push_back(core::message(
            "The sign of the errors alone sets the calibration error to at least {}: {} ({}); {} can mend it.",
            percent(v.sign_bound), faults.biased ? "correct the bias, or recalibrate" : "recalibrate",
            OptionName{"recalibrate", "isotonic", true, "accrue fit --recalibrate"},
            faults.biased ? "no sigma" : "no sigma and no correction of the mean"));
    const double least = 1 + std::max(kMuchLarger, kChance / std::sqrt(2 * v.spread_rows()));
    const double spread = std::min(v.sd_z, shape_of_z(v, kChance).known ? shape_of_z(v, kChance).spread_90 : v.sd_z);
    if (!std::isnan(v.archive_sd_z) && spread > least * std::max(v.archive_sd_z, 1.0))
        result.remarks.push_back(core::message(
            "Errors are {} times as large as the model says, and nowhere in its archive were they more than {} times. "
            "The world, or what makes the predictions, has changed since; or the predictions were trained on the "
            "archive's own rows, and were too good there: fit again with rows from after they were made ({}).",
            times(spread), times(v.archive_sd_z), OptionName{"later", "FILE", true, "accrue fit --later"}));
    if (v.off_support > kManyOffSupport)
        result.remarks.emplace_back(fmt::format(
            "{} of the rows lie outside the range of the inputs that the model was fitted on: do not trust its sigma "
            "there{}.",
            percent(v.off_support), outside_figures(v)));
    if (together) {
        const std::string who =
            v.dependence == Dependence::groups ? "Rows of one group err together"
            : v.neighbours > kClearlyAlike
                ? fmt::format("Neighbouring rows err together (correlation {:.2f} from one to the next)", v.neighbours)
                : "Neighbouring rows err together: their errors are alike in size";
        result.remarks.emplace_back(fmt::format(
            "{}. {} rows tell as much of the calibration error as {:.0f} independent ones, of a bias as {:.0f}, of the "
            "spread as {:.0f}: floors, bands, p-values and the verdict count these.",
            who, v.rows, n, v.mean_rows(), v.spread_rows()));
    }
    return result;
}

}  // namespace accrue
