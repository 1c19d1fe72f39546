// From a function of one row to scores and slopes of many.
#pragma once

#include <vector>

#include "accrue/family.hpp"

namespace accrue::families {

struct RowSlope {
    double by_u = 0;
    double by_log_scale = 0;
};

// Calls row(i, u, further parameters, where their slopes go) for every row, which gives the slope by u and what the
// score changes by log scale beside it; hands all slopes on. What is a bound moves with location and scale as u does.
template <typename Row>
void for_rows(const Family& family, const Family::Rows& rows, const Family::RowSlopes* slopes, Row&& row) {
    const std::size_t further = family.further().size();
    const std::vector<Family::Given> given = family.given();
    std::vector<double> own(further + given.size());
    std::vector<double> by(slopes != nullptr ? own.size() : 0);
    for (std::size_t i = 0; i < rows.count; ++i) {
        const double scale = rows.scales[i];
        const double u = rows.errors[i] / scale;
        for (std::size_t k = 0; k < further; ++k) own[k] = rows.further[k * rows.stride + i];
        for (std::size_t k = 0; k < given.size(); ++k)
            own[further + k] = rows.given[k * rows.stride + i] / (given[k] == Family::Given::bound ? scale : 1);
        const RowSlope at = row(i, u, Family::Further(own), std::span(by));
        if (slopes == nullptr) continue;
        for (std::size_t k = 0; k < further; ++k) slopes->further[k * slopes->stride + i] = by[k];
        double location = at.by_u;
        double log_scale = at.by_log_scale - u * at.by_u;
        for (std::size_t k = 0; k < given.size(); ++k) {
            if (given[k] != Family::Given::bound) continue;
            location += by[further + k];
            log_scale -= own[further + k] * by[further + k];
        }
        if (slopes->location != nullptr) slopes->location[i] = -location / scale;
        slopes->log_scale[i] = log_scale;
    }
}

}  // namespace accrue::families
