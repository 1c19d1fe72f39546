// The columns that are asked for, out of rows of delimited text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "accrue/table.hpp"
#include "core/buffer.hpp"
#include "data/bytes.hpp"
#include "data/computed_columns.hpp"
#include "data/csv_layout.hpp"
#include "data/csv_trouble.hpp"
#include "data/table_builder.hpp"

namespace accrue::data {

// The labels of a text column in a piece of text, in the order of their first row.
class LabelCodes {
public:
    // `lasting` when the label's characters outlive the piece's labels.
    std::uint32_t code(std::string_view label, bool lasting);
    const std::vector<std::string_view>& labels() const { return labels_; }

private:
    std::unordered_map<std::string_view, std::uint32_t> codes_;
    std::vector<std::string_view> labels_;
    std::deque<std::string> owned_;
    std::uint32_t last_ = 0;
};

// How the first time of a piece is written, and where.
struct FirstTime {
    TimeForm form = TimeForm::unknown;
    Finding place;
};

// A row as it stands in the text.
struct CsvLine {
    const char* begin;
    const char* end;
    const char* next;  // after the line end; equal to `end` where that is missing
};

// What is in a piece of text. Its memory is used again by the next piece.
struct ParsedRows {
    std::size_t seen = 0;  // rows, dropped ones and the one at fault included
    std::size_t kept = 0;
    std::size_t newlines = 0;
    std::vector<RowRun> runs;                   // where the kept ones stand in the piece
    std::vector<core::Buffer<double>> numbers;  // `kept` in each
    std::vector<core::Buffer<std::uint32_t>> codes;
    std::vector<LabelCodes> labels;  // of the codes
    std::vector<FirstTime> times;    // of all number columns, though only those of times are used
    std::vector<CsvLine> lines;      // where they are wanted
    Finding finding;
    std::vector<double> operands;  // of a row's computed columns
};

// Parses pieces of files that have the same columns and delimiter, each in any thread.
class CsvParser {
public:
    struct Number {
        std::string name;  // of a column, or an expression
        Kind kind = Kind::number;
        Rule rule = Rule::any;
        Missing missing = Missing::refuse;
        TimeForm form = TimeForm::unknown;  // that times must have
    };
    struct Text {
        std::string name;
        Missing missing = Missing::refuse;
    };

    // `options` and its marks have to live as long. Throws InputError for a column that the file lacks.
    CsvParser(const CsvLayout& layout, const std::string& file, const ReadOptions& options, std::vector<Number> numbers,
              const std::vector<Text>& texts);

    const CsvLayout& layout() const { return layout_; }
    bool has_times() const { return has_times_; }
    void want_lines() { wants_lines_ = true; }
    // Stops at the first row that is refused, which is the finding.
    void parse(std::string_view text, ParsedRows& result) const;

private:
    // A field that is read.
    struct Cell {
        std::size_t field = 0;
        Kind kind = Kind::number;
        Rule rule = Rule::any;
        Missing missing = Missing::refuse;
        std::size_t place = 0;  // among the numbers or texts, or the row's operands
        bool is_operand = false;
        ColumnMarks marks = {};
    };

    void want(const std::string& file, Cell cell, const std::string& name);
    void want_number(const std::string& file, std::size_t number);
    Trouble read_row(const RowScanner& rows, ParsedRows& result, std::size_t& field) const;
    Trouble compute_columns(ParsedRows& result) const;
    static Trouble read_time_cell(const Cell& cell, std::string_view text, const ParsedRows& result, double& value);
    static Trouble check_label(const Cell& cell, std::string_view text);
    void note_first_times(const RowScanner& rows, ParsedRows& result) const;

    CsvLayout layout_;
    const ReadOptions& options_;
    std::vector<Number> numbers_;
    std::size_t texts_;
    std::vector<Cell> cells_;  // from left to right, for the first bad cell of a row
    std::vector<ComputedColumn> computed_;
    std::size_t operands_ = 0;  // of all computed columns
    bool has_times_ = false;
    bool wants_lines_ = false;
};

}  // namespace accrue::data
