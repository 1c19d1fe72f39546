// ISO 8601 and CF times against the C library's calendar.
#include <array>
#include <cstdlib>
#include <ctime>

#include "data/netcdf_time.hpp"
#include "data/times.hpp"
#include "fuzz/target.hpp"

namespace accrue::fuzz {

namespace {

using data::TimeState;

int days_in(std::int64_t year, int month, bool gregorian) {
    constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (!gregorian || year % 100 != 0 || year % 400 == 0);
    return kDays[static_cast<std::size_t>(month) - 1] + (month == 2 && leap ? 1 : 0);
}

// Seconds from 1970 to the beginning of a day of the Gregorian calendar.
double gregorian_day(std::int64_t year, int month, int day) {
    std::tm date{};
    date.tm_year = static_cast<int>(year - 1900);
    date.tm_mon = month - 1;
    date.tm_mday = day;
    return static_cast<double>(::timegm(&date));
}

// The same for the Julian calendar, by the Julian day number of a year 2000 to 2003.
double julian_day(std::int64_t year, int month, int day) {
    const std::int64_t near = 2000 + (year % 4 + 4) % 4;
    const std::int64_t number = 367 * near - 7 * (near + 5001 + (month - 9) / 7) / 4 + 275 * month / 9 + day + 1729777;
    return static_cast<double>(number - 2440588 + (year - near) / 4 * 1461) * 86400;
}

// A text that follows a pattern: d is a digit, everything else itself.
bool fits(std::string_view text, std::string_view pattern) {
    if (text.size() != pattern.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (pattern[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != pattern[i]) return false;
    return true;
}

int number(std::string_view text, std::size_t at, std::size_t count = 2) {
    return at >= text.size() ? 0 : std::atoi(std::string(text.substr(at, count)).c_str());
}

struct Expected {
    TimeState state = TimeState::not_a_time;
    double seconds = 0;
};

Expected plain_iso(std::string_view text) {
    const std::string_view date = text.substr(0, text.find_first_of("Tt "));
    const bool has_clock = date.size() < text.size();
    if (!fits(date, "dddd-dd-dd") && (has_clock || !fits(date, "dddd-dd"))) return {};
    std::string_view clock = has_clock ? text.substr(date.size() + 1) : std::string_view();
    std::string_view zone;
    if (const std::size_t at = clock.find_first_of("Zz+-"); at != std::string_view::npos) {
        zone = clock.substr(at);
        clock = clock.substr(0, at);
    }
    const std::size_t point = clock.find_first_of(".,");
    const std::string_view whole = clock.substr(0, point);
    double fraction = 0;
    if (point != std::string_view::npos) {
        const std::string_view part = clock.substr(point + 1);
        if (part.empty() || !fits(part, std::string(part.size(), 'd')) || whole.size() != 8) return {};
        fraction = std::strtod(("0." + std::string(part)).c_str(), nullptr);
    }
    if (has_clock && !fits(whole, "dd") && !fits(whole, "dd:dd") && !fits(whole, "dd:dd:dd")) return {};
    const bool named = zone.empty() || zone == "Z" || zone == "z";
    if (!named && !fits(zone.substr(1), "dd") && !fits(zone.substr(1), "dddd") && !fits(zone.substr(1), "dd:dd"))
        return {};
    if (!named && zone.front() != '+' && zone.front() != '-') return {};

    const int year = number(date, 0, 4);
    const int month = number(date, 5);
    const int day = date.size() > 7 ? number(date, 8) : 1;
    const int hour = number(whole, 0);
    const int minute = number(whole, 3);
    const int second = number(whole, 6);
    const int zone_hour = named ? 0 : number(zone, 1);
    const int zone_minute = named || zone.size() < 4 ? 0 : number(zone, zone[3] == ':' ? 4 : 3);
    const bool midnight = hour == 24 && minute == 0 && second == 0 && fraction == 0;
    if (month < 1 || month > 12 || day < 1 || day > days_in(year, month, true) ||
        !((hour < 24 && minute < 60 && second <= 60) || midnight) || zone_hour > 23 || zone_minute > 59)
        return {TimeState::no_such_time};
    const double offset = (zone_hour * 60 + zone_minute) * 60.0 * (zone.starts_with('-') ? -1 : 1);
    return {TimeState::good,
            gregorian_day(year, month, day) + hour * 3600.0 + minute * 60.0 + second - offset + fraction};
}

void check_iso(std::string_view text) {
    const data::TimeText found = data::parse_iso_time(text);
    const Expected expected = plain_iso(text);
    // A fraction is rounded twice here and once there.
    const bool close = std::fabs(found.seconds - expected.seconds) <= 4.5e-16 * (1 + std::fabs(expected.seconds));
    expect(found.state == expected.state && (found.state != TimeState::good || close),
           "'{}' is {} (state {}), the calendar has {} (state {})", text, found.seconds, static_cast<int>(found.state),
           expected.seconds, static_cast<int>(expected.state));
}

// Units that are built from their parts, so that the answer is known.
void check_built_units(Bytes input) {
    struct Unit {
        const char* name;
        double seconds;
    };
    constexpr std::array<Unit, 8> kUnits = {{{"weeks", 604800},
                                             {"Days", 86400},
                                             {"h", 3600},
                                             {"minute", 60},
                                             {"sec", 1},
                                             {"msec", 1e-3},
                                             {"us", 1e-6},
                                             {"ns", 1e-9}}};
    constexpr std::array<const char*, 6> kCalendars = {"",       "standard", "Gregorian", "proleptic_gregorian",
                                                       "noleap", "x"};
    const Unit unit = kUnits[input.below(kUnits.size())];
    const std::size_t calendar = input.below(kCalendars.size());
    std::int64_t year = input.byte() << 8U | input.byte();
    if (input.flag()) year = 1500 + year % 700;
    if (input.flag()) year = -year;
    const int month = static_cast<int>(input.below(14));
    const int day = static_cast<int>(input.below(33));
    const int hour = static_cast<int>(input.below(26));
    const int minute = static_cast<int>(input.below(61));
    const int second = static_cast<int>(input.below(61));
    const int zone_hour = static_cast<int>(input.below(15));
    const int zone_minute = static_cast<int>(input.below(60));
    const bool west = input.flag();
    std::string units = fmt::format("{} since {}-{}-{:02}", unit.name, year, month, day);
    const std::size_t clock_form = input.below(4);
    double of_day = 0;
    if (clock_form == 1) units += fmt::format(" {}", hour);
    if (clock_form == 2) units += fmt::format("T{:02}:{:02}", hour, minute);
    if (clock_form == 3) units += fmt::format(" {:02}:{:02}:{:02}.5", hour, minute, second);
    if (clock_form > 0) of_day += hour * 3600.0;
    if (clock_form > 1) of_day += minute * 60.0;
    if (clock_form > 2) of_day += second + 0.5;
    const std::size_t zone_form = input.below(4);
    double zone = 0;
    if (zone_form == 1) units += " UTC";
    if (zone_form == 2) units += fmt::format(" {}{}:{:02}", west ? '-' : '+', zone_hour, zone_minute);
    if (zone_form == 3) units += fmt::format(" {}{:02}{:02}", west ? '-' : '+', zone_hour, zone_minute);
    if (zone_form > 1) zone = (zone_hour * 60 + zone_minute) * (west ? -60.0 : 60.0);

    const bool mixed = calendar < 3;
    const bool gregorian =
        !mixed || std::array<std::int64_t, 3>{year, month, day} >= std::array<std::int64_t, 3>{1582, 10, 15};
    const bool exists = calendar < 4 && month >= 1 && month <= 12 && day >= 1 &&
                        day <= days_in(year, month, gregorian) && (clock_form < 1 || hour <= 24) &&
                        (clock_form < 2 || minute <= 59);
    const auto found = data::parse_time_units(units, kCalendars[calendar]);
    expect(found.has_value() == exists, "'{}' in calendar '{}' is {}", units, kCalendars[calendar],
           found ? "taken" : "refused");
    if (!found) return;
    const double origin = (gregorian ? gregorian_day(year, month, day) : julian_day(year, month, day)) + of_day - zone;
    expect(found->origin == origin && found->seconds == unit.seconds, "'{}' in calendar '{}' begins at {}, not {}",
           units, kCalendars[calendar], found->origin, origin);
}

void check_any_units(std::string_view text) {
    const std::string_view units = text.substr(0, text.find('|'));
    const std::string_view calendar = units.size() < text.size() ? text.substr(units.size() + 1) : std::string_view();
    const auto found = data::parse_time_units(units, calendar);
    if (!found) return;
    expect(found->seconds > 0 && std::isfinite(found->origin), "'{}' begins at {}", text, found->origin);
    // Case and blanks around do not matter.
    std::string other = " ";
    for (const char c : units) other += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const auto again = data::parse_time_units(other, calendar);
    expect(again && again->seconds == found->seconds && again->origin == found->origin, "'{}' differs from '{}'", other,
           units);
}

}  // namespace

// The first letter says what the rest is: i an ISO time, u units and a calendar with | between, else parts of units.
void run(std::span<const std::uint8_t> input) {
    Bytes bytes(input);
    const std::uint8_t kind = bytes.byte();
    if (kind == 'i') check_iso(bytes.rest());
    if (kind == 'u') check_any_units(bytes.rest());
    if (kind != 'i' && kind != 'u') check_built_units(bytes);
}

}  // namespace accrue::fuzz
