// A mean: inputs - 50 tanh units - 1 linear output, trained on squared error.
#pragma once

#include "fields/kinds.hpp"

namespace accrue::fields {

// Parameters as tanh_rows.hpp orders them.
class TanhNetwork final : public Field {
public:
    explicit TanhNetwork(std::size_t inputs) : inputs_(inputs) {}

    std::string_view name() const override { return "network"; }
    std::size_t parameters() const override;
    std::vector<double> start(core::Random& random, std::span<const double> levels) const override;
    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override;

private:
    std::size_t inputs_;
};

// The paper leaves open how its mean was trained; these are our choices, to be printed with every table.
struct TanhNetworkOptions {
    int patience = 60;  // iterations without a better validation error
    int max_iterations = 1500;
};

// L-BFGS from a random start on the training rows; the parameters of the best error on the validation rows are kept.
// Throws InputError when either set of rows weighs nothing.
Fitted train_network(const Targets& targets, std::span<const std::size_t> training,
                     std::span<const std::size_t> validation, core::Random& random,
                     const TanhNetworkOptions& options = {}, const Report& report = {});

class TanhNetworkKind final : public MeanKind {
public:
    std::string_view name() const override { return "network"; }
    std::string_view help() const override { return "networks of 50 hidden units"; }
    std::size_t rounds() const override { return 3; }
    std::size_t rows_to_share_threads() const override { return 200'000; }
    Fitted fit(const Targets& targets, std::span<const std::size_t> training, std::span<const std::size_t> validation,
               core::Random& random, const Report& report) const override {
        return train_network(targets, training, validation, random, {}, report);
    }
    std::vector<Fitted> finished(const Targets&, std::vector<Fitted>, std::vector<Fitted> of_all, core::Random&,
                                 const Report&) const override {
        return of_all;
    }
    Fitted from_json(const nlohmann::ordered_json& json, std::size_t inputs) const override;
};

}  // namespace accrue::fields
