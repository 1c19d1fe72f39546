// Two hidden layers, 50 ReLU units and 10 symmetric saturating linear units (clipped to [-1, 1]); the output is log
// sigma.
#pragma once

#include "sigma/form.hpp"

namespace accrue::sigma {

class Network final : public Form {
public:
    static constexpr std::size_t kFirst = 50;
    static constexpr std::size_t kSecond = 10;

    // Passes in single precision are twice as fast: log sigma is then right to about 1e-6; sums over the rows of a
    // call are kept in single precision, sums over calls in double.
    enum class Precision { full, single };

    explicit Network(std::size_t inputs, Precision precision = Precision::full)
        : inputs_(inputs), precision_(precision) {}

    std::string_view name() const override { return "network"; }
    std::size_t parameters() const override {
        return first_weights_end() + kFirst + kFirst * kSecond + kSecond + kSecond + 1;
    }
    std::vector<double> start(core::Random& random, double log_spread) const override;
    void log_sigma(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                   double* out) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, double* gradient) const override;

    std::shared_ptr<const Form> rough() const override { return std::make_shared<Network>(inputs_, Precision::single); }

private:
    std::size_t first_weights_end() const { return kFirst * inputs_; }

    std::size_t inputs_;
    Precision precision_;
};

}  // namespace accrue::sigma
