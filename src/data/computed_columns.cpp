#include "data/computed_columns.hpp"

#include <fmt/format.h>

#include <cmath>

#include "accrue/messages.hpp"

namespace accrue::data {

std::string ComputedColumn::trouble(double value, std::span<const double> row) const {
    if (std::isinf(value)) return expression.problem(operands(row));
    const std::string name = printable(expression.text());
    if (rule == Rule::positive && !(value > 0) && !std::isnan(value))
        return fmt::format("{} must be positive; it is {}", name, value);
    if (rule == Rule::not_negative && value < 0) return fmt::format("{} must not be negative; it is {}", name, value);
    return {};
}

}  // namespace accrue::data
