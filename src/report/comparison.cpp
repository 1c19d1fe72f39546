// Forecasts of the same rows, compared row by row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "accrue/report.hpp"
#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "report/judged.hpp"
#include "verify/dependence.hpp"
#include "verify/score_parts.hpp"
#include "verify/summaries.hpp"

namespace accrue {

namespace {

constexpr std::size_t kBlock = 1024;
using BlockBuffer = std::array<double, kBlock>;

// Fills `values` with the scores of rows from `begin` on.
template <auto Block>
void scores_from(const ReportForecast& forecast, const RowFamilies& families, std::size_t begin,
                 std::span<double> values) {
    const std::size_t step = families.width() == 0 ? values.size() : 1;
    for (std::size_t i = 0; i < values.size(); i += step)
        families.with(begin + i, [&](const Standardised& family) {
            (family.*Block)(step, &forecast.errors[begin + i], &forecast.sigmas[begin + i], &values[i]);
        });
}

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr PairedDifference kNone = {kUndefined, kUndefined, kUndefined, kUndefined};

void crps_from(const ReportForecast& forecast, const RowFamilies& families, std::size_t begin,
               std::span<double> values) {
    if (forecast.has_family())
        scores_from<&Standardised::crps_block>(forecast, families, begin, values);
    else
        std::copy_n(&forecast.crps[begin], values.size(), values.begin());
}

bool has_level(const ReportForecast& forecast, double level) {
    const auto& own = forecast.quantile_levels;
    return forecast.quantiles.empty() || std::find(own.begin(), own.end(), level) != own.end();
}

// The levels at which both are known, where one of them is a quantile forecast.
std::vector<double> common_levels(const ReportForecast& first, const ReportForecast& second) {
    std::vector<double> levels;
    for (const ReportForecast* forecast : {&first, &second})
        if (!forecast->has_family() && forecast->members.empty() && forecast->quantiles.empty()) return levels;
    for (const double level : first.quantiles.empty() ? second.quantile_levels : first.quantile_levels)
        if (has_level(first, level) && has_level(second, level)) levels.push_back(level);
    return levels;
}

// Adds the mean quantile score over the levels, times `factor`, to every row.
void add_quantile_scores(const ReportForecast& forecast, std::span<const double> y, std::span<const double> levels,
                         double factor, std::span<double> values) {
    const auto own = judged::distributions(forecast);
    for (const double level : levels) {
        const auto place = std::find(forecast.quantile_levels.begin(), forecast.quantile_levels.end(), level) -
                           forecast.quantile_levels.begin();
        core::for_blocks(values.size(), kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const double quantile =
                    own ? own->quantile(level, i) : forecast.quantiles[static_cast<std::size_t>(place)][i];
                values[i] +=
                    factor / static_cast<double>(levels.size()) * verification::quantile_score(y[i], quantile, level);
            }
        });
    }
}

// Blocks of neighbours, by times or as rows come.
struct Blocks {
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;

    Blocks(std::size_t rows, std::span<const double> times) : codes(rows) {
        std::vector<std::uint32_t> order(rows);
        std::iota(order.begin(), order.end(), std::uint32_t{0});
        if (!times.empty())
            std::stable_sort(order.begin(), order.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return times[a] < times[b]; });
        labels.resize(verification::neighbour_blocks(order, codes));
    }
};

// The names of forecasts as a sentence has them, with a figure each.
std::string listed(std::span<const std::string> parts) {
    if (parts.size() < 2) return parts.empty() ? "" : parts[0];
    return fmt::format("{} and {}", fmt::join(parts.first(parts.size() - 1), ", "), parts.back());
}

}  // namespace

std::unique_ptr<verification::RowDistributions> judged::distributions(const ReportForecast& forecast) {
    if (forecast.has_family())
        return std::make_unique<verification::FamilyRows>(forecast.means, forecast.sigmas, forecast.families());
    if (!forecast.members.empty()) return std::make_unique<verification::MemberRows>(forecast.members);
    return nullptr;
}

Comparison compare(const ReportForecast& first, const ReportForecast& second, std::span<const double> weights,
                   const Grouping& given, std::span<const double> times) {
    const std::size_t n = first.rows();
    core::require(second.rows() == n, "there are {} rows of one forecast, but {} of the other", n, second.rows());
    const auto err_together = [](const ReportForecast& forecast) {
        return forecast.verification.dependence == Dependence::neighbours;
    };
    std::optional<Blocks> blocks;
    if (given.codes.empty() && (err_together(first) || err_together(second))) blocks.emplace(n, times);
    const Grouping groups = blocks ? Grouping{blocks->codes, blocks->labels} : given;
    Comparison result;
    result.first = first.verification.name;
    result.second = second.verification.name;
    result.independent = blocks ? "blocks of neighbours" : groups.codes.empty() ? "rows" : "groups";
    for (const ReportForecast* forecast : {&first, &second})
        core::require(forecast->row_families.list.empty(), "a fit of which each fold has its own map is not compared");
    const RowFamilies first_family(first.families(), first.errors.size());
    const RowFamilies second_family(second.families(), second.errors.size());
    std::vector<double> differences(n);
    const auto paired = [&](auto&& scores) {
        core::for_blocks(n, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
            BlockBuffer buffer;
            const auto own = std::span(buffer).first(end - begin);
            const auto place = std::span(differences).subspan(begin, end - begin);
            scores(first, first_family, begin, own);
            scores(second, second_family, begin, place);
            for (std::size_t i = 0; i < own.size(); ++i) place[i] -= own[i];
        });
        return verification::paired_difference(differences, weights, groups);
    };
    const bool exact = !first.details.approximate_crps && !second.details.approximate_crps;
    result.crps = exact ? paired(crps_from) : kNone;
    const bool defined =
        first.has_family() && second.has_family() && first.family()->has_density() && second.family()->has_density();
    result.nlpd = defined ? paired(scores_from<&Standardised::nlpd_block>) : kNone;
    result.quantile_score = kNone;
    if (exact) return result;
    result.levels = common_levels(first, second);
    if (result.levels.empty()) return result;
    const std::span<const double> y = first.details.approximate_crps ? first.observation : second.observation;
    std::fill(differences.begin(), differences.end(), 0.0);
    add_quantile_scores(second, y, result.levels, 1, differences);
    add_quantile_scores(first, y, result.levels, -1, differences);
    result.quantile_score = verification::paired_difference(differences, weights, groups);
    return result;
}

LowestCrps lowest_crps(std::span<const ReportForecast> forecasts, std::span<const double> weights,
                       const Grouping& groups, std::span<const double> times) {
    core::require(forecasts.size() > 1, "there are not two forecasts to compare");
    LowestCrps result;
    // Baselines were fitted on these rows, and a CRPS over some levels is none.
    const auto rank = [](const ReportForecast& forecast) {
        const bool approximate = forecast.details.approximate_crps;
        return std::tuple(forecast.details.fitted_here, approximate, approximate ? 0 : forecast.verification.crps);
    };
    for (std::size_t f = 1; f < forecasts.size(); ++f)
        if (rank(forecasts[f]) < rank(forecasts[result.index])) result.index = f;
    const ReportForecast& lowest = forecasts[result.index];
    std::vector<std::string> clear, unclear, clearly_higher;
    std::string by_quantiles;
    // Told as how much lower, or higher, the lowest is.
    const auto figures = [](const PairedDifference& d) {
        if (!std::isfinite(d.low)) return std::string();
        return d.low > 0 ? fmt::format(" (by {:.2g}, 90% interval {:.2g} to {:.2g})", d.difference, d.low, d.high)
                         : fmt::format(" (by {:.2g}, 90% interval {:.2g} to {:.2g})", 0.0 - d.difference, 0.0 - d.high,
                                       0.0 - d.low);
    };
    for (std::size_t f = 0; f < forecasts.size(); ++f) {
        if (f == result.index) continue;
        const Comparison& c = result.comparisons.emplace_back(compare(forecasts[f], lowest, weights, groups, times));
        if (!forecasts[f].details.approximate_crps && !lowest.details.approximate_crps) {
            (!c.crps.clear() ? unclear : c.crps.low > 0 ? clearly_higher : clear).push_back(c.first + figures(c.crps));
        } else if (c.levels.empty()) {
            by_quantiles += fmt::format(" It cannot be compared with {}: they have no level in common.", c.first);
        } else {
            const char* words = !c.quantile_score.clear()  ? "cannot be told from"
                                : c.quantile_score.low > 0 ? "is clearly higher than"
                                                           : "is clearly lower than";
            by_quantiles += fmt::format(" Its mean quantile score over the levels {} {} that of {}{}.",
                                        fmt::join(c.levels, ", "), words, c.first, figures(c.quantile_score));
        }
    }
    const bool baselines =
        std::any_of(forecasts.begin(), forecasts.end(), [](const ReportForecast& f) { return f.details.fitted_here; });
    const std::string& name = lowest.verification.name;
    result.sentence = lowest.details.approximate_crps
                          ? fmt::format("{}:", name)
                          : fmt::format("Lowest CRPS{}: {}.", baselines ? " apart from the baselines" : "", name);
    if (!clear.empty()) result.sentence += fmt::format(" Clearly lower than that of {}.", listed(clear));
    if (!unclear.empty()) result.sentence += fmt::format(" It cannot be told from that of {}.", listed(unclear));
    if (!clearly_higher.empty())
        result.sentence +=
            fmt::format(" Clearly higher than that of {}, fitted on these very rows.", listed(clearly_higher));
    result.sentence += by_quantiles;
    result.sentence += fmt::format(" Intervals count {} as independent.", result.comparisons[0].independent);
    return result;
}

}  // namespace accrue
