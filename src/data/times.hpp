// Times in text tables.
#pragma once

#include <string>
#include <string_view>

namespace accrue::data {

enum class TimeState {
    good,
    not_a_time,    // some other text
    no_such_time,  // written like a time, but the calendar or the clock does not have it: 2021-02-30
};

struct TimeText {
    double seconds;  // since 1970-01-01T00:00:00Z; NaN unless good
    TimeState state;
};

// Reads ISO 8601 in its extended form: 2021-03, 2021-03-04, 2021-03-04T05, ...T05:06, ...T05:06:07, ...T05:06:07.5,
// each with a time of day optionally followed by Z, +01, +0100 or +01:00; without these it is UTC. A blank may stand
// for the T, and a missing day or time of day is the first one. Years 0000 to 9999 of the Gregorian calendar, also
// before it was introduced. 24:00:00 and second 60 are the moment after; leap seconds are not counted, as in Unix time.
// `text` has no blanks around it.
TimeText parse_iso_time(std::string_view text) noexcept;

// And back: 2021-03-04, or 2021-03-04T05:06:07Z where it is not midnight; a number for years that have no four digits.
std::string iso_time(double seconds);

}  // namespace accrue::data
