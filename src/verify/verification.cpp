#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "accrue/scores.hpp"
#include "accrue/verify.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scores/gauss.hpp"
#include "verify/reliability_diagram.hpp"

namespace accrue {

namespace {

constexpr std::size_t kBlock = 1024;

// Sums over rows that need only one look at each.
struct Moments {
    double z = 0;
    double sigma_squared = 0;
    double error_squared = 0;
    double negative = 0;
    double zero = 0;
    Moments& operator+=(const Moments& other) {
        z += other.z;
        sigma_squared += other.sigma_squared;
        error_squared += other.error_squared;
        negative += other.negative;
        zero += other.zero;
        return *this;
    }
};

// A level's sums: rows inside, sigma, and distance outside.
struct Inside {
    double count = 0;
    double sigma = 0;
    double outside = 0;
    Inside& operator+=(const Inside& other) {
        count += other.count;
        sigma += other.sigma;
        outside += other.outside;
        return *this;
    }
};

// The floor depends on the number of rows alone and groups often share it.
double median_distance(double rows, std::map<double, double>& known) {
    const auto [place, is_new] = known.try_emplace(rows, 0.0);
    if (is_new) place->second = kolmogorov_quantile(rows, 0.5);
    return place->second;
}

Verification verify_rows(std::span<const double> errors, std::span<const double> sigmas,
                         std::span<const double> weights, const VerifyOptions& options,
                         std::map<double, double>& floors, const verification::SortedPits& sorted) {
    const std::size_t n = errors.size();
    const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
    double total = static_cast<double>(n);
    if (!weights.empty())
        total = core::sum_blocks<double>(n, kBlock, [&](std::size_t begin, std::size_t end) {
            double sum = 0;
            for (std::size_t i = begin; i < end; ++i) sum += weights[i];
            return sum;
        });

    Verification v;
    v.rows = n;
    v.effective_rows = effective_rows(n, weights);
    v.beta = balanced_beta(errors, weights);
    const AccuracyReliability scores = accuracy_reliability(errors, sigmas, v.beta, weights);
    v.crps = scores.crps;
    v.rs = scores.rs;
    v.ar = scores.value;
    v.rs_floor = reliability_floor(v.effective_rows);
    v.nlpd = mean_nlpd(errors, sigmas, weights);
    v.constant_sigma = best_constant_sigma(errors, weights);
    const double constant_crps =
        core::sum_blocks<double>(n, kBlock,
                                 [&](std::size_t begin, std::size_t end) {
                                     double sum = 0;
                                     for (std::size_t i = begin; i < end; ++i)
                                         sum += weight(i) * crps(errors[i], v.constant_sigma).value;
                                     return sum;
                                 }) /
        total;
    v.crps_skill = constant_crps > 0 ? 1 - v.crps / constant_crps : std::numeric_limits<double>::quiet_NaN();

    const auto moments = core::sum_blocks<Moments>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        Moments m;
        for (std::size_t i = begin; i < end; ++i) {
            const double w = weight(i);
            m.z += w * (errors[i] / sigmas[i]);
            m.sigma_squared += w * sigmas[i] * sigmas[i];
            m.error_squared += w * errors[i] * errors[i];
            m.negative += errors[i] < 0 ? w : 0;
            m.zero += errors[i] == 0 ? w : 0;
        }
        return m;
    });
    v.mean_z = moments.z / total;
    v.sharpness = std::sqrt(moments.sigma_squared / total);
    v.rmse = std::sqrt(moments.error_squared / total);
    const double below = moments.negative / total;
    v.sign_bound = std::max(std::fabs(below - 0.5), std::fabs(below + moments.zero / total - 0.5));
    const double squares = core::sum_blocks<double>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const double distance = errors[i] / sigmas[i] - v.mean_z;
            sum += weight(i) * distance * distance;
        }
        return sum;
    });
    v.sd_z = std::sqrt(squares / total);

    for (const double level : options.levels) {
        core::require(level > 0 && level < 1, "a level must be between 0 and 1; it is {}", level);
        const double quantile = std::numbers::sqrt2 * boost::math::erf_inv(level);
        const auto inside = core::sum_blocks<Inside>(n, kBlock, [&](std::size_t begin, std::size_t end) {
            Inside sums;
            for (std::size_t i = begin; i < end; ++i) {
                const double outside = std::fabs(errors[i]) - quantile * sigmas[i];
                sums.count += outside <= 0 ? weight(i) : 0;
                sums.sigma += weight(i) * sigmas[i];
                sums.outside += outside > 0 ? weight(i) * outside : 0;
            }
            return sums;
        });
        const double width = 2 * quantile * inside.sigma / total;
        v.coverage.push_back({level, inside.count / total, width, width + 2 / (1 - level) * inside.outside / total});
    }

    v.calibration_error = sorted.distance_to_diagonal();
    v.calibration_floor = median_distance(v.effective_rows, floors);
    v.calibration_p_value = std::clamp(kolmogorov_survival(v.effective_rows, v.calibration_error), 0.0, 1.0);
    return v;
}

}  // namespace

std::vector<double> pit(std::span<const double> errors, std::span<const double> sigmas) {
    core::require(errors.size() == sigmas.size(), "there are {} errors, but {} sigmas", errors.size(), sigmas.size());
    std::vector<double> pits(errors.size());
    core::for_blocks(errors.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            pits[i] = (scores::erf_gauss(errors[i] / sigmas[i] * scores::kRootHalf).erf + 1) / 2;
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
    const std::vector<double> pits = pit(errors, sigmas);
    const verification::SortedPits sorted(pits, weights);
    std::map<double, double> floors;
    Verification result = verify_rows(errors, sigmas, weights, options, floors, sorted);
    result.diagram = verification::reliability_diagram(sorted, result.effective_rows, pits, weights, groups, options);
    if (groups.codes.empty()) return result;

    // Rows of one group, brought together by a counting sort.
    std::vector<std::size_t> starts(groups.labels.size() + 1, 0);
    for (const std::uint32_t code : groups.codes) ++starts[code + 1];
    for (std::size_t g = 0; g < groups.labels.size(); ++g) starts[g + 1] += starts[g];
    std::vector<std::size_t> order(n);
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < n; ++i) order[next[groups.codes[i]]++] = i;
    std::vector<double> e;
    std::vector<double> s;
    std::vector<double> w;
    std::vector<double> p;
    for (std::size_t g = 0; g < groups.labels.size(); ++g) {
        e.clear();
        s.clear();
        w.clear();
        p.clear();
        double total = 0;
        for (std::size_t i = starts[g]; i < starts[g + 1]; ++i) {
            e.push_back(errors[order[i]]);
            s.push_back(sigmas[order[i]]);
            p.push_back(pits[order[i]]);
            if (!weights.empty()) w.push_back(weights[order[i]]);
            total += weights.empty() ? 1 : w.back();
        }
        if (total <= 0) continue;  // no rows, or none that counts
        Verification& own =
            result.groups.emplace_back(verify_rows(e, s, w, options, floors, verification::SortedPits(p, w)));
        own.name = groups.labels[g];
    }
    return result;
}

}  // namespace accrue
