// Compressed files, comments and quoted newlines: the same rows as from a plain file.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "accrue/error.hpp"
#include "accrue/table.hpp"
#include "data/transform.hpp"
#include "temporary_folder.hpp"

namespace accrue {
namespace {

std::string gzipped(const std::string& text) {
    z_stream stream{};
    constexpr int kGzip = 15 + 16;
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
    std::string source = text;
    stream.next_in = reinterpret_cast<Bytef*>(source.data());
    stream.avail_in = static_cast<uInt>(source.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::string zstd_packed(const std::string& text) {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    return packed;
}

std::vector<double> column(const std::string& file, const std::string& name, const ReadOptions& options = {}) {
    const Table table = read_table({file}, {{name}}, options);
    const auto values = table.numbers(name);
    return {values.begin(), values.end()};
}

class Unpacked : public testing::Test {
protected:
    std::string message(const std::string& file) const {
        try {
            (void)column(file, "a");
        } catch (const InputError& error) {
            const std::string text = error.what();
            return text.substr(text.find(folder_.folder()) == 0 ? folder_.folder().size() + 1 : 0);
        }
        return "no error";
    }
    std::string content(const std::string& path) const {
        std::ifstream stream(path);
        std::stringstream all;
        all << stream.rdbuf();
        return all.str();
    }
    test::TemporaryFolder folder_;
};

std::string long_table() {
    std::string text = "a,b\n";
    for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "," + std::to_string(i % 17) + "\n";
    return text;
}

TEST_F(Unpacked, CompressedFilesGiveTheSameRows) {
    const std::string text = long_table();
    const std::vector<double> plain = column(folder_.file("t.csv", text), "a");
    for (const std::string& file :
         {folder_.file("t.csv.gz", gzipped(text)), folder_.file("t.csv.zst", zstd_packed(text))}) {
        EXPECT_EQ(column(file, "a"), plain);
        EXPECT_EQ(column(file, "a", {.slab_bytes = 1000}), plain);
        EXPECT_EQ(numeric_columns(file), (std::vector<std::string>{"a", "b"}));
    }
}

TEST_F(Unpacked, PartsThatWerePutTogetherAreOneText) {
    const std::string first = "a\n1\n2\n";
    const std::string second = "3\n4\n";
    const std::vector<double> all = {1, 2, 3, 4};
    EXPECT_EQ(column(folder_.file("t.gz", gzipped(first) + gzipped(second)), "a"), all);
    EXPECT_EQ(column(folder_.file("t.zst", zstd_packed(first) + zstd_packed(second)), "a"), all);
}

TEST_F(Unpacked, DamagedFilesAreRefusedWithOneMessage) {
    const std::string text = long_table();
    const std::string gz = gzipped(text);
    const std::string zst = zstd_packed(text);
    for (const double share : {0.1, 0.5, 0.999}) {
        const auto cut = [&](const std::string& packed) {
            return packed.substr(0, static_cast<std::size_t>(share * static_cast<double>(packed.size())));
        };
        EXPECT_EQ(message(folder_.file("t.gz", cut(gz))),
                  "t.gz ends in the middle of its compressed data: it is incomplete");
        EXPECT_EQ(message(folder_.file("t.zst", cut(zst))),
                  "t.zst ends in the middle of its compressed data: it is incomplete");
    }
    EXPECT_EQ(message(folder_.file("t.gz", "a,b\n1,2\n")),
              "t.gz cannot be unpacked: it is damaged, or not a gzip file");
    EXPECT_EQ(message(folder_.file("t.zst", "a,b\n1,2\n")),
              "t.zst cannot be unpacked: it is damaged, or not a zstd file");
    EXPECT_EQ(message(folder_.file("t.gz", "")), "t.gz is empty");
    EXPECT_EQ(message(folder_.file("t.gz", gzipped("a\n1\n") + "rest")),
              "t.gz cannot be unpacked: it is damaged, or not a gzip file");
}

TEST_F(Unpacked, ARowWithoutAnEndDoesNotFillTheMemory) {
    // 200 MB of one letter are some hundred kB of gzip.
    const std::string bomb = gzipped("a\n" + std::string(std::size_t{200} << 20U, '1'));
    EXPECT_EQ(message(folder_.file("t.gz", bomb)), "t.gz has a row longer than 64 MiB; is a quote never closed?");
}

// In a process of its own, since the peak of memory is one of the whole process; in kB.
[[noreturn]] void read_much(const std::string& file) {
    ReadOptions options;
    options.slab_bytes = std::size_t{1} << 20U;
    std::size_t rows = 0;
    read_slabs({file}, {{"a"}}, options, [&](const Table& slab) { rows += slab.rows(); });
    long peak = std::numeric_limits<long>::max();
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) peak = std::stol(line.substr(6));
    std::fprintf(stderr, "peak %ld kB of %zu rows\n", peak, rows);
#ifdef __SANITIZE_ADDRESS__
    constexpr long kMax = 384 * 1024;  // the sanitizer holds back freed memory for a while
#else
    constexpr long kMax = 96 * 1024;
#endif
    std::_Exit(peak < kMax && rows == std::size_t{10} << 20U ? 0 : 1);
}

TEST_F(Unpacked, MemoryDoesNotGrowWithWhatFilesUnpackTo) {
    // 210 MB of rows, whose numbers take 84 MB; the process takes about 20 MB besides.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const std::string rows = [] {
        std::string some;
        while (some.size() < std::size_t{20} << 16U) some += "0.12345678901234567\n";
        return some;
    }();
    for (const auto& [ending, pack] : {std::pair("gz", &gzipped), std::pair("zst", &zstd_packed)}) {
        std::string file = pack("a\n");
        const std::string part = pack(rows);
        for (int i = 0; i < 160; ++i) file += part;
        const std::string path = folder_.file(std::string("t.") + ending, file);
        EXPECT_EXIT(read_much(path), testing::ExitedWithCode(0), "") << ending;
    }
}

TEST_F(Unpacked, PredictionsReadCompressedFilesAndWritePlainOnes) {
    data::TransformPlan plan;
    plan.inputs = {{"a"}};
    plan.added = {{"c", "copy"}};
    const auto copy = [](auto values, auto results, std::size_t) {
        std::copy(values[0].begin(), values[0].end(), results[0].begin());
    };
    const std::string file = folder_.file("t.csv.gz", gzipped("a,b\n1,2\n3,4\n"));
    data::transform_rows({file}, folder_.path("out.csv"), plan, copy);
    EXPECT_EQ(content(folder_.path("out.csv")), "a,b,c\n1,2,1\n3,4,3\n");
    EXPECT_THROW(data::transform_rows({file}, folder_.path("out.csv.gz"), plan, copy), InputError);
}

class Comments : public Unpacked {};

TEST_F(Comments, StandBeforeTheHeaderAndBetweenRows) {
    const std::string file = folder_.file(
        "t.csv", "# made by hand, on a Sunday\n\n  # with \"care\"\na,b\n1,2\n# moved\n3,4\n  #, x, y, z\n5,6\n");
    EXPECT_EQ(column(file, "a"), (std::vector<double>{1, 3, 5}));
    EXPECT_EQ(column(file, "b", {.slab_bytes = 4}), (std::vector<double>{2, 4, 6}));
    EXPECT_EQ(numeric_columns(file), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Comments, ManyOfThemDoNotHideTheHeaderOfAPipe) {
    std::string text;
    for (int i = 0; i < 500; ++i) text += "# line, " + std::to_string(i) + "\n";
    EXPECT_EQ(column(folder_.file("t.gz", gzipped(text + "a b c\n1 2 3\n")), "c"), (std::vector<double>{3}));
}

TEST_F(Comments, LineNumbersCountThem) {
    const std::string file = folder_.file("t.csv", "# one\na,b\n1,2\n# two\nx,4\n");
    EXPECT_EQ(message(file), "t.csv row 2 (line 5), column 'a': 'x' is not a number");
}

TEST_F(Comments, AHashThatMayBeDataIsData) {
    EXPECT_EQ(message(folder_.file("t.csv", "a,b\n1,2\n#N/A,3\n")),
              "t.csv row 2 (line 3), column 'a': '#N/A' is not a number");
    const std::string file = folder_.file("t.csv", "station,a\n#12,1\n#13,2\n");
    EXPECT_EQ(column(file, "a"), (std::vector<double>{1, 2}));
}

TEST_F(Comments, AHeaderMayBeginWithAHash) {
    EXPECT_EQ(column(folder_.file("t.csv", "#a,b\n1,2\n"), "#a"), (std::vector<double>{1}));
    const std::string file = folder_.file("t.txt", "# about the data\n# a b\n1 2\n3 4\n");
    EXPECT_EQ(column(file, "a"), (std::vector<double>{1, 3}));
    EXPECT_EQ(column_names(file), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Comments, WithoutAHeaderTheyAreLeftOutToo) {
    const std::string file = folder_.file("t.csv", "# one comment\n1,2\n# two\n3,4\n");
    EXPECT_EQ(column(file, "2", {.header = false}), (std::vector<double>{2, 4}));
}

TEST_F(Comments, PredictionsLeaveThemOut) {
    data::TransformPlan plan;
    plan.inputs = {{"a"}};
    plan.added = {{"c", "copy"}};
    const std::string file = folder_.file("t.csv", "# one\na,b\n1,2\n# two\n3,4\n");
    data::transform_rows({file}, folder_.path("out.csv"), plan, [](auto values, auto results, std::size_t) {
        std::copy(values[0].begin(), values[0].end(), results[0].begin());
    });
    EXPECT_EQ(content(folder_.path("out.csv")), "a,b,c\n1,2,1\n3,4,3\n");
}

TEST_F(Unpacked, QuotedFieldsMayHoldNewlines) {
    const std::string file = folder_.file("t.csv", "note,a\n\"two\nlines, # no comment\",1\n\"\n\n\",2\n");
    EXPECT_EQ(column(file, "a"), (std::vector<double>{1, 2}));
    EXPECT_EQ(column(file, "a", {.slab_bytes = 3}), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace accrue
