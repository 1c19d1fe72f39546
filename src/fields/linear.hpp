// Linear in the inputs, and least squares for it: corrections of a prediction.
#pragma once

#include "fields/field.hpp"

namespace accrue::fields {

// parameters[0] + sum_k parameters[k + 1] * number_k + the effects of the row's levels: those of every category follow,
// without the common level, whose effect is 0.
class Linear final : public Field {
public:
    explicit Linear(std::span<const Range> ranges);  // categories first

    std::string_view name() const override { return "linear"; }
    std::size_t parameters() const override { return 1 + numbers_ + effects_; }
    std::vector<double> start(core::Random&, std::span<const double> levels) const override {
        std::vector<double> parameters(this->parameters(), 0.0);
        parameters[0] = levels[0];
        return parameters;
    }
    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override;

    std::span<const std::size_t> levels() const { return levels_; }  // of every category
    std::size_t numbers() const { return numbers_; }

private:
    std::vector<std::size_t> levels_;
    std::size_t numbers_;
    std::size_t effects_ = 0;
};

// The corrections that there are: none, constant, linear.
std::vector<std::string> correction_names();

// The field of a correction by these columns, which are those of the inputs and then the prediction, where there is
// one. Null for none; throws InputError for an unknown name.
std::shared_ptr<const Field> correction_field(std::string_view name, std::span<const Range> columns);

// Least squares of the errors, over the rows for which `used` is true, by a field of correction_field; a null one stays
// null. Directions that the rows do not determine get no slope. The effect of a category's level is the mean of what is
// left of its rows' errors, shrunk towards 0 as the variance within and between levels has it.
Fitted fit_correction(std::shared_ptr<const Field> field, const Columns& x, std::span<const double> errors,
                      std::span<const double> weights, const std::vector<bool>& used);

// Takes the corrections of rows [begin, end) from errors[i - begin].
void correct(const Fitted& correction, const Columns& x, std::size_t begin, std::size_t end, double* errors);

}  // namespace accrue::fields
