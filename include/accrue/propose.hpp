// A look at files of which nobody has said what their columns hold: which of them a fit would probably use, and as
// what.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "accrue/archive.hpp"

namespace accrue {

// A column, and what is proposed for it.
struct ProposedColumn {
    std::string name;
    std::string content;  // "number", "time", "text, 41 values"
    std::string role;     // "observation", "prediction", "error", "time", "group", "weight", "input"; empty: none
    std::string reason;   // why it has this role, or none
};

struct Proposal {
    Roles roles;
    std::vector<std::string> inputs;
    bool learn_mean = false;              // no column looks like a prediction: FitOptions::mean
    Missing missing = Missing::refuse;    // drop where one of the columns has gaps
    std::size_t rows = 0;                 // that were looked at
    bool all_rows = true;                 // else the files have more
    std::vector<ProposedColumn> columns;  // of the first file, in its order
    std::vector<std::string>
        remarks;  // what else the columns offer: "station (text, 41 values) could be an input: ..."
};

// Looks at the names, the kinds and the values of the columns in the first rows (64 MiB) of the files. Names
// decide where they say something (obs, y, mu, forecast, ...). Else observation and prediction are the two columns that
// agree best, by Lin's concordance correlation 2 cov(a,b) / (var(a) + var(b) + (mean(a) - mean(b))^2), which is 1 only
// where they are the same; and of these two the prediction is the one that goes more with the other columns, since
// those know nothing of the observation's surprises. Throws InputError when nothing looks like an observation, or like
// errors, and for files that cannot be read, or only once. A column that another file lacks, or where it is of another
// kind, is left out.
Proposal propose(const RowSource& source);

// What the columns of the first file offer beside these inputs and the roles, in sentences: texts as categories, dates
// as season and hour. It looks at the first MiB of the file and at no more than ten columns; where it cannot (standard
// input, a file that is not trusted) it offers nothing.
std::vector<std::string> offered_inputs(const RowSource& source, std::span<const Input> inputs);

// The sentences: "station (text, 41 values) could be an input: station:category", with the rows that were looked at
// where these are not all (0) and without the number of values where it is not known (0); and "t (time) could give two
// inputs: t:season and t:hour".
std::string category_offer(const std::string& name, std::size_t values = 0, std::size_t of_rows = 0);
std::string time_offer(const std::string& name, bool has_hours);

}  // namespace accrue
