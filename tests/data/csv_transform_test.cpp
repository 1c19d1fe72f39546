// Columns added to text tables.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "accrue/threads.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "data/transform.hpp"
#include "support/threads.hpp"
#include "temporary_folder.hpp"

namespace accrue::data {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// sum = a + b, big = sum > 4.
const TransformPlan kPlan = {
    .inputs = {{"a"}, {"b"}}, .rows_of = {}, .added = {{"sum", {}}, {"big", {}, true}}, .history = {}};

void add_up(std::span<const std::span<const double>> values, std::span<const std::span<double>> results, std::size_t) {
    for (std::size_t i = 0; i < results[0].size(); ++i) {
        results[0][i] = values[0][i] + values[1][i];
        results[1][i] = results[0][i] > 4;
    }
}

class CsvTransform : public testing::Test {
protected:
    std::string transform(std::string_view text, const TransformPlan& plan = kPlan) {
        return transform_files({folder_.file("t.csv", text)}, plan);
    }
    std::string transform_files(const std::vector<std::string>& files, const TransformPlan& plan = kPlan) {
        transform_rows(files, folder_.path("out.csv"), plan, add_up);
        return folder_.content("out.csv");
    }
    std::string message(const std::vector<std::string>& files, const TransformPlan& plan = kPlan) {
        const std::size_t before = folder_.files();
        try {
            transform_rows(files, folder_.path("refused.csv"), plan, add_up);
        } catch (const InputError& error) {
            EXPECT_EQ(folder_.files(), before) << "a refusal leaves no file";
            std::string text = error.what();
            EXPECT_EQ(text.find('\n'), std::string::npos) << "a message is one line";
            for (std::size_t at; (at = text.find(folder_.folder() + "/")) != std::string::npos;)
                text.erase(at, folder_.folder().size() + 1);
            return text;
        }
        return "no error";
    }
    std::string message_for(std::string_view text, const TransformPlan& plan = kPlan) {
        return message({folder_.file("t.csv", text)}, plan);
    }
    std::string pipe(const std::string& name = "pipe") {
        const std::string path = folder_.path(name);
        EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
        return path;
    }

    test::TemporaryFolder folder_;
};

TransformPlan without_header() {
    TransformPlan plan = kPlan;
    plan.inputs = {{"1"}, {"2"}};
    plan.header = false;
    return plan;
}

TEST_F(CsvTransform, ColumnsAreAddedWithTheDelimiterOfTheFile) {
    EXPECT_EQ(transform("a,b\n1,2\n3,4\n"), "a,b,sum,big\n1,2,3,0\n3,4,7,1\n");
    EXPECT_EQ(transform("b;note;a\n1;x;2\n3;;4\n"), "b;note;a;sum;big\n1;x;2;3;0\n3;;4;7;1\n");
    EXPECT_EQ(transform("a\tb\n1\t2\n"), "a\tb\tsum\tbig\n1\t2\t3\t0\n");
    EXPECT_EQ(transform("a b\n1  2\n3 \t 4\n"), "a b sum big\n1  2 3 0\n3 \t 4 7 1\n");
}

TEST_F(CsvTransform, RowsAreKeptToTheLetter) {
    EXPECT_EQ(transform("a , \"b\",c\n 1.50,\"2\" ,\" x,\n\"\"y\"\" \"\n+3, 4.0e0,\xC3\xA9\n"),
              "a , \"b\",c,sum,big\n 1.50,\"2\" ,\" x,\n\"\"y\"\" \",3.5,0\n+3, 4.0e0,\xC3\xA9,7,1\n");
    EXPECT_EQ(transform(" a b \n 1 2 \n"), " a b  sum big\n 1 2  3 0\n");
}

TEST_F(CsvTransform, AddedCellsComeBeforeTheLineEnd) {
    EXPECT_EQ(transform("a,b\r\n1,2\r\n3,4\r\n"), "a,b,sum,big\r\n1,2,3,0\r\n3,4,7,1\r\n");
    EXPECT_EQ(transform("a,b\n1,2\r\n3,4\n"), "a,b,sum,big\n1,2,3,0\r\n3,4,7,1\n");
}

TEST_F(CsvTransform, ALastLineWithoutAnEndGetsThatOfTheFirst) {
    EXPECT_EQ(transform("a,b\n1,2"), "a,b,sum,big\n1,2,3,0\n");
    EXPECT_EQ(transform("a,b\r\n1,2\r\n3,4"), "a,b,sum,big\r\n1,2,3,0\r\n3,4,7,1\r\n");
    EXPECT_EQ(transform("1,2", without_header()), "1,2,3,0\n");
}

TEST_F(CsvTransform, AByteOrderMarkStaysAndBlankLinesGo) {
    EXPECT_EQ(transform("\xEF\xBB\xBF\n\na,b\n\n1,2\n  \n\n3,4\n\n"),
              "\xEF\xBB\xBF"
              "a,b,sum,big\n1,2,3,0\n3,4,7,1\n");
    EXPECT_EQ(transform("\xEF\xBB\xBF"
                        "1,2\n",
                        without_header()),
              "\xEF\xBB\xBF"
              "1,2,3,0\n");
}

TEST_F(CsvTransform, ARowWithAMissingInputKeepsItsPlace) {
    EXPECT_EQ(transform("a,b,c\n,2,\nNA,2,x\n1,nan,\n1,2,\n"), "a,b,c,sum,big\n,2,,,\nNA,2,x,,\n1,nan,,,\n1,2,,3,0\n");
    EXPECT_EQ(transform("a b\nNA 2\n1 2\n"), "a b sum big\nNA 2 NA NA\n1 2 3 0\n")
        << "between blanks an empty cell would be none";
}

TEST_F(CsvTransform, AResultThatIsMissingIsAnEmptyCell) {
    const std::string file = folder_.file("t.csv", "a,b\n1,2\n");
    transform_rows({file}, folder_.path("out.csv"), kPlan, [](auto, auto results, std::size_t) {
        results[0][0] = kNaN;
        results[1][0] = 1;
    });
    EXPECT_EQ(folder_.content("out.csv"), "a,b,sum,big\n1,2,,1\n");
}

TEST_F(CsvTransform, AFileOfOneColumnBecomesOneWithCommas) {
    TransformPlan plan = kPlan;
    plan.inputs = {{"wind speed"}, {"wind speed"}};
    EXPECT_EQ(transform("wind speed\n1\nNA\n3\n", plan), "wind speed,sum,big\n1,2,0\nNA,,\n3,6,1\n");
}

TEST_F(CsvTransform, NumbersComeBackAsTheyWere) {
    const Table table = [&] {
        core::Random random(11);
        std::string text = "a,b\n0,5e-324\n0,-1.7976931348623157e308\n0,-2.2250738585072014e-308\n0,1e16\n0,1e-5\n";
        for (int i = 0; i < 1000; ++i)
            text += fmt::format("0,{:.17g}\n", random.normal() * std::pow(10, random.uniform(-300, 300)));
        transform(text);
        return read_table({folder_.path("out.csv")}, {{"b"}, {"sum"}});
    }();
    // 0 + b is b, so whatever was lost was lost in writing.
    for (std::size_t i = 0; i < table.rows(); ++i) EXPECT_EQ(table.numbers("b")[i], table.numbers("sum")[i]);
}

TEST_F(CsvTransform, NamesThatNeedQuotesGetThem) {
    TransformPlan plan = kPlan;
    plan.added[0].name = "a, \"b\"";
    EXPECT_EQ(transform("a,b\n1,2\n", plan), "a,b,\"a, \"\"b\"\"\",big\n1,2,3,0\n");
    plan.added[0].name = "a sum";
    EXPECT_EQ(transform("a b\n1 2\n", plan), "a b \"a sum\" big\n1 2 3 0\n");
    EXPECT_EQ(column_names(folder_.path("out.csv")), (std::vector<std::string>{"a", "b", "a sum", "big"}));
}

TEST_F(CsvTransform, WithoutAHeaderNoneIsWritten) {
    EXPECT_EQ(transform("1,2\n3,4\n", without_header()), "1,2,3,0\n3,4,7,1\n");
}

TEST_F(CsvTransform, SeveralFilesBecomeOne) {
    const std::string one = folder_.file("one.csv", "a,b\n1,2");
    const std::string two = folder_.file("two.csv", "\xEF\xBB\xBF a,\"b\"\n3,4\n\n");
    EXPECT_EQ(transform_files({one, two, one}), "a,b,sum,big\n1,2,3,0\n3,4,7,1\n1,2,3,0\n");
}

TEST_F(CsvTransform, FilesThatDoNotFitTogetherAreRefused) {
    const std::string one = folder_.file("one.csv", "a,b\n1,2\n");
    EXPECT_EQ(message({one, folder_.file("two.csv", "b,a\n1,2\n")}),
              "two.csv has 'b' as column 1, one.csv has 'a'; all files need the same columns in the same order");
    EXPECT_EQ(message({one, folder_.file("two.csv", "a,b,c\n1,2,3\n")}),
              "two.csv has 3 columns, one.csv has 2; all files need the same columns in the same order");
    EXPECT_EQ(message({one, folder_.file("two.csv", "a;b\n1;2\n")}),
              "two.csv is separated by semicolons, one.csv by commas; they cannot become one file");
    EXPECT_EQ(message({one, folder_.path("none.csv")}), "cannot read none.csv: No such file or directory");
}

TEST_F(CsvTransform, ASecondFileFromAPipeIsCheckedWhenItsTurnComes) {
    const std::string one = folder_.file("one.csv", "a,b\n1,2\n");
    const std::string two = pipe();
    std::thread writer([&] { std::ofstream(two) << "a,x\n3,4\n"; });
    EXPECT_EQ(message({one, two}),
              "pipe has 'x' as column 2, one.csv has 'b'; all files need the same columns in the same order");
    writer.join();
    std::thread again([&] { std::ofstream(two) << "a,b\n3,4\n"; });
    EXPECT_EQ(transform_files({one, two}), "a,b,sum,big\n1,2,3,0\n3,4,7,1\n");
    again.join();
}

TEST_F(CsvTransform, NamesThatAreTakenAreRefused) {
    EXPECT_EQ(message_for("a,b,sum\n1,2,3\n"), "t.csv already has a column 'sum'; rename it or drop it");
    TransformPlan plan = kPlan;
    plan.added[1].name = "sum";
    EXPECT_EQ(message_for("a,b\n1,2\n", plan), "the column 'sum' would be added twice");
}

TEST_F(CsvTransform, BadPlacesAreNamedAsWhenATableIsRead) {
    EXPECT_EQ(message_for("a,b\n1,2\n\n3,x\n"), "t.csv row 2 (line 4), column 'b': 'x' is not a number");
    EXPECT_EQ(message_for("b;a\n1;2\n3,5;x\n"),
              "t.csv row 2 (line 3), column 'b': '3,5' has a decimal comma: write 3.5");
    EXPECT_EQ(message_for("a,b\n1,inf\n"), "t.csv row 1 (line 2), column 'b': 'inf' is not finite");
    EXPECT_EQ(message_for("a,b\n1,1e999\n"), "t.csv row 1 (line 2), column 'b': '1e999' is too large for a double");
    EXPECT_EQ(message_for("a,b\n1,2\n1\n"), "t.csv row 2 (line 3) has 1 field, the header has 2");
    EXPECT_EQ(message_for("a,b\n1,2\n1"),
              "t.csv row 2 (line 3) has 1 field, the header has 2: the file seems to end in the middle of the row");
    EXPECT_EQ(message_for("a,b\n1,\"2\n3,4\n"), "t.csv row 1 (line 2) has a quote that is never closed");
    EXPECT_EQ(message_for("a,b\n1,\"2\"x\n"),
              "t.csv row 1 (line 2) has text after a closing quote; write a quote inside a quoted field twice");
    EXPECT_EQ(message_for("a,c\n1,2\n"), "t.csv has no column 'b'. Columns: a, c");
    EXPECT_EQ(message_for("a,b,b\n1,2,3\n"), "t.csv has 2 columns named 'b'; rename all but one");
    EXPECT_EQ(message_for(""), "t.csv is empty");
    EXPECT_EQ(message_for("a,b\n\n"), "t.csv has a header but no rows");
    EXPECT_EQ(message({}), "no input file was given");
    EXPECT_EQ(message({folder_.path("none.csv")}), "cannot read none.csv: No such file or directory");
}

TEST_F(CsvTransform, AFileWithoutRowsAmongOthersIsRefused) {
    const std::string one = folder_.file("one.csv", "a,b\n");
    const std::string two = folder_.file("two.csv", "a,b\n1,x\n");
    EXPECT_EQ(message({one, two}), "one.csv has a header but no rows");
    EXPECT_EQ(message({folder_.file("three.csv", "a,b\n1,2\n"), one}), "one.csv has a header but no rows");
}

TEST_F(CsvTransform, TheOutputMayBeTheInput) {
    const std::string file = folder_.file("t.csv", "a,b\n1,2\n");
    transform_rows({file}, file, kPlan, add_up);
    EXPECT_EQ(folder_.content("t.csv"), "a,b,sum,big\n1,2,3,0\n");
    EXPECT_EQ(folder_.files(), 1U) << "no temporary file is left";
}

TEST_F(CsvTransform, ARefusedFileStaysAsItWas) {
    const std::string file = folder_.file("t.csv", "a,b\n1,2\nx,y\n");
    EXPECT_THROW(transform_rows({file}, file, kPlan, add_up), InputError);
    EXPECT_EQ(folder_.content("t.csv"), "a,b\n1,2\nx,y\n");
    EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(CsvTransform, AnErrorInTheComputationIsPassedOn) {
    const std::string file = folder_.file("t.csv", "a,b\n1,2\n");
    const auto fail = [](auto, auto, std::size_t) { throw std::runtime_error("no model"); };
    EXPECT_THROW(transform_rows({file}, folder_.path("out.csv"), kPlan, fail), std::runtime_error);
    EXPECT_EQ(folder_.files(), 1U);
}

// About `megabytes` of rows: row i holds i and numbers, empty cells, and with `quotes` labels over two lines.
std::string long_text(std::size_t megabytes, bool quotes, const char* line_end) {
    core::Random random(5);
    std::string text = fmt::format("i,label,a,b{}", line_end);
    for (std::size_t i = 0; text.size() < megabytes << 20U; ++i) {
        text += fmt::format("{},{},{},{}{}", i, quotes && i % 3 == 0 ? "\"x,\n\"\"y\"\"\"" : "z", random.normal(),
                            i % 17 == 0 ? "" : fmt::format("{}", i % 7), line_end);
        if (i % 1000 == 0) text += line_end;
    }
    return text;
}

// What transform should make of it, by way of a table in memory.
std::string expected_long_text(const std::string& text, const std::string& file) {
    const Table table = read_table({file}, {{"a"}, {"b"}}, {.missing = Missing::keep});
    std::string expected;
    std::size_t row = 0;
    bool inside = false;
    bool header = true;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') inside = !inside;
        if (text[i] != '\n' || inside) continue;
        std::size_t end = i;
        if (text[end - 1] == '\r') --end;
        if (end > begin) {
            expected += text.substr(begin, end - begin);
            if (header) {
                expected += ",sum,big";
                header = false;
            } else {
                const double sum = table.numbers("a")[row] + table.numbers("b")[row];
                expected += std::isnan(sum) ? ",," : fmt::format(",{},{:d}", sum, sum > 4);
                ++row;
            }
            expected += text.substr(end, i + 1 - end);
        }
        begin = i + 1;
    }
    return expected;
}

TEST_F(CsvTransform, TheBytesAreTheSameForAnyNumberOfThreadsAndFromAPipe) {
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 5);
    for (const bool quotes : {false, true}) {
        const std::string text = long_text(3, quotes, quotes ? "\r\n" : "\n");
        const std::string file = folder_.file("t.csv", text);
        const std::string expected = expected_long_text(text, file);
        for (const int threads : {1, 2, 5})
            with_threads(threads, [&] { EXPECT_TRUE(transform_files({file}) == expected) << threads << " threads"; });
        const std::string fifo = pipe(quotes ? "pipe1" : "pipe2");
        std::thread writer([&] { std::ofstream(fifo) << text; });
        EXPECT_TRUE(transform_files({fifo}) == expected) << "from a pipe";
        writer.join();
    }
}

TEST_F(CsvTransform, TheFirstBadPlaceIsNamedForAnyNumberOfThreads) {
    const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 4);
    std::string text = "a,b\n";
    for (int row = 1; row <= 400000; ++row) text += row % 150000 == 0 ? "1,bad\n" : "1,2\n";
    const std::string file = folder_.file("t.csv", text);
    for (const int threads : {1, 2, 4, 4, 4})
        with_threads(threads, [&] {
            EXPECT_EQ(message({file}), "t.csv row 150000 (line 150001), column 'b': 'bad' is not a number");
        });
}

TEST_F(CsvTransform, ARowLongerThanABlockPasses) {
    const std::string note(std::size_t{3} << 20, 'x');
    const std::string text = fmt::format("a,b,note\n1,2,{}\n3,4,\"{}\n\"\n", note, note);
    EXPECT_TRUE(transform(text) == fmt::format("a,b,note,sum,big\n1,2,{},3,0\n3,4,\"{}\n\",7,1\n", note, note));
}

TEST_F(CsvTransform, WideTablesPass) {
    std::string header = "a,b";
    std::string row = "1,2";
    for (int i = 0; i < 100000; ++i) {
        header += fmt::format(",c{}", i);
        row += ",0";
    }
    EXPECT_TRUE(transform(header + "\n" + row + "\n") == header + ",sum,big\n" + row + ",3,0\n");
}

TEST_F(CsvTransform, TheComputationMayRunLoopsOfItsOwn) {
    const std::string file = folder_.file("t.csv", long_text(2, false, "\n"));
    thread_local bool busy = false;
    std::atomic<bool> entered_twice = false;
    transform_rows({file}, folder_.path("out.csv"), kPlan, [&](auto values, auto results, std::size_t) {
        // Workspaces of a thread are safe only when it does not take up a second block in between.
        if (busy) entered_twice = true;
        busy = true;
        core::for_blocks(results[0].size(), 64, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                results[0][i] = values[0][i] + values[1][i];
                results[1][i] = results[0][i] > 4;
            }
        });
        busy = false;
    });
    EXPECT_FALSE(entered_twice);
    const std::string out = folder_.content("out.csv");
    EXPECT_TRUE(out == transform_files({file}));
}

TEST_F(CsvTransform, ColumnsAreAlignedForVectors) {
    const std::string file = folder_.file("t.csv", "a,b\n1,2\n");
    transform_rows({file}, folder_.path("out.csv"), kPlan, [](auto values, auto results, std::size_t) {
        for (const auto& column : values) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(column.data()) % 64, 0U);
        for (const auto& column : results) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(column.data()) % 64, 0U);
        results[0][0] = results[1][0] = 0;
    });
}

TEST_F(CsvTransform, RowsOfASlowPipeGoOnBeforeItEnds) {
    const std::string in = pipe("in");
    const std::string out = pipe("out");
    std::thread worker([&] { transform_rows({in}, out, kPlan, add_up); });
    std::ofstream source(in);
    // The layout is found from the first 64 lines; after those, rows must not wait for the end of the file.
    source << "a,b\n";
    for (int i = 0; i < 100; ++i) source << "1,2\n";
    source << "3," << std::flush;
    std::ifstream result(out);  // opened by the other side when it knows the layout
    std::string line;
    ASSERT_TRUE(std::getline(result, line));
    EXPECT_EQ(line, "a,b,sum,big");
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(std::getline(result, line));
        EXPECT_EQ(line, "1,2,3,0");
    }
    source << "4\n" << std::flush;
    ASSERT_TRUE(std::getline(result, line));
    EXPECT_EQ(line, "3,4,7,1");
    source.close();
    EXPECT_FALSE(std::getline(result, line));
    worker.join();
}

TEST_F(CsvTransform, ABadRowOfASlowPipeIsRefusedBeforeItEnds) {
    const std::string in = pipe("in");
    std::atomic<bool> refused = false;
    std::thread worker([&] {
        EXPECT_THROW(transform_rows({in}, folder_.path("out.csv"), kPlan, add_up), InputError);
        refused = true;
    });
    std::ofstream source(in);
    source << "a,b\n";
    for (int i = 0; i < 100; ++i) source << "1,x\n";
    source << std::flush;
    // Some pauses of 50 ms are needed; a busy machine may take far longer.
    for (int i = 0; i < 600 && !refused; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(refused);
    source.close();
    worker.join();
}

TEST_F(CsvTransform, AFileThatIsItsOwnDirectOutputIsRefused) {
    const std::string file = folder_.file("t.csv", "a,b\n1,2\n");
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    EXPECT_THROW(transform_rows({file}, fmt::format("/dev/fd/{}", descriptor), kPlan, add_up), InputError);
    ::close(descriptor);
}

// The most memory that this program has held, in kB. Not getrusage: its peak includes that of the program before exec.
long peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
    return std::numeric_limits<long>::max();
}

// In a process of its own, since the peak of memory is one of the whole process.
[[noreturn]] void transform_much(const std::string& pipe) {
    std::thread writer([&] {
        std::ofstream out(pipe);
        out << "a,b\n";
        std::string rows;
        while (rows.size() < std::size_t{1} << 20) rows += "0.12345678901,1.2345678901\n";
        for (int i = 0; i < 200; ++i) out << rows;
    });
    transform_rows({pipe}, "/dev/null", kPlan, add_up);
    writer.join();
    const long peak = peak_memory();
    std::fprintf(stderr, "peak %ld kB\n", peak);
    std::filesystem::remove_all(std::filesystem::path(pipe).parent_path());  // nobody else will, after _Exit
#ifdef __SANITIZE_ADDRESS__
    constexpr long kMax = 256 * 1024;  // the sanitizer holds back freed memory for a while
#else
    constexpr long kMax = 64 * 1024;
#endif
    std::_Exit(peak < kMax ? 0 : 1);
}

TEST(CsvTransformMemory, DoesNotGrowWithTheRows) {
    // 200 MiB of rows through a pipe. A block and all that is made of it takes 2 MiB, of which there are a few for each
    // thread; the rest of the process takes about 20 MiB.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const test::TemporaryFolder folder;
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EXIT(with_threads(4, [&] { transform_much(pipe); }), testing::ExitedWithCode(0), "");
}

// What is random is drawn by a row's number, so it must not depend on blocks and threads.
TEST_F(CsvTransform, RowsAreNumberedThroughAllFiles) {
    const TransformPlan plan = {.inputs = {{"a"}}, .rows_of = {}, .added = {{"row", {}}}, .history = {}};
    std::vector<std::string> files;
    std::size_t rows = 0;
    for (const std::size_t count : {3U, 200'000U, 1U}) {  // the second is several blocks long
        std::string text = "a\n";
        for (std::size_t i = 0; i < count; ++i, ++rows)
            text += i % 1000 == 7 ? "5\n\n" : i % 3 == 0 ? "NA\n" : "5\n";  // an empty line is no row
        files.push_back(folder_.file(fmt::format("{}.csv", files.size()), text));
    }
    support::expect_same_for_any_threads([&] {
        transform_rows(files, folder_.path("out.csv"), plan, [](auto, auto results, std::size_t first) {
            for (std::size_t i = 0; i < results[0].size(); ++i) results[0][i] = static_cast<double>(first + i);
        });
        return folder_.content("out.csv");
    });
    std::istringstream written(folder_.content("out.csv"));
    std::string line;
    std::getline(written, line);
    std::size_t next = 0;
    while (std::getline(written, line)) {
        if (line.empty()) continue;
        ASSERT_EQ(line, line.starts_with("NA") ? "NA," : fmt::format("5,{}", next));
        ++next;
    }
    EXPECT_EQ(next, rows);
}

}  // namespace
}  // namespace accrue::data
