#include "data/row_places.hpp"

#include <fmt/format.h>

#include "accrue/messages.hpp"

namespace accrue::data {

namespace {

constexpr unsigned kBits = 7;  // of a number in a byte; the eighth says that more follow
constexpr unsigned kMore = 1U << kBits;

void put(std::string& bytes, std::size_t number) {
    for (; number >= kMore; number >>= kBits) bytes.push_back(static_cast<char>(number % kMore + kMore));
    bytes.push_back(static_cast<char>(number));
}

std::size_t take(std::string_view& bytes) {
    std::size_t number = 0;
    for (unsigned shift = 0;; shift += kBits) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        number |= static_cast<std::size_t>(byte % kMore) << shift;
        if (byte < kMore) return number;
    }
}

std::string place_in_grid(const RowPlaces::Dimensions& grid, std::size_t row) {
    std::vector<std::size_t> index(grid.size());
    for (std::size_t d = grid.size(); d-- > 0; row /= grid[d].second) index[d] = row % grid[d].second;
    std::string text;
    for (std::size_t d = 0; d < grid.size(); ++d)
        text += fmt::format("{}{}={}", d == 0 ? " at " : ", ", printable(grid[d].first), index[d]);
    return text;
}

}  // namespace

void RowPlaces::begin_file(std::string file, Dimensions grid) {
    files_.push_back({std::move(file), std::move(grid), {}, {}});
}

void RowPlaces::add(std::size_t before, std::span<const RowRun> runs) {
    if (runs.empty()) return;
    File& file = files_.back();
    for (RowRun run : runs) {
        run.used += before;
        if (file.first.row == 0) {
            file.first = file.last = run;
            continue;
        }
        const std::size_t steps = run.used - file.last.used;
        put(file.steps, steps);
        put(file.steps, run.row - file.last.row - steps);
        if (run.line > 0) put(file.steps, run.line - file.last.line - steps);
        file.last = run;
    }
}

std::string RowPlaces::name(std::size_t used) const {
    const File* file = nullptr;
    for (const File& own : files_)
        if (own.first.row > 0 && own.first.used <= used) file = &own;
    if (file == nullptr) return fmt::format("row {}", used + 1);
    RowRun run = file->first;
    for (std::string_view left = file->steps; !left.empty();) {
        RowRun next = run;
        const std::size_t steps = take(left);
        next.used += steps;
        next.row += steps + take(left);
        if (run.line > 0) next.line += steps + take(left);
        if (next.used > used) break;
        run = next;
    }
    const std::size_t row = run.row + (used - run.used);
    const std::string where = display_name(file->name);
    if (!file->grid.empty()) return where + place_in_grid(file->grid, row - 1);
    if (run.line == 0) return fmt::format("{} row {}", where, row);
    return fmt::format("{} row {} (line {})", where, row, run.line + (used - run.used));
}

std::string RowName::text() const {
    return place ? place(row) : fmt::format("row {}", row + 1);
}

}  // namespace accrue::data
