#include "optimise/minimise.hpp"

#include <ceres/first_order_function.h>
#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>
#include <ceres/iteration_callback.h>
#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>

namespace accrue::optimise {

namespace {

class Problem final : public ceres::FirstOrderFunction {
public:
    Problem(const Function& function, int size, int& evaluations)
        : function_(function), size_(size), evaluations_(evaluations) {}

    bool Evaluate(const double* x, double* value, double* gradient) const override {
        ++evaluations_;
        const auto size = static_cast<std::size_t>(size_);
        const std::span<double> slopes = gradient == nullptr ? std::span<double>{} : std::span(gradient, size);
        // Ceres ends the program at a slope that is not a number.
        return function_({x, size}, *value, slopes) &&
               std::all_of(slopes.begin(), slopes.end(), [](double slope) { return std::isfinite(slope); });
    }
    int NumParameters() const override { return size_; }

private:
    const Function& function_;
    int size_;
    int& evaluations_;
};

class Callback final : public ceres::IterationCallback {
public:
    Callback(const Watcher& watcher, std::span<const double> x) : watcher_(watcher), x_(x) {}

    ceres::CallbackReturnType operator()(const ceres::IterationSummary& summary) override {
        shown_ = summary.iteration;
        return watcher_(summary.iteration, x_, summary.cost) == Watch::stop ? ceres::SOLVER_TERMINATE_SUCCESSFULLY
                                                                            : ceres::SOLVER_CONTINUE;
    }
    int shown() const { return shown_; }  // the last iteration that the watcher saw

private:
    const Watcher& watcher_;
    std::span<const double> x_;
    int shown_ = -1;
};

// Some warnings of Ceres (an approximate Hessian that is not positive definite) get past its SILENT, through glog, onto
// the terminal. They are outcomes like any other here. glog has one level for the whole process, which belongs to the
// program: it is raised while some thread minimises, and then is what it was before.
class QuietLog {
public:
    QuietLog() {
        const std::lock_guard lock(mutex);
        if (running++ > 0) return;
        before = FLAGS_minloglevel;
        FLAGS_minloglevel = std::max<int>(before, google::GLOG_FATAL);
    }
    ~QuietLog() {
        const std::lock_guard lock(mutex);
        if (--running == 0) FLAGS_minloglevel = before;
    }
    QuietLog(const QuietLog&) = delete;
    QuietLog& operator=(const QuietLog&) = delete;

private:
    static inline std::mutex mutex;
    static inline int running = 0;
    static inline int before = 0;
};

Reason reason_of(const ceres::GradientProblemSolver::Summary& summary) {
    switch (summary.termination_type) {
        case ceres::USER_SUCCESS:
            return Reason::stopped_by_watcher;
        case ceres::CONVERGENCE:
            return Reason::converged;
        case ceres::NO_CONVERGENCE:
            return Reason::max_iterations;
        default:
            return Reason::no_step;
    }
}

}  // namespace

std::string to_string(Reason reason) {
    switch (reason) {
        case Reason::stopped_by_watcher:
            return "stopped early";
        case Reason::converged:
            return "converged";
        case Reason::max_iterations:
            return "maximum number of iterations reached";
        case Reason::no_step:
            return "no better step found";
    }
    return "";
}

Outcome minimise_parts(std::span<const Function> parts, std::vector<double> start, const Watcher& watcher,
                       const Options& options) {
    constexpr double kMean = 0.9;
    constexpr double kSquare = 0.999;
    constexpr double kLeast = 1e-8;
    constexpr double kLargestGradient = 10;  // its length; a longer one is shortened
    Outcome outcome;
    outcome.x = std::move(start);
    const std::size_t size = outcome.x.size();
    std::vector<double> gradient(size), means(size), squares(size);
    outcome.reason = Reason::max_iterations;
    const int watched = parts.size() > 1 ? static_cast<int>(parts.size()) : kAdamWatched;
    double sum = 0;  // of the values since the watcher was called
    int summed = 0;
    for (int step = 0; step <= options.max_iterations; ++step) {
        ++outcome.evaluations;
        double value = 0;
        const Function& part = parts[static_cast<std::size_t>(step) % parts.size()];
        const bool good = part(outcome.x, value, gradient) &&
                          std::all_of(gradient.begin(), gradient.end(), [](double g) { return std::isfinite(g); });
        if (!good) {
            if (step == 0) outcome.value = std::numeric_limits<double>::infinity();
            outcome.reason = Reason::no_step;
            return outcome;
        }
        sum += value;
        ++summed;
        outcome.iterations = step;
        if (step % watched == 0 || step == options.max_iterations) {
            outcome.value = parts.size() > 1 ? sum / summed : value;
            sum = summed = 0;
            if (watcher(step, outcome.x, outcome.value) == Watch::stop) {
                outcome.reason = Reason::stopped_by_watcher;
                return outcome;
            }
        }
        if (step == options.max_iterations) break;
        double length = 0;
        for (const double g : gradient) length += g * g;
        const double shorter = std::min(1.0, kLargestGradient / std::sqrt(std::max(length, kLeast)));
        const double done = static_cast<double>(step) / options.max_iterations;
        const double rate =
            kAdamLastRate + (options.rate - kAdamLastRate) * (1 + std::cos(std::numbers::pi * done)) / 2;
        const double mean_share = 1 - std::pow(kMean, step + 1);
        const double square_share = 1 - std::pow(kSquare, step + 1);
        for (std::size_t p = 0; p < size; ++p) {
            const double g = shorter * gradient[p];
            means[p] = kMean * means[p] + (1 - kMean) * g;
            squares[p] = kSquare * squares[p] + (1 - kSquare) * g * g;
            outcome.x[p] -= rate * (means[p] / mean_share) / (std::sqrt(squares[p] / square_share) + kLeast);
        }
    }
    return outcome;
}

Outcome minimise(const Function& function, std::vector<double> start, const Watcher& watcher, const Options& options) {
    if (options.method == Method::adam)
        return minimise_parts(std::span(&function, 1), std::move(start), watcher, options);
    Outcome outcome;
    outcome.x = std::move(start);
    const ceres::GradientProblem problem(
        new Problem(function, static_cast<int>(outcome.x.size()), outcome.evaluations));
    Callback callback(watcher, outcome.x);
    ceres::GradientProblemSolver::Options settings;
    settings.line_search_direction_type = options.method == Method::lbfgs ? ceres::LBFGS : ceres::BFGS;
    settings.line_search_type = ceres::WOLFE;
    settings.line_search_interpolation_type = ceres::CUBIC;
    settings.max_lbfgs_rank = 20;
    settings.max_num_iterations = options.max_iterations;
    settings.function_tolerance = options.function_tolerance;
    settings.gradient_tolerance = options.gradient_tolerance;
    settings.parameter_tolerance = 1e-12;
    settings.logging_type = ceres::SILENT;
    settings.callbacks.push_back(&callback);
    settings.update_state_every_iteration = true;  // without it the callback sees stale parameters
    ceres::GradientProblemSolver::Summary summary;
    {
        const QuietLog quiet;
        ceres::Solve(settings, problem, outcome.x.data(), &summary);
    }
    // Ceres gives no final cost when it found no step, and no iteration at all when the start is the minimum or has no
    // value.
    bool defined = true;
    if (summary.iterations.empty())
        defined = function(outcome.x, outcome.value, {});
    else
        outcome.value = summary.iterations.back().cost;
    if (!defined) outcome.value = std::numeric_limits<double>::infinity();
    outcome.iterations = std::max(static_cast<int>(summary.iterations.size()) - 1, 0);
    outcome.reason = reason_of(summary);
    // Nor does it show the step with which it converged.
    if (defined && callback.shown() < outcome.iterations) watcher(outcome.iterations, outcome.x, outcome.value);
    return outcome;
}

}  // namespace accrue::optimise
