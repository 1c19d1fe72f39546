#include "data/missing_marks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "accrue/messages.hpp"
#include "core/error.hpp"

namespace accrue::data {

ColumnMarks::ColumnMarks(const MissingMarks& marks, const std::string& column)
    : values_(marks.values), texts_(marks.texts) {
    for (const auto& [name, value] : marks.of_columns)
        if (name == column) values_.push_back(value);
}

NumberCell ColumnMarks::parse(std::string_view cell) const {
    const NumberCell number = parse_number(cell);
    if (empty()) return number;
    constexpr NumberCell kMissing = {std::numeric_limits<double>::quiet_NaN(), CellState::missing};
    if (number.state == CellState::good && holds(number.value)) return kMissing;
    std::string buffer;
    return !texts_.empty() && holds(trim(cell_text(cell, buffer))) ? kMissing : number;
}

bool ColumnMarks::is_missing(std::string_view text) const {
    if (data::is_missing(text) || holds(trim(text))) return true;
    if (values_.empty()) return false;
    const NumberCell number = parse_number(text);
    return number.state == CellState::good && holds(number.value);
}

void require_marked_columns(const MissingMarks& marks, const std::vector<std::string>& names, const std::string& file) {
    for (const auto& [name, value] : marks.of_columns) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        const std::string nearest = nearest_name(name, names);
        core::refuse("{}: {} has no column '{}'{} Columns: {}", core::option("missing_value"), display_name(file),
                     printable(name), nearest.empty() ? "." : fmt::format("; did you mean '{}'?", printable(nearest)),
                     name_list(names));
    }
}

}  // namespace accrue::data
