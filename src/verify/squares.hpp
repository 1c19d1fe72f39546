// The root of a mean of squares where the squares themselves lie beyond the doubles' ends.
#pragma once

#include <algorithm>
#include <cmath>

namespace accrue::verification {

// Sums in units of a power of two that is not far below the largest value. Scaling by it is exact, so that the result
// has the bits of a plain sum of the rows one after the other, wherever that stays among the doubles.
class Squares {
public:
    void add(double value, double weight) {
        const double size = std::fabs(value);
        if (!(weight > 0) || size == 0) return;
        if (size >= 2 * unit_) {
            constexpr int kGreatest = 1023;  // also for infinity
            const double unit = std::ldexp(1.0, std::min(std::ilogb(size), kGreatest));
            sum_ *= (unit_ / unit) * (unit_ / unit);
            unit_ = unit;
        }
        sum_ += weight * (value / unit_) * (value / unit_);
    }
    double root_mean(double total_weight) const { return std::sqrt(sum_ / total_weight) * unit_; }

private:
    double unit_ = 0;
    double sum_ = 0;
};

}  // namespace accrue::verification
