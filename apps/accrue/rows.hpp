// The options by which a command is told where its rows are and which column plays which role.
#pragma once

#include <string>
#include <vector>

#include "accrue/archive.hpp"
#include "commands.hpp"

namespace accrue::app {

// What a command wants a column of times for.
enum class TimeUse { none, folds, judged, drawn };

// Adds FILE..., --prediction, --observation, --error, --weight, --group, --by, --missing, --missing-value, --na,
// --no-header, --isolate,
// --memory, --sample, --time where it has a use, and --fold-group where there are folds.
void add_row_options(CLI::App& command, RowSource& source, const std::string& files_help, TimeUse time);

// An option that takes several columns, separated by commas outside of parentheses and quotes.
CLI::Option* add_columns(CLI::App& command, const std::string& name, std::vector<std::string>& columns,
                         const std::string& description);

// --missing-value and --na
void add_missing_marks(CLI::App& command, MissingMarks& marks);

// Lines that tell what was odd about the rows, each with an end; empty when nothing was.
std::string remark_lines(const ReadRows& rows);

// --no-header
void add_no_header(CLI::App& command, bool& header);

// Throws when the output, the place of `what`, is one of the files to read, which would be lost.
void require_other_file(const std::string& output, const std::vector<std::string>& files, const char* what);

// Throws when a file of the source is none, but a column of another one: --inputs lead wdir, without a comma.
void require_no_column_among_files(const RowSource& source, const std::vector<std::string>& inputs);

}  // namespace accrue::app
