// Outputs that do not depend on the inputs: a parameter each.
#pragma once

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "fields/kinds.hpp"

namespace accrue::fields {

class Constant final : public Field {
public:
    explicit Constant(std::size_t outputs = 1) : outputs_(outputs) {}

    std::string_view name() const override { return "constant"; }
    std::size_t outputs() const override { return outputs_; }
    std::size_t parameters() const override { return outputs_; }
    std::vector<double> start(core::Random&, std::span<const double> levels) const override {
        return {levels.begin(), levels.end()};
    }
    void values(std::span<const double> parameters, const Columns&, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override {
        for (std::size_t p = 0; p < outputs_; ++p)
            for (std::size_t i = 0; i < end - begin; ++i) out[p * stride + i] = parameters[p];
    }
    void add_gradient(std::span<const double>, const Columns&, std::size_t begin, std::size_t end, const double* slopes,
                      std::size_t stride, double* gradient) const override {
        for (std::size_t p = 0; p < outputs_; ++p)
            for (std::size_t i = 0; i < end - begin; ++i) gradient[p] += slopes[p * stride + i];
    }

    bool raise(std::span<double> parameters, std::size_t output, double amount) const override {
        parameters[output] += amount;
        return true;
    }

private:
    std::size_t outputs_;
};

class ConstantKind final : public Kind {
public:
    std::string_view name() const override { return "constant"; }
    std::string_view help() const override { return "the same for all inputs"; }
    bool gives_any_outputs() const override { return true; }
    bool needs_inputs() const override { return false; }
    std::shared_ptr<const Field> make(std::span<const Range>, std::size_t outputs, std::size_t) const override {
        return std::make_shared<Constant>(outputs);
    }
};

// The average of the observations: where the location is learned with the scale, it is all that comes before.
class ConstantMeanKind final : public MeanKind {
public:
    std::string_view name() const override { return "constant"; }
    std::string_view help() const override { return "the average of the observations"; }
    std::size_t rounds() const override { return 1; }
    std::size_t rows_to_share_threads() const override { return std::numeric_limits<std::size_t>::max(); }
    bool stops_early() const override { return false; }
    bool depends_on_inputs() const override { return false; }
    Fitted fit(const Targets& targets, std::span<const std::size_t> training, std::span<const std::size_t>,
               core::Random&, const Report&) const override {
        double sum = 0;
        double total = 0;
        for (const std::size_t row : training) {
            sum += targets.weight(row) * targets.y[row];
            total += targets.weight(row);
        }
        core::require(total > 0, "a mean has no training row with a weight above zero");
        return {std::make_shared<Constant>(), {sum / total}};
    }
    // The folds are of nearly the same size, and so their average is that of all rows but for rounding.
    std::vector<Fitted> finished(const Targets&, std::vector<Fitted>, std::vector<Fitted> of_all, core::Random&,
                                 const Report&) const override {
        return of_all;
    }
    Fitted from_json(const nlohmann::ordered_json& json, std::size_t) const override {
        auto parameters = json.at("parameters").get<std::vector<double>>();
        core::require(parameters.size() == 1 && std::isfinite(parameters[0]),
                      "a constant mean must have one parameter, a finite number");
        return {std::make_shared<Constant>(), std::move(parameters)};
    }
};

}  // namespace accrue::fields
