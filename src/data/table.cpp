#include "accrue/table.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/error.hpp"
#include "data/csv.hpp"
#include "data/messages.hpp"
#include "data/netcdf.hpp"
#include "data/netcdf_file.hpp"
#include "data/table_builder.hpp"

namespace accrue {

namespace {

// A kind of file that rows can come from.
struct Format {
    bool (*recognises)(const std::string& file);
    void (*read)(const std::string& file, const ReadOptions& options, data::TableBuilder& table);
    std::vector<std::string> (*column_names)(const std::string& file, const ReadOptions& options);
    std::vector<std::string> (*numeric_columns)(const std::string& file, const ReadOptions& options);
};

bool any_file(const std::string&) {
    return true;
}

// The first that recognises a file reads it; text tables have no mark of their own and come last.
constexpr std::array kFormats = {
    Format{data::is_netcdf, data::read_netcdf, data::netcdf_column_names, data::netcdf_numeric_columns},
    Format{any_file, data::read_csv, data::csv_column_names, data::csv_numeric_columns},
};

const Format& format_of(const std::string& file) {
    std::size_t i = 0;
    while (!kFormats[i].recognises(file)) ++i;
    return kFormats[i];
}

}  // namespace

Table::Table(std::size_t rows, std::size_t dropped, std::map<std::string, std::vector<double>> numbers,
             std::map<std::string, TextColumn> texts, std::set<std::string> dates)
    : rows_(rows),
      dropped_(dropped),
      numbers_(std::move(numbers)),
      texts_(std::move(texts)),
      dates_(std::move(dates)) {}

std::span<const double> Table::numbers(const std::string& name) const {
    const auto found = numbers_.find(name);
    core::require(found != numbers_.end(), "column '{}' was not read as numbers", data::printable(name));
    return found->second;
}

const TextColumn& Table::text(const std::string& name) const {
    const auto found = texts_.find(name);
    core::require(found != texts_.end(), "column '{}' was not read as text", data::printable(name));
    return found->second;
}

namespace {

void read_files(const std::vector<std::string>& files, const ReadOptions& options, data::TableBuilder& table) {
    core::require(!files.empty(), "no input file was given");
    for (const std::string& file : files) format_of(file).read(file, options, table);
    if (!table.has_rows) {
        const std::string others =
            files.size() == 1 ? "" : fmt::format(" and {} more", data::counted(files.size() - 1, "file"));
        core::refuse("{}{}: no rows are left: all {} rows had a missing value", data::display_name(files.front()),
                     others, table.dropped);
    }
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
    return format_of(file).numeric_columns(file, options);
}

std::vector<std::string> column_names(const std::string& file, const ReadOptions& options) {
    return format_of(file).column_names(file, options);
}

}  // namespace accrue
