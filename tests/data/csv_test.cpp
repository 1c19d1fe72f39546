// Reading good files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

using Numbers = std::vector<double>;

class Csv : public testing::Test {
protected:
    // The values of columns a and b of a file with this text. Decimal texts are read exactly, so tests compare exactly.
    void expect_read(std::string_view text, const Numbers& a, const Numbers& b, const ReadOptions& options = {}) {
        SCOPED_TRACE(testing::PrintToString(std::string(text)));
        const std::string first = options.header ? "a" : "1";
        const std::string second = options.header ? "b" : "2";
        const Table table = read_table({folder_.file("t.csv", text)}, {{first}, {second}}, options);
        EXPECT_EQ(numbers(table, first), a);
        EXPECT_EQ(numbers(table, second), b);
        EXPECT_EQ(table.rows(), a.size());
    }
    static Numbers numbers(const Table& table, const std::string& name) {
        const auto values = table.numbers(name);
        return {values.begin(), values.end()};
    }

    test::TemporaryFolder folder_;
};

TEST_F(Csv, AllDelimitersGiveTheSameTable) {
    for (const char* text : {"a,b\n1,2\n3,4\n", "a;b\n1;2\n3;4\n", "a\tb\n1\t2\n3\t4\n", "a b\n1 2\n3 4\n",
                             "  a    b  \n 1  2 \n3 \t 4\n", "a, b\n1 , 2\n 3, 4 \n", "a \t b\n1 \t 2\n3\t 4\n"})
        expect_read(text, {1, 3}, {2, 4});
}

TEST_F(Csv, LineEndsMarksAndBlankLinesDoNotMatter) {
    for (const char* text :
         {"a,b\r\n1,2\r\n3,4\r\n",
          "\xEF\xBB\xBF"
          "a,b\n1,2\n3,4\n",
          "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r", "\n\na,b\n\n1,2\n   \n3,4\n\n\n", "a b\r\n1 2 \r\n\r\n3 4\r\n"})
        expect_read(text, {1, 3}, {2, 4});
}

TEST_F(Csv, QuotesHoldDelimitersNewlinesAndQuotes) {
    for (const char* text :
         {"\"a\",\"b\"\n\"1\",\"2\"\n\"3\",\"4\"\n", "a,note,b\n1,\"x,\ny\",2\n3,\"say \"\"hi\"\"\",4\n",
          "\xEF\xBB\xBF\"a\";\"b\"\r\n\"1\";2\r\n3;\"4\"\r\n", "a note b\n1 \"x y\" 2\n3 \"\n\" 4\n"})
        expect_read(text, {1, 3}, {2, 4});
}

TEST_F(Csv, ColumnsThatWereNotAskedForMayHoldAnything) {
    expect_read("z,a,y,b\ntext,1,,2\n1e400,3,inf,4\n", {1, 3}, {2, 4});
    expect_read("b,z,z,a\n2,,,1\n4,,,3\n", {1, 3}, {2, 4});
}

TEST_F(Csv, WithoutAHeaderColumnsAreNumbered) {
    expect_read("1,2\n3,4\n", {1, 3}, {2, 4}, {.header = false});
    expect_read(" 1 2\n 3 4\n", {1, 3}, {2, 4}, {.header = false});
    EXPECT_EQ(column_names(folder_.file("t.csv", "7;8;9\n"), {.header = false}),
              (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(Csv, TheNamesOfTheHeaderAreGiven) {
    EXPECT_EQ(column_names(folder_.file("t.csv", "\" a, b \", c ,\"d \"\"e\"\"\"\n1,2,3\n")),
              (std::vector<std::string>{"a, b", "c", "d \"e\""}));
    EXPECT_EQ(column_names(folder_.file("t.csv", "a,b")), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Csv, AFileOfOneColumnNeedsNoDelimiter) {
    const Table table = read_table({folder_.file("t.csv", "wind speed\n1\n\n2\n")}, {{"wind speed"}});
    EXPECT_EQ(numbers(table, "wind speed"), (Numbers{1, 2}));
}

TEST_F(Csv, RowsWithMissingValuesAreDroppedAndCounted) {
    const std::string file = folder_.file("t.csv", "a,b,g\n1,2,x\n,4,y\n5,NA,z\n7,8,\n9,10,w\n11,nan,v\n");
    const Table table = read_table({file}, {{"a"}, {"b"}, {"g", Kind::text}}, {.missing = Missing::drop});
    EXPECT_EQ(numbers(table, "a"), (Numbers{1, 9}));
    EXPECT_EQ(numbers(table, "b"), (Numbers{2, 10}));
    EXPECT_EQ(table.text("g").labels, (std::vector<std::string>{"x", "w"}));
    EXPECT_EQ(table.text("g").codes, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(table.rows(), 2U);
    EXPECT_EQ(table.dropped(), 4U);
}

TEST_F(Csv, ADroppedRowIsDroppedWhole) {
    const std::string file = folder_.file("t.csv", "sigma,y\n0,NA\nbad,\n1,2\n");
    const Table table =
        read_table({file}, {{"sigma", Kind::number, Rule::positive}, {"y"}}, {.missing = Missing::drop});
    EXPECT_EQ(numbers(table, "sigma"), Numbers{1});
    EXPECT_EQ(table.dropped(), 2U);
}

TEST_F(Csv, MissingValuesCanBeKept) {
    const std::string file = folder_.file("t.csv", "a,g\n1,x\nNA,null\n");
    const Table table =
        read_table({file}, {{"a", Kind::number, Rule::positive}, {"g", Kind::text}}, {.missing = Missing::keep});
    EXPECT_EQ(table.numbers("a")[0], 1);
    EXPECT_TRUE(std::isnan(table.numbers("a")[1]));
    EXPECT_EQ(table.text("g").labels, (std::vector<std::string>{"x", ""}));
    EXPECT_EQ(table.dropped(), 0U);
}

TEST_F(Csv, LabelsAreNumberedByFirstAppearance) {
    const std::string file = folder_.file("t.csv", "g\nb\na\n\"b\"\n \"say \"\"c\"\"\"\na\n\"say \"\"c\"\"\"\n");
    const Table table = read_table({file}, {{"g", Kind::text}});
    EXPECT_EQ(table.text("g").labels, (std::vector<std::string>{"b", "a", "say \"c\""}));
    EXPECT_EQ(table.text("g").codes, (std::vector<std::uint32_t>{0, 1, 0, 2, 1, 2}));
}

TEST_F(Csv, FilesArePooledEachWithItsOwnOrderOfColumns) {
    const std::string one = folder_.file("one.csv", "a,b,g\n1,2,x\n");
    const std::string two = folder_.file("two.txt", "g b z a\ny 4 0 3\nx 6 0 5\n");
    const Table table = read_table({one, two, one}, {{"a"}, {"b"}, {"g", Kind::text}});
    EXPECT_EQ(numbers(table, "a"), (Numbers{1, 3, 5, 1}));
    EXPECT_EQ(numbers(table, "b"), (Numbers{2, 4, 6, 2}));
    EXPECT_EQ(table.text("g").codes, (std::vector<std::uint32_t>{0, 1, 0, 0}));
    EXPECT_EQ(table.text("g").labels, (std::vector<std::string>{"x", "y"}));
}

TEST_F(Csv, AColumnMayBeAskedForTwiceAndAsNumberAndText) {
    const std::string file = folder_.file("t.csv", "a\n1\n2\n");
    const Table table = read_table({file}, {{"a"}, {"a", Kind::text}, {"a", Kind::number, Rule::positive}});
    EXPECT_EQ(numbers(table, "a"), (Numbers{1, 2}));
    EXPECT_EQ(table.text("a").labels, (std::vector<std::string>{"1", "2"}));
}

TEST_F(Csv, AColumnThatWasNotReadIsRefused) {
    const Table table = read_table({folder_.file("t.csv", "a\n1\n")}, {{"a"}});
    EXPECT_THROW(table.numbers("b"), InputError);
    EXPECT_THROW(table.text("a"), InputError);
}

TEST_F(Csv, PipesAreReadToTheirEnd) {
    const std::string pipe = folder_.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string text = "a,b\n";
    for (int i = 0; i < 300000; ++i) text += "1,2\n";  // more than a pipe or one step of reading holds
    std::thread writer([&] { std::ofstream(pipe) << text; });
    const Table table = read_table({pipe}, {{"a"}, {"b"}});
    writer.join();
    EXPECT_EQ(table.rows(), 300000U);
}

// A few MiB, so that it is read in several chunks.
std::string large_text(bool quotes, bool gaps) {
    core::Random random(3);
    std::string text = "x,g,y\n";
    for (int i = 0; i < 150000; ++i) {
        const std::string label = fmt::format("site {}", random.below(1000) * static_cast<std::size_t>(i) / 100000);
        const std::string shown = quotes && i % 3 == 0 ? "\"" + label + ",\n\"" : label;
        if (gaps && i % 7 == 0) text += "\n";
        text += fmt::format("{},{},{}\n", random.normal(), shown, gaps && i % 11 == 0 ? "NA" : fmt::format("{}", i));
    }
    return text;
}

TEST_F(Csv, TheTableIsTheSameForAnyNumberOfThreads) {
    for (const bool quotes : {false, true}) {
        for (const bool gaps : {false, true}) {
            const std::string file = folder_.file("t.csv", large_text(quotes, gaps));
            std::vector<Table> tables;
            for (const int threads : {1, 2, 5})
                with_threads(threads, [&] {
                    tables.push_back(read_table({file}, {{"x"}, {"y"}, {"g", Kind::text}}, {.missing = Missing::drop}));
                });
            // Row i says i in column y, but for those that were dropped.
            Numbers y;
            for (int i = 0; i < 150000; ++i)
                if (!gaps || i % 11 != 0) y.push_back(i);
            EXPECT_EQ(numbers(tables[0], "y"), y);
            EXPECT_EQ(tables[0].dropped(), 150000 - y.size());
            const TextColumn& text = tables[0].text("g");
            std::vector<bool> seen(text.labels.size());
            std::size_t next = 0;
            for (const std::uint32_t code : text.codes) {
                if (seen[code]) continue;
                EXPECT_EQ(code, next++);  // new labels come in order
                seen[code] = true;
            }
            EXPECT_EQ(next, text.labels.size());
            for (std::size_t t = 1; t < tables.size(); ++t) {
                EXPECT_EQ(numbers(tables[t], "x"), numbers(tables[0], "x"));
                EXPECT_EQ(numbers(tables[t], "y"), y);
                EXPECT_EQ(tables[t].text("g").codes, text.codes);
                EXPECT_EQ(tables[t].text("g").labels, text.labels);
            }
        }
    }
}

}  // namespace
}  // namespace accrue
