#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "accrue/scores.hpp"
#include "accrue/verify.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scores/checks.hpp"
#include "scores/gauss.hpp"
#include "scores/sorted_reliability.hpp"
#include "scores/weights.hpp"
#include "verify/reliability_diagram.hpp"

namespace accrue {

namespace {

constexpr std::size_t kBlock = 1024;  // its buffers stay in the first-level cache

using BlockBuffer = std::array<double, kBlock>;

// Weighted sums over rows that need only one look at each. z has its own mean in every block, so that its squares are
// taken about a mean that is already near.
struct Moments {
    double weight = 0;
    double mean_z = 0;
    double squares_z = 0;  // about mean_z
    double sigma = 0;
    double sigma_squared = 0;
    double error_squared = 0;
    double negative = 0;
    double zero = 0;
    double crps = 0;
    double not_positive = 0;  // sigmas
    Moments& operator+=(const Moments& other) {
        const double both = weight + other.weight;
        if (both > 0) {
            const double apart = other.mean_z - mean_z;
            squares_z += other.squares_z + apart * apart * weight * (other.weight / both);
            mean_z += apart * (other.weight / both);
        }
        weight = both;
        sigma += other.sigma;
        sigma_squared += other.sigma_squared;
        error_squared += other.error_squared;
        negative += other.negative;
        zero += other.zero;
        crps += other.crps;
        not_positive += other.not_positive;
        return *this;
    }
};

// The loops below run over one block each; their pointers do not alias, so that the compiler makes vector code of them.
Moments moments_of_block(std::size_t rows, const double* __restrict e, const double* __restrict s,
                         const double* __restrict w) {
    BlockBuffer buffer;
    double* __restrict z = buffer.data();
    double weight = 0;
    double sum_z = 0;
    double sigma = 0;
    double sigma_squared = 0;
    double error_squared = 0;
    double negative = 0;
    double zero = 0;
    double crps = 0;
    double not_positive = 0;
#pragma omp simd reduction(+ : weight, sum_z, sigma, sigma_squared, error_squared, negative, zero, not_positive)
    for (std::size_t i = 0; i < rows; ++i) {
        z[i] = e[i] / s[i];
        weight += w[i];
        sum_z += w[i] * z[i];
        sigma += w[i] * s[i];
        sigma_squared += w[i] * s[i] * s[i];
        error_squared += w[i] * e[i] * e[i];
        negative += e[i] < 0 ? w[i] : 0;
        zero += e[i] == 0 ? w[i] : 0;
        not_positive += s[i] > 0 ? 0 : 1;
    }
#pragma omp simd reduction(+ : crps)
    for (std::size_t i = 0; i < rows; ++i)
        crps += w[i] * scores::crps_value(e[i], s[i], scores::erf_gauss(z[i] * scores::kRootHalf));
    const double mean_z = weight > 0 ? sum_z / weight : 0;
    double squares_z = 0;
#pragma omp simd reduction(+ : squares_z)
    for (std::size_t i = 0; i < rows; ++i) squares_z += w[i] * (z[i] - mean_z) * (z[i] - mean_z);
    return {weight, mean_z, squares_z, sigma, sigma_squared, error_squared, negative, zero, crps, not_positive};
}

// A level's sums: weight inside, and distance outside.
struct Inside {
    double weight = 0;
    double outside = 0;
    Inside& operator+=(const Inside& other) {
        weight += other.weight;
        outside += other.outside;
        return *this;
    }
};

Inside inside_of_block(std::size_t rows, const double* __restrict e, const double* __restrict s,
                       const double* __restrict w, double quantile) {
    double weight = 0;
    double outside = 0;
#pragma omp simd reduction(+ : weight, outside)
    for (std::size_t i = 0; i < rows; ++i) {
        const double beyond = std::fabs(e[i]) - quantile * s[i];
        weight += beyond <= 0 ? w[i] : 0;
        outside += beyond > 0 ? w[i] * beyond : 0;
    }
    return {weight, outside};
}

double crps_of_block(std::size_t rows, const double* __restrict e, double sigma, const double* __restrict w) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < rows; ++i)
        sum += w[i] * scores::crps_value(e[i], sigma, scores::erf_gauss(e[i] / sigma * scores::kRootHalf));
    return sum;
}

void pits_of_block(std::size_t rows, const double* __restrict e, const double* __restrict s, double* __restrict pits) {
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) pits[i] = (scores::erf_gauss(e[i] / s[i] * scores::kRootHalf).erf + 1) / 2;
}

// The floor depends on the number of rows alone and groups often share it.
double median_distance(double rows, std::map<double, double>& known) {
    const auto [place, is_new] = known.try_emplace(rows, 0.0);
    if (is_new) place->second = kolmogorov_quantile(rows, 0.5);
    return place->second;
}

Verification verify_rows(std::span<const double> errors, std::span<const double> sigmas,
                         std::span<const double> weights, const VerifyOptions& options,
                         std::map<double, double>& floors, const verification::PitCdf& cdf,
                         scores::SortBuffers& buffers) {
    const std::size_t n = errors.size();
    Verification v;
    v.rows = n;
    v.effective_rows = effective_rows(n, weights);
    v.beta = balanced_beta(errors, weights);

    const auto moments = core::sum_blocks<Moments>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        return moments_of_block(end - begin, &errors[begin], &sigmas[begin], scores::weights_from(weights, begin));
    });
    if (moments.not_positive > 0) scores::refuse_sigma(sigmas);
    const double total = moments.weight;
    v.crps = moments.crps / total;
    v.rs = scores::sorted_reliability(errors, sigmas, weights, total, buffers);
    v.ar = v.beta * v.crps + (1 - v.beta) * v.rs;
    v.rs_floor = reliability_floor(v.effective_rows);
    v.nlpd = mean_nlpd(errors, sigmas, weights);
    v.mean_z = moments.mean_z;
    v.sd_z = std::sqrt(moments.squares_z / total);
    v.sharpness = std::sqrt(moments.sigma_squared / total);
    v.rmse = std::sqrt(moments.error_squared / total);
    const double below = moments.negative / total;
    v.sign_bound = std::max(std::fabs(below - 0.5), std::fabs(below + moments.zero / total - 0.5));

    v.constant_sigma = best_constant_sigma(errors, weights);
    const auto constant_crps = core::sum_blocks<double>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        return crps_of_block(end - begin, &errors[begin], v.constant_sigma, scores::weights_from(weights, begin));
    });
    v.crps_skill = constant_crps > 0 ? 1 - v.crps / (constant_crps / total) : std::numeric_limits<double>::quiet_NaN();

    for (const double level : options.levels) {
        core::require(level > 0 && level < 1, "a level must be between 0 and 1; it is {}", level);
        const double quantile = std::numbers::sqrt2 * boost::math::erf_inv(level);
        const auto inside = core::sum_blocks<Inside>(n, kBlock, [&](std::size_t begin, std::size_t end) {
            return inside_of_block(end - begin, &errors[begin], &sigmas[begin], scores::weights_from(weights, begin),
                                   quantile);
        });
        const double width = 2 * quantile * moments.sigma / total;
        v.coverage.push_back({level, inside.weight / total, width, width + 2 / (1 - level) * inside.outside / total});
    }

    v.calibration_error = cdf.distance_to_diagonal();
    v.calibration_floor = median_distance(v.effective_rows, floors);
    v.calibration_p_value = std::clamp(kolmogorov_survival(v.effective_rows, v.calibration_error), 0.0, 1.0);
    return v;
}

}  // namespace

std::size_t verify_bytes_per_row(bool weights, bool groups, bool shapes) {
    const std::size_t sorted = weights ? sizeof(scores::SortBuffers::Weighted) : sizeof(std::uint64_t);
    // The order of the rows by group, and a copy of the largest one.
    const std::size_t grouped = groups ? sizeof(std::uint32_t) + (weights ? 3 : 2) * sizeof(double) : 0;
    // Rows near the largest distance to the diagonal, of which there are the more the better the calibration is.
    const std::size_t near = weights ? 8 : 4;
    return sorted + near + grouped + (shapes ? sizeof(double) : 0);
}

std::vector<double> pit(std::span<const double> errors, std::span<const double> sigmas) {
    core::require(errors.size() == sigmas.size(), "there are {} errors, but {} sigmas", errors.size(), sigmas.size());
    std::vector<double> pits(errors.size());
    core::for_blocks(errors.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        pits_of_block(end - begin, &errors[begin], &sigmas[begin], &pits[begin]);
    });
    return pits;
}

Verification verify(std::span<const double> errors, std::span<const double> sigmas, std::span<const double> weights,
                    const Grouping& groups, const VerifyOptions& options) {
    const std::size_t n = errors.size();
    core::require(n > 0, "there are no rows to verify");
    core::require(groups.codes.empty() || groups.codes.size() == n, "there are {} group codes, but {} errors",
                  groups.codes.size(), n);
    core::require(options.diagram_points >= 2, "a diagram needs at least 2 points");
    core::require(weights.empty() || weights.size() == n, "there are {} weights, but {} errors", weights.size(), n);
    core::require(groups.codes.empty() == groups.labels.empty(), "there are {} group codes, but {} labels",
                  groups.codes.size(), groups.labels.size());
    for (std::size_t i = 0; i < groups.codes.size(); ++i)
        core::require(groups.codes[i] < groups.labels.size(), "row {} has group code {}, but there are {} labels",
                      i + 1, groups.codes[i], groups.labels.size());
    core::require(options.replicates >= 1, "a bootstrap needs at least 1 replicate");
    core::require(sigmas.size() == n, "there are {} errors, but {} sigmas", n, sigmas.size());
    const auto pits_of = [](std::span<const double> e, std::span<const double> s) -> verification::PitSource {
        return [e, s](std::size_t begin, std::size_t end, double* pits) {
            pits_of_block(end - begin, &e[begin], &s[begin], pits);
        };
    };
    const verification::PitSource pits = pits_of(errors, sigmas);
    const verification::PitCdf cdf(n, pits, weights, options.diagram_points - 1);
    std::map<double, double> floors;
    scores::SortBuffers buffers;
    Verification result = verify_rows(errors, sigmas, weights, options, floors, cdf, buffers);
    result.diagram = verification::reliability_diagram(cdf, result.effective_rows, pits, weights, groups, options);
    if (groups.codes.empty()) return result;

    // Rows of one group, brought together by a counting sort.
    core::require(n < (std::size_t{1} << 32U), "{} rows are more than the 2^32 - 1 that can be grouped", n);
    std::vector<std::size_t> starts(groups.labels.size() + 1, 0);
    for (const std::uint32_t code : groups.codes) ++starts[code + 1];
    for (std::size_t g = 0; g < groups.labels.size(); ++g) starts[g + 1] += starts[g];
    std::vector<std::uint32_t> order(n);
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < n; ++i) order[next[groups.codes[i]]++] = static_cast<std::uint32_t>(i);
    std::vector<double> e;
    std::vector<double> s;
    std::vector<double> w;
    for (std::size_t g = 0; g < groups.labels.size(); ++g) {
        e.clear();
        s.clear();
        w.clear();
        const std::size_t size = starts[g + 1] - starts[g];
        e.reserve(size);
        s.reserve(size);
        if (!weights.empty()) w.reserve(size);
        double total = 0;
        for (std::size_t i = starts[g]; i < starts[g + 1]; ++i) {
            e.push_back(errors[order[i]]);
            s.push_back(sigmas[order[i]]);
            if (!weights.empty()) w.push_back(weights[order[i]]);
            total += weights.empty() ? 1 : w.back();
        }
        if (total <= 0) continue;  // no rows, or none that counts
        const verification::PitCdf own_cdf(e.size(), pits_of(e, s), w, options.diagram_points - 1);
        Verification& own = result.groups.emplace_back(verify_rows(e, s, w, options, floors, own_cdf, buffers));
        own.name = groups.labels[g];
    }
    return result;
}

}  // namespace accrue
