// What every kind of field must keep, all in one loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "accrue/error.hpp"
#include "fields/average.hpp"
#include "fields/kinds.hpp"
#include "fields/rows.hpp"
#include "support/gradient.hpp"
#include "support/threads.hpp"

namespace accrue::fields {
namespace {

using support::same_bytes;

// Around the blocks of 128 rows that the network works in, with and without rows before the first one.
struct Stretch {
    std::size_t begin;
    std::size_t rows;
};
constexpr Stretch kStretches[] = {{0, 1}, {0, 7}, {0, 127}, {0, 128}, {0, 129}, {0, 300}, {1, 128}, {5, 300}, {131, 7}};

std::vector<double> values(const Field& field, const std::vector<double>& parameters, const Columns& x,
                           std::size_t begin, std::size_t end) {
    std::vector<double> out(end - begin);
    field.values(parameters, x, begin, end, out.data(), 0);
    return out;
}

std::vector<double> slopes_of(std::size_t rows, std::uint64_t seed) {
    core::Random random(seed);
    std::vector<double> slopes(rows);
    for (double& s : slopes) s = random.uniform(0.5, 1.5);
    return slopes;
}

// Others may have kinks and jumps, which a large step would cross.
bool is_smooth(const std::string& name) {
    return name == "constant" || name == "polynomial";
}

TEST(Fields, GradientAgreesWithCentralDifferences) {
    for (const std::string& name : kind_names())
        for (const Stretch& stretch : kStretches) {
            SCOPED_TRACE(testing::Message() << name << ", rows " << stretch.begin << " + " << stretch.rows);
            const TestRows rows(stretch.begin + stretch.rows, inputs_of(name), 60);
            const auto field = some_field(name, rows.ranges());
            const std::vector<double> at = some_parameters(*field, 61);
            ASSERT_TRUE(field->admissible(at));
            const std::vector<double> slopes = slopes_of(stretch.rows, 62);
            std::vector<double> gradient(at.size());
            field->add_gradient(at, rows.columns(), stretch.begin, stretch.begin + stretch.rows, slopes.data(), 0,
                                gradient.data());
            const auto total = [&](std::span<const double> p) {
                std::vector<double> out(stretch.rows);
                field->values(p, rows.columns(), stretch.begin, stretch.begin + stretch.rows, out.data(), 0);
                double sum = 0;
                for (std::size_t i = 0; i < out.size(); ++i) sum += slopes[i] * out[i];
                return sum;
            };
            // The network has kinks, and clusters have jumps. A step of 1e-7 crosses one of 60 x 300 kinks with a
            // probability of about 1% a parameter, and these seeds cross none; rounding is then about 1e-16/1e-7 of
            // the value.
            const bool kinks = !is_smooth(name);
            support::expect_gradient(total, gradient, at, kinks ? 2e-5 : 1e-7,
                                     {.relative = kinks ? 1e-7 : 1e-4, .least = 1});
        }
}

TEST(Fields, GradientIsAddedToWhatIsThere) {
    for (const std::string& name : kind_names()) {
        SCOPED_TRACE(name);
        const TestRows rows(200, inputs_of(name), 63);
        const auto field = some_field(name, rows.ranges());
        const std::vector<double> at = some_parameters(*field, 64);
        const std::vector<double> slopes = slopes_of(200, 65);
        std::vector<double> alone(at.size());
        std::vector<double> on_top(at.size(), 1000.0);
        field->add_gradient(at, rows.columns(), 0, 200, slopes.data(), 0, alone.data());
        field->add_gradient(at, rows.columns(), 0, 200, slopes.data(), 0, on_top.data());
        for (std::size_t p = 0; p < at.size(); ++p) EXPECT_NEAR(on_top[p], 1000 + alone[p], 1e-12 * (1000 + 200));
    }
}

TEST(Fields, BytesDoNotDependOnAlignment) {
    for (const std::string& name : kind_names()) {
        std::vector<double> first_values;
        std::vector<double> first_gradient;
        for (std::size_t offset = 0; offset < 9; ++offset) {
            SCOPED_TRACE(testing::Message() << name << ", offset " << offset);
            // The same numbers everywhere, but every array begins elsewhere.
            const TestRows rows(300, inputs_of(name), 66, offset);
            const auto field = some_field(name, rows.ranges());
            const std::vector<double> parameters = some_parameters(*field, 67);
            const std::vector<double> slopes = slopes_of(300, 68);
            std::vector<double> moved_parameters(offset + parameters.size());
            std::copy(parameters.begin(), parameters.end(), &moved_parameters[offset]);
            std::vector<double> moved_slopes(offset + 300);
            std::copy(slopes.begin(), slopes.end(), &moved_slopes[offset]);
            const std::span<const double> p = std::span<const double>(moved_parameters).subspan(offset);
            std::vector<double> out(offset + 300);
            std::vector<double> gradient(offset + p.size());
            field->values(p, rows.columns(), 0, 300, &out[offset], 0);
            field->add_gradient(p, rows.columns(), 0, 300, &moved_slopes[offset], 0, &gradient[offset]);
            out = {out.begin() + static_cast<std::ptrdiff_t>(offset), out.end()};
            gradient = {gradient.begin() + static_cast<std::ptrdiff_t>(offset), gradient.end()};
            if (offset == 0) {
                first_values = out;
                first_gradient = gradient;
            }
            EXPECT_TRUE(same_bytes(out, first_values));
            EXPECT_TRUE(same_bytes(gradient, first_gradient));
        }
    }
}

TEST(Fields, ARowHasTheSameSigmaInWhateverCompany) {
    for (const std::string& name : kind_names()) {
        const TestRows rows(300, inputs_of(name), 69);
        const auto field = some_field(name, rows.ranges());
        const std::vector<double> parameters = some_parameters(*field, 70);
        const std::vector<double> whole = values(*field, parameters, rows.columns(), 0, 300);
        for (const std::size_t piece : {1, 3, 7, 64, 127, 128, 129, 299}) {
            SCOPED_TRACE(testing::Message() << name << ", pieces of " << piece);
            std::vector<double> joined;
            for (std::size_t at = 0; at < 300; at += piece) {
                const auto part =
                    values(*field, parameters, rows.columns(), at, std::min<std::size_t>(300, at + piece));
                joined.insert(joined.end(), part.begin(), part.end());
            }
            EXPECT_TRUE(same_bytes(joined, whole));
        }
    }
}

TEST(Fields, AreDefinedForEnormousInputs) {
    for (const std::string& name : kind_names())
        for (const double scale : {1e6, 1e100, 1e300}) {
            SCOPED_TRACE(testing::Message() << name << ", inputs of " << scale);
            const TestRows rows(200, inputs_of(name), 71, 0, scale);
            const auto field = some_field(name, rows.ranges());
            const std::vector<double> parameters = some_parameters(*field, 72);
            for (const double value : values(*field, parameters, rows.columns(), 0, 200)) {
                EXPECT_TRUE(std::isfinite(value));
                if (!std::isfinite(value)) break;
            }
            const std::vector<double> slopes = slopes_of(200, 73);
            std::vector<double> gradient(parameters.size());
            field->add_gradient(parameters, rows.columns(), 0, 200, slopes.data(), 0, gradient.data());
            for (const double g : gradient) {
                EXPECT_FALSE(std::isnan(g));
                if (std::isnan(g)) break;
            }
        }
}

TEST(Fields, StartNearTheSpreadOfTheErrors) {
    for (const std::string& name : kind_names()) {
        SCOPED_TRACE(name);
        const TestRows rows(500, inputs_of(name), 74);
        const auto field = some_field(name, rows.ranges());
        core::Random random(75);
        const std::vector<double> start = field->start(random, std::vector<double>{-1.5});
        EXPECT_EQ(start.size(), field->parameters());
        EXPECT_TRUE(field->admissible(start));
        double mean = 0;
        for (const double value : values(*field, start, rows.columns(), 0, 500)) mean += value / 500;
        // The output weights add 0.3 at random; four times that.
        EXPECT_NEAR(mean, -1.5, 1.2);
    }
}

TEST(Fields, BadRequestsAreRefusedWithTheRule) {
    const std::vector<Range> one = {{-1, 1}};
    const std::vector<Range> two = {{-1, 1}, {-1, 1}};
    const auto message = [](const auto& request) -> std::string {
        try {
            request();
        } catch (const InputError& error) {
            return error.what();
        }
        return "no refusal";
    };
    const auto of_size = [&](const char* name, const std::vector<Range>& ranges, std::size_t size) {
        return [=] { kind(name).make(ranges, 1, size); };
    };
    EXPECT_EQ(message([&] { make_field("spline", one, 1, 1); }),
              "there is no form 'spline'; known are clusters, constant, network, polynomial");
    // A model file may have any name.
    EXPECT_LT(message([&] { make_field(std::string(100'000, 's'), one, 1, 1); }).size(), 200U);
    EXPECT_EQ(message(of_size("polynomial", two, 1)), "a polynomial takes one input; there are 2");
    EXPECT_EQ(message(of_size("polynomial", one, 11)), "the order of a polynomial is at most 10; it is 11");
    EXPECT_EQ(message(of_size("clusters", one, 11)), "there are 1 to 10 clusters; it has 11");
    EXPECT_EQ(message([&] { make_field("network", {}, 1, 621); }), "a network needs at least one input");
    EXPECT_EQ(message([&] { make_field("network", one, 1, 600); }), "a network has 600 parameters in place of 621");
    EXPECT_NO_THROW(make_field("constant", {}, 1, 1));
}

TEST(Fields, SeveralOutputsHaveTheGradientOfTheirSum) {
    constexpr std::size_t kRows = 150;
    constexpr std::size_t kOutputs = 3;
    for (const std::string& name : kind_names()) {
        SCOPED_TRACE(name);
        const TestRows rows(kRows, inputs_of(name), 90);
        const auto field = some_field(name, rows.ranges(), kOutputs);
        ASSERT_EQ(field->outputs(), kOutputs);
        const std::vector<double> at = some_parameters(*field, 91);
        ASSERT_EQ(at.size(), field->parameters());
        const std::vector<double> slopes = slopes_of(kOutputs * kRows, 92);
        std::vector<double> gradient(at.size());
        field->add_gradient(at, rows.columns(), 0, kRows, slopes.data(), kRows, gradient.data());
        const auto total = [&](std::span<const double> p) {
            std::vector<double> out(kOutputs * kRows);
            field->values(p, rows.columns(), 0, kRows, out.data(), kRows);
            double sum = 0;
            for (std::size_t i = 0; i < out.size(); ++i) sum += slopes[i] * out[i];
            return sum;
        };
        // As for one output.
        const bool kinks = !is_smooth(name);
        support::expect_gradient(total, gradient, at, kinks ? 2e-5 : 1e-7,
                                 {.relative = kinks ? 1e-7 : 1e-4, .least = 1});
        // A start lies about the level of every output.
        core::Random random(93);
        const std::vector<double> levels = {-1.5, 0, 2};
        const std::vector<double> start = field->start(random, levels);
        std::vector<double> out(kOutputs * kRows);
        field->values(start, rows.columns(), 0, kRows, out.data(), kRows);
        for (std::size_t p = 0; p < kOutputs; ++p) {
            double mean = 0;
            for (std::size_t i = 0; i < kRows; ++i) mean += out[p * kRows + i] / kRows;
            EXPECT_NEAR(mean, levels[p], 1.2);
        }
    }
}

TEST(Fields, AFileTellsTheSizeByTheParameters) {
    const TestRows rows(10, 1, 94);
    for (const std::string& name : kind_names())
        for (std::size_t size = kind(name).sizes().first; size <= kind(name).sizes().last; ++size) {
            const std::size_t parameters = kind(name).make(rows.ranges(), 1, size)->parameters();
            EXPECT_EQ(make_field(name, rows.ranges(), 1, parameters)->parameters(), parameters) << name << size;
            EXPECT_EQ(kind(name).size_of(1, parameters), size);
        }
}

TEST(Ensemble, IsTheMeanOfBoundedLogSigma) {
    const TestRows rows(2500, 1, 76);  // more than the ensemble's own block of 1024
    std::vector<Fitted> members;
    for (const std::string& name : kind_names()) {
        std::shared_ptr<const Field> field = some_field(name, rows.ranges());
        std::vector<double> parameters = some_parameters(*field, 77);
        members.push_back({std::move(field), std::move(parameters)});
    }
    // Two that leave the allowed range, one on each side.
    members.push_back({make_field("constant", rows.ranges(), 1, 1), {-1000.0}});
    members.push_back({make_field("constant", rows.ranges(), 1, 1), {50.0}});
    std::vector<double> out(2500 - 3);
    average(members, std::span(&kLogSigmaBounds, 1), rows.columns(), 3, 2500, out.data(), 0);
    for (std::size_t i = 3; i < 2500; ++i) {
        double sum = kLowestLogSigma + kHighestLogSigma;
        for (std::size_t m = 0; m + 2 < members.size(); ++m)
            sum += values(*members[m].field, members[m].parameters, rows.columns(), i, i + 1)[0];
        // Sums of six numbers of up to 14, in another order.
        ASSERT_NEAR(out[i - 3], sum / static_cast<double>(members.size()), 1e-14) << i;
    }
}

}  // namespace
}  // namespace accrue::fields
