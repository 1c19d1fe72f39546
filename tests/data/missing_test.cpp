// Numbers and texts that mean missing values, and numbers that look as if they did.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "accrue/archive.hpp"
#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "data/sentinels.hpp"
#include "data/transform.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

class MissingMarksTest : public testing::Test {
protected:
    test::TemporaryFolder folder_;
};

TEST_F(MissingMarksTest, NumbersThatMeanMissingAreMissing) {
    const std::string file = folder_.file("t.csv", "a,b\n1,-9999\n-9999.0,2\n3,99.9\n4,5\n");
    ReadOptions options{.missing = Missing::drop, .marks = {.values = {-9999, 99.9}}};
    const Table table = read_table({file}, {{"a"}, {"b"}}, options);
    EXPECT_EQ(table.rows(), 1U);
    EXPECT_EQ(table.dropped(), 3U);
    EXPECT_EQ(table.numbers("b")[0], 5);
}

TEST_F(MissingMarksTest, AMarkOfOneColumnLeavesOthersAlone) {
    const std::string file = folder_.file("t.csv", "a,bulk\n-9999,1\n2,-9999\n");
    ReadOptions options{.missing = Missing::keep, .marks = {.of_columns = {{"bulk", -9999}}}};
    const Table table = read_table({file}, {{"a"}, {"bulk"}, {"a + bulk"}}, options);
    EXPECT_EQ(table.numbers("a")[0], -9999);
    EXPECT_TRUE(std::isnan(table.numbers("bulk")[1]));
    EXPECT_TRUE(std::isnan(table.numbers("a + bulk")[1])) << "what is computed from it is missing too";
    options.marks.of_columns = {{"bulck", -9999}};
    try {
        (void)read_table({file}, {{"a"}}, options);
        FAIL() << "a column that is not there";
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "--missing-value: " + file + " has no column 'bulck'; did you mean 'bulk'? Columns: a, bulk");
    }
}

TEST_F(MissingMarksTest, TextsThatMeanMissingAreMissing) {
    const std::string file =
        folder_.file("t.csv", "a,s,t\n1,x,2024-01-01\n\"n/a\",y,2024-01-02\n3,-,2024-01-03\n4,z,****\n");
    ReadOptions options{.missing = Missing::drop, .marks = {.texts = {"n/a", "-", "****"}}};
    const Table table = read_table({file}, {{"a"}, {"s", Kind::text}, {"t", Kind::time}}, options);
    EXPECT_EQ(table.rows(), 1U);
    EXPECT_EQ(table.text("s").labels, (std::vector<std::string>{"x"}));
    EXPECT_EQ(numeric_columns(file, options), (std::vector<std::string>{"a"}));
    EXPECT_TRUE(numeric_columns(file).empty());
}

TEST_F(MissingMarksTest, PredictionsOfMarkedRowsAreEmpty) {
    const std::string file = folder_.file("t.csv", "a\n1\n-9999\nn/a\n");
    const std::string output = folder_.path("out.csv");
    data::TransformPlan plan;
    plan.inputs = {{"a"}};
    plan.added = {{"b", "copy"}};
    plan.marks = {.values = {-9999}, .texts = {"n/a"}};
    data::transform_rows({file}, output, plan, [](auto values, auto results, std::size_t) {
        std::copy(values[0].begin(), values[0].end(), results[0].begin());
    });
    std::ifstream stream(output);
    std::stringstream written;
    written << stream.rdbuf();
    EXPECT_EQ(written.str(), "a,b\n1,1\n-9999,\nn/a,\n");
}

std::vector<Message> remarks_of(const std::vector<double>& values) {
    data::SentinelWatch watch("t");
    watch.add(values);
    return watch.remarks();
}

std::vector<double> ramp(std::size_t rows, double from, double step) {
    std::vector<double> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = from + step * static_cast<double>(i % 40);
    return values;
}

TEST(Sentinels, AnExtremeValueFarFromTheRestIsReported) {
    std::vector<double> values = ramp(1000, -10, 1);  // -10 to 29
    for (std::size_t i = 0; i < 8; ++i) values[100 * i + 50] = -9999;
    ASSERT_EQ(remarks_of(values).size(), 1U);
    EXPECT_EQ(remarks_of(values)[0].text(),
              "column 't' is -9999 in 0.8% of the rows, far from all other values (-10 to 29); if that means a missing "
              "value, use --missing-value t=-9999");
    for (double& value : values) value = -value;
    EXPECT_EQ(remarks_of(values).size(), 1U) << "the greatest value";
}

TEST(Sentinels, RareValuesAreNotReported) {
    std::vector<double> values = ramp(1000, -10, 1);
    for (std::size_t i = 0; i < 5; ++i) values[i] = -9999;  // 0.5%, not more
    EXPECT_TRUE(remarks_of(values).empty());
}

TEST(Sentinels, NaturalBoundsAreNotReported) {
    std::vector<double> rain = ramp(1000, 0.1, 0.3);
    for (std::size_t i = 0; i < 700; ++i) rain[i] = 0;
    EXPECT_TRUE(remarks_of(rain).empty());
    std::vector<double> humidity = ramp(1000, 60, 0.9);  // to 95.1
    for (std::size_t i = 0; i < 300; ++i) humidity[i] = 100;
    EXPECT_TRUE(remarks_of(humidity).empty());
}

TEST(Sentinels, CodesAndConstantsAreNotReported) {
    std::vector<double> codes(1000);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = i % 2 == 0 ? 0 : 100 + static_cast<double>(i % 3);
    EXPECT_TRUE(remarks_of(codes).empty());
    EXPECT_TRUE(remarks_of(std::vector<double>(1000, 3)).empty());
    EXPECT_TRUE(remarks_of({}).empty());
}

TEST_F(MissingMarksTest, ReadingAnArchiveReportsPossibleSentinels) {
    std::string text = "x,f,y\n";
    for (int i = 0; i < 400; ++i)
        text += std::to_string(i % 50) + "," + std::to_string(i % 30) + "," +
                (i % 100 == 7 ? "-9999" : std::to_string(i % 31)) + "\n";
    RowSource source;
    source.files = {folder_.file("t.csv", text)};
    source.roles.prediction = "f";
    source.roles.observation = "y";
    const ReadRows rows = read_archive(source, {{"x"}}, 8, 1);
    ASSERT_EQ(rows.remarks.size(), 1U);
    EXPECT_EQ(rows.remarks[0].text().rfind("column 'y' is -9999 in 1.0% of the rows", 0), 0U);
    source.marks.of_columns = {{"y", -9999}};
    source.missing = Missing::drop;
    EXPECT_TRUE(read_archive(source, {{"x"}}, 8, 1).remarks.empty());
    EXPECT_EQ(read_archive(source, {{"x"}}, 8, 1).dropped, 4U);
}

}  // namespace
}  // namespace accrue
