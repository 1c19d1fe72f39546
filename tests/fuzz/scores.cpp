// Scores of any doubles against their plain versions: what the rules allow is scored alike, what they forbid is
// refused.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/scores.hpp"
#include "accrue/threads.hpp"
#include "accrue/verify.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Mostly numbers of a common size, ties among them; sometimes an end of the doubles; sometimes any bits.
double any_number(Bytes& input) {
    constexpr std::array kEnds = {0.0,
                                  -0.0,
                                  1.0,
                                  kInfinity,
                                  -kInfinity,
                                  std::numeric_limits<double>::quiet_NaN(),
                                  std::numeric_limits<double>::max(),
                                  -std::numeric_limits<double>::max(),
                                  std::numeric_limits<double>::min(),
                                  std::numeric_limits<double>::denorm_min(),
                                  1e150,
                                  -1e150,
                                  1e-150,
                                  1e-300,
                                  6.5,
                                  37.5};
    const std::uint8_t kind = input.byte();
    if (kind < 192) return (kind - 96) / 16.0;
    if (kind < 224) return kEnds[kind % kEnds.size()];
    if (kind < 240) return std::ldexp(1 + input.byte() / 256.0, static_cast<int>(input.byte()) - 128);
    return input.number();
}

struct Rows {
    std::vector<double> errors, sigmas, weights;
    std::size_t size() const { return errors.size(); }
    double weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }
};

// Whether the documented rules allow these rows.
bool are_allowed(const Rows& rows) {
    const auto positive = [](double sigma) { return sigma > 0; };
    if (rows.errors.empty() || !std::all_of(rows.sigmas.begin(), rows.sigmas.end(), positive)) return false;
    if (rows.weights.empty()) return true;
    if (!std::all_of(rows.weights.begin(), rows.weights.end(), [](double w) { return w >= 0; })) return false;
    const double total = std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0);
    return total > 0 && std::isfinite(total);
}

// Whether neither side overflows or underflows on the way, so that both can be compared.
bool are_tame(const Rows& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double e = std::fabs(rows.errors[i]);
        const double s = rows.sigmas[i];
        const double w = rows.weight(i);
        if (!(e <= 1e100) || (e != 0 && e < 1e-100) || !(s >= 1e-100 && s <= 1e100) || e / s > 1e100) return false;
        if (w != 0 && !(w >= 1e-50 && w <= 1e50)) return false;
    }
    return true;
}

template <typename Action>
bool is_refused(Action&& action) {
    try {
        action();
        return false;
    } catch (const InputError&) {
        return true;
    }
}

void expect_near(double found, double expected, double tolerance, const char* what) {
    expect(same_bits(found, expected) || std::fabs(found - expected) <= tolerance, "{} is {}, not {} (tolerance {})",
           what, found, expected, tolerance);
}

void check_single(double error, double sigma) {
    const ValueAndSlope c = crps(error, sigma);
    const ValueAndSlope n = nlpd(error, sigma);
    if (!(sigma > 0) || !are_tame({{error}, {sigma}, {}})) return;
    const ValueAndSlope plain_c = reference::crps(error, sigma);
    const ValueAndSlope plain_n = reference::nlpd(error, sigma);
    const double z = std::fabs(error / sigma);
    // erf and exp are good to 2.5e-16, and t to 2 roundings, by which exp(-t^2) changes by t^2 exp(-t^2) times them.
    expect_near(c.value, plain_c.value, 16 * kEpsilon * (std::fabs(error) + sigma), "crps");
    expect_near(c.slope, plain_c.slope, 16 * kEpsilon, "slope of crps");
    expect_near(n.value, plain_n.value, 8 * kEpsilon * (std::fabs(std::log(sigma)) + z * z + 1), "nlpd");
    expect_near(n.slope, plain_n.slope, 8 * kEpsilon * (1 + z * z) / sigma, "slope of nlpd");
}

void check_means(const Rows& rows, const AccuracyReliability& plain, double tolerance) {
    std::vector<double> gradient(rows.size());
    const double mean = mean_crps(rows.errors, rows.sigmas, rows.weights, gradient);
    expect_near(mean, plain.crps, tolerance, "mean crps");
    std::vector<double> values(rows.size());
    std::vector<double> slopes(rows.size());
    crps_rows(rows.errors, rows.sigmas, values, slopes);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ValueAndSlope one = crps(rows.errors[i], rows.sigmas[i]);
        expect_near(values[i], one.value, 8 * kEpsilon * (std::fabs(rows.errors[i]) + rows.sigmas[i]), "crps of a row");
        expect_near(slopes[i], one.slope, 8 * kEpsilon, "slope of a row");
    }
    // No sigma does better than each row's own best.
    expect(mean >= crps_minimum(rows.errors, rows.weights) - tolerance, "mean crps {} is below its minimum {}", mean,
           crps_minimum(rows.errors, rows.weights));
    const double beta = balanced_beta(rows.errors, rows.weights);
    expect(beta > 0 && beta <= 1, "the balanced beta is {}", beta);
    if (const double best = best_constant_sigma(rows.errors, rows.weights); best > 0)
        for (const double factor : {0.5, 0.99, 1.01, 2.0}) {
            const std::vector<double> constant(rows.size(), best);
            const std::vector<double> other(rows.size(), best * factor);
            expect(mean_crps(rows.errors, constant, rows.weights) <=
                       mean_crps(rows.errors, other, rows.weights) * (1 + 1e-9) + tolerance,
                   "{} times the best constant sigma {} is better", factor, best);
        }
}

// Whether some t are equal or so close that rounding decides about their order: the gradient jumps there.
bool has_ties(const Rows& rows) {
    std::vector<double> t;
    for (std::size_t i = 0; i < rows.size(); ++i) t.push_back(rows.errors[i] / rows.sigmas[i]);
    std::sort(t.begin(), t.end());
    for (std::size_t i = 1; i < t.size(); ++i)
        if (t[i] - t[i - 1] <= 1e-14 * std::fabs(t[i])) return true;
    return false;
}

void check_against_reference(const Rows& rows, double beta) {
    const std::size_t n = rows.size();
    std::vector<double> plain_gradient(n);
    const AccuracyReliability plain =
        reference::accuracy_reliability(rows.errors, rows.sigmas, beta, rows.weights, plain_gradient);
    // The plain sums run from one end to the other: n roundings of the largest partial sum.
    double total = 0;
    double crps_size = 0;
    double rs_size = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = rows.weight(i);
        total += w;
        crps_size += w * (std::fabs(rows.errors[i]) + rows.sigmas[i]);
        rs_size += w * (2 * std::fabs(rows.errors[i]) / rows.sigmas[i] + 1);
    }
    const double roundings = (static_cast<double>(n) + 64) * kEpsilon;
    const double crps_tolerance = roundings * crps_size / total;
    const double rs_tolerance = roundings * rs_size / total;

    ScoreWorkspace workspace;
    std::vector<double> gradient(n);
    const AccuracyReliability found =
        accuracy_reliability(rows.errors, rows.sigmas, beta, rows.weights, gradient, &workspace);
    expect_near(found.crps, plain.crps, crps_tolerance, "crps of ar");
    expect_near(found.rs, plain.rs, rs_tolerance, "rs of ar");
    expect_near(found.value, plain.value, beta * crps_tolerance + (1 - beta) * rs_tolerance, "ar");
    expect_near(reliability_score(rows.errors, rows.sigmas, rows.weights), plain.rs, rs_tolerance, "rs");
    if (!has_ties(rows))
        for (std::size_t i = 0; i < n; ++i)
            expect_near(gradient[i], plain_gradient[i],
                        roundings * rows.weight(i) / total *
                            (beta + (1 - beta) * 2 * std::fabs(rows.errors[i]) / rows.sigmas[i] / rows.sigmas[i]),
                        "gradient of ar");
    check_means(rows, plain, crps_tolerance);

    // Kept memory, another variable, several threads: the same bits, or the same up to its factor.
    std::vector<double> again(n);
    const AccuracyReliability second =
        accuracy_reliability(rows.errors, rows.sigmas, beta, rows.weights, again, &workspace);
    expect(same_bits(second.value, found.value) && again == gradient, "a used workspace changes the score");
    with_threads(2, [&] {
        const AccuracyReliability two = accuracy_reliability(rows.errors, rows.sigmas, beta, rows.weights, again);
        expect(same_bits(two.value, found.value) && again == gradient, "two threads change the score");
    });
    accuracy_reliability(rows.errors, rows.sigmas, beta, rows.weights, again, &workspace, Variable::log_sigma);
    for (std::size_t i = 0; i < n; ++i)
        expect_near(again[i], gradient[i] * rows.sigmas[i],
                    roundings * rows.weight(i) / total *
                        (beta * rows.sigmas[i] + (1 - beta) * 2 * std::fabs(rows.errors[i]) / rows.sigmas[i]),
                    "gradient by log sigma");
    const AccuracyReliability counted = accuracy_reliability(rows.errors, rows.sigmas, beta, rows.weights, again,
                                                             &workspace, Variable::sigma, Ranks::counted);
    expect_near(counted.rs, found.rs, 1e-5 * rs_size / total, "counted rs");
}

void check_verification(const Rows& rows) {
    VerifyOptions options;
    options.diagram_points = 5;
    options.replicates = 4;
    Verification found;
    if (is_refused([&] { found = verify(rows.errors, rows.sigmas, rows.weights, {}, options); })) return;
    for (const double p : pit(rows.errors, rows.sigmas)) expect(!(p < 0) && !(p > 1), "a PIT is {}", p);
    for (const Coverage& coverage : found.coverage)
        expect(coverage.observed >= 0 && coverage.observed <= 1 + 1e-12, "a coverage is {}", coverage.observed);
    expect(!verdict(found).summary.empty(), "no verdict");
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input);
    // Now and then beyond a block of rows and a bucket of ranks, which takes a hundred times as long.
    constexpr std::array<std::size_t, 16> kRepeats = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 50};
    const std::size_t repeats = kRepeats[bytes.below(kRepeats.size())];
    const bool weighted = bytes.flag();
    const bool bare = bytes.flag();  // sigmas as they come; else made positive
    const double beta = bytes.byte() / 255.0;
    Rows rows;
    constexpr std::size_t kMax = 48;
    for (std::size_t i = 0; i < kMax && !bytes.empty(); ++i) {
        rows.errors.push_back(any_number(bytes));
        const double sigma = any_number(bytes);
        rows.sigmas.push_back(bare ? sigma : std::fabs(sigma));
        if (weighted) rows.weights.push_back(bare ? any_number(bytes) : std::fabs(any_number(bytes)));
        check_single(rows.errors.back(), rows.sigmas.back());
    }
    for (auto* column : {&rows.errors, &rows.sigmas, &rows.weights}) {
        const std::size_t once = column->size();
        for (std::size_t copy = 1; copy < repeats; ++copy)
            for (std::size_t i = 0; i < once; ++i) {
                // Not all the same: some ties, some rows apart.
                const double factor = copy % 3 == 0 ? 1 : 1 + static_cast<double>(copy) / 1024;
                column->push_back((*column)[i] * factor);
            }
    }

    const bool allowed = are_allowed(rows);
    std::vector<double> gradient(rows.size());
    const bool refused =
        is_refused([&] { accuracy_reliability(rows.errors, rows.sigmas, beta, rows.weights, gradient); });
    expect(allowed == !refused, "rows that are {} are {}", allowed ? "allowed" : "forbidden",
           refused ? "refused" : "scored");
    for (auto* mean : {&mean_crps, &mean_nlpd})
        expect(allowed == !is_refused([&] { (*mean)(rows.errors, rows.sigmas, rows.weights, gradient); }),
               "a mean score and ar do not agree on what is allowed");
    if (!allowed) return;
    if (are_tame(rows)) check_against_reference(rows, beta);
    check_verification(rows);
}

}  // namespace accrue::fuzz
