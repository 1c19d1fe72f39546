#include "data/csv_transform.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <tbb/cache_aligned_allocator.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "data/bytes.hpp"
#include "data/csv_rows.hpp"
#include "data/csv_stream.hpp"
#include "data/csv_trouble.hpp"
#include "data/files.hpp"
#include "data/messages.hpp"

namespace accrue::data {

namespace {

// Text, numbers and result of a block this long stay in a core's cache, and it has thousands of rows.
constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
// The longest double in shortest form: -1.7976931348623157e-308.
constexpr std::size_t kLongestNumber = 24;

using Column = std::vector<double, tbb::cache_aligned_allocator<double>>;

// A row as it stands in the block.
struct Line {
    const char* begin;
    const char* end;
    const char* next;  // after the line end; equal to `end` where that is missing
    bool complete;     // all inputs are there
};

// A piece of a file on its way from text to text. The memory is used again and again.
struct Block {
    std::size_t file = 0;  // among the files
    std::vector<char> text;
    std::size_t newlines = 0;
    std::vector<Line> lines;
    std::vector<Column> values;
    std::vector<Column> results;
    std::vector<char> output;
    std::size_t written = 0;  // bytes of output
    Finding finding;
    std::exception_ptr error;
};

// What is added to every line.
struct AddedText {
    char delimiter = ',';
    std::string_view missing;  // an empty cell would be no cell where blanks keep fields apart
};

AddedText added_text(Dialect dialect) {
    if (dialect.delimiter == Dialect::kBlanks) return {' ', "NA"};
    if (dialect.delimiter == Dialect::kNone) return {',', ""};
    return {dialect.delimiter, ""};
}

const char* delimiter_name(Dialect dialect) {
    switch (dialect.delimiter) {
        case ',':
            return "commas";
        case ';':
            return "semicolons";
        case '\t':
            return "tabs";
        case Dialect::kBlanks:
            return "blanks";
        default:
            return "nothing";
    }
}

// A name as a cell, in quotes where it would not come back as it is without them.
std::string name_cell(const std::string& name, char delimiter) {
    const bool padded = !name.empty() && (is_blank(name.front()) || is_blank(name.back()));
    const bool plain = name.find_first_of("\"\n\r") == std::string::npos && name.find(delimiter) == std::string::npos;
    if (plain && !padded && !name.empty()) return name;
    std::string cell = "\"";
    for (const char c : name) {
        if (c == '"') cell += '"';
        cell += c;
    }
    return cell + '"';
}

class CsvTransform {
public:
    CsvTransform(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                 const ComputeRows& compute);

    void run();

private:
    // What the end of the line knows of the files.
    struct Progress {
        std::size_t file = 0;
        std::size_t rows = 0;      // of this file
        std::size_t newlines = 0;  // of this file, without the header's
    };

    std::unique_ptr<CsvStream> open(const std::string& file) const;
    void check_first(const CsvStream& stream) const;
    void check_further(const CsvStream& stream) const;
    void check_not_output(const CsvStream& stream) const;
    std::string header_line() const;

    bool read(Block& block);
    bool read_next(Block& block);
    void process(Block& block) const;
    void parse(Block& block) const;
    Trouble read_inputs(const RowScanner& rows, Block& block, std::size_t& field) const;
    void call_compute(Block& block) const;
    void format(Block& block) const;
    char* format_cell(char* at, double value, bool flag) const;
    void write(Block& block);
    void go_on_to(std::size_t file);

    const std::vector<std::string>& files_;
    const TransformPlan& plan_;
    const ComputeRows& compute_;
    const ReadOptions options_;
    std::optional<AtomicFile> output_;

    std::atomic<bool> stopped_ = false;
    std::unique_ptr<CsvStream> stream_;  // of file_
    std::size_t file_ = 0;
    CsvLayout layout_;                       // of the first file; names and delimiter of the others are the same
    std::vector<std::size_t> fields_;        // of the inputs
    std::vector<std::size_t> fields_order_;  // inputs from left to right, for the first bad cell of a row
    std::vector<std::size_t> header_lines_;  // of each file
    std::string line_end_;                   // for a last row without one
    AddedText added_;
    Progress progress_;
};

CsvTransform::CsvTransform(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                           const ComputeRows& compute)
    : files_(files),
      plan_(plan),
      compute_(compute),
      options_{.missing = Missing::keep, .header = plan.header},
      header_lines_(files.size(), 0) {
    stream_ = open(files.front());
    layout_ = stream_->layout();
    header_lines_[0] = stream_->header_lines();
    line_end_ = stream_->line_end();
    added_ = added_text(layout_.dialect);
    check_first(*stream_);
    for (const std::string& input : plan.inputs)
        fields_.push_back(find_column(layout_, input, files.front(), options_));
    for (std::size_t i = 0; i < fields_.size(); ++i) fields_order_.push_back(i);
    std::stable_sort(fields_order_.begin(), fields_order_.end(),
                     [&](std::size_t a, std::size_t b) { return fields_[a] < fields_[b]; });
    // Headers that do not fit are better known before the first row is out. A pipe can be read only once, so it is
    // looked at when its turn comes.
    for (std::size_t i = 1; i < files.size(); ++i) {
        std::error_code ignored;
        const std::filesystem::file_status status = std::filesystem::status(files[i], ignored);
        const bool read_once = files[i] == "-" || std::filesystem::is_other(status);
        if (!read_once) check_further(*open(files[i]));
    }
    // Last, so that bad input leaves a place that is written directly alone.
    output_.emplace(output);
    check_not_output(*stream_);
}

std::unique_ptr<CsvStream> CsvTransform::open(const std::string& file) const {
    return std::make_unique<CsvStream>(file, options_, stopped_);
}

void CsvTransform::check_first(const CsvStream& stream) const {
    if (!plan_.header) return;
    for (const AddedColumn& column : plan_.added) {
        const auto& names = stream.layout().names;
        core::require(std::find(names.begin(), names.end(), column.name) == names.end(),
                      "{} already has a column '{}'; rename it or drop it", display_name(stream.file()),
                      printable(column.name));
    }
}

void CsvTransform::check_further(const CsvStream& stream) const {
    const CsvLayout& other = stream.layout();
    const std::string name = display_name(stream.file());
    const std::string first = display_name(files_.front());
    if (other.names.size() != layout_.names.size())
        core::refuse("{} has {}, {} has {}; all files need the same columns in the same order", name,
                     counted(other.names.size(), "column"), first, layout_.names.size());
    for (std::size_t i = 0; i < other.names.size(); ++i)
        core::require(other.names[i] == layout_.names[i],
                      "{} has '{}' as column {}, {} has '{}'; all files need the same columns in the same order", name,
                      printable(other.names[i]), i + 1, first, printable(layout_.names[i]));
    core::require(other.dialect.delimiter == layout_.dialect.delimiter,
                  "{} is separated by {}, {} by {}; they cannot become one file", name, delimiter_name(other.dialect),
                  first, delimiter_name(layout_.dialect));
}

// A file that grows while it is read has no end.
void CsvTransform::check_not_output(const CsvStream& stream) const {
    core::require(!(output_->is_direct() && stream.is_regular() && stream.is_same_file(output_->descriptor())),
                  "{} is also the output: name it with -o, or write to another file", display_name(stream.file()));
}

std::string CsvTransform::header_line() const {
    std::string line(stream_->byte_order_mark());
    if (!plan_.header) return line;
    line += stream_->header_row();
    for (const AddedColumn& column : plan_.added) {
        line += added_.delimiter;
        line += name_cell(column.name, added_.delimiter);
    }
    return line + line_end_;
}

// Text is read in one place, parsed and formatted in many, and written in one place again, in the order in which it was
// read; what stops a block travels with it, so that the first bad place of the files is the one that is reported.
void CsvTransform::run() {
    output_->write(header_line());

    const auto threads = static_cast<std::size_t>(core::thread_count());
    const std::size_t most = threads + threads / 2 + 2;
    // Blocks leave in the order in which they entered, so when the next one enters, the one before it by `most` is out.
    std::vector<Block> blocks(most);
    std::size_t entered = 0;
    const auto read_filter = [&](tbb::flow_control& control) -> Block* {
        Block& block = blocks[entered++ % most];
        if (read(block)) return &block;
        control.stop();
        return nullptr;
    };
    const auto process_filter = [&](Block* block) {
        process(*block);
        return block;
    };
    const auto write_filter = [&](Block* block) {
        try {
            write(*block);
        } catch (...) {
            stopped_ = true;  // or the reader would wait for a pipe in which nothing comes any more
            throw;
        }
    };
    tbb::parallel_pipeline(most, tbb::make_filter<void, Block*>(tbb::filter_mode::serial_in_order, read_filter) &
                                     tbb::make_filter<Block*, Block*>(tbb::filter_mode::parallel, process_filter) &
                                     tbb::make_filter<Block*, void>(tbb::filter_mode::serial_in_order, write_filter));
    go_on_to(files_.size());
    output_->commit();
}

// False when all files are read.
bool CsvTransform::read(Block& block) {
    block.finding = {};
    block.error = nullptr;
    block.text.clear();
    try {
        return read_next(block);
    } catch (...) {
        // An earlier block may hold an earlier bad place.
        block.file = file_;
        block.error = std::current_exception();
        file_ = files_.size();
        return true;
    }
}

bool CsvTransform::read_next(Block& block) {
    while (file_ < files_.size() && !stopped_) {
        if (stream_ == nullptr) {
            stream_ = open(files_[file_]);
            check_further(*stream_);
            check_not_output(*stream_);
            header_lines_[file_] = stream_->header_lines();
        }
        block.file = file_;
        if (stream_->next(block.text, kBlockBytes)) return true;
        stream_.reset();
        ++file_;
    }
    return false;
}

void CsvTransform::process(Block& block) const {
    if (block.error != nullptr) return;
    try {
        parse(block);
        if (block.finding.trouble != Trouble::none || block.lines.empty()) return;
        call_compute(block);
        format(block);
    } catch (...) {
        block.error = std::current_exception();
    }
}

void CsvTransform::parse(Block& block) const {
    const std::string_view text(block.text.data(), block.text.size());
    const ByteSurvey survey = survey_bytes(text);
    block.newlines = survey.newlines;
    block.lines.clear();
    block.values.resize(fields_.size());
    for (Column& column : block.values) column.resize(std::max(column.size(), survey.newlines + 1));

    RowScanner rows(text, layout_.dialect, layout_.names.size(), survey.quotes);
    while (rows.next()) {
        std::size_t field = 0;
        Trouble trouble = check_row(rows, survey, layout_.names.size());
        if (trouble == Trouble::none) trouble = read_inputs(rows, block, field);
        if (trouble != Trouble::none) [[unlikely]] {
            block.finding = find_in_row(rows, trouble, field, block.lines.size() + 1);
            return;
        }
    }
}

// Reads the row's inputs and notes the row.
Trouble CsvTransform::read_inputs(const RowScanner& rows, Block& block, std::size_t& field) const {
    const std::size_t place = block.lines.size();
    bool complete = true;
    for (const std::size_t input : fields_order_) {
        double& value = block.values[input][place];
        const Trouble trouble = read_number(rows.field(fields_[input]), Rule::any, Missing::keep, value);
        if (trouble != Trouble::none) [[unlikely]] {
            field = fields_[input];
            return trouble;
        }
        complete = complete && !std::isnan(value);
    }
    const std::string_view row = rows.row();
    const char* end = row.data() + row.size();
    block.lines.push_back({row.data(), end, rows.has_newline() ? rows.rest().data() : end, complete});
    return Trouble::none;
}

void CsvTransform::call_compute(Block& block) const {
    const std::size_t rows = block.lines.size();
    std::vector<std::span<const double>> values;
    for (const Column& column : block.values) values.emplace_back(column.data(), rows);
    std::vector<std::span<double>> results;
    block.results.resize(plan_.added.size());
    for (Column& column : block.results) {
        column.resize(std::max(column.size(), rows));
        results.emplace_back(column.data(), rows);
    }
    // When `compute` runs loops of its own, this thread must not begin another block while it waits for them: the
    // thread's workspaces are in use.
    tbb::this_task_arena::isolate([&] { compute_(values, results); });
}

void CsvTransform::format(Block& block) const {
    const std::size_t cells = plan_.added.size() * (1 + std::max(kLongestNumber, added_.missing.size()));
    const std::size_t longest = block.text.size() + block.lines.size() * (cells + line_end_.size());
    if (block.output.size() < longest) block.output.resize(longest);
    char* at = block.output.data();
    const auto put = [&](const char* from, std::size_t size) {
        std::memcpy(at, from, size);
        at += size;
    };
    for (std::size_t row = 0; row < block.lines.size(); ++row) {
        const Line& line = block.lines[row];
        put(line.begin, static_cast<std::size_t>(line.end - line.begin));
        for (std::size_t k = 0; k < plan_.added.size(); ++k) {
            *at++ = added_.delimiter;
            const double value = block.results[k][row];
            if (!line.complete || std::isnan(value))
                put(added_.missing.data(), added_.missing.size());
            else
                at = format_cell(at, value, plan_.added[k].flag);
        }
        if (line.next != line.end)
            put(line.end, static_cast<std::size_t>(line.next - line.end));
        else
            put(line_end_.data(), line_end_.size());
    }
    block.written = static_cast<std::size_t>(at - block.output.data());
}

char* CsvTransform::format_cell(char* at, double value, bool flag) const {
    if (flag) {
        *at = value != 0 ? '1' : '0';
        return at + 1;
    }
    return fmt::format_to(at, FMT_COMPILE("{}"), value);
}

void CsvTransform::write(Block& block) {
    go_on_to(block.file);
    if (block.error != nullptr) std::rethrow_exception(block.error);
    if (const Finding& finding = block.finding; finding.trouble != Trouble::none) {
        const auto before = static_cast<std::size_t>(finding.row - block.text.data());
        const std::size_t lines =
            header_lines_[block.file] + progress_.newlines + count_newlines({block.text.data(), before});
        refuse_row(files_[block.file], progress_.rows + finding.row_in_piece, lines + 1, finding, layout_,
                   plan_.header);
    }
    progress_.rows += block.lines.size();
    progress_.newlines += block.newlines;
    if (block.lines.empty()) return;
    output_->write({block.output.data(), block.written});
    output_->flush();
}

// The blocks of all files before this one are written.
void CsvTransform::go_on_to(std::size_t file) {
    for (; progress_.file < file; progress_ = {progress_.file + 1, 0, 0})
        core::require(progress_.rows > 0, "{} has a header but no rows", display_name(files_[progress_.file]));
}

}  // namespace

void transform_csv(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                   const ComputeRows& compute) {
    CsvTransform(files, output, plan, compute).run();
}

}  // namespace accrue::data
