// Every row has the map of its group.
#include "accrue/group_maps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "accrue/adapted.hpp"
#include "accrue/bounded.hpp"
#include "support/archives.hpp"

namespace accrue {
namespace {

std::shared_ptr<const Recalibrated> map_of(const SharedFamily& inner, double shift, double scale,
                                           Recalibrated::Kind kind = Recalibrated::Kind::isotonic) {
    std::vector<double> predicted, actual;
    for (int k = -3; k <= 3; ++k) {
        predicted.push_back(k + 0.1 * k * k);
        actual.push_back(shift + scale * k);
    }
    return std::make_shared<Recalibrated>(Recalibrated::Knots::scores, predicted, actual, inner, kind);
}

// Inner families with values of their own: none, a degree of freedom, a bound and a number of the row's.
struct Case {
    SharedFamily inner;
    std::vector<double> values;
};
std::vector<Case> cases() {
    const Limits limits{-2, std::numeric_limits<double>::infinity()};
    return {{normal_family(), {}},
            {family("student-t"), {0.3}},
            {std::make_shared<Bounded>(Bounded::Kind::censored, limits, normal_family()), {-1.5, 0.4}}};
}

TEST(GroupMaps, AreInEveryFunctionTheMapOfTheRow) {
    constexpr double kNone = GroupMaps::kCommon;
    for (const Case& one : cases()) {
        const auto common = map_of(one.inner, 0, 1);
        const auto first = map_of(one.inner, 0.2, 0.8);
        const auto second = map_of(one.inner, -0.4, 0.6);
        const GroupMaps all(common, {first, second});
        for (const auto& [number, map] :
             {std::pair{0.0, first}, {1.0, second}, {2.0, common}, {-1.0, common}, {kNone, common}}) {
            std::vector<double> values = one.values;
            values.push_back(number);
            const std::span<const double> own(one.values);
            for (const double u : {-1.4, -0.2, 0.0, 0.7, 2.5}) {
                EXPECT_EQ(all.pdf(u, values), map->pdf(u, own));
                EXPECT_EQ(all.log_pdf(u, values), map->log_pdf(u, own));
                EXPECT_EQ(all.cdf(u, values), map->cdf(u, own));
                EXPECT_EQ(all.survival(u, values), map->survival(u, own));
                EXPECT_EQ(all.crps(u, values), map->crps(u, own));
                EXPECT_EQ(all.squares_below(u, values), map->squares_below(u, own));
                EXPECT_EQ(all.normal_score(u, values), map->normal_score(u, own));
                EXPECT_EQ(all.upper_normal_score(u, values), map->upper_normal_score(u, own));
                EXPECT_EQ(all.of_normal_score(u, values), map->of_normal_score(u, own));
                EXPECT_EQ(all.normal_score_slope(u, values), map->normal_score_slope(u, own));
                EXPECT_EQ(all.log_pdf_slope(u, values), map->log_pdf_slope(u, own));
            }
            EXPECT_EQ(all.quantile(0.3, values), map->quantile(0.3, own));
            EXPECT_EQ(all.interval(0.8, values), map->interval(0.8, own));
            EXPECT_EQ(all.mean(values), map->mean(own));
            EXPECT_EQ(all.sd(values), map->sd(own));
            EXPECT_EQ(all.jumps(values), map->jumps(own));
            const std::vector<double> z = {-1, 0.5};
            std::vector<double> u(2), slopes(2), other_u(2), other_slopes(2);
            all.of_normal_scores(z, values, u.data(), slopes.data());
            map->of_normal_scores(z, own, other_u.data(), other_slopes.data());
            EXPECT_EQ(u, other_u);
            EXPECT_EQ(slopes, other_slopes);
        }
        EXPECT_EQ(all.name(), one.inner->name());
        EXPECT_EQ(all.limits().lower, one.inner->limits().lower);
        EXPECT_EQ(parameters_per_row(all), one.values.size() + 3);
        EXPECT_TRUE(all.recalibrated());
    }
}

TEST(GroupMaps, AreAFamilyThatAStateCanMove) {
    const auto common = map_of(normal_family(), 0, 1);
    const auto own = map_of(normal_family(), 0.2, 0.8);
    const Adapted all(std::make_shared<GroupMaps>(common, std::vector{own}));
    const Adapted alone(own);
    const std::vector<double> values = {0, 0.3, 1.2};
    const std::vector<double> without = {0.3, 1.2};
    EXPECT_EQ(all.quantile(0.9, values), alone.quantile(0.9, without));
    // Around a map of its own a moved forecast has closed sums; around maps of groups a quadrature, which is right to
    // 1e-9 of the scale.
    EXPECT_NEAR(all.crps(0.4, values), alone.crps(0.4, without), 1e-9);
    EXPECT_NEAR(all.mean(values), alone.mean(without), 1e-9);
}

TEST(GroupMaps, MustBeOfOneKindAroundOneFamily) {
    const auto common = map_of(normal_family(), 0, 1);
    const std::string rule = "the maps of groups must be of one kind, around one family";
    EXPECT_EQ(support::refusal([&] { GroupMaps(common, {}); }), "recalibrations of groups need a map");
    EXPECT_EQ(support::refusal([&] { GroupMaps(common, {map_of(family("logistic"), 0, 1)}); }), rule);
    EXPECT_EQ(
        support::refusal([&] { GroupMaps(common, {map_of(normal_family(), 0, 1, Recalibrated::Kind::conformal)}); }),
        rule);
}

}  // namespace
}  // namespace accrue
