// Where the rows that are used stand in their files, for messages.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accrue::data {

// Rows that follow one another in a file, each on the line after the one before. The run ends where the next begins.
struct RowRun {
    std::size_t used = 0;  // the first of them, among the rows that are used; counted from 0
    std::size_t row = 0;   // in the file, counted from 1, rows that were dropped too
    std::size_t line = 0;  // counted from 1; 0 where there are no lines
};

// Adds the place of the next row that is used to runs of them.
inline void add_place(std::vector<RowRun>& runs, const RowRun& next) {
    if (!runs.empty()) {
        const RowRun& last = runs.back();
        const std::size_t steps = next.used - last.used;
        if (last.row + steps == next.row && (next.line == 0 || last.line + steps == next.line)) return;
    }
    runs.push_back(next);
}

// The places of all rows of some files. A run takes three bytes or a few more, so that even where every other row was
// dropped a row takes less than two.
class RowPlaces {
public:
    using Dimensions = std::vector<std::pair<std::string, std::size_t>>;  // names and sizes

    // The rows to come are of this file; those of a grid are named by their coordinates.
    void begin_file(std::string file, Dimensions grid = {});
    Dimensions grid() const { return files_.empty() ? Dimensions{} : files_.back().grid; }
    // Runs of rows that come after `before` others of all files.
    void add(std::size_t before, std::span<const RowRun> runs);

    // "archive.csv row 17 (line 18)", "archive.nc at time=3, lat=10": of the rows that are used the one with this
    // number.
    std::string name(std::size_t used) const;

private:
    struct File {
        std::string name;
        Dimensions grid;
        RowRun first;  // of its runs
        RowRun last;
        std::string steps = {};  // from each run to the next: rows used, and by how much more row and line grow
    };

    std::vector<File> files_;
};

// What messages call a row: what its reader says, if any, else "row 17". Made when a message shows it: to find a row
// takes a while.
struct RowName {
    const std::function<std::string(std::size_t row)>& place;
    std::size_t row;

    std::string text() const;
};

}  // namespace accrue::data

template <>
struct fmt::formatter<accrue::data::RowName> : fmt::formatter<std::string> {
    template <typename Context>
    auto format(const accrue::data::RowName& name, Context& context) const {
        return fmt::formatter<std::string>::format(name.text(), context);
    }
};
