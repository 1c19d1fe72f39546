// A mean learned from the archive, where it has no predictions.
#pragma once

#include "fit/cross_fit.hpp"
#include "fit/prepare.hpp"

namespace accrue::fitting {

// A mean learned from the archive: errors of rows that it never saw, and what predicts new rows.
struct LearnedMean {
    std::vector<double> errors;
    std::vector<fields::Fitted> members;
    Scaling target_scaling;
};

LearnedMean learn_mean(const Archive& archive, const FitOptions& options, const FitWatcher& watcher);

}  // namespace accrue::fitting
