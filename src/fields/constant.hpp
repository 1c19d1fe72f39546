// Outputs that do not depend on the inputs: a parameter each.
#pragma once

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

}  // namespace accrue::fields
