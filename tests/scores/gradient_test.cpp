// Every score's gradient against central differences, to the 1e-7 that the project promises.
#include "support/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "accrue/scores.hpp"
#include "support/samples.hpp"

namespace accrue {
namespace {

using support::DifferenceStep;
using support::expect_gradient;
using Numbers = std::span<const double>;

// A score over rows as a function of its sigmas.
struct RegisteredScore {
    std::string name;
    std::function<double(Numbers errors, Numbers sigmas, Numbers weights, std::span<double> gradient)> value;
};

const std::vector<RegisteredScore>& scores() {
    static const std::vector<RegisteredScore> all = {
        {"crps", [](auto e, auto s, auto w, auto g) { return mean_crps(e, s, w, g); }},
        {"nlpd", [](auto e, auto s, auto w, auto g) { return mean_nlpd(e, s, w, g); }},
        {"rs", [](auto e, auto s, auto w, auto g) { return reliability_score(e, s, w, g); }},
        {"ar", [](auto e, auto s, auto w, auto g) { return accuracy_reliability(e, s, 0.35, w, g).value; }},
        {"ar, beta 1", [](auto e, auto s, auto w, auto g) { return accuracy_reliability(e, s, 1, w, g).value; }},
        {"reference",
         [](auto e, auto s, auto w, auto g) { return reference::accuracy_reliability(e, s, 0.35, w, g).value; }},
    };
    return all;
}

struct Rows {
    std::string name;
    std::vector<double> errors;
    std::vector<double> sigmas;
};

// rs has a kink wherever two t change places, and differences taken across it are wrong. The z are therefore kept
// apart: 2% of |z| + 0.002, against steps of 2*1e-4 in log z.
std::vector<Rows> samples() {
    std::vector<Rows> all;
    const std::vector<double> z = support::normal_scores(40);
    for (const double excess : {0.5, 1.0, 3.0}) {
        core::Random random(51);
        Rows rows{"excess " + std::to_string(excess), {}, {}};
        for (const double place : z) {
            rows.sigmas.push_back(std::exp(0.5 * random.normal()));
            rows.errors.push_back(excess * (place + 0.011) * rows.sigmas.back());
        }
        all.push_back(rows);
    }
    // One, two and three rows, both signs, beyond the end of the table of erf, and no error at all.
    all.push_back({"one row", {0.7}, {1.3}});
    all.push_back({"two rows", {-0.7, 2.0}, {1.3, 0.9}});
    all.push_back({"three rows, one at 30 sigma", {0.3, -2.0, 30.0}, {1.3, 0.9, 1.0}});
    all.push_back({"a row without error", {0.0, -2.0, 0.4}, {1.3, 0.9, 1.1}});
    return all;
}

TEST(Gradient, OfEveryScoreAgreesWithCentralDifferences) {
    double worst = 0;
    for (const Rows& rows : samples())
        for (const bool weighted : {false, true})
            for (const RegisteredScore& score : scores()) {
                SCOPED_TRACE(score.name + ", " + rows.name + (weighted ? ", weighted" : ""));
                const std::size_t n = rows.errors.size();
                const std::vector<double> w = weighted ? support::random_weights(n, 52) : std::vector<double>();
                std::vector<double> gradient(n);
                const double value = score.value(rows.errors, rows.sigmas, w, gradient);
                const auto of_sigma = [&](Numbers sigmas) { return score.value(rows.errors, sigmas, w, {}); };
                EXPECT_EQ(value, of_sigma(rows.sigmas))
                    << "the value must not depend on whether a gradient is asked for";
                worst = std::max(worst, expect_gradient(of_sigma, gradient, rows.sigmas));
            }
    RecordProperty("worst_error", std::to_string(worst * 1e10) + "e-10");
}

TEST(Gradient, InLogSigmaAgreesWithCentralDifferences) {
    double worst = 0;
    for (const Rows& rows : samples())
        for (const bool weighted : {false, true})
            for (const double beta : {0.0, 0.4, 1.0}) {
                SCOPED_TRACE(rows.name + (weighted ? ", weighted, beta " : ", beta ") + std::to_string(beta));
                const std::size_t n = rows.errors.size();
                const std::vector<double> w = weighted ? support::random_weights(n, 53) : std::vector<double>();
                std::vector<double> log_sigmas;
                for (const double s : rows.sigmas) log_sigmas.push_back(std::log(s));
                std::vector<double> gradient(n);
                accuracy_reliability(rows.errors, rows.sigmas, beta, w, gradient, nullptr, Variable::log_sigma);
                const auto of_log = [&](Numbers logs) {
                    std::vector<double> sigmas;
                    for (const double x : logs) sigmas.push_back(std::exp(x));
                    return accuracy_reliability(rows.errors, sigmas, beta, w).value;
                };
                // log sigma passes zero: steps of 1e-4, which is 1e-4 of sigma as above.
                worst = std::max(worst, expect_gradient(of_log, gradient, log_sigmas, 1e-7,
                                                        DifferenceStep{.relative = 1e-4, .least = 1}));
            }
    RecordProperty("worst_error", std::to_string(worst * 1e10) + "e-10");
}

TEST(Gradient, InLogSigmaIsSigmaTimesTheOther) {
    const support::Sample sample = support::random_sample(5000, 54);
    std::vector<double> by_sigma(5000), by_log(5000);
    accuracy_reliability(sample.errors, sample.sigmas, 0.4, {}, by_sigma, nullptr, Variable::sigma);
    accuracy_reliability(sample.errors, sample.sigmas, 0.4, {}, by_log, nullptr, Variable::log_sigma);
    // Two terms that may cancel, each right to a few roundings.
    for (std::size_t i = 0; i < by_log.size(); ++i)
        EXPECT_NEAR(by_log[i], by_sigma[i] * sample.sigmas[i], 2e-15 * sample.sigmas[i] / 5000 * 10);
}

TEST(Gradient, SlopesOfSingleRowsAgreeWithCentralDifferences) {
    for (const double e : {-3.0, 0.2, 1.0, 12.0})
        for (const double s : {0.3, 1.0, 5.0}) {
            SCOPED_TRACE(testing::Message() << "e " << e << ", sigma " << s);
            const std::vector<double> at = {s};
            const std::vector<double> crps_slope = {crps(e, s).slope};
            const std::vector<double> nlpd_slope = {nlpd(e, s).slope};
            expect_gradient([&](Numbers x) { return crps(e, x[0]).value; }, crps_slope, at);
            // At z = 1 the slope of nlpd vanishes, and there is no larger component to measure it by.
            if (std::fabs(e) != s) expect_gradient([&](Numbers x) { return nlpd(e, x[0]).value; }, nlpd_slope, at);
        }
}

}  // namespace
}  // namespace accrue
