// A fit in progress: what the recipes share, before and after the training.
#pragma once

#include "accrue/fit.hpp"
#include "fit/learned_mean.hpp"
#include "fit/tasks.hpp"
#include "forecast/row_parameters.hpp"

namespace accrue::fitting {

// What members that never saw a row say of it, for every arranged row: location and scale in the errors' own unit, and
// further parameters of the family.
struct HeldOut {
    std::vector<double> scales;     // NaN: the row was not held out
    std::vector<double> locations;  // empty: the prediction's
    std::size_t width = 0;          // further parameters of a row
    std::vector<double> values;     // row after row

    double scale(std::size_t at) const { return scales[at]; }
    double location(std::size_t at) const { return locations.empty() ? 0 : locations[at]; }
    std::span<const double> further(std::size_t at) const { return std::span(values).subspan(at * width, width); }
};

// One candidate of a choice, as the report shows it.
using Candidates = std::vector<CandidateOutcome>;

struct Fitting {
    const Archive& archive;
    FitOptions options;  // without choices that are left to the fit
    const Work& work;
    const LearnedMean* mean = nullptr;
    const Model::Content* earlier = nullptr;  // a fit of the same options to other rows, which this one goes on from
    const fields::Kind& form = form_of(options);
    std::shared_ptr<Model::Content> content = std::make_shared<Model::Content>();
    Arranged arranged = {};
    std::vector<double> scaled_errors = {};
    std::vector<double> scaled_given = {};  // bounds and numbers of the rows, column after column
    Rows rows = {};
    Score score = {};
    std::vector<Trained> trained = {};
    std::vector<PooledForm> pooled = {};
    std::size_t starts = 1;
    int patience = 0;
    SharedFamily family = family_of(archive, options);  // with its bounds
    // Of every part of the rows: what it is forecast by when it is held out; one for all parts where no row helped to
    // make its map. Empty: the family, without a map.
    std::vector<SharedFamily> recalibrated = {};
    RecalibrationOutcome recalibration = {};
    // Where groups may have maps of their own: the number of the map of every arranged row (accrue/group_maps.hpp).
    std::vector<double> map_numbers = {};
    std::vector<double> map_of_code = {};  // by the codes of the groups
    std::size_t group_maps = 0;

    void choose_starts(std::size_t otherwise) {
        starts = !form.random_starts() ? 1 : options.starts > 0 ? options.starts : otherwise;
    }
    void choose_patience(int otherwise) { patience = options.patience > 0 ? options.patience : otherwise; }

    void standardise();
    // A linear correction by the inputs and the prediction, of the rows for which `used` is true.
    void fit_bias(const std::vector<bool>& used);
    // From corrected errors to the rows that a start sees.
    void prepare_rows();
    fields::Outputs outputs() const { return {&family->unbounded(), learns_location(options)}; }
    TrainOptions train_options() const;
    // Those of the earlier fit, in their folds; none where there is none, or where starts are found without a descent.
    std::vector<Trained> earlier_starts() const;

    // What these members say of arranged rows [begin, end).
    void hold_out(const std::vector<fields::Fitted>& members, std::size_t begin, std::size_t end,
                  HeldOut& held_out) const;
    // Where a location is learned, errors of rows that a member never saw are larger than those that it was trained on.
    // Raises log sigma of the members, and of what they said, by the number that makes the cost of the held-out rows
    // least.
    void widen(HeldOut& held_out);
    // Scores of every arranged row that was held out.
    std::vector<double> crps(const HeldOut& held_out) const;
    // Normal scores of the PITs of every arranged row, without a map.
    std::vector<double> held_out_scores(const HeldOut& held_out) const;
    // The map of these scores of arranged rows that makes those of some parts normal, around `inner`; with `by_group`
    // also those of groups that have at least `fewest` rows there.
    SharedFamily map_of_parts(const std::string& kind, std::span<const double> scores, const SharedFamily& inner,
                              const std::function<bool(std::size_t part)>& taken, bool by_group = false,
                              double fewest = 0) const;
    // Makes the map of the model and those that the rows are judged by, from the rows out of fold or from `calibration`
    // alone. Where the choice is left to the fit, it is made by the rows out of fold either way.
    void recalibrate(const HeldOut& held_out, const Archive* calibration);
    // The model with its out-of-sample figures.
    FitResult finish(const HeldOut& held_out, const BiasGain& gain, Candidates candidates = {});

private:
    std::uint32_t part_of(std::size_t arranged_at) const;
    std::uint32_t map_of(std::size_t arranged_at) const { return recalibrated.size() > 1 ? part_of(arranged_at) : 0; }
    // Scores of some arranged rows by these families: one for all, or one for each part.
    std::vector<double> crps_of(const HeldOut& held_out, std::span<const std::size_t> rows,
                                std::span<const SharedFamily> families, std::span<const std::size_t> parts) const;
    // What held-out rows ask for: the maps that its folds are judged by, none where none is taken, and whether they are
    // those of groups.
    struct ChosenMaps {
        std::vector<SharedFamily> by_others = {};
        bool by_group = false;
    };
    ChosenMaps choose_map(const HeldOut& held_out, std::span<const double> scores, const Archive* calibration);
    // Numbers the groups that have enough of the rows that make the model's map.
    void number_groups(const Archive* calibration, const std::string& kind);
    double map_number(std::size_t arranged_at) const;
    // The corrected prediction of an arranged row, where bounds ask for it: errors are about it.
    double base(std::size_t at) const;
    // The forecast of an arranged row in a family: the error about its mean, its standard deviation and, where the
    // family has some, its parameters.
    struct RowForecast {
        double error, sigma;
    };
    RowForecast row_forecast(const HeldOut& held_out, std::size_t at, const forecasts::RowParameters& complete,
                             std::span<double> parameters) const;
    // With cross-fitted maps, calibration is judged within each fold, and the means over the folds are its figures.
    // Over all rows together it would look perfect whatever it is: what a fold deviates by comes back, with the
    // opposite sign, in the maps of the others.
    void judge_calibration_by_fold(FitResult& result) const;
};

}  // namespace accrue::fitting
