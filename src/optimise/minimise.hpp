// Minimisation: quasi-Newton on Ceres, or first-order. The outcome is data, never an exception and never a line on the
// terminal.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace accrue::optimise {

// Writes the gradient when its span is not empty. Returns false where the function is not defined: no step goes there.
using Function = std::function<bool(std::span<const double> x, double& value, std::span<double> gradient)>;

enum class Watch { go_on, stop };
// Called at the start (iteration 0) and after every accepted step; by adam after every kAdamWatched steps, and with
// parts whenever all of them have had one.
using Watcher = std::function<Watch(int iteration, std::span<const double> x, double value)>;

// adam: Kingma and Ba (2015), with steps that shrink from kAdamRate to kAdamLastRate along half a cosine, so that the
// number of iterations is part of the method.
enum class Method { lbfgs, bfgs, adam };
inline constexpr double kAdamRate = 1e-2;
inline constexpr double kAdamLastRate = 1e-4;
inline constexpr int kAdamWatched = 5;

struct Options {
    Method method = Method::lbfgs;
    int max_iterations = 400;
    double rate = kAdamRate;            // adam's first
    double function_tolerance = 1e-9;   // relative change of the value in a step
    double gradient_tolerance = 1e-10;  // largest entry
};

enum class Reason { stopped_by_watcher, converged, max_iterations, no_step };
std::string to_string(Reason reason);

struct Outcome {
    std::vector<double> x;
    double value = 0;
    int iterations = 0;
    int evaluations = 0;
    Reason reason = Reason::converged;
};

// The mean of several functions by adam, a step by each in turn.
Outcome minimise_parts(std::span<const Function> parts, std::vector<double> start, const Watcher& watcher,
                       const Options& options);

Outcome minimise(const Function& function, std::vector<double> start, const Watcher& watcher, const Options& options);

}  // namespace accrue::optimise
