// Quasi-Newton minimisation on Ceres. The outcome is data, never an exception and never a line on the terminal.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace accrue::optimise {

// Writes the gradient when its span is not empty. Returns false where the function is not defined: no step goes there.
using Function = std::function<bool(std::span<const double> x, double& value, std::span<double> gradient)>;

enum class Watch { go_on, stop };
// Called at the start (iteration 0) and after every accepted step.
using Watcher = std::function<Watch(int iteration, std::span<const double> x, double value)>;

enum class Method { lbfgs, bfgs };

struct Options {
    Method method = Method::lbfgs;
    int most_iterations = 400;
    double function_tolerance = 1e-9;   // relative change of the value in a step
    double gradient_tolerance = 1e-10;  // largest entry
};

enum class Reason { stopped_by_watcher, converged, most_iterations, no_step };
std::string to_string(Reason reason);

struct Outcome {
    std::vector<double> x;
    double value = 0;
    int iterations = 0;
    int evaluations = 0;
    Reason reason = Reason::converged;
};

Outcome minimise(const Function& function, std::vector<double> start, const Watcher& watcher, const Options& options);

}  // namespace accrue::optimise
