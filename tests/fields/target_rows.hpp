// Standardised rows and targets to try mean functions on.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "core/random.hpp"
#include "fields/average.hpp"
#include "fields/kinds.hpp"

namespace accrue::fields {

struct TargetRows {
    std::size_t rows;
    std::size_t inputs;
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> weights;

    TargetRows(std::size_t row_count, std::size_t input_count, std::uint64_t seed)
        : rows(row_count), inputs(input_count), x(row_count * input_count), y(row_count) {
        core::Random random(seed);
        for (double& value : x) value = random.normal();
        for (std::size_t i = 0; i < rows; ++i) y[i] = std::sin(1.5 * x[i]) + 0.3 * random.normal();
    }

    Columns columns() const { return {x.data(), rows, inputs}; }
    Targets targets() const { return {columns(), y, weights}; }
    void set_random_weights(std::uint64_t seed) {
        core::Random random(seed);
        weights.resize(rows);
        for (double& w : weights) w = std::exp(random.normal());
    }
    // Row `to` becomes a copy of row `from`.
    void copy_row(std::size_t from, std::size_t to) {
        for (std::size_t k = 0; k < inputs; ++k) x[k * rows + to] = x[k * rows + from];
        y[to] = y[from];
    }
};

inline std::vector<std::size_t> row_numbers(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> numbers(end - begin);
    std::iota(numbers.begin(), numbers.end(), begin);
    return numbers;
}

}  // namespace accrue::fields
