#include "adapt/timed_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <numeric>

#include "accrue/conditional.hpp"
#include "accrue/messages.hpp"
#include "accrue/predict.hpp"
#include "core/error.hpp"
#include "data/file_start.hpp"
#include "data/times.hpp"
#include "forecast/content.hpp"

namespace accrue {

namespace {

// The column that had a role when the model was fitted; empty where there was none.
std::string column_of(const Model& model, const char* role) {
    const auto& columns = model.content().columns;
    return columns.contains(role) ? columns.at(role).get<std::string>() : std::string();
}

struct Memory {
    Table table;
    std::vector<std::vector<double>> codes;
    std::vector<double> zeros;
    std::deque<std::vector<double>> issued;
};

// The columns that predict writes of adaptive intervals, where the first file has one of them: lower and upper ends of
// every level.
std::vector<std::string> issued_columns(const RowSource& source, const std::vector<double>& levels) {
    if (levels.empty() || data::is_read_once(source.files.front())) return {};
    std::vector<std::string> wanted;
    for (const double level : levels)
        for (const char* end : {"lower", "upper"}) wanted.push_back(fmt::format("adaptive_{}_{}", end, level));
    const std::vector<std::string> names = column_names(source.files.front(), source.read_options());
    const bool has_some = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    });
    return has_some ? wanted : std::vector<std::string>{};
}

// Ends of intervals may be infinite, which no other number in a file may be: they are read as text.
std::vector<double> interval_ends(const TextColumn& column, const std::string& name, const TimedRows& rows) {
    std::vector<double> values;
    values.reserve(column.codes.size());
    for (const std::uint32_t code : column.codes) {
        const std::string& label = column.labels[code];
        double value = 0;
        const char* end = label.data() + label.size();
        const auto read = std::from_chars(label.data(), end, value);
        core::require(read.ec == std::errc{} && read.ptr == end && !std::isnan(value),
                      "{}, column '{}': '{}' must be a number, -inf or inf: it is an end of an interval",
                      adapting::place(rows, values.size()), name, printable(label));
        values.push_back(value);
    }
    return values;
}

constexpr double kDay = 86400;

}  // namespace

TimedRows read_timed_rows(const Model& model, RowSource source, const std::string& lead,
                          const std::vector<double>& levels) {
    Roles& roles = source.roles;
    const auto set = [&](std::string& role, const char* name) {
        if (role.empty()) role = column_of(model, name);
    };
    if (!model.has_mean() && roles.error.empty()) set(roles.prediction, "prediction");
    if (roles.prediction.empty() && !model.has_mean() && roles.observation.empty()) set(roles.error, "error");
    if (roles.error.empty()) set(roles.observation, "observation");
    if (roles.time.empty() && model.state() != nullptr) roles.time = model.state()->options().time;
    if (roles.group.empty() && model.state() != nullptr) roles.group = model.state()->options().group;
    set(roles.time, "time");
    core::require(!roles.time.empty(), "the model has no time: name the column of the times with {}",
                  core::option("time"));
    core::require(!roles.observation.empty() || !roles.error.empty(),
                  "the model does not know the column of the observations: name it with {}",
                  core::option("observation"));
    core::require(roles.error.empty() || !model.corrects_bias(), "the model corrects the prediction: give {} and {}",
                  core::option("prediction"), core::option("observation"));
    std::vector<std::string> none;
    expand_columns(source, none);

    std::vector<ColumnRequest> columns = input_requests(model);
    const std::string& observed = roles.error.empty() ? roles.observation : roles.error;
    if (!roles.prediction.empty()) columns.push_back({roles.prediction});
    columns.push_back({observed});
    columns.push_back({roles.time, Kind::time});
    if (!roles.group.empty()) columns.push_back({roles.group, Kind::text});
    if (!lead.empty()) columns.push_back({lead, Kind::number, Rule::not_negative});
    const std::vector<std::string> ends = issued_columns(source, levels);
    for (const std::string& name : ends) columns.push_back({name, Kind::text});
    ReadOptions read = source.read_options();
    read.rows_of = roles.prediction.empty() ? observed : roles.prediction;
    const auto memory = std::make_shared<Memory>(Memory{read_table(source.files, columns, read), {}, {}, {}});
    const Table& table = memory->table;
    memory->codes = input_codes(model, table);
    TimedRows rows;
    rows.memory = memory;
    for (const Input& input : model.input_columns()) {
        const std::vector<double>& codes = memory->codes[rows.inputs.size()];
        rows.inputs.push_back(input.kind == InputKind::category ? std::span<const double>(codes)
                                                                : table.numbers(input.column));
    }
    rows.observation = table.numbers(observed);
    if (!roles.prediction.empty()) rows.prediction = table.numbers(roles.prediction);
    if (rows.prediction.empty() && !model.has_mean()) {
        memory->zeros.resize(table.rows());  // errors alone are those of a prediction of zero
        rows.prediction = memory->zeros;
    }
    rows.times = table.numbers(roles.time);
    rows.dates = table.has_dates(roles.time);
    if (!roles.group.empty()) rows.groups = {table.text(roles.group).codes, table.text(roles.group).labels};
    if (!lead.empty()) rows.leads = table.numbers(lead);
    rows.dropped = table.dropped();
    rows.roles = roles;
    if (source.files.size() == 1) rows.name = display_name(source.files.front());
    rows.place = [memory](std::size_t row) { return memory->table.place(row); };
    for (const std::string& name : ends) memory->issued.push_back(interval_ends(table.text(name), name, rows));
    for (std::size_t k = 0; k < memory->issued.size(); k += 2)
        rows.issued.emplace_back(memory->issued[k], memory->issued[k + 1]);
    return rows;
}

double duration(const std::string& text, bool dates, const char* option) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const std::string unit(read.ptr, end);
    const bool good = read.ec == std::errc{} && value >= 0 && std::isfinite(value);
    if (!dates) {
        core::require(good && unit.empty(), "{} is '{}', but the times are plain numbers: give it as one of them",
                      core::option(option), printable(text));
        return value;
    }
    const std::vector<std::pair<std::string, double>> units = {
        {"w", 7 * kDay}, {"d", kDay}, {"h", kDay / 24}, {"m", 60}, {"s", 1}};
    const auto found = std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == unit; });
    core::require(good && found != units.end(),
                  "{} is '{}', which is not a duration; write 2d, 12h or 30m, for example", core::option(option),
                  printable(text));
    return value * found->second;
}

std::string time_text(double time, bool dates) {
    return dates ? data::iso_time(time) : fmt::format("{}", time);
}

double time_of(const std::string& text, bool dates, const char* option) {
    if (dates) {
        const data::TimeText time = data::parse_iso_time(text);
        core::require(time.state == data::TimeState::good, "{} is '{}', which is not a date such as 2023-01-05",
                      core::option(option), printable(text));
        return time.seconds;
    }
    double value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    core::require(read.ec == std::errc{} && read.ptr == end && std::isfinite(value),
                  "{} is '{}', but the times are plain numbers", core::option(option), printable(text));
    return value;
}

namespace adapting {

data::RowName place(const TimedRows& rows, std::size_t row) {
    return {rows.place, row};
}

void require_rows(const Model& model, const TimedRows& rows) {
    const std::size_t count = rows.times.size();
    core::require(count > 0, "there are no rows");
    const auto require_values = [&](const char* what, std::span<const double> values) {
        core::require(values.size() == count, "there are {} of '{}', but {} times", values.size(), what, count);
        for (std::size_t i = 0; i < count; ++i)
            core::require(std::isfinite(values[i]), "{}: {} is {}, which is not a finite number", place(rows, i), what,
                          values[i]);
    };
    require_values("time", rows.times);
    require_values("observation", rows.observation);
    if (!model.has_mean()) require_values("prediction", rows.prediction);
    if (!rows.leads.empty()) {
        require_values("lead time", rows.leads);
        for (std::size_t i = 0; i < count; ++i)
            core::require(rows.leads[i] >= 0, "{}: lead time is {}, but must not be negative", place(rows, i),
                          rows.leads[i]);
    }
    core::require(rows.groups.codes.empty() || rows.groups.codes.size() == count, "there are {} groups, but {} times",
                  rows.groups.codes.size(), count);
}

std::vector<double> normal_scores(const Forecast& forecast, std::span<const double> observation) {
    std::vector<double> errors(observation.begin(), observation.end());
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= forecast.mean[i];
    return accrue::normal_scores(errors, forecast.sigma, forecast.families());
}

// How many observations speak for the fitted model.
static double observations_of(const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    core::require(read.ec == std::errc{} && read.ptr == end, "{} is '{}', which is neither a number nor auto",
                  core::option("shrink"), printable(text));
    return value;
}

State state_of(const Model& model, const TimedRows& rows, const AdaptOptions& options) {
    StateOptions own;
    const State* state = model.state();
    if (state != nullptr) own = state->options();
    // Of a model that has a state what is asked for must be what it has.
    const auto set = [&](const char* name, auto& value, const auto& wanted) {
        core::require(state == nullptr || value == wanted,
                      "the model has a state, which was made with another {}: leave it out, or begin with a model "
                      "without a state",
                      core::option(name));
        value = wanted;
    };
    if (!options.time.empty()) set("time", own.time, options.time);
    if (own.time.empty()) own.time = column_of(model, "time");
    core::require(!own.time.empty(), "the model has no time: name the column of the times with {}",
                  core::option("time"));
    core::require(state == nullptr || own.dates == rows.dates,
                  "the state has a clock of {}, but the times of {} are {}", own.dates ? "dates" : "plain numbers",
                  rows.name.empty() ? "the rows" : rows.name, rows.dates ? "dates" : "plain numbers");
    own.dates = rows.dates;
    if (!options.group.empty()) set("group", own.group, options.group);
    core::require(own.group.empty() || !rows.groups.codes.empty(), "the state has groups by '{}': give that column",
                  printable(own.group));
    if (!options.forget.empty()) {
        std::vector<double> forget = {std::numeric_limits<double>::infinity()};
        if (options.forget == "auto")
            forget = forget_candidates(rows.dates);
        else if (options.forget != "never")
            forget = {duration(options.forget, rows.dates, "forget")};
        set("forget", own.forget, forget);
    }
    if (!options.shrink.empty())
        set("shrink", own.shrink,
            options.shrink == "auto" ? shrink_candidates() : std::vector{observations_of(options.shrink)});
    if (!options.correct.empty()) set("correct", own.correct, options.correct);
    if (!options.levels.empty()) set("adaptive", own.levels, options.levels);
    if (options.shape) set("shape", own.shape, true);
    const std::vector<std::string> inputs = model.inputs();
    for (const std::string& name : own.correct) {
        const auto found = std::find(inputs.begin(), inputs.end(), name);
        core::require(found != inputs.end(), "{}: '{}' is not an input of the model{}", core::option("correct"),
                      printable(name), suggestion(name, inputs));
        const Input input = model.input_columns()[static_cast<std::size_t>(found - inputs.begin())];
        core::require(input.kind == InputKind::number, "{}: the input '{}' is not a number", core::option("correct"),
                      printable(name));
    }
    return state != nullptr ? *state : State(own);
}

std::vector<std::size_t> by_time(std::span<const double> times) {
    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Most rows come in this order.
    if (!std::is_sorted(times.begin(), times.end()))
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    return order;
}

Observations::Observations(const Model& model, const TimedRows& rows, const StateOptions& options,
                           std::span<const double> scores, std::span<const double> sigmas,
                           std::span<const std::uint8_t> missed)
    : rows_(rows),
      scores_(scores),
      sigmas_(sigmas),
      missed_(missed),
      levels_(missed.empty() ? 0 : options.levels.size()),
      width_(options.correct.size()),
      x_(width_ * rows.times.size()) {
    const std::vector<std::string> inputs = model.inputs();
    for (std::size_t k = 0; k < width_; ++k) {
        const auto input =
            static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), options.correct[k]) - inputs.begin());
        for (std::size_t i = 0; i < rows.times.size(); ++i)
            x_[i * width_ + k] = model.standardised(input, rows.inputs[input][i]);
    }
}

Moved Observations::moved(const State& state, const State::Moment& now, std::size_t row) const {
    const std::size_t group =
        state.options().group.empty() ? State::kNoGroup : state.group(rows_.groups.labels[rows_.groups.codes[row]]);
    return now.of(sigmas_[row], group, x(row));
}

void Observations::add_to(State& state, std::span<const std::size_t> rows) {
    step_.clear();
    const bool grouped = !state.options().group.empty();
    for (const std::size_t row : rows)
        step_.push_back({scores_[row], sigmas_[row],
                         grouped ? std::string_view(rows_.groups.labels[rows_.groups.codes[row]]) : std::string_view(),
                         x(row), missed_.subspan(row * levels_, levels_)});
    state.observe(rows_.times[rows.front()], step_);
}

}  // namespace adapting
}  // namespace accrue
