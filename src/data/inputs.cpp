#include "accrue/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "accrue/expression.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"

namespace accrue {

namespace {

constexpr std::array<std::string_view, 5> kNames = {"number", "category", "cyclic", "season", "hour"};

// What other programs call them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kOtherWords = {{{"categorical", "category"},
                                                                                       {"factor", "category"},
                                                                                       {"text", "category"},
                                                                                       {"circular", "cyclic"},
                                                                                       {"periodic", "cyclic"},
                                                                                       {"angle", "cyclic"},
                                                                                       {"annual", "season"},
                                                                                       {"diurnal", "hour"}}};

// A word behind a colon, and what stands in parentheses behind it.
struct Suffix {
    std::string_view word;
    std::string_view period;
};

Suffix suffix_of(std::string_view text) {
    if (const std::size_t open = text.find('('); open != std::string_view::npos && text.back() == ')')
        return {text.substr(0, open), text.substr(open + 1, text.size() - open - 2)};
    return {text, {}};
}

bool contains(std::span<const std::string> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The name in quotes, when quotes around a name are all of the text.
std::string without_quotes(const std::string& text) {
    const bool quoted = text.size() > 2 && std::string_view("'\"`").find(text.front()) != std::string_view::npos &&
                        text.find(text.front(), 1) == text.size() - 1;
    return quoted ? text.substr(1, text.size() - 2) : text;
}

// "station:categry", where station is a column.
void require_kind(const std::string& text, std::span<const std::string> names, const std::string& where) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || !contains(names, without_quotes(text.substr(0, colon)))) return;
    const Suffix suffix = suffix_of(std::string_view(text).substr(colon + 1));
    const std::string word(suffix.word);
    std::string nearest = nearest_name(word, input_kind_names());
    for (const auto& [other, kind] : kOtherWords)
        if (word == other) nearest = kind;
    std::string meant;
    if (!nearest.empty()) {
        meant = text.substr(0, colon + 1) + nearest;
        if (nearest == "cyclic")
            meant += fmt::format("({})", suffix.period.empty() ? std::string_view("360") : suffix.period);
        meant = fmt::format("; did you mean '{}'?", printable(meant));
    }
    core::refuse(
        "{}: {} has no column '{}', and '{}' is not a kind of input{} Kinds: category, cyclic(PERIOD), season, "
        "hour, number",
        core::option("inputs"), where, printable(text), printable(word), meant.empty() ? "." : meant);
}

}  // namespace

std::vector<std::string> input_kind_names() {
    return {kNames.begin(), kNames.end()};
}

std::string Input::name() const {
    if (kind == InputKind::number) return column;
    const std::string_view own = kNames[static_cast<std::size_t>(kind)];
    return kind == InputKind::cyclic ? fmt::format("{}:{}({})", column, own, period)
                                     : fmt::format("{}:{}", column, own);
}

ColumnRequest Input::request() const {
    switch (kind) {
        case InputKind::category:
            return {column, Kind::text};
        case InputKind::season:
        case InputKind::hour:
            return {column, Kind::time};
        default:
            return {column};
    }
}

Input parse_input(const std::string& text) {
    core::require(!text.empty(), "{} names a column without a name", core::option("inputs"));
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) return {text};
    const auto [word, period] = suffix_of(std::string_view(text).substr(colon + 1));
    const auto found = std::find(kNames.begin(), kNames.end(), word);
    if (found == kNames.end()) return {text};
    Input input{text.substr(0, colon), static_cast<InputKind>(found - kNames.begin())};
    const char* end = period.data() + period.size();
    if (input.kind == InputKind::cyclic) {
        const auto read = std::from_chars(period.data(), end, input.period);
        core::require(!period.empty() && read.ec == std::errc{} && read.ptr == end && std::isfinite(input.period) &&
                          input.period > 0,
                      "the input '{}' needs a period above 0, after which its values come round again: {}:cyclic(360)",
                      text, input.column);
    } else {
        core::require(period.empty(), "the input '{}': only a cyclic one has a period", text);
    }
    return input;
}

Input parse_input(const std::string& text, std::span<const std::string> names, const std::string& where) {
    if (contains(names, text)) return {text};
    Input input = parse_input(text);
    if (contains(names, input.column)) return input;
    if (input.column == text) require_kind(text, names, where);
    if (const std::string name = without_quotes(input.column); contains(names, name)) {
        input.column = name;
        return input;
    }
    const bool is_number = input.kind == InputKind::number || input.kind == InputKind::cyclic;
    if (!is_number || matching_columns(input.column, names)) return input;
    const auto expression = computed_column(input.column, names, where);
    // A column may be called as the expression would be written.
    if (expression && !contains(names, expression->text())) input.column = expression->text();
    return input;
}

bool is_direction(const std::string& units, const std::string& standard_name, const std::string& long_name) {
    std::string unit, names = standard_name + " " + long_name;
    for (const char c : units)
        if (std::isalpha(static_cast<unsigned char>(c)) != 0)
            unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (char& c : names) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    constexpr std::array<std::string_view, 6> kDegrees = {"deg",        "degree",      "degrees",
                                                          "degreetrue", "degreestrue", "degtrue"};
    return std::find(kDegrees.begin(), kDegrees.end(), unit) != kDegrees.end() &&
           (names.find("direction") != std::string::npos || names.find("azimuth") != std::string::npos);
}

std::vector<Input> parse_inputs(std::span<const std::string> texts) {
    std::vector<Input> inputs;
    for (const std::string& text : texts) inputs.push_back(parse_input(text));
    return inputs;
}

std::size_t max_columns(std::span<const Input> inputs, bool impute) {
    std::size_t count = 0;
    for (const Input& input : inputs)
        count += (input.kind == InputKind::number || input.kind == InputKind::category ? 1 : 2) + (impute ? 1 : 0);
    return count;
}

}  // namespace accrue
