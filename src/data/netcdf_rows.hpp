// The values of NetCDF variables as rows: one for each place of a grid of named dimensions, the last running fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/netcdf_file.hpp"
#include "data/netcdf_values.hpp"

namespace accrue::data {

struct RowGrid {
    std::vector<int> ids;            // dimensions of the rows
    std::vector<std::size_t> sizes;  // theirs
    std::size_t rows = 1;            // of a scalar, one
};

// The grid that a variable spans. Throws InputError when a dimension is there twice.
RowGrid row_grid(const NetcdfFile& file, const NetcdfVariable& variable);

// A box of the grid whose rows follow one another.
struct Slab {
    std::vector<std::size_t> start;
    std::vector<std::size_t> count;
    std::size_t rows = 0;
};

// Cuts the grid into slabs of at most `most_rows` rows, in the order of rows.
class SlabWalk {
public:
    SlabWalk(const RowGrid& grid, std::size_t most_rows);
    // False when the grid is through.
    bool next(Slab& slab);
    // The dimension that is cut; those after it are whole in every slab, those before it single.
    std::size_t cut() const { return cut_; }

private:
    std::vector<std::size_t> sizes_;
    std::vector<std::size_t> position_;
    std::size_t cut_ = 0;
    std::size_t step_ = 1;
    bool done_ = false;
};

// NetCDF-4: makes room to keep the chunks that neighbouring slabs share, which would be unpacked, or packed, again for
// each. sizes: of the dimensions that are whole in every slab; 0 for the others.
void keep_chunks(int file, int variable, nc_type type, std::span<const std::size_t> sizes);

// A variable matched to the rows by the names of its dimensions: one that it lacks repeats its values, and their order
// does not matter. Throws InputError when the variable has a dimension that the rows lack, or holds what was not
// asked for.
class RowVariable {
public:
    RowVariable(const NetcdfFile& file, const NetcdfVariable& variable, const RowGrid& grid, Kind kind);

    const NetcdfVariable& variable() const { return variable_; }
    // Whether its times are seconds since 1970, and not numbers of an unknown origin.
    bool is_dated() const { return variable_.is_text() || decoder_.is_dated(); }

    // For slabs that are cut along that dimension of the rows.
    void keep_chunks(const RowGrid& grid, std::size_t cut) const;

    // One value for each row of the slab, NaN where it is missing.
    void read_numbers(const Slab& slab, std::span<double> values);

    // The label of each row, as a place in labels(), which is valid until the next call. A missing one is empty.
    void read_labels(const Slab& slab, std::span<std::uint32_t> elements);
    const std::vector<std::string>& labels() const { return labels_; }

    // " at time=3, lat=10", in the variable's own dimensions, counted from 0; empty for a scalar.
    std::string place(const Slab& slab, std::size_t row) const;

private:
    bool select(const Slab& slab);
    template <typename Value, typename Source>
    void spread(const Slab& slab, const Source& source, std::span<Value> rows) const;
    void read_elements(std::span<double> values);
    void read_texts();
    void parse_times();

    const NetcdfFile& file_;
    const NetcdfVariable& variable_;
    ValueDecoder decoder_;
    std::vector<std::size_t> matched_;  // the rows' dimension for each of the variable's
    std::size_t text_length_ = 0;       // of a character array with a last dimension of its own
    bool same_as_rows_ = false;         // neither repeated nor turned

    // The part of the variable that belongs to the slab.
    std::vector<std::size_t> start_;
    std::vector<std::size_t> count_;
    std::size_t elements_ = 0;
    std::vector<double> buffer_;
    std::vector<std::string> labels_;
};

}  // namespace accrue::data
