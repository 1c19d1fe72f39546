// What a cell of a text table says: a number, a text, or nothing.
#pragma once

#include <string>
#include <string_view>

namespace accrue::data {

inline bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

inline std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

enum class CellState {
    good,
    missing,
    not_a_number,
    too_large,  // finite as written, but beyond the doubles: 1e400
    not_finite  // written as an infinity
};

struct NumberCell {
    double value;  // NaN unless good
    CellState state;
};

// Reads a cell as it stands in the file, blanks and quotes around it included. Beyond what fast_float takes, a leading
// '+' and Fortran's exponent letter D are read. A NaN in any spelling counts as missing. No locale.
NumberCell parse_number(std::string_view cell) noexcept;

// The text of a cell without the blanks and quotes around it. `buffer` is used only where quotes are doubled, and has
// to live as long as the result.
std::string_view cell_text(std::string_view cell, std::string& buffer);

// Empty, NA, NaN, nan or null; `text` as cell_text gives it.
bool is_missing(std::string_view text) noexcept;

// "1.5" for "1,5"; empty when a decimal point would not make a number of it.
std::string with_decimal_point(std::string_view text);

}  // namespace accrue::data
