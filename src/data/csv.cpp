#include "data/csv.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
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
#include "data/csv_trouble.hpp"
#include "data/csv_windows.hpp"
#include "data/messages.hpp"

namespace accrue::data {

namespace {

// A requested column in this file.
struct Task {
    std::size_t field = 0;  // in the row
    Kind kind = Kind::number;
    Rule rule = Rule::any;
    std::size_t column = 0;  // among the builder's numbers or texts
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

// How the first time of a chunk is written, and where.
struct FirstTime {
    TimeForm form = TimeForm::unknown;
    Finding place;
};

// A chunk's rows go to [offset, offset + kept) of the columns, which have room for all its lines.
struct ChunkResult {
    std::size_t offset = 0;
    std::size_t seen = 0;  // rows, dropped ones and the one at fault included
    std::size_t kept = 0;
    Finding finding;
    std::vector<ChunkLabels> labels;
    std::vector<FirstTime> times;  // of all number columns, though only those of times are used
};

class CsvReader {
public:
    CsvReader(const std::string& file, const ReadOptions& options, TableBuilder& table)
        : file_(file), options_(options), table_(table), windows_(file, options), layout_(windows_.layout()) {
        for (std::size_t i = 0; i < table.numbers.size(); ++i)
            tasks_.push_back({find(table.numbers[i].name), table.numbers[i].kind, table.numbers[i].rule, i});
        for (std::size_t i = 0; i < table.texts.size(); ++i)
            tasks_.push_back({find(table.texts[i].name), Kind::text, Rule::any, i});
        has_times_ = std::any_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.kind == Kind::time; });
        // The first bad cell of a row is the leftmost one, in whatever order the columns were asked for.
        std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.field < b.field; });
    }

    void read();

private:
    // Rows and newlines of the file, dropped rows included, without the header's.
    struct Progress {
        std::size_t rows = 0;
        std::size_t newlines = 0;
    };

    std::size_t find(const std::string& name) const { return find_column(layout_, name, file_, options_); }
    void read_chunks(const std::vector<Chunk>& chunks);
    void make_room(std::size_t rows);
    void parse_chunk(const Chunk& chunk, ChunkResult& result);
    Trouble read_row(const RowScanner& rows, std::size_t place, const ChunkResult& result, const Task*& where);
    Trouble read_time_cell(const Task& task, std::string_view cell, const ChunkResult& result, double& value) const;
    Trouble check_label(std::string_view cell) const;
    void note_first_times(const RowScanner& rows, std::size_t place, ChunkResult& result);
    std::size_t check_times(std::vector<ChunkResult>& results, std::size_t first_bad);
    void merge_labels(std::vector<ChunkResult>& results);
    void close_gaps(const std::vector<ChunkResult>& results);
    [[noreturn]] void refuse(const std::vector<Chunk>& chunks, const std::vector<ChunkResult>& results,
                             std::size_t bad) const;

    const std::string& file_;
    const ReadOptions& options_;
    TableBuilder& table_;
    CsvWindows windows_;
    const CsvLayout& layout_;
    std::vector<Task> tasks_;  // by field
    bool has_times_ = false;
    Progress progress_;
};

void CsvReader::read() {
    for (;;) {
        const std::vector<Chunk> chunks = windows_.next();
        if (chunks.empty()) break;
        read_chunks(chunks);
        table_.hand_over();
    }
    core::require(progress_.rows > 0, "{} has a header but no rows", display_name(file_));
}

void CsvReader::read_chunks(const std::vector<Chunk>& chunks) {
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
    const std::size_t bad = check_times(results, first_bad);
    if (bad < chunks.size()) refuse(chunks, results, bad);

    std::size_t seen = 0;
    std::size_t kept = 0;
    for (const ChunkResult& result : results) {
        seen += result.seen;
        kept += result.kept;
    }
    merge_labels(results);
    close_gaps(results);
    table_.rows += kept;
    table_.dropped += seen - kept;
    make_room(table_.rows);
    progress_.rows += seen;
    for (const Chunk& chunk : chunks) progress_.newlines += chunk.survey.newlines;
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
    result.times.resize(table_.numbers.size());
    RowScanner rows(chunk.text, layout_.dialect, layout_.names.size(), chunk.survey.quotes);
    std::string buffer;
    while (rows.next()) {
        const std::size_t place = result.offset + result.kept;
        const Task* task = nullptr;
        Trouble trouble = check_row(rows, chunk.survey, layout_.names.size());
        if (trouble == Trouble::none) trouble = read_row(rows, place, result, task);
        ++result.seen;
        if (trouble != Trouble::none) [[unlikely]] {
            if (trouble == Trouble::missing && options_.missing == Missing::drop) continue;
            result.finding = find_in_row(rows, trouble, task == nullptr ? 0 : task->field, result.seen);
            return;
        }
        if (has_times_) note_first_times(rows, place, result);
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

// The first trouble of the row, and the column it is in. A row that is dropped is dropped whole, so there a missing
// value goes before everything else.
Trouble CsvReader::read_row(const RowScanner& rows, std::size_t place, const ChunkResult& result, const Task*& where) {
    Trouble first = Trouble::none;
    for (const Task& task : tasks_) {
        const std::string_view cell = rows.field(task.field);
        Trouble trouble = Trouble::none;
        if (task.kind == Kind::number) [[likely]]
            trouble = read_number(cell, task.rule, options_.missing, table_.numbers[task.column].values[place]);
        else if (task.kind == Kind::time)
            trouble = read_time_cell(task, cell, result, table_.numbers[task.column].values[place]);
        else
            trouble = check_label(cell);
        if (trouble == Trouble::none) [[likely]]
            continue;
        if (trouble == Trouble::missing && options_.missing == Missing::drop) return trouble;
        if (first != Trouble::none) continue;
        first = trouble;
        where = &task;
    }
    return first;
}

Trouble CsvReader::read_time_cell(const Task& task, std::string_view cell, const ChunkResult& result,
                                  double& value) const {
    const TimeForm before = result.times[task.column].form;
    TimeForm form = before;
    const Trouble trouble = read_time(cell, task.rule, options_.missing, value, form);
    if (trouble != Trouble::none || before == TimeForm::unknown || form == before) return trouble;
    return form == TimeForm::iso ? Trouble::time_among_numbers : Trouble::number_among_times;
}

Trouble CsvReader::check_label(std::string_view cell) const {
    if (options_.missing == Missing::keep) return Trouble::none;
    std::string buffer;
    return is_missing(cell_text(cell, buffer)) ? Trouble::missing : Trouble::none;
}

// Only for rows that are kept: what a dropped row holds does not matter.
void CsvReader::note_first_times(const RowScanner& rows, std::size_t place, ChunkResult& result) {
    for (const Task& task : tasks_) {
        if (task.kind != Kind::time) continue;
        FirstTime& first = result.times[task.column];
        if (first.form != TimeForm::unknown || std::isnan(table_.numbers[task.column].values[place])) continue;
        const bool number = parse_number(rows.field(task.field)).state == CellState::good;
        first.form = number ? TimeForm::number : TimeForm::iso;
        first.place = find_in_row(rows, number ? Trouble::number_among_times : Trouble::time_among_numbers, task.field,
                                  result.seen);
    }
}

// Numbers and texts in one column of times would be seconds of different clocks. Chunks have checked themselves; this
// compares each with those before it and with the files before. Returns the first bad chunk, given that of all else.
std::size_t CsvReader::check_times(std::vector<ChunkResult>& results, std::size_t first_bad) {
    if (!has_times_) return first_bad;
    for (std::size_t c = 0; c < std::min(first_bad + 1, results.size()); ++c) {
        const Finding* found = nullptr;
        for (const Task& task : tasks_) {
            if (task.kind != Kind::time) continue;
            const FirstTime& first = results[c].times[task.column];
            TimeForm& before = table_.numbers[task.column].form;
            if (first.form == TimeForm::unknown) continue;
            if (before == TimeForm::unknown) before = first.form;
            if (first.form != before && (found == nullptr || first.place.row < found->row)) found = &first.place;
        }
        if (found == nullptr) continue;
        results[c].finding = *found;
        results[c].seen = found->row_in_piece;
        return c;
    }
    return first_bad;
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

void CsvReader::refuse(const std::vector<Chunk>& chunks, const std::vector<ChunkResult>& results,
                       std::size_t bad) const {
    const Finding& finding = results[bad].finding;
    std::size_t row = progress_.rows + finding.row_in_piece;
    std::size_t lines = windows_.header_lines() + progress_.newlines;
    for (std::size_t c = 0; c < bad; ++c) {
        row += results[c].seen;
        lines += chunks[c].survey.newlines;
    }
    const std::string_view text = chunks[bad].text;
    lines += count_newlines(text.substr(0, static_cast<std::size_t>(finding.row - text.data())));
    refuse_row(file_, row, lines + 1, finding, layout_, options_.header);
}

}  // namespace

void read_csv(const std::string& file, const ReadOptions& options, TableBuilder& table) {
    CsvReader(file, options, table).read();
}

std::vector<std::string> csv_column_names(const std::string& file, const ReadOptions& options) {
    return CsvWindows(file, options).layout().names;
}

std::vector<std::string> csv_numeric_columns(const std::string& file, const ReadOptions& options) {
    constexpr std::size_t kSample = 1000;
    ReadOptions beginning = options;
    beginning.slab_bytes = kChunkBytes;
    CsvWindows windows(file, beginning);
    const CsvLayout& layout = windows.layout();
    const std::size_t columns = layout.names.size();
    std::vector<bool> has_text(columns, false);
    std::vector<bool> has_number(columns, false);
    std::size_t seen = 0;
    const auto look_at = [&](const Chunk& chunk) {
        RowScanner rows(chunk.text, layout.dialect, columns);
        for (; seen < kSample && rows.next(); ++seen) {
            // Rows of another length are for read_table to refuse.
            for (std::size_t i = 0; i < std::min(columns, rows.fields()); ++i) {
                if (has_text[i]) continue;
                const CellState state = parse_number(rows.field(i)).state;
                // Infinities and the like are numbers too: refusing them at their place tells more than leaving them
                // out.
                if (state == CellState::not_a_number)
                    has_text[i] = true;
                else if (state != CellState::missing)
                    has_number[i] = true;
            }
        }
    };
    while (seen < kSample) {
        const std::vector<Chunk> chunks = windows.next();
        if (chunks.empty()) break;
        for (const Chunk& chunk : chunks) look_at(chunk);
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < columns; ++i)
        if (has_number[i] && !has_text[i] && !layout.names[i].empty()) names.push_back(layout.names[i]);
    return names;
}

}  // namespace accrue::data
