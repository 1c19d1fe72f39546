#include "accrue/table.hpp"

#include <fmt/format.h>

#include <utility>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/formats.hpp"
#include "data/isolated.hpp"
#include "data/row_places.hpp"
#include "data/table_builder.hpp"

namespace accrue {

Table::Table(std::size_t rows, std::size_t dropped, std::map<std::string, std::vector<double>> numbers,
             std::map<std::string, TextColumn> texts, std::set<std::string> dates,
             std::shared_ptr<const data::RowPlaces> places, std::size_t rows_before)
    : rows_(rows),
      dropped_(dropped),
      numbers_(std::move(numbers)),
      texts_(std::move(texts)),
      dates_(std::move(dates)),
      places_(std::move(places)),
      rows_before_(rows_before) {}

std::span<const double> Table::numbers(const std::string& name) const {
    const auto found = numbers_.find(name);
    core::require(found != numbers_.end(), "column '{}' was not read as numbers", printable(name));
    return found->second;
}

const TextColumn& Table::text(const std::string& name) const {
    const auto found = texts_.find(name);
    core::require(found != texts_.end(), "column '{}' was not read as text", printable(name));
    return found->second;
}

std::string Table::place(std::size_t row) const {
    return places_ ? places_->name(rows_before_ + row) : fmt::format("row {}", row + 1);
}

namespace {

void read_files(const std::vector<std::string>& files, const ReadOptions& options, data::TableBuilder& table) {
    core::require(!files.empty(), "no input file was given");
    for (const std::string& file : files) {
        const data::Format& format = data::format_of(file);
        if (options.isolate && format.can_crash)
            data::read_isolated(file, options, table, format.read);
        else
            format.read(file, options, table);
    }
    if (!table.has_rows) {
        const std::string others =
            files.size() == 1 ? "" : fmt::format(" and {} more", counted(files.size() - 1, "file"));
        core::refuse("{}{}: no rows are left: all {} rows had a missing value", display_name(files.front()), others,
                     table.dropped);
    }
}

std::vector<std::string> list_of(const std::string& file, const ReadOptions& options,
                                 std::vector<std::string> (*list)(const std::string& file,
                                                                  const ReadOptions& options)) {
    return options.isolate && data::format_of(file).can_crash ? data::list_isolated(file, options, list)
                                                              : list(file, options);
}

}  // namespace

Table read_table(const std::vector<std::string>& files, const std::vector<ColumnRequest>& columns,
                 const ReadOptions& options) {
    data::TableBuilder table(columns);
    read_files(files, options, table);
    return std::move(table).finish();
}

std::size_t read_slabs(const std::vector<std::string>& files, const std::vector<ColumnRequest>& columns,
                       const ReadOptions& options, const std::function<void(const Table& slab)>& use) {
    data::TableBuilder table(columns, use);
    read_files(files, options, table);
    return table.dropped;
}

std::vector<std::string> numeric_columns(const std::string& file, const ReadOptions& options) {
    return list_of(file, options, data::format_of(file).numeric_columns);
}

std::vector<std::string> column_names(const std::string& file, const ReadOptions& options) {
    return list_of(file, options, data::format_of(file).column_names);
}

std::vector<std::string> described_inputs(const std::string& file, const ReadOptions& options) {
    return list_of(file, options, data::format_of(file).described_inputs);
}

std::vector<std::string> repeated_labels(const std::string& file, const ReadOptions& options) {
    return list_of(file, options, data::format_of(file).repeated_labels);
}

}  // namespace accrue
