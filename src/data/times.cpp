#include "data/times.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

namespace accrue::data {

namespace {

constexpr TimeText kNotATime = {std::numeric_limits<double>::quiet_NaN(), TimeState::not_a_time};
constexpr TimeText kNoSuchTime = {std::numeric_limits<double>::quiet_NaN(), TimeState::no_such_time};

// Takes a text apart from its front.
class Cursor {
public:
    explicit Cursor(std::string_view text) : left_(text) {}

    bool at_end() const { return left_.empty(); }
    bool at_digit() const { return !left_.empty() && left_.front() >= '0' && left_.front() <= '9'; }

    bool take(char wanted) {
        if (left_.empty() || left_.front() != wanted) return false;
        left_.remove_prefix(1);
        return true;
    }
    bool take_digits(int count, int& value) {
        value = 0;
        for (; count > 0; --count) {
            if (!at_digit()) return false;
            value = 10 * value + take_digit();
        }
        return true;
    }
    int take_digit() {
        const int digit = left_.front() - '0';
        left_.remove_prefix(1);
        return digit;
    }

private:
    std::string_view left_;
};

struct Clock {
    int hour = 0;
    int minute = 0;
    int second = 0;
    double fraction = 0;  // of a second

    bool exists() const {
        const bool ends_the_day = hour == 24 && minute == 0 && second == 0 && fraction == 0;
        return (hour < 24 && minute < 60 && second <= 60) || ends_the_day;
    }
    std::int64_t seconds() const { return (std::int64_t{hour} * 60 + minute) * 60 + second; }
};

// At least one digit. Those beyond the 18th are far below what a double holds beside the whole seconds.
bool take_fraction(Cursor& cursor, double& fraction) {
    if (!cursor.at_digit()) return false;
    std::int64_t digits = 0;
    double scale = 1;
    for (int i = 0; cursor.at_digit(); ++i) {
        const int digit = cursor.take_digit();
        if (i >= 18) continue;
        digits = 10 * digits + digit;
        scale *= 10;
    }
    fraction = static_cast<double>(digits) / scale;
    return true;
}

bool take_clock(Cursor& cursor, Clock& clock) {
    if (!cursor.take_digits(2, clock.hour)) return false;
    if (!cursor.take(':')) return true;
    if (!cursor.take_digits(2, clock.minute)) return false;
    if (!cursor.take(':')) return true;
    if (!cursor.take_digits(2, clock.second)) return false;
    if (!cursor.take('.') && !cursor.take(',')) return true;
    return take_fraction(cursor, clock.fraction);
}

// How far the clock is ahead of UTC.
bool take_offset(Cursor& cursor, Clock& offset, bool& behind) {
    if (cursor.take('Z') || cursor.take('z') || cursor.at_end()) return true;
    behind = cursor.take('-');
    if (!behind && !cursor.take('+')) return false;
    if (!cursor.take_digits(2, offset.hour)) return false;
    if (cursor.at_end()) return true;
    cursor.take(':');
    return cursor.take_digits(2, offset.minute);
}

}  // namespace

TimeText parse_iso_time(std::string_view text) noexcept {
    Cursor cursor(text);
    int year = 0;
    int month = 0;
    int day = 1;
    if (!cursor.take_digits(4, year) || !cursor.take('-') || !cursor.take_digits(2, month)) return kNotATime;
    Clock clock;
    Clock offset;
    bool behind = false;
    if (!cursor.at_end()) {
        if (!cursor.take('-') || !cursor.take_digits(2, day)) return kNotATime;
        if (!cursor.at_end()) {
            if (!cursor.take('T') && !cursor.take('t') && !cursor.take(' ')) return kNotATime;
            if (!take_clock(cursor, clock) || !take_offset(cursor, offset, behind) || !cursor.at_end())
                return kNotATime;
        }
    }
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok() || !clock.exists() || offset.hour > 23 || offset.minute > 59) return kNoSuchTime;

    const std::chrono::seconds midnight = std::chrono::sys_days{date}.time_since_epoch();
    const std::int64_t whole = midnight.count() + clock.seconds() - (behind ? -offset.seconds() : offset.seconds());
    return {static_cast<double>(whole) + clock.fraction, TimeState::good};
}

std::string iso_time(double seconds) {
    constexpr double kDay = 86400;
    constexpr double kFirst = -62167219200;  // 0000-01-01
    constexpr double kEnd = 253402300800;    // 10000-01-01
    if (!(seconds >= kFirst && seconds < kEnd)) return fmt::format("{}", seconds);
    const double days = std::floor(seconds / kDay);
    const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{static_cast<std::int64_t>(days)}}};
    std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                   static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    const double rest = seconds - days * kDay;
    if (rest == 0) return text;
    const auto whole = static_cast<std::int64_t>(rest);
    text += fmt::format("T{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    const double fraction = rest - static_cast<double>(whole);
    return text + (fraction > 0 ? fmt::format("{:.6f}Z", fraction).substr(1) : std::string("Z"));
}

}  // namespace accrue::data
