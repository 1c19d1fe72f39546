// Some rows of an archive, as an archive of their own.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "accrue/archive.hpp"

namespace accrue::fitting {

// Copies, in the order of `taken`.
class ArchiveRows {
public:
    ArchiveRows(const Archive& all, std::span<const std::size_t> taken) : archive_(all) {
        for (auto& input : archive_.inputs) take(input, numbers_, taken);
        for (auto* values : {&archive_.errors, &archive_.observation, &archive_.prediction, &archive_.weights,
                             &archive_.times, &archive_.observation_error})
            take(*values, numbers_, taken);
        take(archive_.groups.codes, codes_, taken);
        take(archive_.fold_groups.codes, codes_, taken);
        take(archive_.recalibrate_groups.codes, codes_, taken);
        for (ColumnGrouping& column : archive_.by) take(column.rows.codes, codes_, taken);
        archive_.place = {};  // that of all rows, which were checked before
    }
    ArchiveRows(const ArchiveRows&) = delete;
    ArchiveRows& operator=(const ArchiveRows&) = delete;

    const Archive& archive() const { return archive_; }

private:
    template <typename Values, typename Memory>
    static void take(Values& values, Memory& memory, std::span<const std::size_t> taken) {
        if (values.empty()) return;
        auto& own = memory.emplace_back();
        own.reserve(taken.size());
        for (const std::size_t i : taken) own.push_back(values[i]);
        values = own;
    }

    Archive archive_;
    std::deque<std::vector<double>> numbers_;
    std::deque<std::vector<std::uint32_t>> codes_;
};

}  // namespace accrue::fitting
