// Forms that are averaged where the choice is left to the fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "fit/folds.hpp"
#include "forecast/content.hpp"
#include "support/archives.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using Json = nlohmann::ordered_json;
using support::paper_rows;
using support::Rows;
using support::some_rows;

FitOptions options_of(const char* form, std::uint64_t seed = 1) {
    FitOptions options;
    options.form = form;
    options.seed = seed;
    return options;
}

double distance_to_truth(const Model& model, const char* name) {
    const support::PaperRows fresh = paper_rows(name, 1000, 77);
    const std::vector<std::span<const double>> inputs = {fresh.rows.inputs[0]};
    const std::vector<double> sigma = model.forecast(inputs).sigma;
    double squares = 0;
    for (std::size_t i = 0; i < sigma.size(); ++i) squares += std::pow(sigma[i] - fresh.true_sigma[i], 2);
    return std::sqrt(squares / static_cast<double>(sigma.size()));
}

TEST(PooledForms, ComeCloserToTheTruthThanTheNetworkAlone) {
    for (const char* name : {"Y", "W"}) {
        double pooled = 0;
        double network = 0;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const Rows toy = paper_rows(name, 100, seed).rows;
            pooled += distance_to_truth(fit(toy.archive(), options_of("auto", seed)).model, name);
            network += distance_to_truth(fit(toy.archive(), options_of("network", seed)).model, name);
        }
        // Over 100 seeds by 15 to 20%.
        EXPECT_LT(pooled, 0.95 * network) << name;
    }
}

TEST(PooledForms, AreTheDefaultWhereThereIsOneInput) {
    const Rows toy = paper_rows("G", 100, 1).rows;
    const FitResult result = fit(toy.archive());
    ASSERT_EQ(result.pooled.size(), 2U);
    EXPECT_EQ(result.pooled[0].form, "network");
    EXPECT_EQ(result.pooled[1].form, "polynomial");
    EXPECT_NEAR(result.pooled[0].weight + result.pooled[1].weight, 1, 1e-15);
    const Json file = result.model.json();
    EXPECT_EQ(file["configuration"]["form"], "auto");
    EXPECT_EQ(file["format_version"], 4);
    EXPECT_EQ(file["fit"]["forms"].size(), 2U);
    std::map<std::string, double> weights;
    for (const Json& member : file["sigma"]["members"])
        weights[member["form"].get<std::string>()] += member["weight"].get<double>();
    // In each of the 5 folds the weights of a form's members sum up to its own; 1e-12 for rounding.
    EXPECT_NEAR(weights["network"], 5 * result.pooled[0].weight, 1e-12);
    EXPECT_NEAR(weights["polynomial"], 5 * result.pooled[1].weight, 1e-12);
    std::map<std::string, std::size_t> starts;
    for (const Json& start : file["fit"]["starts"]) ++starts[start["form"].get<std::string>()];
    EXPECT_EQ(starts["network"], 15U);
    EXPECT_EQ(starts["polynomial"], 55U) << "eleven orders in every fold";
}

TEST(PooledForms, AreWrittenAndReadAgain) {
    const Rows toy = paper_rows("G", 100, 2).rows;
    const FitResult result = fit(toy.archive());
    const Model read = Model::parse(result.model.text());
    EXPECT_EQ(read.text(), result.model.text());
    const std::vector<double> x = {0.1, 0.5, 2};
    const std::vector<std::span<const double>> inputs = {x};
    EXPECT_EQ(read.forecast(inputs).sigma, result.model.forecast(inputs).sigma);
}

TEST(PooledForms, AreANetworkAloneWhereAPolynomialDoesNotSuit) {
    const auto expect_network = [](const Archive& archive, FitOptions options) {
        options.form = "auto";
        const FitResult automatic = fit(archive, options);
        options.form = "network";
        EXPECT_TRUE(automatic.model.text() == fit(archive, options).model.text());
        EXPECT_TRUE(automatic.pooled.empty());
    };
    FitOptions options;
    options.starts = 1;
    options.max_iterations = 20;
    const Rows two = some_rows(80, 1, 2);
    expect_network(two.archive(), options);
    FitOptions paper = options;
    paper.recipe = "paper";
    const Rows one = some_rows(80, 1);
    expect_network(one.archive(), paper);
    Rows known = one;
    known.prediction.assign(known.errors.size(), 1);
    FitOptions location = options;
    location.family = "normal";
    location.bias = "network";
    expect_network(known.archive(), location);
    Archive category = one.archive();
    std::vector<double> codes(one.errors.size());
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<double>(i % 2);
    category.inputs = {codes};
    const std::vector<std::string> labels = {"a", "b"};
    category.input_types = {{InputKind::category, 0, labels}};
    expect_network(category, options);
}

// A fold's rows are forecast by one mixture of what that fold's members say, and by no other member.
TEST(PooledForms, ForecastHeldOutRowsByMembersThatNeverSawThem) {
    const Rows toy = paper_rows("Y", 100, 3).rows;
    const Archive archive = toy.archive();
    const FitOptions options = options_of("auto");
    const FitResult result = fit(archive, options);
    const std::vector<std::size_t> folds = fitting::make_folds(archive, options.folds, options.seed);
    // What members of one form and fold say, from a model that has no others.
    const auto log_sigmas = [&](std::size_t fold, const std::string& form) {
        auto alone = std::make_shared<Model::Content>(result.model.content());
        const std::vector<fields::Fitted> all = std::exchange(alone->members, {});
        double weight = 0;  // of the members before; those of a fold sum up to 1
        for (const fields::Fitted& member : all) {
            if (std::floor(weight + 1e-9) == static_cast<double>(fold) && member.field->name() == form)
                alone->members.push_back(member);
            weight += member.weight;
        }
        EXPECT_FALSE(alone->members.empty());
        std::vector<double> sigma = Model(alone).forecast(archive.inputs).sigma;
        for (double& value : sigma) value = std::log(value);
        return sigma;
    };
    std::vector<double> weights;
    for (std::size_t fold = 0; fold < options.folds; ++fold) {
        const std::vector<double> network = log_sigmas(fold, "network");
        const std::vector<double> polynomial = log_sigmas(fold, "polynomial");
        // By least squares over the fold's rows, of which it has to reach every one.
        double above = 0;
        double below = 0;
        for (std::size_t i = 0; i < folds.size(); ++i) {
            if (folds[i] != fold) continue;
            const double apart = network[i] - polynomial[i];
            above += apart * (std::log(result.sigmas[i]) - polynomial[i]);
            below += apart * apart;
        }
        weights.push_back(above / below);
        EXPECT_GE(weights.back(), 0);
        EXPECT_LE(weights.back(), 1);
        for (std::size_t i = 0; i < folds.size(); ++i) {
            if (folds[i] != fold) continue;
            EXPECT_NEAR(std::log(result.sigmas[i]), weights.back() * network[i] + (1 - weights.back()) * polynomial[i],
                        1e-10);
        }
    }
    EXPECT_NE(*std::min_element(weights.begin(), weights.end()), *std::max_element(weights.begin(), weights.end()))
        << "a fold's own rows have no say in its weight";
}

TEST(PooledForms, GoByTheFormThatIsClearlyBetter) {
    // Steps that no polynomial of order 10 follows.
    core::Random random(311);
    Rows rows;
    rows.inputs.resize(1);
    for (std::size_t i = 0; i < 1000; ++i) {
        const double x = random.uniform(0, 8);
        rows.inputs[0].push_back(x);
        rows.errors.push_back((static_cast<int>(x) % 2 == 0 ? 0.1 : 2.0) * random.normal());
    }
    FitOptions options = options_of("auto");
    options.starts = 1;
    const FitResult result = fit(rows.archive(), options);
    ASSERT_EQ(result.pooled.size(), 2U);
    EXPECT_LT(result.pooled[0].crps, 0.9 * result.pooled[1].crps);
    EXPECT_GT(result.pooled[0].weight, 0.75) << "equal weights are 0.5; all of it would need more rows";
}

TEST(PooledForms, AreTheSameForAnyNumberOfThreads) {
    const Rows toy = paper_rows("W", 100, 4).rows;
    support::expect_same_for_any_threads([&] { return fit(toy.archive()).model.text(); });
}

}  // namespace
}  // namespace accrue
