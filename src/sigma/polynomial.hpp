// [ALG1] sigma(x) is a polynomial of one input, positive on the whole range of the archive.
#pragma once

#include "sigma/form.hpp"

namespace accrue::sigma {

// Parameters are the coefficients of the Chebyshev polynomials T_0..T_order of u, the input mapped from its range to
// [-1, 1]: the same polynomials as sums of powers, but far better conditioned for the minimiser. Outside the range the
// input is clamped to it.
class Polynomial final : public Form {
public:
    static constexpr std::size_t kHighestOrder = 10;

    Polynomial(Range range, std::size_t order) : range_(range), order_(order) {}

    std::string_view name() const override { return "polynomial"; }
    std::size_t parameters() const override { return order_ + 1; }
    std::vector<double> start(core::Random&, double log_spread) const override;

    // Positive between the rows too: on all of [-1, 1], above the smallest sigma that is allowed.
    bool admissible(std::span<const double> parameters) const override;

    void log_sigma(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                   double* out) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, double* gradient) const override;

private:
    double mapped(double x) const;

    Range range_;
    std::size_t order_;
};

}  // namespace accrue::sigma
