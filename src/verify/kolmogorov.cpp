// The distribution of Kolmogorov's statistic D for n rows, c = n d. Everything here is for a whole number of rows, up
// to `at_whole_rows`.
#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "accrue/verify.hpp"
#include "core/error.hpp"

namespace accrue {

namespace {

// From here on (c = n d) the poles give all digits of the cdf; below, the matrix is small.
constexpr double kMinPoles = 14;
// From here on (n d^2) the chance that both sides exceed d, which is exp(-6 n d^2) of the whole, is below rounding.
constexpr double kOneSided = 6.5;

// log(n!) less Stirling's (n + 1/2) log n - n + log(2 pi)/2.
double stirling_rest(double n) {
    int sign = 0;  // lgamma writes a global variable
    if (n < 16) return ::lgamma_r(n + 1, &sign) - (n + 0.5) * std::log(n) + n - std::log(2 * std::numbers::pi) / 2;
    const double square = n * n;
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / n;
}

// 1 - x cot x, and the same plus log(x/sin x), for 0 < x < pi: by their series where they would cancel.
struct CotParts {
    double cot;
    double log_pole;
};
CotParts cot_parts(double x) {
    if (x > 0.35) {
        const double cot = 1 - x / std::tan(x);
        return {cot, cot + std::log(x / std::sin(x))};
    }
    constexpr std::array<double, 8> kSeries = {1.0 / 3,     1.0 / 45,           2.0 / 945,      1.0 / 4725,
                                               2.0 / 93555, 1382.0 / 638512875, 4.0 / 18243225, 3617.0 / 162820783125};
    CotParts parts{0, 0};
    double power = 1;
    for (std::size_t k = 0; k < kSeries.size(); ++k) {
        power *= x * x;
        parts.cot += kSeries[k] * power;
        parts.log_pole += kSeries[k] * power * (1 + 0.5 / static_cast<double>(k + 1));
    }
    return parts;
}

// P(D <= d) from the poles of its generating function (reference/kolmogorov.py derives it): sum over n of
// n^n/n! P(D_n <= c/n) x^n = Q_c(x)^2/Q_2c(x), where Q_a(x) = -2 Re(exp(-a u)/(u - 1)) up to terms smaller by exp(-2a),
// with u = theta cot(theta) + i theta and x = theta/sin(theta) exp(-theta cot(theta)). With psi = atan((1 - Re
// u)/theta) the poles are at 2c theta + psi = j pi, and P = n! e^n/n^n * sum_j (1 - (-1)^j/cos psi)/(2c + psi') (e
// x)^-n.
double cdf_from_poles(double n, double d) {
    const double c = n * d;
    double sum = 0;
    for (int j = 1; j < 2 * c; ++j) {
        double theta = j * std::numbers::pi / (2 * c + 1.0 / 3);
        double psi = 0;
        double slope = 0;
        CotParts parts{0, 0};
        for (int step = 0; step < 20; ++step) {
            parts = cot_parts(theta);
            psi = std::atan(parts.cot / theta);
            const double rho = 1 - parts.cot;
            slope = 2 * c + (theta * theta - parts.cot * (1 + rho)) / (parts.cot * parts.cot + theta * theta);
            const double change = (2 * c * theta + psi - j * std::numbers::pi) / slope;
            theta -= change;
            if (std::fabs(change) < 1e-10 * theta) break;  // the next one is below rounding
        }
        parts = cot_parts(theta);
        const double exponent = n * parts.log_pole;
        if (exponent > 45) break;
        sum += (1 + (j % 2 == 1 ? 1 : -1) / std::cos(psi)) / slope * std::exp(-exponent);
    }
    return sum * std::sqrt(2 * std::numbers::pi * n) * std::exp(stirling_rest(n));
}

// P(D <= d) as n!/n^n times an entry of the n-th power of a matrix (Marsaglia, Tsang and Wang 2003, Journal of
// Statistical Software 8/18), with powers of two split off so that nothing overflows.
double cdf_from_matrix(int n, double d) {
    const int k = static_cast<int>(n * d) + 1;
    const int m = 2 * k - 1;
    const double h = k - n * d;
    using Matrix = std::vector<double>;
    const auto at = [m](int i, int j) { return static_cast<std::size_t>(i * m + j); };
    Matrix base(static_cast<std::size_t>(m) * m, 0.0);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j <= std::min(i + 1, m - 1); ++j) base[at(i, j)] = 1;
    for (int i = 0; i < m; ++i) {
        base[at(i, 0)] -= std::pow(h, i + 1);
        base[at(m - 1, i)] -= std::pow(h, m - i);
    }
    if (2 * h > 1) base[at(m - 1, 0)] += std::pow(2 * h - 1, m);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j <= std::min(i, m - 1); ++j)
            base[at(i, j)] /= boost::math::tgamma(static_cast<double>(i - j + 2));

    const auto multiply = [&](const Matrix& a, const Matrix& b) {
        Matrix c(a.size(), 0.0);
        for (int i = 0; i < m; ++i)
            for (int l = 0; l < m; ++l)
                for (int j = 0; j < m; ++j) c[at(i, j)] += a[at(i, l)] * b[at(l, j)];
        return c;
    };
    const auto rescale = [&](Matrix& a, int& exponent) {
        const int shift = std::ilogb(std::max(a[at(k - 1, k - 1)], 1e-300));
        for (double& value : a) value = std::ldexp(value, -shift);
        exponent += shift;
    };
    Matrix power(base.size(), 0.0);
    for (int i = 0; i < m; ++i) power[at(i, i)] = 1;
    int power_exponent = 0;
    int base_exponent = 0;
    for (int rest = n; rest > 0; rest /= 2) {
        if (rest % 2 == 1) {
            power = multiply(power, base);
            power_exponent += base_exponent;
            rescale(power, power_exponent);
        }
        base = multiply(base, base);
        base_exponent *= 2;
        rescale(base, base_exponent);
    }
    double result = power[at(k - 1, k - 1)];
    for (int i = 1; i <= n; ++i) {
        result *= static_cast<double>(i) / n;
        int shift = 0;
        result = std::frexp(result, &shift);
        power_exponent += shift;
    }
    return std::ldexp(result, power_exponent);
}

// P(D+ >= d), one-sided (Birnbaum and Tingey 1951): d/x times the chance of j among n rows at probability x = d + j/n,
// summed over j < n - c. Twice it is P(D >= d) for d >= 1/2, and nearly so from kOneSided on.
double one_sided_survival(double n, double d) {
    const double c = n * d;
    const double stirling = stirling_rest(n);
    const auto term = [&](double j) {
        const double m = n - j;
        const double log_chance = stirling - stirling_rest(j) - stirling_rest(m) +
                                  std::log(n / (2 * std::numbers::pi * j * m)) / 2 + j * std::log1p(c / j) +
                                  m * std::log1p(-c / m);
        return c / (c + j) * std::exp(log_chance);
    };
    // For many rows the terms are a smooth bell that ends flat, and every stride-th of them gives their sum to all
    // digits.
    constexpr double kTerms = 4096;
    const double stride = std::ceil(n / kTerms);
    double sum = 0;
    for (double j = stride; j < n - c; j += stride) sum += term(j);
    return stride * sum + std::exp(n * std::log1p(-d));
}

bool sides_exclude_each_other(double n, double d) {
    return d >= 0.5 || n * d * d > kOneSided;
}

double whole_cdf(double n, double d) {
    const double c = n * d;
    if (sides_exclude_each_other(n, d)) return 1 - 2 * one_sided_survival(n, d);
    if (c > kMinPoles) return cdf_from_poles(n, d);
    // The cdf falls like exp(-pi^2 n/(8 c^2)): this is below the smallest double.
    if (n > 600 * c * c) return 0;
    return cdf_from_matrix(static_cast<int>(n), d);
}

double whole_survival(double n, double d) {
    return sides_exclude_each_other(n, d) ? 2 * one_sided_survival(n, d) : 1 - whole_cdf(n, d);
}

// The value for n rows, n perhaps between two whole numbers: then from both, each at the same place between the least
// and the greatest distance that it can have, so that the result is continuous in n.
template <typename Function>
double at_whole_rows(double n, double d, Function value) {
    core::require(n >= 1 && std::isfinite(n), "the Kolmogorov distribution needs a number of rows from 1; it is {}", n);
    const double least = 0.5 / n;
    if (!(d > least)) return value(n, 0.0);
    if (d >= 1) return value(n, 1.0);
    const double below = std::floor(n);
    if (n == below) return value(n, d);
    const double place = (d - least) / (1 - least);
    const auto at = [&](double whole) { return value(whole, 0.5 / whole + place * (1 - 0.5 / whole)); };
    return (below + 1 - n) * at(below) + (n - below) * at(below + 1);
}

}  // namespace

double kolmogorov_survival(double n, double distance) {
    return at_whole_rows(n, distance, [](double whole, double d) {
        if (d <= 0.5 / whole) return 1.0;
        return d >= 1 ? 0.0 : std::clamp(whole_survival(whole, d), 0.0, 1.0);
    });
}

double kolmogorov_cdf(double n, double distance) {
    return at_whole_rows(n, distance, [](double whole, double d) {
        if (d <= 0.5 / whole) return 0.0;
        return d >= 1 ? 1.0 : std::clamp(whole_cdf(whole, d), 0.0, 1.0);
    });
}

double kolmogorov_quantile(double n, double probability) {
    core::require(probability > 0 && probability < 1, "a probability must be between 0 and 1; it is {}", probability);
    std::uintmax_t iterations = 100;
    const auto bracket = boost::math::tools::toms748_solve([&](double d) { return kolmogorov_cdf(n, d) - probability; },
                                                           0.5 / n, 1.0, -probability, 1 - probability,
                                                           boost::math::tools::eps_tolerance<double>(40), iterations);
    return (bracket.first + bracket.second) / 2;
}

}  // namespace accrue
