#include "data/csv_rows.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/random.hpp"
#include "data/bytes.hpp"
#include "data/cells.hpp"
#include "data/csv_layout.hpp"

namespace accrue::data {
namespace {

struct ReadRow {
    std::vector<std::string> cells;
    RowScanner::Fault fault = RowScanner::Fault::none;
    bool operator==(const ReadRow&) const = default;
};

std::vector<ReadRow> scan(std::string_view text, char delimiter) {
    // A copy of exactly this size, so that a sanitizer sees a step beyond its end.
    const std::vector<char> copy(text.begin(), text.end());
    RowScanner rows({copy.data(), copy.size()}, Dialect{delimiter}, 64);
    std::vector<ReadRow> result;
    std::string buffer;
    while (rows.next()) {
        ReadRow row;
        row.fault = rows.fault();
        for (std::size_t i = 0; i < rows.fields() && i < 64; ++i)
            row.cells.emplace_back(cell_text(rows.field(i), buffer));
        result.push_back(row);
    }
    return result;
}

// The same rules, one character after the other, as plainly as they can be written.
std::vector<ReadRow> scan_plainly(const std::string& text, char delimiter) {
    const bool blanks = delimiter == Dialect::kBlanks;
    const auto gap = [&](char c) { return (c == ' ' || c == '\t') && (blanks || c != delimiter); };
    const auto strip = [&](std::string s) {
        while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.pop_back();
        std::size_t i = 0;
        while (i < s.size() && (s[i] == ' ' || s[i] == '\t')) ++i;
        return s.substr(i);
    };
    std::vector<ReadRow> result;
    std::size_t at = 0;
    while (at < text.size()) {
        ReadRow row;
        std::size_t quoted = 0;
        bool end = false;
        while (!end) {
            while (at < text.size() && gap(text[at])) ++at;
            const bool line_end = at == text.size() || text[at] == '\n' ||
                                  (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] == '\n'));
            if (blanks && line_end) {  // blanks at the end of a line begin no field
                while (at < text.size() && text[at] != '\n') ++at;
                ++at;
                break;
            }
            std::string cell;
            if (at < text.size() && text[at] == '"') {
                ++quoted;
                bool closed = false;
                for (++at; at < text.size() && !closed; ++at) {
                    if (text[at] != '"') {
                        cell += text[at];
                    } else if (at + 1 < text.size() && text[at + 1] == '"') {
                        cell += '"';
                        ++at;
                    } else {
                        closed = true;
                    }
                }
                if (!closed) {
                    row.fault = RowScanner::Fault::unclosed_quote;
                    result.push_back(row);
                    return result;
                }
                std::string tail;
                for (; at < text.size() && text[at] != '\n' && text[at] != delimiter && !(blanks && gap(text[at]));
                     ++at)
                    tail += text[at];
                if ((at == text.size() || text[at] == '\n') && !tail.empty() && tail.back() == '\r') tail.pop_back();
                if (!strip(tail).empty()) row.fault = RowScanner::Fault::text_after_quote;
            } else {
                for (; at < text.size() && text[at] != '\n' && text[at] != delimiter && !(blanks && gap(text[at]));
                     ++at)
                    cell += text[at];
                if ((at == text.size() || text[at] == '\n') && !cell.empty() && cell.back() == '\r') cell.pop_back();
                cell = strip(cell);
            }
            row.cells.push_back(cell);
            end = at == text.size() || text[at] == '\n';
            ++at;
        }
        const bool blank_line = row.cells.empty() || (row.cells.size() == 1 && row.cells[0].empty() && quoted == 0);
        if (!blank_line) result.push_back(row);
    }
    return result;
}

// Texts made of few characters meet every combination of them soon.
std::string random_text(core::Random& random, std::string_view alphabet, std::size_t longest) {
    std::string text(random.below(longest) + 1, ' ');
    for (char& c : text) c = alphabet[random.below(alphabet.size())];
    return text;
}

// Cells of faulty rows are never used and may differ.
void expect_same(const std::vector<ReadRow>& fast, const std::vector<ReadRow>& plain, const std::string& text) {
    ASSERT_EQ(fast.size(), plain.size()) << testing::PrintToString(text);
    for (std::size_t i = 0; i < fast.size(); ++i) {
        ASSERT_EQ(fast[i].fault, plain[i].fault) << testing::PrintToString(text) << " row " << i;
        if (fast[i].fault == RowScanner::Fault::none) {
            ASSERT_EQ(fast[i].cells, plain[i].cells) << testing::PrintToString(text) << " row " << i;
        }
    }
}

TEST(Rows, BlocksOfBitsFindWhatAPlainLoopFinds) {
    core::Random random(1);
    for (const char delimiter : {',', ';', '\t', Dialect::kBlanks, Dialect::kNone}) {
        for (int i = 0; i < 4000; ++i) {
            // Short texts for the corners, long ones for fields across blocks of 64 bytes.
            const std::string text =
                random_text(random, i % 2 == 0 ? "a1,; \t\n\"\r" : "abcdefgh12345,,;;  \t\t\n\"", i % 4 < 2 ? 20 : 300);
            expect_same(scan(text, delimiter), scan_plainly(text, delimiter), text);
        }
    }
}

TEST(Rows, PiecesOfWholeRowsHoldTheRowsOfTheText) {
    core::Random random(2);
    for (const char delimiter : {',', '\t', Dialect::kBlanks}) {
        for (int i = 0; i < 2000; ++i) {
            const std::string text = random_text(random, i % 2 == 0 ? "ab1,\t \n\"" : "abcdef,,\t \n\n\n", 400);
            std::vector<ReadRow> pieces;
            const std::size_t size = 1 + random.below(64);
            for (std::size_t at = 0, length = size; at < text.size(); length += size) {
                const std::string_view piece = std::string_view(text).substr(at, length);
                // The last row of a text may lack its line end.
                const bool at_end = at + piece.size() == text.size();
                const std::size_t whole = at_end ? piece.size() : whole_rows(piece, Dialect{delimiter});
                if (whole == 0) continue;
                const std::vector<ReadRow> rows = scan(piece.substr(0, whole), delimiter);
                pieces.insert(pieces.end(), rows.begin(), rows.end());
                at += whole;
                length = 0;
            }
            expect_same(pieces, scan(text, delimiter), text);
        }
    }
}

TEST(Rows, BytesAreCountedInTextsOfAnyLength) {
    // 255 blocks of 64 bytes fill an 8-bit lane; the lengths go beyond that and past every remainder of a block.
    for (const std::size_t length : {0, 1, 63, 64, 65, 255 * 64, 255 * 64 + 1, 256 * 64, 600 * 64 + 17}) {
        const std::string text(length, '\n');
        EXPECT_EQ(count_newlines(text), length);
        EXPECT_FALSE(survey_bytes(text).quotes);
        EXPECT_FALSE(survey_bytes(text).nuls);
        if (length == 0) continue;
        for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
            std::string other(length, 'x');
            other[at] = '"';
            EXPECT_TRUE(survey_bytes(other).quotes);
            other[at] = '\0';
            EXPECT_TRUE(survey_bytes(other).nuls);
            EXPECT_EQ(count_newlines(other), 0U);
        }
    }
}

TEST(Dialects, TheDelimiterIsFound) {
    const auto found = [](std::string_view text) { return detect_dialect(text).delimiter; };
    EXPECT_EQ(found("a,b\n1,2\n"), ',');
    EXPECT_EQ(found("a;b\n1,5;2,5\n"), ';');
    EXPECT_EQ(found("a\tb\n1\t2\n"), '\t');
    EXPECT_EQ(found("a b\n1 2\n"), Dialect::kBlanks);
    EXPECT_EQ(found("  a   b\n 1     2\n"), Dialect::kBlanks);
    EXPECT_EQ(found("a\n1\n"), Dialect::kNone);
    EXPECT_EQ(found("a,b"), ',');
    // Blanks and other delimiters inside names.
    EXPECT_EQ(found("wind speed,wind direction\n1,2\n"), ',');
    EXPECT_EQ(found("date time,y\n2020-01-01 00:00,1\n"), ',');
    EXPECT_EQ(found("wind speed\n1\n2\n"), Dialect::kNone);
    EXPECT_EQ(found("p,hPa t\n1 2\n3 4\n"), Dialect::kBlanks);
    EXPECT_EQ(found("a;b,c,d\n1,2,3\n4,5,6\n"), ',');
    EXPECT_EQ(found("p, hPa;t;u\n1,5;2,5;3,5\n"), ';');
    // Quoted ones do not count.
    EXPECT_EQ(found("\"a,b,c\";d\n1;2\n"), ';');
    EXPECT_EQ(found("\"a;b\" c\n1 2\n"), Dialect::kBlanks);
    EXPECT_EQ(found("\"a,b\"\n1\n"), Dialect::kNone);
    // A ragged file keeps the delimiter of its header.
    EXPECT_EQ(found("a,b,c\n1,2\n3,4\n"), ',');
    EXPECT_EQ(found("a b\n1 2 3\n"), Dialect::kBlanks);
}

}  // namespace
}  // namespace accrue::data
