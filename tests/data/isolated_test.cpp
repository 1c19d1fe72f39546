// Reading by a process that may crash: the same rows, and a message in place of a crash.
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "accrue/table.hpp"
#include "data/isolated.hpp"
#include "data/transform.hpp"
#include "netcdf_fixture.hpp"

namespace accrue::data {
namespace {

class Isolated : public test::NetcdfTest {
protected:
    static constexpr const char* kRows = R"(
dimensions: t = UNLIMITED ; n = 3 ;
variables:
  double y(t) ; double x(t) ; double day(t) ; day:units = "days since 1970-01-01" ; char station(t, n) ;
data:
  y = 1, 2, NaN, 4, 5 ; x = 5, 6, 7, 8, 9 ; day = 0, 1, 2, 3, 4 ; station = "abc", "def", "abc", "ghi", "def" ;)";

    static std::vector<ColumnRequest> columns() { return {{"y"}, {"x"}, {"station", Kind::text}, {"day", Kind::time}}; }
    static std::string crash(const std::string& file, const std::function<void()>& how) {
        try {
            run_isolated(
                file, [&](const Send&) { how(); }, [](std::string_view) {});
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    }
};

TEST_F(Isolated, RowsAreThoseOfAPlainRead) {
    const std::string csv = folder_.file("more.csv", "y,x,station,day\n7,8,def,1970-01-09\n9,10,xyz,1970-01-10\n");
    for (const char* kind : {"classic", "nc4"})
        for (const std::size_t slab : {std::size_t{8}, std::size_t{1} << 26U}) {
            const std::string file = from_cdl("a.nc", kRows, kind);
            ReadOptions plain{.missing = Missing::drop};
            plain.slab_bytes = slab;
            ReadOptions isolated = plain;
            isolated.isolate = true;
            const Table a = read_table({file, csv, file}, columns(), plain);
            const Table b = read_table({file, csv, file}, columns(), isolated);
            ASSERT_EQ(b.rows(), a.rows());
            EXPECT_EQ(b.rows(), 10U);
            EXPECT_EQ(b.dropped(), a.dropped());
            for (const char* name : {"y", "x", "day"})
                EXPECT_TRUE(std::equal(a.numbers(name).begin(), a.numbers(name).end(), b.numbers(name).begin()));
            EXPECT_EQ(b.text("station").labels, a.text("station").labels);
            EXPECT_EQ(b.text("station").codes, a.text("station").codes);
            EXPECT_EQ(b.has_dates("day"), a.has_dates("day"));
            EXPECT_EQ(numeric_columns(file, isolated), numeric_columns(file, plain));
            EXPECT_EQ(column_names(file, isolated), column_names(file, plain));
        }
}

TEST_F(Isolated, MessagesAreThoseOfAPlainRead) {
    const std::string file = from_cdl("a.nc", kRows, "nc4");
    const auto said = [&](const std::vector<ColumnRequest>& wanted, bool isolate) {
        ReadOptions options;
        options.isolate = isolate;
        return message([&] { read_table({file}, wanted, options); });
    };
    for (const auto& wanted : std::vector<std::vector<ColumnRequest>>{columns(), {{"none"}}, {{"station"}}}) {
        EXPECT_NE(said(wanted, true), "no error");
        EXPECT_EQ(said(wanted, true), said(wanted, false));
    }
}

TEST_F(Isolated, ACrashIsAMessageThatNamesTheFile) {
    EXPECT_EQ(crash("a.nc", [] { ::raise(SIGKILL); }),
              "a.nc cannot be read: the process that read it for --isolate crashed (Killed); the file is damaged, or "
              "made to do harm");
    EXPECT_NE(crash("a.nc", [] { ::_exit(0); }).find("crashed; the file is damaged"), std::string::npos);
    EXPECT_EQ(crash("a.nc", [] { ::raise(SIGXCPU); }),
              "a.nc cannot be read: after 60 s of processor time there was no end (--isolate)");
}

TEST_F(Isolated, TheProcessHasLimits) {
    const auto limit_of = [](__rlimit_resource_t resource) {
        rlim_t found = 0;
        run_isolated(
            "a.nc",
            [&](const Send& send) {
                rlimit limit{};
                ::getrlimit(resource, &limit);
                send({reinterpret_cast<const char*>(&limit.rlim_cur), sizeof limit.rlim_cur});
            },
            [&](std::string_view bytes) { std::memcpy(&found, bytes.data(), sizeof found); });
        return found;
    };
    EXPECT_EQ(limit_of(RLIMIT_CPU), 60U);
    EXPECT_EQ(limit_of(RLIMIT_CORE), 0U);
    EXPECT_NE(limit_of(RLIMIT_DATA), RLIM_INFINITY);
}

TEST_F(Isolated, BytesThatMakeNoSenseAreRefused) {
    // As a process might send that a file has taken over.
    TableBuilder table(columns());
    const auto reader = [](const std::string&, const ReadOptions&, TableBuilder& own) {
        own.rows = 1'000'000;  // and no values
        own.hand_over();
    };
    EXPECT_EQ(message([&] { read_isolated("a.nc", {}, table, reader); }),
              "a.nc cannot be read: the process that read it for --isolate sent what makes no sense");
}

TEST_F(Isolated, ColumnsAreAddedAsByAPlainTransformAndACrashLeavesNothing) {
    const std::string file = from_cdl("a.nc", kRows, "nc4");
    TransformPlan plan;
    plan.inputs = {{"x"}};
    plan.added = {{"twice", "twice x"}};
    const ComputeRows twice = [](auto values, auto results, std::size_t) {
        for (std::size_t i = 0; i < values[0].size(); ++i) results[0][i] = 2 * values[0][i];
    };
    transform_rows({file}, folder_.path("plain.nc"), plan, twice);
    plan.isolate = true;
    transform_rows({file}, folder_.path("isolated.nc"), plan, twice);
    EXPECT_EQ(dump("isolated.nc", "-n same"), dump("plain.nc", "-n same"));
    const std::size_t files = folder_.files();
    folder_.file("isolated.nc", "old");
    EXPECT_NE(message([&] {
                  transform_rows({file}, folder_.path("isolated.nc"), plan,
                                 [](auto, auto, std::size_t) { ::raise(SIGKILL); });
              }).find("crashed (Killed)"),
              std::string::npos);
    EXPECT_EQ(folder_.content("isolated.nc"), "old");
    EXPECT_EQ(folder_.files(), files);
}

}  // namespace
}  // namespace accrue::data
