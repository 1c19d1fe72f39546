// What the scores refuse, and the words they use.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/scores.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

// The message of the InputError that `work` throws; empty, and a failure, when it throws none.
std::string refusal(const std::function<void()>& work) {
    try {
        work();
    } catch (const InputError& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

struct Call {
    const char* name;
    std::function<void(const Numbers& errors, const Numbers& sigmas, const Numbers& weights, Numbers& gradient)> run;
    bool weighted = true;
};

const std::vector<Call>& calls() {
    static const std::vector<Call> all = {
        {"mean_crps", [](auto& e, auto& s, auto& w, auto& g) { mean_crps(e, s, w, g); }},
        {"mean_nlpd", [](auto& e, auto& s, auto& w, auto& g) { mean_nlpd(e, s, w, g); }},
        {"reliability_score", [](auto& e, auto& s, auto& w, auto& g) { reliability_score(e, s, w, g); }},
        {"accuracy_reliability", [](auto& e, auto& s, auto& w, auto& g) { accuracy_reliability(e, s, 0.5, w, g); }},
        {"crps_rows", [](auto& e, auto& s, auto&, auto& g) { crps_rows(e, s, g); }, false},
        {"nlpd_rows", [](auto& e, auto& s, auto&, auto& g) { nlpd_rows(e, s, {}, g); }, false},
    };
    return all;
}

TEST(Rules, ASigmaThatIsNotPositiveIsRefusedWithItsRow) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const Call& call : calls())
        for (const auto& [bad, word] : {std::pair{0.0, "0"}, {-0.0, "-0"}, {-2.5, "-2.5"}, {nan, "nan"}}) {
            SCOPED_TRACE(testing::Message() << call.name << ", sigma " << word);
            // In another block than the first, so that the row is counted from the beginning.
            Numbers errors(3000, 1.0), sigmas(3000, 1.0), none;
            sigmas[2500] = bad;
            sigmas[2900] = -7;
            EXPECT_EQ(refusal([&] { call.run(errors, sigmas, none, none); }),
                      std::string("sigma of row 2501 is ") + word + ", but must be positive");
        }
}

TEST(Rules, DifferentLengthsAreRefused) {
    for (const Call& call : calls()) {
        SCOPED_TRACE(call.name);
        const Numbers errors(5, 1.0), sigmas(5, 1.0), four(4, 1.0), none;
        Numbers no_gradient, gradient(6);
        EXPECT_EQ(refusal([&] { call.run(errors, four, none, no_gradient); }),
                  "sigma has 4 values, but there are 5 errors");
        EXPECT_NE(
            refusal([&] { call.run(errors, sigmas, none, gradient); }).find("has 6 values, but there are 5 errors"),
            std::string::npos);
        if (!call.weighted) continue;
        EXPECT_EQ(refusal([&] { call.run(errors, sigmas, four, no_gradient); }),
                  "weights has 4 values, but there are 5 errors");
    }
}

TEST(Rules, NoRowsAreRefused) {
    const Numbers none;
    Numbers no_gradient;
    for (const Call& call : calls()) {
        if (!call.weighted) continue;  // every row of none is scored
        SCOPED_TRACE(call.name);
        EXPECT_EQ(refusal([&] { call.run(none, none, none, no_gradient); }),
                  "a score needs at least one row; there is none");
    }
    EXPECT_NE(refusal([&] { crps_minimum(none); }), "");
    EXPECT_NE(refusal([&] { balanced_beta(none); }), "");
    EXPECT_NE(refusal([&] { best_constant_sigma(none); }), "");
    EXPECT_NE(refusal([&] { effective_rows(0); }), "");
}

TEST(Rules, WeightsThatMeanNothingAreRefused) {
    const Numbers errors = {1, 2, 3}, sigmas = {1, 1, 1};
    const auto with = [&](const Numbers& weights) {
        return refusal([&] { accuracy_reliability(errors, sigmas, 0.5, weights); });
    };
    EXPECT_EQ(with({1, -2, 1}), "weight of row 2 is -2, but must not be negative");
    EXPECT_EQ(with({1, 1, std::nan("")}), "weight of row 3 is nan, but must not be negative");
    EXPECT_EQ(with({0, 0, 0}), "the weights sum to 0, but the sum must be positive and finite");
    EXPECT_EQ(with({1, std::numeric_limits<double>::infinity(), 1}),
              "the weights sum to inf, but the sum must be positive and finite");
}

TEST(Rules, ABetaOutsideItsRangeIsRefused) {
    const Numbers one = {1};
    for (const double beta : {-0.1, 1.5, std::nan("")})
        EXPECT_NE(refusal([&] { accuracy_reliability(one, one, beta); }).find("must be between 0 and 1"),
                  std::string::npos);
}

}  // namespace
}  // namespace accrue
