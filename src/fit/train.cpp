#include "fit/train.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimise/minimise.hpp"
#include "sigma/polynomial.hpp"

namespace accrue::fitting {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Slice training_slice(const Division& d) { return {d.begin, d.end, d.rows}; }
// Validation rows are "everything but nothing" of their own stretch: the columns are shifted to begin there.
Slice validation_slice(const Division& d) { return {0, 0, d.end - d.begin}; }

struct Task {
    Task(const Rows& rows, const Division& d, const Score& score, const sigma::Form& form)
        : training(form, rows.x, training_slice(d), rows.errors.first(d.rows), head(rows.weights, d.rows), score),
          validation(form, shifted(rows.x, d.begin), validation_slice(d),
                     rows.errors.subspan(d.begin, d.end - d.begin), part(rows.weights, d), score) {}

    static std::span<const double> head(std::span<const double> values, std::size_t count) {
        return values.empty() ? values : values.first(count);
    }
    static std::span<const double> part(std::span<const double> values, const Division& d) {
        return values.empty() ? values : values.subspan(d.begin, d.end - d.begin);
    }
    static sigma::Columns shifted(sigma::Columns x, std::size_t by) {
        x.data += by;
        return x;
    }

    double validation_cost(std::span<const double> parameters) {
        double cost = kNever;
        return validation(parameters, cost, {}) ? cost : kNever;
    }

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

// Ten significant digits: the file stays small and holds exactly what was verified.
void shorten(std::vector<double>& parameters) {
    for (double& value : parameters) {
        if (value == 0 || !std::isfinite(value)) continue;
        char text[32];
        std::snprintf(text, sizeof text, "%.10g", value);
        value = std::strtod(text, nullptr);
    }
}

// Minimises from `start`, keeping the parameters of the best validation cost in `best`.
optimise::Outcome descend(Task& task, const sigma::Form& form, std::vector<double> start, const TrainOptions& options,
                          Trained& best, const Report& report) {
    double own_best = kNever;
    int since_best = 0;
    optimise::Options settings;
    settings.most_iterations = options.most_iterations;
    settings.method = form.parameters() <= sigma::Polynomial::kHighestOrder + 1 ? optimise::Method::bfgs
                                                                                : optimise::Method::lbfgs;
    return optimise::minimise(
        [&](std::span<const double> x, double& value, std::span<double> gradient) {
            return task.training(x, value, gradient);
        },
        std::move(start),
        [&](int iteration, std::span<const double> x, double value) {
            const double cost = task.validation_cost(x);
            best.outcome.training_curve.push_back(value);
            best.outcome.validation_curve.push_back(cost);
            if (cost < best.outcome.validation_cost) {
                best.outcome.validation_cost = cost;
                best.member.parameters.assign(x.begin(), x.end());
            }
            since_best = cost < own_best ? 0 : since_best + 1;
            own_best = std::min(own_best, cost);
            const bool go_on = report(iteration, cost);
            return !go_on || since_best >= options.patience ? optimise::Watch::stop : optimise::Watch::go_on;
        },
        settings);
}

// [ALG1] orders 0 to 10, each started from the last solution. The paper's recipe goes on until an order finds nothing
// better on the training rows; the default recipe tries every order and takes the one that validates best.
void train_polynomial(const Rows& rows, const Division& division, const Score& score, const TrainOptions& options,
                      core::Random& random, Trained& best, const Report& report) {
    constexpr double kTolerance = 1e-4;  // relative change of the training cost
    std::vector<double> start;
    double last_cost = kNever;
    std::size_t best_order = 0;
    for (std::size_t order = 0; order <= sigma::Polynomial::kHighestOrder; ++order) {
        const auto form = sigma::make_form("polynomial", rows.ranges, order);
        Task task(rows, division, score, *form);
        if (start.empty()) start = form->start(random, log_spread(rows, division));
        start.resize(order + 1, 0.0);
        const double before = best.outcome.validation_cost;
        TrainOptions own = options;
        if (!options.choose_order_by_validation) own.patience = options.most_iterations + 1;
        Trained attempt = best;
        if (!options.choose_order_by_validation) attempt.outcome.validation_cost = kNever;
        const optimise::Outcome outcome = descend(task, *form, start, own, attempt, report);
        attempt.outcome.iterations = best.outcome.iterations + outcome.iterations;
        attempt.outcome.reason = to_string(outcome.reason);
        if (options.choose_order_by_validation) {
            if (attempt.outcome.validation_cost < before) best_order = order;
            best = std::move(attempt);
        } else {
            const bool better = outcome.value < last_cost - kTolerance * std::fabs(last_cost) || order == 0;
            if (!better) break;
            best = std::move(attempt);
            best.member.parameters = outcome.x;
            best.outcome.validation_cost = task.validation_cost(outcome.x);
            best_order = order;
        }
        last_cost = outcome.value;
        start = outcome.x;
    }
    best.member.form = sigma::make_form("polynomial", rows.ranges, best_order);
}

}  // namespace

Trained train(const Rows& rows, const Division& division, const Score& score, const TrainOptions& options,
              core::Random& random, const Report& report) {
    Trained best;
    best.outcome.validation_cost = kNever;
    if (options.form == "polynomial") {
        train_polynomial(rows, division, score, options, random, best, report);
    } else {
        best.member.form = sigma::make_form(options.form, rows.ranges);
        Task task(rows, division, score, *best.member.form);
        auto start = best.member.form->start(random, log_spread(rows, division));
        best.member.parameters = start;
        const auto outcome = descend(task, *best.member.form, std::move(start), options, best, report);
        best.outcome.iterations = outcome.iterations;
        best.outcome.reason = to_string(outcome.reason);
    }
    shorten(best.member.parameters);
    return best;
}

double validation_cost(const Rows& rows, const Division& division, const Score& score, const sigma::Member& member) {
    return Task(rows, division, score, *member.form).validation_cost(member.parameters);
}

}  // namespace accrue::fitting
