// Rows in, the same rows out with columns added: what `accrue predict` does to files. A block of rows at a time, so
// that memory does not grow with the rows.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "accrue/table.hpp"

namespace accrue::data {

// A column to add. In NetCDF it becomes a variable with the rows' dimensions and these attributes; columns that have a
// probability become one variable `quantiles` along a dimension `quantile`.
struct AddedColumn {
    std::string name;
    std::string long_name;
    bool flag = false;              // 0 or 1, written as an integer
    bool has_units_of_rows = true;  // NetCDF: units are those of the variable that defines the rows
    double probability = std::numeric_limits<double>::quiet_NaN();
};

// A column that `compute` gets as numbers; NaN where a value is missing.
struct TransformInput {
    std::string name;
    Kind kind = Kind::number;
    std::function<double(const std::string& label)> code = {};  // of a text
    bool may_be_missing = false;  // else a row without it has no results, whatever `compute` makes of it
};

struct TransformPlan {
    std::vector<TransformInput> inputs;
    // NetCDF: the variable whose dimensions are the rows. Empty: the rows have all dimensions of the inputs, in the
    // order of the (first) input with the most of them; what the other inputs add follows, an unlimited dimension
    // leads.
    std::string rows_of;
    std::vector<AddedColumn> added;  // columns that `compute` fills; NaN becomes an empty cell or the fill value
    std::string history;             // NetCDF: line added to the `history` attribute (without the time)
    bool header = true;              // CSV
    MissingMarks marks = {};
    bool isolate = false;  // NetCDF: all of it by a child process, see ReadOptions::isolate
};

// values[k] holds the block's values of inputs[k]; results[k] receives those of added[k]; `first` is the number of the
// block's first row, counted from 0 through all files. Called from several threads
// at once, each with a block of its own, so it must not change anything that they share. Where files are cut into
// blocks depends on their bytes and, in a pipe, on when these arrive: a row's results must not depend on the rows
// beside it. Every column begins at a multiple of 64 bytes.
using ComputeRows = std::function<void(std::span<const std::span<const double>> values,
                                       std::span<const std::span<double>> results, std::size_t first)>;

// Reads `files` ("-" is standard input), writes `output` ("-" is standard output). CSV gives CSV, NetCDF gives NetCDF.
// Every column of the input is kept, in CSV to the letter. A row in which an input is missing keeps its place, and all
// its added values are missing. Memory does not grow with the rows, and the bytes
// written do not depend on the number of threads. `output` appears when all has succeeded, and may be one of the files;
// what goes to a pipe goes as rows come. Throws InputError when an input is missing, a name to add is taken, the files'
// headers differ, a cell cannot be read, or the formats do not fit; an exception of `compute` is passed on.
void transform_rows(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                    const ComputeRows& compute);

}  // namespace accrue::data
