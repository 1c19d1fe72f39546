// Inputs that are not numbers, and gaps, from an archive to forecasts.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "accrue/threads.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

using support::refusal;

// Spread by station (levels 0.5 and 2), direction and season; one input with gaps, whose rows err more.
struct Mixed {
    std::vector<double> x, station, direction, time, errors;
    std::vector<std::string> labels;

    explicit Mixed(std::size_t rows, std::size_t stations = 6, std::uint64_t seed = 1) {
        core::Random random(seed);
        for (std::size_t s = 0; s < stations; ++s) labels.push_back(fmt::format("s{}", s));
        for (std::size_t i = 0; i < rows; ++i) {
            station.push_back(static_cast<double>(random.below(stations)));
            direction.push_back(random.uniform(0, 360));
            time.push_back(1.6e9 + 3600.0 * static_cast<double>(i));
            const bool gap = random.uniform() < 0.1;
            x.push_back(gap ? std::nan("") : random.normal());
            const double log_sigma = (std::fmod(station.back(), 2) == 0 ? -0.7 : 0.7) +
                                     0.5 * std::cos(direction.back() / 180 * std::numbers::pi) + (gap ? 0.8 : 0);
            errors.push_back(std::exp(log_sigma) * random.normal());
        }
    }
    Archive archive() const {
        Archive a;
        a.input_names = {"x", "station:category", "wdir:cyclic(360)", "t:season"};
        a.inputs = {x, station, direction, time};
        a.input_types = {
            {}, {InputKind::category, 0, labels}, {InputKind::cyclic, 360, {}}, {InputKind::season, 0, {}}};
        a.impute = true;
        a.errors = errors;
        a.roles.error = "e";
        return a;
    }
};

FitOptions quick() {
    FitOptions options;
    options.starts = 1;
    return options;
}

TEST(Kinds, SigmaFollowsStationDirectionAndGaps) {
    const Mixed rows(6000);
    const Model model = fit(rows.archive(), quick()).model;
    const auto sigma = [&](double x, double station, double direction) {
        const std::vector<double> values = {x, station, direction, rows.time[100]};
        std::vector<std::span<const double>> inputs;
        for (const double& value : values) inputs.emplace_back(&value, 1);
        return model.forecast(inputs).sigma[0];
    };
    // The network's own error is some percent; what is planted is far more.
    EXPECT_NEAR(std::log(sigma(0, 1, 90) / sigma(0, 0, 90)), 1.4, 0.25);
    EXPECT_NEAR(std::log(sigma(0, 1, 0) / sigma(0, 1, 180)), 1.0, 0.25);
    EXPECT_NEAR(sigma(0, 3, 359.9) / sigma(0, 3, 0.1), 1, 0.01) << "a circle has no end";
    EXPECT_NEAR(std::log(sigma(std::nan(""), 2, 90) / sigma(0, 2, 90)), 0.8, 0.3);
    EXPECT_GT(sigma(0, -1, 90), sigma(0, 0, 90)) << "an unknown station is a common one";
    EXPECT_LT(sigma(0, -1, 90), sigma(0, 1, 90));
}

TEST(Kinds, UnknownValuesAreOffSupport) {
    const Mixed rows(600);
    const Model model = fit(rows.archive(), quick()).model;
    const auto off = [&](double x, double station, double direction) {
        const std::vector<double> values = {x, station, direction, 2e9};
        std::vector<std::span<const double>> inputs;
        for (const double& value : values) inputs.emplace_back(&value, 1);
        return model.forecast(inputs).off_support[0] != 0;
    };
    EXPECT_FALSE(off(0, 2, 90));
    EXPECT_FALSE(off(std::nan(""), 2, 1e6)) << "directions come round, seasons too";
    EXPECT_FALSE(off(0, std::nan(""), 90));
    EXPECT_TRUE(off(0, -1, 90));
    EXPECT_TRUE(off(50, 2, 90));
    EXPECT_EQ(model.category_code(1, "s2"), 2);
    EXPECT_EQ(model.category_code(1, "elsewhere"), -1);
    EXPECT_TRUE(model.takes_missing(0));
    EXPECT_EQ(model.input_columns()[2], (Input{"wdir", InputKind::cyclic, 360}));
}

TEST(Kinds, ModelFilesHoldThem) {
    const Mixed rows(600);
    FitOptions options = quick();
    options.bias = "linear";
    const Model model = fit(rows.archive(), options).model;
    const Model again = Model::parse(model.text());
    EXPECT_EQ(again.text(), model.text());
    const Archive a = rows.archive();
    const Forecast one = model.forecast(a.inputs, rows.errors);
    const Forecast two = again.forecast(a.inputs, rows.errors);
    EXPECT_EQ(one.sigma, two.sigma);
    EXPECT_EQ(one.mean, two.mean);
    EXPECT_EQ(one.off_support, two.off_support);
}

TEST(Kinds, ModelsAreTheSameForAnyNumberOfThreads) {
    const Mixed rows(9000, 40);
    std::string first;
    for (const int threads : {1, 2, 3}) {
        std::string text;
        with_threads(threads, [&] { text = fit(rows.archive(), quick()).model.text(); });
        if (first.empty()) first = text;
        EXPECT_EQ(text, first) << threads;
    }
}

// A fold without a good start is forecast by a constant, which must be read again beside categories.
TEST(Kinds, ConstantsBesideCategoriesAreReadAgain) {
    const Mixed rows(300);
    FitOptions options = quick();
    options.form = "constant";
    options.bias = "linear";
    const Model model = fit(rows.archive(), options).model;
    EXPECT_EQ(Model::parse(model.text()).text(), model.text());
}

TEST(Kinds, RareValuesAreCommonOnes) {
    Mixed rows(600);
    rows.labels.emplace_back("rare");
    for (std::size_t i = 0; i < 9; ++i) rows.station[i] = 6;
    const Model model = fit(rows.archive(), quick()).model;
    EXPECT_EQ(model.category_code(1, "rare"), -1);
}

TEST(Kinds, AreRefusedWhereTheyMakeNoSense) {
    Mixed rows(300);
    FitOptions options = quick();
    options.form = "clusters";
    EXPECT_EQ(refusal([&] { fit(rows.archive(), options); }),
              "--form clusters takes numbers only, but 'station:category' is a category; use --form network");
    options = quick();
    Archive archive = rows.archive();
    archive.impute = false;
    EXPECT_NE(refusal([&] { fit(archive, options); }).find("'x' of row"), std::string::npos);
    for (std::size_t i = 0; i < rows.station.size(); ++i) rows.station[i] = static_cast<double>(i);
    rows.labels.clear();
    for (std::size_t i = 0; i < rows.station.size(); ++i) rows.labels.push_back(fmt::format("id{}", i));
    EXPECT_EQ(refusal([&] { fit(rows.archive(), options); }),
              "'station' is not a category: each of its 300 values stands in fewer than 10 rows");
}

}  // namespace
}  // namespace accrue
