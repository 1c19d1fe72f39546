// How far a fit is, for who watches it.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>

namespace accrue {

struct FitProgress {
    std::size_t task = 0;  // the (fold, start) that reports
    std::size_t fold = 0, start = 0;
    int iteration = 0;
    double cost = 0;  // validation cost
    std::size_t finished = 0, tasks = 0;
};
// Return false to stop the fit; it then throws Interrupted. Calls come one at a time, from any thread.
using FitWatcher = std::function<bool(const FitProgress&)>;

class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace accrue
