// The cost that a start minimises: value and gradient, with the hole of the held-out fold in the middle.
#include "fit/objective.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "accrue/error.hpp"
#include "accrue/scores.hpp"
#include "fields/kinds.hpp"
#include "support/gradient.hpp"
#include "support/samples.hpp"
#include "support/threads.hpp"

namespace accrue::fitting {
namespace {

using Kind = Score::Kind;

struct Problem {
    Problem(const std::string& name, std::size_t count, std::uint64_t seed, std::size_t outputs = 1)
        : rows(count), inputs(name == "polynomial" ? 1 : 2) {
        core::Random random(seed);
        for (std::size_t i = 0; i < rows * inputs; ++i) data.push_back(random.uniform(-1.7, 1.7));
        for (std::size_t i = 0; i < rows; ++i) errors.push_back(1.1 * random.normal());
        const auto& kind = fields::kind(name);
        field = kind.make(std::vector<fields::Range>(inputs, {-1.7, 1.7}), outputs, kind.sizes().several() ? 4 : 0);
        parameters = field->start(random, std::vector<double>(outputs, 0.1));
        for (double& p : parameters) p += 0.05 * random.normal();
        weights = support::random_weights(rows, seed + 1);
    }
    fields::Columns columns() const { return {data.data(), rows, inputs}; }

    std::size_t rows;
    std::size_t inputs;
    std::vector<double> data;
    std::vector<double> errors;
    std::vector<double> weights;
    std::shared_ptr<const fields::Field> field;
    std::vector<double> parameters;
};

TEST(Objective, GradientAgreesWithCentralDifferences) {
    for (const std::string& name : fields::kind_names())
        for (const Kind kind : {Kind::ar, Kind::crps, Kind::nlpd})
            for (const bool weighted : {false, true})
                for (const Slice slice : {Slice{0, 0, 40}, Slice{10, 25, 40}, Slice{0, 8, 40}, Slice{30, 40, 40}}) {
                    SCOPED_TRACE(testing::Message()
                                 << name << ", score " << static_cast<int>(kind) << (weighted ? ", weighted" : "")
                                 << ", hole " << slice.hole_begin << ".." << slice.hole_end);
                    const Problem p(name, 40, 140);
                    const auto own_objective =
                        make_objective({normal_family().get()}, *p.field, p.columns(), slice, p.errors,
                                       weighted ? std::span<const double>(p.weights) : std::span<const double>{}, {},
                                       {kind, 0.4}, Objective::Precision::exact);
                    Objective& objective = *own_objective;
                    std::vector<double> gradient(p.parameters.size());
                    double cost = 0;
                    ASSERT_TRUE(objective(p.parameters, cost, gradient));
                    const auto value = [&](std::span<const double> x) {
                        double own = 0;
                        EXPECT_TRUE(objective(x, own, {}));
                        return own;
                    };
                    EXPECT_EQ(value(p.parameters), cost) << "the cost depends on whether a gradient is asked for";
                    // Steps of 1e-7 do not cross the kinks of the network and of the ranks; rounding is then 1e-9 of
                    // the cost, against components of which the largest is some tenths.
                    support::expect_gradient(value, gradient, p.parameters, 2e-5, {.relative = 1e-7, .least = 1});
                }
}

TEST(Objective, GradientOfEveryFamilyAgreesWithCentralDifferences) {
    for (const std::string& family_name : family_names())
        for (const std::string& name : fields::kind_names())
            for (const Kind kind : {Kind::ar, Kind::crps, Kind::nlpd})
                for (const bool weighted : {false, true}) {
                    SCOPED_TRACE(testing::Message() << family_name << ", " << name << ", score "
                                                    << static_cast<int>(kind) << (weighted ? ", weighted" : ""));
                    const Family& own = *family(family_name);
                    const Problem p(name, 40, 144, 1 + own.further().size());
                    const auto objective =
                        make_objective({&own}, *p.field, p.columns(), {10, 25, 40}, p.errors,
                                       weighted ? std::span<const double>(p.weights) : std::span<const double>{}, {},
                                       {kind, 0.4}, Objective::Precision::exact);
                    std::vector<double> gradient(p.parameters.size());
                    double cost = 0;
                    ASSERT_TRUE((*objective)(p.parameters, cost, gradient));
                    const auto value = [&](std::span<const double> x) {
                        double at = 0;
                        EXPECT_TRUE((*objective)(x, at, {}));
                        return at;
                    };
                    EXPECT_EQ(value(p.parameters), cost);
                    support::expect_gradient(value, gradient, p.parameters, 2e-5, {.relative = 1e-7, .least = 1});
                }
}

TEST(Objective, OfAnotherFamilyIsThatOfItsOwnScores) {
    // The normal family by the general way, which asks for nothing but the functions of u.
    class Plain final : public Family {
    public:
        std::string_view name() const override { return "plain"; }
        std::string_view help() const override { return "normal, without vector code"; }
        double pdf(double u, Further f) const override { return normal_family()->pdf(u, f); }
        double cdf(double u, Further f) const override { return normal_family()->cdf(u, f); }
        double survival(double u, Further f) const override { return normal_family()->survival(u, f); }
        double quantile(double q, Further f) const override { return normal_family()->quantile(q, f); }
        double crps(double u, Further f) const override { return normal_family()->crps(u, f); }
        double mean(Further) const override { return 0; }
        double sd(Further) const override { return 1; }
        double log_pdf_slope(double u, Further) const override { return -u; }
    };
    const Problem p("network", 3000, 145);
    for (const Kind kind : {Kind::ar, Kind::crps, Kind::nlpd}) {
        std::vector<double> fast(p.parameters.size());
        std::vector<double> plain(p.parameters.size());
        double fast_cost = 0;
        double plain_cost = 0;
        const auto run = [&](const Family& own, double& cost, std::vector<double>& gradient) {
            const auto objective = make_objective({&own}, *p.field, p.columns(), {100, 400, 3000}, p.errors, p.weights,
                                                  {}, {kind, 0.4}, Objective::Precision::exact);
            ASSERT_TRUE((*objective)(p.parameters, cost, gradient));
        };
        run(*normal_family(), fast_cost, fast);
        run(Plain(), plain_cost, plain);
        // Normal scores come from the cdf and go back: 1e-16 over a density of at least 1e-4.
        EXPECT_NEAR(plain_cost, fast_cost, 1e-11);
        for (std::size_t k = 0; k < fast.size(); ++k) EXPECT_NEAR(plain[k], fast[k], 1e-10) << k;
    }
}

TEST(Objective, IsTheScoreOfTheRowsOutsideTheHole) {
    for (const std::string& name : fields::kind_names()) {
        const Problem p(name, 9000, 141);  // three chunks of 4096, the hole across a border of two
        const Slice slice{3000, 5200, 9000};
        const auto own_objective = make_objective({normal_family().get()}, *p.field, p.columns(), slice, p.errors,
                                                  p.weights, {}, {Kind::ar, 0.3}, Objective::Precision::exact);
        Objective& objective = *own_objective;
        double cost = 0;
        ASSERT_TRUE(objective(p.parameters, cost, {}));
        std::vector<double> logs(9000);
        p.field->values(p.parameters, p.columns(), 0, 9000, logs.data(), 0);
        std::vector<double> errors, sigmas, weights;
        for (std::size_t i = 0; i < 9000; ++i) {
            if (i >= 3000 && i < 5200) continue;
            errors.push_back(p.errors[i]);
            weights.push_back(p.weights[i]);
            sigmas.push_back(std::exp(logs[i]));
        }
        EXPECT_EQ(slice.size(), errors.size());
        const double expected = accuracy_reliability(errors, sigmas, 0.3, weights).value;
        EXPECT_NEAR(cost, expected, 1e-14) << name;  // another exp, right to 4e-16
    }
}

TEST(Objective, BytesDoNotDependOnThreads) {
    for (const std::string& name : fields::kind_names())
        for (const Kind kind : {Kind::ar, Kind::crps, Kind::nlpd}) {
            const Problem p(name, 20000, 142);
            support::expect_same_for_any_threads([&] {
                const auto own_objective =
                    make_objective({normal_family().get()}, *p.field, p.columns(), {5000, 9000, 20000}, p.errors, {},
                                   {}, {kind, 0.4}, Objective::Precision::exact);
                Objective& objective = *own_objective;
                std::vector<double> gradient(p.parameters.size());
                double cost = 0;
                objective(p.parameters, cost, gradient);
                gradient.push_back(cost);
                return gradient;
            });
        }
}

TEST(Objective, OfADescentOnManyRowsIsRightToAMillionth) {
    const Problem p("network", 20'000, 90);
    const auto run = [&](Objective::Precision precision, std::vector<double>& gradient) {
        const auto own_objective = make_objective({normal_family().get()}, *p.field, p.columns(), {0, 0, p.rows},
                                                  p.errors, p.weights, {}, {Kind::ar, 0.4}, precision);
        Objective& objective = *own_objective;
        double cost = 0;
        gradient.resize(p.parameters.size());
        EXPECT_TRUE(objective(p.parameters, cost, gradient));
        return cost;
    };
    std::vector<double> exact;
    std::vector<double> rough;
    const double cost = run(Objective::Precision::exact, exact);
    const double rough_cost = run(Objective::Precision::rough, rough);
    EXPECT_NE(rough_cost, cost);
    EXPECT_NEAR(rough_cost, cost, 1e-6 * cost);
    double largest = 0;
    for (const double g : exact) largest = std::max(largest, std::fabs(g));
    for (std::size_t k = 0; k < exact.size(); ++k) EXPECT_NEAR(rough[k], exact[k], 1e-3 * largest) << k;
}

TEST(Objective, BoundedRowsHaveNoSlope) {
    const std::vector<double> data(10, 0.0);
    const std::vector<double> errors(10, 1.0);
    const auto field = fields::constant_kind().make({}, 1, 0);
    for (const double log_sigma : {-20.0, 9.0, 1e9, -1e9}) {
        const auto own_objective = make_objective({normal_family().get()}, *field, {data.data(), 10, 0}, {0, 0, 10},
                                                  errors, {}, {}, {Kind::nlpd, 0}, Objective::Precision::exact);
        Objective& objective = *own_objective;
        std::vector<double> gradient = {7.0};
        double cost = NAN;
        ASSERT_TRUE(objective(std::vector<double>{log_sigma}, cost, gradient));
        EXPECT_TRUE(std::isfinite(cost));
        EXPECT_EQ(gradient[0], 0);
    }
}

TEST(Objective, IsNotDefinedWhereAPolynomialIsNotPositive) {
    const Problem p("polynomial", 40, 143);
    const auto own_objective = make_objective({normal_family().get()}, *p.field, p.columns(), {0, 0, 40}, p.errors, {},
                                              {}, {Kind::ar, 0.4}, Objective::Precision::exact);
    Objective& objective = *own_objective;
    double cost = 0;
    EXPECT_FALSE(objective(std::vector<double>{1, 2, 0, 0, 0}, cost, {}));
    EXPECT_TRUE(objective(std::vector<double>{2, 1, 0, 0, 0}, cost, {}));
}

TEST(Objective, UnknownScoresAreRefused) {
    EXPECT_EQ(score_kind("ar"), Kind::ar);
    EXPECT_EQ(score_kind("crps"), Kind::crps);
    EXPECT_EQ(score_kind("nlpd"), Kind::nlpd);
    EXPECT_THROW(score_kind("mse"), InputError);
}

}  // namespace
}  // namespace accrue::fitting
