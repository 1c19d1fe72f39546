#include "fit/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace accrue::fitting {

namespace {

constexpr double kFewRows = 100;
constexpr double kLittleSkill = 0.005;  // below this a constant does as well
constexpr double kWorthCorrecting = 0.01;

}  // namespace

Verdict fit_verdict(const Verification& v, const FitOptions& options, const BiasGain& gain) {
    Verdict result = verdict(v);
    if (options.form != "constant" && !(v.crps_skill > kLittleSkill))
        result.remarks.push_back(fmt::format(
            "sigma(x) is no better than a constant here (skill {:+.1f}%): the inputs say little about the size of the "
            "errors. Try other inputs, or --form constant.",
            100 * v.crps_skill));
    const double best = std::max(gain.constant, gain.linear);
    if (options.bias == "none" && best > kWorthCorrecting) {
        const bool linear = gain.linear > gain.constant + kWorthCorrecting / 2;
        result.remarks.push_back(
            fmt::format("The predictions are biased: --bias {} would lower the CRPS by about {:.1f}%.",
                        linear ? "linear" : "constant", 100 * (linear ? gain.linear : gain.constant)));
    } else if (options.bias == "constant" && gain.linear > gain.constant + kWorthCorrecting) {
        result.remarks.push_back(
            fmt::format("--bias linear would lower the CRPS by another {:.1f}%.", 100 * (gain.linear - gain.constant)));
    }
    if (v.effective_rows < kFewRows && options.form == "network")
        result.remarks.push_back(fmt::format(
            "With {} rows a network learns little; believe sigma(x) only where it agrees with what you know.", v.rows));
    return result;
}

}  // namespace accrue::fitting
