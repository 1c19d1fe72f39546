// Bets against the hypothesis that new values are exchangeable with those before: what they win is evidence.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/random.hpp"

namespace accrue::adapting {

// Conformal p-values among values that are known by counts between `ends` alone. Values that are exchangeable stay so
// when they are rounded to the ends, so that p-values with ties broken at random are uniform, exactly.
class Ranks {
public:
    // counts[k] are the values above ends[k - 1] and up to ends[k].
    Ranks(std::vector<double> ends, std::vector<double> counts);

    double p_value(double value, double uniform) const;
    void add(double value);

private:
    std::size_t bin(double value) const;

    std::vector<double> ends_, counts_;
    double total_;
};

// Capital of 1 that is bet on ways in which p-values may stop being uniform. Without a change its expectation stays
// below 1 whatever bets were made, and it ever reaches C with probability at most 1/C (Ville's inequality).
class Bets {
public:
    Bets();
    // The capital after one more time. The gain on several p-values is the mean of their gains: fair also where
    // they depend on each other.
    double step(std::span<const double> p_values);

private:
    std::vector<double> capital_;  // by way of switching between alternatives, then by alternative
};

}  // namespace accrue::adapting
