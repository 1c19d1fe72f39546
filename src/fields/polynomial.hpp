// [ALG1] exp of the output, sigma(x), is a polynomial of one input, positive on the whole range of the archive.
#pragma once

#include "fields/kinds.hpp"

namespace accrue::fields {

// Parameters are the coefficients of the Chebyshev polynomials T_0..T_order of u, the input mapped from its range to
// [-1, 1]: the same polynomials as sums of powers, but far better conditioned for the minimiser. Outside the range the
// input is clamped to it.
class Polynomial final : public Field {
public:
    static constexpr std::size_t kHighestOrder = 10;

    Polynomial(Range range, std::size_t order) : range_(range), order_(order) {}

    std::string_view name() const override { return "polynomial"; }
    std::size_t parameters() const override { return order_ + 1; }
    std::vector<double> start(core::Random&, std::span<const double> levels) const override;

    // Positive between the rows too: on all of [-1, 1], above the smallest sigma that is allowed.
    bool admissible(std::span<const double> parameters) const override;

    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override;

private:
    double mapped(double x) const;

    Range range_;
    std::size_t order_;
};

// Every order from 0 to 10, each started from the last solution.
class PolynomialKind final : public Kind {
public:
    std::string_view name() const override { return "polynomial"; }
    bool takes_several() const override { return false; }
    std::string_view help() const override { return "sigma is a polynomial of the only input"; }
    Sizes sizes() const override { return {0, Polynomial::kHighestOrder, Choice::similar}; }
    std::string size_name(std::size_t size) const override { return "order " + std::to_string(size); }
    std::shared_ptr<const Field> make(std::span<const Range> ranges, std::size_t outputs,
                                      std::size_t size) const override;
    std::size_t size_of(std::size_t, std::size_t parameters) const override { return parameters - 1; }
    std::vector<double> grown(std::span<const double> solution, std::size_t outputs) const override;
};

}  // namespace accrue::fields
