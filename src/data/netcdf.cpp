#include "data/netcdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "accrue/inputs.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/netcdf_file.hpp"
#include "data/netcdf_rows.hpp"
#include "data/netcdf_time.hpp"

namespace accrue::data {

namespace {

// A megabyte of each column at a time: long reads, and little memory beside the table.
constexpr std::size_t kSlabRows = std::size_t{1} << 17U;

class NetcdfReader {
public:
    NetcdfReader(const std::string& file, const ReadOptions& options, TableBuilder& table)
        : file_(file), options_(options), table_(table) {
        const std::string& rows_of = options.rows_of.empty() ? table.first : options.rows_of;
        core::require(!rows_of.empty(), "{}: no variable was asked for", display_name(file));
        grid_ = row_grid(file_, shape_of(spanned(file_, std::span(&rows_of, 1))));
        for (const std::size_t size : grid_.sizes)
            core::require(size > 0, "{} has no rows: a dimension of variable '{}' is empty", display_name(file),
                          printable(rows_of));
        for (TableBuilder::NumberColumn& column : table.numbers) {
            numbers_.emplace_back(file_, column.name, grid_, column.kind, column.rule, options.marks);
            if (column.kind == Kind::time) check_form(column, numbers_.back());
        }
        for (const TableBuilder::LabelColumn& column : table.texts)
            texts_.emplace_back(file_, file_.variable(column.name), grid_, Kind::text, options.marks);
        require_marked_columns(options.marks, file_.variable_names(), file);
        RowPlaces::Dimensions dimensions;
        for (std::size_t d = 0; d < grid_.ids.size(); ++d)
            dimensions.emplace_back(file_.dimension(grid_.ids[d]).name, grid_.sizes[d]);
        table.places->begin_file(file, std::move(dimensions));
    }

    void read();

private:
    NetcdfVariable shape_of(const NetcdfVariable& variable) const;
    void check_form(TableBuilder::NumberColumn& column, const RowNumbers& variable) const;
    std::size_t keep_rows(const Slab& slab, std::size_t base);
    bool is_kept(const Slab& slab, std::size_t base, std::size_t row) const;

    NetcdfFile file_;
    const ReadOptions& options_;
    TableBuilder& table_;
    RowGrid grid_;
    std::vector<RowNumbers> numbers_;
    std::vector<RowVariable> texts_;
    std::size_t seen_ = 0;                              // rows of slabs before
    std::vector<std::vector<std::uint32_t>> elements_;  // for each text, the rows' places among its labels
};

// Where characters define the rows, the last dimension counts letters.
NetcdfVariable NetcdfReader::shape_of(const NetcdfVariable& variable) const {
    NetcdfVariable shape = variable;
    if (shape.type == NC_CHAR && !shape.dimensions.empty()) shape.dimensions.pop_back();
    return shape;
}

// Seconds since 1970 and numbers of some other origin cannot be put in one order.
void NetcdfReader::check_form(TableBuilder::NumberColumn& column, const RowNumbers& variable) const {
    const TimeForm form = variable.is_dated() ? TimeForm::iso : TimeForm::number;
    if (column.form == TimeForm::unknown) column.form = form;
    core::require(column.form == form, "{} variable '{}' holds {}, the files before it have {}",
                  display_name(file_.path()), printable(column.name),
                  form == TimeForm::iso ? "dates" : "times without a date ('days since ...')",
                  form == TimeForm::iso ? "plain numbers" : "dates");
}

void NetcdfReader::read() {
    SlabWalk walk(grid_, std::clamp<std::size_t>(options_.slab_bytes / sizeof(double), 1, kSlabRows));
    for (const RowNumbers& column : numbers_) column.keep_chunks(grid_, walk.cut());
    for (const RowVariable& column : texts_) column.keep_chunks(grid_, walk.cut());
    // Growing step by step would hold the columns twice at times.
    core::require(grid_.rows < std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double),
                  "{} claims {} rows, more than memory can hold", display_name(file_.path()), grid_.rows);
    if (table_.keeps_rows()) {
        for (auto& column : table_.numbers) column.values.reserve(table_.rows + grid_.rows);
        for (auto& column : table_.texts) column.column.codes.reserve(table_.rows + grid_.rows);
    }
    elements_.resize(texts_.size());

    Slab slab;
    while (walk.next(slab)) {
        const std::size_t base = table_.rows;
        for (std::size_t c = 0; c < numbers_.size(); ++c) {
            std::vector<double>& values = table_.numbers[c].values;
            values.resize(base + slab.rows);
            numbers_[c].read(slab, std::span(values).subspan(base));
        }
        for (std::size_t c = 0; c < texts_.size(); ++c) {
            elements_[c].resize(slab.rows);
            texts_[c].read_labels(slab, elements_[c]);
        }
        const std::size_t kept = keep_rows(slab, base);
        for (auto& column : table_.numbers) column.values.resize(base + kept);
        table_.dropped += slab.rows - kept;
        table_.rows += kept;
        seen_ += slab.rows;
        table_.hand_over();
    }
}

// Checks the rows of the slab, which lie at `base` of the number columns, moves those that stay together and gives
// their number.
std::size_t NetcdfReader::keep_rows(const Slab& slab, std::size_t base) {
    constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::vector<std::uint32_t>> codes(texts_.size());
    for (std::size_t c = 0; c < texts_.size(); ++c) codes[c].assign(texts_[c].labels().size(), kNone);

    std::size_t kept = 0;
    for (std::size_t row = 0; row < slab.rows; ++row) {
        if (!is_kept(slab, base, row)) continue;
        if (kept != row)
            for (auto& column : table_.numbers) column.values[base + kept] = column.values[base + row];
        for (std::size_t c = 0; c < texts_.size(); ++c) {
            const std::uint32_t element = elements_[c][row];
            std::uint32_t& code = codes[c][element];
            if (code == kNone) code = table_.texts[c].code(texts_[c].labels()[element]);
            table_.texts[c].column.codes.push_back(code);
        }
        add_place(table_.runs, {base + kept, seen_ + row + 1, 0});
        ++kept;
    }
    return kept;
}

// A row that is dropped is dropped whole, so there a missing value goes before everything else.
bool NetcdfReader::is_kept(const Slab& slab, std::size_t base, std::size_t row) const {
    const auto number = [&](std::size_t c) { return table_.numbers[c].values[base + row]; };
    const auto is_missing_text = [&](std::size_t c) { return texts_[c].labels()[elements_[c][row]].empty(); };
    if (options_.missing == Missing::drop) {
        for (std::size_t c = 0; c < numbers_.size(); ++c)
            if (std::isnan(number(c)) && !table_.numbers[c].may_be_missing) return false;
        for (std::size_t c = 0; c < texts_.size(); ++c)
            if (is_missing_text(c) && !table_.texts[c].may_be_missing) return false;
    }
    for (std::size_t c = 0; c < numbers_.size(); ++c) {
        const double value = number(c);
        const bool is_missing = std::isnan(value);
        if (is_missing && options_.missing == Missing::refuse && !table_.numbers[c].may_be_missing)
            numbers_[c].refuse_missing(slab, row);
        if (!is_missing) numbers_[c].check(slab, row, value);
    }
    if (options_.missing == Missing::refuse)
        for (std::size_t c = 0; c < texts_.size(); ++c)
            if (is_missing_text(c) && !table_.texts[c].may_be_missing)
                core::refuse("{} variable '{}'{}: {}", display_name(file_.path()), printable(texts_[c].variable().name),
                             texts_[c].place(slab, row), value_is_missing());
    return true;
}

// Whether the attributes say that the variable holds times, as the CF conventions have it.
bool is_time(const NetcdfFile& file, const NetcdfVariable& variable) {
    const auto attribute = [&](const char* name) { return file.text_attribute(variable.id, name).value_or(""); };
    return are_time_units(attribute("units")) || attribute("axis") == "T" || attribute("standard_name") == "time" ||
           attribute("standard_name") == "forecast_reference_time" || !attribute("calendar").empty();
}

}  // namespace

void read_netcdf(const std::string& file, const ReadOptions& options, TableBuilder& table) {
    NetcdfReader(file, options, table).read();
}

std::vector<std::string> netcdf_column_names(const std::string& file, const ReadOptions&) {
    return NetcdfFile(file).variable_names();
}

std::vector<std::string> netcdf_numeric_columns(const std::string& path, const ReadOptions& options) {
    constexpr std::size_t kSample = 1000;
    const NetcdfFile file(path);
    std::optional<NetcdfVariable> rows;
    if (!options.rows_of.empty()) rows = spanned(file, std::span(&options.rows_of, 1));
    std::vector<std::string> names;
    for (const NetcdfVariable& variable : file.variables()) {
        if (!variable.is_number() || variable.dimensions.empty() || is_time(file, variable)) continue;
        const auto is_foreign = [&](int id) {
            return rows && std::find(rows->dimensions.begin(), rows->dimensions.end(), id) == rows->dimensions.end();
        };
        const std::vector<int>& dimensions = variable.dimensions;
        if (std::any_of(dimensions.begin(), dimensions.end(), is_foreign)) continue;
        std::vector<int> sorted = dimensions;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) continue;

        const RowGrid grid = row_grid(file, rows ? *rows : variable);
        Slab slab;
        if (!SlabWalk(grid, kSample).next(slab)) continue;
        std::vector<double> values(slab.rows);
        RowVariable(file, variable, grid, Kind::number, options.marks).read_numbers(slab, values);
        const bool all_missing =
            std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
        if (!all_missing) names.push_back(variable.name);
    }
    return names;
}

std::vector<std::string> netcdf_described_inputs(const std::string& path, const ReadOptions&) {
    const NetcdfFile file(path);
    std::vector<std::string> inputs;
    for (const NetcdfVariable& variable : file.variables()) {
        const auto text = [&](const char* name) { return file.text_attribute(variable.id, name).value_or(""); };
        if (variable.is_text())
            inputs.push_back(Input{variable.name, InputKind::category}.name());
        else if (variable.is_number() && is_direction(text("units"), text("standard_name"), text("long_name")))
            inputs.push_back(Input{variable.name, InputKind::cyclic, 360}.name());
    }
    return inputs;
}

std::vector<std::string> netcdf_repeated_labels(const std::string& path, const ReadOptions& options) {
    if (options.rows_of.empty()) return {};
    constexpr std::size_t kMinRepeats = 10;  // a label of fewer rows has no effect of its own
    const NetcdfFile file(path);
    const NetcdfVariable rows = spanned(file, std::span(&options.rows_of, 1));
    std::vector<std::string> names;
    for (const NetcdfVariable& variable : file.variables()) {
        if (!variable.is_text()) continue;
        std::vector<int> dimensions = variable.dimensions;
        if (variable.type == NC_CHAR && !dimensions.empty()) dimensions.pop_back();  // which counts letters
        const auto is_of_rows = [&](int id) {
            return std::find(rows.dimensions.begin(), rows.dimensions.end(), id) != rows.dimensions.end();
        };
        if (dimensions.empty() || !std::all_of(dimensions.begin(), dimensions.end(), is_of_rows)) continue;
        std::size_t repeats = 1;
        for (const int id : rows.dimensions)
            if (std::find(dimensions.begin(), dimensions.end(), id) == dimensions.end())
                repeats *= file.dimension(id).size;
        if (repeats >= kMinRepeats) names.push_back(variable.name);
    }
    return names;
}

}  // namespace accrue::data
