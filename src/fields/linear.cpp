#include "fields/linear.hpp"

#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "fields/constant.hpp"

namespace accrue::fields {

namespace {

constexpr double kThreshold = 1e-10;  // of the largest; directions below are dropped

// The system has as many unknowns as rows or columns, whichever are fewer.
void require_room(std::size_t unknowns, std::size_t regressors) {
    constexpr std::size_t kCopies = 3;  // the matrix, its decomposition, and what that works in
    const double bytes = static_cast<double>(kCopies * sizeof(double)) * std::pow(static_cast<double>(unknowns), 2);
    core::require(bytes < static_cast<double>(core::available_memory()),
                  "a linear bias correction by {} columns needs {:.1f} GB, more than there is; use fewer inputs, or {}",
                  regressors, bytes / 1e9, core::option("bias", "constant"));
}

// More columns than rows. Of all solutions the one with the smallest coefficients, as in the other case: with the rows
// of A times the roots of their weights, it is A' (A A')^-1 e.
std::vector<double> fit_wide(const Columns& x, std::span<const double> errors, std::span<const double> weights,
                             const std::vector<bool>& used, std::size_t rows) {
    const auto size = static_cast<Eigen::Index>(rows);
    Eigen::VectorXd roots(size);
    Eigen::VectorXd target(size);
    std::vector<std::size_t> places;
    places.reserve(rows);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (!used[i]) continue;
        const auto at = static_cast<Eigen::Index>(places.size());
        roots[at] = std::sqrt(weights.empty() ? 1 : weights[i]);
        target[at] = roots[at] * errors[i];
        places.push_back(i);
    }
    constexpr Eigen::Index kBlock = 64;  // columns at a time
    const auto count = static_cast<Eigen::Index>(x.inputs + 1);
    Eigen::MatrixXd block(size, kBlock);
    const auto fill = [&](Eigen::Index first, Eigen::Index columns) {
        for (Eigen::Index c = 0; c < columns; ++c)
            for (Eigen::Index r = 0; r < size; ++r) {
                const auto k = static_cast<std::size_t>(first + c);
                block(r, c) =
                    roots[r] * (k == 0 ? 1 : x.data[(k - 1) * x.stride + places[static_cast<std::size_t>(r)]]);
            }
    };
    Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
    for (Eigen::Index first = 0; first < count; first += kBlock) {
        const Eigen::Index columns = std::min(kBlock, count - first);
        fill(first, columns);
        products.noalias() += block.leftCols(columns) * block.leftCols(columns).transpose();
    }
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition(size, size);
    decomposition.setThreshold(kThreshold);
    decomposition.compute(products);
    const Eigen::VectorXd multipliers = decomposition.solve(target);
    std::vector<double> coefficients;
    for (Eigen::Index first = 0; first < count; first += kBlock) {
        const Eigen::Index columns = std::min(kBlock, count - first);
        fill(first, columns);
        const Eigen::VectorXd some = block.leftCols(columns).transpose() * multipliers;
        coefficients.insert(coefficients.end(), some.data(), some.data() + columns);
    }
    return coefficients;
}

}  // namespace

Linear::Linear(std::span<const Range> ranges) : numbers_(ranges.size() - category_count(ranges)) {
    for (const Range& range : ranges.first(ranges.size() - numbers_)) {
        levels_.push_back(range.levels);
        effects_ += range.levels - 1;
    }
}

void Linear::values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                    double* out, std::size_t) const {
    std::fill_n(out, end - begin, parameters[0]);
    for (std::size_t k = 0; k < numbers_; ++k) {
        const double* column = x.data + (levels_.size() + k) * x.stride + begin;
        for (std::size_t i = 0; i < end - begin; ++i) out[i] += parameters[k + 1] * column[i];
    }
    const double* effects = parameters.data() + 1 + numbers_;
    for (std::size_t c = 0; c < levels_.size(); ++c) {
        const double* column = x.data + c * x.stride + begin;
        for (std::size_t i = 0; i < end - begin; ++i)
            if (const std::size_t level = level_of(column[i], levels_[c]); level > 0) out[i] += effects[level - 1];
        effects += levels_[c] - 1;
    }
}

void Linear::add_gradient(std::span<const double>, const Columns& x, std::size_t begin, std::size_t end,
                          const double* slopes, std::size_t, double* gradient) const {
    for (std::size_t i = 0; i < end - begin; ++i) gradient[0] += slopes[i];
    for (std::size_t k = 0; k < numbers_; ++k)
        for (std::size_t i = 0; i < end - begin; ++i)
            gradient[k + 1] += slopes[i] * x.data[(levels_.size() + k) * x.stride + begin + i];
    double* effects = gradient + 1 + numbers_;
    for (std::size_t c = 0; c < levels_.size(); ++c) {
        for (std::size_t i = 0; i < end - begin; ++i)
            if (const std::size_t level = level_of(x.data[c * x.stride + begin + i], levels_[c]); level > 0)
                effects[level - 1] += slopes[i];
        effects += levels_[c] - 1;
    }
}

std::vector<std::string> correction_names() {
    return {"none", "constant", "linear"};
}

std::shared_ptr<const Field> correction_field(std::string_view name, std::span<const Range> columns) {
    if (name == "none") return nullptr;
    if (name == "constant") return std::make_shared<Constant>();
    if (name == "linear") return std::make_shared<Linear>(columns);
    core::refuse("there is no bias correction '{}'; known are {}", name, fmt::join(correction_names(), ", "));
}

namespace {

// Constant and slopes of the numbers.
std::vector<double> fit_numbers(const Columns& x, std::span<const double> errors, std::span<const double> weights,
                                const std::vector<bool>& used, std::size_t rows) {
    const std::size_t unknowns = x.inputs + 1;
    if (unknowns > 1) require_room(std::min(rows, unknowns), x.inputs);
    if (rows < unknowns) return fit_wide(x, errors, weights, used, rows);
    const auto size = static_cast<Eigen::Index>(unknowns);
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(size, size);
    Eigen::VectorXd products = Eigen::VectorXd::Zero(size);
    Eigen::VectorXd row(size);
    row[0] = 1;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (!used[i]) continue;
        for (Eigen::Index k = 1; k < size; ++k) row[k] = x.data[static_cast<std::size_t>(k - 1) * x.stride + i];
        const double weight = weights.empty() ? 1 : weights[i];
        squares.noalias() += weight * row * row.transpose();
        products.noalias() += weight * errors[i] * row;
    }
    // The decomposition drops directions below its threshold: constant or repeated columns do no harm.
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition(size, size);
    decomposition.setThreshold(kThreshold);
    decomposition.compute(squares);
    const Eigen::VectorXd solution = decomposition.solve(products);
    return {solution.data(), solution.data() + size};
}

// The effects of one category's levels on what is left of the errors: means, shrunk by n/(n + within/between), where
// the variances are those of a one-way analysis by moments.
std::vector<double> fit_effects(const double* codes, std::size_t levels, std::span<const double> errors,
                                std::span<const double> weights, const std::vector<bool>& used) {
    std::vector<double> total(levels), sum(levels), square_weights(levels);
    double all = 0;
    double all_sum = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (!used[i]) continue;
        const std::size_t level = level_of(codes[i], levels);
        const double weight = weights.empty() ? 1 : weights[i];
        total[level] += weight;
        sum[level] += weight * errors[i];
        square_weights[level] += weight * weight;
        all += weight;
        all_sum += weight * errors[i];
    }
    std::vector<double> effects(levels - 1, 0.0);
    if (!(all > 0)) return effects;
    const double mean = all_sum / all;
    double within = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (!used[i]) continue;
        const std::size_t level = level_of(codes[i], levels);
        if (!(total[level] > 0)) continue;
        const double weight = weights.empty() ? 1 : weights[i];
        within += weight * std::pow(errors[i] - sum[level] / total[level], 2);
    }
    double between = 0;
    double squares = 0;
    double groups = 0;
    double rows = 0;  // as many as the weights are worth
    for (std::size_t level = 0; level < levels; ++level) {
        if (!(total[level] > 0)) continue;
        ++groups;
        rows += total[level] * total[level] / square_weights[level];
        between += total[level] * std::pow(sum[level] / total[level] - mean, 2);
        squares += total[level] * total[level];
    }
    const double unit = all / rows;  // weight of a row
    if (!(rows > groups) || groups < 2) return effects;
    const double within_variance = within / unit / (rows - groups);
    const double between_variance = (between / unit - (groups - 1) * within_variance) / ((all - squares / all) / unit);
    if (!(between_variance > 0)) return effects;
    const double shrink = within_variance / between_variance;
    for (std::size_t level = 1; level < levels; ++level)
        if (total[level] > 0) {
            const double n = total[level] / unit;
            effects[level - 1] = n / (n + shrink) * (sum[level] / total[level] - mean);
        }
    return effects;
}

}  // namespace

Fitted fit_correction(std::shared_ptr<const Field> field, const Columns& x, std::span<const double> errors,
                      std::span<const double> weights, const std::vector<bool>& used) {
    if (!field) return {};
    const auto rows = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
    if (rows == 0) return {field, std::vector<double>(field->parameters(), 0.0)};
    const auto* linear = dynamic_cast<const Linear*>(field.get());
    const std::size_t categories = linear == nullptr ? 0 : linear->levels().size();
    const Columns numbers{x.data + categories * x.stride, x.stride, linear == nullptr ? 0 : linear->numbers()};
    std::vector<double> parameters = fit_numbers(numbers, errors, weights, used, rows);
    if (categories == 0) return {std::move(field), std::move(parameters)};
    // Numbers and categories in turn, each fitted to what the others leave.
    constexpr int kRounds = 5;
    Fitted fitted{field, std::move(parameters)};
    fitted.parameters.resize(field->parameters(), 0.0);
    std::vector<double> left(errors.size());
    for (int round = 0; round < kRounds; ++round) {
        std::size_t at = 1 + numbers.inputs;
        for (std::size_t c = 0; c < categories; ++c) {
            const std::size_t count = linear->levels()[c] - 1;
            std::fill_n(fitted.parameters.begin() + static_cast<std::ptrdiff_t>(at), count, 0.0);
            std::copy(errors.begin(), errors.end(), left.begin());
            correct(fitted, x, 0, errors.size(), left.data());
            const auto effects = fit_effects(x.data + c * x.stride, count + 1, left, weights, used);
            std::copy(effects.begin(), effects.end(), fitted.parameters.begin() + static_cast<std::ptrdiff_t>(at));
            at += count;
        }
        std::fill_n(fitted.parameters.begin(), 1 + numbers.inputs, 0.0);
        std::copy(errors.begin(), errors.end(), left.begin());
        correct(fitted, x, 0, errors.size(), left.data());
        const std::vector<double> own = fit_numbers(numbers, left, weights, used, rows);
        std::copy(own.begin(), own.end(), fitted.parameters.begin());
    }
    return fitted;
}

void correct(const Fitted& correction, const Columns& x, std::size_t begin, std::size_t end, double* errors) {
    if (!correction.field) return;
    std::vector<double> own(end - begin);
    correction.values(x, begin, end, own.data());
    for (std::size_t i = 0; i < own.size(); ++i) errors[i] -= own[i];
}

}  // namespace accrue::fields
