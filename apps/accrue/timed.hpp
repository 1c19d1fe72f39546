// The options of commands that go through rows in the order of their times.
#pragma once

#include "accrue/adapt.hpp"
#include "commands.hpp"
#include "rows.hpp"

namespace accrue::app {

// --prediction, --observation, --error, --time, --missing, --missing-value, --na, --no-header, --isolate. Roles that
// are not named are the model's.
void add_timed_rows(CLI::App& command, RowSource& source);

// --group, --forget, --shrink, --correct, --shape, --adaptive: how a model learns that has no state yet.
void add_adapt_options(CLI::App& command, RowSource& source, AdaptOptions& options);

}  // namespace accrue::app
