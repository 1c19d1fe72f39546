// Scores of Gaussian forecasts N(mu, sigma^2), from the errors e = y - mu and the spreads sigma > 0.
//
// Notation: z = e/sigma, t = z/sqrt(2). Equation names in brackets are those of docs/notation.md.
// Weights may be left out (an empty span: every row counts the same); otherwise they are non-negative with a positive
// sum, and only their ratios matter. A gradient span may be left out; otherwise it has a place for every row and
// receives the derivative of the returned value with respect to that row's sigma.
// All spans of one call have the same length, at least 1. Sums are taken in a fixed order: the result does not depend
// on the number of threads. Throws InputError when a length differs or a sigma is not positive.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace accrue {

struct ValueAndSlope {
    double value;
    double slope;  // derivative with respect to sigma
};

// [CRPS] continuous ranked probability score of one row, in the unit of e:
//   sigma*( z*erf(t) + sqrt(2/pi)*exp(-t^2) - 1/sqrt(pi) ).
// crps(0, 1) = 0.23369497725510905. For sigma -> 0 it is |e|, which is what sigma = 0 returns.
ValueAndSlope crps(double error, double sigma) noexcept;

// [NLPD] negative log predictive density of one row: log(sigma) + z^2/2 + log(2 pi)/2.
// nlpd(0, 1) = 0.91893853320467274.
ValueAndSlope nlpd(double error, double sigma) noexcept;

// The same for every row. Either output may be empty.
void crps_rows(std::span<const double> errors, std::span<const double> sigmas, std::span<double> values,
               std::span<double> slopes = {});
void nlpd_rows(std::span<const double> errors, std::span<const double> sigmas, std::span<double> values,
               std::span<double> slopes = {});

// Weighted means over the rows.
double mean_crps(std::span<const double> errors, std::span<const double> sigmas, std::span<const double> weights = {},
                 std::span<double> gradient = {});
double mean_nlpd(std::span<const double> errors, std::span<const double> sigmas, std::span<const double> weights = {},
                 std::span<double> gradient = {});

// Memory for the scores that rank rows. Handed in, it is reused: calls with as many rows or fewer allocate nothing,
// except that a thread's room for sorting may grow where many more t than before lie close together.
class ScoreWorkspace {
public:
    ScoreWorkspace();
    ~ScoreWorkspace();
    ScoreWorkspace(ScoreWorkspace&&) noexcept;
    ScoreWorkspace& operator=(ScoreWorkspace&&) noexcept;

    struct Buffers;
    Buffers& buffers() { return *buffers_; }

private:
    std::unique_ptr<Buffers> buffers_;
};

// sqrt(2/pi)/2, the constant at the end of [RS].
inline constexpr double kReliabilityConstant = 0.39894228040143267794;

// [RS] the integral over t of (ideal cdf - empirical cdf)^2: 0 for a perfectly flat PIT, reliability_floor(N) on
// average for a calibrated forecast of N rows. Rows with equal t share their mean rank, so the gradient does not depend
// on the order of the rows; it is exact wherever no two t are equal. Without its constant: add kReliabilityConstant.
double reliability_score(std::span<const double> errors, std::span<const double> sigmas,
                         std::span<const double> weights = {}, std::span<double> gradient = {},
                         ScoreWorkspace* workspace = nullptr);

// How the rows' ranks are found: by a sort, or by counting them in 16,384 cells of t, which takes a
// third of the time. Counted, the value differs by less than 1e-6 of itself (1e-5 where errors with tails like Cauchy's
// meet a sigma that is far too small), and the gradient by as little once it is summed over many rows. Where one cell
// holds more than a thousandth of the weight (many equal errors), rows are sorted all the same.
enum class Ranks { exact, counted };

// [RS] of forecasts of any family, from the normal scores of their PITs; slopes are derivatives by these.
double reliability_of_scores(std::span<const double> scores, std::span<const double> weights = {},
                             std::span<double> slopes = {}, ScoreWorkspace* workspace = nullptr,
                             Ranks ranks = Ranks::exact);

// What the gradient is taken with respect to.
enum class Variable { sigma, log_sigma };

struct AccuracyReliability {
    double value;  // beta*crps + (1 - beta)*rs
    double crps;   // mean
    double rs;     // with its constant
};

// [AR] the accuracy-reliability cost.
AccuracyReliability accuracy_reliability(std::span<const double> errors, std::span<const double> sigmas, double beta,
                                         std::span<const double> weights = {}, std::span<double> gradient = {},
                                         ScoreWorkspace* workspace = nullptr, Variable variable = Variable::sigma,
                                         Ranks ranks = Ranks::exact);

// The number of equally weighted rows that carry as much information: (sum w)^2 / sum w^2; N without weights.
double effective_rows(std::size_t rows, std::span<const double> weights = {});

// E[rs] of a calibrated forecast: sqrt(2/pi)/2/N, with effective rows for N.
double reliability_floor(double rows);

// [RSmin] the smallest rs that N rows can have (a little above zero: 0.28/N^2 to 0.56/N^2, docs/notation.md); N is
// rounded to a whole number.
double reliability_minimum(double rows);

// [BETA] erf(sqrt(log 4)/2)*mean|e|: mean CRPS when every sigma is the best for its own row.
double crps_minimum(std::span<const double> errors, std::span<const double> weights = {});

// [BETA] the beta that gives accuracy and reliability equal weight relative to their minima:
// RSmin'/(CRPSmin + RSmin'), RSmin' being RSmin without its constant, about 0.4. In (0, 1].
double balanced_beta(std::span<const double> errors, std::span<const double> weights = {});

// The constant sigma of least mean CRPS; 0 when that is the limit (at least 71% of the errors are exactly zero).
double best_constant_sigma(std::span<const double> errors, std::span<const double> weights = {});

// Plain scalar versions on std::erf, std::exp and std::sort: slow, short, and what the tests and benchmarks compare
// with.
namespace reference {
ValueAndSlope crps(double error, double sigma);
ValueAndSlope nlpd(double error, double sigma);
AccuracyReliability accuracy_reliability(std::span<const double> errors, std::span<const double> sigmas, double beta,
                                         std::span<const double> weights = {}, std::span<double> gradient = {});
}  // namespace reference

}  // namespace accrue
