// What is written is read back: models, and the files that predict writes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "accrue/table.hpp"
#include "data/netcdf_fixture.hpp"
#include "data/temporary_folder.hpp"
#include "data/transform.hpp"
#include "support/archives.hpp"
#include "support/cases.hpp"
#include "support/threads.hpp"

namespace accrue {
namespace {

using support::Rows;
using support::same_bytes;
using Inputs = std::vector<std::span<const double>>;

// An archive and how it is fitted. Inputs may be constant, tied, tiny or huge; so may errors be.
struct FitCase {
    std::string name;
    Rows rows;
    std::vector<double> observation;
    FitOptions options;

    Archive archive() const {
        Archive a = rows.archive();
        if (observation.empty()) return a;
        a.errors = {};
        a.roles.error = "";
        a.observation = observation;
        a.roles.observation = "y";
        return a;
    }
    Inputs inputs() const { return {rows.inputs.begin(), rows.inputs.end()}; }
};

FitCase random_fit(std::uint64_t number) {
    core::Random random(number, 20);
    const auto pick = [&](std::vector<const char*> all) { return std::string(all[random.below(all.size())]); };
    const std::size_t n = 8 + random.below(25);
    const std::size_t inputs = 1 + random.below(2);
    FitCase c;
    const std::vector<std::string> forms = support::forms_of(inputs);
    c.options.form = forms[number % forms.size()];
    c.options.bias = pick({"none", "constant", "linear"});
    c.options.recalibrate = pick({"none", "isotonic"});
    c.options.folds = 2 + random.below(2);
    c.options.starts = 1;
    c.options.max_iterations = 5;
    c.options.seed = number;
    const std::string input = pick({"uniform", "tied", "constant", "1e-300", "1e150"});
    const std::string unit = pick({"1", "1e-290", "1e150"});  // a fit refuses errors that are all below 1e-300
    const bool mean = random.uniform() < 0.15;
    c.name = fmt::format("fit {}: {} rows, {} inputs {}, errors of {}, form {}, bias {}, recalibrate {}{}", number, n,
                         inputs, input, unit, c.options.form, c.options.bias, c.options.recalibrate,
                         mean ? ", mean learned" : "");
    c.rows = support::some_rows(n, number, inputs);
    for (auto& column : c.rows.inputs)
        for (double& x : column) {
            if (input == "tied") x = std::round(4 * x);
            if (input == "constant") x = 273.15;
            if (input == "1e-300") x *= 1e-300;
            if (input == "1e150") x *= 1e150;
        }
    for (double& e : c.rows.errors) {
        e *= std::stod(unit);
        c.rows.prediction.push_back(std::stod(unit) * random.normal());
    }
    // A mean is not learned where all rows that it is tried on have no weight.
    if (random.uniform() < 0.4)
        for (std::size_t i = 0; i < n; ++i)
            c.rows.weights.push_back(i % 4 == 0 && !mean ? 0.0 : std::exp(5 * random.normal()));
    if (mean) {
        c.options.mean = "network";
        c.options.bias = "none";
        c.observation = c.rows.errors;
        c.rows.prediction.clear();
    }
    return c;
}

void for_fits(std::uint64_t count, const auto& work) {
    for (std::uint64_t number = 0; number < count; ++number) {
        const FitCase c = random_fit(number);
        SCOPED_TRACE(c.name);
        work(c);
        if (testing::Test::HasFailure()) return;
    }
}

TEST(RoundTrips, AModelIsReadBackWithItsBytesAndForecasts) {
    for_fits(120, [](const FitCase& c) {
        const Model model = fit(c.archive(), c.options).model;
        const std::string text = model.text();
        const Model again = Model::parse(text);
        EXPECT_EQ(again.text(), text);
        // Also through a parser that knows nothing of it.
        EXPECT_EQ(Model::parse(nlohmann::ordered_json::parse(text).dump()).text(), text);
        for (const bool whole : {true, false}) {
            const auto forecast = [&](const Model& own) {
                return whole ? own.forecast(c.inputs(), c.rows.prediction)
                             : own.before_recalibration(c.inputs(), c.rows.prediction);
            };
            const Forecast expected = forecast(model);
            const Forecast found = forecast(again);
            EXPECT_TRUE(same_bytes(found.mean, expected.mean));
            EXPECT_TRUE(same_bytes(found.sigma, expected.sigma));
            EXPECT_EQ(found.off_support, expected.off_support);
            EXPECT_TRUE(same_bytes(found.parameters, expected.parameters));
            if (!whole || expected.mean.empty()) continue;
            for (const double p : {0.01, 0.5, 0.9})
                EXPECT_EQ(found.row(0).quantile(p), expected.row(0).quantile(p)) << p;
        }
    });
}

// A model's figures are those of the rows that a fit returns: the folds together make the whole. Not of recalibrated
// fits, whose every fold has a map of its own.
TEST(RoundTrips, FiguresOfAFitAreThoseOfItsHeldOutRows) {
    for_fits(60, [](const FitCase& c) {
        if (c.options.recalibrate != "none") return;
        const FitResult result = fit(c.archive(), c.options);
        ASSERT_EQ(result.errors.size(), c.rows.errors.size());
        const Verification again = verify(result.errors, result.sigmas, c.rows.weights);
        EXPECT_EQ(again.crps, result.verification.crps);
        EXPECT_EQ(again.rs, result.verification.rs);
        EXPECT_EQ(again.calibration_error, result.verification.calibration_error);
        EXPECT_EQ(again.diagram.observed, result.verification.diagram.observed);
        // In the file as well: JSON has the shortest number that is read back as the same.
        const auto json = result.model.json().at("verification");
        EXPECT_EQ(json.at("crps").get<double>(), again.crps);
        EXPECT_EQ(json.at("rs").get<double>(), again.rs);
    });
}

// Finite numbers of all sizes, and now and then none.
double any_number(core::Random& random) {
    constexpr std::array kHard = {0.0,
                                  -0.0,
                                  1.0,
                                  0.1,
                                  1e-300,
                                  1e150,
                                  1e22,
                                  1e23,
                                  9007199254740993.0,
                                  std::numeric_limits<double>::max(),
                                  std::numeric_limits<double>::lowest(),
                                  std::numeric_limits<double>::min(),
                                  std::numeric_limits<double>::denorm_min(),
                                  std::numeric_limits<double>::quiet_NaN()};
    const double kind = random.uniform();
    if (kind < 0.3) return random.normal();
    if (kind < 0.5) return kHard[random.below(kHard.size())];
    if (kind < 0.6) return std::round(10 * random.normal()) / 10;
    // Any bits, but for infinities and NaN.
    for (;;) {
        const std::uint64_t bits = (static_cast<std::uint64_t>(random.below(1U << 31U)) << 33U) ^
                                   (static_cast<std::uint64_t>(random.below(1U << 31U)) << 16U) ^
                                   random.below(1U << 20U);
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        if (std::isfinite(value)) return value;
    }
}

// Columns of results as predict adds them, handed out by the row number, which is the file's only input.
struct Results {
    std::vector<std::vector<double>> columns;
    data::TransformPlan plan;

    Results(std::size_t rows, core::Random& random) {
        plan.inputs = {{"row"}};
        plan.rows_of = "row";
        plan.history = "test";
        plan.added = {{"mean", "mean"}, {"sigma", "sigma"}, {"lower_0.9", "lower end"}, {"off_support", "flag"}};
        plan.added.back().flag = true;
        for (std::size_t k = 0; k < plan.added.size(); ++k) {
            columns.emplace_back();
            for (std::size_t i = 0; i < rows; ++i)
                columns[k].push_back(plan.added[k].flag ? static_cast<double>(random.below(2)) : any_number(random));
        }
    }
    void write(const std::string& from, const std::string& to) const {
        data::transform_rows({from}, to, plan, [&](auto values, auto results, std::size_t) {
            for (std::size_t k = 0; k < columns.size(); ++k)
                for (std::size_t i = 0; i < results[k].size(); ++i)
                    results[k][i] = columns[k][static_cast<std::size_t>(values[0][i])];
        });
    }
    void expect_in(const std::string& file) const {
        std::vector<ColumnRequest> requests = {{"row"}};
        for (const data::AddedColumn& column : plan.added) requests.push_back({column.name});
        const Table table = read_table({file}, requests, {.missing = Missing::keep});
        ASSERT_EQ(table.rows(), columns[0].size());
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const auto found = table.numbers(plan.added[k].name);
            for (std::size_t i = 0; i < columns[k].size(); ++i) {
                if (std::isnan(columns[k][i])) {
                    EXPECT_TRUE(std::isnan(found[i])) << plan.added[k].name << ", row " << i;
                    continue;
                }
                EXPECT_EQ(found[i], columns[k][i]) << plan.added[k].name << ", row " << i;
            }
        }
    }
};

constexpr std::array<std::size_t, 6> kFileRows = {1, 2, 3, 17, 64, 300};

TEST(RoundTrips, TextThatPredictWritesHasTheSameNumbers) {
    const test::TemporaryFolder folder;
    for (std::uint64_t number = 0; number < 60; ++number) {
        SCOPED_TRACE(number);
        core::Random random(number, 21);
        const std::size_t rows = kFileRows[number % kFileRows.size()];
        const Results results(rows, random);
        const char separator = number % 2 == 0 ? ',' : ';';
        std::string text = fmt::format("note{}row\n", separator);
        for (std::size_t i = 0; i < rows; ++i) text += fmt::format("\"a, b\"{}{}\n", separator, i);
        const std::string from = folder.file("in.csv", text);
        results.write(from, folder.path("out.csv"));
        results.expect_in(folder.path("out.csv"));
        if (HasFailure()) return;
    }
}

TEST(RoundTrips, NetcdfThatPredictWritesHasTheSameNumbers) {
    const test::TemporaryFolder folder;
    for (std::uint64_t number = 0; number < 60; ++number) {
        SCOPED_TRACE(number);
        core::Random random(number, 22);
        const std::size_t rows = kFileRows[number % kFileRows.size()];
        const Results results(rows, random);
        const std::string from = folder.path("in.nc");
        int file = 0;
        std::array<int, 2> dimensions{};
        int variable = 0;
        constexpr std::array kFormats = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4};
        test::check(nc_create(from.c_str(), NC_CLOBBER | kFormats[number % kFormats.size()], &file));
        test::check(nc_def_dim(file, "time", NC_UNLIMITED, dimensions.data()));
        test::check(nc_def_dim(file, "site", rows % 2 == 0 ? 2 : 1, &dimensions[1]));
        test::check(nc_def_var(file, "row", NC_INT, 2, dimensions.data(), &variable));
        test::check(nc_enddef(file));
        std::vector<int> numbers(rows);
        for (std::size_t i = 0; i < rows; ++i) numbers[i] = static_cast<int>(i);
        const std::size_t sites = rows % 2 == 0 ? 2 : 1;
        const std::array<std::size_t, 2> start = {0, 0};
        const std::array<std::size_t, 2> count = {rows / sites, sites};
        test::check(nc_put_vara_int(file, variable, start.data(), count.data(), numbers.data()));
        test::check(nc_close(file));
        results.write(from, folder.path("out.nc"));
        results.expect_in(folder.path("out.nc"));
        if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace accrue
