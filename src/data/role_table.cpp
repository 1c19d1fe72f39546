#include "data/role_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "accrue/messages.hpp"
#include "core/error.hpp"

namespace accrue::data {

namespace {

// "1.2 GB"
std::string bytes_text(std::size_t bytes) {
    const auto number = static_cast<double>(bytes);
    if (number >= 1e9) return fmt::format("{:.1f} GB", number / 1e9);
    if (number >= 1e6) return fmt::format("{:.0f} MB", number / 1e6);
    return fmt::format("{:.0f} kB", number / 1e3);
}

}  // namespace

RoleTable::RoleTable(RowSource source, const RowPlan& plan)
    : source_(std::move(source)), memory_(source_.memory_limit()), made_(1 + plan.computed) {
    const Roles& roles = source_.roles;
    std::vector<ColumnRequest> columns;
    if (roles.error.empty()) {
        if (!roles.prediction.empty()) columns.push_back({roles.prediction});
        columns.push_back({roles.observation});
    } else {
        columns.push_back({roles.error});
    }
    columns.insert(columns.end(), plan.read.begin(), plan.read.end());
    for (const ColumnRequest& column : columns) {
        const auto is_same = [&](const SentinelWatch& watch) { return watch.column() == column.name; };
        if (column.kind == Kind::number && std::none_of(watches_.begin(), watches_.end(), is_same))
            watches_.emplace_back(column.name);
    }
    if (!roles.weight.empty()) columns.push_back({roles.weight, Kind::number, Rule::not_negative});
    const std::optional<double> noise = roles.constant_observation_error();
    const bool reads_noise = !roles.observation_error.empty() && !noise;
    if (reads_noise) columns.push_back({roles.observation_error, Kind::number, Rule::not_negative});
    const auto add_text = [&](const std::string& name, bool may_be_missing = false) {
        if (name.empty() || std::count(text_names_.begin(), text_names_.end(), name) > 0) return;
        text_names_.push_back(name);
        columns.push_back({name, Kind::text, Rule::any, may_be_missing});
    };
    add_text(roles.group);
    add_text(roles.fold_group);
    require_once("by", source_.by);
    for (const std::string& name : source_.by) add_text(name);
    add_text(roles.recalibrate_group, true);
    for (const std::string& name : plan.categories)
        if (std::count(text_names_.begin(), text_names_.end(), name) == 0) text_names_.push_back(name);  // is in `read`
    labels_.resize(text_names_.size());
    if (!roles.time.empty()) columns.push_back({roles.time, Kind::time});

    std::size_t next = roles.have_errors() ? 1 : 0;
    const auto keep = [&](const std::string& name) {
        if (!name.empty() && places_.try_emplace(name, next).second) ++next;
    };
    for (const std::string& name : plan.kept) keep(name);
    keep(roles.weight);
    keep(roles.time);
    if (reads_noise) keep(roles.observation_error);
    first_computed_ = next;
    const std::size_t kept_columns = next + plan.computed;
    rows_.emplace(kept_columns, text_names_.size(), max_rows(plan, kept_columns), plan.seed);

    ReadOptions read = source_.read_options();
    constexpr std::size_t kSlabShare = 32;
    constexpr std::size_t kMinSlab = 4096;
    read.slab_bytes = std::clamp(memory_ / kSlabShare, kMinSlab, read.slab_bytes);
    dropped_ = read_slabs(source_.files, columns, read, [&](const Table& slab) { add(slab, plan); });
    made_ = {};
    rows_->finish();
    // As if the other rows, and groups that had no others, had not been there.
    if (sampled_from() > 0)
        for (std::size_t k = 0; k < labels_.size(); ++k) rows_->renumber_codes(k, labels_[k]);
    for (const std::string& name : plan.categories) {
        const Grouping own = grouping(name);
        std::vector<double>& codes = codes_[name];
        codes.reserve(own.codes.size());
        for (const std::uint32_t code : own.codes)
            codes.push_back(own.labels[code].empty() ? std::numeric_limits<double>::quiet_NaN() : code);
    }
    if (noise) noise_.assign(rows_->rows(), *noise);
    const auto w = kept(roles.weight);
    core::require(w.empty() || std::any_of(w.begin(), w.end(), [](double weight) { return weight > 0; }),
                  "{}, column '{}': every weight is 0; at least one must be positive",
                  display_name(source_.files.front()), printable(roles.weight));
}

// How many rows the memory has room for, or as many as were asked for.
std::size_t RoleTable::max_rows(const RowPlan& plan, std::size_t columns) {
    const std::size_t kept =
        columns * sizeof(double) + text_names_.size() * sizeof(std::uint32_t) + plan.categories.size() * sizeof(double);
    const std::size_t bytes = kept + std::max(plan.work_bytes, KeptRows::sampling_bytes(kept));
    // An eighth is for the slab, the program and what does not grow with the rows. Two digits, so that a little more or
    // less of free memory mostly gives the same sample.
    core::require(plan.fixed_bytes < memory_,
                  "memory of {} is too little: a fit with so many inputs needs {} whatever its rows; use fewer inputs, "
                  "another form or more memory",
                  bytes_text(memory_), bytes_text(plan.fixed_bytes));
    std::size_t most = std::min(memory_ / 8 * 7, memory_ - plan.fixed_bytes) / bytes;
    std::size_t step = 1;
    while (most / step >= 100) step *= 10;
    most = most / step * step;
    constexpr std::size_t kFewest = 100;
    core::require(most >= kFewest, "memory of {} has room for {}, which is too little: a row needs {} bytes",
                  bytes_text(memory_), counted(most, "row"), bytes);
    limited_by_memory_ = source_.sample == 0 || most < source_.sample;
    return limited_by_memory_ ? most : source_.sample;
}

void RoleTable::add(const Table& slab, const RowPlan& plan) {
    const Roles& roles = source_.roles;
    const auto numbers = [&](const std::string& name) {
        return name.empty() ? std::span<const double>{} : slab.numbers(name);
    };
    for (SentinelWatch& watch : watches_) watch.add(slab.numbers(watch.column()));
    RoleSlab values{slab, numbers(roles.error), numbers(roles.prediction), {}, numbers(roles.weight)};
    if (roles.error.empty()) values.observation = numbers(roles.observation);
    if (roles.error.empty() && roles.have_errors()) {
        const auto y = values.observation;
        const auto mu = values.prediction;
        std::vector<double>& differences = made_[0];
        differences.resize(slab.rows());
        for (std::size_t i = 0; i < differences.size(); ++i) differences[i] = y[i] - mu[i];
        for (std::size_t i = 0; i < differences.size(); ++i)
            if (!std::isfinite(differences[i]))
                core::refuse("{}: {} - {} is too large for a double: {} - {}", slab.place(i),
                             printable(roles.observation), printable(roles.prediction), y[i], mu[i]);
        values.errors = differences;
    }
    std::vector<std::span<const double>> columns(first_computed_);
    if (roles.have_errors()) columns[0] = values.errors;
    for (const auto& [name, place] : places_) columns[place] = numbers(name);
    const std::span<std::vector<double>> computed = std::span(made_).subspan(1);
    if (plan.compute) plan.compute(values, computed);
    columns.insert(columns.end(), computed.begin(), computed.end());

    std::vector<std::span<const std::uint32_t>> codes;
    for (std::size_t k = 0; k < text_names_.size(); ++k) {
        const TextColumn& text = slab.text(text_names_[k]);
        codes.emplace_back(text.codes);
        labels_[k].insert(labels_[k].end(), text.labels.begin() + static_cast<std::ptrdiff_t>(labels_[k].size()),
                          text.labels.end());
    }
    rows_->append(columns, codes);
    file_places_ = slab.places();
    for (const ColumnRequest& column : plan.read)
        if (column.kind == Kind::time && slab.has_dates(column.name)) dates_.insert(column.name);
    if (!roles.time.empty() && slab.has_dates(roles.time)) dates_.insert(roles.time);
}

std::size_t RoleTable::sampled_from() const {
    return rows_->seen() > rows_->rows() ? rows_->seen() : 0;
}

std::span<const double> RoleTable::kept(const std::string& name) const {
    return places_.count(name) == 0 ? std::span<const double>{} : numbers(name);
}

Grouping RoleTable::grouping(const std::string& name) const {
    const auto found = std::find(text_names_.begin(), text_names_.end(), name);
    if (found == text_names_.end()) return {};
    const auto k = static_cast<std::size_t>(found - text_names_.begin());
    return {rows_->codes(k), labels_[k]};
}

Archive RoleTable::archive(const std::vector<Input>& inputs) const {
    const Roles& roles = source_.roles;
    Archive archive;
    archive.impute = source_.missing == Missing::impute;
    for (const Input& input : inputs) {
        archive.input_names.push_back(input.name());
        const bool category = input.kind == InputKind::category;
        const Grouping values = category ? grouping(input.column) : Grouping{};
        archive.input_types.push_back({input.kind, input.period, values.labels});
        archive.inputs.push_back(category ? std::span<const double>(codes_.at(input.column)) : numbers(input.column));
        core::require(input.request().kind != Kind::time || dates_.count(input.column) > 0,
                      "{}, column '{}': the input {} needs dates (ISO 8601, or CF times), not plain numbers",
                      display_name(source_.files.front()), printable(input.column), input.name());
    }
    if (roles.have_errors()) archive.errors = rows_->column(0);
    archive.prediction = kept(roles.prediction);
    archive.observation = kept(roles.observation);
    archive.weights = kept(roles.weight);
    archive.observation_error = noise_.empty() ? kept(roles.observation_error) : std::span<const double>(noise_);
    archive.groups = grouping(roles.group);
    archive.fold_groups = grouping(roles.fold_group);
    archive.recalibrate_groups = grouping(roles.recalibrate_group);
    archive.times = kept(roles.time);
    archive.times_are_dates = dates_.count(roles.time) > 0;
    for (const std::string& name : source_.by) archive.by.push_back({name, grouping(name)});
    archive.sampled_from = sampled_from();
    archive.roles = roles;
    archive.place = [this](std::size_t row) { return file_places_->name(rows_->number(row)); };
    return archive;
}

std::string RoleTable::title() const {
    const std::string where =
        source_.files.size() == 1 ? display_name(source_.files[0]) : counted(source_.files.size(), "file");
    const std::string what = source_.roles.subject();
    const std::size_t rows = rows_->rows();
    const std::string dropped = dropped_ == 0 ? "" : fmt::format(" ({} dropped: a value was missing)", dropped_);
    if (sampled_from() == 0) return fmt::format("{} of {}{}; {}", counted(rows, "row"), where, dropped, what);
    const std::string why = limited_by_memory_
                                ? fmt::format("memory limit {}; --memory or --sample changes it", bytes_text(memory_))
                                : "--sample";
    return fmt::format("{} of {} of {}{}, a random sample ({}); {}", rows, counted(sampled_from(), "row"), where,
                       dropped, why, what);
}

std::vector<Message> RoleTable::remarks() const {
    std::vector<Message> all;
    for (const SentinelWatch& watch : watches_)
        for (const Message& remark : watch.remarks()) all.push_back(remark);
    return all;
}

ReadRows read_rows(std::shared_ptr<const RoleTable> table, const std::vector<Input>& inputs) {
    ReadRows rows{table->archive(inputs), table->dropped(), table->remarks(), table->title()};
    rows.memory = std::move(table);
    return rows;
}

}  // namespace accrue::data
