// What a model consists of.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "accrue/model.hpp"
#include "accrue/version.hpp"
#include "mean/bias.hpp"
#include "mean/regression.hpp"
#include "sigma/ensemble.hpp"

namespace accrue {

// x -> (x - centre)/scale.
struct Scaling {
    double centre = 0;
    double scale = 1;
    double operator()(double value) const { return (value - centre) / scale; }
};

struct Model::Content {
    std::vector<std::string> input_names;
    std::vector<Scaling> input_scaling;
    std::vector<sigma::Range> input_ranges;  // of the archive, in the inputs' own units
    std::string prediction_name;             // empty: the archive gave errors
    Scaling prediction_scaling;
    double error_scale = 1;  // sigma's unit
    mean::Bias bias;         // in the errors' own unit
    // The mean, where the archive had no prediction: of standardised inputs, in units of target_scaling.
    std::shared_ptr<const mean::Regression> regression;
    Scaling target_scaling;
    std::vector<sigma::Member> members;
    std::shared_ptr<const Shape> shape;  // null: Gaussian
    // For people and for reports: not needed to forecast.
    std::string accrue_version{kVersion};  // that fitted it
    nlohmann::ordered_json columns;
    nlohmann::ordered_json configuration;
    nlohmann::ordered_json fit;
    nlohmann::ordered_json verification;
};

// The ranges of the standardised inputs, which polynomials are defined on.
std::vector<sigma::Range> standardised_ranges(const Model::Content& content);

}  // namespace accrue
