#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "data/transform.hpp"
#include "netcdf_fixture.hpp"

namespace accrue::data {
namespace {

using Numbers = std::vector<double>;
using Values = std::span<const std::span<const double>>;
using Results = std::span<const std::span<double>>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Numbers column(const std::string& file, const std::string& name, Missing missing = Missing::refuse) {
    const Table table = read_table({file}, {{name}}, {.missing = missing});
    return {table.numbers(name).begin(), table.numbers(name).end()};
}

TransformPlan plan_for(const std::vector<std::string>& inputs) {
    TransformPlan plan;
    for (const std::string& name : inputs) plan.inputs.push_back({name});
    plan.rows_of = inputs.front();
    plan.added = {{.name = "sigma", .long_name = "standard deviation of the error"},
                  {.name = "q0.05", .long_name = "0.05 quantile", .probability = 0.05},
                  {.name = "q0.95", .long_name = "0.95 quantile", .probability = 0.95},
                  {.name = "off_support",
                   .long_name = "outside of the training range",
                   .flag = true,
                   .has_units_of_rows = false}};
    plan.history = "accrue predict model.json a.nc -o out.nc";
    return plan;
}

// sigma = sum of the inputs, quantiles = 10 times and 100 times as much, flag where it is odd.
void compute(Values values, Results results, std::size_t) {
    for (std::size_t row = 0; row < results[0].size(); ++row) {
        double sum = 0;
        for (const auto& input : values) sum += input[row];
        results[0][row] = sum;
        results[1][row] = 10 * sum;
        results[2][row] = 100 * sum;
        results[3][row] = std::fmod(sum, 2) != 0 ? 1 : 0;  // also where the sum is a NaN
    }
}

const std::string kField = R"(
dimensions: time = UNLIMITED ; lat = 2 ; n = 4 ;
variables:
  double time(time) ; time:units = "hours since 2000-01-01" ; time:calendar = "standard" ;
  float lat(lat) ; lat:units = "degrees_north" ;
  short mu(time, lat) ; mu:units = "K" ; mu:scale_factor = 0.5f ; mu:_FillValue = -1s ; mu:coordinates = "name" ;
  char name(lat, n) ;
  int crs ; crs:grid_mapping_name = "latitude_longitude" ;
  :Conventions = "CF-1.8" ; :history = "made by hand" ;
data:
  time = 0, 6, 12 ; lat = 10, 20 ; mu = 2, 4, -1, 8, 10, 12 ; name = "Oslo", "Rome" ; crs = 1 ;
)";

class NetcdfTransform : public test::NetcdfTest {
protected:
    std::string transform(const std::string& file, const TransformPlan& plan, const std::string& name = "out.nc") {
        transform_rows({file}, folder_.path(name), plan, compute);
        return folder_.path(name);
    }
    std::string transform_message(const std::string& file, const TransformPlan& plan,
                                  const std::string& name = "out.nc") {
        return message([&] { transform(file, plan, name); });
    }
};

void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

TEST_F(NetcdfTransform, TheOutputKeepsTheInputAndAddsVariables) {
    for (const char* kind : {"classic", "64-bit offset", "cdf5", "netCDF-4", "netCDF-4 classic model"}) {
        const std::string file = from_cdl("a.nc", kField, kind);
        const std::string out = transform(file, plan_for({"mu", "lat"}));
        EXPECT_EQ(dump("out.nc", "-k"), std::string(kind) + "\n");

        const std::string header = dump("out.nc", "-h");
        for (const char* line :
             {"time = UNLIMITED ; // (3 currently)", "quantile = 2 ;", "short mu(time, lat) ;",
              "mu:scale_factor = 0.5f ;", "mu:_FillValue = -1s ;", "double quantile(quantile) ;",
              "quantile:units = \"1\" ;", "double sigma(time, lat) ;",
              "sigma:long_name = \"standard deviation of the error\" ;", "sigma:units = \"K\" ;",
              "sigma:coordinates = \"name\" ;", "sigma:_FillValue = 9.96920996838687e+36 ;",
              // Classic files cannot have anything before the record dimension.
              "double quantiles(time, quantile, lat) ;", "quantiles:units = \"K\" ;", "byte off_support(time, lat) ;",
              "off_support:flag_values = 0b, 1b ;", "off_support:flag_meanings = \"no yes\" ;",
              ":Conventions = \"CF-1.8\" ;", "Z accrue predict model.json a.nc -o out.nc\\n"})
            expect_contains(header, line);
        expect_contains(header, "made by hand\" ;");
        EXPECT_EQ(header.find("off_support:units"), std::string::npos);

        const std::string values = dump("out.nc");
        expect_contains(values, " sigma =\n  11, 22,\n  _, 24,\n  15, 26 ;");
        expect_contains(values, " off_support =\n  1, 0,\n  _, 0,\n  1, 0 ;");
        expect_contains(values, " quantile = 0.05, 0.95 ;");
        expect_contains(values,
                        " quantiles =\n  110, 220,\n  1100, 2200,\n  _, 240,\n  _, 2400,\n  150, 260,\n  1500, 2600 ;");
        for (const char* variable : {"time", "lat", "mu", "name", "crs"})
            EXPECT_EQ(test::output_of("ncdump -v " + std::string(variable) + " " + out + " | sed -n '/^data:/,$p'"),
                      test::output_of("ncdump -v " + std::string(variable) + " " + file + " | sed -n '/^data:/,$p'"));
        EXPECT_EQ(folder_.files(), 2U) << "nothing is left beside the files";
    }
}

TEST_F(NetcdfTransform, WithoutRecordsTheQuantilesComeFirst) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: lat = 2 ; lon = 2 ;
variables: double mu(lat, lon) ; double lon(lon) ; data: mu = 1, 2, 3, 4 ; lon = 0, 100 ;)");
    transform(file, plan_for({"mu", "lon"}));
    expect_contains(dump("out.nc", "-h"), "double quantiles(quantile, lat, lon) ;");
    EXPECT_EQ(column(folder_.path("out.nc"), "quantiles"), (Numbers{10, 1020, 30, 1040, 100, 10200, 300, 10400}));
}

TEST_F(NetcdfTransform, RowsAreThoseOfTheInputWithMostDimensions) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 2 ; y = 2 ;
variables: double a ; double b(x) ; double c(y, x) ; double d(x, y) ;
data: a = 1 ; b = 10, 20 ; c = 1, 2, 3, 4 ; d = 0, 0, 0, 0 ;)");
    TransformPlan plan = plan_for({"a", "b", "c", "d"});
    plan.rows_of = "";
    transform(file, plan);
    expect_contains(dump("out.nc", "-h"), "double sigma(y, x) ;");
    EXPECT_EQ(column(folder_.path("out.nc"), "sigma"), (Numbers{12, 23, 14, 25}));
    // One value is a row as well.
    transform(file, plan_for({"a"}), "one.nc");
    EXPECT_EQ(column(folder_.path("one.nc"), "quantiles"), (Numbers{10, 100}));
}

TEST_F(NetcdfTransform, InputsAreComputedFromVariables) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 2 ; y = 2 ;
variables: double a(x) ; double b(y) ; double c(y, x) ; c:units = "K" ;
data: a = 1, 2 ; b = 10, 20 ; c = 1, 2, 3, -9999 ;)");
    TransformPlan plan = plan_for({"a + b", "c"});
    plan.rows_of = "mean(c, a)";
    plan.marks.values = {-9999};
    transform(file, plan);
    expect_contains(dump("out.nc", "-h"), "double sigma(y, x) ;");
    EXPECT_EQ(dump("out.nc", "-h").find("sigma:units"), std::string::npos) << "a computed column has none";
    expect_contains(dump("out.nc"), " sigma =\n  12, 14,\n  24, _ ;");
}

TEST_F(NetcdfTransform, RowsHaveTheDimensionsOfAllInputsTogether) {
    for (const char* kind : {"classic", "nc4"}) {
        const std::string file = from_cdl("a.nc", R"(
dimensions: time = UNLIMITED ; x = 2 ; y = 3 ;
variables: double t(time) ; double a(x) ; double b(y) ; double c(y, x) ;
data: t = 100, 200 ; a = 10, 20 ; b = 1, 2, 3 ; c = 0, 0, 0, 0, 0, 0 ;)",
                                          kind);
        TransformPlan plan = plan_for({"a", "b"});
        plan.rows_of = "";
        transform(file, plan, "ab.nc");
        expect_contains(dump("ab.nc", "-h"), "double sigma(x, y) ;");
        EXPECT_EQ(column(folder_.path("ab.nc"), "sigma"), (Numbers{11, 12, 13, 21, 22, 23}));
        // The input with the most dimensions comes first, and an unlimited one before all.
        plan = plan_for({"a", "t", "c", "b"});
        plan.rows_of = "";
        transform(file, plan, "all.nc");
        expect_contains(dump("all.nc", "-h"), "double sigma(time, y, x) ;");
        EXPECT_EQ(column(folder_.path("all.nc"), "sigma"),
                  (Numbers{111, 121, 112, 122, 113, 123, 211, 221, 212, 222, 213, 223}));
    }
}

TEST_F(NetcdfTransform, Netcdf4KeepsGroupsTypesChunksAndCompression) {
    const std::string file = from_cdl("a.nc", R"(
types: compound pair { int a ; int b ; } ;
dimensions: x = UNLIMITED ; y = 6 ;
variables:
  double mu(x, y) ; mu:_ChunkSizes = 2, 3 ; mu:_DeflateLevel = 4 ; mu:_Shuffle = "true" ; pair p(y) ; string s(y) ;
data: mu = 1, 2, 3, 4, 5, 6 ; p = {1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12} ; s = "a", "b", "c", "d", "e", "f" ;
group: more { variables: int k(y) ; data: k = 1, 2, 3, 4, 5, 6 ; })",
                                      "nc4");
    transform(file, plan_for({"mu"}));
    const std::string text = dump("out.nc", "-s");
    for (const char* line :
         {"sigma:_ChunkSizes = 2, 3 ;", "sigma:_DeflateLevel = 4 ;", "sigma:_Shuffle = \"true\" ;",
          "quantiles:_ChunkSizes = 2, 1, 3 ;", "mu:_DeflateLevel = 4 ;", "group: more {", "k = 1, 2, 3, 4, 5, 6 ;",
          "p = {1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12} ;", "s = \"a\", \"b\", \"c\", \"d\", \"e\", \"f\" ;"})
        expect_contains(text, line);
    EXPECT_EQ(column(folder_.path("out.nc"), "sigma"), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST_F(NetcdfTransform, RowsAreNumberedInTheirOrder) {
    std::string values = "0";
    for (int i = 1; i < 300 * 300; ++i) values += ",0";  // more than a slab
    const std::string file =
        from_cdl("a.nc", "dimensions: x = 300 ; y = 300 ;\nvariables: double mu(x, y) ; data: mu = " + values + " ;");
    TransformPlan plan = plan_for({"mu"});
    plan.added = {{.name = "row", .long_name = "number"}};
    transform_rows({file}, folder_.path("out.nc"), plan, [](Values, Results results, std::size_t first) {
        for (std::size_t i = 0; i < results[0].size(); ++i) results[0][i] = static_cast<double>(first + i);
    });
    const Numbers rows = column(folder_.path("out.nc"), "row");
    ASSERT_EQ(rows.size(), 90'000U);
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], static_cast<double>(i));
}

TEST_F(NetcdfTransform, AMissingInputGivesFillValuesWhateverIsComputed) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 4 ;
variables: double mu(x) ; double z(x) ; data: mu = 1, _, 3, 4 ; z = 1, 2, NaN, 4 ;)");
    TransformPlan plan = plan_for({"mu", "z"});
    transform_rows({file}, folder_.path("out.nc"), plan, [](Values values, Results results, std::size_t) {
        EXPECT_TRUE(std::isnan(values[0][1]));
        EXPECT_TRUE(std::isnan(values[1][2]));
        for (const auto& result : results)
            for (double& value : result) value = 1;
        results[0][3] = kNaN;
    });
    expect_contains(dump("out.nc"), " sigma = 1, _, _, _ ;");
    expect_contains(dump("out.nc"), " off_support = 1, _, _, 1 ;");
}

TEST_F(NetcdfTransform, AMillionRowsGoThroughInSlabsForAnyNumberOfThreads) {
    for (const int mode : {0, NC_NETCDF4}) {
        const std::string path = folder_.path("a.nc");
        int file = 0;
        int dims[3];
        int mu = 0;
        int lon = 0;
        test::check(nc_create(path.c_str(), NC_CLOBBER | mode, &file));
        test::check(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
        test::check(nc_def_dim(file, "lat", 100, &dims[1]));
        test::check(nc_def_dim(file, "lon", 100, &dims[2]));
        test::check(nc_def_var(file, "mu", NC_FLOAT, 3, dims, &mu));
        test::check(nc_def_var(file, "lon", NC_INT, 1, &dims[2], &lon));
        if (mode == NC_NETCDF4) {
            const std::size_t chunks[] = {40, 30, 30};
            test::check(nc_def_var_chunking(file, mu, NC_CHUNKED, chunks));
            test::check(nc_def_var_deflate(file, mu, 1, 1, 1));
        }
        test::check(nc_enddef(file));
        std::vector<float> values(1'000'000);
        std::vector<int> lons(100);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
        for (int i = 0; i < 100; ++i) lons[static_cast<std::size_t>(i)] = i;
        const std::size_t start[] = {0, 0, 0};
        const std::size_t count[] = {100, 100, 100};
        test::check(nc_put_vara_float(file, mu, start, count, values.data()));
        test::check(nc_put_var_int(file, lon, lons.data()));
        test::check(nc_close(file));
        for (const int threads : {1, 2}) with_threads(threads, [&] { transform(path, plan_for({"mu", "lon"})); });
        const Numbers sigma = column(folder_.path("out.nc"), "sigma");
        const Numbers quantiles = column(folder_.path("out.nc"), "quantiles");
        ASSERT_EQ(sigma.size(), values.size());
        ASSERT_EQ(quantiles.size(), 2 * values.size());
        for (std::size_t i = 0; i < sigma.size(); ++i) {
            ASSERT_EQ(sigma[i], static_cast<double>(i + i % 100));
            const std::size_t place = i / 10'000 * 20'000 + i % 10'000;
            ASSERT_EQ(quantiles[place], 10 * sigma[i]);
            ASSERT_EQ(quantiles[place + 10'000], 100 * sigma[i]);
        }
    }
}

TEST_F(NetcdfTransform, AFileMayBeReplacedByItsOwnOutput) {
    const std::string file = from_cdl("a.nc", kField, "nc4");
    transform(file, plan_for({"mu"}), "a.nc");
    EXPECT_EQ(column(file, "sigma", Missing::drop), (Numbers{1, 2, 4, 5, 6}));
}

TEST_F(NetcdfTransform, NoRecordsGiveNoValues) {
    const std::string file =
        from_cdl("a.nc", "dimensions: t = UNLIMITED ; variables: double mu(t) ; double k ; data: k = 1 ;");
    transform(file, plan_for({"mu"}));
    expect_contains(dump("out.nc", "-h"), "t = UNLIMITED ; // (0 currently)");
    expect_contains(dump("out.nc"), "quantile = 0.05, 0.95");
}

TEST_F(NetcdfTransform, WhatDoesNotFitIsRefusedAndLeavesNothing) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 2 ; quantile = 1 ;
variables: double mu(x) ; double sigma(x) ; double big(x) ; double other(quantile) ; char name(x) ;
data: mu = 1, 2 ; big = 1, -Infinity ;)");
    TransformPlan plan = plan_for({"mu"});
    EXPECT_EQ(transform_message(file, plan), "a.nc already has a variable 'sigma'; rename it or drop it");
    plan.added[0].name = "spread";
    EXPECT_EQ(transform_message(file, plan), "a.nc already has a dimension 'quantile'; rename it");
    plan.added.erase(plan.added.begin() + 1, plan.added.begin() + 3);
    const auto with_input = [&](const char* name) {
        TransformPlan changed = plan;
        changed.inputs.push_back({name});
        return transform_message(file, changed);
    };
    EXPECT_EQ(with_input("big"), "a.nc variable 'big' at x=1: '-inf' is not finite");
    EXPECT_EQ(with_input("other"),
              "a.nc variable 'other' has the dimension 'quantile', which the rows lack: their dimensions are x");
    EXPECT_EQ(with_input("name"), "a.nc variable 'name' holds text, not numbers");
    EXPECT_EQ(with_input("my"), "a.nc has no variable 'my'. Variables: mu, sigma, big, other, name");
    EXPECT_EQ(message([&] {
                  transform_rows({file, file}, folder_.path("out.nc"), plan, compute);
              }),
              "NetCDF files are taken one at a time; 2 were given");
    EXPECT_EQ(message([&] { transform_rows({file}, "-", plan, compute); }),
              "a.nc is NetCDF, and so will be the output, which cannot go to standard output: name a file");
    EXPECT_EQ(transform_message(file, plan, "out.csv"),
              "a.nc is NetCDF, and so will be the output: its name should end in .nc, not .csv");
    EXPECT_EQ(message([&] { transform_rows({file}, "/dev/null", plan, compute); }),
              "cannot write /dev/null: this format needs a file, not a pipe or a device");
    expect_contains(transform_message(file, plan, "none/out.nc"), "cannot write none/out.nc: there is no folder");
    EXPECT_EQ(folder_.files(), 1U);
    const std::string text = folder_.file("b.csv", "mu\n1\n");
    EXPECT_EQ(transform_message(text, plan),
              "b.csv is a text table, and so will be the output: its name should end in "
              ".csv, not .nc");
    EXPECT_THROW(transform_rows({file}, folder_.path("out.nc"), plan,
                                [](Values, Results, std::size_t) { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_EQ(folder_.files(), 2U);
}

// 0 when a file-size limit, which stands in for a full disk, ends in the right error before anything is computed.
int status_on_a_full_disk(const std::string& file, const std::string& out) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{60'000, 60'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
        transform_rows({file}, out, plan_for({"mu"}), [](Values, Results, std::size_t) { std::_Exit(3); });
    } catch (const MachineError& error) {
        if (error.what() == "cannot write " + out + ": File too large") return 0;
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 1;
}

// In a process of its own, since the limit stays. So few rows start no threads, which would not survive the fork. It
// ends without clean-up: what HDF5 keeps for each thread would be a leak to a sanitizer, since the fork left the others
// behind.
TEST_F(NetcdfTransform, AFullDiskIsNamedAndLeavesTheOldFile) {
    for (const char* kind : {"classic", "nc4"}) {
        std::string body = "dimensions: x = 4000 ; variables: double mu(x) ; data: mu = 0";
        for (int i = 1; i < 4000; ++i) body += ", " + std::to_string(i);
        const std::string file = from_cdl("a.nc", body + " ;", kind);
        const std::string out = folder_.file("out.nc", "old");
        // _Exit: HDF5 keeps memory of its own after a failed write, which a leak check at exit would report.
        EXPECT_EXIT(std::_Exit(status_on_a_full_disk(file, out)), testing::ExitedWithCode(0), "^$") << kind;
        EXPECT_EQ(folder_.content("out.nc"), "old");
        EXPECT_EQ(folder_.files(), 2U);
    }
}

TEST_F(NetcdfTransform, XarrayReadsTheOutput) {
    if (test::python_with_xarray().empty()) GTEST_SKIP() << "no Python with xarray and netCDF4";
    for (const char* kind : {"classic", "nc4"}) {
        transform(from_cdl("a.nc", kField, kind), plan_for({"mu", "lat"}));
        EXPECT_EQ(python(R"(
import numpy as np, xarray as xr
ds = xr.open_dataset('out.nc')
assert ds.sigma.dims == ('time', 'lat'), ds.sigma.dims
assert ds.sigma.attrs['units'] == 'K'
assert set(ds.sigma.coords) == {'time', 'lat', 'name'}, ds.sigma.coords
assert str(ds.time.values[1]) == '2000-01-01T06:00:00.000000000'
assert ds.mu.values[0, 1] == 2.0 and np.isnan(ds.mu.values[1, 0])
assert np.isnan(ds.sigma.values[1, 0]) and ds.sigma.values[2, 1] == 26
median = ds.quantiles.sel(quantile=0.95)
assert median.dims == ('time', 'lat') and median.values[0, 0] == 1100
assert ds.off_support.values[0, 0] == 1 and np.isnan(ds.off_support.values[1, 0])
print('good')
)"),
                  "good\n");
    }
}

}  // namespace
}  // namespace accrue::data
