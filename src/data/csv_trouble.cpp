#include "data/csv_trouble.hpp"

#include <fmt/format.h>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/times.hpp"

namespace accrue::data {

namespace {

std::string explain_row(const Finding& finding, std::size_t columns, bool header) {
    switch (finding.trouble) {
        case Trouble::nul:
            return " holds a NUL byte: this does not look like a text table";
        case Trouble::unclosed_quote:
            return " has a quote that is never closed";
        case Trouble::text_after_quote:
            return " has text after a closing quote; write a quote inside a quoted field twice";
        case Trouble::ragged:
            return fmt::format(" has {}, {} has {}{}", counted(finding.fields, "field"),
                               header ? "the header" : "the first row", columns,
                               finding.fields < columns && !finding.has_newline
                                   ? ": the file seems to end in the middle of the row"
                                   : "");
        default:
            return {};
    }
}

Message explain_cell(const Finding& finding, const std::string& name) {
    std::string buffer;
    const std::string_view text = trim(cell_text(finding.cell, buffer));
    const std::string cell = printable(text);
    switch (finding.trouble) {
        case Trouble::missing:
            return value_is_missing();
        case Trouble::not_positive:
            return fmt::format("{} must be positive; it is {}", name, cell);
        case Trouble::negative:
            return fmt::format("{} must not be negative; it is {}", name, cell);
        case Trouble::too_large:
            return fmt::format("'{}' is too large for a double", cell);
        case Trouble::not_finite:
            return fmt::format("'{}' is not finite", cell);
        case Trouble::not_a_time:
            return fmt::format(
                "'{}' is not a time; write a number, or ISO 8601 like 2021-03-04 or 2021-03-04T05:06:07Z", cell);
        case Trouble::no_such_time:
            return fmt::format("there is no time '{}': a part of it is out of range", cell);
        case Trouble::time_among_numbers:
            return fmt::format("'{}' is an ISO 8601 time, but the rows before have numbers", cell);
        case Trouble::number_among_times:
            return fmt::format("'{}' is a number, but the rows before have ISO 8601 times", cell);
        default:
            break;
    }
    if (const std::string pointed = with_decimal_point(text); !pointed.empty())
        return fmt::format("'{}' has a decimal comma: write {}", cell, pointed);
    return fmt::format("'{}' is not a number", cell);
}

}  // namespace

Trouble check_row(const RowScanner& rows, const ByteSurvey& survey, std::size_t columns) {
    if (survey.nuls && rows.row().find('\0') != std::string_view::npos) return Trouble::nul;
    if (rows.fault() == RowScanner::Fault::unclosed_quote) return Trouble::unclosed_quote;
    if (rows.fault() == RowScanner::Fault::text_after_quote) return Trouble::text_after_quote;
    return rows.fields() == columns ? Trouble::none : Trouble::ragged;
}

Finding find_in_row(const RowScanner& rows, Trouble trouble, std::size_t field, std::size_t row_in_piece) {
    const bool whole_row = trouble < Trouble::missing;
    const std::string_view cell = whole_row ? std::string_view() : rows.field(field);
    return {trouble, field, cell, rows.row().data(), row_in_piece, rows.fields(), rows.has_newline(), {}};
}

Trouble read_time(std::string_view cell, const ColumnMarks& marks, Rule rule, Missing missing, double& value,
                  TimeForm& form) {
    NumberCell number = marks.parse(cell);
    if (number.state == CellState::good) form = TimeForm::number;
    if (number.state == CellState::not_a_number) {
        std::string buffer;
        const TimeText time = parse_iso_time(trim(cell_text(cell, buffer)));
        if (time.state == TimeState::no_such_time) return Trouble::no_such_time;
        if (time.state == TimeState::not_a_time) return Trouble::not_a_time;
        number = {time.seconds, CellState::good};
        form = TimeForm::iso;
    }
    value = number.value;
    return check_number(number, rule, missing);
}

void refuse_row(const std::string& file, std::size_t row, std::size_t line, const Finding& finding,
                const CsvLayout& layout, bool header) {
    const std::string what = explain_row(finding, layout.names.size(), header);
    if (!what.empty()) core::refuse("{} row {} (line {}){}", display_name(file), row, line, what);
    if (!finding.computed.empty())
        core::refuse("{} row {} (line {}): {}", display_name(file), row, line, finding.computed);
    const std::string name = printable(layout.names[finding.field]);
    core::refuse("{} row {} (line {}), column '{}': {}", display_name(file), row, line, name,
                 explain_cell(finding, name));
}

}  // namespace accrue::data
