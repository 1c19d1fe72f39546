#include "accrue/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

#include "core/error.hpp"

namespace accrue {

namespace {

// The length of the well-formed UTF-8 character at the front of `text`, 0 when there is none. Overlong forms and
// surrogates pass: terminals show a replacement for them.
std::size_t utf8_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
    return length;
}

// U+0080 to U+009F are control characters too, and some terminals obey them.
bool is_control(std::string_view character) {
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return first < 0x20 || first == 0x7F;
    return character.size() == 2 && first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

// The least number of letters exchanged, left out, added or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
    std::string shown;
    while (!text.empty()) {
        if (shown.size() >= longest) return shown + "...";
        const std::size_t length = utf8_length(text);
        if (length == 0 || is_control(text.substr(0, length))) {
            fmt::format_to(std::back_inserter(shown), "\\x{:02x}", static_cast<unsigned char>(text.front()));
            text.remove_prefix(1);
        } else {
            shown += text.substr(0, length);
            text.remove_prefix(length);
        }
    }
    return shown;
}

std::string display_name(const std::string& path) {
    return path == "-" ? "standard input" : printable(path, std::numeric_limits<std::size_t>::max());
}

Message value_is_missing() {
    return core::message("value is missing; use {} to skip such rows", core::option("missing", "drop"));
}

std::string counted(std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string nearest_name(const std::string& wanted, const std::vector<std::string>& names) {
    // Nobody mistypes a name this long, and the distance costs length times length.
    constexpr std::size_t kLongest = 200;
    const std::string low = lower_case(wanted);
    if (low.empty() || low.size() > kLongest) return {};
    std::string nearest;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const std::string& name : names) {
        if (name.empty() || name.size() > kLongest) continue;
        const std::size_t longer = std::max(low.size(), name.size());
        const std::size_t distance = edit_distance(low, lower_case(name));
        // One letter in three may differ: enough for slips, too little to suggest 'y' for 'mu'.
        if (distance <= longer / 3 && distance < least) {
            least = distance;
            nearest = name;
        }
    }
    if (!nearest.empty()) return nearest;
    for (const std::string& name : names)
        if (low.size() >= 2 && lower_case(name).rfind(low, 0) == 0) return name;
    return {};
}

std::string suggestion(const std::string& wanted, const std::vector<std::string>& names) {
    const std::string nearest = nearest_name(wanted, names);
    return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", printable(nearest));
}

std::string name_list(const std::vector<std::string>& names, std::size_t most) {
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
        if (i > 0) list += ", ";
        list += printable(names[i]);
    }
    if (names.size() > most) list += fmt::format(", ... ({} in all)", names.size());
    return list;
}

}  // namespace accrue
