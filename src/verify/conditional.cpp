#include "accrue/conditional.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <utility>

#include "accrue/messages.hpp"
#include "core/parallel.hpp"
#include "core/rounded_json.hpp"
#include "core/sort.hpp"
#include "families/normal.hpp"
#include "verify/dependence.hpp"

namespace accrue {

namespace {

using Role = Condition::Role;
using Fault = ConditionalPlace::Fault;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMaxBins = 10;
constexpr std::size_t kRowsOfBin = 100;   // at least, on average
constexpr std::size_t kRowsOfPlace = 20;  // fewer tell nothing
constexpr std::size_t kMinClusters = 10;  // of independent rows or groups, for a test
constexpr std::size_t kMaxValues = 1000;  // of a column; of more those with the most rows
constexpr std::size_t kEdgeSample = 100'000;
constexpr std::size_t kMaxRows = 200'000;
constexpr double kHalfOf90 = 1.6448536269514722;  // of the central 90% interval of a standard normal
// A difference that nobody would act on is no fault, however many rows show it.
constexpr double kMinBias = 0.05;
constexpr double kMinSpread = 0.1;  // of the mean of z^2
constexpr double kMinCoverage = 0.02;
constexpr double kMinShape = 0.03;  // between curves of the reliability diagram

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};

// Which rows belong together, and what is said of them.
struct Places {
    std::vector<std::uint32_t> codes;  // a place for every row that counts, or none
    std::vector<std::string> labels;
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
};

Places bins_of(std::span<const double> numbers, std::span<const std::uint32_t> rows) {
    Places places;
    std::vector<double> sorted;
    const std::size_t step = (numbers.size() + kEdgeSample - 1) / kEdgeSample;
    for (std::size_t i = 0; i < numbers.size(); i += std::max<std::size_t>(step, 1))
        if (std::isfinite(numbers[i])) sorted.push_back(numbers[i]);
    core::sort_ascending(sorted);
    if (sorted.empty() || sorted.front() == sorted.back()) return places;
    const std::size_t bins = std::clamp<std::size_t>(numbers.size() / kRowsOfBin, 1, kMaxBins);
    std::vector<double> edges;  // the upper ends of all bins but the last
    for (std::size_t k = 1; k < bins; ++k) {
        const double edge = sorted[k * sorted.size() / bins];
        if (edge < sorted.back() && (edges.empty() || edge > edges.back())) edges.push_back(edge);
    }
    places.codes.resize(numbers.size(), Places::kNone);
    for (const std::uint32_t i : rows)
        if (std::isfinite(numbers[i]))
            places.codes[i] =
                static_cast<std::uint32_t>(std::lower_bound(edges.begin(), edges.end(), numbers[i]) - edges.begin());
    for (std::size_t k = 0; k <= edges.size(); ++k)
        places.labels.push_back(k == 0 && edges.empty() ? std::string("any")
                                : k == 0                ? fmt::format("at most {:.4g}", edges[0])
                                : k == edges.size()     ? fmt::format("above {:.4g}", edges.back())
                                                        : fmt::format("{:.4g} to {:.4g}", edges[k - 1], edges[k]));
    return places;
}

Places places_of(const Condition& condition, std::span<const std::uint32_t> rows_that_count) {
    if (condition.values.codes.empty()) return bins_of(condition.numbers, rows_that_count);
    Places places{{condition.values.codes.begin(), condition.values.codes.end()},
                  {condition.values.labels.begin(), condition.values.labels.end()}};
    if (places.labels.size() <= kMaxValues) return places;
    std::vector<std::size_t> rows(places.labels.size());
    for (const std::uint32_t code : places.codes) ++rows[code];
    std::vector<std::size_t> sorted = rows;
    std::nth_element(sorted.begin(), sorted.begin() + kMaxValues, sorted.end(), std::greater<>());
    const std::size_t min_rows = sorted[kMaxValues] + 1;
    for (std::uint32_t& code : places.codes)
        if (rows[code] < min_rows) code = Places::kNone;
    return places;
}

// Of a number of every row: its variance, and how much those of one cluster have in common.
struct Spread {
    double variance = 0, shared = 0;

    // Of the sum over rows of clusters of these sizes, and how much more that is than of independent rows.
    double of_sum(std::span<const double> sizes) const {
        double rows = 0;
        for (const double size : sizes) rows += size + shared * size * (size - 1);
        return variance * rows;
    }
    double effect(std::span<const double> sizes) const {
        return variance > 0 ? of_sum(sizes) / (variance * std::accumulate(sizes.begin(), sizes.end(), 0.0)) : 1;
    }
};

// Sums of squares, and of products of two rows of one cluster, of all clusters or of one.
struct Products {
    double rows = 0, squares = 0, pairs = 0, products = 0;

    Products& operator+=(const Products& one) {
        rows += one.rows;
        squares += one.squares;
        pairs += one.pairs;
        products += one.products;
        return *this;
    }
    Products without(const Products& one) const {
        return {rows - one.rows, squares - one.squares, pairs - one.pairs, products - one.products};
    }
    Spread spread() const {
        Spread own;
        if (rows > 0) own.variance = squares / rows;
        if (pairs > 0 && own.variance > 0) own.shared = std::clamp(products / pairs / own.variance, 0.0, 1.0);
        return own;
    }
};
struct Clustered {
    Products all;
    std::vector<Products> each;  // none where rows are independent

    Clustered& operator+=(const Clustered& other) {
        all += other.all;
        for (std::size_t g = 0; g < each.size(); ++g) each[g] += other.each[g];
        return *this;
    }
    // Of all clusters, or of those beside one.
    Spread spread(std::optional<std::size_t> beside) const {
        return (beside ? all.without(each[*beside]) : all).spread();
    }
};

Clustered clustered(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> clusters, std::size_t count,
                    const std::function<double(std::uint32_t)>& difference) {
    Clustered own;
    own.each.resize(clusters.empty() ? 0 : count);
    std::vector<double> sums(own.each.size());
    for (const std::uint32_t row : rows) {
        const double d = difference(row);
        Products& at = clusters.empty() ? own.all : own.each[clusters[row]];
        at.rows += 1;
        at.squares += d * d;
        if (!clusters.empty()) sums[clusters[row]] += d;
    }
    for (std::size_t g = 0; g < sums.size(); ++g) {
        Products& at = own.each[g];
        at.pairs = at.rows * (at.rows - 1);
        at.products = sums[g] * sums[g] - at.squares;
        own.all += at;
    }
    return own;
}

// The rows in the order of their scores, which is that of their PITs, and the shares of all rows below and up to each.
struct CurvePoint {
    double score, pit, below, upto;
    std::uint32_t row;
};

std::vector<CurvePoint> curve_of(std::span<const double> scores, std::span<const std::uint32_t> rows) {
    std::vector<CurvePoint> curve;
    for (const std::uint32_t row : rows) curve.push_back({scores[row], families::normal_cdf(scores[row]), 0, 0, row});
    std::sort(curve.begin(), curve.end(), [](const CurvePoint& a, const CurvePoint& b) { return a.score < b.score; });
    const auto count = static_cast<double>(curve.size());
    for (std::size_t first = 0, end = 0; first < curve.size(); first = end) {
        while (end < curve.size() && curve[end].score == curve[first].score) ++end;
        for (std::size_t k = first; k < end; ++k) {
            curve[k].below = static_cast<double>(first) / count;
            curve[k].upto = static_cast<double>(end) / count;
        }
    }
    return curve;
}

// Of the rows of a place: the largest distance of their curve to the diagonal, and to the curve of all rows.
struct Distances {
    double to_diagonal = 0, to_all = 0;
};

std::vector<Distances> distances(std::span<const CurvePoint> curve, std::span<const std::size_t> rows,
                                 const std::function<std::uint32_t(std::uint32_t)>& place_of) {
    std::vector<Distances> all(rows.size());
    std::vector<std::size_t> seen(rows.size());
    for (const CurvePoint& point : curve) {
        const std::uint32_t place = place_of(point.row);
        if (place == Places::kNone) continue;
        const auto count = static_cast<double>(rows[place]);
        const double before = static_cast<double>(seen[place]) / count;
        const double after = static_cast<double>(++seen[place]) / count;
        Distances& own = all[place];
        own.to_diagonal = std::max({own.to_diagonal, point.pit - before, after - point.pit});
        own.to_all = std::max({own.to_all, point.below - before, after - point.upto});
    }
    return all;
}

// Twice the logarithm of the likelihood ratio of two shares of `rows` independent rows.
double deviance(double rows, double observed, double expected) {
    const auto part = [](double a, double b) { return a > 0 ? a * std::log(a / b) : 0; };
    if (observed == expected) return 0;
    return std::max(0.0, 2 * rows * (part(observed, expected) + part(1 - observed, 1 - expected)));
}

// Its root is nearly normal. From a share that is one row nearer to the expected one it is never larger than a normal
// score with the same binomial tail beyond it (Zubkov and Serov 2013), however few rows there are.
double share_t(double rows, double observed, double expected) {
    const double nearer =
        observed > expected ? std::max(observed - 1 / rows, expected) : std::min(observed + 1 / rows, expected);
    const double root = std::sqrt(deviance(rows, nearer, expected));
    return nearer < expected ? -root : root;
}

// The shares whose t lies within -t and t.
ChanceRange share_range(double rows, double expected, double t) {
    const auto end = [&](double farthest) {
        double inside = expected;
        double outside = farthest;
        if (deviance(rows, outside, expected) <= t * t) return outside;
        for (int step = 0; step < 60; ++step) {
            const double middle = (inside + outside) / 2;
            (deviance(rows, middle, expected) <= t * t ? inside : outside) = middle;
        }
        return inside;
    };
    return {std::max(0.0, end(0) - 1 / rows), std::min(1.0, end(1) + 1 / rows)};
}

// All rows: means of z and of its square about that mean, and how these vary, with the curve of the PITs.
struct Whole {
    double rows = 0, mean = 0, square = 0, coverage = 0;
    Clustered of_z, of_square, of_coverage, of_curve;
};

bool is_covered(double score) {
    return std::fabs(score) <= kHalfOf90;
}

// `cluster` where the place is one: it is judged by how much the others differ, and its rows are no evidence of more.
// Other places need some clusters, or nothing is said about chance.
ConditionalPlace figures_of(std::span<const double> scores, std::span<const std::uint32_t> rows, const Distances& curve,
                            std::span<const std::uint32_t> clusters, std::size_t cluster_count,
                            std::optional<std::size_t> cluster, const Whole& whole) {
    ConditionalPlace place;
    place.rows = rows.size();
    std::vector<double> sizes(clusters.empty() ? rows.size() : cluster_count, clusters.empty() ? 1.0 : 0.0);
    std::size_t covered = 0;
    double z = 0;
    double square = 0;
    for (const std::uint32_t row : rows) {
        const double score = scores[row];
        z += score;
        square += score * score;
        covered += is_covered(score) ? 1 : 0;
        if (!clusters.empty()) sizes[clusters[row]] += 1;
    }
    const auto count = static_cast<double>(rows.size());
    place.mean_z = z / count;
    const double variance = std::max(square / count - place.mean_z * place.mean_z, 0.0);
    place.sd_z = std::sqrt(variance);
    place.coverage = static_cast<double>(covered) / count;
    place.calibration_error = curve.to_diagonal;
    // The median of Kolmogorov's distribution, with Stephens' correction for few rows.
    const double effect = std::max(whole.of_curve.spread(cluster).effect(sizes), 1.0);
    const double root = std::sqrt(count / effect);
    place.calibration_floor = 0.82757 / (root + 0.12 + 0.11 / root);
    const double share = count / whole.rows;
    const auto used = std::count_if(sizes.begin(), sizes.end(), [](double size) { return size > 0; });
    place.bias_t = place.spread_t = place.coverage_t = place.calibration_t = kNaN;
    place.mean_error = place.coverage_rows = place.variance_error = place.calibration_apart = kNaN;
    if (static_cast<std::size_t>(used) < (cluster ? 1 : kMinClusters) || share >= 1 || !(whole.square > 0))
        return place;
    const auto variance_of_sum = [&](const Clustered& of) { return of.spread(cluster).of_sum(sizes); };
    // The rows of a place are part of all rows, and share what is random with them.
    place.mean_error = std::sqrt(variance_of_sum(whole.of_z) * (1 - share)) / count;
    place.bias_t = (place.mean_z - whole.mean) / place.mean_error;
    place.coverage_rows = count / (whole.of_coverage.spread(cluster).effect(sizes) * (1 - share));
    place.coverage_t = share_t(place.coverage_rows, place.coverage, whole.coverage);
    // The distance of two curves is that of one to what it is drawn from, of rows as for the coverage: Kolmogorov's
    // tail, 2 exp(-2 n d^2), which holds for any number of them (Massart 1990).
    place.calibration_apart = curve.to_all;
    const double log_tail = -2 * count / (effect * (1 - share)) * curve.to_all * curve.to_all;
    place.calibration_t = log_tail < -std::numbers::ln2 ? families::normal_score_above(log_tail) : 0;
    // The cube root of a mean of squares is nearly normal (Wilson and Hilferty).
    const double relative = variance_of_sum(whole.of_square) * (1 - share) / std::pow(count * whole.square, 2);
    place.variance_error = std::sqrt(relative);
    place.spread_t = 3 * (std::cbrt(variance / whole.square) - 1 + relative / 9) / place.variance_error;
    return place;
}

// Of the numbers in these rows.
void add_range(ConditionalPlace& place, std::span<const double> numbers, std::span<const std::uint32_t> rows) {
    place.low = place.high = place.x = kNaN;
    if (numbers.empty()) return;
    place.low = place.high = numbers[rows[0]];
    place.x = 0;
    for (const std::uint32_t row : rows) {
        place.low = std::min(place.low, numbers[row]);
        place.high = std::max(place.high, numbers[row]);
        place.x += numbers[row] / static_cast<double>(rows.size());
    }
}

bool is_of(const Condition& condition, std::string_view kind) {
    return condition.role == Role::input && condition.name.ends_with(kind);
}

// Values that are neither bins nor those of a column are months or hours.
std::string where(const ConditionalColumn& column, const ConditionalPlace& place) {
    if (!column.group.empty()) return fmt::format("where {} is '{}'", printable(column.group), printable(place.label));
    if (!std::isnan(place.x)) return fmt::format("where {} is {}", printable(column.name), place.label);
    return column.name.ends_with("hour") ? fmt::format("at {}:00", place.label) : fmt::format("in {}", place.label);
}

// The column whose values tell rows apart; empty where it is none of values.
std::string group_column(const Condition& condition) {
    if (condition.values.codes.empty() || condition.role == Role::time || is_of(condition, ":season") ||
        is_of(condition, ":hour"))
        return "";
    constexpr std::string_view kCategory = ":category";
    return condition.name.substr(0, condition.name.size() - (is_of(condition, kCategory) ? kCategory.size() : 0));
}

// The places of a column that are called faulty together, and all that lies in none of them.
struct Stretch {
    std::size_t first = 0, count = 1;
};
struct Part {
    double rows = 0, mean = 0, square = 0, coverage = 0;  // sums, until they are divided by rows

    double sd() const { return std::sqrt(std::max(square - mean * mean, 0.0)); }
    void divide() {
        for (double* sum : {&mean, &square, &coverage}) *sum /= rows;
    }
};

// The place and, of months, those beside it in the year of which the same is to be said.
Stretch stretch_of(const ConditionalColumn& column, std::size_t place,
                   const std::function<bool(const ConditionalPlace&)>& is_alike) {
    const auto month = [&](std::size_t k) {
        return std::find(kMonths.begin(), kMonths.end(), column.places[k % column.places.size()].label) -
               kMonths.begin();
    };
    const auto all = static_cast<std::ptrdiff_t>(kMonths.size());
    const std::size_t size = column.places.size();
    if (month(place) == all) return {place, 1};
    const auto follows = [&](std::size_t k) { return month(k + 1) == (month(k) + 1) % all; };
    Stretch own{place, 1};
    while (own.count < size && follows(own.first + own.count - 1) &&
           is_alike(column.places[(own.first + own.count) % size]))
        ++own.count;
    while (own.count < size && follows(own.first + size - 1) &&
           is_alike(column.places[(own.first + size - 1) % size])) {
        own.first = (own.first + size - 1) % size;
        ++own.count;
    }
    return own;
}

std::string sigmas_off(double mean) {
    return fmt::format("{:.2f} sigma {}", std::fabs(mean), mean > 0 ? "above" : "below");
}

// What is wrong in a stretch, and where the rest is not right either, how it is there: it may be the place alone that
// is right.
std::string fault_words(const ConditionalColumn& column, const Stretch& stretch, Fault fault, const Whole& whole,
                        const std::function<double()>& error_elsewhere) {
    Part here;
    for (std::size_t k = 0; k < stretch.count; ++k) {
        const ConditionalPlace& place = column.places[(stretch.first + k) % column.places.size()];
        const auto rows = static_cast<double>(place.rows);
        here.rows += rows;
        here.mean += rows * place.mean_z;
        here.square += rows * (place.sd_z * place.sd_z + place.mean_z * place.mean_z);
        here.coverage += rows * place.coverage;
    }
    const double rows = whole.rows;
    Part rest{rows - here.rows, rows * whole.mean - here.mean,
              rows * (whole.square + whole.mean * whole.mean) - here.square, rows * whole.coverage - here.coverage};
    here.divide();
    rest.divide();
    const ConditionalPlace& first = column.places[stretch.first];
    std::string text = where(column, first);
    const std::string& last = column.places[(stretch.first + stretch.count - 1) % column.places.size()].label;
    if (stretch.count == 2) text = fmt::format("in {} and {}", first.label, last);
    if (stretch.count > 2) text = fmt::format("from {} to {}", first.label, last);
    const auto is_right = [](double off, double other, double least) {
        return std::fabs(off) <= least && 2 * std::fabs(off) <= std::fabs(other);
    };
    if (fault == Fault::shape) {
        const auto percent = [](double error) {
            return 100 * error < 9.95 ? fmt::format("{:.1f}%", 100 * error) : fmt::format("{:.0f}%", 100 * error);
        };
        const double error = error_elsewhere();
        text += fmt::format(" the calibration error is {} (floor {})", percent(first.calibration_error),
                            percent(first.calibration_floor));
        return is_right(error, first.calibration_error, kMinShape) ? text : text + ", elsewhere " + percent(error);
    }
    if (fault == Fault::bias) {
        text += fmt::format(" observations lie {} the forecast", sigmas_off(here.mean));
        return is_right(rest.mean, here.mean, kMinBias)
                   ? text
                   : text + fmt::format(", elsewhere {} it", sigmas_off(rest.mean));
    }
    constexpr double kLevel = 0.9;
    constexpr double kShown = 0.01;  // of a spread that is wrong
    const double covered = here.coverage - kLevel;
    const double elsewhere = rest.coverage - kLevel;
    if (fault == Fault::spread && (here.sd() > rest.sd() ? elsewhere - covered : covered - elsewhere) < kShown)
        return text + fmt::format(" errors vary {:.2f} times as much as the forecast says, elsewhere {:.2f} times",
                                  here.sd(), rest.sd());
    text += fmt::format(" the 90% interval covers {:.1f}%", 100 * here.coverage);
    return is_right(elsewhere, covered, kMinCoverage) ? text
                                                      : text + fmt::format(", elsewhere {:.1f}%", 100 * rest.coverage);
}

}  // namespace

double ConditionalPlace::t(Fault fault) const {
    switch (fault) {
        case Fault::bias:
            return bias_t;
        case Fault::spread:
            return spread_t;
        case Fault::coverage:
            return coverage_t;
        default:
            return calibration_t;
    }
}

double ConditionalPlace::furthest_t() const {
    double furthest = 0;
    for (const Fault fault : kFaults)
        if (std::fabs(t(fault)) > std::fabs(furthest)) furthest = t(fault);
    return furthest;
}

PlaceByChance by_chance(const ConditionalCalibration& conditional, const ConditionalPlace& place, double t) {
    const double mean = t * place.mean_error;
    const double own = place.variance_error;
    // As in the test: the cube root is what is nearly normal.
    const auto sd = [&](double sign) {
        const double root = 1 - own * own / 9 + sign * t * own / 3;
        return std::isnan(own) ? kNaN : conditional.sd_z * std::pow(std::max(root, 0.0), 1.5);
    };
    return {{conditional.mean_z - mean, conditional.mean_z + mean},
            {sd(-1), sd(1)},
            std::isnan(place.coverage_rows) ? ChanceRange{kNaN, kNaN}
                                            : share_range(place.coverage_rows, conditional.coverage, t)};
}

ConditionalCalibration conditional_calibration(std::span<const double> scores, std::span<const Condition> conditions,
                                               const Grouping& groups, std::span<const double> times,
                                               std::span<const double> weights) {
    ConditionalCalibration result;
    const verification::NormalScores all_scores{scores};
    std::vector<std::uint32_t> order = verification::rows_in_order(all_scores, times);
    std::erase_if(
        order, [&](std::uint32_t row) { return std::isinf(scores[row]) || (!weights.empty() && weights[row] == 0); });
    Whole whole;
    whole.rows = static_cast<double>(order.size());
    for (const std::uint32_t row : order) {
        whole.mean += scores[row] / whole.rows;
        whole.square += scores[row] * scores[row] / whole.rows;
        whole.coverage += is_covered(scores[row]) ? 1 : 0;
    }
    if (whole.rows > 0) whole.coverage /= whole.rows;
    whole.square -= whole.mean * whole.mean;  // now about the mean, as that of a place
    result.mean_z = whole.mean;
    result.sd_z = std::sqrt(std::max(whole.square, 0.0));
    result.coverage = whole.coverage;

    // What counts as independent: groups, blocks of neighbours, or rows.
    result.effective_rows = whole.rows;
    std::vector<std::uint32_t> clusters;
    std::size_t cluster_count = 0;
    const verification::Neighbours neighbours = verification::neighbours_in(all_scores, order);
    result.neighbours = neighbours.of_scores;
    result.neighbours_err_together = neighbours.err_together;
    result.effective_rows /= verification::design_effects(all_scores, {}, order, neighbours).mean;
    if (!groups.codes.empty()) {
        clusters.assign(groups.codes.begin(), groups.codes.end());
        cluster_count = groups.labels.size();
    } else if (neighbours.err_together) {
        clusters.assign(scores.size(), 0);
        cluster_count = verification::neighbour_blocks(order, clusters);
    }

    // Enough to find what matters; all of very many would take long to sort.
    if (order.size() > kMaxRows) {
        const std::size_t step = (order.size() + kMaxRows - 1) / kMaxRows;
        std::size_t kept = 0;
        for (std::size_t k = 0; k < order.size(); k += step) order[kept++] = order[k];
        order.resize(kept);
        whole.rows = static_cast<double>(kept);
    }

    whole.of_z = clustered(order, clusters, cluster_count, [&](std::uint32_t row) { return scores[row] - whole.mean; });
    whole.of_square = clustered(order, clusters, cluster_count, [&](std::uint32_t row) {
        return std::pow(scores[row] - whole.mean, 2) - whole.square;
    });
    whole.of_coverage = clustered(order, clusters, cluster_count, [&](std::uint32_t row) {
        return (is_covered(scores[row]) ? 1 : 0) - whole.coverage;
    });
    whole.of_curve.each.resize(clusters.empty() ? 0 : cluster_count);
    for (const double at : verification::kCurveAt) {
        const auto is_below = [&](std::uint32_t row) { return scores[row] <= at; };
        const double share = static_cast<double>(std::count_if(order.begin(), order.end(), is_below)) / whole.rows;
        whole.of_curve += clustered(order, clusters, cluster_count,
                                    [&](std::uint32_t row) { return (is_below(row) ? 1 : 0) - share; });
    }

    const std::vector<CurvePoint> curve = curve_of(scores, order);
    // Of each column in the result: its condition, and which of its values or bins its places are.
    struct Source {
        const Condition* condition;
        std::vector<std::uint32_t> codes;
    };
    std::vector<Source> sources;
    for (const Condition& condition : conditions) {
        const Places places = places_of(condition, order);
        if (places.labels.size() < 2) continue;
        std::vector<std::vector<std::uint32_t>> rows(places.labels.size());
        for (const std::uint32_t row : order)
            if (places.codes[row] != Places::kNone) rows[places.codes[row]].push_back(row);
        std::vector<std::size_t> counts;
        for (const auto& own : rows) counts.push_back(own.size());
        const std::vector<Distances> curves =
            distances(curve, counts, [&](std::uint32_t row) { return places.codes[row]; });
        Source source{&condition, {}};
        ConditionalColumn column{condition.name, condition.role, {}, group_column(condition)};
        std::vector<ConditionalPlace> all(rows.size());
        const bool are_clusters = !groups.codes.empty() && condition.values.codes.data() == groups.codes.data();
        core::for_blocks(rows.size(), 1, [&](std::size_t k, std::size_t, std::size_t) {
            if (rows[k].size() < kRowsOfPlace) return;
            all[k] = figures_of(scores, rows[k], curves[k], clusters, cluster_count,
                                are_clusters ? std::optional(k) : std::nullopt, whole);
            all[k].label = places.labels[k];
            add_range(all[k], condition.values.codes.empty() ? condition.numbers : std::span<const double>(), rows[k]);
        });
        for (std::size_t k = 0; k < all.size(); ++k) {
            ConditionalPlace& place = all[k];
            if (place.rows == 0) continue;
            for (const Fault fault : ConditionalPlace::kFaults) result.tests += std::isfinite(place.t(fault)) ? 1 : 0;
            column.places.push_back(std::move(place));
            source.codes.push_back(static_cast<std::uint32_t>(k));
        }
        if (column.places.size() < 2) continue;
        result.columns.push_back(std::move(column));
        sources.push_back(std::move(source));
    }
    if (result.tests == 0) return result;
    // Bonferroni, both sides.
    result.critical = std::sqrt(2.0) * boost::math::erfc_inv(result.error_rate / static_cast<double>(result.tests));
    // How far off a place is, as a share of what chance may do; 0 where nobody would act.
    const auto off = [&](const ConditionalPlace& place, Fault fault) {
        double size = 0;
        switch (fault) {
            case Fault::bias:
                size = std::fabs(place.mean_z - whole.mean) / kMinBias;
                break;
            case Fault::spread:
                size = std::fabs(place.sd_z * place.sd_z - whole.square) / kMinSpread;
                break;
            case Fault::coverage:
                size = std::fabs(place.coverage - whole.coverage) / kMinCoverage;
                break;
            case Fault::shape:
                size = place.calibration_apart / kMinShape;
                break;
        }
        return size < 1 || std::isnan(place.t(fault)) ? 0 : place.t(fault) / result.critical;
    };
    // The curve shows a wrong mean or spread too: where these tell nearly as much they are what is wrong. So is a
    // spread beyond chance that the coverage follows.
    constexpr double kNearly = 0.75;
    const auto named = [&](const ConditionalPlace& place, Fault fault) {
        const double bias = std::fabs(off(place, Fault::bias));
        const double spread = off(place, Fault::spread);
        if (fault == Fault::shape && std::max(bias, std::fabs(spread)) > std::max(1.0, kNearly * off(place, fault)))
            return bias > std::fabs(spread) ? Fault::bias : Fault::spread;
        if (fault == Fault::coverage && std::fabs(spread) > 1 && spread * off(place, fault) < 0) return Fault::spread;
        return fault;
    };
    struct Worst {
        double off = 1;
        std::size_t column = 0, place = 0;
        Fault fault = Fault::bias;
    } worst;
    for (std::size_t c = 0; c < result.columns.size(); ++c)
        for (std::size_t k = 0; k < result.columns[c].places.size(); ++k)
            for (const Fault fault : ConditionalPlace::kFaults) {
                const ConditionalPlace& place = result.columns[c].places[k];
                const double own = std::fabs(off(place, fault));
                if (own > worst.off) worst = {own, c, k, named(place, fault)};
            }
    result.passes = worst.off == 1;
    if (result.passes) return result;
    const ConditionalColumn& column = result.columns[worst.column];
    result.worst_role = column.role;
    result.worst_fault = worst.fault;
    result.worst_column = column.name;
    result.worst_group = column.group;
    // Curves may differ in any way, so that months with a shape of their own are not put together.
    const auto is_alike = [&](const ConditionalPlace& place) {
        const double own = off(place, worst.fault);
        return worst.fault != Fault::shape && own * off(column.places[worst.place], worst.fault) > 0 &&
               std::fabs(own) > 1;
    };
    const auto error_elsewhere = [&] {
        const Source& source = sources[worst.column];
        const Places places = places_of(*source.condition, order);
        const std::array<std::size_t, 1> rows = {curve.size() - column.places[worst.place].rows};
        return distances(curve, rows,
                         [&](std::uint32_t row) {
                             return places.codes[row] == source.codes[worst.place] ? Places::kNone : 0;
                         })[0]
            .to_diagonal;
    };
    result.worst = fault_words(column, stretch_of(column, worst.place, is_alike), worst.fault, whole, error_elsewhere);
    return result;
}

namespace {

// Of seconds since 1970; a time that is missing is in no month and at no hour.
std::vector<std::uint32_t> months_of(std::span<const double> times) {
    using namespace std::chrono;
    std::vector<std::uint32_t> months;
    for (const double seconds : times) {
        constexpr double kFarthest = 1e7;  // days, which the calendar has years for
        const double day = std::clamp(std::floor(seconds / 86400), -kFarthest, kFarthest);
        months.push_back(std::isnan(seconds)
                             ? Places::kNone
                             : static_cast<unsigned>(year_month_day{sys_days{days{static_cast<int>(day)}}}.month()) -
                                   1);
    }
    return months;
}

std::vector<std::uint32_t> hours_of(std::span<const double> times) {
    std::vector<std::uint32_t> hours;
    for (const double seconds : times) {
        const double hour = (seconds - 86400 * std::floor(seconds / 86400)) / 3600;
        hours.push_back(std::isnan(hour) ? Places::kNone : static_cast<std::uint32_t>(std::clamp(hour, 0.0, 23.0)));
    }
    return hours;
}

}  // namespace

void ArchiveConditions::add_values(std::string name, Role role, std::vector<std::uint32_t> codes,
                                   std::vector<std::string> labels) {
    codes_.push_back(std::move(codes));
    labels_.push_back(std::move(labels));
    conditions_.push_back({std::move(name), {}, {codes_.back(), labels_.back()}, role});
}

void ArchiveConditions::add_months(std::string name, Role role, std::span<const double> times) {
    add_values(std::move(name), role, months_of(times), {kMonths.begin(), kMonths.end()});
}

void ArchiveConditions::add_hours(std::string name, Role role, std::span<const double> times) {
    std::vector<std::string> labels;
    for (int hour = 0; hour < 24; ++hour) labels.push_back(fmt::format("{:02}", hour));
    add_values(std::move(name), role, hours_of(times), std::move(labels));
}

ArchiveConditions::ArchiveConditions(const Archive& archive) {
    const bool has_dates = !archive.times.empty() && archive.times_are_dates;
    for (std::size_t k = 0; k < archive.inputs.size(); ++k) {
        const std::string& name = archive.input_names[k];
        const std::span<const double> values = archive.inputs[k];
        const InputKind kind = archive.input_types.empty() ? InputKind::number : archive.input_types[k].kind;
        if (kind == InputKind::season || kind == InputKind::hour) {
            // The times of the rows have their months and hours below.
            if (has_dates && parse_input(name).column == archive.roles.time) continue;
            if (kind == InputKind::season)
                add_months(name, Role::input, values);
            else
                add_hours(name, Role::input, values);
        } else if (kind == InputKind::category) {
            // A missing one is a value of its own.
            std::vector<std::string> labels(archive.input_types[k].labels.begin(), archive.input_types[k].labels.end());
            labels.emplace_back("missing");
            std::vector<std::uint32_t> codes;
            for (const double code : values)
                codes.push_back(
                    static_cast<std::uint32_t>(std::isnan(code) ? static_cast<double>(labels.size() - 1) : code));
            add_values(name, Role::input, std::move(codes), std::move(labels));
        } else {
            conditions_.push_back({name, values});
        }
    }
    const auto is_input = [&](const std::string& name) {
        return std::find(archive.input_names.begin(), archive.input_names.end(), name) != archive.input_names.end();
    };
    if (!archive.prediction.empty() && !is_input(archive.roles.prediction))
        conditions_.push_back({archive.roles.prediction, archive.prediction, {}, Role::prediction});
    for (const ColumnGrouping& column : archive.by) conditions_.push_back({column.name, {}, column.rows, Role::group});
    if (!archive.groups.codes.empty())
        conditions_.push_back(
            {archive.roles.group.empty() ? "group" : archive.roles.group, {}, archive.groups, Role::group});
    const std::string& own = archive.roles.recalibrate_group;
    const auto is_there = [&](const Condition& condition) { return group_column(condition) == own; };
    if (!archive.recalibrate_groups.codes.empty() && std::none_of(conditions_.begin(), conditions_.end(), is_there)) {
        const auto& [codes, labels] = archive.recalibrate_groups;
        std::vector<std::string> names(labels.begin(), labels.end());
        std::replace(names.begin(), names.end(), std::string(), std::string("missing"));
        add_values(own, Role::group, {codes.begin(), codes.end()}, std::move(names));
    }
    if (archive.times.empty()) return;
    if (!has_dates) {
        conditions_.push_back(
            {archive.roles.time.empty() ? "time" : archive.roles.time, archive.times, {}, Role::time});
        return;
    }
    add_months("month", Role::time, archive.times);
    add_hours("hour", Role::time, archive.times);
}

std::vector<double> normal_scores(std::span<const double> errors, std::span<const double> sigmas,
                                  const Families& families) {
    std::vector<double> scores(errors.size(), kNaN);
    const RowFamilies rows(families, errors.size());
    constexpr std::size_t kBlock = 1024;
    core::for_blocks(errors.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            if (!std::isnan(sigmas[i]))
                scores[i] =
                    rows.with(i, [&](const Standardised& row) { return row.normal_score(errors[i] / sigmas[i]); });
    });
    return scores;
}

namespace {

// "Calibrated: ..." becomes "Calibrated on average: ...".
void qualify(Verdict& verdict, const std::string& words) {
    for (const std::string name : {"Calibrated", "Nearly calibrated"})
        if (verdict.summary.starts_with(name + ":")) verdict.summary.replace(0, name.size(), name + words);
}

}  // namespace

void say_on_average(Verdict& verdict) {
    qualify(verdict, " on average");
}

void add_conditional(Verdict& verdict, const ConditionalCalibration& conditional) {
    if (conditional.tests == 0) say_on_average(verdict);
    if (conditional.passes) return;
    qualify(verdict, " on average, but not everywhere");
    verdict.remarks.emplace_back(
        fmt::format("Not calibrated everywhere: {} (a test that calls {:g}% of calibrated forecasts so).",
                    conditional.worst, 100 * conditional.error_rate));
}

nlohmann::ordered_json to_json(const ConditionalCalibration& conditional) {
    using Json = nlohmann::ordered_json;
    Json json = {{"passes", conditional.passes},
                 {"tests", conditional.tests},
                 {"error_rate", conditional.error_rate},
                 {"critical_t", core::rounded_json(conditional.critical, 4)},
                 {"worst", conditional.worst},
                 {"neighbour_correlation", core::rounded_json(conditional.neighbours, 4)},
                 {"effective_rows", core::rounded_json(conditional.effective_rows, 6)}};
    json["columns"] = Json::array();
    for (const ConditionalColumn& column : conditional.columns) {
        Json places = Json::array();
        for (const ConditionalPlace& place : column.places) {
            Json own = {{"label", place.label}, {"rows", place.rows}};
            for (const auto& [key, value] : {std::pair{"mean_z", place.mean_z},
                                             {"sd_z", place.sd_z},
                                             {"calibration_error_percent", 100 * place.calibration_error},
                                             {"calibration_floor_percent", 100 * place.calibration_floor},
                                             {"coverage_90_percent", 100 * place.coverage},
                                             {"bias_t", place.bias_t},
                                             {"spread_t", place.spread_t},
                                             {"coverage_t", place.coverage_t},
                                             {"calibration_t", place.calibration_t}})
                own[key] = core::rounded_json(value, 4);
            const PlaceByChance chance = by_chance(conditional, place, kHalfOf90);
            const auto range = [](const ChanceRange& of, double unit) {
                return Json{core::rounded_json(unit * of.low, 4), core::rounded_json(unit * of.high, 4)};
            };
            own["band_90_pointwise"] = {{"mean_z", range(chance.mean_z, 1)},
                                        {"sd_z", range(chance.sd_z, 1)},
                                        {"coverage_90_percent", range(chance.coverage, 100)}};
            places.push_back(std::move(own));
        }
        json["columns"].push_back({{"name", column.name}, {"places", std::move(places)}});
    }
    return json;
}

}  // namespace accrue
