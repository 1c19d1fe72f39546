#include "timed.hpp"

namespace accrue::app {

void add_timed_rows(CLI::App& command, RowSource& source) {
    Roles& roles = source.roles;
    const auto column = [&](const char* name, std::string& value, const char* help) {
        return command.add_option(name, value, help)->type_name("COLUMN");
    };
    column("--time", roles.time, "Column of times (number, ISO 8601 or CF time); default: that of the model");
    auto* prediction = column("--prediction", roles.prediction, "Column of the prediction mu; default: the model's");
    auto* observation = column("--observation", roles.observation, "Column of the observation y; default: the model's");
    column("--error", roles.error, "Column of the error y - mu, in place of the two")
        ->excludes(prediction)
        ->excludes(observation);
    add_choice(command, "--missing", source.missing,
               std::map<std::string, Missing>{{"refuse", Missing::refuse}, {"drop", Missing::drop}},
               "A row with a missing value: refuse the file, or drop the row and count it");
    add_missing_marks(command, source.marks);
    add_no_header(command, source.header);
    add_isolate(command, source.isolate);
}

void add_adapt_options(CLI::App& command, RowSource& source, AdaptOptions& options) {
    command
        .add_option("--group", source.roles.group,
                    "Column (text or number) of groups that have a shift of their own, such as stations; one that was "
                    "never seen begins with what all have in common")
        ->type_name("COLUMN");
    command
        .add_option("--forget", options.forget,
                    "How old an observation is when its weight has fallen to 1/e: a duration such as 28d or 12h (of "
                    "plain numbers a number), never, or auto: at every moment the one that has forecast best so far "
                    "[auto]")
        ->type_name("auto|DURATION");
    command
        .add_option("--shrink", options.shrink,
                    "As many observations speak for the fitted model, and of a group for what all groups have in "
                    "common; or auto: at every moment the number that has forecast best so far, of 1, 4, 16 and 64 [4]")
        ->type_name("auto|NUMBER");
    add_columns(command, "--correct", options.correct,
                "Inputs of the model in which the shift is corrected linearly as well, by a ridge regression that "
                "forgets");
    command.add_flag("--shape", options.shape,
                     "Learn the shape of the distribution too: a map of probabilities from what shift and scale leave, "
                     "used while it has forecast better than none");
    add_list(command, "--adaptive", options.levels,
             "Levels of intervals, for example 0.9, that cover so much in the long run whatever happens; they may "
             "become infinite for a while")
        ->type_name("P,P,...");
}

}  // namespace accrue::app
