#include "data/csv_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/cells.hpp"

namespace accrue::data {

namespace {

// How a delimiter does on the first lines.
struct Trial {
    std::size_t fields = 0;   // in the first line; 0 when it cannot be cut this way
    std::size_t agree = 0;    // of the next lines, those with as many fields
    std::size_t single = 0;   // those with one field
    std::size_t sampled = 0;  // those looked at
};

Trial try_delimiter(std::string_view text, char delimiter) {
    constexpr std::size_t kSample = 32;
    Trial trial;
    RowScanner rows(text, Dialect{delimiter}, 0);
    if (!rows.next() || rows.fault() != RowScanner::Fault::none) return trial;
    trial.fields = rows.fields();
    while (trial.sampled < kSample && rows.next()) {
        if (begins_with_hash(rows.row())) continue;
        ++trial.sampled;
        if (rows.fault() != RowScanner::Fault::none) continue;
        trial.agree += rows.fields() == trial.fields;
        trial.single += rows.fields() == 1;
    }
    return trial;
}

std::string_view beginning(std::string_view text) {
    return text.substr(0, kLongestHeader);
}

// The text from its first line on that does not begin with #, if there is one, and before it the last line that does.
struct AfterComments {
    std::string_view text;
    std::string_view last_comment;
};

AfterComments skip_comments(std::string_view text) {
    std::string_view rest = text;
    std::string_view last_comment;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
        std::string_view line = rest.substr(0, end);
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
        if (!trim(line).empty()) {
            if (!begins_with_hash(line)) return {rest, last_comment};
            last_comment = line;
        }
        rest.remove_prefix(end);
    }
    return {};
}

// The names in a comment above the rows, without its # where that is a field too many; empty when it holds none.
std::string_view names_in_comment(const AfterComments& after, Dialect dialect) {
    if (after.last_comment.empty()) return {};
    RowScanner first(after.text, dialect, 0);
    if (!first.next()) return {};
    RowScanner cells(after.text, dialect, first.fields());
    cells.next();
    bool has_number = false;
    for (std::size_t i = 0; i < first.fields(); ++i)
        has_number = has_number || parse_number(cells.field(i)).state == CellState::good;
    if (!has_number) return {};
    const std::string_view line = after.last_comment;
    for (const std::string_view names : {line, line.substr(line.find('#') + 1)}) {
        RowScanner scanner(names, dialect, 0);
        if (scanner.next() && scanner.fault() == RowScanner::Fault::none && scanner.fields() == first.fields())
            return names;
    }
    return {};
}

// What people hand over by mistake most often, by its first bytes.
const char* guess_format(std::string_view text) {
    if (text.starts_with("\x1f\x8b")) return " (it is compressed: let its name end in .gz, or unpack it first)";
    if (text.starts_with("\x28\xB5\x2F\xFD"))
        return " (it is compressed: let its name end in .zst, or unpack it first)";
    if (text.starts_with("BZh") || text.starts_with("\xFD"
                                                    "7zXZ"))
        return " (it is compressed: unpack it first)";
    if (text.starts_with("PK\x03\x04")) return " (it is a zip archive or a spreadsheet: save it as CSV)";
    // A file would have been recognised.
    if (text.starts_with("CDF\x01") || text.starts_with("CDF\x02") || text.starts_with("CDF\x05") ||
        text.starts_with("\x89HDF"))
        return " (it is NetCDF, which cannot be read from a pipe: name the file)";
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return " (it is UTF-16: save it as UTF-8)";
    return "";
}

void require_text(std::string_view first_line, std::string_view text, const std::string& file) {
    const auto rubbish = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\t' && c != '\r' && c != '\n') || byte == 0x7F;
    };
    core::require(std::none_of(first_line.begin(), first_line.end(), rubbish), "{} does not look like a text table{}",
                  display_name(file), guess_format(text));
}

}  // namespace

std::string_view after_comments(std::string_view text) {
    return skip_comments(text).text;
}

Dialect detect_dialect(std::string_view text) {
    text = beginning(text);
    constexpr std::array<char, 3> kVisible = {'\t', ';', ','};
    char chosen = Dialect::kNone;
    Trial best;
    for (const char delimiter : kVisible) {
        const Trial trial = try_delimiter(text, delimiter);
        if (trial.fields < 2) continue;
        if (chosen == Dialect::kNone || trial.agree > best.agree) {
            chosen = delimiter;
            best = trial;
        }
    }
    // A comma inside a name of a file with blanks between fields: no further line has one.
    const bool only_in_names = best.sampled > 0 && best.single == best.sampled;
    if (chosen != Dialect::kNone && !only_in_names) return {chosen};

    const Trial blanks = try_delimiter(text, Dialect::kBlanks);
    if (chosen != Dialect::kNone) return {blanks.fields > 1 && blanks.agree > 0 ? Dialect::kBlanks : chosen};
    // One column whose name has blanks in it: all further lines are single words.
    const bool one_column = blanks.sampled > 0 && blanks.single == blanks.sampled;
    return {blanks.fields > 1 && !one_column ? Dialect::kBlanks : Dialect::kNone};
}

CsvLayout find_layout(std::string_view text, const std::string& file, const ReadOptions& options) {
    const std::string_view whole = text;
    core::require(!text.empty(), "{} is empty", display_name(file));
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    // Before the first line is known, a look at the first bytes keeps rubbish out of everything below.
    constexpr std::size_t kFirstBytes = 4096;
    core::require(text.substr(0, kFirstBytes).find('\0') == std::string_view::npos,
                  "{} does not look like a text table{}", display_name(file), guess_format(whole));

    CsvLayout layout;
    const std::string_view start = beginning(text);
    AfterComments after = skip_comments(start);
    if (after.text.empty()) after.text = start;  // every line begins with #: they are no comments
    layout.dialect = detect_dialect(after.text);
    const std::string_view in_comment = options.header ? names_in_comment(after, layout.dialect) : std::string_view();
    RowScanner first(after.text, layout.dialect, 0);
    const bool found = first.next();
    core::require(found || start.size() < text.size(), "{} is empty: it has only blank lines", display_name(file));
    if (start.size() < text.size() && (!found || !first.has_newline()))
        core::refuse("{} does not look like a text table: its first line is longer than {} MiB{}", display_name(file),
                     kLongestHeader >> 20U, guess_format(whole));
    require_text(first.row(), whole, file);
    const std::string_view where = options.header ? "header" : "first row";
    core::require(first.row().find('\r') == std::string_view::npos || first.has_newline(),
                  "{} has lines that end in a carriage return alone; convert them to newlines", display_name(file));
    core::require(first.fault() != RowScanner::Fault::unclosed_quote, "{}: the {} has a quote that is never closed",
                  display_name(file), where);
    core::require(first.fault() != RowScanner::Fault::text_after_quote, "{}: the {} has text after a closing quote",
                  display_name(file), where);

    // Once more, now that the number of fields is known.
    const std::size_t columns = first.fields();
    RowScanner header(in_comment.empty() ? after.text : in_comment, layout.dialect, columns);
    header.next();
    layout.names.reserve(columns);
    std::string buffer;
    for (std::size_t i = 0; i < columns; ++i)
        layout.names.push_back(options.header ? std::string(trim(cell_text(header.field(i), buffer)))
                                              : std::to_string(i + 1));
    if (options.header) layout.header = in_comment.empty() ? header.row() : after.last_comment;
    const char* body = !options.header ? start.data() : in_comment.empty() ? header.rest().data() : after.text.data();
    layout.body = text.substr(static_cast<std::size_t>(body - text.data()));
    return layout;
}

std::size_t find_column(const CsvLayout& layout, const std::string& name, const std::string& file,
                        const ReadOptions& options) {
    const auto found = std::find(layout.names.begin(), layout.names.end(), name);
    if (found != layout.names.end()) {
        const auto same = std::count(found, layout.names.end(), name);
        core::require(same == 1, "{} has {} columns named '{}'; rename all but one", display_name(file), same,
                      printable(name));
        return static_cast<std::size_t>(found - layout.names.begin());
    }
    const std::string unknown = fmt::format("{} has no column '{}'", display_name(file), printable(name));
    if (!options.header)
        core::refuse("{}; without a header its columns are numbered 1 to {}", unknown, layout.names.size());
    const std::string meant = suggestion(name, layout.names);
    const bool all_numbers = std::all_of(layout.names.begin(), layout.names.end(), [](const std::string& text) {
        return parse_number(text).state == CellState::good;
    });
    core::refuse("{}{} Columns: {}{}", unknown, meant.empty() ? "." : meant, name_list(layout.names),
                 all_numbers
                     ? core::message(" (all numbers: for a file without a header use {})", core::option("no_header"))
                     : Message());
}

}  // namespace accrue::data
