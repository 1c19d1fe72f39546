// Gaussian-process regression: zero mean, squared-exponential kernel, the same noise everywhere.
//
//   k(x, x') = signal^2 exp( -1/2 sum_k (x_k - x'_k)^2 / length_k^2 ),   y = f(x) + noise,   noise ~ N(0, noise^2/w)
//
// w being the row's weight over the mean weight, so that, but for that scale, a whole weight is a repeated row.
#pragma once

#include "core/buffer.hpp"
#include "core/random.hpp"
#include "mean/regression.hpp"

namespace accrue::mean {

// Rows that a Gaussian process takes: its memory grows with their square, its time with their cube.
inline constexpr std::size_t kMostProcessRows = 5000;
void require_process_rows(std::size_t rows);  // throws InputError when there are none or more than these

// Logs of: the lengths, one an input (or a single one for all); signal; noise.
using LogHyperparameters = std::vector<double>;

// In standardised units nothing sensible lies outside -9..9; inside, all numbers stay far from overflow.
bool inside_bounds(std::span<const double> logs);

// Minus the log marginal likelihood, a row, and its gradient by the logs. Memory is a matrix of rows x rows. Not thread
// safe: each task has its own; inside, columns run in parallel and sums keep their order.
class MarginalLikelihood {
public:
    // Rows whose weight is zero are not there. Throws InputError when no row is left, or more than kMostProcessRows.
    MarginalLikelihood(const Targets& targets, std::span<const std::size_t> rows);

    // False outside wide bounds, and where the kernel's matrix has no Cholesky factor even with some jitter. The
    // gradient may be empty.
    bool operator()(std::span<const double> logs, double& value, std::span<double> gradient);

    // alpha = K^-1 y of the last call that returned true: the posterior mean is sum_j alpha_j k(x, x_j).
    std::span<const double> alpha() const { return alpha_; }
    const std::vector<double>& points() const { return points_; }  // the rows' inputs, column after column
    std::size_t rows() const { return y_.size(); }

private:
    void fill_kernel(double signal2, double noise2, double jitter);
    bool factorise(double signal2, double noise2);
    void add_gradient(std::span<const double> logs, double signal2, double noise2, std::span<double> gradient) const;

    std::size_t inputs_;
    std::vector<double> points_;
    std::vector<double> scaled_;  // points over lengths
    std::vector<double> y_;
    std::vector<double> noise_factors_;  // mean weight over the row's weight
    core::Buffer<double> matrix_;        // lower triangle: the kernel, then its Cholesky factor
    std::vector<double> alpha_;
};

// The posterior mean. It needs the inputs of all rows that it was fitted on, so its JSON carries them, standardised,
// and alpha: the inputs of the archive, but none of its observations. Where that must not be, use the network.
class GaussianProcess final : public Regression {
public:
    // `points` column after column, as many as alpha has numbers.
    GaussianProcess(LogHyperparameters logs, std::vector<double> points, std::vector<double> alpha);

    std::string_view kind() const override { return "gp"; }
    void predict(const Columns& x, std::size_t begin, std::size_t end, double* out) const override;
    nlohmann::ordered_json json() const override;
    const LogHyperparameters& log_hyperparameters() const { return logs_; }

private:
    LogHyperparameters logs_;
    std::vector<double> points_;
    std::vector<double> alpha_;
    std::size_t inputs_;
    std::vector<double> scales_;  // 1/length, an input
};

struct ProcessOptions {
    bool length_for_each_input = true;
    std::size_t starts = 5;
    // With more rows, starts are tried on so many of them, drawn at random, and only the best goes on with all.
    std::size_t rows_for_starts = 1000;
    std::vector<LogHyperparameters> from;  // where to start; empty: a plain start and random ones
};

// Maximises the marginal likelihood from several starts. Throws as MarginalLikelihood does.
std::shared_ptr<const GaussianProcess> fit_gaussian_process(const Targets& targets, std::span<const std::size_t> rows,
                                                            core::Random& random, const ProcessOptions& options = {},
                                                            const Report& report = {});

std::shared_ptr<const GaussianProcess> gaussian_process_from_json(const nlohmann::ordered_json& json,
                                                                  std::size_t inputs);

}  // namespace accrue::mean
