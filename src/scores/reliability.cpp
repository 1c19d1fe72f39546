// [RS] and [AR]: value and gradient in one call.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "accrue/scores.hpp"
#include "core/buffer.hpp"
#include "core/parallel.hpp"
#include "scores/checks.hpp"
#include "scores/gauss.hpp"
#include "scores/ranks.hpp"

namespace accrue {

namespace scores {

// Sums of the first look at every row.
struct FirstPass {
    double crps = 0;
    double gauss = 0;
    double not_positive = 0;
    FirstPass& operator+=(const FirstPass& other) {
        crps += other.crps;
        gauss += other.gauss;
        not_positive += other.not_positive;
        return *this;
    }
};

}  // namespace scores

struct ScoreWorkspace::Buffers {
    core::Buffer<double> t;
    core::Buffer<double> twice_cdf;  // erf(t) + 1
    core::Buffer<double> mid_ranks;
    scores::RankBuffers ranks;
    scores::CountBuffers counts;
    std::vector<scores::FirstPass> first_parts;  // of every block
    std::vector<double> sum_parts;

    void reserve(std::size_t rows) {
        t.reserve(rows);
        twice_cdf.reserve(rows);
        mid_ranks.reserve(rows);
    }
};

ScoreWorkspace::ScoreWorkspace() : buffers_(std::make_unique<Buffers>()) {}
ScoreWorkspace::~ScoreWorkspace() = default;
ScoreWorkspace::ScoreWorkspace(ScoreWorkspace&&) noexcept = default;
ScoreWorkspace& ScoreWorkspace::operator=(ScoreWorkspace&&) noexcept = default;

namespace scores {

namespace {

constexpr std::size_t kBlock = 1024;  // its buffers stay in the first-level cache

// The loops below run over one block each. Their pointers do not alias and their conditions are template arguments:
// that is what lets the compiler make vector code of them.
enum class Gradient { none, sigma, log_sigma };

template <Gradient kGradient, bool kWeighted>
FirstPass first_pass(std::size_t rows, const double* __restrict e, const double* __restrict s,
                     const double* __restrict w, double beta, double* __restrict t, double* __restrict twice_cdf,
                     double* __restrict gradient) {
    std::array<double, kBlock> gauss_of;
    const double* __restrict g = gauss_of.data();
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) t[i] = e[i] / s[i] * kRootHalf;
    erf_gauss_block(rows, t, twice_cdf, gauss_of.data());
    double crps = 0;
    double gauss = 0;
    double not_positive = 0;
#pragma omp simd reduction(+ : crps, gauss, not_positive)
    for (std::size_t i = 0; i < rows; ++i) {
        const double weight = kWeighted ? w[i] : 1;
        const ErfGauss parts{twice_cdf[i], g[i]};
        twice_cdf[i] = parts.erf + 1;
        crps += weight * crps_value(e[i], s[i], parts);
        gauss += weight * parts.gauss;
        if constexpr (kGradient == Gradient::sigma) gradient[i] = beta * crps_slope(parts);
        if constexpr (kGradient == Gradient::log_sigma) gradient[i] = beta * crps_slope(parts) * s[i];
        not_positive += s[i] > 0 ? 0 : 1;
    }
    return {crps, gauss, not_positive};
}

// Returns the sum of w*t*(erf(t) + 1 - mid_rank), and adds the reliability's share to the gradient.
template <Gradient kGradient, bool kWeighted>
double second_pass(std::size_t rows, const double* __restrict s, const double* __restrict w, double total, double beta,
                   const double* __restrict t, const double* __restrict twice_cdf, const double* __restrict mid_rank,
                   double* __restrict gradient) {
    double sum = 0;
    const double share = 1 - beta;
    const double per_weight = 1 / total;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < rows; ++i) {
        const double slope = t[i] * (twice_cdf[i] - mid_rank[i]);
        const double weight = kWeighted ? w[i] : 1;
        sum += weight * slope;
        if constexpr (kGradient == Gradient::sigma)
            gradient[i] = weight * per_weight * (gradient[i] - share * slope / s[i]);
        if constexpr (kGradient == Gradient::log_sigma)
            gradient[i] = weight * per_weight * (gradient[i] - share * slope);
    }
    return sum;
}

template <Gradient kGradient, bool kWeighted>
AccuracyReliability evaluate(std::span<const double> errors, std::span<const double> sigmas, double beta,
                             std::span<const double> weights, std::span<double> gradient,
                             ScoreWorkspace::Buffers& buffers, Ranks ranks) {
    const std::size_t n = errors.size();
    const double total = total_weight(n, weights, buffers.sum_parts);
    double* t = buffers.t.data();
    double* twice_cdf = buffers.twice_cdf.data();
    double* mid_rank = buffers.mid_ranks.data();
    const auto at = [](auto span, std::size_t i) { return span.empty() ? nullptr : span.data() + i; };

    const auto first_part = [&](std::size_t begin, std::size_t end) {
        return first_pass<kGradient, kWeighted>(end - begin, &errors[begin], &sigmas[begin], at(weights, begin), beta,
                                                t + begin, twice_cdf + begin, at(gradient, begin));
    };
    const auto first = core::sum_blocks<FirstPass>(n, kBlock, first_part, buffers.first_parts);
    if (first.not_positive > 0) refuse_sigma(sigmas);

    if (ranks == Ranks::exact || !counted_mid_ranks({t, n}, weights, total, {mid_rank, n}, buffers.counts))
        mid_ranks({t, n}, weights, total, {mid_rank, n}, buffers.ranks);

    const auto second_part = [&](std::size_t begin, std::size_t end) {
        return second_pass<kGradient, kWeighted>(end - begin, &sigmas[begin], at(weights, begin), total, beta,
                                                 t + begin, twice_cdf + begin, mid_rank + begin, at(gradient, begin));
    };
    const auto distance = core::sum_blocks<double>(n, kBlock, second_part, buffers.sum_parts);

    AccuracyReliability result{};
    result.crps = first.crps / total;
    result.rs = (distance + kOneOverRootPi * first.gauss) / total - kReliabilityConstant;
    result.value = beta * result.crps + (1 - beta) * result.rs;
    return result;
}

}  // namespace

}  // namespace scores

AccuracyReliability accuracy_reliability(std::span<const double> errors, std::span<const double> sigmas, double beta,
                                         std::span<const double> weights, std::span<double> gradient,
                                         ScoreWorkspace* workspace, Variable variable, Ranks ranks) {
    const std::size_t n = errors.size();
    scores::require_rows(n);
    scores::require_length(sigmas, n, "sigma");
    scores::require_optional_length(gradient, n, "gradient");
    core::require(beta >= 0 && beta <= 1, "beta is {}, but must be between 0 and 1", beta);
    std::optional<ScoreWorkspace> own;
    ScoreWorkspace::Buffers& buffers = (workspace != nullptr ? *workspace : own.emplace()).buffers();
    buffers.reserve(n);
    const auto run = [&](auto evaluate_weighted, auto evaluate_equal) {
        return weights.empty() ? evaluate_equal(errors, sigmas, beta, weights, gradient, buffers, ranks)
                               : evaluate_weighted(errors, sigmas, beta, weights, gradient, buffers, ranks);
    };
    using scores::evaluate;
    using scores::Gradient;
    if (gradient.empty()) return run(evaluate<Gradient::none, true>, evaluate<Gradient::none, false>);
    if (variable == Variable::sigma) return run(evaluate<Gradient::sigma, true>, evaluate<Gradient::sigma, false>);
    return run(evaluate<Gradient::log_sigma, true>, evaluate<Gradient::log_sigma, false>);
}

double reliability_of_scores(std::span<const double> scores, std::span<const double> weights, std::span<double> slopes,
                             ScoreWorkspace* workspace, Ranks ranks) {
    using namespace accrue::scores;
    const std::size_t n = scores.size();
    require_rows(n);
    require_optional_length(slopes, n, "slopes");
    std::optional<ScoreWorkspace> own;
    ScoreWorkspace::Buffers& buffers = (workspace != nullptr ? *workspace : own.emplace()).buffers();
    buffers.reserve(n);
    const double total = total_weight(n, weights, buffers.sum_parts);
    double* t = buffers.t.data();
    double* twice_cdf = buffers.twice_cdf.data();
    double* mid_rank = buffers.mid_ranks.data();
    const auto gauss_part = [&](std::size_t begin, std::size_t end) {
        std::array<double, kBlock> gauss;
        for (std::size_t i = begin; i < end; ++i) t[i] = scores[i] * kRootHalf;
        erf_gauss_block(end - begin, t + begin, twice_cdf + begin, gauss.data());
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            twice_cdf[i] += 1;
            sum += (weights.empty() ? 1 : weights[i]) * gauss[i - begin];
        }
        return sum;
    };
    const auto gauss = core::sum_blocks<double>(n, kBlock, gauss_part, buffers.sum_parts);
    if (ranks == Ranks::exact || !counted_mid_ranks({t, n}, weights, total, {mid_rank, n}, buffers.counts))
        mid_ranks({t, n}, weights, total, {mid_rank, n}, buffers.ranks);
    const auto distance_part = [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const double weight = weights.empty() ? 1 : weights[i];
            const double slope = twice_cdf[i] - mid_rank[i];  // by t
            sum += weight * t[i] * slope;
            if (!slopes.empty()) slopes[i] = weight / total * slope * kRootHalf;
        }
        return sum;
    };
    const auto distance = core::sum_blocks<double>(n, kBlock, distance_part, buffers.sum_parts);
    return (distance + kOneOverRootPi * gauss) / total - kReliabilityConstant;
}

double reliability_score(std::span<const double> errors, std::span<const double> sigmas,
                         std::span<const double> weights, std::span<double> gradient, ScoreWorkspace* workspace) {
    return accuracy_reliability(errors, sigmas, 0, weights, gradient, workspace).rs;
}

}  // namespace accrue
