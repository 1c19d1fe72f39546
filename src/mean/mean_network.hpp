// Regression by a small network: inputs - 50 tanh units - 1 linear output, trained on squared error.
#pragma once

#include "core/random.hpp"
#include "mean/regression.hpp"

namespace accrue::mean {

class MeanNetwork final : public Regression {
public:
    // Parameters as network_rows.hpp orders them.
    explicit MeanNetwork(std::vector<double> parameters) : parameters_(std::move(parameters)) {}

    std::string_view kind() const override { return "network"; }
    void predict(const Columns& x, std::size_t begin, std::size_t end, double* out) const override;
    nlohmann::ordered_json json() const override;
    std::span<const double> parameters() const { return parameters_; }

private:
    std::vector<double> parameters_;
};

// The paper leaves open how its mean was trained; these are our choices, to be printed with every table.
struct NetworkOptions {
    int patience = 60;  // iterations without a better validation error
    int most_iterations = 1500;
};

// L-BFGS from a random start on the training rows; the parameters of the best error on the validation rows are kept.
// Throws InputError when either set of rows weighs nothing.
std::shared_ptr<const MeanNetwork> train_network(const Targets& targets, std::span<const std::size_t> training,
                                                 std::span<const std::size_t> validation, core::Random& random,
                                                 const NetworkOptions& options = {}, const Report& report = {});

std::shared_ptr<const MeanNetwork> network_from_json(const nlohmann::ordered_json& json, std::size_t inputs);

}  // namespace accrue::mean
