// Which inputs drive a fitted model.
#pragma once

#include "accrue/fit.hpp"

namespace accrue::fitting {

// The values of an archive's inputs as the model takes them: its categories have the places of its own labels.
class ModelInputs {
public:
    ModelInputs(const Model& model, const Archive& archive);
    std::span<const std::span<const double>> all() const { return inputs_; }

private:
    std::vector<std::vector<double>> codes_;
    std::vector<std::span<const double>> inputs_;
};

// Whether an archive has the inputs of a model, in their order.
bool has_inputs_of(const Archive& archive, const Model& model);

// What a model takes for the group of every row (Model::inputs); empty where no group has a recalibration of its own.
// Throws InputError where the archive has no groups.
std::vector<double> map_numbers(const Model& model, const Archive& archive);

// By permuting each input among rows of the archive, at most a few thousand of them.
std::vector<InputImportance> input_importance(const Model& model, const Archive& archive, std::uint64_t seed);

}  // namespace accrue::fitting
