#include "data/table_builder.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace accrue::data {

namespace {

template <typename Column>
Column* find(std::vector<Column>& columns, const std::string& name) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
    return found == columns.end() ? nullptr : &*found;
}

Rule stricter(Rule a, Rule b) {
    if (a == Rule::positive || b == Rule::positive) return Rule::positive;
    return a == Rule::any ? b : a;
}

}  // namespace

std::uint32_t TableBuilder::LabelColumn::code(std::string_view label) {
    const auto [entry, is_new] = codes.try_emplace(std::string(label), static_cast<std::uint32_t>(codes.size()));
    if (is_new) column.labels.push_back(entry->first);
    return entry->second;
}

TableBuilder::TableBuilder(const std::vector<ColumnRequest>& requests, std::function<void(const Table& slab)> use)
    : use_(std::move(use)) {
    if (!requests.empty()) first = requests.front().name;
    for (const ColumnRequest& request : requests) {
        if (request.kind == Kind::text) {
            if (LabelColumn* known = find(texts, request.name))
                known->may_be_missing = known->may_be_missing && request.may_be_missing;
            else
                texts.push_back({request.name, {}, request.may_be_missing, {}});
        } else if (NumberColumn* known = find(numbers, request.name)) {
            known->rule = stricter(known->rule, request.rule);
            if (request.kind == Kind::number) known->kind = Kind::number;
            known->may_be_missing = known->may_be_missing && request.may_be_missing;
        } else {
            numbers.push_back({request.name, request.kind, request.rule, {}, request.may_be_missing});
        }
    }
}

void TableBuilder::hand_over() {
    has_rows = has_rows || rows > 0;
    places->add(handed_over_, runs);
    if (!use_ || rows == 0) return runs.clear();
    Table slab = std::move(*this).finish();
    use_(slab);
    handed_over_ += rows;
    // Memory and labels are used again.
    for (NumberColumn& column : numbers) {
        column.values = std::move(slab.numbers_[column.name]);
        column.values.clear();
    }
    for (LabelColumn& column : texts) {
        column.column = std::move(slab.texts_[column.name]);
        column.column.codes.clear();
    }
    runs.clear();
    rows = 0;
}

Table TableBuilder::finish() && {
    std::map<std::string, std::vector<double>> number_map;
    std::set<std::string> dates;
    for (NumberColumn& column : numbers) {
        if (column.form == TimeForm::iso) dates.insert(column.name);
        number_map.emplace(column.name, std::move(column.values));
    }
    std::map<std::string, TextColumn> text_map;
    for (LabelColumn& column : texts) text_map.emplace(column.name, std::move(column.column));
    return {rows, dropped, std::move(number_map), std::move(text_map), std::move(dates), places, handed_over_};
}

}  // namespace accrue::data
