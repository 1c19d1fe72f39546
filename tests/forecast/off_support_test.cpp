// Rows outside of the archive: how far they are, gaps, wider forecasts.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "forecast/encoding.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

using Inputs = std::vector<std::span<const double>>;
using Numbers = std::vector<double>;

Numbers without(double low, double high, std::size_t rows, std::uint64_t seed) {
    core::Random random(seed);
    Numbers values;
    while (values.size() < rows)
        if (const double x = random.normal(); x <= low || x >= high) values.push_back(x);
    return values;
}

TEST(Gaps, AreFoundWhereTheArchiveHasNone) {
    const Numbers values = without(0.2, 1.0, 1000, 1);
    const auto gaps = encodings::gaps_of(values, 1);
    ASSERT_EQ(gaps.size(), 1U);
    // The ends are rows: within some spacings, 1/(1000*0.24) near 1 and less near 0.2.
    EXPECT_NEAR(gaps[0].low, 0.2, 0.05);
    EXPECT_NEAR(gaps[0].high, 1.0, 0.05);
    EXPECT_LE(gaps[0].low, 0.2);
    EXPECT_GE(gaps[0].high, 1.0);
}

TEST(Gaps, AreNotSeenWhereChanceOrAGridLeavesThem) {
    // Without a gap: normal, uniform, few rows, skewed with a long tail, on a grid, on a coarse grid, two values.
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        core::Random random(seed);
        Numbers normal, uniform, few, skewed;
        for (std::size_t i = 0; i < 300; ++i) {
            normal.push_back(random.normal());
            uniform.push_back(std::sqrt(12.0) * random.uniform());
            skewed.push_back(std::exp(random.normal()) / 2.2);
            if (i < 20) few.push_back(random.normal());
        }
        for (const Numbers& values : {normal, uniform, few, skewed})
            // Fifteen mean spacings happen once in three million times, of fewer than 300: none of 800 sets.
            EXPECT_TRUE(encodings::gaps_of(values, 1).empty()) << seed << ", " << values.size();
    }
    Numbers grid, coarse, two;
    for (std::size_t i = 0; i < 700; ++i) {
        grid.push_back(static_cast<double>(i % 14) / 4);
        coarse.push_back(static_cast<double>(i % 6));
        two.push_back(static_cast<double>(i % 2));
    }
    for (const Numbers& values : {grid, coarse, two}) EXPECT_TRUE(encodings::gaps_of(values, 1).empty());
    // A grid with a hole has one.
    std::erase_if(grid, [](double x) { return x > 1 && x < 2.25; });
    const auto gaps = encodings::gaps_of(grid, 1);
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].low, 1);
    EXPECT_EQ(gaps[0].high, 2.25);
}

// x1 has a gap between 0.2 and 1; the errors have a spread of 0.5.
Model fitted(const std::string& family = "normal", const std::string& recalibrate = "none") {
    support::Rows rows;
    rows.inputs = {without(0.2, 1.0, 600, 2), without(9, 10, 600, 3)};
    core::Random random(4);
    for (std::size_t i = 0; i < 600; ++i) {
        rows.prediction.push_back(random.normal());
        rows.errors.push_back(0.5 * random.normal());
    }
    FitOptions options;
    options.form = "constant";
    options.family = family;
    options.bias = "none";
    options.recalibrate = recalibrate;
    return fit(rows.archive(), options).model;
}

TEST(OffSupport, IncludesGapsAndIsKeptInTheFile) {
    const Model model = Model::parse(fitted().text());
    const Numbers a = {0, 0.6, 1.1};
    const Numbers b(a.size(), 0.0);
    EXPECT_EQ(model.forecast(Inputs{a, b}).off_support, (std::vector<std::uint8_t>{0, 1, 0}));
    const auto gaps = model.json()["inputs"][0].at("gaps");
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_LT(gaps[0][0].get<double>(), 0.21);
    EXPECT_FALSE(model.json()["inputs"][1].contains("gaps"));
    EXPECT_TRUE(model.why_off_support(Inputs{a, b}, 1).starts_with("x1 is 0.6, but the archive has nothing between "))
        << model.why_off_support(Inputs{a, b}, 1);
}

TEST(Widening, GrowsWithTheDistanceAndIsNeverNarrowerThanClimatologyFarAway) {
    for (const char* family : {"normal", "logistic", "sinh-arcsinh"})
        for (const char* recalibrate : {"none", "isotonic"}) {
            const Model model = fitted(family, recalibrate);
            const Model wide = model.widened();
            const Numbers a = {0, 0.25, 0.6, 4.5, 5, 6, 8, 20};
            const Numbers b(a.size(), 0.0);
            const Numbers mu(a.size(), 3.0);
            const Forecast plain = model.forecast(Inputs{a, b}, mu);
            const Forecast wider = wide.forecast(Inputs{a, b}, mu);
            EXPECT_EQ(wider.sigma[0], plain.sigma[0]) << "inside nothing changes";
            EXPECT_EQ(wider.off_support, plain.off_support);
            const double climatology = model.json()["error_scale"].get<double>();
            EXPECT_NEAR(climatology, 0.5, 0.1);
            for (std::size_t i = 1; i < a.size(); ++i) EXPECT_GT(wider.sigma[i], plain.sigma[i]) << i;
            EXPECT_GT(wider.sigma[2], wider.sigma[1]) << "deeper in the gap";
            for (std::size_t i = 4; i < a.size(); ++i) {
                EXPECT_GT(wider.sigma[i], wider.sigma[i - 1]) << i;
                EXPECT_GE(wider.sigma[i], climatology) << i;
            }
            EXPECT_EQ(wider.family, plain.family);
            // Two inputs are farther than one.
            const Numbers both = {8};
            EXPECT_GT(wide.forecast(Inputs{both, both}, Numbers{3}).sigma[0], wider.sigma[6]);
        }
}

TEST(Widening, IsTheFormulaOfTheDocumentation) {
    const Model model = fitted();
    const auto json = model.json();
    const double far = json["inputs"][0]["highest"].get<double>() + 2 * json["inputs"][0]["scale"].get<double>();
    const Numbers a = {far};
    const Numbers b = {0};
    const double sigma = model.forecast(Inputs{a, b}).sigma[0];
    const double climatology = json["error_scale"].get<double>();
    const double growth = 1 - std::exp(-4.0) + std::pow(std::log(3.0), 2);
    EXPECT_NEAR(model.widened().forecast(Inputs{a, b}).sigma[0],
                std::sqrt(sigma * sigma + climatology * climatology * growth), 1e-12);
}

TEST(Widening, TakesTheObservationsWhereTheMeanIsLearned) {
    support::Rows rows;
    rows.inputs = {without(9, 10, 200, 5)};
    Numbers observation;
    core::Random random(6);
    for (const double x : rows.inputs[0]) observation.push_back(10 * x + 0.1 * random.normal());
    Archive archive = rows.archive();
    archive.observation = observation;
    archive.roles.observation = "y";
    FitOptions options;
    options.form = "constant";
    options.mean = "network";
    options.family = "normal";
    options.bias = "none";
    const Model model = fit(archive, options).model;
    const Numbers far = {6};
    const double spread = model.json()["mean"]["target"]["scale"].get<double>();
    EXPECT_NEAR(spread, 10, 2);
    EXPECT_GT(model.widened().forecast(Inputs{far}).sigma[0], spread);
    EXPECT_LT(model.forecast(Inputs{far}).sigma[0], spread / 2) << "what the errors alone say";
}

}  // namespace
}  // namespace accrue
