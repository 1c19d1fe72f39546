// Files that are not trusted, read by a process that may crash.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"
#include "data/table_builder.hpp"

namespace accrue::data {

// Runs `work` in a child process that has limits on memory and processor time, and hands everything that it sends to
// `receive` here. Errors of `work` are thrown here, and its crash, or a limit that it met, is an InputError that names
// the file. What comes from the child is bytes: `receive` believes none of them.
using Send = std::function<void(std::string_view bytes)>;
void run_isolated(const std::string& file, const std::function<void(const Send& send)>& work,
                  const std::function<void(std::string_view bytes)>& receive);

// read(file, options, table) by a child; the table gets its rows.
void read_isolated(const std::string& file, const ReadOptions& options, TableBuilder& table,
                   void (*read)(const std::string& file, const ReadOptions& options, TableBuilder& table));

// list(file, options) by a child.
std::vector<std::string> list_isolated(const std::string& file, const ReadOptions& options,
                                       std::vector<std::string> (*list)(const std::string& file,
                                                                        const ReadOptions& options));

}  // namespace accrue::data
