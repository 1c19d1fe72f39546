// Gaussian-process regression: zero mean, squared-exponential kernel, the same noise everywhere.
//
//   k(x, x') = signal^2 exp( -1/2 sum_k (x_k - x'_k)^2 / length_k^2 ),   y = f(x) + noise,   noise ~ N(0, noise^2/w)
//
// w being the row's weight over the mean weight, so that, but for that scale, a whole weight is a repeated row.
#pragma once

#include "core/buffer.hpp"
#include "fields/kinds.hpp"

namespace accrue::fields {

// Rows that a Gaussian process takes: its memory grows with their square, its time with their cube.
inline constexpr std::size_t kMaxProcessRows = 5000;
void require_process_rows(std::size_t rows);  // throws InputError when there are none or more than these

// Logs of: the lengths, one an input (or a single one for all); signal; noise.
using LogHyperparameters = std::vector<double>;

// In standardised units nothing sensible lies outside -9..9; inside, all numbers stay far from overflow.
bool inside_bounds(std::span<const double> logs);

// Minus the log marginal likelihood, a row, and its gradient by the logs. Memory is a matrix of rows x rows. Not thread
// safe: each task has its own; inside, columns run in parallel and sums keep their order.
class MarginalLikelihood {
public:
    // Rows whose weight is zero are not there. Throws InputError when no row is left, or more than kMaxProcessRows.
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

// The posterior mean, sum_j alpha_j k(x, x_j): its parameters are the alpha. It needs the inputs of all rows that it
// was fitted on, so its JSON carries them, standardised: the inputs of the archive, but none of its observations. Where
// that must not be, use the network.
class GaussianProcess final : public Field {
public:
    // `points` column after column.
    GaussianProcess(std::size_t inputs, LogHyperparameters logs, std::vector<double> points);

    std::string_view name() const override { return "gp"; }
    std::size_t parameters() const override { return points_.size() / inputs_; }
    std::vector<double> start(core::Random&, std::span<const double>) const override {
        return std::vector<double>(parameters(), 0.0);  // the prior mean
    }
    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override;
    nlohmann::ordered_json json(std::span<const double> parameters) const override;
    const LogHyperparameters& log_hyperparameters() const { return logs_; }

private:
    // Calls work(first_row, rows, j, kernels) for some rows at a time and every point j.
    template <typename Work>
    void for_kernels(const Columns& x, std::size_t begin, std::size_t end, Work&& work) const;

    std::size_t inputs_;
    LogHyperparameters logs_;
    std::vector<double> points_;
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
Fitted fit_gaussian_process(const Targets& targets, std::span<const std::size_t> rows, core::Random& random,
                            const ProcessOptions& options = {}, const Report& report = {});

// There is one answer, so that one round is enough; it does not stop early.
class GaussianProcessKind final : public MeanKind {
public:
    std::string_view name() const override { return "gp"; }
    std::string_view help() const override { return "a Gaussian process (up to 5,000 rows)"; }
    std::size_t rounds() const override { return 1; }
    void require_rows(std::size_t rows) const override { require_process_rows(rows); }
    std::size_t max_rows_of_choice() const override { return 300; }
    std::size_t rows_to_share_threads() const override { return 2000; }
    bool stops_early() const override { return false; }
    bool refits() const override { return true; }
    Fitted fit(const Targets& targets, std::span<const std::size_t> training, std::span<const std::size_t>,
               core::Random& random, const Report& report) const override {
        return fit_gaussian_process(targets, training, random, {}, report);
    }
    std::vector<Fitted> finished(const Targets& targets, std::vector<Fitted> of_first_round, std::vector<Fitted> of_all,
                                 core::Random& random, const Report& report) const override;
    Fitted from_json(const nlohmann::ordered_json& json, std::size_t inputs) const override;
};

}  // namespace accrue::fields
