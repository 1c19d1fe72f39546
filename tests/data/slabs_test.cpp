// Files in slabs: the same rows and the same messages, however much of a file is in memory at a time.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "core/random.hpp"
#include "data/input_file.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

constexpr std::size_t kSizes[] = {1, 7, 64, 1000, 100000};

struct Collected {
    std::vector<double> x, y, t;
    std::vector<std::string> groups;  // of every row, by its label
    std::vector<std::string> labels;
    std::size_t slabs = 0;
    std::size_t dropped = 0;
    bool dates = false;
};

class Slabs : public testing::Test {
protected:
    static void add(Collected& all, const Table& slab) {
        const auto take = [&](const char* name, std::vector<double>& to) {
            const auto values = slab.numbers(name);
            ASSERT_EQ(values.size(), slab.rows());
            to.insert(to.end(), values.begin(), values.end());
        };
        take("x", all.x);
        take("y", all.y);
        take("t", all.t);
        for (const std::uint32_t code : slab.text("g").codes) all.groups.push_back(slab.text("g").labels[code]);
        all.labels = slab.text("g").labels;
        all.dropped = slab.dropped();
        all.dates = slab.has_dates("t");
        ++all.slabs;
    }
    static std::vector<ColumnRequest> columns() {
        return {{"x", Kind::number, Rule::positive}, {"y"}, {"g", Kind::text}, {"t", Kind::time}};
    }
    static ReadOptions options(std::size_t slab_bytes, Missing missing = Missing::drop) {
        ReadOptions chosen{.missing = missing};
        chosen.slab_bytes = slab_bytes;
        return chosen;
    }
    static Collected in_slabs(const std::vector<std::string>& files, std::size_t slab_bytes) {
        Collected all;
        const std::size_t dropped =
            read_slabs(files, columns(), options(slab_bytes), [&](const Table& slab) { add(all, slab); });
        all.dropped = dropped;
        return all;
    }
    static Collected whole(const std::vector<std::string>& files, std::size_t slab_bytes) {
        Collected all;
        add(all, read_table(files, columns(), options(slab_bytes)));
        return all;
    }
    static void expect_same(const Collected& a, const Collected& b) {
        EXPECT_EQ(a.x, b.x);
        EXPECT_EQ(a.y, b.y);
        EXPECT_EQ(a.t, b.t);
        EXPECT_EQ(a.groups, b.groups);
        EXPECT_EQ(a.labels, b.labels);
        EXPECT_EQ(a.dropped, b.dropped);
        EXPECT_EQ(a.dates, b.dates);
    }
    // Blank lines, quoted delimiters and newlines, missing values.
    static std::string text(int rows, bool quotes) {
        core::Random random(11);
        std::string all = "x,g,y,t\n";
        for (int i = 0; i < rows; ++i) {
            std::string label = fmt::format("site {}", random.below(40));
            if (quotes && i % 3 == 0) label = fmt::format("\"{},\n\"\"{}\"\"\"", label, i % 2);
            if (i % 13 == 0) all += "\n";
            all += fmt::format("{},{},{},2024-01-{:02}\n", 1 + i, label, i % 11 == 5 ? "NA" : fmt::format("{}", -i),
                               1 + i % 31);
        }
        return all;
    }
    std::string message(const std::string& content, std::size_t slab_bytes, Missing missing = Missing::refuse) const {
        try {
            read_slabs({folder_.file("bad.csv", content)}, columns(), options(slab_bytes, missing),
                       [](const Table&) {});
        } catch (const InputError& error) {
            std::string said = error.what();
            if (const std::size_t at = said.find(folder_.folder()); at != std::string::npos)
                said.erase(at, folder_.folder().size() + 1);
            return said;
        }
        return "no error";
    }

    test::TemporaryFolder folder_;
};

TEST_F(Slabs, HoldTheRowsOfTheWholeTable) {
    for (const bool quotes : {false, true}) {
        const std::string one = folder_.file("1.csv", text(700, quotes));
        const std::string two = folder_.file("2.csv", text(300, !quotes));
        const Collected all = whole({one, two}, std::size_t{64} << 20U);
        ASSERT_EQ(all.x.size(), 909U);
        EXPECT_TRUE(all.dates);
        for (const std::size_t bytes : kSizes) {
            SCOPED_TRACE(bytes);
            const Collected pieces = in_slabs({one, two}, bytes);
            expect_same(pieces, all);
            expect_same(whole({one, two}, bytes), all);
            if (bytes <= 1000) {
                EXPECT_GT(pieces.slabs, 20U);
            }
        }
    }
}

// x is the number of the row in its file, so that the line can be counted here in another way: from the text itself.
TEST_F(Slabs, RowsKnowTheirFileRowAndLineThatMessagesName) {
    const auto lines_of = [](const std::string& content) {
        std::vector<std::size_t> lines;
        std::size_t line = 1;
        bool quoted = false;
        for (std::size_t i = 0; i < content.size(); ++i) {
            const bool begins_line = i == 0 || content[i - 1] == '\n';
            if (begins_line && !quoted && content[i] >= '0' && content[i] <= '9') lines.push_back(line);
            if (content[i] == '"') quoted = !quoted;
            if (content[i] == '\n') ++line;
        }
        return lines;
    };
    const std::string contents[] = {text(700, true), text(300, false), text(40, true)};
    std::vector<std::string> files;
    std::vector<std::string> expected;
    for (const std::string& content : contents) {
        files.push_back(folder_.file(fmt::format("{}.csv", files.size()), content));
        const std::vector<std::size_t> lines = lines_of(content);
        for (std::size_t row = 1; row <= lines.size(); ++row)
            if ((row - 1) % 11 != 5)
                expected.push_back(fmt::format("{} row {} (line {})", files.back(), row, lines[row - 1]));
    }
    ASSERT_EQ(expected.size(), 945U);
    EXPECT_TRUE(expected.front().ends_with("0.csv row 1 (line 3)")) << expected.front();
    for (const std::size_t bytes : kSizes) {
        SCOPED_TRACE(bytes);
        std::vector<std::string> places;
        read_slabs(files, columns(), options(bytes), [&](const Table& slab) {
            for (std::size_t i = 0; i < slab.rows(); ++i) places.push_back(slab.place(i));
        });
        EXPECT_EQ(places, expected);
        const Table all = read_table(files, columns(), options(bytes));
        places.clear();
        for (std::size_t i = 0; i < all.rows(); ++i) places.push_back(all.place(i));
        EXPECT_EQ(places, expected);
    }
}

TEST_F(Slabs, OfAPipeHoldTheSameRows) {
    const std::string content = text(500, true);
    const Collected all = whole({folder_.file("t.csv", content)}, 1U << 20U);
    const std::string pipe = folder_.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe) << content; });
    const Collected pieces = in_slabs({pipe}, 1000);
    writer.join();
    expect_same(pieces, all);
    EXPECT_GT(pieces.slabs, 10U);
}

TEST_F(Slabs, ARowLongerThanASlabIsReadWhole) {
    const std::string content = "x,g,y,t\n1,a,2,0\n2,\"" + std::string(5000, 'q') + "\n\",3,1\n3,b,4,2\n";
    const Collected all = in_slabs({folder_.file("t.csv", content)}, 16);
    EXPECT_EQ(all.x, (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(all.groups[1].size(), 5001U);
}

TEST_F(Slabs, MessagesNameRowAndLineOfTheWholeFile) {
    std::string good = "x,g,y,t\n";
    for (int i = 1; i <= 300; ++i) good += fmt::format("{},\"a\nb\",{},{}\n{}", i, -i, i, i % 10 == 0 ? "\n" : "");
    // 300 rows of two lines, 30 blank lines, the header.
    const std::pair<const char*, const char*> cases[] = {
        {"301,c,NA,1\n",
         "bad.csv row 301 (line 632), column 'y': value is missing; use --missing drop to skip such rows"},
        {"301,c,one,1\n", "bad.csv row 301 (line 632), column 'y': 'one' is not a number"},
        {"-1,c,1,1\n", "bad.csv row 301 (line 632), column 'x': x must be positive; it is -1"},
        {"301,c,1\n", "bad.csv row 301 (line 632) has 3 fields, the header has 4"},
        {"301,\"c,1,1\n", "bad.csv row 301 (line 632) has a quote that is never closed"},
        {"301,c,1,2024-01-01\n",
         "bad.csv row 301 (line 632), column 't': '2024-01-01' is an ISO 8601 time, but the rows before have numbers"},
    };
    for (const std::size_t bytes : kSizes) {
        SCOPED_TRACE(bytes);
        EXPECT_EQ(message(good, bytes), "no error");
        for (const auto& [row, expected] : cases)
            EXPECT_EQ(message(good + row + "302,c,x,y\n", bytes).substr(0, 200), expected);
        EXPECT_EQ(message("x,g,y,t\n", bytes), "bad.csv has a header but no rows");
        EXPECT_EQ(message("x,g,y,t\n1,a,,1\n2,a,,1\n", bytes, Missing::drop),
                  "bad.csv: no rows are left: all 2 rows had a missing value");
    }
}

TEST_F(Slabs, ColumnsAreFoundInTheBeginningOfAFile) {
    const std::string file = folder_.file("t.csv", text(500, true));
    for (const std::size_t bytes : kSizes) {
        EXPECT_EQ(column_names(file, options(bytes)), (std::vector<std::string>{"x", "g", "y", "t"}));
        EXPECT_EQ(numeric_columns(file, options(bytes)), (std::vector<std::string>{"x", "y"}));
    }
}

TEST_F(Slabs, AFileThatShrinksWhileItIsReadIsRefusedAndNamed) {
    std::string text = "x,y,g,t\n";
    for (int i = 0; i < 100'000; ++i) text += "1,2,a,3\n";
    const std::string file = folder_.file("t.csv", text);
    std::size_t slabs = 0;
    try {
        read_slabs({file}, columns(), options(1 << 16), [&](const Table&) {
            if (++slabs == 2) std::filesystem::resize_file(file, 200'000);
        });
        FAIL() << "the rest was read from nowhere";
    } catch (const InputError& error) {
        EXPECT_EQ(error.what(), file + " changed while it was read: it had 800008 bytes, and now has 200000");
    }
    EXPECT_GT(slabs, 1U);
}

TEST_F(Slabs, AStreamEndsWhereTheFileEndedWhenItWasOpened) {
    const std::string path = folder_.file("t.csv", "x,y\n1,2\n3,4.5\n");
    std::array<char, 64> place{};
    {
        data::InputFile file(path);
        EXPECT_EQ(file.read(place.data(), 8), 8U);
        std::filesystem::resize_file(path, 10);
        EXPECT_EQ(file.read(place.data(), 8), 2U);
        try {
            file.read(place.data(), 8);
            FAIL() << "half a number was taken for a whole one";
        } catch (const InputError& error) {
            EXPECT_EQ(error.what(), path + " changed while it was read: it had 14 bytes, and now has 10");
        }
    }
    data::InputFile file(path);
    std::filesystem::resize_file(path, 20);
    EXPECT_EQ(file.read(place.data(), place.size()), 10U);
    EXPECT_EQ(file.read(place.data(), place.size()), 0U);
}

}  // namespace
}  // namespace accrue
