// sigma does not depend on x: one parameter, its logarithm.
#pragma once

#include "sigma/form.hpp"

namespace accrue::sigma {

class Constant final : public Form {
public:
    std::string_view name() const override { return "constant"; }
    std::size_t parameters() const override { return 1; }
    std::vector<double> start(core::Random&, double log_spread) const override { return {log_spread}; }
    void log_sigma(std::span<const double> parameters, const Columns&, std::size_t begin, std::size_t end,
                   double* out) const override {
        for (std::size_t i = 0; i < end - begin; ++i) out[i] = parameters[0];
    }
    void add_gradient(std::span<const double>, const Columns&, std::size_t begin, std::size_t end, const double* slopes,
                      double* gradient) const override {
        for (std::size_t i = 0; i < end - begin; ++i) gradient[0] += slopes[i];
    }
};

}  // namespace accrue::sigma
