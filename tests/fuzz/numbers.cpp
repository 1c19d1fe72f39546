// Numbers in cells against strtod: the same doubles to the last bit, and the same texts taken for numbers.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>

#include "data/cells.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

using data::CellState;
using data::NumberCell;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::size_t digits(std::string_view text, std::size_t& at) {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - from;
}

// 12, 12., .5, 1.5e-3; `exponent` is the letters that may begin an exponent.
bool is_decimal(std::string_view text, std::string_view exponent) {
    std::size_t at = text.starts_with('-') ? 1 : 0;
    std::size_t count = digits(text, at);
    if (at < text.size() && text[at] == '.') count += digits(text, ++at);
    if (count == 0) return false;
    if (at == text.size()) return true;
    if (exponent.find(text[at]) == std::string_view::npos) return false;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    return digits(text, at) > 0 && at == text.size();
}

// nan, nan(chars), inf, infinity in any case.
bool is_special(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (lower == "inf" || lower == "infinity" || lower == "nan") return true;
    if (!lower.starts_with("nan(") || !lower.ends_with(')')) return false;
    const auto word = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || c == '_'; };
    return std::all_of(lower.begin() + 4, lower.end() - 1, word);
}

NumberCell classified(const std::string& text) {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const double value = std::strtod(text.c_str(), nullptr);
    if (std::isfinite(value)) return {value, CellState::good};
    if (std::isnan(value)) return {kNaN, CellState::missing};
    return {kNaN, std::any_of(text.begin(), text.end(), is_digit) ? CellState::too_large : CellState::not_finite};
}

NumberCell plain(std::string_view cell) {
    constexpr NumberCell kNone = {std::numeric_limits<double>::quiet_NaN(), CellState::not_a_number};
    std::string_view text = data::trim(cell);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
        text = data::trim(text.substr(1, text.size() - 2));
    for (const char* missing : {"", "NA", "NaN", "nan", "null"})
        if (text == missing) return {kNone.value, CellState::missing};
    if (text.front() == '+') {
        text.remove_prefix(1);
        if (text.starts_with('-')) return kNone;
    }
    std::string copy(text);
    if (is_decimal(text, "eE") || is_special(text)) return classified(copy);
    // Fortran's 1.5D+03; one that fills a page is none.
    if (text.size() > 1024 || !is_decimal(text, "dD")) return kNone;
    std::replace(copy.begin(), copy.end(), 'd', 'e');
    std::replace(copy.begin(), copy.end(), 'D', 'e');
    return classified(copy);
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    const std::string_view cell = Bytes(input).rest();
    const NumberCell found = data::parse_number(cell);
    const NumberCell expected = plain(cell);
    expect(found.state == expected.state && same_bits(found.value, expected.value),
           "'{}' is {} (state {}), strtod has {} (state {})", cell, found.value, static_cast<int>(found.state),
           expected.value, static_cast<int>(expected.state));

    const std::string pointed = data::with_decimal_point(cell);
    expect(pointed.empty() || data::parse_number(pointed).state == CellState::good, "'{}' is not a number", pointed);

    // What is written comes back.
    const double value = Bytes(input).number();
    if (!std::isfinite(value)) return;
    for (const std::string& text : {fmt::format("{}", value), fmt::format("{:.17g}", value)})
        expect(same_bits(data::parse_number(text).value, value), "'{}' does not come back", text);
}

}  // namespace accrue::fuzz
