#include "forecast/row_parameters.hpp"

#include <algorithm>

#include "accrue/bounded.hpp"
#include "families/members.hpp"

namespace accrue::forecasts {

RowParameters::RowParameters(const Family& family)
    : family_(family), width_(parameters_per_row(family)), given_(family.given()) {
    const Limits limits = family.limits();
    if (limits.has_lower()) bounds_.push_back(limits.lower);
    if (limits.has_upper()) bounds_.push_back(limits.upper);
    if (width_ > 0) return;
    mean_ = family.mean({});
    sd_ = family.sd({});
}

void RowParameters::operator()(double& location, double& scale, std::span<const double> further, std::uint64_t number,
                               double map, std::span<double> parameters) const {
    double mean = mean_;
    double sd = sd_;
    if (width_ > 0) {
        const std::span<double> values = parameters.subspan(2);
        std::copy(further.begin(), further.end(), values.begin());
        std::size_t bound = 0;
        for (std::size_t k = 0; k < given_.size(); ++k)
            values[further.size() + k] = given_[k] == Family::Given::bound ? (bounds_[bound++] - location) / scale
                                         : given_[k] == Family::Given::map ? map
                                                                           : Bounded::uniform_of_row(number);
        mean = parameters[0] = family_.mean(values);
        sd = parameters[1] = std::max(family_.sd(values), families::kLeastSd);
    }
    location += mean * scale;
    scale *= sd;
}

}  // namespace accrue::forecasts
