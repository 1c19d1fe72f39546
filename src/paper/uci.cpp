#include "paper/uci.hpp"

#include <filesystem>

#include "accrue/table.hpp"
#include "core/error.hpp"

namespace accrue::paper {

const std::vector<UciSet>& uci_sets() {
    static const std::vector<UciSet> all = {
        {"boston",
         "Boston Housing",
         "bostonHousing.txt",
         506,
         13,
         50,
         {0.25, 0.25, 0.25, 0.23},
         {26.2, 20.6, 17.5, 16.7}},
        {"concrete", "Concrete", "concrete.txt", 1030, 8, 50, {0.22, 0.23, 0.26, 0.21}, {22.6, 14.4, 22.1, 11.5}},
        {"energy", "Energy", "energy.txt", 768, 8, 50, {0.059, 0.056, 0.087, 0.052}, {29.3, 29.2, 28.3, 13.0}},
        {"kin8nm", "Kin8nm", "kin8nm.txt", 8192, 8, 50, {0.17, 0.16, 0.24, 0.16}, {15.9, 8.3, 25.5, 5.8}},
        {"power", "Power plant", "power-plant.txt", 9568, 4, 50, {0.13, 0.13, 0.15, 0.12}, {12.5, 3.4, 16.1, 2.6}},
        {"protein",
         "Protein",
         "protein-tertiary-structure.txt",
         45730,
         9,
         10,
         {0.38, 0.47, 0.40, 0.37},
         {13.1, 5.0, 10.6, 5.4}},
        {"wine", "Wine", "wine-quality-red.txt", 1599, 11, 50, {0.48, 0.50, 0.46, 0.48}, {16.0, 7.9, 8.0, 8.3}},
        {"yacht", "Yacht", "yacht.txt", 308, 6, 50, {0.06, 0.06, 0.19, 0.06}, {26.0, 24.3, 36.6, 19.5}},
    };
    return all;
}

ExperimentRows read_uci(const UciSet& set, const std::string& folder) {
    namespace fs = std::filesystem;
    const fs::path path = fs::path(folder) / set.file;
    core::require(
        !folder.empty() && fs::exists(path),
        "Table 1 needs the UCI regression sets, and {} is not there: get them from the UCI Machine Learning "
        "Repository, one file per set with its numbers separated by blanks, no header, inputs first and the target "
        "behind them, and name the folder with {} (docs/paper.md lists the files)",
        folder.empty() ? set.file : path.string(), core::option("data"));
    std::vector<ColumnRequest> columns;
    for (std::size_t k = 0; k <= set.inputs; ++k) columns.push_back({std::to_string(k + 1)});
    ReadOptions options;
    options.header = false;
    const Table table = read_table({path.string()}, columns, options);
    core::require(table.rows() == set.rows, "{} has {} rows, but the set has {}", path.string(), table.rows(),
                  set.rows);
    ExperimentRows rows;
    rows.inputs = set.inputs;
    for (std::size_t k = 0; k <= set.inputs; ++k) {
        const auto values = table.numbers(std::to_string(k + 1));
        const Standard standard(values);
        for (const double value : values) (k < set.inputs ? rows.x : rows.y).push_back(standard(value));
    }
    return rows;
}

}  // namespace accrue::paper
