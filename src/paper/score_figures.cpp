// Figures 1 and 2: what NLPD and CRPS look like, and that neither of them enforces calibration.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "accrue/scores.hpp"
#include "accrue/verify.hpp"
#include "core/random.hpp"
#include "paper/items.hpp"

namespace accrue::paper {

namespace {

// log(2 pi)/2, which the paper leaves out of NLPD.
constexpr double kNlpdConstant = 0.91893853320467274;

// The error at which a score of one row has the level, for a sigma; NaN where it is always above. The score rises with
// the error.
template <typename ScoreOf>
double error_at(ScoreOf&& score, double level, double sigma) {
    if (score(0.0, sigma) > level) return std::nan("");
    double low = 0;
    double high = 1;
    while (score(high, sigma) < level) high *= 2;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (score(middle, sigma) < level ? low : high) = middle;
    }
    return (low + high) / 2;
}

template <typename ScoreOf>
Json isolines(const std::string& id, const std::string& name, ScoreOf&& score, const std::vector<double>& levels,
              double minimum_slope, Section& section) {
    constexpr double kGreatest = 3;
    std::vector<double> sigmas;
    for (double sigma = 0.02; sigma <= kGreatest; sigma += 0.02) sigmas.push_back(sigma);
    Json picture = chart(
        id, fmt::format("Isolines of {}", name),
        "Along a row of constant error the score has one minimum, on the dashed line, and every other "
        "level twice.",
        fmt::format("Lines of constant {} over sigma and error, at the levels {}.", name, fmt::join(levels, ", ")),
        axis("sigma", 0, kGreatest), axis("error", -kGreatest, kGreatest));
    picture["square"] = true;
    for (std::size_t l = 0; l < levels.size(); ++l) {
        std::vector<double> above;
        std::vector<double> below;
        for (const double sigma : sigmas) {
            const double error = error_at(score, levels[l], sigma);
            above.push_back(error <= kGreatest ? error : std::nan(""));
            below.push_back(-above.back());
            section.table.add({name, levels[l], sigma, std::isfinite(error) ? Json(error) : Json(nullptr)});
        }
        const std::string label = fmt::format("{} = {}", name, levels[l]);
        const std::string colour = fmt::format("forecast-{}", l % 5);
        picture["layers"].push_back(line(label, colour, sigmas, above));
        Json mirrored = line(label, colour, sigmas, below);
        mirrored["quiet"] = true;
        picture["layers"].push_back(std::move(mirrored));
    }
    for (const double sign : {1.0, -1.0}) {
        std::vector<double> errors;
        for (const double sigma : sigmas) errors.push_back(sign * minimum_slope * sigma);
        Json minimum = dashed(line("minimum for each error", "observed", sigmas, errors));
        minimum["quiet"] = true;
        picture["layers"].push_back(std::move(minimum));
    }
    return picture;
}

// The other sigma of the same nlpd: log s + e^2/(2 s^2) is equal on both sides of its minimum s = |e|.
double other_sigma(double error, double sigma) {
    const auto value = [&](double s) { return std::log(s) + error * error / (2 * s * s); };
    const double level = value(sigma);
    const double least = std::fabs(error);
    // Bracket on the far side, then halve.
    double inside = least;
    double outside = least;
    const double factor = sigma > least ? 0.5 : 2;
    while (value(outside) < level) outside *= factor;
    for (int i = 0; i < 100; ++i) {
        const double middle = std::sqrt(inside * outside);
        (value(middle) < level ? inside : outside) = middle;
    }
    return std::sqrt(inside * outside);
}

}  // namespace

Runs figure1_runs(const Request&) {
    return {};
}
Runs figure2_runs(const Request&) {
    return {};
}

Section figure1(Store&, const Request&) {
    Section section;
    section.id = "figure1";
    section.title = "Figure 1: isolines of NLPD and CRPS";
    section.table = {{"score", "level", "sigma", "error"}};
    section.paper_says("CRPS penalizes under- and over-confident predictions in a much more symmetric way than NLPD.");
    const auto nlpd_of = [](double e, double s) { return nlpd(e, s).value; };
    const auto crps_of = [](double e, double s) { return crps(e, s).value; };
    section.charts.push_back(isolines("figure1-nlpd", "NLPD", nlpd_of, {0, 0.5, 1, 1.5, 2, 3, 5}, 1, section));
    section.charts.push_back(isolines("figure1-crps", "CRPS", crps_of, {0.1, 0.25, 0.5, 0.75, 1, 1.5, 2},
                                      std::sqrt(std::numbers::ln2), section));
    // The same factor too small and too large, at the error 1.
    const auto excess = [](auto&& score, double best, double factor) {
        return score(1, best * factor) - score(1, best);
    };
    const double best_crps = 1 / std::sqrt(std::numbers::ln2);
    const double nlpd_ratio = excess(nlpd_of, 1, 0.25) / excess(nlpd_of, 1, 4);
    const double crps_ratio = excess(crps_of, best_crps, 0.25) / excess(crps_of, best_crps, 4);
    section.we_find(
        fmt::format("A sigma four times too small costs {:.1f} times as much as one four times too large in "
                    "NLPD, and {:.2f} "
                    "times in CRPS. The minima lie at sigma = |e| and at sigma = |e|/sqrt(log 2).",
                    nlpd_ratio, crps_ratio));
    section.numbers = {{"nlpd_too_small_over_too_large", nlpd_ratio}, {"crps_too_small_over_too_large", crps_ratio}};
    return section;
}

Section figure2(Store& store, const Request&) {
    constexpr std::size_t kRows = 1000;
    core::Random random(store.seed(0));
    std::vector<double> errors(kRows);
    std::vector<double> sigmas(kRows);
    std::vector<double> others(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
        sigmas[i] = random.uniform() + 0.5;
        errors[i] = sigmas[i] * random.normal();
        others[i] = other_sigma(errors[i], sigmas[i]);
    }
    Section section;
    section.id = "figure2";
    section.title = "Figure 2: the same or a better NLPD, and worse calibration";
    section.paper_says(
        "Two models with identical NLPD = 0.4 and different reliability diagrams; and models whose NLPD "
        "decreases from 0.45 to 0.07 at the expense of reliability.");
    section.table = {{"curve", "probability", "observed"}};
    section.numbers["models"] = Json::array();

    const auto add = [&](Json& picture, const std::string& name, const std::string& colour,
                         const std::vector<double>& spreads) {
        const Verification v = verify(errors, spreads);
        picture["layers"].push_back(line(name, colour, v.diagram.probability, v.diagram.observed));
        for (std::size_t k = 0; k < v.diagram.probability.size(); ++k) {
            section.table.add({name, v.diagram.probability[k], v.diagram.observed[k]});
        }
        section.numbers["models"].push_back({{"name", name},
                                             {"nlpd", v.nlpd},
                                             {"nlpd_without_constant", v.nlpd - kNlpdConstant},
                                             {"calibration_error_percent", 100 * v.calibration_error},
                                             {"calibration_floor_percent", 100 * v.calibration_floor}});
        return v;
    };
    const auto diagram = [](const char* id, const char* title, const char* alt) {
        Json picture = chart(id, title, "Good: the curve runs along the diagonal.", alt,
                             axis("predicted probability", 0, 1), axis("observed share", 0, 1));
        picture["square"] = true;
        picture["layers"].push_back({{"kind", "reference"},
                                     {"name", "perfectly calibrated"},
                                     {"colour", "ideal"},
                                     {"through", {{0, 0}, {1, 1}}}});
        return picture;
    };
    Json two =
        diagram("figure2-equal", "Two models of equal NLPD",
                "Reliability diagrams of the true sigma, along the diagonal, and of another sigma with the same NLPD "
                "row by row, far from it.");
    const Verification right = add(two, "true sigma", "forecast-0", sigmas);
    const Verification wrong = add(two, "another sigma of the same NLPD", "forecast-1", others);
    Json family =
        diagram("figure2-family", "Models of falling NLPD",
                "Reliability diagrams of sigmas moved towards the errors themselves: the lower their NLPD, the "
                "further from the diagonal.");
    Verification last = right;
    std::size_t colour = 0;
    for (const double l : {0.0, 0.2, 0.4, 0.6, 0.82}) {
        std::vector<double> moved(kRows);
        for (std::size_t i = 0; i < kRows; ++i)
            moved[i] = std::sqrt((1 - l) * sigmas[i] * sigmas[i] + l * errors[i] * errors[i]);
        const double value = mean_nlpd(errors, moved) - kNlpdConstant;
        last = add(family, fmt::format("NLPD {:.2f} (l = {})", value, l), fmt::format("forecast-{}", colour++), moved);
    }
    section.charts = {two, family};
    section.we_find(
        fmt::format("Without the constant log(2 pi)/2, which the paper leaves out, the true sigma has NLPD "
                    "{:.3f} (expected "
                    "0.455) and a calibration error of {:.1f}% (floor {:.1f}%); the other sigma has the same NLPD, "
                    "{:.3f}, and {:.1f}%. "
                    "The family ends at {:.3f}, with {:.1f}%.",
                    right.nlpd - kNlpdConstant, 100 * right.calibration_error, 100 * right.calibration_floor,
                    wrong.nlpd - kNlpdConstant, 100 * wrong.calibration_error, last.nlpd - kNlpdConstant,
                    100 * last.calibration_error));
    return section;
}

}  // namespace accrue::paper
