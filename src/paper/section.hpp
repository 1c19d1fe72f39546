// A section of the page: statements, charts and tables, as docs/report-data.md has them ("A document"), with the
// numbers behind them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace accrue::paper {

using Json = nlohmann::ordered_json;

// Columns of numbers or texts with a name each, for a CSV file.
struct NumberTable {
    std::vector<std::string> names;
    std::vector<Json> columns = std::vector<Json>(names.size(), Json::array());

    void add(const std::vector<Json>& row);  // a value for every column
    std::string csv() const;
};

struct Section {
    std::string id;     // figure1, ..., table1
    std::string title;  // "Figure 1: ..."
    Json statements = Json::array();
    Json charts = Json::array();
    Json tables = Json::array();
    Json numbers = Json::object();  // what the JSON file holds
    NumberTable table;              // what the CSV file holds

    void paper_says(const std::string& text) { statements.push_back({{"who", "The paper"}, {"text", text}}); }
    void we_find(const std::string& text) { statements.push_back({{"who", "Here"}, {"text", text}}); }
};

// A chart without layers. `alt` tells those who do not see it what it shows.
Json chart(const std::string& id, const std::string& title, const std::string& good, const std::string& alt,
           const Json& x, const Json& y);
Json axis(const std::string& name);
Json axis(const std::string& name, double least, double greatest);

// Layers; colours are roles of the page's theme.
Json line(const std::string& name, const std::string& colour, std::span<const double> at,
          std::span<const double> value);
Json dashed(Json layer);
Json band(const std::string& name, const std::string& colour, double opacity, std::span<const double> at,
          std::span<const double> low, std::span<const double> high);
Json points(const std::string& name, const std::string& colour, std::span<const double> at,
            std::span<const double> value);

// Numbers with so many digits as a picture or a file for people needs.
Json rounded(std::span<const double> values);

}  // namespace accrue::paper
