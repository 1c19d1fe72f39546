// What an input is: a number, or something that becomes numbers before a model takes it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/table.hpp"

namespace accrue {

enum class InputKind {
    number,
    category,  // a text or number that names something, such as a station: every value has an effect of its own
    cyclic,    // a number that comes round again, such as a direction: sine and cosine
    season,    // of a time: where it lies in the year, as sine and cosine
    hour       // of a time: where it lies in the day (UTC), as sine and cosine
};
std::vector<std::string> input_kind_names();  // in the order of InputKind

struct Input {
    std::string column;
    InputKind kind = InputKind::number;
    double period = 0;  // of a cyclic one

    // As it is written, "wdir:cyclic(360)": what a model and its figures call the input.
    std::string name() const;
    // As it is read from files.
    ColumnRequest request() const;
    bool operator==(const Input&) const = default;
};

// From "lead", "station:category", "wdir:cyclic(360)", "valid_time:season". What follows the last colon is part of the
// column's name unless it is a kind. Throws InputError for a cyclic input without a period above 0.
Input parse_input(const std::string& text);
std::vector<Input> parse_inputs(std::span<const std::string> texts);

// The same where the columns of `where` ("archive.csv", for messages) are known: a text that is one of `names` is that
// column; quotes around a column are left out, and what is computed has one spelling, "zen + 1" for "zen+1". Patterns
// stay what they are. Throws InputError also for a kind that there is not, with the one that was probably meant.
Input parse_input(const std::string& text, std::span<const std::string> names, const std::string& where);

// Whether what the CF conventions say of a variable makes it a direction, which comes round again after 360 degrees:
// its unit is degrees, and its standard or long name has the word direction or azimuth.
bool is_direction(const std::string& units, const std::string& standard_name, const std::string& long_name);

// How many columns of numbers these become at most; with gaps that are filled in, each may have one more.
std::size_t max_columns(std::span<const Input> inputs, bool impute);

// What the values of an input in an Archive mean. Those of a category are places in its labels; NaN is missing.
struct InputType {
    InputKind kind = InputKind::number;
    double period = 0;
    std::span<const std::string> labels = {};
};

}  // namespace accrue
