#include "verify/possible.hpp"

#include <fmt/format.h>

#include <cmath>

namespace accrue::verification {

namespace {

// What rounding may add to a share.
constexpr double kRounding = 1e-9;

void require(bool holds, const char* what, double value, const char* rule) {
    if (holds) return;
    throw DefectError(
        fmt::format("the {} came out as {}, but {}: this is a defect of accrue, please report it. No figure is shown",
                    what, value, rule));
}

void require_share(const char* what, double value) {
    require(!(value < -kRounding) && !(value > 1 + kRounding), what, value, "a share is between 0 and 1");
}

}  // namespace

void require_possible(const Verification& v) {
    require(!(v.crps < 0), "CRPS", v.crps, "it is never negative");
    require(!(v.crps_skill > 1 + kRounding), "skill of the CRPS", v.crps_skill, "no skill is above 100%");
    // Its terms are as large as z is, and cancel.
    const double rounding = kRounding * (1 + std::fabs(v.mean_z) + v.sd_z);
    require(!(v.rs < -rounding), "reliability score", v.rs, "it is never negative");
    require_share("calibration error", v.calibration_error);
    require_share("p-value of the calibration", v.calibration_p_value);
    require(!(v.sharpness < 0), "root mean square sigma", v.sharpness, "it is never negative");
    require(!(v.rmse < 0), "root mean square error", v.rmse, "it is never negative");
    require(!(v.sd_z < 0), "spread of z", v.sd_z, "it is never negative");
    for (const Coverage& c : v.coverage) {
        require_share("coverage", c.observed);
        require(!(c.mean_width < 0), "width of an interval", c.mean_width, "it is never negative");
        require(!(c.interval_score < 0), "interval score", c.interval_score, "it is never negative");
    }
    for (const Verification& outside : v.outside) require_possible(outside);
    for (const Verification::Breakdown& column : v.by)
        for (const Verification& value : column.values) require_possible(value);
}

}  // namespace accrue::verification
