#include "fit/learned_mean.hpp"

#include "fit/folds.hpp"

namespace accrue::fitting {

LearnedMean learn_mean(const Archive& archive, const FitOptions& options, const FitWatcher& watcher) {
    const fields::MeanKind& kind = fields::mean_kind(options.mean);
    const std::size_t rows = archive.observation.size();
    LearnedMean learned;
    learned.target_scaling = standardisation(archive.observation, archive.roles.observation);
    std::vector<double> x;
    const std::vector<encodings::Encoding> inputs = encodings_of(archive);
    const std::size_t columns = encodings::column_count(inputs);
    x.reserve(rows * columns);
    for_encoded(archive, inputs,
                [&](std::span<const double> values) { x.insert(x.end(), values.begin(), values.end()); });
    std::vector<double> y;
    y.reserve(rows);
    for (const double value : archive.observation) y.push_back(learned.target_scaling(value));
    std::vector<Folds> folds;
    for (std::size_t r = 0; r < kind.rounds(); ++r)
        folds.push_back(make_folds(archive, options.folds, options.seed + r));
    const CrossFit fitted =
        cross_fit(kind, {{x.data(), rows, columns}, y, archive.weights}, folds, options.seed, watcher);
    learned.members = fitted.members;
    learned.errors.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i)
        learned.errors.push_back(learned.target_scaling.scale * (y[i] - fitted.held_out[i]));
    return learned;
}

}  // namespace accrue::fitting
