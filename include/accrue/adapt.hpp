// A model through time: what it learns from observations as they come, how it would have done in the past, and whether
// the world has moved away from it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accrue/archive.hpp"
#include "accrue/model.hpp"
#include "accrue/state.hpp"
#include "accrue/verify.hpp"

namespace accrue {

// Rows whose observations are known, with their times. Every span has a value for each row; those that may be left out
// are empty.
struct TimedRows {
    std::vector<std::span<const double>> inputs;  // of the model, as Model::forecast takes them
    std::span<const double> prediction;           // empty where the model has a mean of its own
    std::span<const double> observation;
    std::span<const double> times;
    bool dates = false;                  // times are seconds since 1970, not plain numbers
    Grouping groups = {};                // optional
    std::span<const double> leads = {};  // optional: how long before its time a row was forecast
    // Optional, for update(): the adaptive intervals that were issued for the rows, lower and upper ends, of every
    // level of the state. They may be infinite.
    std::vector<std::pair<std::span<const double>, std::span<const double>>> issued = {};
    std::string name = {};                                   // in messages, where they are of one file: "new.csv"
    std::function<std::string(std::size_t row)> place = {};  // "new.csv row 17 (line 18)"; else "row 17"
    Roles roles = {};                                        // names of the columns, where they are known
    std::size_t dropped = 0;                                 // rows left out because a value was missing
    std::shared_ptr<const void> memory = {};                 // what the spans point to
};

// Reads them from files. Roles that are not named are the model's: prediction, observation (or error) and time. `lead`
// is a column, or empty. Where the first file has adaptive_lower_LEVEL or adaptive_upper_LEVEL, as `accrue predict`
// writes them, of one of `levels`, the issued intervals of all these levels are read. Throws InputError when the model
// has no time and none is named, and as read_table.
TimedRows read_timed_rows(const Model& model, RowSource source, const std::string& lead = {},
                          const std::vector<double>& levels = {});

// "2d" (w, d, h, m, s), in seconds; of plain numbers a number. Throws InputError that names the option.
double duration(const std::string& text, bool dates, const char* option);
// "2023-01-05", "2023-01-05T06:00:00Z" or a number.
std::string time_text(double time, bool dates);
// And back. Throws InputError that names the option.
double time_of(const std::string& text, bool dates, const char* option);

// How a model is to learn that has no state yet; where it has one, what is named must be what the state has.
struct AdaptOptions {
    std::string time = {};                  // column; empty: the model's
    std::string group = {};                 // column
    std::string forget = {};                // "auto", "never" or a duration; empty: auto
    std::string shrink = {};                // "auto" or a number of observations; empty: 4
    std::vector<std::string> correct = {};  // see StateOptions for these
    std::vector<double> levels = {};        //
    bool shape = false;                     //
};

// The model with its state after these rows, which are in the order of their times and all later than what the state
// has seen. The record of adaptive intervals goes by those that were issued (TimedRows::issued), or where they are not
// known by what a state that had seen all earlier times would have issued. Throws InputError for rows already seen,
// times that go back, a row that is there twice, a clock of another unit: the message names the row.
Model update(const Model& model, const TimedRows& rows, const AdaptOptions& options = {});

struct ReplayOptions : AdaptOptions {
    std::string delay = {};  // duration: an observation is known so long after its time; empty: before the next time
    std::string from = {};   // time from which rows are scored; those before only move the state. Empty: all
    // Durations: how often the model is fitted again, to the rows of the last `window` that are known by then, for the
    // first time when such a window has passed. The state then begins anew, with what starts that never saw these rows
    // say of them. Both or none.
    std::string refit = {}, window = {};
};

// A fit during a replay.
struct Refit {
    double time = 0;
    std::size_t rows = 0;  // that it was fitted to
};

// Forecasts of the past as they would have been made: each from what had been observed by then.
struct Replay {
    Forecast fixed;     // of the model as it was fitted, in the order of the rows
    Forecast forecast;  // of the model that learned
    std::vector<Moved> moves;
    std::vector<double> tails;              // of every row, those of all levels (State::tails)
    std::vector<std::uint8_t> scored;       // 0: before `from`
    State state;                            // after all rows
    Verification figures, fixed_figures;    // of the rows that are scored; by "period" along time
    double pinball = 0, fixed_pinball = 0;  // twice the mean pinball loss over the deciles
    std::vector<Coverage> adaptive =
        {};                            // of every level: the intervals with long-run coverage; widths may be infinite
    std::vector<double> periods = {};  // the first time of each
    std::vector<Refit> refits = {};
    std::optional<Model> refitted = {};  // the last of them, whose state it is
};
// Rows may come in any order; the cost is that of sorting them. The model's own state is where it begins.
Replay replay(const Model& model, const TimedRows& rows, const ReplayOptions& options = {});
// What `accrue replay --json` prints.
nlohmann::ordered_json to_json(const Replay& replay);

struct MonitorOptions {
    double alpha = 0.02;  // probability of ever alarming falsely
};

// [MONITOR] A sequential test of whether new rows are exchangeable with those that the model was verified on.
struct Monitor {
    std::size_t rows = 0, steps = 0;
    double threshold = 0;        // 1/alpha
    bool alarm = false;          // whether the evidence has reached it
    std::size_t alarm_step = 0;  // when, counted from 1
    double alarm_time = 0;
    std::vector<double> times;     // of the steps
    std::vector<double> evidence;  // after each: how many times more money a fair bet on a change would have made
    double off_support = 0;        // share of rows outside the range of the archive
    bool dates = false;
    std::string sentence;
};
// Throws InputError when the model keeps no reliability diagram of its verification, and for bad rows as update().
Monitor monitor(const Model& model, const TimedRows& rows, const MonitorOptions& options = {});
nlohmann::ordered_json to_json(const Monitor& monitor);

}  // namespace accrue
