#include "data/netcdf_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace accrue::data {

namespace {

constexpr double kDay = 86400;

// Days from 1970-01-01 to a date of the Gregorian calendar, or of the Julian one. Years are counted from March, so that
// the leap day is the last of its year.
std::int64_t days_to(std::int64_t year, std::int64_t month, std::int64_t day, bool gregorian) {
    const std::int64_t y = year - (month <= 2 ? 1 : 0);
    const auto floor_div = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
    const std::int64_t before_month = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;
    const std::int64_t leaps =
        gregorian ? floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) : floor_div(y, 4) - 2;
    constexpr std::int64_t kMarchOfYear0 = 719468;  // days from 0000-03-01 (Gregorian) to 1970-01-01
    return 365 * y + leaps + before_month + day - 1 - kMarchOfYear0;
}

std::int64_t days_in(std::int64_t year, std::int64_t month, bool gregorian) {
    const bool december = month == 12;
    return days_to(december ? year + 1 : year, december ? 1 : month + 1, 1, gregorian) -
           days_to(year, month, 1, gregorian);
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

// Takes pieces from the front of a text.
class Pieces {
public:
    explicit Pieces(std::string_view text) : rest_(text) {}
    bool done() const { return rest_.empty(); }
    bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }
    bool next_is_digit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
    bool take(char c) {
        if (!next_is(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void blanks() {
        while (next_is(' ') || next_is('\t')) rest_.remove_prefix(1);
    }
    std::string_view word() {
        const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
        rest_.remove_prefix(word.size());
        blanks();
        return word;
    }
    template <typename Number>
    bool number(Number& value) {
        if (!next_is_digit()) return false;
        const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (result.ec != std::errc{}) return false;
        rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
        return true;
    }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

double unit_seconds(std::string_view unit) {
    struct Unit {
        double seconds;
        std::array<std::string_view, 6> names;
    };
    constexpr std::array<Unit, 8> kUnits = {{
        {7 * kDay, {"weeks", "week"}},
        {kDay, {"days", "day", "d"}},
        {3600, {"hours", "hour", "hrs", "hr", "h"}},
        {60, {"minutes", "minute", "mins", "min"}},
        {1, {"seconds", "second", "secs", "sec", "s"}},
        {1e-3, {"milliseconds", "millisecond", "msecs", "msec", "ms"}},
        {1e-6, {"microseconds", "microsecond", "us"}},
        {1e-9, {"nanoseconds", "nanosecond", "ns"}},
    }};
    for (const Unit& known : kUnits)
        if (!unit.empty() && std::find(known.names.begin(), known.names.end(), unit) != known.names.end())
            return known.seconds;
    return 0;
}

// "12", "12:30", "12:30:15.5" in seconds; false when it reads otherwise.
bool clock(Pieces& text, double& seconds) {
    int hours = 0;
    int minutes = 0;
    double rest = 0;
    if (!text.number(hours)) return false;
    if (text.take(':')) {
        if (!text.number(minutes)) return false;
        if (text.take(':') && !text.number(rest)) return false;
    }
    if (hours > 24 || minutes > 59 || rest >= 61) return false;
    seconds = hours * 3600.0 + minutes * 60.0 + rest;
    return true;
}

}  // namespace

bool are_time_units(std::string_view units) {
    const std::string lowered = lower(units);
    Pieces text(lowered);
    while (!text.done())
        if (text.word() == "since") return true;
    return false;
}

std::optional<TimeScale> parse_time_units(std::string_view units, std::string_view calendar) {
    const std::string rule = lower(calendar);
    const bool mixed = rule.empty() || rule == "standard" || rule == "gregorian";
    if (!mixed && rule != "proleptic_gregorian") return std::nullopt;

    const std::string lowered = lower(units);
    Pieces text(lowered);
    text.blanks();
    TimeScale scale;
    scale.seconds = unit_seconds(text.word());
    if (scale.seconds == 0 || text.word() != "since") return std::nullopt;

    const bool negative = text.take('-');
    std::int64_t year = 0;
    std::int64_t month = 0;
    std::int64_t day = 0;
    if (!text.number(year) || !text.take('-') || !text.number(month) || !text.take('-') || !text.number(day))
        return std::nullopt;
    constexpr std::int64_t kLastYear = 1'000'000;
    if (year > kLastYear || month < 1 || month > 12) return std::nullopt;
    if (negative) year = -year;
    const bool gregorian = !mixed || std::array{year, month, day} >= std::array<std::int64_t, 3>{1582, 10, 15};
    if (day < 1 || day > days_in(year, month, gregorian)) return std::nullopt;

    double of_day = 0;
    double zone = 0;
    text.take('t');
    text.blanks();
    if (text.next_is_digit() && !clock(text, of_day)) return std::nullopt;
    text.blanks();
    if (text.next_is('+') || text.next_is('-')) {
        const bool west = text.take('-');
        if (!west) text.take('+');
        const std::size_t length = text.rest().size();
        if (length == 4 && text.rest().find(':') == std::string_view::npos) {
            int together = 0;  // 0530
            if (!text.number(together)) return std::nullopt;
            zone = together / 100 * 3600.0 + together % 100 * 60.0;
        } else if (!clock(text, zone)) {
            return std::nullopt;
        }
        if (west) zone = -zone;
    }
    const std::string_view name = text.word();
    if (!(name.empty() || name == "z" || name == "utc" || name == "gmt" || name == "0") || !text.done())
        return std::nullopt;

    scale.origin = static_cast<double>(days_to(year, month, day, gregorian)) * kDay + of_day - zone;
    return scale;
}

}  // namespace accrue::data
