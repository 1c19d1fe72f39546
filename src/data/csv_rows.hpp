// Rows and fields of a delimited text, found without looking at what the fields mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace accrue::data {

// How fields are kept apart.
struct Dialect {
    static constexpr char kBlanks = ' ';  // runs of blanks and tabs; those at the ends of a line mean nothing
    static constexpr char kNone = '\n';   // one column

    char delimiter = kNone;

    // True for blanks that are not themselves the (single) delimiter.
    bool is_padding(char c) const { return c != delimiter && (c == ' ' || c == '\t'); }
};

// Walks over the rows of a text. A field that begins with a quote (blanks before it do not count) runs to the next
// quote that is not doubled, over delimiters and newlines; elsewhere a quote is a character like others. Blank lines
// are no rows, and a carriage return before a newline belongs to the newline.
class RowScanner {
public:
    enum class Fault {
        none,
        unclosed_quote,  // runs to the end of the text
        text_after_quote
    };

    // Keeps the places of the first `kept` fields of each row; further ones are only counted. `quotes` may be false
    // when the text is known to have none.
    RowScanner(std::string_view text, Dialect dialect, std::size_t kept, bool quotes = true);

    // Goes to the next row; false when there is none.
    bool next();

    std::size_t fields() const { return fields_; }
    // Field i < min(fields(), kept) as it stands, with blanks and quotes around it.
    std::string_view field(std::size_t i) const {
        const char* begin = i == 0 ? row_begin_ : ends_[i - 1] + 1;
        return {begin, static_cast<std::size_t>(ends_[i] - begin)};
    }
    // The whole row without its line end.
    std::string_view row() const { return {row_begin_, static_cast<std::size_t>(row_end_ - row_begin_)}; }
    // The text that follows the row and its line end.
    std::string_view rest() const { return {cursor_, static_cast<std::size_t>(end_ - cursor_)}; }
    bool has_newline() const { return has_newline_; }
    Fault fault() const { return fault_; }

private:
    void load(const char* at);
    void scan_row();
    void scan_quoted_row();
    void mark(const char* end) {
        ends_[marks_ < kept_ ? marks_ : kept_] = end;
        ++marks_;
    }
    void finish_row(const char* end, bool newline);

    const char* end_;
    const char* cursor_;  // where the next row begins
    Dialect dialect_;
    std::size_t kept_;
    bool quotes_;

    // The block of text at base_, as bits not yet used: ends of fields, ends of lines, quotes.
    const char* base_ = nullptr;
    std::uint64_t delimiter_bits_ = 0;
    std::uint64_t newline_bits_ = 0;
    std::uint64_t quote_bits_ = 0;
    bool after_blank_ = true;  // the byte before the next block ends no field: a blank, or the start of a row

    const char* row_begin_;
    const char* row_end_;
    std::vector<const char*> ends_;  // of fields; one more than kept, where further ones are dumped
    std::size_t marks_ = 0;
    std::size_t fields_ = 0;
    bool has_newline_ = false;
    Fault fault_ = Fault::none;
};

// How many bytes of the text, which begins with a row, are rows with their line ends; the rest is the beginning of one.
std::size_t whole_rows(std::string_view text, Dialect dialect);

}  // namespace accrue::data
