#include "fit/train.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "optimise/minimise.hpp"
#include "sigma/clusters.hpp"
#include "sigma/polynomial.hpp"

namespace accrue::fitting {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Slice training_slice(const Division& d) {
    return {d.begin, d.end, d.rows};
}
// Validation rows are "everything but nothing" of their own stretch: the columns are shifted to begin there.
Slice validation_slice(const Division& d) {
    return {0, 0, d.end - d.begin};
}

Objective validation_of(const Rows& rows, const Division& d, const Score& score, const sigma::Form& form,
                        Objective::Precision precision) {
    sigma::Columns x = rows.x;
    x.data += d.begin;
    const auto part = [&](std::span<const double> values) {
        return values.empty() ? values : values.subspan(d.begin, d.end - d.begin);
    };
    return {form, x, validation_slice(d), part(rows.errors), part(rows.weights), score, precision};
}

double cost_of(Objective& objective, std::span<const double> parameters) {
    double cost = kNever;
    return objective(parameters, cost, {}) ? cost : kNever;
}

double exact_validation_cost(const Rows& rows, const Division& d, const Score& score, const sigma::Member& member) {
    Objective exact = validation_of(rows, d, score, *member.form, Objective::Precision::exact);
    return cost_of(exact, member.parameters);
}

struct Task {
    Task(const Rows& rows, const Division& d, const Score& score, const sigma::Form& form)
        : precision(Objective::of_descent(training_slice(d).size())),
          training(form, rows.x, training_slice(d), rows.errors.first(d.rows),
                   rows.weights.empty() ? rows.weights : rows.weights.first(d.rows), score, precision),
          validation(validation_of(rows, d, score, form, precision)) {}

    double validation_cost(std::span<const double> parameters) { return cost_of(validation, parameters); }

    Objective::Precision precision;
    Objective training;
    Objective validation;
};

double log_spread(const Rows& rows, const Division& d) {
    double squares = 0;
    double total = 0;
    for (std::size_t i = 0; i < d.rows; ++i) {
        if (i >= d.begin && i < d.end) continue;
        const double weight = rows.weights.empty() ? 1 : rows.weights[i];
        squares += weight * rows.errors[i] * rows.errors[i];
        total += weight;
    }
    const double spread = total > 0 ? std::log(squares / total) / 2 : 0;
    return std::clamp(std::isfinite(spread) ? spread : 0.0, sigma::kLowestLogSigma / 2, sigma::kHighestLogSigma / 2);
}

// Ten significant digits: the file stays small and holds exactly what was verified. A whole number over a power of ten
// up to 10^22 is the double nearest to that decimal, so it is also printed with so few digits.
void shorten(std::vector<double>& parameters) {
    constexpr int kDigits = 10;
    constexpr int kLargestExact = 22;
    static const std::array<double, kLargestExact + 1> tens = [] {
        std::array<double, kLargestExact + 1> powers{1};
        for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = 10 * powers[k - 1];
        return powers;
    }();
    for (double& value : parameters) {
        if (value == 0 || !std::isfinite(value)) continue;
        const int decimals = kDigits - 1 - static_cast<int>(std::floor(std::log10(std::fabs(value))));
        if (decimals < 0) continue;  // parameters are never that large
        const double ten = tens[static_cast<std::size_t>(std::min(decimals, kLargestExact))];
        value = std::nearbyint(value * ten) / ten;
    }
}

// Minimises from `start`, keeping the parameters of the best validation cost in `best`.
optimise::Outcome descend(Task& task, const sigma::Form& form, std::vector<double> start, const TrainOptions& options,
                          Trained& best, const Report& report) {
    double own_best = kNever;
    int since_best = 0;
    optimise::Options settings;
    settings.most_iterations = options.most_iterations;
    settings.method =
        form.parameters() <= sigma::Polynomial::kHighestOrder + 1 ? optimise::Method::bfgs : optimise::Method::lbfgs;
    return optimise::minimise([&](std::span<const double> x, double& value,
                                  std::span<double> gradient) { return task.training(x, value, gradient); },
                              std::move(start),
                              [&](int iteration, std::span<const double> x, double value) {
                                  const double cost = task.validation_cost(x);
                                  best.outcome.training_curve.push_back(value);
                                  best.outcome.validation_curve.push_back(cost);
                                  if (cost < best.outcome.validation_cost) {
                                      best.outcome.validation_cost = cost;
                                      best.member.parameters.assign(x.begin(), x.end());
                                  }
                                  // Costs are positive but for nlpd's.
                                  const bool better = cost < own_best - options.tolerance * std::fabs(cost);
                                  since_best = better ? 0 : since_best + 1;
                                  if (better) own_best = cost;
                                  const bool go_on = report(iteration, cost);
                                  return !go_on || since_best >= options.patience ? optimise::Watch::stop
                                                                                  : optimise::Watch::go_on;
                              },
                              settings);
}

}  // namespace

void train_on(Trained& trained, const Rows& rows, const Division& division, const Score& score,
              const TrainOptions& options, const Report& report) {
    trained.outcome.validation_cost = kNever;
    const sigma::Form& form = *trained.member.form;
    bool was_rough = false;
    {
        Task task(rows, division, score, form);
        const auto outcome = descend(task, form, trained.member.parameters, options, trained, report);
        trained.outcome.iterations += outcome.iterations;
        trained.outcome.reason = to_string(outcome.reason);
        was_rough = task.precision == Objective::Precision::rough;
    }
    shorten(trained.member.parameters);
    if (was_rough) trained.outcome.validation_cost = exact_validation_cost(rows, division, score, trained.member);
}

Trained train(const Rows& rows, const Division& division, const Score& score, const TrainOptions& options,
              core::Random& random, const Report& report) {
    Trained own;
    own.member.form = sigma::make_form(options.form, rows.ranges);
    own.member.parameters = own.member.form->start(random, log_spread(rows, division));
    train_on(own, rows, division, score, options, report);
    return own;
}

std::vector<Trained> train_orders(const Rows& rows, const Division& division, const Score& score,
                                  const TrainOptions& options, core::Random& random, const Report& report) {
    // A solution often touches zero somewhere, where no step of the next order is allowed: start a little inside.
    constexpr double kTowardsConstant = 0.1;
    std::vector<Trained> orders;
    std::vector<double> start;
    for (std::size_t order = 0; order <= sigma::Polynomial::kHighestOrder; ++order) {
        Trained& own = orders.emplace_back();
        own.outcome.validation_cost = kNever;
        own.member.form = sigma::make_form("polynomial", rows.ranges, order);
        if (start.empty()) start = own.member.form->start(random, log_spread(rows, division));
        start.resize(order + 1, 0.0);
        Task task(rows, division, score, *own.member.form);
        TrainOptions to_the_end = options;
        to_the_end.patience = options.most_iterations + 1;
        const optimise::Outcome outcome = descend(task, *own.member.form, start, to_the_end, own, report);
        own.member.parameters = outcome.x;
        own.outcome.validation_cost = exact_validation_cost(rows, division, score, own.member);
        own.outcome.iterations = outcome.iterations;
        own.outcome.reason = to_string(outcome.reason);
        start = outcome.x;
        for (std::size_t l = 1; l < start.size(); ++l) start[l] *= 1 - kTowardsConstant;
        shorten(own.member.parameters);
    }
    return orders;
}

std::vector<Trained> train_clusters(const Rows& rows, const Division& division, const Score& score,
                                    core::Random& random, const Report& report) {
    const std::size_t inputs = rows.x.inputs;
    std::vector<bool> used(division.rows, true);
    std::fill(used.begin() + static_cast<std::ptrdiff_t>(division.begin),
              used.begin() + static_cast<std::ptrdiff_t>(division.end), false);
    const double spread = log_spread(rows, division);
    std::vector<Trained> all;
    for (std::size_t k = 1; k <= sigma::Clusters::kMost; ++k) {
        Trained& own = all.emplace_back();
        std::vector<double>& parameters = own.member.parameters;
        parameters = sigma::cluster_centres(rows.x, division.rows, used, k, random);
        const std::size_t count = parameters.size() / inputs;
        parameters.resize(count * (inputs + 1), 0.0);
        own.member.form = sigma::make_form("clusters", rows.ranges, parameters.size() - 1);
        // With log sigma = the number of the cluster the form itself tells which one a row is in.
        for (std::size_t c = 0; c < count; ++c) parameters[count * inputs + c] = static_cast<double>(c);
        std::vector<double> cluster(division.rows);
        own.member.form->log_sigma(parameters, rows.x, 0, division.rows, cluster.data());
        std::vector<double> squares(count, 0.0);
        std::vector<double> weights(count, 0.0);
        for (std::size_t i = 0; i < division.rows; ++i) {
            if (!used[i]) continue;
            const double weight = rows.weights.empty() ? 1 : rows.weights[i];
            const auto c = static_cast<std::size_t>(cluster[i]);
            squares[c] += weight * rows.errors[i] * rows.errors[i];
            weights[c] += weight;
        }
        for (std::size_t c = 0; c < count; ++c) {
            const double log_sigma = weights[c] > 0 ? std::log(squares[c] / weights[c]) / 2 : spread;
            parameters[count * inputs + c] = std::clamp(log_sigma, sigma::kLowestLogSigma, sigma::kHighestLogSigma);
        }
        shorten(parameters);
        own.outcome.validation_cost = exact_validation_cost(rows, division, score, own.member);
        own.outcome.validation_curve.push_back(own.outcome.validation_cost);
        own.outcome.reason = count == 1 ? "1 cluster" : std::to_string(count) + " clusters";
        if (!report(static_cast<int>(k), own.outcome.validation_cost)) break;
    }
    return all;
}

Trained last_useful_order(std::vector<Trained> orders) {
    constexpr double kTolerance = 1e-4;  // relative change of the training cost
    // Nothing was tried where the start itself has no cost.
    const auto cost = [](const Trained& t) {
        return t.outcome.training_curve.empty() ? kNever : t.outcome.training_curve.back();
    };
    std::size_t chosen = 0;
    while (chosen + 1 < orders.size() && cost(orders[chosen + 1]) < (1 - kTolerance) * cost(orders[chosen])) ++chosen;
    return std::move(orders[chosen]);
}

}  // namespace accrue::fitting
