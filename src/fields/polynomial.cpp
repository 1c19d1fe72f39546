#include "fields/polynomial.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"

namespace accrue::fields {

namespace {

constexpr std::size_t kMax = Polynomial::kHighestOrder + 1;
using Coefficients = std::array<double, kMax>;

// T_0(u) .. T_order(u).
Coefficients chebyshev(double u, std::size_t order) {
    Coefficients t{};
    t[0] = 1;
    t[1] = u;
    for (std::size_t l = 2; l <= order; ++l) t[l] = 2 * u * t[l - 1] - t[l - 2];
    return t;
}

double value_at(std::span<const double> parameters, double u) {
    const Coefficients t = chebyshev(u, parameters.size() - 1);
    double sum = 0;
    for (std::size_t l = 0; l < parameters.size(); ++l) sum += parameters[l] * t[l];
    return sum;
}

// Bernstein coefficients on [-1, 1] of the interpolating polynomial: from Chebyshev to powers of s = (u + 1)/2, then
// b_i = sum_k C(i,k)/C(n,k) c_k. The polynomial lies between the smallest and the largest of them.
Coefficients bernstein(std::span<const double> parameters) {
    const std::size_t n = parameters.size() - 1;
    // Powers of s: T_l(2s - 1) by its recurrence, T_{l+1} = (4s - 2) T_l - T_{l-1}.
    Coefficients powers{};
    Coefficients before{};
    Coefficients now{};
    before[0] = 1;
    now[0] = -1;
    now[1] = 2;
    for (std::size_t l = 0; l <= n; ++l) {
        for (std::size_t k = 0; k <= l; ++k) powers[k] += parameters[l] * before[k];
        Coefficients next{};
        for (std::size_t k = 0; k < kMax; ++k) next[k] = (k > 0 ? 4 * now[k - 1] : 0) - 2 * now[k] - before[k];
        before = now;
        now = next;
    }
    Coefficients result{};
    for (std::size_t i = 0; i <= n; ++i) {
        double ratio = 1;  // C(i,k)/C(n,k)
        for (std::size_t k = 0; k <= i; ++k) {
            result[i] += ratio * powers[k];
            ratio *= static_cast<double>(i - k) / static_cast<double>(std::max<std::size_t>(n - k, 1));
        }
    }
    return result;
}

// Is the polynomial above the bound on the interval of these Bernstein coefficients? Yes when all coefficients are; no
// when an end is not, for the ends are values; otherwise halve the interval (de Casteljau).
bool above(Coefficients b, std::size_t n, double bound, int depth) {
    if (!(b[0] > bound) || !(b[n] > bound)) return false;
    if (std::all_of(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n) + 1, [&](double c) { return c > bound; }))
        return true;
    if (depth == 0) return false;  // it comes within rounding of the bound
    Coefficients left{};
    for (std::size_t level = 0; level <= n; ++level) {
        left[level] = b[0];
        for (std::size_t i = 0; i + level < n; ++i) b[i] = (b[i] + b[i + 1]) / 2;
    }
    // After all levels b holds the right half, from its first coefficient on.
    return above(left, n, bound, depth - 1) && above(b, n, bound, depth - 1);
}

}  // namespace

std::vector<double> Polynomial::start(core::Random&, std::span<const double> levels) const {
    std::vector<double> parameters(order_ + 1, 0.0);
    parameters[0] = std::exp(levels[0]);
    return parameters;
}

bool Polynomial::admissible(std::span<const double> parameters) const {
    constexpr int kHalvings = 40;
    return above(bernstein(parameters), parameters.size() - 1, std::exp(kLowestLogSigma), kHalvings);
}

double Polynomial::mapped(double x) const {
    const double middle = range_.low + (range_.high - range_.low) / 2;
    const double half = (range_.high - range_.low) / 2;
    if (!(half > 0)) return 0;
    return std::clamp((x - middle) / half, -1.0, 1.0);
}

void Polynomial::values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                        double* out, std::size_t) const {
    for (std::size_t i = begin; i < end; ++i)
        out[i - begin] = std::log(std::max(value_at(parameters, mapped(x.data[i])), std::exp(kLowestLogSigma)));
}

void Polynomial::add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                              const double* slopes, std::size_t, double* gradient) const {
    for (std::size_t i = begin; i < end; ++i) {
        const Coefficients t = chebyshev(mapped(x.data[i]), parameters.size() - 1);
        double value = 0;
        for (std::size_t l = 0; l < parameters.size(); ++l) value += parameters[l] * t[l];
        for (std::size_t l = 0; l < parameters.size(); ++l) gradient[l] += slopes[i - begin] * t[l] / value;
    }
}

std::shared_ptr<const Field> PolynomialKind::make(std::span<const Range> ranges, std::size_t outputs,
                                                  std::size_t size) const {
    core::require(ranges.size() == 1, "a polynomial takes one input; there are {}", ranges.size());
    core::require(size <= Polynomial::kHighestOrder, "the order of a polynomial is at most {}; it is {}",
                  Polynomial::kHighestOrder, size);
    return stacked(std::vector<std::shared_ptr<const Field>>(outputs, std::make_shared<Polynomial>(ranges[0], size)));
}

std::vector<double> PolynomialKind::grown(std::span<const double> solution, std::size_t outputs) const {
    // A solution often touches zero somewhere, where no step of the next order is allowed: start a little inside.
    constexpr double kTowardsConstant = 0.1;
    const std::size_t size = solution.size() / outputs;
    std::vector<double> start;
    for (std::size_t p = 0; p < outputs; ++p) {
        start.push_back(solution[p * size]);
        for (std::size_t l = 1; l < size; ++l) start.push_back(solution[p * size + l] * (1 - kTowardsConstant));
        start.push_back(0.0);
    }
    return start;
}

}  // namespace accrue::fields
