// [CRPS] and [NLPD]: one row, every row, weighted means.
#include <array>
#include <cmath>

#include "accrue/scores.hpp"
#include "core/parallel.hpp"
#include "scores/checks.hpp"
#include "scores/gauss.hpp"

namespace accrue {

namespace scores {

namespace {

GaussTable make_gauss_table() {
    GaussTable table{};
    for (std::size_t k = 0; k < kGridSize; ++k) {
        // In extended precision: rounded once, to the nearest double.
        const long double c = static_cast<long double>(k) / static_cast<long double>(kGridPerUnit);
        table.erf[k] = static_cast<double>(std::erf(c));
        table.gauss[k] = static_cast<double>(std::exp(-c * c));
    }
    // The last point stands for everything beyond it, infinity included.
    table.gauss[kGridSize - 1] = 0;
    return table;
}

constexpr std::size_t kBlock = 1024;  // its buffers stay in the first-level cache
constexpr double kHalfLogTwoPi = 0.91893853320467274178;

struct Crps {
    static ValueAndSlope of(double error, double sigma) noexcept {
        const ErfGauss g = erf_gauss(error / sigma * kRootHalf);
        return {crps_value(error, sigma, g), crps_slope(g)};
    }
};

struct Nlpd {
    static ValueAndSlope of(double error, double sigma) noexcept {
        const double z = std::fabs(error / sigma);
        // Divided before it is squared: z^2 may overflow where the slope does not.
        return {std::log(sigma) + z * z / 2 + kHalfLogTwoPi, (1 - z) / sigma * (1 + z)};
    }
};

// Value and slope of every row of a block, and the number of sigmas that are not positive. Pointers do not alias, so
// that the compiler makes vector code of it.
template <typename Score>
double score_block(std::size_t rows, const double* __restrict e, const double* __restrict s, double* __restrict values,
                   double* __restrict slopes) {
    double not_positive = 0;
#pragma omp simd reduction(+ : not_positive)
    for (std::size_t i = 0; i < rows; ++i) {
        const ValueAndSlope row = Score::of(e[i], s[i]);
        values[i] = row.value;
        slopes[i] = row.slope;
        not_positive += s[i] > 0 ? 0 : 1;
    }
    return not_positive;
}

double weighted_sum(std::size_t rows, const double* __restrict values, const double* __restrict w) {
    double sum = 0;
    if (w == nullptr) {
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < rows; ++i) sum += values[i];
    } else {
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < rows; ++i) sum += w[i] * values[i];
    }
    return sum;
}

using BlockBuffer = std::array<double, kBlock>;

template <typename Score>
void rows(std::span<const double> errors, std::span<const double> sigmas, std::span<double> values,
          std::span<double> slopes) {
    require_length(sigmas, errors.size(), "sigma");
    require_optional_length(values, errors.size(), "the output for values");
    require_optional_length(slopes, errors.size(), "the output for slopes");
    const auto bad = core::sum_blocks<double>(errors.size(), kBlock, [&](std::size_t begin, std::size_t end) {
        BlockBuffer unwanted;
        return score_block<Score>(end - begin, &errors[begin], &sigmas[begin],
                                  values.empty() ? unwanted.data() : &values[begin],
                                  slopes.empty() ? unwanted.data() : &slopes[begin]);
    });
    if (bad > 0) refuse_sigma(sigmas);
}

struct MeanParts {
    double sum = 0;
    double not_positive = 0;
    MeanParts& operator+=(const MeanParts& other) {
        sum += other.sum;
        not_positive += other.not_positive;
        return *this;
    }
};

template <typename Score>
double mean(std::span<const double> errors, std::span<const double> sigmas, std::span<const double> weights,
            std::span<double> gradient) {
    const std::size_t n = errors.size();
    require_rows(n);
    require_length(sigmas, n, "sigma");
    require_optional_length(gradient, n, "gradient");
    const double total = total_weight(n, weights);
    const auto parts = core::sum_blocks<MeanParts>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        BlockBuffer values;
        BlockBuffer slopes;
        const std::size_t count = end - begin;
        const double* w = weights.empty() ? nullptr : &weights[begin];
        const double not_positive =
            score_block<Score>(count, &errors[begin], &sigmas[begin], values.data(), slopes.data());
        if (!gradient.empty())
            for (std::size_t i = 0; i < count; ++i) gradient[begin + i] = (w == nullptr ? 1 : w[i]) / total * slopes[i];
        return MeanParts{weighted_sum(count, values.data(), w), not_positive};
    });
    if (parts.not_positive > 0) refuse_sigma(sigmas);
    return parts.sum / total;
}

}  // namespace

const GaussTable kGaussTable = make_gauss_table();

void erf_gauss_block(std::size_t rows, const double* __restrict t, double* __restrict erf, double* __restrict gauss) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) {
        const ErfGauss g = erf_gauss(t[i]);
        erf[i] = g.erf;
        gauss[i] = g.gauss;
    }
}

void normal_cdf_block(std::size_t rows, double* __restrict values) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) values[i] = (1 + erf_gauss(values[i] * kRootHalf).erf) / 2;
}

void crps_block(std::size_t rows, const double* __restrict errors, const double* __restrict sigmas,
                double* __restrict values) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) values[i] = Crps::of(errors[i], sigmas[i]).value;
}

void crps_rows(std::size_t rows, const double* __restrict errors, const double* __restrict sigmas,
               double* __restrict values, double* __restrict by_mean, double* __restrict by_log_sigma) {
    if (by_log_sigma == nullptr) return crps_block(rows, errors, sigmas, values);
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) {
        const ErfGauss g = erf_gauss(errors[i] / sigmas[i] * kRootHalf);
        values[i] = crps_value(errors[i], sigmas[i], g);
        by_log_sigma[i] = sigmas[i] * crps_slope(g);
    }
    if (by_mean == nullptr) return;
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) by_mean[i] = -erf_gauss(errors[i] / sigmas[i] * kRootHalf).erf;
}

void nlpd_block(std::size_t rows, const double* __restrict errors, const double* __restrict sigmas,
                double* __restrict values) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) values[i] = Nlpd::of(errors[i], sigmas[i]).value;
}

void refuse_sigma(std::span<const double> sigmas) {
    for (std::size_t i = 0; i < sigmas.size(); ++i)
        core::require(sigmas[i] > 0, "sigma of row {} is {}, but must be positive", i + 1, sigmas[i]);
    core::refuse("sigma must be positive");
}

double total_weight(std::size_t rows, std::span<const double> weights) {
    std::vector<double> parts;
    return total_weight(rows, weights, parts);
}

double total_weight(std::size_t rows, std::span<const double> weights, std::vector<double>& parts) {
    if (weights.empty()) return static_cast<double>(rows);
    require_length(weights, rows, "weights");
    std::size_t negative = 0;
    const auto part = [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += weights[i];
        return sum;
    };
    const double total = core::sum_blocks<double>(rows, kBlock, part, parts);
    for (const double w : weights) negative += w >= 0 ? 0 : 1;
    if (negative > 0)
        for (std::size_t i = 0; i < rows; ++i)
            core::require(weights[i] >= 0, "weight of row {} is {}, but must not be negative", i + 1, weights[i]);
    core::require(total > 0 && std::isfinite(total), "the weights sum to {}, but the sum must be positive and finite",
                  total);
    return total;
}

}  // namespace scores

ValueAndSlope crps(double error, double sigma) noexcept {
    if (error == 0 && sigma == 0) return {0, scores::kRootTwoOverPi - scores::kOneOverRootPi};
    return scores::Crps::of(error, sigma);
}

ValueAndSlope nlpd(double error, double sigma) noexcept {
    return scores::Nlpd::of(error, sigma);
}

void crps_rows(std::span<const double> errors, std::span<const double> sigmas, std::span<double> values,
               std::span<double> slopes) {
    scores::rows<scores::Crps>(errors, sigmas, values, slopes);
}

void nlpd_rows(std::span<const double> errors, std::span<const double> sigmas, std::span<double> values,
               std::span<double> slopes) {
    scores::rows<scores::Nlpd>(errors, sigmas, values, slopes);
}

double mean_crps(std::span<const double> errors, std::span<const double> sigmas, std::span<const double> weights,
                 std::span<double> gradient) {
    return scores::mean<scores::Crps>(errors, sigmas, weights, gradient);
}

double mean_nlpd(std::span<const double> errors, std::span<const double> sigmas, std::span<const double> weights,
                 std::span<double> gradient) {
    return scores::mean<scores::Nlpd>(errors, sigmas, weights, gradient);
}

}  // namespace accrue
