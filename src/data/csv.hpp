// Reading delimited text: comma, semicolon, tab or blanks.
#pragma once

#include <string>
#include <vector>

#include "accrue/table.hpp"
#include "data/table_builder.hpp"

namespace accrue::data {

// Appends the rows of the file. Throws InputError for the first bad place in it.
void read_csv(const std::string& file, const ReadOptions& options, TableBuilder& table);

std::vector<std::string> csv_column_names(const std::string& file, const ReadOptions& options);

std::vector<std::string> csv_numeric_columns(const std::string& file, const ReadOptions& options);

}  // namespace accrue::data
