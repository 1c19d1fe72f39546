// Columns computed from columns: "mean(forecast*)", "sqrt(x)", "t2m - dew_point". docs/columns.md describes what can be
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace accrue {

// Sums, differences, products, quotients and a few functions of columns and numbers. It can do nothing else: no loops,
// no files, and its time is that of its length.
class Expression {
public:
    // Names and patterns are looked up among `names`, the columns of `where` ("archive.csv", for messages). Throws
    // InputError for a text that is no expression, an unknown function, a name or pattern without a column.
    Expression(std::string_view text, std::span<const std::string> names, const std::string& where);

    // The same expression with its patterns written out, in one spelling ("x + 1" for "x+1"): it means the same columns
    // among other names.
    const std::string& text() const { return text_; }
    // Whether it is nothing but a column, as the name in quotes is.
    bool is_column() const { return steps_.size() == 1; }
    // The operands: columns in the order in which they first appear, each once.
    const std::vector<std::string>& columns() const { return columns_; }

    // Of a row, whose operands are finite or missing (NaN): the value, NaN where an operand is missing, and infinity
    // where any step is not finite (division by zero, the root of a negative number), whatever follows from it.
    double value(std::span<const double> operands) const;
    // Of all rows; operands[k] are the values of columns()[k]. Throws InputError "row 3: x / y divides by zero: ...".
    std::vector<double> values(std::span<const std::span<const double>> operands) const;
    // Why value() is infinite: "y / x divides by zero: y = 1, x = 0".
    std::string problem(std::span<const double> operands) const;

    enum class Operation : std::uint8_t {
        number,
        column,
        negate,
        add,
        subtract,
        multiply,
        divide,
        sqrt,
        log,
        exp,
        abs,
        mean,
        spread,
        min,
        max,
        sum
    };
    // In the order of computation: each takes its arguments from the end of a stack and leaves its result there.
    struct Step {
        Operation operation;
        std::size_t arguments = 0;  // of functions of several
        std::size_t column = 0;     // among columns()
        double number = 0;
    };

private:
    std::string text_;
    std::vector<std::string> columns_;
    std::vector<Step> steps_;
    std::size_t deepest_ = 0;  // of the stack
};

// What `name` means where no column is called so: an expression, or nothing when it can only be a misspelt name. Throws
// as Expression.
std::optional<Expression> computed_column(const std::string& name, std::span<const std::string> names,
                                          const std::string& where);

// The columns that a pattern such as "P*" or "t?" stands for, in their order; nothing when the text is no pattern.
std::optional<std::vector<std::string>> matching_columns(std::string_view text, std::span<const std::string> names);

// The columns that an expression names, whether they exist or not; none when it is not an expression.
std::vector<std::string> named_columns(std::string_view text);

// "a,mean(b,c),'d,e'" at its commas outside of parentheses and quotes, blanks around the parts left out.
std::vector<std::string> split_columns(std::string_view list);

}  // namespace accrue
