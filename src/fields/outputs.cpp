#include "fields/outputs.hpp"

#include <cmath>

namespace accrue::fields {

std::vector<Bounds> Outputs::bounds() const {
    constexpr Bounds kLocation{-1e6, 1e6};
    std::vector<Bounds> all = {kLogSigmaBounds};
    for (const Family::Parameter& parameter : family->further()) all.push_back({parameter.low, parameter.high});
    if (location) all.push_back(kLocation);
    return all;
}

std::vector<double> Outputs::levels(double log_spread) const {
    std::vector<double> all;
    for (const Family::Parameter& parameter : family->further()) all.push_back(parameter.start);
    // The scale that gives the distribution the spread of the errors.
    const double scale = log_spread - std::log(family->unbounded().sd(all));
    all.insert(all.begin(), scale);
    if (location) all.push_back(0);
    return all;
}

}  // namespace accrue::fields
