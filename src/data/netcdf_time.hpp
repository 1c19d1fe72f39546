// CF time units.
#pragma once

#include <optional>
#include <string_view>

namespace accrue::data {

// Seconds since 1970-01-01T00:00:00Z = value * seconds + origin.
struct TimeScale {
    double seconds = 1;
    double origin = 0;
};

// Whether these are units of a time, of whatever length and calendar: "since" is one of the words.
bool are_time_units(std::string_view units);

// Reads "days since 1900-01-01 00:00:00 +1:00": weeks to nanoseconds, a date, then perhaps a time of day and a
// zone. Calendars are standard (also called gregorian; the Julian calendar before 1582-10-15), proleptic_gregorian and
// "" for none given, which means standard. Empty for other calendars (noleap, 360_day), for months and years, which
// have no one length, and for anything else that does not read so.
std::optional<TimeScale> parse_time_units(std::string_view units, std::string_view calendar);

}  // namespace accrue::data
