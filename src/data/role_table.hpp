// The rows of files with their roles, as much of them as memory has room for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "accrue/archive.hpp"
#include "accrue/table.hpp"
#include "data/kept_rows.hpp"
#include "data/row_places.hpp"
#include "data/sentinels.hpp"

namespace accrue::data {

// Some rows of the files, with their roles.
struct RoleSlab {
    const Table& table;
    std::span<const double> errors;       // empty when only observations were named
    std::span<const double> prediction;   // empty when none was named
    std::span<const double> observation;  // empty when errors were named
    std::span<const double> weights;
};

// What is wanted of the rows.
struct RowPlan {
    std::vector<ColumnRequest> read;           // columns beside those of the roles
    std::vector<std::string> kept;             // those of all that have to be at hand later; an empty name is none
    std::vector<std::string> categories = {};  // texts that have to be at hand too
    std::size_t computed = 0;                  // columns that `compute` makes of every slab, and that are kept
    std::function<void(const RoleSlab& slab, std::span<std::vector<double>> columns)> compute = {};
    std::size_t work_bytes = 0;   // a row, of what is done with the rows beyond holding them
    std::uint64_t seed = 1;       // of the sample
    std::size_t fixed_bytes = 0;  // of what is done with the rows, however many they are
};

// The rows of all files: errors, weights, groups, times and what the plan keeps. They are read slab by slab, and where
// memory has no room for what is kept of them, it is kept of a random sample.
class RoleTable {
public:
    RoleTable(RowSource source, const RowPlan& plan);
    RoleTable(const RoleTable&) = delete;

    std::size_t dropped() const { return dropped_; }
    std::span<const double> numbers(const std::string& name) const { return rows_->column(places_.at(name)); }
    std::span<const double> computed(std::size_t k) const { return rows_->column(first_computed_ + k); }
    Archive archive(const std::vector<Input>& inputs) const;
    std::string title() const;
    std::vector<Message> remarks() const;

private:
    std::size_t max_rows(const RowPlan& plan, std::size_t columns);
    void add(const Table& slab, const RowPlan& plan);
    std::size_t sampled_from() const;
    std::span<const double> kept(const std::string& name) const;  // empty when it is not
    Grouping grouping(const std::string& name) const;             // empty for no name

    RowSource source_;
    std::size_t memory_;
    bool limited_by_memory_ = false;
    std::map<std::string, std::size_t> places_;  // of columns by name
    std::size_t first_computed_ = 0;
    std::optional<KeptRows> rows_;
    std::vector<std::vector<double>> made_;  // in a slab: differences, then computed columns
    // Codes of categories as numbers: places among their labels, NaN where there is none. Made when all rows are read.
    std::map<std::string, std::vector<double>> codes_;
    std::vector<double> noise_;  // of the observations, where one number stands for all
    // Columns of text, each once, however many its roles.
    std::vector<std::string> text_names_;
    std::vector<std::vector<std::string>> labels_;
    std::vector<SentinelWatch> watches_;  // of inputs, prediction, observation or errors
    std::size_t dropped_ = 0;
    std::shared_ptr<const RowPlaces> file_places_;  // of all rows, those that a sample leaves out too
    std::set<std::string> dates_;                   // columns of times that are dates
};

ReadRows read_rows(std::shared_ptr<const RoleTable> table, const std::vector<Input>& inputs);

}  // namespace accrue::data
