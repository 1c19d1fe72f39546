// Rows from files: named columns of numbers or text, checked while they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace accrue {

namespace data {
struct TableBuilder;
}

// What to do with a row in which a requested value is missing (empty, NA, NaN, nan, null).
enum class Missing {
    refuse,  // an InputError that names the first such place
    drop,    // leave the row out and count it, whatever its other values are
    keep     // numbers become NaN, texts become ""
};

enum class Kind {
    number,
    time,  // a number, or ISO 8601 as seconds since 1970-01-01T00:00:00Z; not both in one column
    text   // kept as codes into a list of labels
};

// What a number has to be, beyond finite.
enum class Rule { any, positive, not_negative };

struct ColumnRequest {
    std::string name;  // as in the header; "1", "2", ... without one
    Kind kind = Kind::number;
    Rule rule = Rule::any;
};

struct ReadOptions {
    Missing missing = Missing::refuse;
    bool header = true;
    // NetCDF: the variable whose dimensions are the rows; the others are matched by dimension name and broadcast to
    // them. Empty: the first requested column.
    std::string rows_of = {};
    // How much of a file is in memory at a time: text, or the numbers of a NetCDF variable. Results do not depend on
    // it.
    std::size_t slab_bytes = std::size_t{64} << 20U;
};

// A text column as codes into its labels; labels are in the order of their first row.
struct TextColumn {
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
};

class Table {
public:
    std::size_t rows() const { return rows_; }
    std::size_t dropped() const { return dropped_; }  // rows left out because a value was missing
    std::span<const double> numbers(const std::string& name) const;
    const TextColumn& text(const std::string& name) const;
    // Whether a column of times was written as dates, so that its numbers are seconds since 1970.
    bool has_dates(const std::string& name) const { return dates_.count(name) > 0; }

    // For readers: a table is filled once.
    Table(std::size_t rows, std::size_t dropped, std::map<std::string, std::vector<double>> numbers,
          std::map<std::string, TextColumn> texts, std::set<std::string> dates);

private:
    friend data::TableBuilder;  // which hands tables out in slabs and takes their memory back

    std::size_t rows_ = 0;
    std::size_t dropped_ = 0;
    std::map<std::string, std::vector<double>> numbers_;
    std::map<std::string, TextColumn> texts_;
    std::set<std::string> dates_;
};

// Reads the requested columns of all files, pooled in the order given; "-" is standard input. Only these columns are
// parsed, but every row must have as many fields as the header. Rows are counted from 1; header and blank lines are
// none. Throws InputError "archive.csv row 17 (line 18), column 'y': ..." for the first bad place in the first bad
// file.
Table read_table(const std::vector<std::string>& files, const std::vector<ColumnRequest>& columns,
                 const ReadOptions& options = {});

// The same rows in the same order, for files that are larger than the memory: `use` gets some at a time, as a table
// that is gone afterwards. A text column has one list of labels for all slabs, of which a slab holds those so far;
// dropped() counts the rows left out so far. Returns the number of rows left out. What was handed over before a bad
// place has been handed over.
std::size_t read_slabs(const std::vector<std::string>& files, const std::vector<ColumnRequest>& columns,
                       const ReadOptions& options, const std::function<void(const Table& slab)>& use);

// The columns of a file whose first values (of up to 1,000 rows) are numbers or missing, and not all missing. Columns
// without a name are left out: they are row numbers that some program wrote.
std::vector<std::string> numeric_columns(const std::string& file, const ReadOptions& options = {});

// The names in a file's header (or "1", "2", ... without one).
std::vector<std::string> column_names(const std::string& file, const ReadOptions& options = {});

}  // namespace accrue
