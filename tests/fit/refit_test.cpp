// A fit from where another one ended.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "accrue/threads.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

using support::refusal;

FitOptions small_network() {
    FitOptions options;
    options.family = "normal";
    options.bias = "none";
    options.starts = 2;
    return options;
}

int iterations(const FitResult& result) {
    return std::accumulate(result.starts.begin(), result.starts.end(), 0,
                           [](int sum, const StartOutcome& start) { return sum + start.iterations; });
}

support::Rows rows_of(std::uint64_t seed, std::size_t count = 600) {
    support::Rows rows = support::some_rows(count, seed, 2);
    for (std::size_t i = 0; i < rows.errors.size(); ++i) rows.times.push_back(static_cast<double>(i));
    return rows;
}

TEST(Refit, IsQuickerThanAFitAndNoWorse) {
    const support::Rows before = rows_of(1, 3000);
    const support::Rows after = rows_of(2, 3000);
    const FitResult first = fit(before.archive(), small_network());
    const FitResult anew = fit(after.archive(), small_network());
    const FitResult again = refit(first.model, after.archive());
    EXPECT_LT(2 * iterations(again), iterations(anew));
    // Both are out of fold; starts differ by about a percent.
    EXPECT_LT(again.verification.crps, 1.02 * anew.verification.crps);
    EXPECT_EQ(again.model.inputs(), first.model.inputs());
    // From the file as from memory.
    EXPECT_EQ(refit(Model::parse(first.model.text()), after.archive()).model.text(), again.model.text());
}

TEST(Refit, LearnsWhatHasChanged) {
    const support::Rows before = rows_of(3);
    support::Rows after = rows_of(4);
    // Sigma falls with x where it rose.
    for (std::size_t i = 0; i < after.errors.size(); ++i) after.errors[i] *= std::exp(-2 * after.inputs[0][i]);
    const FitResult first = fit(before.archive(), small_network());
    const FitResult again = refit(first.model, after.archive());
    const std::vector<double> x = {-0.4, 0.4};
    const std::vector<double> other = {0, 0};
    const std::vector<std::span<const double>> inputs = {x, other};
    const std::vector<double> zero = {0, 0};
    const Forecast was = first.model.forecast(inputs, zero);
    const Forecast now = again.model.forecast(inputs, zero);
    EXPECT_LT(was.sigma[0], was.sigma[1]);
    EXPECT_GT(now.sigma[0], now.sigma[1]);
}

TEST(Refit, LearnsALocationToo) {
    FitOptions options = small_network();
    options.bias = "network";
    options.starts = 1;
    support::Rows rows = rows_of(5);
    core::Random random(6);
    for (std::size_t i = 0; i < rows.errors.size(); ++i) rows.prediction.push_back(random.normal());
    const FitResult first = fit(rows.archive(), options);
    support::Rows moved = rows;
    for (double& error : moved.errors) error += 1;
    const FitResult again = refit(first.model, moved.archive());
    EXPECT_LT(4 * iterations(again), iterations(first));
    const std::vector<double> x = {0};
    const std::vector<std::span<const double>> inputs = {x, x};
    // A shift of one; a standard error of 600 errors that are one wide is 0.04, and networks add to it.
    EXPECT_NEAR(again.model.forecast(inputs, x).mean[0] - first.model.forecast(inputs, x).mean[0], 1, 0.2);
}

TEST(Refit, IsTheSameForAnyNumberOfThreads) {
    const support::Rows before = rows_of(7);
    const support::Rows after = rows_of(8);
    const Model first = fit(before.archive(), small_network()).model;
    std::string one;
    with_threads(1, [&] { one = refit(first, after.archive()).model.text(); });
    std::string three;
    with_threads(3, [&] { three = refit(first, after.archive()).model.text(); });
    EXPECT_EQ(one, three);
}

TEST(Refit, RefusesOtherInputsAndThePapersRecipe) {
    const support::Rows rows = rows_of(9);
    FitOptions options;
    options.form = "constant";
    const Model model = fit(rows.archive(), options).model;
    support::Rows fewer = rows;
    fewer.inputs.pop_back();
    EXPECT_EQ(refusal([&] { refit(model, fewer.archive()); }), "the inputs are not those of the model");
    options.recipe = "paper";
    support::Rows plain = rows;
    plain.times.clear();
    const Model paper = fit(plain.archive(), options).model;
    EXPECT_EQ(refusal([&] { refit(paper, plain.archive()); }),
              "a model of --recipe paper cannot be fitted again from where it is");
}

}  // namespace
}  // namespace accrue
