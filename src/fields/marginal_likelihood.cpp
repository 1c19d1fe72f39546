// The parts of a Gaussian process that grow with the square and the cube of the rows.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "core/exp.hpp"
#include "core/parallel.hpp"
#include "fields/gaussian_process.hpp"

namespace accrue::fields {

namespace {

constexpr std::size_t kColumns = 64;  // columns of the matrix a task

// Keeps the matrix regular when rows repeat and the noise goes to zero. As a variance, in units of the target's.
constexpr double kMinNoise2 = 1e-8;

// Aligned memory, because Eigen's sums depend on alignment.
Eigen::Map<Eigen::MatrixXd> as_matrix(core::Buffer<double>& memory, std::size_t n) {
    const auto size = static_cast<Eigen::Index>(n);
    return {memory.data(), size, size};
}
Eigen::Map<const Eigen::MatrixXd> as_matrix(const core::Buffer<double>& memory, std::size_t n) {
    const auto size = static_cast<Eigen::Index>(n);
    return {memory.data(), size, size};
}

// out[i] = exp(-1/2 |point_i - point_j|^2) for i in [begin, n), points being scaled.
void correlations(const std::vector<double>& scaled, std::size_t n, std::size_t inputs, std::size_t j,
                  std::size_t begin, double* __restrict out) {
    std::fill(out + begin, out + n, 0.0);
    for (std::size_t k = 0; k < inputs; ++k) {
        const double* column = scaled.data() + k * n;
        const double own = column[j];
        for (std::size_t i = begin; i < n; ++i) out[i] += (column[i] - own) * (column[i] - own);
    }
    for (std::size_t i = begin; i < n; ++i) {
        const double power = -0.5 * out[i];
        out[i] = core::vector_exp(power < -700.0 ? -700.0 : power);
    }
}

}  // namespace

MarginalLikelihood::MarginalLikelihood(const Targets& targets, std::span<const std::size_t> rows)
    : inputs_(targets.x.inputs) {
    std::vector<std::size_t> used;
    double total = 0;
    for (const std::size_t row : rows)
        if (targets.weight(row) > 0) {
            used.push_back(row);
            total += targets.weight(row);
        }
    const std::size_t n = used.size();
    require_process_rows(n);
    for (std::size_t k = 0; k < inputs_; ++k)
        for (const std::size_t row : used) points_.push_back(targets.x.data[k * targets.x.stride + row]);
    for (const std::size_t row : used) {
        y_.push_back(targets.y[row]);
        noise_factors_.push_back(total / static_cast<double>(n) / targets.weight(row));
    }
    scaled_.resize(points_.size());
    matrix_.reserve(n * n);
    alpha_.resize(n);
}

void MarginalLikelihood::fill_kernel(double signal2, double noise2, double jitter) {
    const std::size_t n = y_.size();
    core::for_blocks(n, kColumns, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t j = begin; j < end; ++j) {
            double* column = matrix_.data() + j * n;
            correlations(scaled_, n, inputs_, j, j, column);
            for (std::size_t i = j; i < n; ++i) column[i] *= signal2;
            column[j] += noise2 * noise_factors_[j] + kMinNoise2 + jitter;
        }
    });
}

bool MarginalLikelihood::factorise(double signal2, double noise2) {
    for (double jitter = 0; jitter < 1e-3; jitter = std::max(1e-9, 10 * jitter)) {
        fill_kernel(signal2, noise2, jitter * signal2);
        auto matrix = as_matrix(matrix_, y_.size());
        const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> decomposition(matrix);
        if (decomposition.info() == Eigen::Success) return true;
    }
    return false;
}

bool MarginalLikelihood::operator()(std::span<const double> logs, double& value, std::span<double> gradient) {
    if (!inside_bounds(logs)) return false;
    const std::size_t n = y_.size();
    const std::size_t lengths = logs.size() - 2;
    for (std::size_t k = 0; k < inputs_; ++k) {
        const double scale = std::exp(-logs[lengths == 1 ? 0 : k]);
        for (std::size_t i = 0; i < n; ++i) scaled_[k * n + i] = scale * points_[k * n + i];
    }
    const double signal2 = std::exp(2 * logs[lengths]);
    const double noise2 = std::exp(2 * logs[lengths + 1]);
    bool good = true;
    // Isolated: a thread that waits here must not begin another task, whose matrix would come on top.
    core::isolate([&] {
        good = factorise(signal2, noise2);
        if (!good) return;
        const auto factor = as_matrix(std::as_const(matrix_), n);
        const auto size = static_cast<Eigen::Index>(n);
        Eigen::VectorXd solution = Eigen::Map<const Eigen::VectorXd>(y_.data(), size);
        factor.triangularView<Eigen::Lower>().solveInPlace(solution);
        double sum = solution.squaredNorm() / 2;
        for (Eigen::Index i = 0; i < size; ++i) sum += std::log(factor(i, i));
        factor.transpose().triangularView<Eigen::Upper>().solveInPlace(solution);
        std::copy_n(solution.data(), n, alpha_.begin());
        value = sum / static_cast<double>(n) + std::log(2 * std::numbers::pi) / 2;
        good = std::isfinite(value);
        if (good && !gradient.empty()) add_gradient(logs, signal2, noise2, gradient);
    });
    return good;
}

// d/dp = 1/2 trace((K^-1 - alpha alpha^T) dK/dp). The inverse is made some columns at a time, below the diagonal, and
// used at once: it never exists as a whole.
void MarginalLikelihood::add_gradient(std::span<const double> logs, double signal2, double noise2,
                                      std::span<double> gradient) const {
    const std::size_t n = y_.size();
    const std::size_t lengths = logs.size() - 2;
    const auto factor = as_matrix(matrix_, n);
    std::vector<double> partial(core::block_count(n, kColumns) * logs.size(), 0.0);
    core::for_blocks(n, kColumns, [&](std::size_t block, std::size_t begin, std::size_t end) {
        const auto left = static_cast<Eigen::Index>(n - begin);
        Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(left, static_cast<Eigen::Index>(end - begin));
        const auto corner = factor.bottomRightCorner(left, left);
        corner.triangularView<Eigen::Lower>().solveInPlace(inverse);
        corner.transpose().triangularView<Eigen::Upper>().solveInPlace(inverse);
        double* sums = partial.data() + block * logs.size();
        std::vector<double> slopes(n);
        for (std::size_t j = begin; j < end; ++j) {
            const double* column = inverse.data() + (j - begin) * (n - begin);
            sums[lengths + 1] += (column[j - begin] - alpha_[j] * alpha_[j]) * noise2 * noise_factors_[j];
            // Each pair of rows stands for two entries of the matrix; the diagonal for one, where distances are zero.
            correlations(scaled_, n, inputs_, j, j, slopes.data());
            for (std::size_t i = j; i < n; ++i) slopes[i] *= signal2 * (column[i - begin] - alpha_[i] * alpha_[j]);
            double sum = slopes[j];
            for (std::size_t i = j + 1; i < n; ++i) sum += 2 * slopes[i];
            sums[lengths] += sum;
            for (std::size_t k = 0; k < inputs_; ++k) {
                const double* points = scaled_.data() + k * n;
                double squares = 0;
                for (std::size_t i = j + 1; i < n; ++i)
                    squares += slopes[i] * (points[i] - points[j]) * (points[i] - points[j]);
                sums[lengths == 1 ? 0 : k] += squares;
            }
        }
    });
    std::fill(gradient.begin(), gradient.end(), 0.0);
    for (std::size_t at = 0; at < partial.size(); ++at)
        gradient[at % logs.size()] += partial[at] / static_cast<double>(n);
}

// Rows are padded to whole blocks, so that every row is computed by the same instructions wherever it lies.
template <typename Work>
void GaussianProcess::for_kernels(const Columns& x, std::size_t begin, std::size_t end, Work&& work) const {
    constexpr std::size_t kRows = 64;
    const std::size_t n = parameters();
    std::vector<double> block(inputs_ * kRows);
    for (std::size_t at = begin; at < end; at += kRows) {
        const std::size_t rows = std::min(kRows, end - at);
        for (std::size_t k = 0; k < inputs_; ++k)
            for (std::size_t i = 0; i < kRows; ++i)
                block[k * kRows + i] = i < rows ? scales_[k] * x.data[k * x.stride + at + i] : 0;
        for (std::size_t j = 0; j < n; ++j) {
            double kernels[kRows] = {};
            for (std::size_t k = 0; k < inputs_; ++k) {
                const double own = scales_[k] * points_[k * n + j];
                const double* column = block.data() + k * kRows;
                for (std::size_t i = 0; i < kRows; ++i) kernels[i] += (column[i] - own) * (column[i] - own);
            }
            for (double& kernel : kernels) {
                const double power = -0.5 * kernel;
                kernel = core::vector_exp(power < -700.0 ? -700.0 : power);
            }
            work(at - begin, rows, j, kernels);
        }
    }
}

void GaussianProcess::values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                             double* out, std::size_t) const {
    const double signal2 = std::exp(2 * logs_[logs_.size() - 2]);
    std::fill_n(out, end - begin, 0.0);
    for_kernels(x, begin, end, [&](std::size_t at, std::size_t rows, std::size_t j, const double* kernels) {
        for (std::size_t i = 0; i < rows; ++i) out[at + i] += parameters[j] * kernels[i];
    });
    for (std::size_t i = 0; i < end - begin; ++i) out[i] *= signal2;
}

void GaussianProcess::add_gradient(std::span<const double>, const Columns& x, std::size_t begin, std::size_t end,
                                   const double* slopes, std::size_t, double* gradient) const {
    const double signal2 = std::exp(2 * logs_[logs_.size() - 2]);
    for_kernels(x, begin, end, [&](std::size_t at, std::size_t rows, std::size_t j, const double* kernels) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += slopes[at + i] * kernels[i];
        gradient[j] += signal2 * sum;
    });
}

}  // namespace accrue::fields
