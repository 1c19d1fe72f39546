#include "data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "data/bytes.hpp"
#include "data/cells.hpp"
#include "data/csv_chunks.hpp"
#include "data/csv_layout.hpp"
#include "data/csv_rows.hpp"
#include "data/file_text.hpp"
#include "data/messages.hpp"

namespace accrue::data {

namespace {

// A requested column in this file.
struct Task {
    std::size_t field;  // in the row
    Kind kind;
    Rule rule;
    std::size_t column;  // among the builder's numbers or texts
};

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
    negative
};

// What stopped a chunk, with all that its message needs.
struct Finding {
    Trouble trouble = Trouble::none;
    const Task* task = nullptr;  // where a cell is at fault
    std::string_view cell;
    const char* row = nullptr;
    std::size_t row_in_chunk = 0;
    std::size_t fields = 0;
    bool has_newline = true;
};

// The labels of one text column in one chunk, in the order of their first row.
class ChunkLabels {
public:
    // `lasting` when the label's characters outlive the chunk.
    std::uint32_t code(std::string_view label, bool lasting) {
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
    const std::vector<std::string_view>& labels() const { return labels_; }

private:
    std::unordered_map<std::string_view, std::uint32_t> codes_;
    std::vector<std::string_view> labels_;
    std::deque<std::string> owned_;
    std::uint32_t last_ = 0;
};

// A chunk's rows go to [offset, offset + kept) of the columns, which have room for all its lines.
struct ChunkResult {
    std::size_t offset = 0;
    std::size_t seen = 0;  // rows, dropped ones and the one at fault included
    std::size_t kept = 0;
    Finding finding;
    std::vector<ChunkLabels> labels;
};

class CsvReader {
public:
    CsvReader(const std::string& file, const ReadOptions& options, TableBuilder& table)
        : file_(file), options_(options), table_(table), text_(file) {
        layout_ = find_layout(text_.view(), file, options);
        for (std::size_t i = 0; i < table.numbers.size(); ++i)
            tasks_.push_back({find(table.numbers[i].name), Kind::number, table.numbers[i].rule, i});
        for (std::size_t i = 0; i < table.texts.size(); ++i)
            tasks_.push_back({find(table.texts[i].name), Kind::text, Rule::any, i});
        // The first bad cell of a row is the leftmost one, in whatever order the columns were asked for.
        std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.field < b.field; });
    }

    void read();

private:
    std::size_t find(const std::string& name) const { return find_column(layout_, name, file_, options_); }
    void make_room(std::size_t rows);
    void parse_chunk(const Chunk& chunk, ChunkResult& result);
    Trouble check_row(const RowScanner& rows, const Chunk& chunk) const;
    Trouble read_row(const RowScanner& rows, std::size_t place, const Task*& where);
    Trouble read_number(const Task& task, std::string_view cell, double& value) const;
    Trouble check_label(std::string_view cell) const;
    void merge_labels(std::vector<ChunkResult>& results);
    void close_gaps(const std::vector<ChunkResult>& results);
    [[noreturn]] void refuse(const std::vector<ChunkResult>& results, const Finding& finding) const;
    std::string explain(const Finding& finding) const;

    const std::string& file_;
    const ReadOptions& options_;
    TableBuilder& table_;
    FileText text_;
    CsvLayout layout_;
    std::vector<Task> tasks_;  // by field
};

void CsvReader::read() {
    const std::vector<Chunk> chunks = cut_chunks(layout_.body, layout_.dialect);
    std::vector<ChunkResult> results(chunks.size());
    std::size_t room = table_.rows;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
        results[c].offset = room;
        room += chunks[c].most_rows();
    }
    make_room(room);

    // Chunks after a bad one need not be read, those before it must be: theirs may be the first bad place.
    std::atomic<std::size_t> first_bad = chunks.size();
    core::for_blocks(chunks.size(), 1, [&](std::size_t c, std::size_t, std::size_t) {
        if (c > first_bad.load(std::memory_order_relaxed)) return;
        parse_chunk(chunks[c], results[c]);
        if (results[c].finding.trouble == Trouble::none) return;
        std::size_t known = first_bad.load();
        while (c < known && !first_bad.compare_exchange_weak(known, c)) {
        }
    });
    if (first_bad < chunks.size()) refuse(results, results[first_bad].finding);

    std::size_t seen = 0;
    std::size_t kept = 0;
    for (const ChunkResult& result : results) {
        seen += result.seen;
        kept += result.kept;
    }
    core::require(seen > 0, "{} has a header but no rows", display_name(file_));
    merge_labels(results);
    close_gaps(results);
    table_.rows += kept;
    table_.dropped += seen - kept;
    make_room(table_.rows);
}

// Fresh memory is zeroed and paged in here, which is worth both cores.
void CsvReader::make_room(std::size_t rows) {
    const std::size_t numbers = table_.numbers.size();
    core::for_blocks(numbers + table_.texts.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
        if (i < numbers)
            table_.numbers[i].values.resize(rows);
        else
            table_.texts[i - numbers].column.codes.resize(rows);
    });
}

void CsvReader::parse_chunk(const Chunk& chunk, ChunkResult& result) {
    result.labels.resize(table_.texts.size());
    RowScanner rows(chunk.text, layout_.dialect, layout_.names.size(), chunk.survey.quotes);
    std::string buffer;
    while (rows.next()) {
        const std::size_t place = result.offset + result.kept;
        const Task* task = nullptr;
        Trouble trouble = check_row(rows, chunk);
        if (trouble == Trouble::none) trouble = read_row(rows, place, task);
        ++result.seen;
        if (trouble != Trouble::none) [[unlikely]] {
            if (trouble == Trouble::missing && options_.missing == Missing::drop) continue;
            const std::string_view cell = task == nullptr ? std::string_view() : rows.field(task->field);
            result.finding = {trouble, task, cell, rows.row().data(), result.seen, rows.fields(), rows.has_newline()};
            return;
        }
        // Labels after the rest, so that those of dropped rows leave no trace.
        for (const Task& text : tasks_) {
            if (text.kind != Kind::text) continue;
            std::string_view label = cell_text(rows.field(text.field), buffer);
            if (is_missing(label)) label = "";
            const bool lasting = label.data() != buffer.data();
            table_.texts[text.column].column.codes[place] = result.labels[text.column].code(label, lasting);
        }
        ++result.kept;
    }
}

Trouble CsvReader::check_row(const RowScanner& rows, const Chunk& chunk) const {
    if (chunk.survey.nuls && rows.row().find('\0') != std::string_view::npos) return Trouble::nul;
    if (rows.fault() == RowScanner::Fault::unclosed_quote) return Trouble::unclosed_quote;
    if (rows.fault() == RowScanner::Fault::text_after_quote) return Trouble::text_after_quote;
    return rows.fields() == layout_.names.size() ? Trouble::none : Trouble::ragged;
}

// The first trouble of the row, and the column it is in. A row that is dropped is dropped whole, so there a missing
// value goes before everything else.
Trouble CsvReader::read_row(const RowScanner& rows, std::size_t place, const Task*& where) {
    Trouble first = Trouble::none;
    for (const Task& task : tasks_) {
        const std::string_view cell = rows.field(task.field);
        const Trouble trouble = task.kind == Kind::number
                                    ? read_number(task, cell, table_.numbers[task.column].values[place])
                                    : check_label(cell);
        if (trouble == Trouble::none) [[likely]]
            continue;
        if (trouble == Trouble::missing && options_.missing == Missing::drop) return trouble;
        if (first != Trouble::none) continue;
        first = trouble;
        where = &task;
    }
    return first;
}

Trouble CsvReader::read_number(const Task& task, std::string_view cell, double& value) const {
    const NumberCell number = parse_number(cell);
    value = number.value;
    switch (number.state) {
        case CellState::good:
            if (task.rule == Rule::positive && !(value > 0)) return Trouble::not_positive;
            if (task.rule == Rule::not_negative && value < 0) return Trouble::negative;
            return Trouble::none;
        case CellState::missing:
            return options_.missing == Missing::keep ? Trouble::none : Trouble::missing;
        case CellState::too_large:
            return Trouble::too_large;
        case CellState::not_finite:
            return Trouble::not_finite;
        case CellState::not_a_number:
            break;
    }
    return Trouble::not_a_number;
}

Trouble CsvReader::check_label(std::string_view cell) const {
    if (options_.missing == Missing::keep) return Trouble::none;
    std::string buffer;
    return is_missing(cell_text(cell, buffer)) ? Trouble::missing : Trouble::none;
}

// Labels are numbered in the order of chunks, and in a chunk in the order of rows: that of the file.
void CsvReader::merge_labels(std::vector<ChunkResult>& results) {
    for (std::size_t t = 0; t < table_.texts.size(); ++t) {
        TableBuilder::LabelColumn& text = table_.texts[t];
        std::vector<std::vector<std::uint32_t>> codes(results.size());
        for (std::size_t c = 0; c < results.size(); ++c)
            for (const std::string_view label : results[c].labels[t].labels()) codes[c].push_back(text.code(label));
        core::for_blocks(results.size(), 1, [&](std::size_t c, std::size_t, std::size_t) {
            std::uint32_t* place = text.column.codes.data() + results[c].offset;
            for (std::size_t i = 0; i < results[c].kept; ++i) place[i] = codes[c][place[i]];
        });
    }
}

// Moves the rows of chunks together where blank lines or dropped rows left room between them.
void CsvReader::close_gaps(const std::vector<ChunkResult>& results) {
    const auto close = [&](auto& values) {
        std::size_t place = table_.rows;
        for (const ChunkResult& result : results) {
            if (place != result.offset) {
                const auto from = values.begin() + static_cast<std::ptrdiff_t>(result.offset);
                std::copy(from, from + static_cast<std::ptrdiff_t>(result.kept),
                          values.begin() + static_cast<std::ptrdiff_t>(place));
            }
            place += result.kept;
        }
    };
    const std::size_t numbers = table_.numbers.size();
    core::for_blocks(numbers + table_.texts.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
        if (i < numbers)
            close(table_.numbers[i].values);
        else
            close(table_.texts[i - numbers].column.codes);
    });
}

void CsvReader::refuse(const std::vector<ChunkResult>& results, const Finding& finding) const {
    std::size_t row = finding.row_in_chunk;
    for (const ChunkResult& result : results) {
        if (&result.finding == &finding) break;
        row += result.seen;
    }
    const std::string_view whole = text_.view();
    const auto before = static_cast<std::size_t>(finding.row - whole.data());
    core::refuse("{} row {} (line {}){}", display_name(file_), row, count_newlines(whole.substr(0, before)) + 1,
                 explain(finding));
}

// What follows the row in a message.
std::string CsvReader::explain(const Finding& finding) const {
    const char* first = options_.header ? "the header" : "the first row";
    switch (finding.trouble) {
        case Trouble::nul:
            return " holds a NUL byte: this does not look like a text table";
        case Trouble::unclosed_quote:
            return " has a quote that is never closed";
        case Trouble::text_after_quote:
            return " has text after a closing quote; write a quote inside a quoted field twice";
        case Trouble::ragged:
            return fmt::format(" has {}, {} has {}{}", counted(finding.fields, "field"), first, layout_.names.size(),
                               finding.fields < layout_.names.size() && !finding.has_newline
                                   ? ": the file seems to end in the middle of the row"
                                   : "");
        default:
            break;
    }

    const std::string& name = layout_.names[finding.task->field];
    const std::string place = fmt::format(", column '{}': ", printable(name));
    std::string buffer;
    const std::string_view text = trim(cell_text(finding.cell, buffer));
    const std::string cell = printable(text);
    switch (finding.trouble) {
        case Trouble::missing:
            return place + "value is missing; use --missing drop to skip such rows";
        case Trouble::not_positive:
            return fmt::format("{}{} must be positive; it is {}", place, printable(name), cell);
        case Trouble::negative:
            return fmt::format("{}{} must not be negative; it is {}", place, printable(name), cell);
        case Trouble::too_large:
            return fmt::format("{}'{}' is too large for a double", place, cell);
        case Trouble::not_finite:
            return fmt::format("{}'{}' is not finite", place, cell);
        default:
            break;
    }
    if (const std::string pointed = with_decimal_point(text); !pointed.empty())
        return fmt::format("{}'{}' has a decimal comma: write {}", place, cell, pointed);
    return fmt::format("{}'{}' is not a number", place, cell);
}

}  // namespace

void read_csv(const std::string& file, const ReadOptions& options, TableBuilder& table) {
    CsvReader(file, options, table).read();
}

std::vector<std::string> csv_column_names(const std::string& file, const ReadOptions& options) {
    const FileText text(file);
    return find_layout(text.view(), file, options).names;
}

}  // namespace accrue::data
