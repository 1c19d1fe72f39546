// The contract of a mean function: a fitted regression of the target on the inputs. Inputs and target are standardised;
// the caller scales.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/columns.hpp"

namespace accrue::mean {

using core::Columns;

// Never changes after it is made; thread safe.
class Regression {
public:
    virtual ~Regression() = default;

    virtual std::string_view kind() const = 0;

    // out[i - begin] = the prediction for row i, begin <= i < end. The same bits for a row wherever it lies.
    virtual void predict(const Columns& x, std::size_t begin, std::size_t end, double* out) const = 0;

    virtual nlohmann::ordered_json json() const = 0;
};

// The prediction for every row, in parallel.
std::vector<double> predict_all(const Regression& regression, const Columns& x, std::size_t rows);

// The plain average of others.
class Ensemble final : public Regression {
public:
    explicit Ensemble(std::vector<std::shared_ptr<const Regression>> members);

    std::string_view kind() const override { return "ensemble"; }
    void predict(const Columns& x, std::size_t begin, std::size_t end, double* out) const override;
    nlohmann::ordered_json json() const override;
    std::size_t size() const { return members_.size(); }

private:
    std::vector<std::shared_ptr<const Regression>> members_;
};

// What json() wrote, for so many inputs. Throws InputError when an entry is missing, of another shape, or not finite.
std::shared_ptr<const Regression> regression_from_json(const nlohmann::ordered_json& json, std::size_t inputs);

// Rows to learn from: a target for every row of x; weights (none negative) may be empty.
struct Targets {
    Columns x;
    std::span<const double> y;
    std::span<const double> weights;

    double weight(std::size_t row) const { return weights.empty() ? 1 : weights[row]; }
};

// After every step of a fit: its number and its error. False stops the fit, which then returns the best so far.
using Report = std::function<bool(int iteration, double error)>;

}  // namespace accrue::mean
