// Requested columns that a file lacks, and that are computed from some that it has, row by row.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "accrue/expression.hpp"
#include "accrue/table.hpp"

namespace accrue::data {

struct ComputedColumn {
    Expression expression;
    Rule rule = Rule::any;
    std::size_t column = 0;         // among those requested
    std::size_t first_operand = 0;  // its operands follow one another in the row's

    std::span<const double> operands(std::span<const double> row) const {
        return row.subspan(first_operand, expression.columns().size());
    }
    double value(std::span<const double> row) const { return expression.value(operands(row)); }
    // What is wrong with the value: not finite, or against the rule; empty when nothing is.
    std::string trouble(double value, std::span<const double> row) const;
};

}  // namespace accrue::data
