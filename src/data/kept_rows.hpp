// Rows that are kept while a file passes: all of them, or a random sample where they are too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/buffer.hpp"

namespace accrue::data {

// Of n rows min(n, most) are kept, in the order in which they came, every choice of so many being equally likely. Which
// ones depends on the seed, n and `most` alone: a row's number is scrambled into 64 bits, and those with the smallest
// ones stay. So neither n nor how the rows are cut into slabs need be known before.
class KeptRows {
public:
    // So many columns of numbers and of codes; at least one in all.
    KeptRows(std::size_t columns, std::size_t codes, std::size_t most, std::uint64_t seed);

    // A span of values for every column, and one for every column of codes, all of the same length.
    void append(std::span<const std::span<const double>> columns,
                std::span<const std::span<const std::uint32_t>> codes = {});
    // No more rows will come: the sample gets its size, and memory that is not needed is given back.
    void finish();

    // Bytes a row that drawing a sample takes beyond the rows of so many bytes.
    static std::size_t sampling_bytes(std::size_t row_bytes);

    std::size_t seen() const { return seen_; }
    std::size_t rows() const { return rows_; }
    // Which of those that were seen row `row` is, once no more will come.
    std::size_t number(std::size_t row) const;
    std::span<const double> column(std::size_t k) const { return columns_[k].span(); }
    std::span<const std::uint32_t> codes(std::size_t k) const { return codes_[k].span(); }
    // Gives the codes that are left in column k new numbers, in the order of their first row, and leaves the labels of
    // these.
    void renumber_codes(std::size_t k, std::vector<std::string>& labels);

private:
    std::uint64_t ticket(std::size_t row) const;
    void cut();

    std::size_t most_;
    std::uint64_t seed_;
    std::size_t seen_ = 0;
    std::size_t rows_ = 0;
    std::vector<core::Growing<double>> columns_;
    std::vector<core::Growing<std::uint32_t>> codes_;
    // Once rows have been left out: the tickets of those kept, the least that will not do any more, and places in a
    // slab of rows that stay for now.
    bool sampling_ = false;
    core::Growing<std::uint64_t> tickets_;
    std::uint64_t limit_ = 0;
    std::vector<std::size_t> chosen_;
};

}  // namespace accrue::data
