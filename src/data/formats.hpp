// The formats of files that rows come from, and that columns can be added to.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"
#include "data/table_builder.hpp"
#include "data/transform.hpp"

namespace accrue::data {

struct Format {
    const char* name;                         // for messages: "b.nc is ..."
    std::array<std::string_view, 3> endings;  // of names that promise this format; may be empty
    // Must not read from pipes or standard input: what it took would be gone.
    bool (*recognises)(const std::string& file);
    void (*read)(const std::string& file, const ReadOptions& options, TableBuilder& table);
    std::vector<std::string> (*column_names)(const std::string& file, const ReadOptions& options);
    std::vector<std::string> (*numeric_columns)(const std::string& file, const ReadOptions& options);
    // What the file says of its variables: inputs by default, with their kinds; texts that name what rows share.
    std::vector<std::string> (*described_inputs)(const std::string& file, const ReadOptions& options);
    std::vector<std::string> (*repeated_labels)(const std::string& file, const ReadOptions& options);
    void (*transform)(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                      const ComputeRows& compute);
    bool can_crash;  // the library that reads it, by damaged files: ReadOptions::isolate
};

std::span<const Format> all_formats();

// The first that recognises the file; text tables take whatever is left.
const Format& format_of(const std::string& file);

}  // namespace accrue::data
