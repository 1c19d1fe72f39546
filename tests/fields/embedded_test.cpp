// Networks with categories among their inputs.
#include "fields/embedded.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "accrue/error.hpp"
#include "fields/linear.hpp"
#include "fields/rows.hpp"
#include "support/gradient.hpp"

namespace accrue::fields {
namespace {

// Two categories of 4 and 7 levels, codes outside them among the rows, and two numbers.
class Mixed {
public:
    explicit Mixed(std::size_t rows) : rows_(rows) {
        core::Random random(5);
        for (const double levels : {4.0, 7.0})
            for (std::size_t i = 0; i < rows; ++i) memory_.push_back(std::floor(random.uniform(-0.5, levels + 0.5)));
        for (std::size_t i = 0; i < 2 * rows; ++i) memory_.push_back(random.normal());
    }
    Columns columns() const { return {memory_.data(), rows_, 4}; }
    static std::vector<Range> ranges() { return {{0, 3, 4}, {0, 6, 7}, {-3, 3}, {-3, 3}}; }
    std::vector<double>& memory() { return memory_; }

private:
    std::size_t rows_;
    std::vector<double> memory_;
};

TEST(Embedded, GradientAgreesWithCentralDifferences) {
    constexpr std::size_t kRows = 1500;  // more than one block
    Mixed rows(kRows);
    for (const std::size_t outputs : {1U, 3U})
        for (const auto& field : {kind("network").make(Mixed::ranges(), outputs, 0),
                                  std::shared_ptr<const Field>(std::make_shared<Linear>(Mixed::ranges()))}) {
            if (field->outputs() != outputs) continue;
            const std::vector<double> at = some_parameters(*field, 61);
            core::Random random(62);
            std::vector<double> slopes(outputs * kRows);
            for (double& slope : slopes) slope = random.uniform(0.5, 1.5);
            std::vector<double> gradient(at.size());
            field->add_gradient(at, rows.columns(), 3, kRows, slopes.data(), kRows, gradient.data());
            const auto total = [&](std::span<const double> p) {
                std::vector<double> out(outputs * kRows);
                field->values(p, rows.columns(), 3, kRows, out.data(), kRows);
                double sum = 0;
                for (std::size_t o = 0; o < outputs; ++o)
                    for (std::size_t i = 0; i < kRows - 3; ++i) sum += slopes[o * kRows + i] * out[o * kRows + i];
                return sum;
            };
            // Kinks make single differences rough; the steps are small enough to cross few.
            for (std::size_t p = 0; p < at.size(); p += 7) {
                constexpr double kStep = 1e-6;
                std::vector<double> moved = at;
                moved[p] = at[p] + kStep;
                const double above = total(moved);
                moved[p] = at[p] - kStep;
                const double slope = (above - total(moved)) / (2 * kStep);
                EXPECT_NEAR(gradient[p], slope, 1e-4 * (1 + std::fabs(slope))) << field->name() << ", parameter " << p;
            }
        }
}

TEST(Embedded, RowsOfTheCommonLevelSeeNoEffect) {
    Mixed rows(4);
    const auto field = kind("network").make(Mixed::ranges(), 1, 0);
    std::vector<double> at = some_parameters(*field, 7);
    const auto values = [&] {
        std::vector<double> out(4);
        field->values(at, rows.columns(), 0, 4, out.data(), 0);
        return out;
    };
    // Level 0, below it, the first level beyond, and NaN are all the common one.
    for (std::size_t c = 0; c < 2; ++c)
        for (std::size_t i = 0; i < 4; ++i) rows.memory()[4 * c + i] = std::vector<double>{0, -1, 100, std::nan("")}[i];
    for (std::size_t i = 1; i < 4; ++i)
        for (std::size_t k = 2; k < 4; ++k) rows.memory()[4 * k + i] = rows.memory()[4 * k];
    const std::vector<double> common = values();
    for (const double value : common) EXPECT_EQ(value, common[0]);
    for (std::size_t p = 0; p < (3 + 6) * Embedded::kWidth; ++p) at[p] += 1;
    EXPECT_EQ(values(), common);
    rows.memory()[0] = 1;
    EXPECT_NE(values()[0], common[0]);
}

TEST(Embedded, PenaltyIsThatOfTheEffectsAlone) {
    const auto field = kind("network").make(Mixed::ranges(), 1, 0);
    std::vector<double> at(field->parameters(), 2.0);
    std::vector<double> slopes(at.size());
    const double effects = (3 + 6) * Embedded::kWidth;
    EXPECT_DOUBLE_EQ(field->penalty(at, slopes), Embedded::kRowsOfPenalty * effects * 2);
    for (std::size_t p = 0; p < slopes.size(); ++p)
        EXPECT_EQ(slopes[p], static_cast<double>(p) < effects ? 2 * Embedded::kRowsOfPenalty : 0);
    EXPECT_EQ(field->penalty(at, {}), field->penalty(at, slopes));
}

TEST(Embedded, OtherKindsRefuseCategories) {
    for (const std::string& name : kind_names()) {
        if (kind(name).takes_categories() || !kind(name).needs_inputs()) continue;
        try {
            make_field(name, Mixed::ranges(), 1, 10);
            FAIL() << name;
        } catch (const InputError& error) {
            EXPECT_STREQ(error.what(), ("a " + name + " takes numbers only, no categories").c_str());
        }
    }
}

// A level's effect is its mean shrunk by n/(n + within/between): by hand for two levels of the same size.
TEST(Correction, EffectsOfCategoriesAreShrunkMeans) {
    std::vector<double> memory, errors;
    core::Random random(3);
    constexpr std::size_t kEach = 50;
    for (std::size_t i = 0; i < 4 * kEach; ++i) {
        const std::size_t level = 1 + i / kEach;
        memory.push_back(static_cast<double>(level));
        errors.push_back((level % 2 == 0 ? 0.5 : -0.5) + random.normal());
    }
    const Columns x{memory.data(), memory.size(), 1};
    const std::vector<Range> ranges = {{0, 4, 5}};
    const Fitted fitted =
        fit_correction(correction_field("linear", ranges), x, errors, {}, std::vector<bool>(errors.size(), true));
    ASSERT_EQ(fitted.parameters.size(), 5U);
    double mean = 0;
    std::vector<double> means(4);
    for (std::size_t i = 0; i < errors.size(); ++i) {
        means[i / kEach] += errors[i] / kEach;
        mean += errors[i] / static_cast<double>(errors.size());
    }
    double within = 0;
    double between = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) within += std::pow(errors[i] - means[i / kEach], 2);
    within /= static_cast<double>(errors.size()) - 4;
    for (const double own : means) between += kEach * std::pow(own - mean, 2);
    between = (between / 3 - within) / kEach;
    ASSERT_GT(between, 0);
    const double share = kEach / (kEach + within / between);
    for (std::size_t level = 0; level < 4; ++level)
        EXPECT_NEAR(fitted.parameters[0] + fitted.parameters[level + 1], mean + share * (means[level] - mean), 1e-9);
}

TEST(Correction, CategoriesThatSayNothingHaveNoEffect) {
    std::vector<double> memory, errors;
    core::Random random(4);
    for (std::size_t i = 0; i < 400; ++i) {
        memory.push_back(static_cast<double>(1 + i % 40));
        errors.push_back(i % 40 == i / 10 ? 1.0 : -1.0);  // as little between the levels as can be
    }
    const std::vector<Range> ranges = {{0, 40, 41}};
    const Fitted fitted = fit_correction(correction_field("linear", ranges), {memory.data(), memory.size(), 1}, errors,
                                         {}, std::vector<bool>(errors.size(), true));
    for (std::size_t level = 0; level < 40; ++level) EXPECT_EQ(fitted.parameters[level + 1], 0);
}

}  // namespace
}  // namespace accrue::fields
