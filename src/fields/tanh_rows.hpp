// The arithmetic of the mean's network over rows: inputs - 50 tanh units - 1 linear output.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/buffer.hpp"
#include "fields/targets.hpp"

namespace accrue::fields {

inline constexpr std::size_t kUnits = 50;

// Parameters in their order: for each unit its weights, one an input, and its bias; the output's weights; its bias.
constexpr std::size_t network_parameters(std::size_t inputs) {
    return kUnits * (inputs + 1) + kUnits + 1;
}

// out[i - begin] = the network's output for row i.
void network_output(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                    double* out);

// Adds to the gradient the sum over the rows of slopes[i - begin] times that of the output.
void add_network_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                          const double* slopes, double* gradient);

// The weighted mean of squared errors over some rows, and its gradient. Forward and back in one pass over blocks of
// rows, packed once so that every pass reads memory in order. Not thread safe: each task has its own; inside, blocks
// run in parallel and sums keep their order.
class SquaredError {
public:
    // The rows' weights must not all be zero.
    SquaredError(const Targets& targets, std::span<const std::size_t> rows);

    // False where the error is not finite. The gradient may be empty.
    bool operator()(std::span<const double> parameters, double& value, std::span<double> gradient);

private:
    std::size_t rows_;
    std::size_t inputs_;
    core::Buffer<double> blocks_;
    std::vector<double> partial_;  // a chunk's error and gradient, chunk after chunk
};

}  // namespace accrue::fields
