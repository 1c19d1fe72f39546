// Bad files: one message that names the file, the place and the rule.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "core/random.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

class BadInput : public testing::Test {
protected:
    // The message for reading columns a and b (b must be positive), the folder cut off.
    std::string message(const std::vector<std::string>& files, const ReadOptions& options = {}) {
        const std::string a = options.header ? "a" : "1";
        const std::string b = options.header ? "b" : "2";
        try {
            read_table(files, {{b, Kind::number, Rule::positive}, {a}}, options);
        } catch (const InputError& error) {
            std::string text = error.what();
            EXPECT_EQ(text.find('\n'), std::string::npos) << "a message is one line";
            EXPECT_LT(text.size(), 600U) << "a message is short";
            for (std::size_t at; (at = text.find(folder_.folder() + "/")) != std::string::npos;)
                text.erase(at, folder_.folder().size() + 1);
            return text;
        }
        return "no error";
    }
    std::string message_for(std::string_view text, const ReadOptions& options = {}) {
        return message({folder_.file("t.csv", text)}, options);
    }

    test::TemporaryFolder folder_;
};

TEST_F(BadInput, FilesThatCannotBeRead) {
    EXPECT_EQ(message({folder_.path("none.csv")}), "cannot read none.csv: No such file or directory");
    EXPECT_EQ(message({folder_.folder() + "/."}), ". is a directory, not a file");
    EXPECT_EQ(message({}), "no input file was given");
    EXPECT_EQ(message({""}), "the name of an input file is empty");
    const std::string file = folder_.file("t.csv", "a,b\n1,2\n");
    ::chmod(file.c_str(), 0);
    if (::geteuid() != 0) {  // root may read everything
        EXPECT_EQ(message({file}), "cannot read t.csv: Permission denied");
    }
}

TEST_F(BadInput, FilesWithoutRows) {
    EXPECT_EQ(message_for(""), "t.csv is empty");
    EXPECT_EQ(message_for("\xEF\xBB\xBF"), "t.csv is empty: it has only blank lines");
    EXPECT_EQ(message_for("\n  \n"), "t.csv is empty: it has only blank lines");
    EXPECT_EQ(message_for("a,b\n"), "t.csv has a header but no rows");
    EXPECT_EQ(message_for("a,b"), "t.csv has a header but no rows");
    EXPECT_EQ(message_for("a,b\n\n \n"), "t.csv has a header but no rows");
    EXPECT_EQ(message_for("a,b\n1,\nNA,2\n", {.missing = Missing::drop}),
              "t.csv: no rows are left: all 2 rows had a missing value");
}

TEST_F(BadInput, FilesThatAreNoText) {
    EXPECT_EQ(message_for(std::string_view("a,b\n1,2\0\n", 9)), "t.csv does not look like a text table");
    EXPECT_EQ(message_for("\x7F"
                          "ELF\x01\x02\n"),
              "t.csv does not look like a text table");
    EXPECT_EQ(message_for("\x1f\x8b\x08junk\n"),
              "t.csv does not look like a text table (it is compressed: let its name end in .gz, or unpack it first)");
    EXPECT_EQ(message_for(std::string_view("\xFF\xFE"
                                           "a\0,\0b\0\n\0",
                                           10)),
              "t.csv does not look like a text table (it is UTF-16: save it as UTF-8)");
    EXPECT_EQ(message_for("a,b\r1,2\r"),
              "t.csv has lines that end in a carriage return alone; convert them to newlines");
    std::string late = "a,b\n";
    for (int i = 0; i < 2000; ++i) late += "1,2\n";
    EXPECT_EQ(message_for(late + std::string("1,2\0\n", 5)),
              "t.csv row 2001 (line 2002) holds a NUL byte: this does not look like a text table");
    core::Random random(5);
    for (int i = 0; i < 200; ++i) {
        std::string rubbish(1 + random.below(5000), ' ');
        for (char& c : rubbish) c = static_cast<char>(random.below(256));
        EXPECT_NE(message_for(rubbish), "no error");
    }
}

TEST_F(BadInput, ALineOf100MegabytesIsRefusedQuickly) {
    const std::string line(100'000'000, '7');
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(message_for(line), "t.csv does not look like a text table: its first line is longer than 4 MiB");
    EXPECT_EQ(message_for("a,b\n1,2\n" + line),
              "t.csv row 2 (line 3) has 1 field, the header has 2: the file seems to end in the middle of the row");
    EXPECT_EQ(message_for("a,b\n1,x" + line),
              "t.csv row 1 (line 2), column 'b': 'x" + std::string(39, '7') + "...' is not a number");
    std::string commas(100'000'000, ',');
    EXPECT_EQ(message_for("a,b\n" + commas + "\n"), "t.csv row 1 (line 2) has 100000001 fields, the header has 2");
    // Writing the files takes longest; a quadratic step anywhere would take hours.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(BadInput, UnknownColumns) {
    EXPECT_EQ(message_for("B,a\n1,2\n"), "t.csv has no column 'b'; did you mean 'B'? Columns: B, a");
    EXPECT_EQ(message_for("a,sigma\n1,2\n"), "t.csv has no column 'b'. Columns: a, sigma");
    EXPECT_EQ(message_for("1.5,2.5\n1,2\n"),
              "t.csv has no column 'b'. Columns: 1.5, 2.5 (all numbers: for a file "
              "without a header use --no-header)");
    EXPECT_EQ(message_for("1\n2\n", {.header = false}),
              "t.csv has no column '2'; without a header its columns are numbered 1 to 1");
    EXPECT_EQ(message({folder_.file("one.csv", "a,b\n1,2\n"), folder_.file("two.csv", "a,c\n1,2\n")}),
              "two.csv has no column 'b'. Columns: a, c");
    std::string wide = "c0";
    for (int i = 1; i < 1000; ++i) wide += fmt::format(",c{}", i);
    EXPECT_NE(message_for(wide + "\n1\n").find("c19, ... (1000 in all)"), std::string::npos);
}

TEST_F(BadInput, ANameInTheHeaderTwiceMattersOnlyWhenItIsAskedFor) {
    EXPECT_EQ(message_for("a,b,a\n1,2,3\n"), "t.csv has 2 columns named 'a'; rename all but one");
    EXPECT_EQ(message_for("a,b,c,c\n1,2,3,3\n"), "no error");
}

TEST_F(BadInput, CellsThatAreNoNumbers) {
    const auto cell = [&](const std::string& text) { return message_for("a;b\n1;2\n\n" + text + ";2\n"); };
    const std::string place = "t.csv row 2 (line 4), column 'a': ";
    EXPECT_EQ(cell("n/a"), place + "'n/a' is not a number");
    EXPECT_EQ(cell("1e400"), place + "'1e400' is too large for a double");
    EXPECT_EQ(cell("-inf"), place + "'-inf' is not finite");
    EXPECT_EQ(cell("1,5"), place + "'1,5' has a decimal comma: write 1.5");
    EXPECT_EQ(cell("\"x\ny\""), place + "'x\\x0ay' is not a number");
    EXPECT_EQ(cell(std::string(1000, 'x')), place + "'" + std::string(40, 'x') + "...' is not a number");
    for (const char* missing : {"", "NA", "NaN", "nan", "null", " NA "})
        EXPECT_EQ(cell(missing), place + "value is missing; use --missing drop to skip such rows");
}

TEST_F(BadInput, NumbersThatBreakARule) {
    EXPECT_EQ(message_for("a,b\n1,-0.5\n"), "t.csv row 1 (line 2), column 'b': b must be positive; it is -0.5");
    EXPECT_EQ(message_for("a,b\n1,0\n"), "t.csv row 1 (line 2), column 'b': b must be positive; it is 0");
    try {
        read_table({folder_.file("t.csv", "w\n0\n-1\n")}, {{"w", Kind::number, Rule::not_negative}});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("row 2 (line 3), column 'w': w must not be negative; it is -1"),
                  std::string::npos);
    }
}

TEST_F(BadInput, AMissingTextIsRefused) {
    const std::string file = folder_.file("t.csv", "g,a\nx,1\n\"\",2\n");
    try {
        read_table({file}, {{"g", Kind::text}});
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(error.what(), file +
                                    " row 2 (line 3), column 'g': value is missing; use --missing drop to skip "
                                    "such rows");
    }
}

TEST_F(BadInput, RowsWithTooFewOrTooManyFields) {
    EXPECT_EQ(message_for("a,b,c\n1,2,3\n1,2\n1,2,3\n"), "t.csv row 2 (line 3) has 2 fields, the header has 3");
    EXPECT_EQ(message_for("a,b,c\n1,2,3,\n"), "t.csv row 1 (line 2) has 4 fields, the header has 3");
    EXPECT_EQ(message_for("a b c\n1 2 3\n1 2 3 4 \n"), "t.csv row 2 (line 3) has 4 fields, the header has 3");
    EXPECT_EQ(message_for("1,2,3\n1,2\n", {.header = false}), "t.csv row 2 (line 2) has 2 fields, the first row has 3");
    // Also when the missing field was not asked for, and a dropped row is no excuse.
    EXPECT_EQ(message_for("a,b,c\n1,2,3\n,2\n", {.missing = Missing::drop}),
              "t.csv row 2 (line 3) has 2 fields, the header has 3");
}

TEST_F(BadInput, AFileThatEndsInTheMiddleOfARow) {
    EXPECT_EQ(message_for("a,b,c\n1,2,3\n1,2"),
              "t.csv row 2 (line 3) has 2 fields, the header has 3: the file seems to end in the middle of the row");
    EXPECT_EQ(message_for("a,b,c\n1,2,\"3"), "t.csv row 1 (line 2) has a quote that is never closed");
}

TEST_F(BadInput, QuotesThatDoNotFit) {
    EXPECT_EQ(message_for("a,b\n\"1\"x,2\n"),
              "t.csv row 1 (line 2) has text after a closing quote; write a quote inside a quoted field twice");
    EXPECT_EQ(message_for("\"a,b\n1,2\n"), "t.csv: the header has a quote that is never closed");
    EXPECT_EQ(message_for("\"a\"x,b\n1,2\n"), "t.csv: the header has text after a closing quote");
    EXPECT_EQ(message_for("a,b,c\n1,2,5\" pipe\n3,4,6\" pipe\n"), "no error");
}

TEST_F(BadInput, TheFirstBadPlaceIsNamedForAnyNumberOfThreads) {
    for (const char* note : {"plain", "\"two\nlines\""}) {
        std::string text = "a,note,b\n";
        for (int i = 1; i <= 300000; ++i) {
            // Bad rows in many chunks; the first is 120001, where b stands left of nothing bad.
            const bool bad = i > 120000 && i % 10000 == 1;
            text += fmt::format("{},{},{}\n", bad ? "x" : "1", i % 2 == 0 ? note : "", bad ? "-1" : "2");
        }
        const std::string file = folder_.file("t.csv", text);
        const std::size_t line = note[0] == '"' ? 120002 + 60000 : 120002;  // every second row has two lines
        for (const int threads : {1, 2, 4})
            with_threads(threads, [&] {
                EXPECT_EQ(message({file}),
                          fmt::format("t.csv row 120001 (line {}), column 'a': 'x' is not a number", line));
            });
    }
}

TEST_F(BadInput, TheFirstBadFileIsNamed) {
    EXPECT_EQ(message({folder_.file("one.csv", "a,b\n1,x\n"), folder_.path("none.csv")}),
              "one.csv row 1 (line 2), column 'b': 'x' is not a number");
}

}  // namespace
}  // namespace accrue
