// Known noise of the observations: is the sigma that is learned that of the quantity itself? Seeds are fixed; limits
// are stated with the spread that other seeds show.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "support/archives.hpp"

namespace accrue {
namespace {

using support::refusal;

// Errors whose sigma is exp(x1), with noise on top that varies from row to row and knows nothing of x1.
struct Noisy {
    support::Rows rows;
    std::vector<double> noise;

    explicit Noisy(std::size_t count, std::uint64_t seed, double least = 0.3, double most = 1.5)
        : rows(support::some_rows(count, seed)) {
        core::Random random(seed + 1000);
        for (double& error : rows.errors) {
            noise.push_back(random.uniform(least, most));
            error += noise.back() * random.normal();
        }
    }
    Archive archive(bool with_noise = true) const {
        Archive a = rows.archive();
        if (with_noise) a.observation_error = noise;
        return a;
    }
};

// The mean log of sigma over the true one along x1, and its mean square.
struct LogRatio {
    double mean = 0, square = 0;
};
LogRatio log_ratio(const Model& model) {
    std::vector<double> x;
    for (int i = 0; i <= 100; ++i) x.push_back(-0.5 + i / 100.0);
    const std::vector<std::span<const double>> inputs = {x};
    const std::vector<double> sigma = model.forecast(inputs).sigma;
    LogRatio ratio;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double log = std::log(sigma[i]) - x[i];
        ratio.mean += log / static_cast<double>(x.size());
        ratio.square += log * log / static_cast<double>(x.size());
    }
    return ratio;
}

TEST(ObservationError, IsTakenOutOfTheSpread) {
    double mean = 0, square = 0, with_noise = 0;
    constexpr int kSeeds = 10;
    for (int seed = 1; seed <= kSeeds; ++seed) {
        // The length of the last step was chosen on seeds 1 to 10.
        const Noisy data(4000, static_cast<std::uint64_t>(100 + seed));
        FitOptions options;
        options.starts = 1;
        const LogRatio ratio = log_ratio(fit(data.archive(), options).model);
        mean += ratio.mean / kSeeds;
        square += ratio.square / kSeeds;
        with_noise += log_ratio(fit(data.archive(false), options).model).mean / kSeeds;
    }
    RecordProperty("mean", std::to_string(mean));
    RecordProperty("rms", std::to_string(std::sqrt(square)));
    RecordProperty("with_noise", std::to_string(with_noise));
    EXPECT_GT(with_noise, 0.25) << "the whole spread is larger, by log sqrt(1 + 0.93/sigma^2) on average";
    // Thirty other archives gave -0.003 on average with an sd of 0.030, so that the mean of ten has an sd of 0.0095:
    // the limit is 5 of them away, by chance once in 10^6 times. Noise that was left in would be 34 away.
    EXPECT_LT(std::fabs(mean), 0.047);
    EXPECT_LT(std::sqrt(square), 0.12);  // 0.063 over the thirty
}

TEST(ObservationError, LeavesCorrectionsAndFiguresRight) {
    Noisy data(4000, 3, 0.5, 0.5);
    for (std::size_t i = 0; i < data.rows.errors.size(); ++i) data.rows.errors[i] += 2 * data.rows.inputs[0][i] - 1;
    FitOptions options;
    options.starts = 1;
    options.bias = "linear";
    data.rows.prediction.assign(data.rows.errors.size(), 0);
    Archive archive = data.archive();
    const FitResult result = fit(archive, options);
    const std::vector<double> x = {-0.4, 0, 0.4}, mu = {0, 0, 0};
    const Forecast forecast = result.model.forecast(std::vector<std::span<const double>>{x}, mu);
    // The standard error of a straight line through 4000 errors of sd 1.2 is 0.02 in the middle and 0.03 at the ends.
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(forecast.mean[i], 2 * x[i] - 1, 0.12);
    EXPECT_NEAR(result.verification.sd_z, 1, 0.06);  // five standard errors, 1/sqrt(2*4000) each
    EXPECT_LT(result.verification.calibration_error, 3 * result.verification.calibration_floor);
}

TEST(ObservationError, OfZeroChangesNothing) {
    const Noisy data(300, 5, 0, 0);
    FitOptions options;
    options.starts = 1;
    options.family = "normal";
    EXPECT_EQ(fit(data.archive(), options).model.text(), fit(data.archive(false), options).model.text());
}

TEST(ObservationError, SaysThatOtherFamiliesAndCorrectionsWereNotTried) {
    const Noisy data(300, 5);
    const std::string both =
        "With --observation-error the family is normal and the prediction is not corrected: other families and "
        "corrections were not tried.";
    const std::string family = "With --observation-error the family is normal: other families were not tried.";
    const auto remarks = [&](const std::string& own_family, const std::string& bias) {
        FitOptions options;
        options.starts = 1;
        options.family = own_family;
        options.bias = bias;
        const FitResult result = fit(data.archive(), options);
        std::vector<std::string> said;
        for (const Message& remark : result.verdict.remarks) said.push_back(remark.text());
        EXPECT_EQ(nlohmann::json::parse(result.model.text())["verification"]["verdict"]["remarks"], said);
        return std::pair(std::count(said.begin(), said.end(), both), std::count(said.begin(), said.end(), family));
    };
    EXPECT_EQ(remarks("auto", "auto"), std::pair(1L, 0L));
    EXPECT_EQ(remarks("auto", "none"), std::pair(0L, 1L));
    EXPECT_EQ(remarks("normal", "none"), std::pair(0L, 0L));
}

TEST(ObservationError, RefusesWhatItCannotTakeOut) {
    Noisy data(300, 5);
    FitOptions options;
    const auto refused = [&] { return refusal([&] { fit(data.archive(), options); }); };
    options.family = "logistic";
    EXPECT_EQ(refused(), "--observation-error goes with --family normal only");
    options = {};
    options.recalibrate = "isotonic";
    EXPECT_EQ(refused(), "--observation-error goes with --recalibrate none only");
    options = {};
    options.recipe = "paper";
    EXPECT_EQ(refused(), "--observation-error goes with --recipe default only");
    options = {};
    options.lower = -9;
    EXPECT_EQ(refused(), "--observation-error does not go with --lower");
    options = {};
    options.upper = 9;
    EXPECT_EQ(refused(), "--observation-error does not go with --upper");
    options = {};
    data.noise[7] = -1;
    EXPECT_EQ(refused(), "the observation error of row 8 is -1, but must be finite and not negative");
    data.noise.assign(data.noise.size(), 100);
    EXPECT_NE(refused().find("is larger than the errors, by"), std::string::npos) << refused();
    data.noise.pop_back();
    EXPECT_EQ(refused(), "there are observation errors for 299 rows, but 300 errors");
}

}  // namespace
}  // namespace accrue
