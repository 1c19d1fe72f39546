#include "paper/section.hpp"

#include <fmt/format.h>

#include "core/rounded_json.hpp"

namespace accrue::paper {

namespace {

constexpr int kDigits = 6;

std::string cell(const Json& value) {
    if (value.is_null()) return "";
    return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

void NumberTable::add(const std::vector<Json>& row) {
    for (std::size_t c = 0; c < row.size(); ++c) columns.at(c).push_back(row[c]);
}

std::string NumberTable::csv() const {
    std::string text = fmt::format("{}\n", fmt::join(names, ","));
    const std::size_t rows = columns.empty() ? 0 : columns[0].size();
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t c = 0; c < columns.size(); ++c) {
            text += cell(columns[c][i]);
            text += c + 1 < columns.size() ? ',' : '\n';
        }
    return text;
}

Json rounded(std::span<const double> values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(core::rounded_json(value, kDigits));
    return list;
}

Json axis(const std::string& name) {
    return {{"name", name}};
}
Json axis(const std::string& name, double least, double greatest) {
    return {{"name", name}, {"min", least}, {"max", greatest}};
}

Json chart(const std::string& id, const std::string& title, const std::string& good, const std::string& alt,
           const Json& x, const Json& y) {
    return {{"id", id}, {"title", title}, {"good", good}, {"alt", alt}, {"x", x}, {"y", y}, {"layers", Json::array()}};
}

Json line(const std::string& name, const std::string& colour, std::span<const double> at,
          std::span<const double> value) {
    return {{"kind", "line"}, {"name", name}, {"colour", colour}, {"at", rounded(at)}, {"value", rounded(value)}};
}

Json dashed(Json layer) {
    layer["dash"] = true;
    return layer;
}

Json band(const std::string& name, const std::string& colour, double opacity, std::span<const double> at,
          std::span<const double> low, std::span<const double> high) {
    return {{"kind", "band"},    {"name", name},        {"colour", colour},     {"opacity", opacity},
            {"at", rounded(at)}, {"low", rounded(low)}, {"high", rounded(high)}};
}

Json points(const std::string& name, const std::string& colour, std::span<const double> at,
            std::span<const double> value) {
    return {{"kind", "points"}, {"name", name},      {"colour", colour},
            {"size", 5},        {"at", rounded(at)}, {"value", rounded(value)}};
}

}  // namespace accrue::paper
