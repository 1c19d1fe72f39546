// Rows of an experiment: standardised inputs, column after column, and a target.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "core/columns.hpp"

namespace accrue::paper {

// x -> (x - centre)/scale, with the values' own mean and standard deviation.
struct Standard {
    double centre = 0;
    double scale = 1;
    explicit Standard(std::span<const double> values) {
        for (const double value : values) centre += value / static_cast<double>(values.size());
        double square = 0;
        for (const double value : values) square += (value - centre) * (value - centre);
        const double sd = std::sqrt(square / static_cast<double>(values.size()));
        if (sd > 0) scale = sd;
    }
    double operator()(double value) const { return (value - centre) / scale; }
    double back(double value) const { return centre + scale * value; }
};

struct ExperimentRows {
    std::size_t inputs = 0;
    std::vector<double> x;  // column after column
    std::vector<double> y;

    std::size_t count() const { return y.size(); }
    core::Columns columns() const { return {x.data(), count(), inputs}; }
    std::vector<std::span<const double>> spans() const {
        std::vector<std::span<const double>> all;
        for (std::size_t k = 0; k < inputs; ++k) all.emplace_back(&x[k * count()], count());
        return all;
    }
    // Some of them, in that order.
    ExperimentRows some(std::span<const std::size_t> rows) const {
        ExperimentRows taken{inputs, {}, {}};
        for (std::size_t k = 0; k < inputs; ++k)
            for (const std::size_t i : rows) taken.x.push_back(x[k * count() + i]);
        for (const std::size_t i : rows) taken.y.push_back(y[i]);
        return taken;
    }
};

}  // namespace accrue::paper
