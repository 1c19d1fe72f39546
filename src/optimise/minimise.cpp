#include "optimise/minimise.hpp"

#include <ceres/first_order_function.h>
#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>
#include <ceres/iteration_callback.h>
#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <mutex>

namespace accrue::optimise {

namespace {

class Problem final : public ceres::FirstOrderFunction {
public:
    Problem(const Function& function, int size, int& evaluations)
        : function_(function), size_(size), evaluations_(evaluations) {}

    bool Evaluate(const double* x, double* value, double* gradient) const override {
        ++evaluations_;
        const auto size = static_cast<std::size_t>(size_);
        return function_({x, size}, *value, gradient == nullptr ? std::span<double>{} : std::span(gradient, size));
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

Reason reason_of(const ceres::GradientProblemSolver::Summary& summary) {
    switch (summary.termination_type) {
        case ceres::USER_SUCCESS:
            return Reason::stopped_by_watcher;
        case ceres::CONVERGENCE:
            return Reason::converged;
        case ceres::NO_CONVERGENCE:
            return Reason::most_iterations;
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
        case Reason::most_iterations:
            return "most iterations reached";
        case Reason::no_step:
            return "no better step found";
    }
    return "";
}

Outcome minimise(const Function& function, std::vector<double> start, const Watcher& watcher, const Options& options) {
    // Ceres reports a failed line search through glog, on the terminal. It is an outcome like any other here.
    static std::once_flag quiet;
    std::call_once(quiet, [] { FLAGS_minloglevel = google::GLOG_FATAL; });

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
    settings.max_num_iterations = options.most_iterations;
    settings.function_tolerance = options.function_tolerance;
    settings.gradient_tolerance = options.gradient_tolerance;
    settings.parameter_tolerance = 1e-12;
    settings.logging_type = ceres::SILENT;
    settings.callbacks.push_back(&callback);
    settings.update_state_every_iteration = true;  // without it the callback sees stale parameters
    ceres::GradientProblemSolver::Summary summary;
    ceres::Solve(settings, problem, outcome.x.data(), &summary);
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
