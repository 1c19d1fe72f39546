#include "data/cells.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>

namespace accrue::data {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool is_digit_or_point(char c) {
    return (c >= '0' && c <= '9') || c == '.';
}

NumberCell classify(double value, std::string_view text) noexcept {
    if (std::isfinite(value)) return {value, CellState::good};
    if (std::isnan(value)) return {kNaN, CellState::missing};
    const bool digits = std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return {kNaN, digits ? CellState::too_large : CellState::not_finite};
}

// The forms that fast_float does not take, and everything that is no number.
NumberCell parse_unusual(std::string_view text) noexcept {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = trim(text.substr(1, text.size() - 2));
    if (is_missing(text)) return {kNaN, CellState::missing};

    std::string_view digits = text;
    if (digits.front() == '+') {
        digits.remove_prefix(1);
        if (digits.empty() || digits.front() == '-') return {kNaN, CellState::not_a_number};
    }
    double value = kNaN;
    const char* end = digits.data() + digits.size();
    const auto plain = fast_float::from_chars(digits.data(), end, value);
    if (plain.ec != std::errc{}) return {kNaN, CellState::not_a_number};
    if (plain.ptr == end) return classify(value, digits);

    // Fortran's double precision: 1.0D+03. The letter follows a digit or a point, so that "nand" stays text.
    if ((*plain.ptr == 'D' || *plain.ptr == 'd') && is_digit_or_point(plain.ptr[-1])) {
        constexpr std::size_t kLongest = 1024;  // far beyond any number that a program prints
        char copy[kLongest];
        if (digits.size() > kLongest) return {kNaN, CellState::not_a_number};
        std::copy(digits.begin(), digits.end(), copy);
        copy[plain.ptr - digits.data()] = 'e';
        const auto fortran = fast_float::from_chars(copy, copy + digits.size(), value);
        if (fortran.ec == std::errc{} && fortran.ptr == copy + digits.size()) return classify(value, digits);
    }
    return {kNaN, CellState::not_a_number};
}

}  // namespace

NumberCell parse_number(std::string_view cell) noexcept {
    const std::string_view text = trim(cell);
    double value = kNaN;
    const char* end = text.data() + text.size();
    const auto result = fast_float::from_chars(text.data(), end, value);
    if (result.ec == std::errc{} && result.ptr == end && std::isfinite(value)) [[likely]]
        return {value, CellState::good};
    return parse_unusual(text);
}

std::string_view cell_text(std::string_view cell, std::string& buffer) {
    std::string_view text = trim(cell);
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
    text = text.substr(1, text.size() - 2);
    if (text.find('"') == std::string_view::npos) return text;
    buffer.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        buffer += text[i];
        if (text[i] == '"') ++i;  // inside a quoted cell quotes come in pairs
    }
    return buffer;
}

bool is_missing(std::string_view text) noexcept {
    text = trim(text);
    return text.empty() || text == "NA" || text == "NaN" || text == "nan" || text == "null";
}

std::string with_decimal_point(std::string_view text) {
    constexpr std::size_t kLongest = 64;
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || text.size() > kLongest) return {};
    std::string pointed(text);
    pointed[comma] = '.';
    return parse_number(pointed).state == CellState::good ? pointed : std::string();
}

}  // namespace accrue::data
