// The network of sigma as a plain loop over rows and weights: what the library's kernels are measured against. The
// order of the parameters is that of the model file (docs/model-file.md).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/columns.hpp"

namespace accrue::bench {

class PlainNetwork {
public:
    static constexpr std::size_t kFirst = 50;
    static constexpr std::size_t kSecond = 10;

    explicit PlainNetwork(std::size_t inputs) : inputs_(inputs) {}

    // Multiplications and additions of one row, weights only: a product and a sum each.
    static constexpr double forward_flops(std::size_t inputs) {
        return 2.0 * static_cast<double>(kFirst * inputs + kFirst * kSecond + kSecond);
    }
    // Forward, back through the upper two layers, and the slope of every weight.
    static constexpr double gradient_flops(std::size_t inputs) {
        return 2 * forward_flops(inputs) + 2.0 * (kFirst * kSecond + kSecond);
    }

    double log_sigma(const double* parameters, const core::Columns& x, std::size_t row) {
        const double* weights = parameters;
        const double* biases = weights + kFirst * inputs_;
        for (std::size_t j = 0; j < kFirst; ++j) {
            double sum = biases[j];
            for (std::size_t k = 0; k < inputs_; ++k) sum += weights[j * inputs_ + k] * x.data[k * x.stride + row];
            first_[j] = std::max(sum, 0.0);
        }
        weights = biases + kFirst;
        biases = weights + kFirst * kSecond;
        for (std::size_t i = 0; i < kSecond; ++i) {
            second_[i] = biases[i];
            for (std::size_t j = 0; j < kFirst; ++j) second_[i] += weights[i * kFirst + j] * first_[j];
        }
        const double* output = biases + kSecond;
        double sum = output[kSecond];
        for (std::size_t i = 0; i < kSecond; ++i) sum += output[i] * std::clamp(second_[i], -1.0, 1.0);
        return sum;
    }

    // Adds slope * d log sigma / d parameters of one row.
    void add_gradient(const double* parameters, const core::Columns& x, std::size_t row, double slope,
                      double* gradient) {
        log_sigma(parameters, x, row);
        const std::size_t second = kFirst * (inputs_ + 1);
        const std::size_t output = second + kSecond * (kFirst + 1);
        std::array<double, kFirst> first_slopes{};
        for (std::size_t i = 0; i < kSecond; ++i) {
            gradient[output + i] += slope * std::clamp(second_[i], -1.0, 1.0);
            if (second_[i] * second_[i] >= 1) continue;
            const double down = slope * parameters[output + i];
            gradient[second + kFirst * kSecond + i] += down;
            for (std::size_t j = 0; j < kFirst; ++j) {
                gradient[second + i * kFirst + j] += down * first_[j];
                first_slopes[j] += down * parameters[second + i * kFirst + j];
            }
        }
        gradient[output + kSecond] += slope;
        for (std::size_t j = 0; j < kFirst; ++j) {
            if (first_[j] <= 0) continue;
            gradient[kFirst * inputs_ + j] += first_slopes[j];
            for (std::size_t k = 0; k < inputs_; ++k)
                gradient[j * inputs_ + k] += first_slopes[j] * x.data[k * x.stride + row];
        }
    }

private:
    std::size_t inputs_;
    std::array<double, kFirst> first_{};
    std::array<double, kSecond> second_{};
};

}  // namespace accrue::bench
