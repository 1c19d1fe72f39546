// A table while files are read into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "accrue/table.hpp"
#include "data/row_places.hpp"

namespace accrue::data {

// How the times of a column are written.
enum class TimeForm { unknown, number, iso };

// The requested columns, each once, and the rows so far. A reader appends some rows of a file to every column, adds to
// rows and dropped, notes where they stand, and calls hand_over(), until the file is through. A column asked for twice
// has the stricter rule and kind (a number, not just a time), and may be missing only if it may be in both; as number
// and as text it is two columns.
struct TableBuilder {
    struct NumberColumn {
        std::string name;
        Kind kind;  // number or time
        Rule rule;
        std::vector<double> values;
        bool may_be_missing = false;
        TimeForm form = TimeForm::unknown;  // of times, in the files so far
    };
    struct LabelColumn {
        std::string name;
        TextColumn column;
        bool may_be_missing = false;
        std::unordered_map<std::string, std::uint32_t> codes;

        // The code of the label, new at its first appearance.
        std::uint32_t code(std::string_view label);
    };

    // Without `use` the rows of all files come together; else it gets them as they come, and they are forgotten.
    explicit TableBuilder(const std::vector<ColumnRequest>& requests, std::function<void(const Table& slab)> use = {});
    void hand_over();
    bool keeps_rows() const { return !use_; }
    Table finish() &&;

    std::string first;  // the column that was asked for first
    std::vector<NumberColumn> numbers;
    std::vector<LabelColumn> texts;
    std::size_t rows = 0;      // that have not been handed over
    std::vector<RowRun> runs;  // where these stand in the file that is read
    // Of all rows of all files; a reader begins its file.
    std::shared_ptr<RowPlaces> places = std::make_shared<RowPlaces>();
    std::size_t dropped = 0;  // of all files
    bool has_rows = false;    // whether there have been any

private:
    std::function<void(const Table& slab)> use_;
    std::size_t handed_over_ = 0;  // rows
};

}  // namespace accrue::data
