// Rows from files: named columns of numbers or text, checked while they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace accrue {

namespace data {
struct TableBuilder;
class RowPlaces;
}  // namespace data

// What to do with a row in which a requested value is missing (empty, NA, NaN, nan, null, or one of MissingMarks).
enum class Missing {
    refuse,  // an InputError that names the first such place
    drop,    // leave the row out and count it, whatever its other values are
    keep,    // numbers become NaN, texts become ""
    impute   // as keep for inputs, which a fit then fills in; as drop for the others
};

// What stands in files in place of missing values, beyond empty cells, NA, NaN, nan and null.
struct MissingMarks {
    std::vector<double> values = {};                              // in every column of numbers: -9999
    std::vector<std::pair<std::string, double>> of_columns = {};  // in one column
    std::vector<std::string> texts = {};                          // whole cells of text tables, labels of NetCDF: "n/a"

    bool empty() const { return values.empty() && of_columns.empty() && texts.empty(); }
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
    bool may_be_missing = false;  // then as with Missing::keep, whatever becomes of rows without another value
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
    // NetCDF: read by a child process with limits on memory and time, so that a file which crashes the library, or
    // never lets it end, is an InputError. For files that are not trusted; rows take longer to come. The process should
    // not have other threads at work, since it is forked.
    bool isolate = false;
    MissingMarks marks = {};
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
    // What messages call a row, counted from 0: "archive.csv row 17 (line 18)", "archive.nc at time=3, lat=10".
    std::string place(std::size_t row) const;
    const std::shared_ptr<const data::RowPlaces>& places() const { return places_; }

    // For readers: a table is filled once.
    Table(std::size_t rows, std::size_t dropped, std::map<std::string, std::vector<double>> numbers,
          std::map<std::string, TextColumn> texts, std::set<std::string> dates,
          std::shared_ptr<const data::RowPlaces> places = {}, std::size_t rows_before = 0);

private:
    friend data::TableBuilder;  // which hands tables out in slabs and takes their memory back

    std::size_t rows_ = 0;
    std::size_t dropped_ = 0;
    std::map<std::string, std::vector<double>> numbers_;
    std::map<std::string, TextColumn> texts_;
    std::set<std::string> dates_;
    std::shared_ptr<const data::RowPlaces> places_;  // of all slabs so far
    std::size_t rows_before_ = 0;                    // in earlier slabs
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
// without a name are left out: they are row numbers that some program wrote; so are times (ISO 8601, and in NetCDF what
// the CF conventions call a time).
std::vector<std::string> numeric_columns(const std::string& file, const ReadOptions& options = {});

// The names in a file's header (or "1", "2", ... without one).
std::vector<std::string> column_names(const std::string& file, const ReadOptions& options = {});

// The columns of which the file itself says that they are not plain numbers, with what they are as inputs
// (accrue/inputs.hpp). Of NetCDF: "wdir:cyclic(360)" for what the CF conventions call a direction in degrees, and
// "station:category" for variables of text. Text tables say nothing.
std::vector<std::string> described_inputs(const std::string& file, const ReadOptions& options = {});

// The columns of labels that can be inputs by default. Of NetCDF: variables of text that lie along some dimensions of
// the rows and repeat at least ten times along the others, such as the names of stations. Of text tables none: nothing
// tells labels from remarks.
std::vector<std::string> repeated_labels(const std::string& file, const ReadOptions& options = {});

}  // namespace accrue
