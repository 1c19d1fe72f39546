#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "accrue/verify.hpp"
#include "core/error.hpp"

namespace accrue {

namespace {

constexpr double kMostExact = 140;

// P(sqrt(n) D <= z) for n -> infinity, and its complement; each from the series that converges fast where it is small.
double limit_survival(double z);
double limit_cdf(double z) {
    if (z <= 0) return 0;
    if (z > 1) return 1 - limit_survival(z);
    double sum = 0;
    for (int k = 1; k < 20; ++k) {
        const double odd = 2 * k - 1;
        sum += std::exp(-odd * odd * std::numbers::pi * std::numbers::pi / (8 * z * z));
    }
    return std::sqrt(2 * std::numbers::pi) / z * sum;
}

double limit_survival(double z) {
    if (z <= 1) return 1 - limit_cdf(z);
    double sum = 0;
    for (int k = 1; k < 20; ++k) sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * z * z);
    return sum;
}

// Vrbik's correction of the argument, which makes the limit right up to order n^(-3/2).
double corrected(double n, double distance) {
    const double root = std::sqrt(n);
    const double z = root * distance;
    return z + 1 / (6 * root) + (z - 1) / (4 * n);
}

// P(D < d) as n!/n^n times an entry of the n-th power of a matrix (Marsaglia, Tsang and Wang 2003, Journal of Statistical
// Software 8/18), with powers of two split off so that nothing overflows.
double exact_cdf(int n, double d) {
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
        for (int j = 0; j <= std::min(i, m - 1); ++j) base[at(i, j)] /= boost::math::tgamma(static_cast<double>(i - j + 2));

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

// P(D+ >= d), one-sided (Birnbaum and Tingey 1951). Twice it is P(D >= d) for d >= 1/2, and otherwise but for the
// chance that both sides exceed d, which is below p^4.
double exact_one_sided_survival(int n, double d) {
    double sum = 0;
    for (int j = 0; j <= static_cast<int>(n * (1 - d)); ++j) {
        const double x = d + static_cast<double>(j) / n;
        const double rest = 1 - x;
        if (rest < 0) break;
        const double log_choose = std::lgamma(n + 1.0) - std::lgamma(j + 1.0) - std::lgamma(n - j + 1.0);
        const double log_rest = n == j ? 0 : (n - j) * std::log(rest);
        if (rest == 0 && n > j) continue;
        sum += std::exp(log_choose + log_rest + (j - 1) * std::log(x));
    }
    return d * sum;
}

bool is_exact(double n) { return n <= kMostExact && n == std::floor(n); }

}  // namespace

double kolmogorov_survival(double n, double distance) {
    core::require(n >= 1, "the Kolmogorov distribution needs n >= 1; it is {}", n);
    if (distance <= 0.5 / n) return 1;
    if (distance >= 1) return 0;
    if (!is_exact(n)) return limit_survival(corrected(n, distance));
    // Beyond this the two sides exclude each other to double precision, or d >= 1/2 where they always do.
    if (distance >= 0.5 || n * distance * distance > 9) return 2 * exact_one_sided_survival(static_cast<int>(n), distance);
    return 1 - exact_cdf(static_cast<int>(n), distance);
}

double kolmogorov_cdf(double n, double distance) {
    core::require(n >= 1, "the Kolmogorov distribution needs n >= 1; it is {}", n);
    if (distance <= 0.5 / n) return 0;
    if (distance >= 1) return 1;
    if (!is_exact(n)) return limit_cdf(corrected(n, distance));
    if (distance >= 0.5 || n * distance * distance > 9) return 1 - kolmogorov_survival(n, distance);
    return exact_cdf(static_cast<int>(n), distance);
}

double kolmogorov_quantile(double n, double probability) {
    core::require(probability > 0 && probability < 1, "a probability must be between 0 and 1; it is {}", probability);
    std::uintmax_t iterations = 100;
    const auto bracket = boost::math::tools::toms748_solve(
        [&](double d) { return kolmogorov_cdf(n, d) - probability; }, 0.5 / n, 1.0, -probability, 1 - probability,
        boost::math::tools::eps_tolerance<double>(40), iterations);
    return (bracket.first + bracket.second) / 2;
}

}  // namespace accrue
