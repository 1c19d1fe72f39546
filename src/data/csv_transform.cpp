#include "data/csv_transform.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "accrue/files.hpp"
#include "accrue/messages.hpp"
#include "core/buffer.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "data/cells.hpp"
#include "data/csv_driver.hpp"

namespace accrue::data {

namespace {

// The longest double in shortest form: -1.7976931348623157e-308.
constexpr std::size_t kLongestNumber = 24;

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

class CsvTransform : private CsvDriver {
public:
    CsvTransform(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                 const ReadOptions& options, const ComputeRows& compute);

    void run();

private:
    CsvParser make_parser();
    void check_first() const;
    void check_fits(const CsvStream& stream) const;
    void check_not_output(const CsvStream& stream) const;
    void check_further(const CsvStream& stream) const override;
    std::string header_line() const;

    void work(CsvBlock& block) const override;
    void use(CsvBlock& block) override;
    void call_compute(CsvBlock& block, std::span<const std::span<const double>> values) const;
    bool is_complete(std::span<const std::span<const double>> values, std::size_t row) const;
    void format(CsvBlock& block, std::span<const std::span<const double>> values) const;
    static char* format_cell(char* at, double value, bool flag);

    const TransformPlan& plan_;
    const ComputeRows& compute_;
    std::optional<AtomicFile> output_;
    std::string line_end_;             // for a last row without one
    std::vector<std::size_t> places_;  // of inputs, among the parser's numbers or texts
    CsvParser parser_;
    AddedText added_;
};

CsvTransform::CsvTransform(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                           const ReadOptions& options, const ComputeRows& compute)
    : CsvDriver(files, options),
      plan_(plan),
      compute_(compute),
      line_end_(first().line_end()),
      parser_(make_parser()),
      added_(added_text(first().layout().dialect)) {
    // Headers that do not fit are better known before the first row is out. A pipe can be read only once, so it is
    // looked at when its turn comes.
    for (std::size_t i = 1; i < files.size(); ++i) {
        std::error_code ignored;
        const std::filesystem::file_status status = std::filesystem::status(files[i], ignored);
        const bool read_once = files[i] == "-" || std::filesystem::is_other(status);
        if (!read_once) check_fits(*open(files[i]));
    }
    // Last, so that bad input leaves a place that is written directly alone.
    output_.emplace(output);
    check_not_output(first());
}

CsvParser CsvTransform::make_parser() {
    check_first();
    std::vector<CsvParser::Number> numbers;
    std::vector<CsvParser::Text> texts;
    for (const TransformInput& input : plan_.inputs) {
        const bool is_text = input.kind == Kind::text;
        places_.push_back(is_text ? texts.size() : numbers.size());
        if (is_text)
            texts.push_back({input.name, Missing::keep});
        else
            numbers.push_back({input.name, input.kind, Rule::any, Missing::keep, TimeForm::iso});
    }
    CsvParser parser(first().layout(), files().front(), options(), std::move(numbers), texts);
    parser.want_lines();
    return parser;
}

void CsvTransform::check_first() const {
    if (!plan_.header) return;
    const auto& names = first().layout().names;
    for (const AddedColumn& column : plan_.added) {
        core::require(std::find(names.begin(), names.end(), column.name) == names.end(),
                      "{} already has a column '{}'; rename it or drop it", display_name(files().front()),
                      printable(column.name));
    }
}

void CsvTransform::check_further(const CsvStream& stream) const {
    check_fits(stream);
    check_not_output(stream);
}

void CsvTransform::check_fits(const CsvStream& stream) const {
    const CsvLayout& layout = parser_.layout();
    const CsvLayout& other = stream.layout();
    const std::string name = display_name(stream.file());
    const std::string first = display_name(files().front());
    if (other.names.size() != layout.names.size())
        core::refuse("{} has {}, {} has {}; all files need the same columns in the same order", name,
                     counted(other.names.size(), "column"), first, layout.names.size());
    for (std::size_t i = 0; i < other.names.size(); ++i)
        core::require(other.names[i] == layout.names[i],
                      "{} has '{}' as column {}, {} has '{}'; all files need the same columns in the same order", name,
                      printable(other.names[i]), i + 1, first, printable(layout.names[i]));
    core::require(other.dialect.delimiter == layout.dialect.delimiter,
                  "{} is separated by {}, {} by {}; they cannot become one file", name, delimiter_name(other.dialect),
                  first, delimiter_name(layout.dialect));
}

// A file that grows while it is read has no end.
void CsvTransform::check_not_output(const CsvStream& stream) const {
    core::require(!(output_->is_direct() && stream.is_regular() && stream.is_same_file(output_->descriptor())),
                  "{} is also the output: name it with -o, or write to another file", display_name(stream.file()));
}

std::string CsvTransform::header_line() const {
    std::string line(first().byte_order_mark());
    if (!plan_.header) return line;
    line += first().header_row();
    for (const AddedColumn& column : plan_.added) {
        line += added_.delimiter;
        line += name_cell(column.name, added_.delimiter);
    }
    return line + line_end_;
}

void CsvTransform::run() {
    output_->write(header_line());
    CsvDriver::run(parser_, kCsvBlockBytes);
    output_->commit();
}

void CsvTransform::work(CsvBlock& block) const {
    const std::size_t rows = block.rows.kept;
    std::vector<std::span<const double>> values;
    block.label_values.resize(block.rows.codes.size());
    for (std::size_t k = 0; k < plan_.inputs.size(); ++k) {
        const TransformInput& input = plan_.inputs[k];
        const std::size_t place = places_[k];
        if (input.kind != Kind::text) {
            values.emplace_back(block.rows.numbers[place].data(), rows);
            continue;
        }
        std::vector<double> codes;  // of the input, for those of the block
        for (const std::string_view label : block.rows.labels[place].labels())
            codes.push_back(label.empty() ? std::numeric_limits<double>::quiet_NaN() : input.code(std::string(label)));
        core::Buffer<double>& own = block.label_values[place];
        own.reserve(rows);
        for (std::size_t row = 0; row < rows; ++row) own[row] = codes[block.rows.codes[place][row]];
        values.emplace_back(own.data(), rows);
    }
    call_compute(block, values);
    format(block, values);
}

void CsvTransform::call_compute(CsvBlock& block, std::span<const std::span<const double>> values) const {
    const std::size_t rows = block.rows.kept;
    std::vector<std::span<double>> results;
    block.results.resize(plan_.added.size());
    for (core::Buffer<double>& column : block.results) {
        column.reserve(rows);
        results.emplace_back(column.data(), rows);
    }
    // When `compute` runs loops of its own, this thread must not begin another block while it waits for them: the
    // thread's workspaces are in use.
    core::isolate([&] { compute_(values, results, block.first_row); });
}

// Whether all inputs are there that have to be.
bool CsvTransform::is_complete(std::span<const std::span<const double>> values, std::size_t row) const {
    for (std::size_t k = 0; k < values.size(); ++k)
        if (std::isnan(values[k][row]) && !plan_.inputs[k].may_be_missing) return false;
    return true;
}

void CsvTransform::format(CsvBlock& block, std::span<const std::span<const double>> values) const {
    const std::vector<CsvLine>& lines = block.rows.lines;
    const std::size_t cells = plan_.added.size() * (1 + std::max(kLongestNumber, added_.missing.size()));
    const std::size_t longest = block.text.size() + lines.size() * (cells + line_end_.size());
    if (block.output.size() < longest) block.output.resize(longest);
    char* at = block.output.data();
    const auto put = [&](const char* from, std::size_t size) {
        std::memcpy(at, from, size);
        at += size;
    };
    for (std::size_t row = 0; row < lines.size(); ++row) {
        const CsvLine& line = lines[row];
        put(line.begin, static_cast<std::size_t>(line.end - line.begin));
        const bool complete = is_complete(values, row);
        for (std::size_t k = 0; k < plan_.added.size(); ++k) {
            *at++ = added_.delimiter;
            const double value = block.results[k][row];
            if (!complete || std::isnan(value))
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

char* CsvTransform::format_cell(char* at, double value, bool flag) {
    if (flag) {
        *at = value != 0 ? '1' : '0';
        return at + 1;
    }
    return fmt::format_to(at, FMT_COMPILE("{}"), value);
}

void CsvTransform::use(CsvBlock& block) {
    if (block.rows.kept == 0) return;
    output_->write({block.output.data(), block.written});
    output_->flush();
}

}  // namespace

void transform_csv(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                   const ComputeRows& compute) {
    const ReadOptions options{.missing = Missing::keep, .header = plan.header, .marks = plan.marks};
    CsvTransform(files, output, plan, options, compute).run();
}

}  // namespace accrue::data
