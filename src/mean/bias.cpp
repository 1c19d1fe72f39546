#include "mean/bias.hpp"

#include <Eigen/Dense>

#include "core/error.hpp"

namespace accrue::mean {

BiasKind bias_kind(std::string_view name) {
    if (name == "none") return BiasKind::none;
    if (name == "constant") return BiasKind::constant;
    if (name == "linear") return BiasKind::linear;
    core::refuse("there is no bias correction '{}'; known are none, constant, linear", name);
}

std::string to_string(BiasKind kind) {
    return kind == BiasKind::none ? "none" : kind == BiasKind::constant ? "constant" : "linear";
}

Bias fit_bias(BiasKind kind, Regressors regressors, std::span<const double> errors, std::span<const double> weights,
              const std::vector<bool>& used) {
    if (kind == BiasKind::none) return {};
    const auto size = static_cast<Eigen::Index>(kind == BiasKind::constant ? 1 : regressors.size() + 1);
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(size, size);
    Eigen::VectorXd products = Eigen::VectorXd::Zero(size);
    Eigen::VectorXd row(size);
    row[0] = 1;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (!used[i]) continue;
        for (Eigen::Index k = 1; k < size; ++k) row[k] = regressors[static_cast<std::size_t>(k - 1)][i];
        const double weight = weights.empty() ? 1 : weights[i];
        squares.noalias() += weight * row * row.transpose();
        products.noalias() += weight * errors[i] * row;
    }
    // The decomposition drops directions below its threshold: constant or repeated columns do no harm.
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition(size, size);
    decomposition.setThreshold(1e-10);
    decomposition.compute(squares);
    const Eigen::VectorXd solution = decomposition.solve(products);
    return {kind, std::vector<double>(solution.data(), solution.data() + size)};
}

double correction(const Bias& bias, Regressors regressors, std::size_t i) {
    if (bias.coefficients.empty()) return 0;
    double sum = bias.coefficients[0];
    for (std::size_t k = 1; k < bias.coefficients.size(); ++k) sum += bias.coefficients[k] * regressors[k - 1][i];
    return sum;
}

}  // namespace accrue::mean
