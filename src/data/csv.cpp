#include "data/csv.hpp"

#include <algorithm>
#include <utility>

#include "core/parallel.hpp"
#include "data/cells.hpp"
#include "data/csv_driver.hpp"

namespace accrue::data {

namespace {

// Rows of a file into a table, slab after slab.
class CsvReader : private CsvDriver {
public:
    CsvReader(const std::vector<std::string>& file, const ReadOptions& options, TableBuilder& table)
        : CsvDriver(file, options), table_(table) {}

    void read() {
        table_.places->begin_file(files().front());
        const CsvParser parser = make_parser();
        run(parser, std::clamp<std::size_t>(options().slab_bytes, 1, kCsvBlockBytes));
        table_.hand_over();
    }

private:
    CsvParser make_parser() const;
    void check(CsvBlock& block) override;
    void use(CsvBlock& block) override;

    TableBuilder& table_;
    std::size_t slab_ = 0;  // bytes of text since rows were handed over
};

CsvParser CsvReader::make_parser() const {
    const auto missing = [&](const auto& column) { return column.may_be_missing ? Missing::keep : options().missing; };
    std::vector<CsvParser::Number> numbers;
    for (const auto& column : table_.numbers)
        numbers.push_back({column.name, column.kind, column.rule, missing(column)});
    std::vector<CsvParser::Text> texts;
    for (const auto& column : table_.texts) texts.push_back({column.name, missing(column)});
    return {first().layout(), files().front(), options(), std::move(numbers), texts};
}

// Numbers and texts in one column of times would be seconds of different clocks. Blocks have checked themselves; this
// compares each with those before it and with the files before.
void CsvReader::check(CsvBlock& block) {
    const Finding* found = nullptr;
    for (std::size_t i = 0; i < table_.numbers.size(); ++i) {
        const FirstTime& first = block.rows.times[i];
        TimeForm& before = table_.numbers[i].form;
        if (first.form == TimeForm::unknown) continue;
        if (before == TimeForm::unknown) before = first.form;
        if (first.form != before && (found == nullptr || first.place.row < found->row)) found = &first.place;
    }
    // A finding of the block's own is behind its first times.
    if (found != nullptr) block.rows.finding = *found;
}

void CsvReader::use(CsvBlock& block) {
    if (slab_ > 0 && slab_ + block.text.size() > options().slab_bytes) {
        // A thread that waits in it would otherwise begin another block, whose memory would come on top.
        core::isolate([&] { table_.hand_over(); });
        slab_ = 0;
    }
    slab_ += block.text.size();
    const std::size_t rows = block.rows.kept;
    for (std::size_t i = 0; i < table_.numbers.size(); ++i) {
        const double* from = block.rows.numbers[i].data();
        auto& values = table_.numbers[i].values;
        values.insert(values.end(), from, from + rows);
    }
    for (std::size_t i = 0; i < table_.texts.size(); ++i) {
        TableBuilder::LabelColumn& text = table_.texts[i];
        std::vector<std::uint32_t> codes;  // in the table, for those of the block
        for (const std::string_view label : block.rows.labels[i].labels()) codes.push_back(text.code(label));
        const std::uint32_t* from = block.rows.codes[i].data();
        for (std::size_t row = 0; row < rows; ++row) text.column.codes.push_back(codes[from[row]]);
    }
    for (const RowRun& run : block.rows.runs)
        add_place(table_.runs, {table_.rows + run.used, block.rows_before + run.row, block.lines_before + run.line});
    table_.rows += rows;
    table_.dropped += block.rows.seen - rows;
}

}  // namespace

void read_csv(const std::string& file, const ReadOptions& options, TableBuilder& table) {
    CsvReader({file}, options, table).read();
}

std::vector<std::string> csv_column_names(const std::string& file, const ReadOptions& options) {
    return CsvStream(file, options).layout().names;
}

std::vector<std::string> csv_numeric_columns(const std::string& file, const ReadOptions& options) {
    constexpr std::size_t kSample = 1000;
    CsvStream stream(file, options);
    const CsvLayout& layout = stream.layout();
    const std::size_t columns = layout.names.size();
    std::vector<bool> has_text(columns, false);
    std::vector<bool> has_number(columns, false);
    std::vector<ColumnMarks> marks;
    for (const std::string& name : layout.names) marks.emplace_back(options.marks, name);
    std::size_t seen = 0;
    std::vector<char> block;
    while (seen < kSample && stream.next(block, kCsvBlockBytes)) {
        RowScanner rows({block.data(), block.size()}, layout.dialect, columns);
        for (; seen < kSample && rows.next(); ++seen) {
            if (layout.is_comment(rows)) continue;
            // Rows of another length are for read_table to refuse.
            for (std::size_t i = 0; i < std::min(columns, rows.fields()); ++i) {
                if (has_text[i]) continue;
                const CellState state = marks[i].parse(rows.field(i)).state;
                // Infinities and the like are numbers too: refusing them at their place tells more than leaving them
                // out.
                if (state == CellState::not_a_number)
                    has_text[i] = true;
                else if (state != CellState::missing)
                    has_number[i] = true;
            }
        }
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < columns; ++i)
        if (has_number[i] && !has_text[i] && !layout.names[i].empty()) names.push_back(layout.names[i]);
    return names;
}

}  // namespace accrue::data
