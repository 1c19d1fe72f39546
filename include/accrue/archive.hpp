// Rows whose columns have roles: their values, the files that they come from, and the rules between the roles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accrue/groups.hpp"
#include "accrue/inputs.hpp"
#include "accrue/message.hpp"
#include "accrue/table.hpp"

namespace accrue {

// The columns that have a role beside the inputs, by name; empty where there is none.
struct Roles {
    std::string prediction;   // mu
    std::string observation;  // y
    std::string error;        // y - mu, in place of the two
    std::string weight, group, fold_group, time;
    std::string
        observation_error;  // standard deviation of the noise in y: a column, or a number that stands for all rows
    std::string recalibrate_group;  // for whose values a recalibration may have maps of their own

    // Each role with its column, {"prediction", "mu"} first; those without one too.
    std::vector<std::pair<std::string, std::string>> all() const;
    // Whether rows have errors, given or as observation - prediction; else they have observations alone.
    bool have_errors() const { return !error.empty() || !prediction.empty(); }
    // "error = y - mu", "observation = y"
    std::string subject() const;
    // The observation error where it is a number. Throws InputError for a negative one.
    std::optional<double> constant_observation_error() const;
};

// Rows to learn from, or to judge forecasts by. Every span has a value for each row; those that may be left out are
// empty.
struct Archive {
    std::vector<std::string> input_names;
    std::vector<std::span<const double>> inputs;
    std::vector<InputType> input_types = {};  // empty: all are numbers
    bool impute = false;             // inputs may be NaN: the mean stands for them, and an indicator is learned from
    std::span<const double> errors;  // y - mu; empty where the mean is to be learned
    std::span<const double> observation;  // y, to learn the mean from: FitOptions::mean
    std::span<const double> prediction;   // mu, where it is known: needed for a linear bias correction in mu
    std::span<const double> weights;      // optional
    // Optional: the standard deviation of the noise in each observation, which the learned sigma leaves out.
    std::span<const double> observation_error;
    // Optional, see docs/groups.md. Groups: rows that err together; the bands of the verification resample them, and
    // folds never split one unless there are times or fold groups.
    Grouping groups;
    Grouping fold_groups;           // optional: folds never split one of these, with or without times
    std::span<const double> times;  // optional: folds are contiguous blocks of time
    bool times_are_dates = false;   // seconds since 1970, not plain numbers
    // Optional: groups that may have a recalibration of their own; the label "" is for rows whose value is missing.
    Grouping recalibrate_groups = {};
    std::vector<ColumnGrouping> by = {};  // optional: columns for whose values there are figures
    std::size_t sampled_from = 0;         // rows, of which these are a random sample; 0: they are all
    Roles roles;                          // names for the model file and for messages
    // Optional: what messages call a row, counted from 0: "archive.csv row 17 (line 18)"; else it is "row 17".
    std::function<std::string(std::size_t row)> place = {};
};

// The errors as observation - prediction. Throws InputError when their lengths differ, or a value is not finite.
std::vector<double> errors_of(const Archive& archive);

// The rules between roles; each throws InputError. Messages name roles as the options of the command.
void require_errors(const Roles& roles);  // unless there are errors, given in one way, or observations
// Twice the same, or part of the errors. `names`, where they are known, are all columns: what is none of them is
// computed, and must not be computed from parts of the errors either.
void require_inputs(std::span<const Input> inputs, const Roles& roles, std::span<const std::string> names = {});
void require_once(const char* option, std::span<const std::string> names);

// The inputs where none are named: of the columns with numbers those without a role, or the prediction when there is
// none. What a role is computed from is left out too. A column may be an input and also one of `by`.
std::vector<std::string> default_inputs(std::span<const std::string> numeric, const Roles& roles);

// Files of rows, and how they are read.
struct RowSource {
    std::vector<std::string> files;  // pooled in this order; "-" is standard input
    Roles roles;
    std::vector<std::string> by = {};  // columns for whose values there are figures
    Missing missing = Missing::refuse;
    bool header = true;
    MissingMarks marks = {};
    bool isolate = false;    // see ReadOptions
    std::size_t memory = 0;  // bytes; 0: three quarters of what the machine and its limits leave
    std::size_t sample = 0;  // rows to use, drawn at random; 0: all that memory has room for

    ReadOptions read_options() const;
    std::size_t memory_limit() const;  // in bytes, as `memory` says
};

// The inputs that these texts name; a text that is a column of the first file as it stands is that column. Where no
// kind is named it is the one that the file itself says (described_inputs), else a number. Throws as parse_input.
std::vector<Input> named_inputs(const RowSource& source, std::span<const std::string> texts);

// The inputs where none are named, of the columns of the first file; with `categories` also its repeated_labels. Throws
// InputError when there is none, or the file can be read only once.
std::vector<std::string> default_inputs(const RowSource& source, bool categories = false);

// Writes out the patterns of roles and inputs, as the first file has the columns: "mean(f*)" becomes "mean(f1, f2)",
// and an input "P*" all columns of numbers that it matches and that have no role. What is computed gets one spelling,
// and quotes around columns are left out. Throws InputError when a pattern matches nothing or needs a file that can be
// read only once, and as parse_input; messages call the inputs by this option.
void expand_columns(RowSource& source, std::vector<std::string>& inputs, const std::string& option = "inputs");

// Rows that were read.
struct ReadRows {
    Archive archive;
    std::size_t dropped = 0;  // rows left out because a value was missing
    // Values that may stand for missing ones, and what to do about them: one in over 0.5% of the rows of a column,
    // farther from all others than these are from each other.
    std::vector<Message> remarks = {};
    std::string title;  // "1000 rows of archive.csv (3 dropped: a value was missing); error = y - mu"
    std::shared_ptr<const void> memory = {};  // what the archive's spans point to
};

// The rows of all files, read slab by slab. Where memory has no room for what a fit needs of them it is a random
// sample: `work_bytes` is what is done with a row beyond holding it takes, `seed` that of the sample, `fixed_bytes`
// what is needed whatever the rows. Throws InputError for what breaks a rule, in the files or between roles and inputs,
// and where memory has no room for a hundred rows.
ReadRows read_archive(const RowSource& source, const std::vector<Input>& inputs, std::size_t work_bytes,
                      std::uint64_t seed, std::size_t fixed_bytes = 0);

}  // namespace accrue
