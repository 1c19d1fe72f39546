#include "fields/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "optimise/minimise.hpp"

namespace accrue::fields {

namespace {

using Json = nlohmann::ordered_json;

// Standardised data: lengths from a tenth of the inputs' spread to three times it, noise from a twentieth of the
// target's to all of it. The first start is the plain one in the middle.
std::vector<LogHyperparameters> make_starts(std::size_t lengths, std::size_t count, core::Random& random) {
    std::vector<LogHyperparameters> starts;
    for (std::size_t s = 0; s < count; ++s) {
        LogHyperparameters logs(lengths + 2, 0.0);
        if (s == 0) {
            logs.back() = std::log(0.3);
        } else {
            for (std::size_t k = 0; k < lengths; ++k) logs[k] = random.uniform(std::log(0.1), std::log(3));
            logs.back() = random.uniform(std::log(0.05), 0);
        }
        starts.push_back(std::move(logs));
    }
    return starts;
}

optimise::Outcome descend(MarginalLikelihood& likelihood, LogHyperparameters start, const Report& report) {
    constexpr std::size_t kFew = 20;  // parameters up to which the full matrix of BFGS is better
    optimise::Options settings;
    settings.method = start.size() <= kFew ? optimise::Method::bfgs : optimise::Method::lbfgs;
    settings.max_iterations = 200;
    settings.function_tolerance = 1e-8;
    settings.gradient_tolerance = 1e-6;
    return optimise::minimise([&](std::span<const double> logs, double& value,
                                  std::span<double> gradient) { return likelihood(logs, value, gradient); },
                              std::move(start),
                              [&](int iteration, std::span<const double>, double value) {
                                  return !report || report(iteration, value) ? optimise::Watch::go_on
                                                                             : optimise::Watch::stop;
                              },
                              settings);
}

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

bool inside_bounds(std::span<const double> logs) {
    constexpr double kMaxLog = 9;
    return std::all_of(logs.begin(), logs.end(), [](double p) { return std::fabs(p) <= kMaxLog; });
}

void require_process_rows(std::size_t rows) {
    core::require(rows > 0, "a Gaussian process has no row with a weight above zero");
    core::require(rows <= kMaxProcessRows,
                  "a Gaussian process takes at most {} rows; there are {}: take the network as the mean function",
                  kMaxProcessRows, rows);
}

GaussianProcess::GaussianProcess(std::size_t inputs, LogHyperparameters logs, std::vector<double> points)
    : inputs_(inputs), logs_(std::move(logs)), points_(std::move(points)) {
    const std::size_t lengths = logs_.size() - 2;
    for (std::size_t k = 0; k < inputs_; ++k) scales_.push_back(std::exp(-logs_[lengths == 1 ? 0 : k]));
}

Json GaussianProcess::json(std::span<const double> parameters) const {
    const std::size_t lengths = logs_.size() - 2;
    Json points = Json::array();
    for (std::size_t k = 0; k < inputs_; ++k) {
        const auto column = points_.begin() + static_cast<std::ptrdiff_t>(k * parameters.size());
        points.push_back(std::vector<double>(column, column + static_cast<std::ptrdiff_t>(parameters.size())));
    }
    return {{"kind", name()},
            {"log_lengths", std::vector<double>(logs_.begin(), logs_.begin() + static_cast<std::ptrdiff_t>(lengths))},
            {"log_signal", logs_[lengths]},
            {"log_noise", logs_[lengths + 1]},
            {"points", std::move(points)},
            {"alpha", std::vector<double>(parameters.begin(), parameters.end())}};
}

Fitted fit_gaussian_process(const Targets& targets, std::span<const std::size_t> rows, core::Random& random,
                            const ProcessOptions& options, const Report& report) {
    core::require(targets.x.inputs > 0, "a Gaussian process needs at least one input");
    const std::size_t lengths = options.length_for_each_input ? targets.x.inputs : 1;
    const std::vector<LogHyperparameters> starts =
        options.from.empty() ? make_starts(lengths, options.starts, random) : options.from;
    MarginalLikelihood all(targets, rows);
    bool stopped = false;
    const Report watch = [&](int iteration, double value) {
        stopped = stopped || (report && !report(iteration, value));
        return !stopped;
    };
    optimise::Outcome best;
    best.value = std::numeric_limits<double>::infinity();
    best.x = starts.front();
    const auto try_starts = [&](MarginalLikelihood& likelihood) {
        for (const LogHyperparameters& start : starts) {
            if (stopped) return;
            optimise::Outcome own = descend(likelihood, start, watch);
            if (own.value < best.value) best = std::move(own);
        }
    };
    if (all.rows() <= options.rows_for_starts) {
        try_starts(all);
    } else {
        std::vector<std::size_t> some;
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
                     [&](std::size_t row) { return targets.weight(row) > 0; });
        random.shuffle(std::span(some));
        some.resize(options.rows_for_starts);
        MarginalLikelihood likelihood(targets, some);
        try_starts(likelihood);
        if (!stopped) best = descend(all, best.x, watch);
    }
    double value = 0;
    // Nothing that a step was accepted at fails here; a start might, and then the noise explains everything.
    if (!all(best.x, value, {})) {
        best.x.assign(lengths + 2, 0.0);
        core::require(all(best.x, value, {}), "a Gaussian process cannot be fitted: are the inputs standardised?");
    }
    return {std::make_shared<GaussianProcess>(targets.x.inputs, best.x, all.points()),
            std::vector<double>(all.alpha().begin(), all.alpha().end())};
}

std::vector<Fitted> GaussianProcessKind::finished(const Targets& targets, std::vector<Fitted> of_first_round,
                                                  std::vector<Fitted>, core::Random& random,
                                                  const Report& report) const {
    // From where the folds ended: all rows are not far from there.
    ProcessOptions options;
    for (const Fitted& fold : of_first_round)
        options.from.push_back(dynamic_cast<const GaussianProcess&>(*fold.field).log_hyperparameters());
    std::vector<std::size_t> all(targets.y.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {fit_gaussian_process(targets, all, random, options, report)};
}

Fitted GaussianProcessKind::from_json(const Json& json, std::size_t inputs) const {
    auto logs = json.at("log_lengths").get<std::vector<double>>();
    core::require(logs.size() == 1 || logs.size() == inputs, "a Gaussian process has {} lengths for {} inputs",
                  logs.size(), inputs);
    logs.push_back(json.at("log_signal").get<double>());
    logs.push_back(json.at("log_noise").get<double>());
    auto alpha = json.at("alpha").get<std::vector<double>>();
    core::require(!alpha.empty(), "a Gaussian process has no point");
    core::require(inputs > 0 && json.at("points").size() == inputs,
                  "the points of a Gaussian process have {} inputs in place of {}", json.at("points").size(), inputs);
    std::vector<double> points;
    for (const Json& column : json.at("points")) {
        const auto values = column.get<std::vector<double>>();
        core::require(values.size() == alpha.size(), "a Gaussian process has {} points in place of {}", values.size(),
                      alpha.size());
        points.insert(points.end(), values.begin(), values.end());
    }
    core::require(all_finite(alpha) && all_finite(points), "a number of a Gaussian process is not finite");
    core::require(inside_bounds(logs), "a hyperparameter of a Gaussian process is outside its bounds");
    return {std::make_shared<GaussianProcess>(inputs, std::move(logs), std::move(points)), std::move(alpha)};
}

}  // namespace accrue::fields
