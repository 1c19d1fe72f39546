#include "fit/train.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "optimise/minimise.hpp"

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

std::unique_ptr<Objective> validation_of(const Rows& rows, const Division& d, const Score& score,
                                         const fields::Outputs& outputs, const fields::Field& field,
                                         Objective::Precision precision) {
    fields::Columns x = rows.x;
    x.data += d.begin;
    const auto part = [&](std::span<const double> values) {
        return values.empty() ? values : values.subspan(d.begin, d.end - d.begin);
    };
    fields::Columns given = rows.given;
    given.data += given.inputs > 0 ? d.begin : 0;
    return make_objective(outputs, field, x, validation_slice(d), part(rows.errors), part(rows.weights), given, score,
                          precision);
}

double cost_of(Objective& objective, std::span<const double> parameters) {
    double cost = kNever;
    return objective(parameters, cost, {}) ? cost : kNever;
}

double exact_validation_cost(const Rows& rows, const Division& d, const Score& score, const fields::Outputs& outputs,
                             const fields::Fitted& member) {
    const auto exact = validation_of(rows, d, score, outputs, *member.field, Objective::Precision::exact);
    return cost_of(*exact, member.parameters);
}

// The training rows of a division in random order, in blocks of about kRowsOfBlock: a step of a first-order method goes
// by one of them.
constexpr std::size_t kRowsOfBlock = 500;
class Blocks {
public:
    Blocks(const Rows& rows, const Division& d, const Score& score, const fields::Outputs& outputs,
           const fields::Field& field, Objective::Precision precision)
        : rows_(rows), score_(score), outputs_(outputs), field_(field), precision_(precision) {
        for (std::size_t i = 0; i < d.rows; ++i)
            if (i < d.begin || i >= d.end) order_.push_back(static_cast<std::uint32_t>(i));
        core::Random(1, d.begin).shuffle(std::span(order_));
    }

    std::size_t count() const { return std::max<std::size_t>(1, order_.size() / kRowsOfBlock); }

    // Cost and gradient of one block.
    bool operator()(std::size_t block, std::span<const double> parameters, double& cost, std::span<double> gradient) {
        const std::size_t from = order_.size() * block / count();
        const std::size_t size = order_.size() * (block + 1) / count() - from;
        memory_.clear();
        const auto copy = [&](const double* values) {
            for (std::size_t i = from; i < from + size; ++i) memory_.push_back(values[order_[i]]);
        };
        for (std::size_t k = 0; k < rows_.x.inputs; ++k) copy(rows_.x.data + k * rows_.x.stride);
        for (std::size_t k = 0; k < rows_.given.inputs; ++k) copy(rows_.given.data + k * rows_.given.stride);
        copy(rows_.errors.data());
        if (!rows_.weights.empty()) copy(rows_.weights.data());
        std::size_t at = 0;
        const auto next = [&](std::size_t columns) {
            return std::span<const double>(memory_).subspan(std::exchange(at, at + columns * size), columns * size);
        };
        const fields::Columns x{next(rows_.x.inputs).data(), size, rows_.x.inputs};
        const fields::Columns given{next(rows_.given.inputs).data(), size, rows_.given.inputs};
        const std::span<const double> errors = next(1);
        const std::span<const double> weights = next(rows_.weights.empty() ? 0 : 1);
        return (*make_objective(outputs_, field_, x, {0, 0, size}, errors, weights, given, score_, precision_))(
            parameters, cost, gradient);
    }

private:
    const Rows& rows_;
    Score score_;
    fields::Outputs outputs_;
    const fields::Field& field_;
    Objective::Precision precision_;
    std::vector<std::uint32_t> order_;
    std::vector<double> memory_;
};

struct Descent {
    Descent(const Rows& rows, const Division& d, const Score& score, const fields::Outputs& outputs,
            const fields::Field& field, bool in_blocks = false)
        : precision(Objective::of_descent(training_slice(d).size())),
          training_rows(static_cast<double>(training_slice(d).size())),
          validation(validation_of(rows, d, score, outputs, field, precision)) {
        if (in_blocks)
            blocks.emplace(rows, d, score, outputs, field, precision);
        else
            training = make_objective(outputs, field, rows.x, training_slice(d), rows.errors.first(d.rows),
                                      rows.weights.empty() ? rows.weights : rows.weights.first(d.rows), rows.given,
                                      score, precision);
    }

    double validation_cost(std::span<const double> parameters) { return cost_of(*validation, parameters); }

    // With the field's penalty, a share of it for every row.
    template <typename Cost>
    bool with_penalty(const fields::Field& field, Cost&& rows, std::span<const double> parameters, double& cost,
                      std::span<double> gradient) {
        if (!rows(parameters, cost, gradient)) return false;
        penalty_slopes.assign(gradient.size(), 0.0);
        cost += field.penalty(parameters, penalty_slopes) / training_rows;
        for (std::size_t p = 0; p < gradient.size(); ++p) gradient[p] += penalty_slopes[p] / training_rows;
        return true;
    }

    Objective::Precision precision;
    double training_rows;
    std::vector<double> penalty_slopes = {};
    std::unique_ptr<Objective> training;  // of all training rows,
    std::optional<Blocks> blocks;         // or of blocks of them
    std::unique_ptr<Objective> validation;
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
    return std::clamp(std::isfinite(spread) ? spread : 0.0, fields::kLowestLogSigma / 2, fields::kHighestLogSigma / 2);
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

// So many that few rows are gone over many times, and many rows a few times.
int first_order_steps(std::size_t blocks) {
    constexpr std::size_t kFewest = 400;
    constexpr std::size_t kUsual = 1500;
    constexpr std::size_t kMost = 50'000;
    constexpr std::size_t kTimesOfFew = 100;
    constexpr std::size_t kTimesOfMany = 25;
    return static_cast<int>(
        std::min(kMost, std::max(std::clamp(kTimesOfFew * blocks, kFewest, kUsual), kTimesOfMany * blocks)));
}

// Minimises from `start`, keeping the parameters of the best validation cost in `best`.
optimise::Outcome descend(Descent& task, const fields::Field& field, std::vector<double> start,
                          const TrainOptions& options, Trained& best, const Report& report) {
    double own_best = kNever;
    int since_best = 0;
    optimise::Options settings;
    settings.max_iterations = options.max_iterations;
    constexpr double kContinuedRate = optimise::kAdamRate / 10;
    if (options.continued) settings.rate = kContinuedRate;
    constexpr std::size_t kFew = 11;  // parameters up to which the full matrix of BFGS is better
    settings.method = field.parameters() <= kFew ? optimise::Method::bfgs : optimise::Method::lbfgs;
    best.outcome.method = task.blocks ? "adam" : settings.method == optimise::Method::bfgs ? "bfgs" : "lbfgs";
    const auto watch = [&](int iteration, std::span<const double> x, double value) {
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
        // The steps of a first-order method shrink to the end, and gain most there.
        const bool waited = !task.blocks && since_best >= options.patience;
        return !go_on || waited ? optimise::Watch::stop : optimise::Watch::go_on;
    };
    if (!task.blocks)
        return optimise::minimise(
            [&](std::span<const double> x, double& value, std::span<double> gradient) {
                return task.with_penalty(field, *task.training, x, value, gradient);
            },
            std::move(start), watch, settings);
    std::vector<optimise::Function> parts;
    for (std::size_t b = 0; b < task.blocks->count(); ++b)
        parts.emplace_back([&, b](std::span<const double> x, double& value, std::span<double> gradient) {
            const auto block = [&](std::span<const double> at, double& cost, std::span<double> slopes) {
                return (*task.blocks)(b, at, cost, slopes);
            };
            return task.with_penalty(field, block, x, value, gradient);
        });
    // The rows are gone over at most as often as other methods may iterate.
    settings.max_iterations =
        static_cast<int>(std::min<double>(first_order_steps(parts.size()), static_cast<double>(options.max_iterations) *
                                                                               static_cast<double>(parts.size())));
    return optimise::minimise_parts(parts, std::move(start), watch, settings);
}

}  // namespace

void train_on(Trained& trained, const Rows& rows, const Division& division, const Score& score,
              const TrainOptions& options, const Report& report) {
    trained.outcome.validation_cost = kNever;
    const fields::Field& field = *trained.member.field;
    bool was_rough = false;
    {
        Descent task(rows, division, score, options.outputs, field, options.first_order);
        const auto outcome = descend(task, field, trained.member.parameters, options, trained, report);
        trained.outcome.iterations += outcome.iterations;
        trained.outcome.reason = to_string(outcome.reason);
        was_rough = task.precision == Objective::Precision::rough;
    }
    shorten(trained.member.parameters);
    if (was_rough)
        trained.outcome.validation_cost = exact_validation_cost(rows, division, score, options.outputs, trained.member);
}

std::vector<Trained> train(const Rows& rows, const Division& division, const Score& score, const TrainOptions& options,
                           core::Random& random, const Report& report) {
    const fields::Kind& form = *options.form;
    const fields::Kind::Sizes sizes = form.sizes();
    const std::vector<double> levels = options.outputs.levels(log_spread(rows, division));
    if (!sizes.several()) {
        Trained own;
        own.member.field = form.make(rows.ranges, levels.size(), sizes.first);
        own.member.parameters = own.member.field->start(random, levels);
        train_on(own, rows, division, score, options, report);
        return {own};
    }
    fields::TrainingRows training{rows.x, rows.errors, rows.weights, std::vector<bool>(division.rows, true)};
    std::fill(training.used.begin() + static_cast<std::ptrdiff_t>(division.begin),
              training.used.begin() + static_cast<std::ptrdiff_t>(division.end), false);
    TrainOptions to_the_end = options;
    to_the_end.patience = options.max_iterations + 1;
    std::vector<Trained> all;
    std::vector<double> start;
    for (std::size_t size = sizes.first; size <= sizes.last; ++size) {
        Trained& own = all.emplace_back();
        own.outcome.validation_cost = kNever;
        if (const auto solved = form.solved(training, rows.ranges, size, levels[0], random)) {
            own.member = *solved;
            shorten(own.member.parameters);
            own.outcome.validation_cost = exact_validation_cost(rows, division, score, options.outputs, own.member);
            own.outcome.validation_curve.push_back(own.outcome.validation_cost);
            own.outcome.method = "solved";
            own.outcome.reason = form.size_name(form.size_of(rows.x.inputs, own.member.parameters.size()));
            if (!report(static_cast<int>(size), own.outcome.validation_cost)) break;
            continue;
        }
        own.member.field = form.make(rows.ranges, levels.size(), size);
        if (start.empty()) start = own.member.field->start(random, levels);
        Descent task(rows, division, score, options.outputs, *own.member.field);
        const optimise::Outcome outcome = descend(task, *own.member.field, start, to_the_end, own, report);
        own.member.parameters = outcome.x;
        own.outcome.validation_cost = exact_validation_cost(rows, division, score, options.outputs, own.member);
        own.outcome.iterations = outcome.iterations;
        own.outcome.reason = to_string(outcome.reason);
        start = form.grown(outcome.x, levels.size());
        shorten(own.member.parameters);
    }
    return all;
}

Trained last_useful_size(std::vector<Trained> sizes) {
    constexpr double kTolerance = 1e-4;  // relative change of the training cost
    // Nothing was tried where the start itself has no cost.
    const auto cost = [](const Trained& t) {
        return t.outcome.training_curve.empty() ? kNever : t.outcome.training_curve.back();
    };
    std::size_t chosen = 0;
    while (chosen + 1 < sizes.size() && cost(sizes[chosen + 1]) < (1 - kTolerance) * cost(sizes[chosen])) ++chosen;
    return std::move(sizes[chosen]);
}

}  // namespace accrue::fitting
