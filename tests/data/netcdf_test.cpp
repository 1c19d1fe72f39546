#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "data/netcdf_file.hpp"
#include "data/netcdf_time.hpp"
#include "netcdf_fixture.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

std::vector<double> column(const Table& table, const std::string& name) {
    const auto values = table.numbers(name);
    return {values.begin(), values.end()};
}

// NaN is the same as NaN.
void expect_same(const Numbers& values, const Numbers& expected) {
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_TRUE(values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i])))
            << i << ": " << values[i];
}

std::vector<std::string> labels(const Table& table, const std::string& name) {
    const TextColumn& text = table.text(name);
    std::vector<std::string> result;
    for (const std::uint32_t code : text.codes) result.push_back(text.labels[code]);
    return result;
}

class NetcdfRead : public test::NetcdfTest {
protected:
    std::string read_message(const std::string& file, const std::vector<ColumnRequest>& columns,
                             const ReadOptions& options = {}) {
        return message([&] { read_table({file}, columns, options); });
    }
};

const std::string kField = R"(
dimensions: time = UNLIMITED ; lat = 2 ; lon = 3 ;
variables:
  double time(time) ; time:units = "hours since 2000-01-01" ;
  float lat(lat) ;
  float y(time, lat, lon) ; y:units = "K" ;
  double height ;
data:
  time = 0, 6 ; lat = -45, 45 ; height = 2 ;
  y = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 ;
)";

TEST_F(NetcdfRead, EveryKindOfFileGivesTheSameRows) {
    for (const char* kind : {"classic", "64-bit-offset", "cdf5", "nc4", "netCDF-4 classic model"}) {
        // The name says nothing: the bytes do.
        const std::string file = from_cdl("a.csv", kField, kind);
        const Table table = read_table({file}, {{"y"}, {"lat"}, {"time"}, {"height"}});
        EXPECT_EQ(table.rows(), 12U) << kind;
        EXPECT_EQ(column(table, "y"), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
        EXPECT_EQ(column(table, "lat"), (Numbers{-45, -45, -45, 45, 45, 45, -45, -45, -45, 45, 45, 45}));
        EXPECT_EQ(column(table, "time"), (Numbers{0, 0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 6}));
        EXPECT_EQ(column(table, "height"), Numbers(12, 2.0));
    }
}

TEST_F(NetcdfRead, DimensionsMatchByNameInAnyOrder) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: time = 2 ; lon = 3 ;
variables: double y(time, lon) ; double turned(lon, time) ;
data: y = 1, 2, 3, 4, 5, 6 ; turned = 10, 20, 11, 21, 12, 22 ;)");
    const Table table = read_table({file}, {{"y"}, {"turned"}});
    EXPECT_EQ(column(table, "turned"), (Numbers{10, 11, 12, 20, 21, 22}));
    // The rows are those of the variable that says so, or of the first.
    const Table other = read_table({file}, {{"turned"}, {"y"}});
    EXPECT_EQ(column(other, "y"), (Numbers{1, 4, 2, 5, 3, 6}));
    const Table chosen = read_table({file}, {{"turned"}, {"y"}}, {.rows_of = "y"});
    EXPECT_EQ(column(chosen, "y"), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST_F(NetcdfRead, ColumnsAreComputedFromVariables) {
    const std::string file = from_cdl("a.nc", kField);
    const Table table = read_table({file}, {{"y - lat"}, {"lat"}});
    EXPECT_EQ(column(table, "y - lat"), (Numbers{46, 47, 48, -41, -40, -39, 52, 53, 54, -35, -34, -33}));
    // The rows are those of all variables together.
    EXPECT_EQ(column(read_table({file}, {{"lat + y"}}), "lat + y").size(), 12U);
    EXPECT_EQ(column(read_table({file}, {{"lat * height"}}), "lat * height"), (Numbers{-90, 90}));
    EXPECT_EQ(numeric_columns(file, {.rows_of = "lat * height"}), (Names{"lat"}));
    const std::string message = read_message(file, {{"1 / (y - 5)"}});
    EXPECT_NE(message.find("a.nc at time=0, lat=1, lon=1: 1 / (y - 5) divides by zero: y = 5"), std::string::npos)
        << message;
}

TEST_F(NetcdfRead, NumbersThatMeanMissingAreMissing) {
    const std::string file = from_cdl("a.nc", kField);
    const Table table = read_table({file}, {{"y"}, {"y * 2"}},
                                   {.missing = Missing::drop, .marks = {.values = {3}, .of_columns = {{"y", 12}}}});
    EXPECT_EQ(column(table, "y * 2"), (Numbers{2, 4, 8, 10, 12, 14, 16, 18, 20, 22}));
    EXPECT_NE(read_message(file, {{"y"}}, {.marks = {.of_columns = {{"z", 1}}}}).find("has no column 'z'"),
              std::string::npos);
}

TEST_F(NetcdfRead, AScalarIsOneRow) {
    const std::string file = from_cdl("a.nc", "variables: double y ; int n ; data: y = 4.5 ; n = 7 ;");
    const Table table = read_table({file}, {{"y"}, {"n"}});
    EXPECT_EQ(column(table, "y"), (Numbers{4.5}));
    EXPECT_EQ(column(table, "n"), (Numbers{7}));
}

TEST_F(NetcdfRead, PackedNumbersAreUnpacked) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 4 ;
variables:
  short y(x) ; y:scale_factor = 0.5 ; y:add_offset = 100. ; y:_FillValue = -1s ; y:valid_range = -2s, 1000s ;
  byte u(x) ; u:_Unsigned = "true" ; u:_FillValue = -1b ;
  short v(x) ; v:scale_factor = 0.5 ; v:valid_max = 10. ;
data: y = 0, 1, -1, 2000 ; u = 1, -2, -1, 127 ; v = 1, 20, 21, 22 ;)");
    const Table table = read_table({file}, {{"y"}, {"u"}, {"v"}}, {.missing = Missing::keep});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    expect_same(column(table, "y"), {100, 100.5, nan, nan});
    expect_same(column(table, "u"), {1, 254, nan, 127});
    // Limits of another type than the stored numbers are limits of values.
    expect_same(column(table, "v"), {0.5, 10, nan, nan});
}

TEST_F(NetcdfRead, EveryMarkOfAMissingValueIsOne) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 6 ;
variables:
  float y(x) ; y:missing_value = -999.9, -888. ; y:valid_min = -1000.f ;
  int k(x) ; k:_FillValue = 5 ;
data: y = 1, -999.9, -888, NaN, _, -2000 ; k = 1, 2, 3, 4, 6, 7 ;)");
    const Table kept = read_table({file}, {{"y"}, {"k"}}, {.missing = Missing::drop});
    EXPECT_EQ(column(kept, "y"), (Numbers{1}));
    EXPECT_EQ(kept.dropped(), 5U);
    EXPECT_EQ(read_message(file, {{"k"}, {"y"}}),
              "a.nc variable 'y' at x=1: value is missing; use --missing drop to skip such rows");
}

TEST_F(NetcdfRead, TheFirstBadPlaceIsNamedInTheVariablesOwnDimensions) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: time = 2 ; lat = 3 ;
variables: double y(time, lat) ; double lat(lat) ; double s ; double big(time) ;
data: y = 1, 2, 3, 4, -5, 6 ; lat = 1, _, 3 ; s = 0 ; big = 1, Infinity ;)");
    EXPECT_EQ(read_message(file, {{"y", Kind::number, Rule::positive}}),
              "a.nc variable 'y' at time=1, lat=1: y must be positive; it is -5");
    EXPECT_EQ(read_message(file, {{"y", Kind::number, Rule::not_negative}}),
              "a.nc variable 'y' at time=1, lat=1: y must not be negative; it is -5");
    EXPECT_EQ(read_message(file, {{"y"}, {"lat"}}),
              "a.nc variable 'lat' at lat=1: value is missing; use --missing drop to skip such rows");
    EXPECT_EQ(read_message(file, {{"y"}, {"big"}}), "a.nc variable 'big' at time=1: 'inf' is not finite");
    EXPECT_EQ(read_message(file, {{"y"}, {"s", Kind::number, Rule::positive}}),
              "a.nc variable 's': s must be positive; it is 0");
    // A row that is dropped is dropped whole, whatever else is wrong with it.
    const Table table = read_table({file}, {{"y", Kind::number, Rule::positive}, {"lat"}}, {.missing = Missing::drop});
    EXPECT_EQ(column(table, "y"), (Numbers{1, 3, 4, 6}));
}

TEST_F(NetcdfRead, ADimensionThatTheRowsLackIsRefused) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: time = 2 ; lat = 3 ; nv = 2 ;
variables: double y(time) ; double x(time, lat) ; double s ; double both(lat, lat) ; double bounds(time, nv) ;
data: y = 1, 2 ; x = 1, 2, 3, 4, 5, 6 ; s = 1 ; both = 1,2,3,4,5,6,7,8,9 ; bounds = 1, 2, 3, 4 ;)");
    EXPECT_EQ(read_message(file, {{"y"}, {"x"}}),
              "a.nc variable 'x' has the dimension 'lat', which the rows lack: their dimensions are time");
    EXPECT_EQ(read_message(file, {{"s"}, {"x"}}),
              "a.nc variable 'x' has the dimension 'time', which the rows lack: their dimensions are none (one value)");
    EXPECT_EQ(read_message(file, {{"both"}}),
              "a.nc variable 'both' has its dimension 'lat' twice: its values are no rows");
    EXPECT_EQ(read_message(file, {{"x"}, {"both"}}), "a.nc variable 'both' has its dimension 'lat' twice");
    EXPECT_EQ(numeric_columns(file, {.rows_of = "x"}), (Names{"y", "x"}));
    EXPECT_EQ(column_names(file), (Names{"y", "x", "s", "both", "bounds"}));
}

TEST_F(NetcdfRead, TextsAndNumbersAreLabels) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 4 ; letters = 6 ;
variables:
  double y(x) ; char site(x, letters) ; string name(x) ; int number(x) ; int64 id(x) ; double half(x) ; char one ;
data: y = 1, 2, 3, 4 ; site = "Oslo  ", "Rome", "Oslo", "" ; name = "b", "a", "b", "NA" ;
  number = 7, -7, 7, _ ; id = 9007199254740993, 9007199254740992, 1, 1 ; half = 0.5, 1, 1, 0.5 ; one = "k" ;)",
                                      "nc4");
    const Table table = read_table({file},
                                   {{"site", Kind::text},
                                    {"name", Kind::text},
                                    {"number", Kind::text},
                                    {"id", Kind::text},
                                    {"half", Kind::text},
                                    {"one", Kind::text}},
                                   {.missing = Missing::keep, .rows_of = "y"});
    EXPECT_EQ(labels(table, "site"), (Names{"Oslo", "Rome", "Oslo", ""}));
    EXPECT_EQ(table.text("site").labels, (Names{"Oslo", "Rome", ""}));
    EXPECT_EQ(labels(table, "name"), (Names{"b", "a", "b", ""}));
    EXPECT_EQ(labels(table, "number"), (Names{"7", "-7", "7", ""}));
    EXPECT_EQ(labels(table, "id"), (Names{"9007199254740993", "9007199254740992", "1", "1"}));
    EXPECT_EQ(labels(table, "half"), (Names{"0.5", "1", "1", "0.5"}));
    EXPECT_EQ(labels(table, "one"), (Names{"k", "k", "k", "k"}));
    // Characters alone define rows by all but the letters.
    EXPECT_EQ(read_table({file}, {{"site", Kind::text}}, {.missing = Missing::drop}).rows(), 3U);
    EXPECT_EQ(read_message(file, {{"y"}, {"site", Kind::text}}),
              "a.nc variable 'site' at x=3: value is missing; use --missing drop to skip such rows");
    EXPECT_EQ(read_message(file, {{"y"}, {"site"}}), "a.nc variable 'site' holds text, not numbers");
}

TEST_F(NetcdfRead, UnknownVariablesAndGroups) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 1 ;
variables: double temperature(x) ; double y(x) ;
data: temperature = 1 ; y = 1 ;
group: model { group: run { variables: double mu(x) ; data: mu = 1 ; } })",
                                      "nc4");
    EXPECT_EQ(read_message(file, {{"temperatur"}}),
              "a.nc has no variable 'temperatur'; did you mean 'temperature'? Variables: temperature, y");
    EXPECT_EQ(read_message(file, {{"z"}}), "a.nc has no variable 'z'. Variables: temperature, y");
    const std::string grouped =
        "a.nc has its variable 'mu' in the group '/model/run'; variables in groups are not read: move it to the top";
    EXPECT_EQ(read_message(file, {{"mu"}}), grouped);
    EXPECT_EQ(read_message(file, {{"model/run/mu"}}), grouped);
}

TEST_F(NetcdfRead, AClassicFileThatIsCutWhileItIsReadIsRefused) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 4 ;
variables: double y(x) ;
data: y = 1, 2, 3, 4 ;)");
    const data::NetcdfFile open(file);
    open.check(NC_NOERR);
    const auto size = std::filesystem::file_size(file);
    std::filesystem::resize_file(file, size - 8);
    try {
        open.check(NC_NOERR);
        FAIL() << "the library would have read zeros";
    } catch (const InputError& error) {
        EXPECT_EQ(error.what(),
                  fmt::format("{} changed while it was read: it had {} bytes, and now has {}", file, size, size - 8));
    }
}

TEST_F(NetcdfRead, NoRowsAndNoNumbers) {
    const std::string file = from_cdl("a.nc", R"(
types: compound pair { int a ; int b ; } ;
dimensions: time = UNLIMITED ; x = 2 ;
variables: double y(time) ; pair p(x) ; double bad(x) ; bad:scale_factor = "2" ; data: p = {1, 2}, {3, 4} ;)",
                                      "nc4");
    EXPECT_EQ(read_message(file, {{"y"}}), "a.nc has no rows: a dimension of variable 'y' is empty");
    EXPECT_EQ(read_message(file, {{"p"}}),
              "a.nc variable 'p' is of a compound or user-defined type, which is not read");
    EXPECT_EQ(read_message(file, {{"bad"}}), "a.nc variable 'bad': its attribute 'scale_factor' is not a number");
}

TEST_F(NetcdfRead, FilesAndFormatsArePooled) {
    const std::string body = "dimensions: x = 2 ; variables: double y(x) ; double a ; data: y = 1, 2 ; a = {} ;";
    const std::string one = from_cdl("1.nc", fmt::format(fmt::runtime(body), 5));
    const std::string two = from_cdl("2.nc", fmt::format(fmt::runtime(body), 6), "nc4");
    const std::string text = folder_.file("3.csv", "a,y\n7,3\n");
    const Table table = read_table({one, text, two}, {{"y"}, {"a"}});
    EXPECT_EQ(column(table, "y"), (Numbers{1, 2, 3, 1, 2}));
    EXPECT_EQ(column(table, "a"), (Numbers{5, 5, 7, 6, 6}));
    EXPECT_EQ(message([&] {
                  read_table({one, folder_.file("4.csv", "y\n1\n")}, {{"y"}, {"a"}});
              }).substr(0, 5),
              "4.csv");
}

TEST_F(NetcdfRead, NumericColumnsAreNumbersThatAreThere) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: time = UNLIMITED ; lat = 2 ; n = 3 ;
variables: double time(time) ; float y(time, lat) ; char name(lat, n) ; int crs ; double empty(time) ; float lat(lat) ;
data: time = 1, 2 ; y = 1, _, 3, 4 ; name = "abc", "def" ; crs = 1 ; lat = 1, 2 ;)");
    EXPECT_EQ(numeric_columns(file), (Names{"time", "y", "lat"}));
    EXPECT_EQ(numeric_columns(file, {.rows_of = "time"}), (Names{"time"}));
}

TEST_F(NetcdfRead, TimesAreNotAmongTheNumericColumns) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: t = 2 ;
variables: double t(t) ; t:units = "hours since 2024-01-01" ; double start(t) ; start:standard_name = "forecast_reference_time" ;
  double month(t) ; month:units = "months since 1850-1-1" ; month:calendar = "360_day" ; double axis(t) ; axis:axis = "T" ;
  double jd(t) ; jd:units = "Days SINCE 2000-01-01" ; double tab(t) ; tab:units = "hours\tsince\t2024-01-01" ;
  double lead(t) ; lead:units = "hours" ; lead:standard_name = "forecast_period" ; double time(t) ; time:units = "s" ;
data: t = 1, 2 ; start = 3, 4 ; month = 1, 2 ; axis = 1, 2 ; jd = 1, 2 ; tab = 1, 2 ; lead = 6, 12 ; time = 5, 6 ;)");
    EXPECT_EQ(numeric_columns(file), (Names{"lead", "time"})) << "attributes tell, names do not";
}

TEST_F(NetcdfRead, TimesBecomeSecondsSince1970) {
    const std::string file = from_cdl("a.nc", R"(
dimensions: x = 2 ; n = 20 ;
variables:
  int t(x) ; t:units = "hours since 1970-01-02 06:00" ;
  double model(x) ; model:units = "days since 2000-01-01" ; model:calendar = "noleap" ;
  char iso(x, n) ;
data: t = 0, 1 ; model = 1, 2 ; iso = "1970-01-01T00:00:10Z", "1970-01-02" ;)");
    const Table table = read_table({file}, {{"t", Kind::time}, {"model", Kind::time}, {"iso", Kind::time}});
    EXPECT_EQ(column(table, "t"), (Numbers{108000, 111600}));
    EXPECT_EQ(column(table, "model"), (Numbers{1, 2}));
    EXPECT_EQ(column(table, "iso"), (Numbers{10, 86400}));
    // As a number it is what the file says.
    EXPECT_EQ(column(read_table({file}, {{"t"}}), "t"), (Numbers{0, 1}));
    // Dates of CSV and NetCDF go together; dates and bare numbers do not.
    const std::string dates = folder_.file("b.csv", "t,model\n1970-01-01,1970-01-01\n");
    EXPECT_EQ(column(read_table({file, dates}, {{"t", Kind::time}}), "t"), (Numbers{108000, 111600, 0}));
    EXPECT_NE(message([&] { read_table({file, dates}, {{"model", Kind::time}}); }), "no error");
    EXPECT_EQ(message([&] {
                  read_table({dates, file}, {{"model", Kind::time}});
              }),
              "a.nc variable 'model' holds times without a date ('days since ...'), the files before it have dates");
}

TEST(NetcdfTime, UnitsAreReadAsTheConventionsHaveThem) {
    const auto origin = [](const char* units, const char* calendar = "") {
        const auto scale = data::parse_time_units(units, calendar);
        return scale ? scale->origin : std::numeric_limits<double>::infinity();
    };
    EXPECT_EQ(origin("days since 1970-01-01"), 0);
    EXPECT_EQ(origin("Days Since 1970-1-1 0:0:0"), 0);
    EXPECT_EQ(origin("s since 1970-01-01T00:00:01Z"), 1);
    EXPECT_EQ(origin("seconds since 1970-01-01 00:00:00.5 UTC"), 0.5);
    EXPECT_EQ(origin("hours since 1992-10-08 15:15:42.5 -6:00"), 718578942.5);
    EXPECT_EQ(origin("hours since 1970-01-01 00:00:00 +0530"), -19800);
    EXPECT_EQ(origin("hours since 1970-01-01 00:00 +1"), -3600);
    // cftime: date2num(datetime(1970, 1, 1), units, calendar) gives 719164 and 719162.
    EXPECT_EQ(origin("days since 1-1-1 00:00:00", "standard"), -719164.0 * 86400);
    EXPECT_EQ(origin("days since 0001-01-01", "proleptic_gregorian"), -719162.0 * 86400);
    EXPECT_EQ(origin("days since 1582-10-15", "gregorian"), origin("days since 1582-10-15", "proleptic_gregorian"));
    EXPECT_EQ(data::parse_time_units("minutes since 1970-01-01", "")->seconds, 60);
    EXPECT_EQ(data::parse_time_units("ms since 1970-01-01", "")->seconds, 1e-3);
    for (const char* odd :
         {"", "days", "K", "months since 1970-01-01", "days since", "days since yesterday", "days since 1970-13-01",
          "days since 2021-02-29", "days since 2021-04-31", "days since 1970-01-01 25:00", "days since 1970-01-01 EST",
          "days since 99999999999999999999-01-01", "since 1970-01-01"})
        EXPECT_FALSE(data::parse_time_units(odd, "")) << odd;
    EXPECT_FALSE(data::parse_time_units("days since 1970-01-01", "360_day"));
}

TEST_F(NetcdfRead, AMillionValuesInSlabs) {
    // A record variable, a chunked and compressed one, and one whose first dimension is longer than any slab.
    const auto make = [&](const std::string& name, int mode, const std::vector<std::size_t>& sizes) {
        int file = 0;
        test::check(nc_create(folder_.path(name).c_str(), NC_CLOBBER | mode, &file));
        std::vector<int> dims(sizes.size());
        std::size_t total = 1;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const std::string dim(1, static_cast<char>('a' + i));
            test::check(nc_def_dim(file, dim.c_str(), i == 0 ? NC_UNLIMITED : sizes[i], &dims[i]));
            total *= sizes[i];
        }
        int y = 0;
        int last = 0;
        const int count = static_cast<int>(sizes.size());
        test::check(nc_def_var(file, "y", NC_DOUBLE, count, dims.data(), &y));
        test::check(nc_def_var(file, "last", NC_INT, 1, &dims.back(), &last));
        if ((mode & NC_NETCDF4) != 0) {
            const std::vector<std::size_t> chunks = {50, 30, 20};
            test::check(nc_def_var_chunking(file, y, NC_CHUNKED, chunks.data()));
            test::check(nc_def_var_deflate(file, y, 1, 1, 1));
        }
        test::check(nc_enddef(file));
        std::vector<double> values(total);
        for (std::size_t i = 0; i < total; ++i) values[i] = static_cast<double>(i);
        const std::vector<std::size_t> start(sizes.size(), 0);
        test::check(nc_put_vara_double(file, y, start.data(), sizes.data(), values.data()));
        std::vector<int> ids(sizes.back());
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i);
        test::check(nc_put_vara_int(file, last, start.data(), &sizes.back(), ids.data()));
        test::check(nc_close(file));
        return folder_.path(name);
    };
    const auto expect = [&](const std::string& file, std::size_t rows, std::size_t last) {
        const Table table = read_table({file}, {{"y"}, {"last"}, {"last", Kind::text}});
        ASSERT_EQ(table.rows(), rows);
        for (std::size_t i = 0; i < rows; ++i) {
            ASSERT_EQ(table.numbers("y")[i], static_cast<double>(i));
            ASSERT_EQ(table.numbers("last")[i], static_cast<double>(i % last));
            ASSERT_EQ(table.text("last").codes[i], i % last);
        }
    };
    expect(make("records.nc", 0, {100, 100, 100}), 1'000'000, 100);
    expect(make("chunks.nc", NC_NETCDF4, {100, 100, 100}), 1'000'000, 100);
    expect(make("wide.nc", 0, {2, 300'000}), 600'000, 300'000);
}

TEST_F(NetcdfRead, AFileThatIsCutShortIsRefused) {
    for (const char* kind : {"classic", "64-bit-offset", "cdf5", "nc4"}) {
        from_cdl("a.nc", kField, kind);
        const std::string bytes = folder_.content("a.nc");
        std::size_t refused = 0;
        for (std::size_t length = 8; length < bytes.size(); length += std::max<std::size_t>(1, bytes.size() / 97)) {
            const std::string cut = folder_.file("cut.nc", bytes.substr(0, length));
            const std::string text = read_message(cut, {{"y"}, {"lat"}});
            // Only padding behind the last value may be lost.
            if (text == "no error" && length + 3 >= bytes.size()) continue;
            EXPECT_NE(text.find("cut.nc"), std::string::npos) << kind << " " << length << ": " << text;
            ++refused;
        }
        EXPECT_GT(refused, 50U);
        if (std::string(kind) != "nc4") {
            const std::string cut = folder_.file("cut.nc", bytes.substr(0, bytes.size() - 8));
            EXPECT_EQ(read_message(cut, {{"y"}}),
                      fmt::format("cut.nc is cut short: it has {} bytes, its header promises {}", bytes.size() - 8,
                                  bytes.size()));
        } else {
            EXPECT_EQ(read_message(folder_.file("cut.nc", bytes.substr(0, bytes.size() - 8)), {{"y"}}),
                      "cannot read cut.nc: the file is damaged or cut short (HDF5 cannot read it)");
        }
    }
}

TEST_F(NetcdfRead, DamagedHeadersEndInAMessage) {
    for (const char* kind : {"classic", "cdf5"}) {
        from_cdl("a.nc", kField, kind);
        const std::string bytes = folder_.content("a.nc");
        core::Random random(3);
        for (int i = 0; i < 500; ++i) {
            std::string damaged = bytes;
            for (int k = 0; k < 3; ++k)
                damaged[4 + random.below(bytes.size() - 4)] = static_cast<char>(random.below(256));
            const std::string file = folder_.file("damaged.nc", damaged);
            try {
                read_table({file}, {{"y"}, {"lat"}}, {.missing = Missing::drop});
            } catch (const InputError& error) {
                EXPECT_NE(std::string(error.what()).find("damaged.nc"), std::string::npos);
            }
        }
    }
}

TEST_F(NetcdfRead, APipeIsNotReadAsNetcdf) {
    const std::string file = from_cdl("a.nc", "dimensions: x = 1 ; variables: double y(x) ; data: y = 1 ;");
    const std::string pipe = folder_.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::FILE* feed = ::popen(("cat " + file + " > " + pipe).c_str(), "w");
    EXPECT_EQ(read_message(pipe, {{"y"}}),
              "pipe does not look like a text table (it is NetCDF, which cannot be read from a pipe: name the file)");
    ::pclose(feed);
}

TEST_F(NetcdfRead, FilesAreReadFromSeveralThreads) {
    const std::string file = from_cdl("a.nc", kField, "nc4");
    std::vector<std::size_t> rows(64, 0);
    with_threads(4, [&] {
        core::for_blocks(rows.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
            rows[i] = read_table({file}, {{"y"}, {"lat"}}).rows();
        });
    });
    EXPECT_EQ(rows, std::vector<std::size_t>(64, 12));
}

TEST_F(NetcdfRead, WhatXarrayWroteIsRead) {
    if (test::python_with_xarray().empty()) GTEST_SKIP() << "no Python with xarray and netCDF4";
    python(R"(
import numpy as np, pandas as pd, xarray as xr
y = np.array([[1.25, np.nan, 3.0], [4.5, 5.0, -6.75]])
ds = xr.Dataset({'y': (('time', 'lat'), y), 'station': (('lat',), np.array(['a', 'bb', 'ccc'])),
                 'member': (('lat',), np.array([3, 1, 2]))},
                coords={'time': pd.date_range('1970-01-02', periods=2, freq='6H'), 'lat': [10., 20., 30.]})
packed = {'y': {'dtype': 'int16', 'scale_factor': 0.25, 'add_offset': 2.0, '_FillValue': -9999}}
ds.to_netcdf('nc4.nc', encoding=packed, unlimited_dims=['time'])
ds.to_netcdf('classic.nc', format='NETCDF3_CLASSIC', encoding=packed)
)");
    for (const char* name : {"nc4.nc", "classic.nc"}) {
        const Table table = read_table({folder_.path(name)},
                                       {{"y"}, {"lat"}, {"time", Kind::time}, {"station", Kind::text}, {"member"}},
                                       {.missing = Missing::drop});
        EXPECT_EQ(column(table, "y"), (Numbers{1.25, 3, 4.5, 5, -6.75})) << name;
        EXPECT_EQ(column(table, "lat"), (Numbers{10, 30, 10, 20, 30}));
        EXPECT_EQ(column(table, "time"), (Numbers{86400, 86400, 108000, 108000, 108000}));
        EXPECT_EQ(labels(table, "station"), (Names{"a", "ccc", "a", "bb", "ccc"}));
        EXPECT_EQ(column(table, "member"), (Numbers{3, 2, 3, 1, 2}));
    }
}

TEST_F(NetcdfRead, SlabsHoldTheRowsOfTheWholeTable) {
    std::string values;
    for (int i = 0; i < 60; ++i)
        values += fmt::format("{}{}", i == 0 ? "" : ", ", i % 9 == 4 ? "_" : std::to_string(i));
    for (const char* kind : {"classic", "nc4"}) {
        const std::string file = from_cdl("a.nc",
                                          R"(
dimensions: time = 10 ; lat = 2 ; lon = 3 ; letters = 4 ;
variables: float y(time, lat, lon) ; y:_FillValue = -1.f ; double lat(lat) ; char site(lon, letters) ;
data: lat = 10, 20 ; site = "Oslo", "Rome", "Bern" ; y = )" +
                                              values + " ;",
                                          kind);
        const std::vector<ColumnRequest> columns = {{"y"}, {"lat"}, {"site", Kind::text}};
        const ReadOptions whole{.missing = Missing::drop};
        const Table table = read_table({file}, columns, whole);
        ASSERT_EQ(table.rows(), 53U);
        for (const std::size_t bytes : {1U, 8U, 40U, 48U, 100U, 1000U}) {
            SCOPED_TRACE(bytes);
            ReadOptions options = whole;
            options.slab_bytes = bytes;
            Numbers y, lat;
            Names sites;
            std::size_t slabs = 0;
            const std::size_t dropped = read_slabs({file, file}, columns, options, [&](const Table& slab) {
                for (const double value : column(slab, "y")) y.push_back(value);
                for (const double value : column(slab, "lat")) lat.push_back(value);
                for (const std::string& label : labels(slab, "site")) sites.push_back(label);
                ++slabs;
            });
            EXPECT_EQ(dropped, 14U);
            EXPECT_GE(slabs, bytes < 100 ? 20U : 2U);
            const Table both = read_table({file, file}, columns, options);
            EXPECT_EQ(y, column(both, "y"));
            EXPECT_EQ(lat, column(both, "lat"));
            EXPECT_EQ(sites, labels(both, "site"));
            y.resize(table.rows());
            EXPECT_EQ(y, column(table, "y"));
            EXPECT_EQ(
                message([&] {
                    read_slabs({file}, {{"y"}, {"lat"}}, {.slab_bytes = bytes}, [](const Table&) {});
                }),
                "a.nc variable 'y' at time=0, lat=1, lon=1: value is missing; use --missing drop to skip such rows");
        }
        std::filesystem::remove(file);
    }
}

TEST_F(NetcdfRead, ANumberOfRecordsThatTheFileDoesNotHaveIsRefused) {
    for (const char* kind : {"classic", "64-bit-offset", "cdf5"}) {
        from_cdl("a.nc", "dimensions: t = UNLIMITED ; variables: double y(t) ; data: y = 1, 2, 3 ;", kind);
        const std::string bytes = folder_.content("a.nc");
        const std::size_t digits = std::string(kind) == "cdf5" ? 8 : 4;
        std::string many = bytes;
        many[4 + digits - 2] = 1;
        EXPECT_EQ(read_message(folder_.file("many.nc", many), {{"y"}}),
                  fmt::format("many.nc is cut short: it has {} bytes, its header promises {}", bytes.size(),
                              bytes.size() + 256 * 8));
        // All bits set: a stream that nobody counted. The library takes it for a number.
        std::string open = bytes;
        open.replace(4, digits, std::string(digits, '\xff'));
        EXPECT_EQ(read_message(folder_.file("open.nc", open), {{"y"}}),
                  "open.nc does not say how many records it has (it was written to a stream), and the NetCDF library "
                  "cannot count them: write it again as a file");
    }
}

}  // namespace
}  // namespace accrue
