#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "core/random.hpp"
#include "generate/generators.hpp"

namespace accrue::generators {

namespace {

constexpr double kPi = std::numbers::pi;

// Rows of `Inputs` numbers uniform on [0, width), with what truth(inputs) says about them.
template <std::size_t Inputs, typename Function>
GeneratedData sample(std::size_t rows, std::uint64_t seed, double width, Function truth) {
    GeneratedData data;
    for (std::size_t d = 0; d < Inputs; ++d) data.names.push_back(Inputs == 1 ? "x" : fmt::format("x{}", d + 1));
    for (const char* name : {"f", "true_sigma", "y"}) data.names.emplace_back(name);
    data.columns.resize(data.names.size());
    for (std::vector<double>& column : data.columns) column.reserve(rows);

    core::Random random(seed);
    std::array<double, Inputs> x{};
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t d = 0; d < Inputs; ++d) {
            x[d] = width * random.uniform();
            data.columns[d].push_back(x[d]);
        }
        const Truth at = truth(x);
        data.columns[Inputs].push_back(at.f);
        data.columns[Inputs + 1].push_back(at.sigma);
        data.columns[Inputs + 2].push_back(at.f + at.sigma * random.normal());
    }
    return data;
}

Truth g_at(double x) {
    return {2.0 * std::sin(2.0 * kPi * x), 0.5 * x + 0.5};
}

Truth y_at(double x) {
    const double from_bump = x - 0.25;
    return {2.0 * (std::exp(-30.0 * from_bump * from_bump) + std::sin(kPi * x * x)) - 2.0,
            std::exp(std::sin(2.0 * kPi * x)) / 3.0};
}

Truth w_at(double x) {
    const double wave = std::sin(2.5 * x);
    return {wave * std::sin(1.5 * x), 0.01 + 0.25 * (1.0 - wave) * (1.0 - wave)};
}

GeneratedData sample_curve(std::size_t rows, std::uint64_t seed, const char* name) {
    const Curve own = curve(name);
    return sample<1>(rows, seed, own.width, [&](const std::array<double, 1>& inputs) { return own.at(inputs[0]); });
}

}  // namespace

Curve curve(const std::string& name) {
    if (name == "G") return {1.0, g_at};
    if (name == "Y") return {1.0, y_at};
    if (name == "W") return {kPi, w_at};
    core::refuse("there is no curve '{}'; known are G, Y, W", name);
}

GeneratedData g(std::size_t rows, std::uint64_t seed) {
    return sample_curve(rows, seed, "G");
}
GeneratedData y(std::size_t rows, std::uint64_t seed) {
    return sample_curve(rows, seed, "Y");
}
GeneratedData w(std::size_t rows, std::uint64_t seed) {
    return sample_curve(rows, seed, "W");
}

GeneratedData five_d(std::size_t rows, std::uint64_t seed) {
    return sample<5>(rows, seed, 1.0, [](const std::array<double, 5>& x) {
        double sum = 0.0;
        for (const double value : x) sum += 5.0 * value;
        return Truth{0.0, 0.45 * (std::cos(kPi + sum) + 1.2)};
    });
}

}  // namespace accrue::generators
