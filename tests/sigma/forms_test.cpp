// What every form must keep, registered forms all in one loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "accrue/error.hpp"
#include "sigma/ensemble.hpp"
#include "sigma/form.hpp"
#include "sigma/rows.hpp"
#include "support/gradient.hpp"
#include "support/threads.hpp"

namespace accrue::sigma {
namespace {

using support::same_bytes;

// Around the blocks of 128 rows that the network works in, with and without rows before the first one.
struct Stretch {
    std::size_t begin;
    std::size_t rows;
};
constexpr Stretch kStretches[] = {{0, 1}, {0, 7}, {0, 127}, {0, 128}, {0, 129}, {0, 300}, {1, 128}, {5, 300}, {131, 7}};

std::vector<double> values(const Form& form, const std::vector<double>& parameters, const Columns& x, std::size_t begin,
                           std::size_t end) {
    std::vector<double> out(end - begin);
    form.log_sigma(parameters, x, begin, end, out.data());
    return out;
}

std::vector<double> slopes_of(std::size_t rows, std::uint64_t seed) {
    core::Random random(seed);
    std::vector<double> slopes(rows);
    for (double& s : slopes) s = random.uniform(0.5, 1.5);
    return slopes;
}

TEST(Forms, GradientAgreesWithCentralDifferences) {
    for (const std::string& name : form_names())
        for (const Stretch& stretch : kStretches) {
            SCOPED_TRACE(testing::Message() << name << ", rows " << stretch.begin << " + " << stretch.rows);
            const TestRows rows(stretch.begin + stretch.rows, inputs_of(name), 60);
            const auto form = make_form(name, rows.ranges(), 6);
            const std::vector<double> at = some_parameters(*form, 61);
            ASSERT_TRUE(form->admissible(at));
            const std::vector<double> slopes = slopes_of(stretch.rows, 62);
            std::vector<double> gradient(at.size());
            form->add_gradient(at, rows.columns(), stretch.begin, stretch.begin + stretch.rows, slopes.data(),
                               gradient.data());
            const auto total = [&](std::span<const double> p) {
                std::vector<double> out(stretch.rows);
                form->log_sigma(p, rows.columns(), stretch.begin, stretch.begin + stretch.rows, out.data());
                double sum = 0;
                for (std::size_t i = 0; i < out.size(); ++i) sum += slopes[i] * out[i];
                return sum;
            };
            // The network has kinks. A step of 1e-7 crosses one of its 60 x 300 with a probability of about 1% a
            // parameter, and these seeds cross none; rounding is then about 1e-16/1e-7 of the value.
            const bool kinks = name == "network";
            support::expect_gradient(total, gradient, at, kinks ? 2e-5 : 1e-7,
                                     {.relative = kinks ? 1e-7 : 1e-4, .least = 1});
        }
}

TEST(Forms, GradientIsAddedToWhatIsThere) {
    for (const std::string& name : form_names()) {
        SCOPED_TRACE(name);
        const TestRows rows(200, inputs_of(name), 63);
        const auto form = make_form(name, rows.ranges(), 4);
        const std::vector<double> at = some_parameters(*form, 64);
        const std::vector<double> slopes = slopes_of(200, 65);
        std::vector<double> alone(at.size());
        std::vector<double> on_top(at.size(), 1000.0);
        form->add_gradient(at, rows.columns(), 0, 200, slopes.data(), alone.data());
        form->add_gradient(at, rows.columns(), 0, 200, slopes.data(), on_top.data());
        for (std::size_t p = 0; p < at.size(); ++p) EXPECT_NEAR(on_top[p], 1000 + alone[p], 1e-12 * (1000 + 200));
    }
}

TEST(Forms, BytesDoNotDependOnAlignment) {
    for (const std::string& name : form_names()) {
        std::vector<double> first_values;
        std::vector<double> first_gradient;
        for (std::size_t offset = 0; offset < 9; ++offset) {
            SCOPED_TRACE(testing::Message() << name << ", offset " << offset);
            // The same numbers everywhere, but every array begins elsewhere.
            const TestRows rows(300, inputs_of(name), 66, offset);
            const auto form = make_form(name, rows.ranges(), 8);
            const std::vector<double> parameters = some_parameters(*form, 67);
            const std::vector<double> slopes = slopes_of(300, 68);
            std::vector<double> moved_parameters(offset + parameters.size());
            std::copy(parameters.begin(), parameters.end(), &moved_parameters[offset]);
            std::vector<double> moved_slopes(offset + 300);
            std::copy(slopes.begin(), slopes.end(), &moved_slopes[offset]);
            const std::span<const double> p = std::span<const double>(moved_parameters).subspan(offset);
            std::vector<double> out(offset + 300);
            std::vector<double> gradient(offset + p.size());
            form->log_sigma(p, rows.columns(), 0, 300, &out[offset]);
            form->add_gradient(p, rows.columns(), 0, 300, &moved_slopes[offset], &gradient[offset]);
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

TEST(Forms, ARowHasTheSameSigmaInWhateverCompany) {
    for (const std::string& name : form_names()) {
        const TestRows rows(300, inputs_of(name), 69);
        const auto form = make_form(name, rows.ranges(), 10);
        const std::vector<double> parameters = some_parameters(*form, 70);
        const std::vector<double> whole = values(*form, parameters, rows.columns(), 0, 300);
        for (const std::size_t piece : {1, 3, 7, 64, 127, 128, 129, 299}) {
            SCOPED_TRACE(testing::Message() << name << ", pieces of " << piece);
            std::vector<double> joined;
            for (std::size_t at = 0; at < 300; at += piece) {
                const auto part = values(*form, parameters, rows.columns(), at, std::min<std::size_t>(300, at + piece));
                joined.insert(joined.end(), part.begin(), part.end());
            }
            EXPECT_TRUE(same_bytes(joined, whole));
        }
    }
}

TEST(Forms, AreDefinedForEnormousInputs) {
    for (const std::string& name : form_names())
        for (const double scale : {1e6, 1e100, 1e300}) {
            SCOPED_TRACE(testing::Message() << name << ", inputs of " << scale);
            const TestRows rows(200, inputs_of(name), 71, 0, scale);
            const auto form = make_form(name, rows.ranges(), 5);
            const std::vector<double> parameters = some_parameters(*form, 72);
            for (const double value : values(*form, parameters, rows.columns(), 0, 200)) {
                EXPECT_TRUE(std::isfinite(value));
                if (!std::isfinite(value)) break;
            }
            const std::vector<double> slopes = slopes_of(200, 73);
            std::vector<double> gradient(parameters.size());
            form->add_gradient(parameters, rows.columns(), 0, 200, slopes.data(), gradient.data());
            for (const double g : gradient) {
                EXPECT_FALSE(std::isnan(g));
                if (std::isnan(g)) break;
            }
        }
}

TEST(Forms, StartNearTheSpreadOfTheErrors) {
    for (const std::string& name : form_names()) {
        SCOPED_TRACE(name);
        const TestRows rows(500, inputs_of(name), 74);
        const auto form = make_form(name, rows.ranges(), 3);
        core::Random random(75);
        const std::vector<double> start = form->start(random, -1.5);
        EXPECT_EQ(start.size(), form->parameters());
        EXPECT_TRUE(form->admissible(start));
        double mean = 0;
        for (const double value : values(*form, start, rows.columns(), 0, 500)) mean += value / 500;
        // The output weights add 0.3 at random; four times that.
        EXPECT_NEAR(mean, -1.5, 1.2);
    }
}

TEST(Forms, BadRequestsAreRefusedWithTheRule) {
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
    EXPECT_EQ(message([&] { make_form("spline", one); }),
              "there is no form 'spline'; known are clusters, constant, network, polynomial");
    EXPECT_EQ(message([&] { make_form("polynomial", two); }), "a polynomial takes one input; there are 2");
    EXPECT_EQ(message([&] { make_form("polynomial", one, 11); }), "the order of a polynomial is at most 10; it is 11");
    EXPECT_EQ(message([&] { make_form("network", {}); }), "a network needs at least one input");
    EXPECT_NO_THROW(make_form("constant", {}));
}

TEST(Ensemble, IsTheMeanOfBoundedLogSigma) {
    const TestRows rows(2500, 1, 76);  // more than the ensemble's own block of 1024
    std::vector<Member> members;
    for (const std::string& name : form_names()) {
        std::shared_ptr<const Form> form = make_form(name, rows.ranges(), 4);
        std::vector<double> parameters = some_parameters(*form, 77);
        members.push_back({std::move(form), std::move(parameters)});
    }
    // Two that leave the allowed range, one on each side.
    members.push_back({make_form("constant", rows.ranges()), {-1000.0}});
    members.push_back({make_form("constant", rows.ranges()), {50.0}});
    std::vector<double> out(2500 - 3);
    log_sigma(members, rows.columns(), 3, 2500, out.data());
    for (std::size_t i = 3; i < 2500; ++i) {
        double sum = kLowestLogSigma + kHighestLogSigma;
        for (std::size_t m = 0; m + 2 < members.size(); ++m)
            sum += values(*members[m].form, members[m].parameters, rows.columns(), i, i + 1)[0];
        // Sums of six numbers of up to 14, in another order.
        ASSERT_NEAR(out[i - 3], sum / static_cast<double>(members.size()), 1e-14) << i;
    }
}

}  // namespace
}  // namespace accrue::sigma
