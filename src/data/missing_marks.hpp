// Marks of missing values, as the reader of one column needs them.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"
#include "data/cells.hpp"

namespace accrue::data {

// `texts` are those of the MissingMarks, which have to live as long.
class ColumnMarks {
public:
    ColumnMarks() = default;
    ColumnMarks(const MissingMarks& marks, const std::string& column);

    bool empty() const { return values_.empty() && texts_.empty(); }
    std::span<const double> values() const { return values_; }
    bool holds(double value) const { return std::find(values_.begin(), values_.end(), value) != values_.end(); }
    bool holds(std::string_view text) const { return std::find(texts_.begin(), texts_.end(), text) != texts_.end(); }
    // The cell as a number, missing where it is marked so.
    NumberCell parse(std::string_view cell) const;
    // The cell's text as cell_text gives it. Labels may be numbers too.
    bool is_missing(std::string_view text) const;

private:
    std::vector<double> values_;
    std::span<const std::string> texts_;
};

// Throws InputError unless the file has all columns for which there are marks.
void require_marked_columns(const MissingMarks& marks, const std::vector<std::string>& names, const std::string& file);

}  // namespace accrue::data
