#include "data/csv_parser.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "accrue/messages.hpp"
#include "data/cells.hpp"

namespace accrue::data {

std::uint32_t LabelCodes::code(std::string_view label, bool lasting) {
    // Neighbouring rows often share their group.
    if (!labels_.empty() && label == labels_[last_]) return last_;
    auto found = codes_.find(label);
    if (found == codes_.end()) {
        if (!lasting) label = owned_.emplace_back(label);
        found = codes_.emplace(label, static_cast<std::uint32_t>(labels_.size())).first;
        labels_.push_back(label);
    }
    return last_ = found->second;
}

CsvParser::CsvParser(const CsvLayout& layout, const std::string& file, const ReadOptions& options,
                     std::vector<Number> numbers, const std::vector<Text>& texts)
    : layout_(layout), options_(options), numbers_(std::move(numbers)), texts_(texts.size()) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) want_number(file, i);
    for (std::size_t i = 0; i < texts.size(); ++i)
        want(file, {.kind = Kind::text, .missing = texts[i].missing, .place = i}, texts[i].name);
    require_marked_columns(options.marks, layout_.names, file);
    has_times_ = std::any_of(cells_.begin(), cells_.end(), [](const Cell& cell) { return cell.kind == Kind::time; });
    // In whatever order the columns were asked for.
    std::stable_sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) { return a.field < b.field; });
}

void CsvParser::want(const std::string& file, Cell cell, const std::string& name) {
    cell.field = find_column(layout_, name, file, options_);
    cell.marks = ColumnMarks(options_.marks, name);
    cells_.push_back(std::move(cell));
}

// A column of the file, or what a computed one is made of.
void CsvParser::want_number(const std::string& file, std::size_t number) {
    const Number& own = numbers_[number];
    const bool is_there = std::count(layout_.names.begin(), layout_.names.end(), own.name) > 0;
    std::optional<Expression> expression;
    if (!is_there && own.kind == Kind::number)
        expression = computed_column(own.name, layout_.names, display_name(file));
    if (!expression)
        return want(file, {.kind = own.kind, .rule = own.rule, .missing = own.missing, .place = number}, own.name);
    const std::size_t first = operands_;
    for (const std::string& name : expression->columns())
        want(file, {.missing = own.missing, .place = operands_++, .is_operand = true}, name);
    computed_.push_back({std::move(*expression), own.rule, number, first});
}

void CsvParser::parse(std::string_view text, ParsedRows& result) const {
    const ByteSurvey survey = survey_bytes(text);
    result.newlines = survey.newlines;
    result.seen = result.kept = 0;
    result.finding = {};
    result.lines.clear();
    result.runs.clear();
    result.numbers.resize(numbers_.size());
    for (auto& column : result.numbers) column.reserve(survey.newlines + 1);
    result.codes.resize(texts_);
    for (auto& column : result.codes) column.reserve(survey.newlines + 1);
    result.labels.assign(texts_, {});
    result.times.assign(numbers_.size(), {});
    for (std::size_t i = 0; i < numbers_.size(); ++i) result.times[i].form = numbers_[i].form;
    result.operands.resize(operands_);

    RowScanner rows(text, layout_.dialect, layout_.names.size(), survey.quotes);
    std::string buffer;
    std::size_t line = 1;            // of the row
    const char* next = text.data();  // where it would begin if no blank line came first
    while (rows.next()) {
        const std::string_view all = rows.row();
        if (all.data() != next) line += count_newlines({next, static_cast<std::size_t>(all.data() - next)});
        const std::size_t own_line = line;
        if (survey.quotes) line += count_newlines(all);
        ++line;
        next = rows.rest().data();
        if (layout_.is_comment(rows)) [[unlikely]]
            continue;
        std::size_t field = 0;
        Trouble trouble = check_row(rows, survey, layout_.names.size());
        if (trouble == Trouble::none) trouble = read_row(rows, result, field);
        if (trouble == Trouble::none && !computed_.empty()) trouble = compute_columns(result);
        ++result.seen;
        if (trouble != Trouble::none) [[unlikely]] {
            if (trouble == Trouble::missing && options_.missing == Missing::drop) continue;
            std::string computed = std::move(result.finding.computed);
            result.finding = find_in_row(rows, trouble, field, result.seen);
            result.finding.computed = std::move(computed);
            return;
        }
        if (has_times_) note_first_times(rows, result);
        // Labels after the rest, so that those of dropped rows leave no trace.
        if (texts_ > 0)
            for (const Cell& cell : cells_) {
                if (cell.kind != Kind::text) continue;
                std::string_view label = cell_text(rows.field(cell.field), buffer);
                if (cell.marks.is_missing(label)) label = "";
                const bool lasting = label.data() != buffer.data();
                result.codes[cell.place][result.kept] = result.labels[cell.place].code(label, lasting);
            }
        if (wants_lines_) {
            const std::string_view row = rows.row();
            const char* end = row.data() + row.size();
            result.lines.push_back({row.data(), end, rows.has_newline() ? rows.rest().data() : end});
        }
        add_place(result.runs, {result.kept, result.seen, own_line});
        ++result.kept;
    }
}

// The first trouble of the row, and the field it is in. A row that is dropped is dropped whole, so there a missing
// value goes before everything else.
Trouble CsvParser::read_row(const RowScanner& rows, ParsedRows& result, std::size_t& field) const {
    Trouble first = Trouble::none;
    for (const Cell& cell : cells_) {
        const std::string_view text = rows.field(cell.field);
        Trouble trouble = Trouble::none;
        if (cell.kind == Kind::number) [[likely]] {
            double& value = cell.is_operand ? result.operands[cell.place] : result.numbers[cell.place][result.kept];
            trouble = read_number(text, cell.marks, cell.rule, cell.missing, value);
        } else if (cell.kind == Kind::time) {
            trouble = read_time_cell(cell, text, result, result.numbers[cell.place][result.kept]);
        } else {
            trouble = check_label(cell, text);
        }
        if (trouble == Trouble::none) [[likely]]
            continue;
        if (trouble == Trouble::missing && options_.missing == Missing::drop) return trouble;
        if (first != Trouble::none) continue;
        first = trouble;
        field = cell.field;
    }
    return first;
}

Trouble CsvParser::compute_columns(ParsedRows& result) const {
    for (const ComputedColumn& computed : computed_) {
        const double value = computed.value(result.operands);
        result.finding.computed = computed.trouble(value, result.operands);
        if (!result.finding.computed.empty()) return Trouble::not_computable;
        result.numbers[computed.column][result.kept] = value;
    }
    return Trouble::none;
}

Trouble CsvParser::read_time_cell(const Cell& cell, std::string_view text, const ParsedRows& result, double& value) {
    const TimeForm before = result.times[cell.place].form;
    TimeForm form = before;
    const Trouble trouble = read_time(text, cell.marks, cell.rule, cell.missing, value, form);
    if (trouble != Trouble::none || before == TimeForm::unknown || form == before) return trouble;
    return form == TimeForm::iso ? Trouble::time_among_numbers : Trouble::number_among_times;
}

Trouble CsvParser::check_label(const Cell& cell, std::string_view text) {
    if (cell.missing == Missing::keep) return Trouble::none;
    std::string buffer;
    return cell.marks.is_missing(cell_text(text, buffer)) ? Trouble::missing : Trouble::none;
}

// Only for rows that are kept: what a dropped row holds does not matter.
void CsvParser::note_first_times(const RowScanner& rows, ParsedRows& result) const {
    for (const Cell& cell : cells_) {
        if (cell.kind != Kind::time) continue;
        FirstTime& first = result.times[cell.place];
        if (first.form != TimeForm::unknown || std::isnan(result.numbers[cell.place][result.kept])) continue;
        const bool number = parse_number(rows.field(cell.field)).state == CellState::good;
        first.form = number ? TimeForm::number : TimeForm::iso;
        first.place = find_in_row(rows, number ? Trouble::number_among_times : Trouble::time_among_numbers, cell.field,
                                  result.seen);
    }
}

}  // namespace accrue::data
