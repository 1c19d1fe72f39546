// From the location and scale of rows to their mean, standard deviation and parameters.
#pragma once

#include <cstdint>

#include "accrue/family.hpp"

namespace accrue::forecasts {

class RowParameters {
public:
    explicit RowParameters(const Family& family);

    std::size_t width() const { return width_; }  // parameters_per_row

    // Of a row with this number, and the map of this number (accrue/group_maps.hpp): replaces location and scale by
    // mean and standard deviation, and writes its parameters.
    void operator()(double& location, double& scale, std::span<const double> further, std::uint64_t number, double map,
                    std::span<double> parameters) const;

private:
    const Family& family_;
    std::vector<double> bounds_;  // of y: lower, upper, those that there are
    std::size_t width_;
    std::vector<Family::Given> given_;
    double mean_ = 0, sd_ = 1;  // of u, where rows are alike
};

}  // namespace accrue::forecasts
