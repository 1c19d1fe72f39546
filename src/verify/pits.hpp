// The PITs of a forecast in ascending order, with the weight up to each.
#pragma once

#include <span>
#include <vector>

namespace accrue::verification {

class SortedPits {
public:
    SortedPits(std::span<const double> pits, std::span<const double> weights);

    std::size_t size() const { return values_.size(); }

    // The share of weight whose PIT is at most p.
    double cdf(double p) const;

    // The largest distance between the cdf and the diagonal, on either side of every jump.
    double distance_to_diagonal() const;

private:
    // The share of weight of the first `count` rows.
    double share(std::size_t count) const;

    std::vector<double> values_;
    std::vector<double> shares_;  // cumulative; empty when every row counts the same
};

}  // namespace accrue::verification
