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

namespace accrue {

namespace {

constexpr double kTooMuch = 10;     // beyond, a percentage is no help
constexpr double kTooFewRows = 10;  // nearly every forecast would pass
constexpr double kFewRows = 100;
constexpr double kCalibrated = 2;    // times the floor
constexpr double kNearly = 0.03;     // a calibration error that most uses can live with
constexpr double kLeastBias = 0.05;  // in sigmas
constexpr double kLeastSpread = 0.05;
constexpr double kLeastLoss = 0.005;  // of CRPS against a constant sigma
constexpr double kChance = 3;         // standard errors

std::string percent(double share) {
    const double p = 100 * share;
    return p < 9.95 ? fmt::format("{:.1f}%", p) : fmt::format("{:.0f}%", p);
}

std::string times(double factor) {
    return factor > 1 / kTooMuch && factor < kTooMuch ? fmt::format("{:.2f}", factor) : fmt::format("{:.2g}", factor);
}

// How far the mean of n numbers of standard deviation `sd` (about their own mean) is from zero by chance: kChance
// standard errors, or for few rows, whose sd is itself a matter of chance, as many as are equally rare for Student's t.
double chance_of_mean(double n, double sd) {
    if (n < 1.5) return std::numeric_limits<double>::infinity();
    const double rare = boost::math::cdf(complement(boost::math::normal(), kChance));
    const double errors = boost::math::quantile(complement(boost::math::students_t(n - 1), rare));
    return errors * sd / std::sqrt(n - 1);
}

}  // namespace

Verdict verdict(const Verification& v) {
    const double n = v.effective_rows;
    // An error too many sigmas large for a double: mean and spread of z say nothing else any more.
    const bool beyond_measure = !std::isfinite(v.mean_z) || !std::isfinite(v.sd_z);
    const bool biased = !beyond_measure && std::fabs(v.mean_z) > std::max(kLeastBias, chance_of_mean(n, v.sd_z));
    const double spread_noise = std::max(kLeastSpread, kChance / std::sqrt(2 * n));
    const bool overconfident = !beyond_measure && v.sd_z > 1 + spread_noise;
    const bool underconfident = v.sd_z < 1 - spread_noise;
    const bool calibrated = v.calibration_error <= kCalibrated * v.calibration_floor;
    const bool nearly = v.calibration_error <= kNearly;

    // What is wrong, in a word, and how it shows.
    std::vector<std::string> names;
    std::vector<std::string> signs;
    if (beyond_measure) {
        names.emplace_back("overconfident beyond measure");
        signs.emplace_back("an error is too many sigmas large for a number");
    }
    if (overconfident) {
        names.push_back(v.sd_z > kTooMuch ? std::string("overconfident by far")
                                          : fmt::format("overconfident by about {:.0f}%", 100 * (v.sd_z - 1)));
        signs.push_back(fmt::format("errors are {} times as large as sigma says", times(v.sd_z)));
    }
    if (underconfident) {
        names.push_back(v.sd_z < 1 / kTooMuch ? std::string("underconfident by far")
                                              : fmt::format("underconfident by about {:.0f}%", 100 * (1 / v.sd_z - 1)));
        signs.push_back(fmt::format("errors are only {} times as large as sigma says", times(v.sd_z)));
    }
    if (biased) {
        names.emplace_back("biased");
        signs.push_back(fmt::format("observations lie on average {:.2f} sigma {} the predictions", std::fabs(v.mean_z),
                                    v.mean_z > 0 ? "above" : "below"));
    }

    Verdict result;
    const std::string rows = fmt::format("{} row{}", v.rows, v.rows == 1 ? "" : "s");
    const std::string figures = fmt::format("calibration error {}, floor {} for {}", percent(v.calibration_error),
                                            percent(v.calibration_floor), rows);
    if (!names.empty()) {
        std::string name = fmt::format("{}", fmt::join(names, " and "));
        name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        result.summary = fmt::format("{}: {}; {}.", name, fmt::join(signs, ", and "), figures);
    } else if (calibrated && n < kTooFewRows) {
        result.summary = fmt::format("Too few rows to tell: {}.", figures);
    } else if (calibrated) {
        result.summary = fmt::format("Calibrated: {}.", figures);
    } else if (nearly) {
        result.summary = fmt::format("Nearly calibrated: {}.", figures);
    } else {
        result.summary = fmt::format(
            "Not calibrated, though spread and mean are right: the errors are not Gaussian around the prediction; {}.",
            figures);
    }

    if (n < kFewRows)
        result.remarks.push_back(fmt::format("Only {}: a calibration error below {} cannot be told from chance.", rows,
                                             percent(v.calibration_floor)));
    if (v.crps_skill < -kLeastLoss)
        result.remarks.push_back(fmt::format("One constant sigma of {:.4g} would do better: its CRPS is {} lower.",
                                             v.constant_sigma, percent(1 - 1 / (1 - v.crps_skill))));
    // Half the rows below or above zero: off by two floors, or 3.3 standard errors, is not chance.
    if (!calibrated && !nearly && v.sign_bound > std::max(2 * v.calibration_floor, 0.5 * v.calibration_error))
        result.remarks.push_back(
            fmt::format("The sign of the errors alone sets the calibration error to at least {}: correct the bias, or "
                        "recalibrate (accrue fit --recalibrate isotonic); no sigma can mend it.",
                        percent(v.sign_bound)));
    if (!v.groups.empty())
        result.remarks.emplace_back("The p-value and the floor assume independent rows; the bands resample groups.");
    return result;
}

}  // namespace accrue
