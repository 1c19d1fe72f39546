// The data sets behind accrue::generate. A new one is a function of this shape and a line in generate.cpp's list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "accrue/generate.hpp"

namespace accrue::generators {

// The paper's toy sets (method.md, "The paper's data sets"): y = f(x) + true_sigma(x) N(0,1), x uniform on its domain.
// A row takes its numbers from core::Random(seed) in the order of its inputs (x, or x1 to x5), then the N(0,1) of y,
// so that a longer set starts with the rows of a shorter one. The random numbers are the same everywhere; f, sigma and
// y pass through the machine's sin, cos and exp, whose last place may differ between mathematical libraries.
GeneratedData g(std::size_t rows, std::uint64_t seed);
GeneratedData y(std::size_t rows, std::uint64_t seed);
GeneratedData w(std::size_t rows, std::uint64_t seed);
GeneratedData five_d(std::size_t rows, std::uint64_t seed);

// What lies behind the sets of one input.
struct Truth {
    double f;
    double sigma;
};
struct Curve {
    double width;  // x is in [0, width)
    Truth (*at)(double x);
};
Curve curve(const std::string& name);  // G, Y or W; throws InputError for another

// Forecasts of a Lorenz-96 world by a model that does not see its small scale; lorenz.cpp describes it.
GeneratedData lorenz(std::size_t rows, std::uint64_t seed);
// The same with another version of the model from this share of the rows on.
GeneratedData changing_lorenz(std::size_t rows, std::uint64_t seed, double change_at);

}  // namespace accrue::generators
