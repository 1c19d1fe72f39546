// The outside of a delimited text file: its delimiter, its header, and where the rows begin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"
#include "data/cells.hpp"
#include "data/csv_rows.hpp"

namespace accrue::data {

// A header longer than this is taken for something else: 100,000 columns need less.
constexpr std::size_t kLongestHeader = std::size_t{4} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline bool begins_with_hash(std::string_view row) {
    while (!row.empty() && is_blank(row.front())) row.remove_prefix(1);
    return !row.empty() && row.front() == '#';
}

struct CsvLayout {
    Dialect dialect;
    std::vector<std::string> names;  // "1", "2", ... without a header
    std::string_view header;         // the line with the names, to the letter; empty without one
    std::string_view body;           // the text from the first row of data on

    // Whether the row at which the scanner stands is a comment: it begins with # and has another number of fields than
    // the header. With the same number it may be data, such as #N/A, and is treated so.
    bool is_comment(const RowScanner& rows) const {
        return begins_with_hash(rows.row()) && rows.fields() != names.size() &&
               rows.fault() != RowScanner::Fault::unclosed_quote;
    }
};

// The text from its first line on that does not begin with #; empty when there is none.
std::string_view after_comments(std::string_view text);

// The delimiter of a text: the one of tab, semicolon and comma that stands in the first line and cuts it into as many
// fields as most of the next lines; failing these, blanks; failing that, none. With equal rights the earlier in this
// list wins, since the later one can stand inside names and decimal numbers. Lines that begin with # do not count.
Dialect detect_dialect(std::string_view text);

// Lines that begin with # before the header are comments. The last of them is the header itself where it has as many
// fields as the line below it, with or without the #, and that line has a number: "# x y" above "1 2".
// Throws InputError, which names `file`, when the text is empty, no text, or its header cannot be read.
CsvLayout find_layout(std::string_view text, const std::string& file, const ReadOptions& options);

// The place of the column in the layout. Throws InputError with the nearest name when there is none, or more than one.
std::size_t find_column(const CsvLayout& layout, const std::string& name, const std::string& file,
                        const ReadOptions& options);

}  // namespace accrue::data
