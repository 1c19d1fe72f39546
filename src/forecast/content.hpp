// What a model consists of.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/state.hpp"
#include "accrue/version.hpp"
#include "fields/linear.hpp"
#include "fields/outputs.hpp"
#include "forecast/encoding.hpp"

namespace accrue {

struct Model::Content {
    std::vector<encodings::Encoding> inputs;
    std::string prediction_name;  // empty: the archive gave errors
    Scaling prediction_scaling;
    double error_scale = 1;  // sigma's unit
    // A correction of the prediction in the errors' own unit, by the standardised inputs and the prediction; null:
    // none.
    fields::Fitted bias;
    // The mean, where the archive had no prediction: the average of these, in units of target_scaling.
    std::vector<fields::Fitted> mean;
    Scaling target_scaling;
    // Their averages are log sigma, further parameters of the family and the location, where it is learned.
    std::vector<fields::Fitted> members;
    bool learns_location = false;
    SharedFamily family = normal_family();  // around which there may be bounds and a recalibration
    // Where groups have recalibrations of their own: their column, and the label of each map (accrue/group_maps.hpp).
    std::string map_column = {};
    std::vector<std::string> map_labels = {};
    std::unordered_map<std::string, double> map_codes = {};
    std::optional<State> state = {};  // how normal scores have moved since the fit
    bool widens_off_support = false;  // Model::widened(); not in the file
    // For people and for reports: not needed to forecast.
    std::string accrue_version{kVersion};  // that fitted it
    nlohmann::ordered_json columns;
    nlohmann::ordered_json configuration;
    nlohmann::ordered_json fit;
    nlohmann::ordered_json verification;

    bool has_group_maps() const { return !map_labels.empty(); }
    // The column of groups is what forecast() takes behind the other inputs.
    bool is_map_input(std::size_t input) const { return has_group_maps() && input == inputs.size(); }
    // The number of the map of this group; NaN where it has that of all rows.
    double map_of(const std::string& label) const;
    // The family becomes GroupMaps, whose maps are those of these groups. Throws InputError for a label that is there
    // twice.
    void set_maps(std::string column, std::vector<std::string> labels, SharedFamily maps);

    // What the members give, of the family inside bounds and recalibration.
    fields::Outputs outputs() const { return {&family->unbounded(), learns_location}; }

    // Of the columns that the inputs become, and the standardised prediction where there is one: what a correction
    // takes.
    std::vector<fields::Range> regressor_ranges() const;
};

}  // namespace accrue
