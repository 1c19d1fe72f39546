#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "accrue/scores.hpp"
#include "accrue/verify.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "scores/checks.hpp"
#include "scores/gauss.hpp"
#include "scores/sorted_reliability.hpp"
#include "scores/weights.hpp"
#include "verify/dependence.hpp"
#include "verify/possible.hpp"
#include "verify/reliability_diagram.hpp"
#include "verify/scored_rows.hpp"
#include "verify/squares.hpp"

namespace accrue {

namespace {

constexpr std::size_t kBlock = 1024;  // its buffers stay in the first-level cache

constexpr std::size_t kFewGroups = 1000;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

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
void scores_of_block(std::size_t rows, const double* __restrict values, const double* __restrict scales,
                     double* __restrict z) {
    if (scales == nullptr) {
        std::copy_n(values, rows, z);
        return;
    }
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) z[i] = values[i] / scales[i];
}

Moments moments_of_block(std::size_t rows, const double* __restrict e, const double* __restrict s,
                         const double* __restrict w, const double* __restrict z, const double* __restrict crps_of) {
    double weight = 0;
    double sum_z = 0;
    double sigma = 0;
    double sigma_squared = 0;
    double error_squared = 0;
    double negative = 0;
    double zero = 0;
    double crps = 0;
    double not_positive = 0;
#pragma omp simd reduction(+ : weight, sum_z, sigma, sigma_squared, error_squared, negative, zero, crps, not_positive)
    for (std::size_t i = 0; i < rows; ++i) {
        weight += w[i];
        sum_z += w[i] * z[i];
        sigma += w[i] * s[i];
        sigma_squared += w[i] * s[i] * s[i];
        error_squared += w[i] * e[i] * e[i];
        negative += e[i] < 0 ? w[i] : 0;
        zero += e[i] == 0 ? w[i] : 0;
        crps += w[i] * crps_of[i];
        not_positive += s[i] > 0 ? 0 : 1;
    }
    const double mean_z = weight > 0 ? sum_z / weight : 0;
    double squares_z = 0;
#pragma omp simd reduction(+ : squares_z)
    for (std::size_t i = 0; i < rows; ++i) squares_z += w[i] * (z[i] - mean_z) * (z[i] - mean_z);
    return {weight, mean_z, squares_z, sigma, sigma_squared, error_squared, negative, zero, crps, not_positive};
}

// A level's sums: weight inside, distance outside, and width.
struct Inside {
    double weight = 0;
    double outside = 0;
    double width = 0;
    Inside& operator+=(const Inside& other) {
        weight += other.weight;
        outside += other.outside;
        width += other.width;
        return *this;
    }
};

// Intervals from low to high times sigma about the mean.
Inside inside_of_block(std::size_t rows, const double* __restrict e, const double* __restrict s,
                       const double* __restrict w, const double* __restrict low, const double* __restrict high) {
    double weight = 0;
    double outside = 0;
    double width = 0;
#pragma omp simd reduction(+ : weight, outside, width)
    for (std::size_t i = 0; i < rows; ++i) {
        const double under = low[i] * s[i] - e[i];
        const double over = e[i] - high[i] * s[i];
        const double beyond = under > over ? under : over;
        weight += beyond <= 0 ? w[i] : 0;
        outside += beyond > 0 ? w[i] * beyond : 0;
        width += w[i] * ((high[i] - low[i]) * s[i]);
    }
    return {weight, outside, width};
}

double weighted_sum_of_block(std::size_t rows, const double* __restrict values, const double* __restrict w) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < rows; ++i) sum += w[i] * values[i];
    return sum;
}

double crps_of_block(std::size_t rows, const double* __restrict e, double sigma, const double* __restrict w) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < rows; ++i)
        sum += w[i] * scores::crps_value(e[i], sigma, scores::erf_gauss(e[i] / sigma * scores::kRootHalf));
    return sum;
}

void pits_of_block(std::size_t rows, const double* __restrict values, const double* __restrict scales,
                   double* __restrict pits) {
    scores_of_block(rows, values, scales, pits);
#pragma omp simd
    for (std::size_t i = 0; i < rows; ++i) pits[i] = (scores::erf_gauss(pits[i] * scores::kRootHalf).erf + 1) / 2;
}

// Forecasts of some rows, of one family or of several. What follows from probabilities follows from the normal scores,
// which are `scores` over `scales`; where the family is normal those are the errors over the sigmas, and nothing is
// stored.
struct ForecastRows {
    std::span<const double> errors = {}, sigmas = {}, weights = {};
    const RowFamilies& families;
    std::span<const double> scores = {}, scales = {};
    std::span<const double> located = {};              // errors about the location, to which a constant sigma is fitted
    const verification::ScoredRows* scored = nullptr;  // where scores and intervals are known

    std::size_t size() const { return errors.size(); }
    const double* weights_from(std::size_t begin) const { return accrue::scores::weights_from(weights, begin); }
    const double* scales_from(std::size_t begin) const { return scales.empty() ? nullptr : &scales[begin]; }

    verification::PitSource pits() const {
        return [values = scores, over = scales](std::size_t begin, std::size_t end, double* pits) {
            pits_of_block(end - begin, &values[begin], over.empty() ? nullptr : &over[begin], pits);
        };
    }

    // Calls score(family, rows, errors, sigmas, values) for stretches of rows of one family.
    template <typename Score>
    void score_block(std::size_t begin, std::size_t end, double* values, Score&& score) const {
        for (std::size_t from = begin, to = begin; from < end; from = to) {
            to = from + 1;
            if (families.width() == 0)
                while (to < end && families.code(to) == families.code(from)) ++to;
            families.with(from, [&](const Standardised& own) {
                score(own, to - from, &errors[from], &sigmas[from], values + (from - begin));
            });
        }
    }
};

// An interval that ends on a bound holds the observations there, whatever rounding makes of them.
void with_slack(const Family& family, double& low, double& high) {
    if (!family.limits().any()) return;
    constexpr double kRounding = 1e-9;
    low -= kRounding * (1 + std::fabs(low));
    high += kRounding * (1 + std::fabs(high));
}

// Beyond this a PIT is 0 or 1 in doubles.
constexpr double kFarthest = 38;
double held_score(const Standardised& family, double z) {
    return std::clamp(family.normal_score(z), -kFarthest, kFarthest);
}

// From the sum of squares, unless that left the doubles on its way.
double root_mean_square(std::span<const double> values, std::span<const double> weights, double sum, double total) {
    // What underflowed among the terms is nothing beside such a sum.
    constexpr double kMin = 1e-250;
    const double mean = sum / total;
    const double most = std::numeric_limits<double>::max();
    if (sum >= kMin && sum <= most && mean >= kMin && mean <= most) return std::sqrt(mean);
    verification::Squares squares;
    for (std::size_t i = 0; i < values.size(); ++i) squares.add(values[i], weights.empty() ? 1 : weights[i]);
    return squares.root_mean(total);
}

// What the figures of all rows and of some of them share.
struct Shared {
    std::map<double, double> floors;
    scores::SortBuffers buffers;

    // It depends on the number of rows alone, and the values of a column often share it.
    double floor(double rows) {
        const auto [place, is_new] = floors.try_emplace(rows, 0.0);
        if (is_new) place->second = kolmogorov_quantile(rows, 0.5);
        return place->second;
    }
};

Verification verify_rows(const ForecastRows& rows, const VerifyOptions& options, Shared& shared,
                         const verification::PitCdf& cdf, const verification::Evidence& evidence) {
    const std::size_t n = rows.size();
    Verification v;
    v.rows = n;
    evidence.tell(v, rows.weights);
    v.beta = balanced_beta(rows.located, rows.weights);
    v.ensemble = rows.scored != nullptr && rows.scored->families == nullptr;
    bool symmetric = !v.ensemble;
    bool has_density = !v.ensemble;
    for (std::size_t k = 0; k < rows.families.count(); ++k) {
        const Family& family = rows.families.family(k);
        v.recalibrated = v.recalibrated || family.recalibrated();
        symmetric = symmetric && family.symmetric();
        has_density = has_density && family.has_density();
    }

    const auto moments = core::sum_blocks<Moments>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        BlockBuffer z;
        BlockBuffer crps;
        scores_of_block(end - begin, &rows.scores[begin], rows.scales_from(begin), z.data());
        if (rows.scored != nullptr)
            std::copy_n(&rows.scored->crps[begin], end - begin, crps.data());
        else
            rows.score_block(begin, end, crps.data(),
                             [](const Standardised& family, auto... arguments) { family.crps_block(arguments...); });
        return moments_of_block(end - begin, &rows.errors[begin], &rows.sigmas[begin], rows.weights_from(begin),
                                z.data(), crps.data());
    });
    if (moments.not_positive > 0 && !v.ensemble) scores::refuse_sigma(rows.sigmas);
    const double total = moments.weight;
    v.crps = moments.crps / total;
    v.rs = scores::sorted_reliability(rows.scores, rows.scales, rows.weights, total, shared.buffers);
    v.z_quantiles = scores::sorted_quantiles(shared.buffers, n, !rows.weights.empty(), total, kZShares);
    v.ar = v.beta * v.crps + (1 - v.beta) * v.rs;
    v.rs_floor = reliability_floor(v.effective_rows);
    v.nlpd = kUndefined;
    if (has_density)
        v.nlpd =
            core::sum_blocks<double>(
                n, kBlock,
                [&](std::size_t begin, std::size_t end) {
                    BlockBuffer nlpd;
                    if (rows.scored != nullptr)
                        std::copy_n(&rows.scored->nlpd[begin], end - begin, nlpd.data());
                    else
                        rows.score_block(begin, end, nlpd.data(), [](const Standardised& family, auto... arguments) {
                            family.nlpd_block(arguments...);
                        });
                    return weighted_sum_of_block(end - begin, nlpd.data(), rows.weights_from(begin));
                }) /
            total;
    v.mean_z = moments.mean_z;
    v.sd_z = std::sqrt(moments.squares_z / total);
    v.sharpness = root_mean_square(rows.sigmas, rows.weights, moments.sigma_squared, total);
    v.rmse = root_mean_square(rows.errors, rows.weights, moments.error_squared, total);
    if (symmetric) {
        const double below = moments.negative / total;
        v.sign_bound = std::max(std::fabs(below - 0.5), std::fabs(below + moments.zero / total - 0.5));
    }

    v.constant_sigma = best_constant_sigma(rows.located, rows.weights);
    const auto constant_crps = core::sum_blocks<double>(n, kBlock, [&](std::size_t begin, std::size_t end) {
        return crps_of_block(end - begin, &rows.located[begin], v.constant_sigma, rows.weights_from(begin));
    });
    v.crps_skill = constant_crps > 0 ? 1 - v.crps / (constant_crps / total) : kUndefined;

    for (std::size_t k = 0; k < options.levels.size(); ++k) {
        const double level = options.levels[k];
        core::require(level > 0 && level < 1, "a level must be between 0 and 1; it is {}", level);
        if (rows.scored != nullptr && rows.scored->low[k].empty()) {
            v.coverage.push_back({level, kUndefined, kUndefined, kUndefined});
            continue;
        }
        std::vector<std::pair<double, double>> bounds;
        if (rows.scored == nullptr)
            for (const Standardised& family : rows.families.alike()) bounds.push_back(family.interval(level));
        const auto inside = core::sum_blocks<Inside>(n, kBlock, [&](std::size_t begin, std::size_t end) {
            if (rows.scored != nullptr)
                return inside_of_block(end - begin, &rows.errors[begin],
                                       v.ensemble ? accrue::scores::weights_from({}, begin) : &rows.sigmas[begin],
                                       rows.weights_from(begin), &rows.scored->low[k][begin],
                                       &rows.scored->high[k][begin]);
            BlockBuffer low;
            BlockBuffer high;
            for (std::size_t i = begin; i < end; ++i) {
                std::tie(low[i - begin], high[i - begin]) =
                    bounds.empty() ? rows.families.with(i, [&](const Standardised& own) { return own.interval(level); })
                                   : bounds[rows.families.code(i)];
                with_slack(rows.families.family(rows.families.code(i)), low[i - begin], high[i - begin]);
            }
            return inside_of_block(end - begin, &rows.errors[begin], &rows.sigmas[begin], rows.weights_from(begin),
                                   low.data(), high.data());
        });
        const double width = inside.width / total;
        // Both are sums of weights, of which rounding could make the part the larger.
        const double observed = std::min(1.0, inside.weight / total);
        v.coverage.push_back({level, observed, width, width + 2 / (1 - level) * inside.outside / total});
    }

    v.calibration_error = cdf.distance_to_diagonal();
    v.calibration_floor = shared.floor(v.effective_rows);
    v.calibration_p_value = std::clamp(kolmogorov_survival(v.effective_rows, v.calibration_error), 0.0, 1.0);
    return v;
}

void check_grouping(const Grouping& grouping, std::size_t rows, const std::string& what) {
    core::require(grouping.codes.empty() || grouping.codes.size() == rows, "there are {} {} codes, but {} errors",
                  grouping.codes.size(), what, rows);
    core::require(grouping.codes.empty() == grouping.labels.empty(), "there are {} {} codes, but {} labels",
                  grouping.codes.size(), what, grouping.labels.size());
    for (std::size_t i = 0; i < grouping.codes.size(); ++i)
        core::require(grouping.codes[i] < grouping.labels.size(), "row {} has {} code {}, but there are {} labels",
                      i + 1, what, grouping.codes[i], grouping.labels.size());
}

std::vector<Verification> verify_values(const ForecastRows& rows, const Grouping& column, const Grouping& groups,
                                        const VerifyOptions& options, Shared& shared) {
    // Rows of one value, brought together by a counting sort.
    const std::size_t n = rows.size();
    core::require(n < (std::size_t{1} << 32U), "{} rows are more than the 2^32 - 1 that can be grouped", n);
    std::vector<std::size_t> starts(column.labels.size() + 1, 0);
    for (const std::uint32_t code : column.codes) ++starts[code + 1];
    for (std::size_t g = 0; g < column.labels.size(); ++g) starts[g + 1] += starts[g];
    std::vector<std::uint32_t> order(n);
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < n; ++i) order[next[column.codes[i]]++] = static_cast<std::uint32_t>(i);
    std::vector<Verification> values;
    std::vector<double> e, s, w, z, located, times;
    std::vector<std::uint32_t> own_groups;
    std::vector<std::vector<double>> scored_values;
    for (std::size_t g = 0; g < column.labels.size(); ++g) {
        const auto take = [&](auto from, auto& to) {
            to.clear();
            if (from.empty()) return std::span<const typename decltype(from)::value_type>{};
            to.reserve(starts[g + 1] - starts[g]);
            for (std::size_t i = starts[g]; i < starts[g + 1]; ++i) to.push_back(from[order[i]]);
            return std::span<const typename decltype(from)::value_type>(to);
        };
        const auto own_rows = std::span<const std::uint32_t>(order).subspan(starts[g], starts[g + 1] - starts[g]);
        const RowFamilies own_families(rows.families, own_rows);
        ForecastRows own{.families = own_families};
        verification::ScoredRows own_scored;
        if (rows.scored != nullptr) {
            own_scored = rows.scored->some(own_rows, scored_values);
            own.scored = &own_scored;
        }
        own.errors = take(rows.errors, e);
        own.sigmas = take(rows.sigmas, s);
        own.weights = take(rows.weights, w);
        // What is the same array for all rows is so for these too.
        own.scores = rows.scales.empty() ? take(rows.scores, z) : own.errors;
        own.scales = rows.scales.empty() ? std::span<const double>{} : own.sigmas;
        own.located = rows.located.data() == rows.errors.data() ? own.errors : take(rows.located, located);
        const double total =
            rows.weights.empty() ? static_cast<double>(own.size()) : std::accumulate(w.begin(), w.end(), 0.0);
        if (total <= 0) continue;  // no rows, or none that counts
        const verification::PitCdf own_cdf(own.size(), own.pits(), own.weights, options.diagram_points - 1);
        // Groups of many labels would cost each value a look at all of them.
        const bool few = groups.labels.size() <= std::max(kFewGroups, own.size());
        const Grouping together{few ? take(groups.codes, own_groups) : std::span<const std::uint32_t>{},
                                few ? groups.labels : std::span<const std::string>{}};
        const verification::Evidence evidence = verification::evidence_of(
            {own.scores, own.scales}, own.weights, together, options.ordered, take(options.times, times));
        Verification& figures = values.emplace_back(verify_rows(own, options, shared, own_cdf, evidence));
        figures.name = column.labels[g];
    }
    return values;
}

void check_rows(std::size_t rows, std::span<const double> weights, const Grouping& groups, const VerifyOptions& options,
                std::span<const ColumnGrouping> by) {
    core::require(rows > 0, "there are no rows to verify");
    core::require(options.diagram_points >= 2, "a diagram needs at least 2 points");
    core::require(weights.empty() || weights.size() == rows, "there are {} weights, but {} errors", weights.size(),
                  rows);
    check_grouping(groups, rows, "group");
    for (const ColumnGrouping& column : by) {
        core::require(!column.rows.codes.empty(), "column '{}' has no values", column.name);
        check_grouping(column.rows, rows, fmt::format("'{}'", column.name));
    }
    core::require(options.times.empty() || options.times.size() == rows, "there are {} times, but {} errors",
                  options.times.size(), rows);
    core::require(options.replicates >= 1, "a bootstrap needs at least 1 replicate");
}

Verification verify_all(const ForecastRows& rows, const Grouping& groups, const VerifyOptions& options,
                        std::span<const ColumnGrouping> by) {
    const verification::PitSource pits = rows.pits();
    const verification::PitCdf cdf(rows.size(), pits, rows.weights, options.diagram_points - 1);
    Shared shared;
    Verification result = verify_rows(
        rows, options, shared, cdf,
        verification::evidence_of({rows.scores, rows.scales}, rows.weights, groups, options.ordered, options.times));
    result.diagram = verification::reliability_diagram(cdf, result.effective_rows, pits, rows.weights, groups, options);
    for (const ColumnGrouping& column : by)
        result.by.push_back({column.name, verify_values(rows, column.rows, groups, options, shared)});
    verification::require_possible(result);
    return result;
}

}  // namespace

std::size_t verify_bytes_per_row(bool weights, bool by, bool normal) {
    const std::size_t sorted = weights ? sizeof(scores::SortBuffers::Weighted) : sizeof(std::uint64_t);
    // Normal scores, and errors about the location, where they are not those of a normal family.
    const std::size_t other = normal ? 0 : 2 * sizeof(double);
    // The order of the rows by value, and a copy of those of the most frequent one.
    const std::size_t grouped = by ? sizeof(std::uint32_t) + (weights ? 3 : 2) * sizeof(double) + other : 0;
    // Rows near the largest distance to the diagonal, of which there are the more the better the calibration is.
    const std::size_t near = weights ? 8 : 4;
    // The order of rows and blocks of neighbours.
    const std::size_t order = 2 * sizeof(std::uint32_t);
    return std::max(sorted + near, order) + grouped + other;
}

std::vector<double> pit(std::span<const double> errors, std::span<const double> sigmas) {
    core::require(errors.size() == sigmas.size(), "there are {} errors, but {} sigmas", errors.size(), sigmas.size());
    std::vector<double> pits(errors.size());
    core::for_blocks(errors.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        pits_of_block(end - begin, &errors[begin], &sigmas[begin], &pits[begin]);
        // The fast version takes numbers, and makes one of what is none.
        for (std::size_t i = begin; i < end; ++i)
            if (std::isnan(errors[i] / sigmas[i])) pits[i] = std::numeric_limits<double>::quiet_NaN();
    });
    return pits;
}

Verification verify(std::span<const double> errors, std::span<const double> sigmas, std::span<const double> weights,
                    const Grouping& groups, const VerifyOptions& options, std::span<const ColumnGrouping> by) {
    return verify(errors, sigmas, Families{{normal_family()}, {}}, weights, groups, options, by);
}

Verification verify(std::span<const double> errors, std::span<const double> sigmas, const Families& families,
                    std::span<const double> weights, const Grouping& groups, const VerifyOptions& options,
                    std::span<const ColumnGrouping> by) {
    const std::size_t n = errors.size();
    check_rows(n, weights, groups, options, by);
    core::require(sigmas.size() == n, "there are {} errors, but {} sigmas", n, sigmas.size());
    const RowFamilies own_families(families, n);
    ForecastRows rows{errors, sigmas, weights, own_families, errors, sigmas, errors};
    std::vector<double> own_scores;
    std::vector<double> located;
    const auto for_rows = [&](std::vector<double>& values, auto value) {
        values.resize(n);
        core::for_blocks(n, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                values[i] = own_families.with(i, [&](const Standardised& own) { return value(own, i); });
        });
    };
    const std::span<const Standardised> alike = own_families.alike();
    const bool normal = std::all_of(families.list.begin(), families.list.end(),
                                    [](const SharedFamily& family) { return family->is_normal(); });
    if (!normal) {
        for_rows(own_scores,
                 [&](const Standardised& family, std::size_t i) { return held_score(family, errors[i] / sigmas[i]); });
        rows.scores = own_scores;
        rows.scales = {};
    }
    if (alike.empty() || std::any_of(alike.begin(), alike.end(), [](const auto& f) { return f.u_mean() != 0; })) {
        for_rows(located,
                 [&](const Standardised& family, std::size_t i) { return errors[i] + family.mean_shift(sigmas[i]); });
        rows.located = located;
    }
    return verify_all(rows, groups, options, by);
}

verification::FamilyScores::FamilyScores(std::span<const double> errors, std::span<const double> sigmas,
                                         const RowFamilies& families, std::span<const double> levels)
    : errors_(errors), sigmas_(sigmas), families_(families) {
    const std::size_t n = errors.size();
    bool has_density = true;
    for (std::size_t k = 0; k < families.count(); ++k) has_density = has_density && families.family(k).has_density();
    for (auto* values : {&scores_, &crps_, &located_}) values->resize(n);
    if (has_density) nlpd_.resize(n);
    for (auto* ends : {&low_, &high_}) ends->assign(levels.size(), std::vector<double>(n));
    std::vector<std::pair<double, double>> alike;  // family after family, where all rows of one have the same
    for (const Standardised& family : families.alike())
        for (const double level : levels) alike.push_back(family.interval(level));
    core::for_blocks(n, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            families.with(i, [&](const Standardised& own) {
                scores_[i] = held_score(own, errors[i] / sigmas[i]);
                own.crps_block(1, &errors[i], &sigmas[i], &crps_[i]);
                if (has_density) own.nlpd_block(1, &errors[i], &sigmas[i], &nlpd_[i]);
                located_[i] = errors[i] + own.mean_shift(sigmas[i]);
                for (std::size_t k = 0; k < levels.size(); ++k) {
                    std::tie(low_[k][i], high_[k][i]) =
                        alike.empty() ? own.interval(levels[k]) : alike[families.code(i) * levels.size() + k];
                    with_slack(own.family(), low_[k][i], high_[k][i]);
                }
                return 0;
            });
    });
}

verification::ScoredRows verification::FamilyScores::rows() const {
    ScoredRows own{errors_, sigmas_, scores_, crps_};
    own.low.assign(low_.begin(), low_.end());
    own.high.assign(high_.begin(), high_.end());
    own.families = &families_;
    own.located = located_;
    own.nlpd = nlpd_;
    return own;
}

Verification verification::verify_scored(const ScoredRows& scored, std::span<const double> weights,
                                         const Grouping& groups, const VerifyOptions& options,
                                         std::span<const ColumnGrouping> by) {
    check_rows(scored.errors.size(), weights, groups, options, by);
    const RowFamilies normal({{normal_family()}}, scored.errors.size());
    ForecastRows rows{scored.errors,
                      scored.sigmas,
                      weights,
                      scored.families != nullptr ? *scored.families : normal,
                      scored.scores,
                      {},
                      scored.located.empty() ? scored.errors : scored.located,
                      &scored};
    return verify_all(rows, groups, options, by);
}

}  // namespace accrue
