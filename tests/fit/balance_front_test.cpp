// What other balances between accuracy and reliability would have given.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/archives.hpp"

namespace accrue {
namespace {

using Json = nlohmann::ordered_json;
using support::refusal;
using support::Rows;
using support::some_rows;

FitOptions with_front(std::vector<double> balances) {
    FitOptions options;
    options.form = "polynomial";
    options.family = "normal";
    options.bias = "none";
    options.balance_front = std::move(balances);
    return options;
}

TEST(BalanceFront, HasTheFiguresOfFitsWithThoseBalances) {
    const Rows rows = some_rows(300, 1);
    FitOptions options = with_front({0.9, 0.1, 0.9});
    options.balance = 0.4;
    const FitResult result = fit(rows.archive(), options);
    ASSERT_EQ(result.balance_front.size(), 3U) << "in their order, each once, and that of the model";
    for (const BalanceOutcome& own : result.balance_front) {
        SCOPED_TRACE(own.balance);
        FitOptions alone = with_front({});
        alone.balance = own.balance;
        const Verification v = fit(rows.archive(), alone).verification;
        // Sums of 300 numbers in another order.
        EXPECT_NEAR(own.crps, v.crps, 1e-13);
        EXPECT_NEAR(own.rs, v.rs, 1e-13);
        EXPECT_NEAR(own.calibration_error, v.calibration_error, 1e-13);
        EXPECT_NEAR(own.crps_difference, own.crps - result.verification.crps, 1e-13);
        EXPECT_EQ(own.taken, own.balance == 0.4);
        EXPECT_EQ(own.crps_difference_se > 0, !own.taken);
    }
    EXPECT_EQ(result.balance_front[0].balance, 0.1);
    EXPECT_EQ(result.balance_front[1].balance, 0.4);
    EXPECT_EQ(result.balance_front[2].balance, 0.9);
}

TEST(BalanceFront, LeavesTheModelAsItIs) {
    const Rows rows = some_rows(100, 1);
    const FitResult plain = fit(rows.archive(), with_front({}));
    const FitResult result = fit(rows.archive(), with_front({0.2, 0.8}));
    Json file = Json::parse(result.model.text());
    EXPECT_EQ(Model::parse(result.model.text()).text(), result.model.text());
    EXPECT_EQ(file["configuration"]["balance_front"], Json::array({0.2, 0.8}));
    ASSERT_EQ(file["fit"]["balance_front"].size(), 3U);
    const Json& first = file["fit"]["balance_front"][0];
    EXPECT_EQ(first["balance"], 0.2);
    EXPECT_NEAR(first["calibration_error_percent"].get<double>(), 100 * result.balance_front[0].calibration_error,
                1e-3);  // six digits
    file["configuration"].erase("balance_front");
    file["fit"].erase("balance_front");
    file.erase("checksum");
    Json expected = plain.model.json();
    expected.erase("checksum");
    EXPECT_EQ(file, expected);
}

// The mean CRPS of independent rows has the standard error sd/sqrt(n), and one of groups of equal rows as if there were
// as many rows as groups.
TEST(BalanceFront, KnowsHowWellItsFiguresAreKnown) {
    Rows rows = some_rows(2000, 1);
    FitOptions options = with_front({0.5});
    options.form = "constant";
    const auto relative = [&] {
        const BalanceOutcome own = fit(rows.archive(), options).balance_front[0];
        return own.crps_se / own.crps;
    };
    const double independent = relative();
    // CRPS of a normal error with the right sigma: mean 0.564, sd 0.42 of sigma; that sigma varies with the input adds
    // to it. 20 blocks know a standard error to 1/sqrt(2*19) = 16%: three times that.
    EXPECT_NEAR(independent * std::sqrt(2000.0), 0.42 / 0.564, 0.5 * 0.42 / 0.564);
    for (std::size_t i = 0; i < 2000; ++i) {
        rows.errors[i] = rows.errors[i / 10 * 10];
        rows.codes.push_back(static_cast<std::uint32_t>(i / 10));
    }
    for (std::size_t g = 0; g < 200; ++g) rows.labels.push_back(std::to_string(g));
    // sqrt(10) times as large; both estimates vary by 16%.
    EXPECT_GT(relative(), 1.7 * independent);
}

TEST(BalanceFront, IsOfForecastsBeforeRecalibration) {
    const Rows rows = some_rows(300, 1);
    FitOptions options = with_front({0.3});
    const FitResult plain = fit(rows.archive(), options);
    options.recalibrate = "isotonic";
    const FitResult recalibrated = fit(rows.archive(), options);
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(recalibrated.balance_front[k].crps, plain.balance_front[k].crps);
        EXPECT_EQ(recalibrated.balance_front[k].rs, plain.balance_front[k].rs);
    }
}

TEST(BalanceFront, ComparesTheFamilyThatWasTaken) {
    Rows rows = some_rows(700, 1);
    rows.prediction.assign(rows.errors.size(), 3);
    for (double& e : rows.errors) e += 5;  // no candidate without a location stands this
    FitOptions options;
    options.starts = 1;
    options.balance_front = {1};
    options.max_iterations = 50;
    const FitResult result = fit(rows.archive(), options);
    ASSERT_EQ(result.balance_front.size(), 2U);
    EXPECT_NE(result.model.json()["configuration"]["bias"], "none");
    // About a biased prediction it would be 4.4 at least.
    EXPECT_LT(result.balance_front[1].crps, 1.5);
}

TEST(BalanceFront, IsRefusedWhereThereIsNoBalance) {
    const Rows rows = some_rows(60, 1);
    FitOptions options = with_front({0.5});
    options.score = "crps";
    EXPECT_EQ(refusal([&] { fit(rows.archive(), options); }),
              "--balance-front goes with --score ar only: --score crps has no balance");
    options.score = "ar";
    Archive noisy = rows.archive();
    const std::vector<double> noise(rows.errors.size(), 0.01);
    noisy.observation_error = noise;
    EXPECT_EQ(refusal([&] { fit(noisy, options); }), "--balance-front does not go with --observation-error");
    options.balance_front = {0.5, 1.5};
    EXPECT_EQ(refusal([&] { fit(rows.archive(), options); }), "--balance-front is 1.5, but must be between 0 and 1");
}

}  // namespace
}  // namespace accrue
