// Figures that cannot be stop with an error.
#include "verify/possible.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace accrue {
namespace {

Verification some_figures() {
    return verify(std::vector<double>{0.1, -1, 2, 0.5, -0.3}, std::vector<double>{1, 1, 2, 1, 1});
}

TEST(Possible, FiguresPass) {
    EXPECT_NO_THROW(verification::require_possible(some_figures()));
    // Undefined, or too large for a double: neither is a defect.
    Verification v = some_figures();
    v.crps_skill = v.nlpd = std::numeric_limits<double>::quiet_NaN();
    v.crps = v.rmse = v.sd_z = std::numeric_limits<double>::infinity();
    EXPECT_NO_THROW(verification::require_possible(v));
}

TEST(Possible, EveryFigureOutOfItsBoundsIsADefect) {
    const std::vector<void (*)(Verification&)> defects = {
        [](Verification& v) { v.crps = -21.6; },
        [](Verification& v) { v.crps_skill = 18.26; },
        [](Verification& v) { v.rs = -0.01; },
        [](Verification& v) { v.calibration_error = 1.01; },
        [](Verification& v) { v.calibration_error = -0.01; },
        [](Verification& v) { v.calibration_p_value = 1.1; },
        [](Verification& v) { v.sharpness = -1; },
        [](Verification& v) { v.rmse = -1; },
        [](Verification& v) { v.sd_z = -1; },
        [](Verification& v) { v.coverage[1].observed = 1.2; },
        [](Verification& v) { v.coverage[1].mean_width = -1; },
        [](Verification& v) { v.coverage[1].interval_score = -1; },
        [](Verification& v) {
            Verification part = v;
            part.crps = -1;
            v.by = {{"site", {part}}};
        },
    };
    for (std::size_t d = 0; d < defects.size(); ++d) {
        Verification v = some_figures();
        defects[d](v);
        EXPECT_THROW(verification::require_possible(v), DefectError) << d;
    }
}

TEST(Possible, TheMessageNamesTheFigure) {
    Verification v = some_figures();
    v.crps = -21.6;
    try {
        verification::require_possible(v);
        FAIL();
    } catch (const DefectError& error) {
        EXPECT_STREQ(error.what(),
                     "the CRPS came out as -21.6, but it is never negative: this is a defect of accrue, please report "
                     "it. No figure is shown");
    }
}

}  // namespace
}  // namespace accrue
