// What can be wrong with a row of delimited text, and how to say it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "accrue/table.hpp"
#include "data/bytes.hpp"
#include "data/cells.hpp"
#include "data/csv_layout.hpp"
#include "data/csv_rows.hpp"
#include "data/missing_marks.hpp"
#include "data/table_builder.hpp"

namespace accrue::data {

enum class Trouble {
    none,
    nul,
    unclosed_quote,
    text_after_quote,
    ragged,
    missing,
    not_a_number,
    too_large,
    not_finite,
    not_positive,
    negative,
    not_a_time,
    no_such_time,
    time_among_numbers,
    number_among_times,
    not_computable
};

// What stopped the reading of a piece of text, with all that its message needs.
struct Finding {
    Trouble trouble = Trouble::none;
    std::size_t field = 0;  // in the row; where a cell is at fault
    std::string_view cell;
    const char* row = nullptr;
    std::size_t row_in_piece = 0;  // counted from 1
    std::size_t fields = 0;
    bool has_newline = true;
    std::string computed = {};  // what is wrong with a computed column, in place of a cell
};

// The trouble with the row as a whole, before its cells are looked at. `survey` is that of a text around it.
Trouble check_row(const RowScanner& rows, const ByteSurvey& survey, std::size_t columns);

// The finding for the row at which `rows` stands.
Finding find_in_row(const RowScanner& rows, Trouble trouble, std::size_t field, std::size_t row_in_piece);

inline Trouble check_number(const NumberCell& number, Rule rule, Missing missing) {
    switch (number.state) {
        case CellState::good:
            if (rule == Rule::positive && !(number.value > 0)) return Trouble::not_positive;
            if (rule == Rule::not_negative && number.value < 0) return Trouble::negative;
            return Trouble::none;
        case CellState::missing:
            return missing == Missing::keep ? Trouble::none : Trouble::missing;
        case CellState::too_large:
            return Trouble::too_large;
        case CellState::not_finite:
            return Trouble::not_finite;
        case CellState::not_a_number:
            break;
    }
    return Trouble::not_a_number;
}

inline Trouble read_number(std::string_view cell, const ColumnMarks& marks, Rule rule, Missing missing, double& value) {
    const NumberCell number = marks.empty() ? parse_number(cell) : marks.parse(cell);
    value = number.value;
    return check_number(number, rule, missing);
}

// A number or an ISO 8601 time; `form` says which, and is left alone by a missing value.
Trouble read_time(std::string_view cell, const ColumnMarks& marks, Rule rule, Missing missing, double& value,
                  TimeForm& form);

// Throws InputError "archive.csv row 17 (line 18), column 'y': ...".
[[noreturn]] void refuse_row(const std::string& file, std::size_t row, std::size_t line, const Finding& finding,
                             const CsvLayout& layout, bool header);

}  // namespace accrue::data
