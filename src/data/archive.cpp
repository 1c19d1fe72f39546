#include "accrue/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "accrue/expression.hpp"
#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "data/file_start.hpp"
#include "data/role_table.hpp"
#include "data/row_places.hpp"

namespace accrue {

namespace {

bool contains(std::span<const std::string> names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// The column itself and, where it is none of `names`, those that it is computed from.
std::vector<std::string> with_operands(const std::string& column, std::span<const std::string> names) {
    std::vector<std::string> all = contains(names, column) ? std::vector<std::string>{} : named_columns(column);
    all.push_back(column);
    return all;
}

bool may_be_computed(const std::string& column) {
    return column.find_first_of("()+-*/?'\"`") != std::string::npos;
}

// Columns from which an input must not be made: they hold what is not known when predicting.
std::vector<std::string> unknown_columns(const Roles& roles, std::span<const std::string> names) {
    std::vector<std::string> unknown = {roles.error};
    const std::vector<std::string> observed = with_operands(roles.observation, names);
    unknown.insert(unknown.end(), observed.begin(), observed.end());
    std::erase(unknown, "");
    return unknown;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Roles::all() const {
    return {{"prediction", prediction},
            {"observation", observation},
            {"error", error},
            {"weight", weight},
            {"group", group},
            {"fold_group", fold_group},
            {"time", time},
            {"observation_error", observation_error},
            {"recalibrate_group", recalibrate_group}};
}

std::string Roles::subject() const {
    if (!error.empty()) return fmt::format("error = {}", printable(error));
    if (prediction.empty()) return fmt::format("observation = {}", printable(observation));
    return fmt::format("error = {} - {}", printable(observation), printable(prediction));
}

std::optional<double> Roles::constant_observation_error() const {
    double value = 0;
    const char* end = observation_error.data() + observation_error.size();
    const auto read = std::from_chars(observation_error.data(), end, value);
    if (observation_error.empty() || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    core::require(std::isfinite(value) && value >= 0,
                  "{} is {}, but must be a standard deviation: finite and not negative",
                  core::option("observation_error"), observation_error);
    return value;
}

std::vector<double> errors_of(const Archive& archive) {
    const auto y = archive.observation;
    const auto mu = archive.prediction;
    core::require(y.size() == mu.size(), "observation has {} rows, but prediction {}", y.size(), mu.size());
    const auto check = [&](std::span<const double> values, const char* role, const std::string& name) {
        for (std::size_t i = 0; i < values.size(); ++i)
            core::require(std::isfinite(values[i]), "{} '{}' of {} is {}, but must be finite; leave such rows out",
                          role, name, data::RowName{archive.place, i}, values[i]);
    };
    check(y, "observation", archive.roles.observation);
    check(mu, "prediction", archive.roles.prediction);
    std::vector<double> errors(y.size());
    std::transform(y.begin(), y.end(), mu.begin(), errors.begin(), std::minus<>());
    return errors;
}

void require_errors(const Roles& roles) {
    core::require(roles.error.empty() || roles.observation.empty(), "give either {}, or {} and {}",
                  core::option("error"), core::option("prediction"), core::option("observation"));
    core::require(!roles.error.empty() || !roles.observation.empty(), "give {} and {}, or {}",
                  core::option("prediction"), core::option("observation"), core::option("error"));
}

void require_once(const char* option, std::span<const std::string> names) {
    for (const std::string& name : names)
        core::require(std::count(names.begin(), names.end(), name) == 1, "{} names '{}' twice", core::option(option),
                      name);
}

void require_inputs(std::span<const Input> inputs, const Roles& roles, std::span<const std::string> names) {
    std::vector<std::string> own;
    for (const Input& input : inputs) own.push_back(input.name());
    require_once("inputs", own);
    for (const Input& input : inputs)
        core::require(input.column != roles.observation && input.column != roles.error,
                      "{} names '{}', which is what the errors are made of: it is not known when predicting",
                      core::option("inputs"), input.column);
    if (names.empty()) return;
    const std::vector<std::string> unknown = unknown_columns(roles, names);
    for (const Input& input : inputs)
        for (const std::string& column : with_operands(input.column, names))
            core::require(!contains(unknown, column),
                          "{} names '{}', but '{}' is what the errors are made of: it is not known when predicting",
                          core::option("inputs"), printable(input.column), printable(column));
}

std::vector<std::string> default_inputs(std::span<const std::string> numeric, const Roles& roles) {
    std::vector<std::string> taken;
    for (const auto& [role, column] : roles.all()) {
        if (role == "recalibrate_group") continue;  // what a recalibration goes by may drive sigma too
        const std::vector<std::string> used = with_operands(column, numeric);
        taken.insert(taken.end(), used.begin(), used.end());
    }
    std::vector<std::string> inputs;
    for (const std::string& name : numeric)
        if (!contains(taken, name)) inputs.push_back(name);
    if (inputs.empty() && !roles.prediction.empty()) inputs.push_back(roles.prediction);
    return inputs;
}

std::vector<std::string> default_inputs(const RowSource& source, bool categories) {
    const std::string& file = source.files.at(0);
    core::require(!data::is_read_once(file),
                  "{} can be read only once, so its columns cannot be looked at first: name some with {}",
                  display_name(file), core::option("inputs"));
    const ReadOptions options = source.read_options();
    std::vector<std::string> columns = numeric_columns(file, options);
    if (categories)
        for (std::string& name : repeated_labels(file, options)) columns.push_back(std::move(name));
    std::vector<std::string> inputs = default_inputs(columns, source.roles);
    core::require(!inputs.empty(), "{} has no numeric column that could be an input; name some with {}",
                  display_name(file), core::option("inputs"));
    return inputs;
}

void expand_columns(RowSource& source, std::vector<std::string>& inputs, const std::string& option) {
    Roles& roles = source.roles;
    std::vector<std::string*> numbers = {&roles.prediction, &roles.observation, &roles.error, &roles.weight};
    if (!roles.constant_observation_error()) numbers.push_back(&roles.observation_error);
    const auto any = [&](const auto& of) {
        return std::any_of(numbers.begin(), numbers.end(), [&](const std::string* name) { return of(*name); }) ||
               std::any_of(inputs.begin(), inputs.end(), of);
    };
    const auto may_be_pattern = [](const std::string& name) { return name.find_first_of("*?") != std::string::npos; };
    const auto may_change = [](const std::string& name) {
        return may_be_computed(name) || name.find(':') != std::string::npos;
    };
    if (!any(may_change)) return;
    const std::string& file = source.files.at(0);
    if (data::is_read_once(file)) {
        // "x*y" multiplies, but without the columns nobody knows.
        core::require(!any(may_be_pattern),
                      "{} can be read only once, so its columns cannot be looked at first: write out what patterns "
                      "such as P* stand for",
                      display_name(file));
        return;
    }
    ReadOptions options = source.read_options();
    const std::vector<std::string> names = column_names(file, options);
    const std::string where = display_name(file);
    for (std::string* name : numbers) {
        if (!may_be_computed(*name) || contains(names, *name)) continue;
        const auto expression = computed_column(*name, names, where);
        if (!expression || contains(names, expression->text())) continue;
        *name = expression->is_column() ? expression->columns().front() : expression->text();
    }
    options = source.read_options();  // which has one of these names

    std::vector<std::string> taken = unknown_columns(roles, names);
    for (const auto& [role, column] : roles.all())
        if (role != "recalibrate_group") taken.push_back(column);
    std::vector<std::string> expanded;
    for (const std::string& text : inputs) {
        Input input = parse_input(text, names, where);
        const bool is_number = input.kind == InputKind::number || input.kind == InputKind::cyclic;
        const auto matching = contains(names, input.column) ? std::nullopt : matching_columns(input.column, names);
        if (!matching) {
            // A number that was called one stays so, whatever the file says of it.
            const bool is_said = input.kind == InputKind::number && text.ends_with(":number") && !contains(names, text);
            expanded.push_back(is_said ? input.column + ":number" : input.name());
            continue;
        }
        core::require(!matching->empty(), "{}: no column of {} matches '{}'. Columns: {}", core::option(option), where,
                      printable(input.column), name_list(names));
        const std::vector<std::string> numeric = is_number ? numeric_columns(file, options) : *matching;
        bool found = false;
        for (const std::string& name : *matching) {
            if (!contains(numeric, name) || contains(taken, name)) continue;
            found = true;
            input.column = name;
            if (!contains(inputs, input.name()) && !contains(expanded, input.name())) expanded.push_back(input.name());
        }
        core::require(found, "{}: no column of {} that matches '{}' {}", core::option(option), where, printable(text),
                      is_number ? "holds numbers and has no other role" : "has no other role");
    }
    inputs = std::move(expanded);
}

std::vector<Input> named_inputs(const RowSource& source, std::span<const std::string> texts) {
    if (source.files.empty() || data::is_read_once(source.files.front())) return parse_inputs(texts);
    const std::string& file = source.files.front();
    const ReadOptions options = source.read_options();
    const bool has_colon = std::any_of(texts.begin(), texts.end(),
                                       [](const std::string& text) { return text.find(':') != std::string::npos; });
    const std::vector<std::string> names = has_colon ? column_names(file, options) : std::vector<std::string>{};
    const std::vector<Input> described = parse_inputs(described_inputs(file, options));
    std::vector<Input> inputs;
    for (const std::string& text : texts) {
        const bool is_column = contains(names, text);
        inputs.push_back(is_column ? Input{text} : parse_input(text));
        if (!is_column && inputs.back().column != text) continue;  // its kind was named
        const auto same = [&](const Input& input) { return input.column == text; };
        if (const auto found = std::find_if(described.begin(), described.end(), same); found != described.end())
            inputs.back() = *found;
    }
    return inputs;
}

ReadOptions RowSource::read_options() const {
    // The column whose dimensions are the rows in NetCDF.
    const std::string& main = !roles.error.empty()        ? roles.error
                              : !roles.prediction.empty() ? roles.prediction
                                                          : roles.observation;
    ReadOptions options{missing == Missing::impute ? Missing::drop : missing, header, main};
    options.isolate = isolate;
    options.marks = marks;
    return options;
}

std::size_t RowSource::memory_limit() const {
    return memory > 0 ? memory : core::available_memory() / 4 * 3;
}

ReadRows read_archive(const RowSource& source, const std::vector<Input>& inputs, std::size_t work_bytes,
                      std::uint64_t seed, std::size_t fixed_bytes) {
    require_errors(source.roles);
    const bool is_computed =
        std::any_of(inputs.begin(), inputs.end(), [](const Input& input) { return may_be_computed(input.column); }) ||
        may_be_computed(source.roles.observation);
    std::vector<std::string> names;
    if (is_computed && !source.files.empty() && !data::is_read_once(source.files.front()))
        names = column_names(source.files.front(), source.read_options());
    require_inputs(inputs, source.roles, names);
    data::RowPlan plan;
    for (const Input& input : inputs) {
        ColumnRequest request = input.request();
        request.may_be_missing = source.missing == Missing::impute;
        plan.read.push_back(request);
        if (request.kind == Kind::text)
            plan.categories.push_back(request.name);
        else
            plan.kept.push_back(request.name);
    }
    plan.kept.push_back(source.roles.have_errors() ? source.roles.prediction : source.roles.observation);
    plan.work_bytes = work_bytes;
    // Numbers and scores of the rows' maps, and the parameters of rows whose maps differ.
    if (!source.roles.recalibrate_group.empty()) plan.work_bytes += 6 * sizeof(double);
    plan.seed = seed;
    plan.fixed_bytes = fixed_bytes;
    return data::read_rows(std::make_shared<const data::RoleTable>(source, plan), inputs);
}

}  // namespace accrue
