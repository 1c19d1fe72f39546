// Two hidden layers, 50 ReLU units and 10 symmetric saturating linear units (clipped to [-1, 1]); linear outputs.
#pragma once

#include "fields/kinds.hpp"

namespace accrue::fields {

class Network final : public Field {
public:
    static constexpr std::size_t kFirst = 50;
    static constexpr std::size_t kSecond = 10;

    // Passes in single precision are twice as fast: values are then right to about 1e-6; sums over the rows of a
    // call are kept in single precision, sums over calls in double.
    enum class Precision { full, single };

    explicit Network(std::size_t inputs, std::size_t outputs = 1, Precision precision = Precision::full)
        : inputs_(inputs), outputs_(outputs), precision_(precision) {}

    std::string_view name() const override { return "network"; }
    std::size_t outputs() const override { return outputs_; }
    std::size_t parameters() const override {
        return kFirst * (inputs_ + 1) + kSecond * (kFirst + 1) + outputs_ * (kSecond + 1);
    }
    std::vector<double> start(core::Random& random, std::span<const double> levels) const override;
    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override;

    // The same, and the slopes by the inputs [first, inputs): of row i by input k at values[(k - first)*stride + i -
    // begin].
    struct InputSlopes {
        std::size_t first;
        double* values;
        std::size_t stride;
    };
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient, const InputSlopes& by_inputs) const;

    bool raise(std::span<double> parameters, std::size_t output, double amount) const override {
        parameters[this->parameters() - outputs_ + output] += amount;  // the outputs' biases come last
        return true;
    }
    std::shared_ptr<const Field> rough() const override {
        return std::make_shared<Network>(inputs_, outputs_, Precision::single);
    }

private:
    std::size_t inputs_;
    std::size_t outputs_;
    Precision precision_;
};

class NetworkKind final : public Kind {
public:
    std::string_view name() const override { return "network"; }
    std::string_view help() const override { return "50 and 10 hidden units"; }
    bool gives_any_outputs() const override { return true; }
    bool random_starts() const override { return true; }
    bool takes_categories() const override { return true; }
    std::shared_ptr<const Field> make(std::span<const Range> ranges, std::size_t outputs,
                                      std::size_t size) const override;
};

}  // namespace accrue::fields
