// Verification of forecasts that are not Gaussian but of a shape. A Gaussian forecast with the same PITs stands in for
// all that follows from PITs; what depends on the distribution itself is scored here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "accrue/verify.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

namespace accrue {

namespace {

constexpr std::size_t kBlock = 1024;

// Sums over the rows of one group, or of all.
struct Sums {
    double weight = 0;
    double crps = 0;
    std::vector<double> width, interval_score;  // for every level
};

// What the stand-in got wrong, put right.
void complete(Verification& v, const Verification& gaussian, const Sums& sums) {
    v.constant_sigma = gaussian.constant_sigma;
    v.rmse = gaussian.rmse;
    v.sign_bound = 0;  // of symmetric forecasts alone
    v.beta = gaussian.beta;
    v.crps = sums.crps / sums.weight;
    v.crps_skill = 1 - v.crps * (1 - gaussian.crps_skill) / gaussian.crps;
    v.nlpd = std::numeric_limits<double>::quiet_NaN();  // the density has jumps at the knots
    v.ar = v.beta * v.crps + (1 - v.beta) * v.rs;
    for (std::size_t l = 0; l < v.coverage.size(); ++l) {
        v.coverage[l].mean_width = sums.width[l] / sums.weight;
        v.coverage[l].interval_score = sums.interval_score[l] / sums.weight;
    }
}

}  // namespace

Verification verify(std::span<const double> errors, std::span<const double> sigmas, const Shapes& shapes,
                    std::span<const double> weights, const Grouping& groups, const VerifyOptions& options) {
    const std::size_t n = errors.size();
    const Verification gaussian = verify(errors, sigmas, weights, groups, options);
    core::require(shapes.codes.empty() || shapes.codes.size() == n, "there are {} codes of shapes, but {} errors",
                  shapes.codes.size(), n);
    core::require(!shapes.list.empty(), "there is no shape");
    for (const std::uint32_t code : shapes.codes)
        core::require(code < shapes.list.size(), "a row has shape {}, but there are {}", code, shapes.list.size());
    const auto code_of = [&](std::size_t i) { return shapes.codes.empty() ? 0 : shapes.codes[i]; };

    // Beyond this a PIT is 0 or 1 in doubles.
    constexpr double kFarthest = 38;
    std::vector<double> values(n);  // first scores, then the errors that stand in: a number a row less to hold
    const auto for_rows = [&](auto value) {
        core::for_blocks(n, kBlock, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                values[i] = sigmas[i] * value(shapes.list[code_of(i)], errors[i] / sigmas[i]);
        });
    };
    for_rows([](const Shape& shape, double z) { return shape.crps(z); });

    const std::size_t levels = options.levels.size();
    std::vector<std::vector<double>> low(shapes.list.size());
    std::vector<std::vector<double>> high(shapes.list.size());
    for (std::size_t s = 0; s < shapes.list.size(); ++s)
        for (const double level : options.levels) {
            low[s].push_back(shapes.list[s].quantile((1 - level) / 2));
            high[s].push_back(shapes.list[s].quantile((1 + level) / 2));
        }
    const auto make_sums = [&] { return Sums{0, 0, std::vector<double>(levels), std::vector<double>(levels)}; };
    Sums all = make_sums();
    std::vector<Sums> of_groups(groups.labels.size(), make_sums());
    for (std::size_t i = 0; i < n; ++i) {
        const double weight = weights.empty() ? 1 : weights[i];
        const auto add = [&](Sums& sums) {
            sums.weight += weight;
            sums.crps += weight * values[i];
            for (std::size_t l = 0; l < levels; ++l) {
                const double from = low[code_of(i)][l] * sigmas[i];
                const double to = high[code_of(i)][l] * sigmas[i];
                const double outside = std::max({0.0, from - errors[i], errors[i] - to});
                sums.width[l] += weight * (to - from);
                sums.interval_score[l] += weight * (to - from + 2 / (1 - options.levels[l]) * outside);
            }
        };
        add(all);
        if (!groups.codes.empty()) add(of_groups[groups.codes[i]]);
    }

    for_rows([&](const Shape& shape, double z) { return std::clamp(shape.normal_score(z), -kFarthest, kFarthest); });
    Verification result = verify(values, sigmas, weights, groups, options);
    complete(result, gaussian, all);
    for (std::size_t g = 0, at = 0; g < of_groups.size(); ++g)
        if (of_groups[g].weight > 0) {  // those without weight are in neither list
            complete(result.groups[at], gaussian.groups[at], of_groups[g]);
            ++at;
        }
    return result;
}

}  // namespace accrue
