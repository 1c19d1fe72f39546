// Recalibration in a fit: which rows make the map, whether one is worth having, and what it promises.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "accrue/fit.hpp"
#include "fit/archive_rows.hpp"

namespace accrue::fitting {

// What FitOptions::recalibrate asks for. `auto` asks for nothing where a fit cannot have a map, by the paper's recipe
// or with observation errors; nor, by default, where the form was given by hand as the paper's, normal around the
// prediction.
std::string recalibration_asked(const Archive& archive, const FitOptions& options);

// Throws InputError where what is asked for does not go together.
void check_recalibration(const Archive& archive, const FitOptions& options);

// The rows that make the maps: throws InputError where none of their groups has enough for a map of its own, or too
// many have. `split` tells that they were set apart.
void check_groups(const Archive& rows, const FitOptions& options, bool split);

// An archive in two: rows to learn from, and rows that enter nothing but the map.
class CalibrationSplit {
public:
    // Throws InputError where the rows cannot be divided so, or are too few to calibrate by.
    CalibrationSplit(const Archive& all, const FitOptions& options);

    const Archive& training() const { return training_->archive(); }
    const Archive& calibration() const { return calibration_->archive(); }
    // From a result of the training rows to one of all rows, in which those of the calibration have no figures.
    void spread(FitResult& result) const;

private:
    std::size_t rows_;
    std::vector<std::size_t> of_training_;  // their places in the archive
    std::unique_ptr<const ArchiveRows> training_, calibration_;
};

// Normal scores of the rows' PITs, by a model that knows nothing of them.
std::vector<double> scores_of_rows(const Model& model, const Archive& rows);

// Whether a map was asked for by its name, or tried, or rows were set apart for one.
inline bool is_worth_telling(const RecalibrationOutcome& outcome) {
    return outcome.kind != "none" || outcome.split || !outcome.trials.empty();
}
// What the map of a fit promises, and how it was judged: sentences for the verdict.
std::vector<Message> recalibration_remarks(const RecalibrationOutcome& outcome, const Archive& archive);
nlohmann::ordered_json recalibration_json(const RecalibrationOutcome& outcome);

}  // namespace accrue::fitting
