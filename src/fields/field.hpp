// The contract of a field: a parametric function of the inputs with P outputs.
#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/columns.hpp"
#include "core/random.hpp"

namespace accrue::fields {

using core::Columns;

// log sigma is kept in this range, in units of the errors' scale: exp stays far from overflow and from zero.
inline constexpr double kLowestLogSigma = -14;
inline constexpr double kHighestLogSigma = 8;

// Inputs and outputs are standardised; the caller scales. A field holds its structure only; parameters come with each
// call, so one field serves all starts and folds. Thread safe.
class Field {
public:
    virtual ~Field() = default;

    virtual std::string_view name() const = 0;
    virtual std::size_t outputs() const { return 1; }
    virtual std::size_t parameters() const = 0;

    // A random start whose outputs lie about these levels, one for each output.
    virtual std::vector<double> start(core::Random& random, std::span<const double> levels) const = 0;

    // Fields may refuse parameters (a polynomial that is not positive): such a step is no step.
    virtual bool admissible(std::span<const double> /*parameters*/) const { return true; }

    // out[p*stride + i - begin] = output p of row i, for begin <= i < end: the same bits for a row wherever it lies.
    virtual void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                        double* out, std::size_t stride) const = 0;

    // Adds to gradient[q] the sum over rows and outputs of slopes[p*stride + i - begin] * d output_p / d parameter q.
    virtual void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                              const double* slopes, std::size_t stride, double* gradient) const = 0;

    // What training adds to the sum of its rows' costs, in units of a row's cost, so that parameters with few rows
    // behind them stay small. Adds its slopes to the gradient, unless that is empty.
    virtual double penalty(std::span<const double> /*parameters*/, std::span<double> /*gradient*/) const { return 0; }

    // Parameters whose output p is higher by `amount` everywhere. False where the field has none.
    virtual bool raise(std::span<double> /*parameters*/, std::size_t /*output*/, double /*amount*/) const {
        return false;
    }

    // The same field, computed faster and not to the last digits, for descents on many rows; null where there is none.
    virtual std::shared_ptr<const Field> rough() const { return nullptr; }

    // What a model file holds of it: its kind and parameters, and its structure where those do not tell.
    virtual nlohmann::ordered_json json(std::span<const double> parameters) const;
};

// A field with the parameters that a fit gave it.
struct Fitted {
    std::shared_ptr<const Field> field;
    std::vector<double> parameters;
    double weight = 1;  // in an average

    // Of a field with one output.
    void values(const Columns& x, std::size_t begin, std::size_t end, double* out) const {
        field->values(parameters, x, begin, end, out, 0);
    }
};

// What a column of inputs holds: numbers, with the smallest and the largest over all rows of the archive, standardised;
// or a category's levels, which are 0 (the common one: rare and unknown values) to levels - 1. Categories come before
// the numbers.
struct Range {
    double low;
    double high;
    std::size_t levels = 0;  // 0: numbers
};
std::size_t category_count(std::span<const Range> ranges);
// The level that a category's column has for a row; what is no level counts as the common one.
inline std::size_t level_of(double value, std::size_t levels) {
    return value > 0 && value < static_cast<double>(levels) ? static_cast<std::size_t>(value) : 0;
}

// Fields of one output each as one of several outputs: their parameters one after the other.
std::shared_ptr<const Field> stacked(std::vector<std::shared_ptr<const Field>> fields);

}  // namespace accrue::fields
